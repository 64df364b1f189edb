"""The PettingZoo environment, imported as PettingZoo's own are: ``from genial_env import genial_v0``."""

from genial_env.envs.aec import GenialAECEnv as raw_env  # noqa: N813  PettingZoo's name for it
from genial_env.envs.aec import env

__all__ = ["env", "raw_env"]
