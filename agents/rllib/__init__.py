"""PPO with RLlib.

=================  ==================================================
``halves_module``  the networks as RLlib modules
``rllib_agent``    a trained module as a policy
``trainer``        the trainer, with the league of ``agents.ppo``
=================  ==================================================
"""
