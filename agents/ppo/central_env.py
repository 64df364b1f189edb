"""A wrapper that adds the hidden tiles to the observations, for a critic that sees everything.

Only the critic may read them, and only training has them: with its help the advantages vary less with the tiles that
nobody knew.
"""

from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from agents.ppo.resumable import ResumableVecEnvWrapper
from genial_env.envs.sb3 import GenialVecEnv

__all__ = ["TILES", "VecCentralTiles"]

TILES = "tiles"
"""The name of the added field: tiles of each kind in the racks, clockwise from the learner's, and in the bag."""


class VecCentralTiles(ResumableVecEnvWrapper):
    """An environment whose observations have the field :data:`TILES`, uint8 (P + 1, M).

    Args:
        venv: the environment; its observations must be a dict.
    """

    venv: GenialVecEnv

    def __init__(self, venv: GenialVecEnv) -> None:
        super().__init__(venv)
        known = venv.observation_space
        assert isinstance(known, spaces.Dict)
        self._shape = venv.count_tiles().shape[1:]
        self.observation_space = spaces.Dict({**known.spaces, TILES: spaces.Box(0, 255, self._shape, np.uint8)})

    def reset(self) -> VecEnvObs:
        """Start new games."""
        return self._add_tiles(self.venv.reset())

    def step_wait(self) -> VecEnvStepReturn:
        """Step the environment. Observations at the end of a game have 0 tiles everywhere."""
        observation, rewards, dones, infos = self.venv.step_wait()
        for index in np.flatnonzero(dones):
            infos[index]["terminal_observation"][TILES] = np.zeros(self._shape, dtype=np.uint8)
        return self._add_tiles(observation), rewards, dones, infos

    def _get_own_state(self) -> None:
        """Return None: the wrapper has no state."""

    def _set_own_state(self, own: Any) -> None:
        """Do nothing."""

    def _add_tiles(self, observation: Any) -> VecEnvObs:
        return {**observation, TILES: self.venv.count_tiles()}
