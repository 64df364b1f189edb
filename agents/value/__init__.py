"""The value network of afterstates, trained by self-play.

=================  =======================================================
``torch_net``      the network for training
``self_play``      games, and training samples from them
``replay_buffer``  the newest samples
``learner``        options, gradient steps, gating, state for checkpoints
``full_states``    games, and training samples of the network of full states
``actors``         processes that play while the learner learns
=================  =======================================================
"""
