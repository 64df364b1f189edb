"""Training runs.

====================  ==================================================================
``run``               the folder of a run: settings, clocks, learning curve
``config``            options as YAML files
``checkpoints``       checkpoints, read without running code from the file
``evaluation``        an agent's results against others
``stored_runs``       finished runs as small JSON files in docs/training
``strength``          final strength and learning curves of several seeds, with intervals
``learning_curves``   pictures of stored runs
``model_cards``       the README of the shipped weights
``hub``               weights in the layout of the Hugging Face Hub
``formatting``        numbers and titles as the generated pages show them
====================  ==================================================================
"""
