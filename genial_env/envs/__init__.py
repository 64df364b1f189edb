"""Environments, thin over the kernel. Importing this package registers the Gymnasium ids.

==========================  =========================================================================================
``genial_env.genial_v0``    PettingZoo AEC: ``env()``, ``raw_env()``
``genial_env/Genial-v0``    Gymnasium, single and vectorized: one learning seat against policies
``genial_env/GenialMO-v0``  the same with a vector of rewards, for MO-Gymnasium
``genial_env/GenialSolo-v0``  Gymnasium, single and vectorized: the solo game
``genial_env.envs.sb3``     a Stable-Baselines3 VecEnv that steps all games in one batch
==========================  =========================================================================================
"""

import gymnasium as gym

for name, arguments in (("Genial", {}), ("GenialMO", {"reward": "vector"})):
    gym.register(
        id=f"genial_env/{name}-v0",
        entry_point="genial_env.envs.single:GenialEnv",
        vector_entry_point="genial_env.envs.vector:GenialVectorEnv",
        kwargs=arguments,
    )
gym.register(
    id="genial_env/GenialSolo-v0",
    entry_point="genial_env.envs.single:GenialSoloEnv",
    vector_entry_point="genial_env.envs.vector:GenialSoloVectorEnv",
)
