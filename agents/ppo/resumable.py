"""The base class of environment wrappers whose state goes into a checkpoint."""

from abc import abstractmethod
from typing import Any

from stable_baselines3.common.vec_env import VecEnvWrapper

from genial_env.envs.sb3 import GenialVecEnv

__all__ = ["AnyGenialVecEnv", "ResumableVecEnvWrapper"]


class ResumableVecEnvWrapper(VecEnvWrapper):
    """A wrapper that can be saved and restored together with the environment inside.

    Args:
        venv: a GenialVecEnv or another wrapper of this kind.
    """

    venv: "AnyGenialVecEnv"

    def __init__(self, venv: "AnyGenialVecEnv") -> None:
        super().__init__(venv)

    def get_state(self) -> dict[str, Any]:
        """Return the state of the environment inside and of this wrapper."""
        return {"env": self.venv.get_state(), "own": self._get_own_state()}

    def set_state(self, saved: dict[str, Any]) -> None:
        """Restore in place what :meth:`get_state` returned."""
        self.venv.set_state(saved["env"])
        self._set_own_state(saved["own"])

    @abstractmethod
    def _get_own_state(self) -> Any:
        """Return the state of this wrapper, independent of later steps."""

    @abstractmethod
    def _set_own_state(self, own: Any) -> None:
        """Restore in place what :meth:`_get_own_state` returned."""


AnyGenialVecEnv = GenialVecEnv | ResumableVecEnvWrapper
"""An environment whose state can be saved."""
