"""Potential-based reward shaping: additional rewards that leave the best policy unchanged.

Let phi be a function of the learner's observation, with phi = 0 once the game is over. Every step pays

    gamma * phi(next) - phi(now)

in addition to its reward. Discounted and summed over an episode s_0, ..., s_T, the additions are

    sum_t gamma^t (gamma phi(s_(t+1)) - phi(s_t)) = gamma^T phi(s_T) - phi(s_0) = -phi(s_0),

because all terms between cancel and phi(s_T) = 0. So the return of every policy from s_0 changes by the same -phi(s_0),
which depends on no action. The best policy stays the best, and differences between policies stay the same (A. Ng, D.
Harada, S. Russell, "Policy invariance under reward transformations", ICML 1999). The same sum from a later state on
shows that the learned values are the values without shaping minus phi. So shaping only spares the value network from
learning phi.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from agents.ppo.resumable import AnyGenialVecEnv, ResumableVecEnvWrapper
from genial_env.core.arrays import Floats
from genial_env.core.rules import TRACK_END

__all__ = ["VecPotentialShaping", "potential"]


def potential(markers: NDArray[Any]) -> Floats:
    """Compute the potential [G]: the average of the lowest and the mean own marker, as shares of the track.

    Args:
        markers: [G, T, C], the own track first.
    """
    own = markers[:, 0].astype(np.float64) / TRACK_END
    found: Floats = (own.min(axis=1) + own.mean(axis=1)) / 2
    return found


class VecPotentialShaping(ResumableVecEnvWrapper):
    """An environment with a potential of the learner's markers added to its rewards.

    Args:
        venv: the environment; its observations must have the field "markers".
        weight: factor of the potential.
        gamma: the learner's discount factor.
    """

    def __init__(self, venv: AnyGenialVecEnv, weight: float, gamma: float = 1.0) -> None:
        super().__init__(venv)
        self._weight, self._gamma = weight, gamma
        self._phi_now = np.zeros(self.num_envs)

    def reset(self) -> VecEnvObs:
        """Start new games."""
        observation = self.venv.reset()
        self._phi_now = self._phi(observation)
        return observation

    def step_wait(self) -> VecEnvStepReturn:
        """Step the environment and add the shaping to its rewards."""
        observation, rewards, dones, infos = self.venv.step_wait()
        phi_next = self._phi(observation)  # of the next game's first observation where a game is over
        shaping = self._gamma * np.where(dones, 0.0, phi_next) - self._phi_now
        self._phi_now = phi_next
        return observation, rewards + shaping.astype(np.float32), dones, infos

    def _get_own_state(self) -> Any:
        return self._phi_now.copy()

    def _set_own_state(self, own: Any) -> None:
        self._phi_now = own.copy()

    def _phi(self, observation: Any) -> Floats:
        return self._weight * potential(observation["markers"])
