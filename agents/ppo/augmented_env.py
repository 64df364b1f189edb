"""Augmentation by symmetries: the learner plays every position turned, mirrored and recolored at random.

Whatever network learns then sees each position in one of 12 x 720 ways, and what it learns of one holds for all of them
only if it has seen them. Its action is turned back before it is played, so games, rewards and the policy's gradient are
what they are without: no sample has to be weighed by what the policy would have done elsewhere.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnvWrapper
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from genial_env.core.symmetry import Symmetry, random_symmetries
from genial_env.encodings import Decodable, make_encoding
from genial_env.envs.sb3 import GenialVecEnv


class Turned(VecEnvWrapper):
    """An environment seen through another symmetry at every decision.

    Args:
        venv: whose observations are of the encoding.
        encoding: one that can decode.
        seed: of the symmetries.
    """

    def __init__(self, venv: GenialVecEnv, encoding: str | Decodable, seed: int) -> None:
        super().__init__(venv)
        coder = make_encoding(encoding)
        if not isinstance(coder, Decodable):
            raise TypeError(f"an encoding with decode(rules, arrays) is needed, unlike {encoding!r}")
        self._coder, self._rules, self._rng = coder, venv.rules, np.random.default_rng(seed)
        self._symmetry: Symmetry
        self._rack: NDArray[np.int8]

    def reset(self) -> VecEnvObs:
        """New games."""
        return self._turn(self.venv.reset())

    def step_async(self, actions: np.ndarray) -> None:
        """Take actions of the turned positions."""
        self.venv.step_async(self._symmetry.inverse.actions(np.asarray(actions, dtype=np.int64), self._rack))

    def step_wait(self) -> VecEnvStepReturn:
        """The environment's step, and what is seen after it."""
        observation, earned, done, infos = self.venv.step_wait()
        return self._turn(observation), earned, done, infos

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        """``"action_masks"`` of the turned positions, of all games."""
        masks = self.venv.env_method(method_name, *args, indices=indices, **kwargs)
        return self._symmetry.mask(masks)

    def get_state(self) -> dict[str, Any]:
        """As the environment's."""
        own = (self._rng.bit_generator.state, self._symmetry.board_number, self._symmetry.colors, self._rack)
        return {"env": self.venv.get_state(), "own": own}

    def set_state(self, saved: dict[str, Any]) -> None:
        """As the environment's."""
        self.venv.set_state(saved["env"])
        self._rng.bit_generator.state, number, colors, self._rack = saved["own"]
        self._symmetry = Symmetry(self._rules, number, colors)

    def _turn(self, observation: Any) -> Any:
        arrays = observation if isinstance(observation, dict) else {"": observation}
        view = self._coder.decode(self._rules, arrays)
        self._symmetry = random_symmetries(self._rules, self.num_envs, self._rng)
        image = self._symmetry.view(view)
        self._rack = image.rack
        images = self._coder.encode(image)
        return images.get("", images)
