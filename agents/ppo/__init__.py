"""Masked PPO with Stable-Baselines3.

======================  ==================================================================================
``trainer``             the trainer: options, self-play in the league, checkpoints
``options``             the options that all PPO trainers share
``masked``              masked distribution and rollout buffers for thousands of actions, of use in any game
``actor_critic``        the base class of the networks
``afterstates_net``     the network of the agent "ppo", which scores afterstates
``afterstates_policy``  ``afterstates_net`` as a policy of MaskablePPO
``central_env``         adds the hidden tiles to the observations, for its critic
``halves_net``          a network that scores halves of tiles (without Stable-Baselines3; RLlib trains it)
``structured_net``      a small network that scores halves of tiles from the planes, and its policy
``plain_net``           a network without the game's structure to compare with, and its policy
``net_policy``          the base class of the policies: a network as a policy of MaskablePPO
``halves_policy``       ``halves_net`` as a policy of MaskablePPO
``imitation``           what a teacher would choose, as a start for PPO
``league``              the opponents: scripted agents and past selves
``past_self``           a network as an opponent
``sb3_agent``           a trained MaskablePPO model as an opponent
``resumable``           the base class of environment wrappers that can be saved and restored
``augmented_env``       data augmentation by the symmetries of the board and the colors
``shaping``             potential-based reward shaping
======================  ==================================================================================
"""
