"""Environments. Importing this package registers their ids in Gymnasium and PettingZoo.

==============================  ======================================================================================
``genial_env.genial_v0``        PettingZoo: ``env()`` and ``raw_env()`` (AEC), ``parallel_env()`` and
                                ``raw_parallel_env()``; in its registry ``genial_env/genial_v0``, "aec" and "parallel"
``genial_env/Genial-v0``        Gymnasium, single and vectorized: one learning seat against policies
``genial_env/GenialMO-v0``      the same with a vector reward, for MO-Gymnasium
``genial_env/GenialSolo-v0``    Gymnasium, single and vectorized: the solo game
``genial_env/GenialMini-v0``    Gymnasium: mini games, which have exact results
``genial_env.envs.sb3``         a Stable-Baselines3 VecEnv that steps all its games in one batch
``genial_env.envs.openspiel``   an OpenSpiel game; importing the module registers it
``genial_env.envs.rllib``       an RLlib MultiAgentEnv
``genial_env.envs.rules_pool``  Gymnasium: the rules of each game are drawn from a pool, for a curriculum
==============================  ======================================================================================
"""

import gymnasium as gym
import pettingzoo

__all__: list[str] = []

gym.register(
    id="genial_env/Genial-v0",
    entry_point="genial_env.envs.single:GenialEnv",
    vector_entry_point="genial_env.envs.vector:GenialVectorEnv",
)
gym.register(
    id="genial_env/GenialMO-v0",
    entry_point="genial_env.envs.single:GenialEnv",
    vector_entry_point="genial_env.envs.vector:GenialVectorEnv",
    kwargs={"reward": "vector"},
)
gym.register(
    id="genial_env/GenialSolo-v0",
    entry_point="genial_env.envs.single:GenialSoloEnv",
    vector_entry_point="genial_env.envs.vector:GenialSoloVectorEnv",
)
gym.register(id="genial_env/GenialMini-v0", entry_point="genial_env.envs.single:GenialMiniEnv")

if hasattr(pettingzoo, "register"):  # PettingZoo has a registry from 1.27 on
    pettingzoo.register("aec", "genial_env/genial_v0", entry_point="genial_env.genial_v0:env")
    pettingzoo.register("parallel", "genial_env/genial_v0", entry_point="genial_env.genial_v0:parallel_env")
