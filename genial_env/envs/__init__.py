"""Environments, thin over the kernel. Importing this package registers the Gymnasium ids.

==========================  =========================================================================================
``genial_env.genial_v0``    PettingZoo AEC: ``env()``, ``raw_env()``
``genial_env/Genial-v0``    Gymnasium: one learning seat against policies
``genial_env/GenialSolo-v0``  Gymnasium: the solo game
``genial_env.envs.sb3``     a Stable-Baselines3 VecEnv that steps all games in one batch
==========================  =========================================================================================
"""

import gymnasium as gym

gym.register(id="genial_env/Genial-v0", entry_point="genial_env.envs.single:GenialEnv")
gym.register(id="genial_env/GenialSolo-v0", entry_point="genial_env.envs.single:GenialSoloEnv")
