"""Potential-based shaping: rewards on the way that leave the best policy the best.

Let phi be any function of what the learner sees, with phi = 0 once the game is over, and let every step pay

    gamma * phi(next) - phi(now)

besides its reward. Discounted and added up over an episode s_0, ..., s_T the additions are

    sum_t gamma^t (gamma phi(s_(t+1)) - phi(s_t)) = gamma^T phi(s_T) - phi(s_0) = -phi(s_0),

as all terms between cancel and phi(s_T) = 0. So every policy's return from s_0 changes by the same -phi(s_0), which
depends on no action: whatever was best stays best, and by how much one policy is better than another is the same too
(A. Ng, D. Harada, S. Russell, "Policy invariance under reward transformations", ICML 1999). The same sum from any later
state on says that the learner's values are the unshaped ones less phi: all that shaping does is to spare the value
network from learning phi.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from genial_env.core.rules import TRACK_END


def potential(markers: NDArray[Any]) -> NDArray[np.float64]:
    """[G]: the lowest and the mean own marker, both as a share of the track, averaged.

    Args:
        markers: [G, T, C], the own track first.
    """
    own = markers[:, 0].astype(np.float64) / TRACK_END
    return (own.min(axis=1) + own.mean(axis=1)) / 2


class Shaped(VecEnvWrapper):
    """An environment whose rewards are shaped by the learner's markers.

    Args:
        venv: whose observations have the field "markers".
        weight: of the potential.
        gamma: the learner's discount.
    """

    def __init__(self, venv: VecEnv, weight: float, gamma: float = 1.0) -> None:
        super().__init__(venv)
        self._weight, self._gamma = weight, gamma
        self._now = np.zeros(self.num_envs)

    def reset(self) -> VecEnvObs:
        """New games."""
        observation = self.venv.reset()
        self._now = self._phi(observation)
        return observation

    def step_wait(self) -> VecEnvStepReturn:
        """The environment's step, and the shaping."""
        observation, earned, done, infos = self.venv.step_wait()
        after = self._phi(observation)  # of the next game, where one is over
        earned = earned + (self._gamma * np.where(done, 0.0, after) - self._now).astype(np.float32)
        self._now = after
        return observation, earned, done, infos

    def get_state(self) -> dict[str, Any]:
        """As the environment's."""
        return {"env": self.venv.get_state(), "now": self._now.copy()}

    def set_state(self, saved: dict[str, Any]) -> None:
        """As the environment's."""
        self.venv.set_state(saved["env"])
        self._now = saved["now"].copy()

    def _phi(self, observation: Any) -> NDArray[np.float64]:
        return self._weight * potential(observation["markers"])
