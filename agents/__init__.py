"""Agents that learn: networks in torch, trainers and how training runs are kept.

===============  =====================================================================
``agents.ppo``   masked PPO with Stable-Baselines3: networks, policies, the league
``agents.rllib`` the same network in the same league, trained with RLlib
``agents.value`` the value network of afterstates, trained by self-play with TD(lambda)
``agents.runs``  training runs on disk: checkpoints, evaluation, learning curves
===============  =====================================================================

They import genial_env, which never imports them: a trained agent plays there without torch (genial_env/policies).
"""
