"""The value network of afterstates, trained by self-play.

=================  =======================================================
``torch_net``      the network for training
``self_play``      games, and training samples from them
``replay_buffer``  the newest samples
``learner``        options, gradient steps, gating, state for checkpoints
``actors``         processes that play while the learner learns
=================  =======================================================
"""
