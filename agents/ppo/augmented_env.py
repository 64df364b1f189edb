"""Data augmentation by symmetries: the learner sees every position rotated, mirrored and recolored at random.

The rules do not change under the 12 symmetries of the board and the 720 permutations of the colors. A network that does
not know that must see many images of a position to treat them alike. The wrapper draws a new symmetry for every
decision, shows the position's image under it, and maps the chosen action back before it is played. So games and rewards
stay as they are, and no sample needs a correction for the policy's probabilities elsewhere.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from agents.ppo.resumable import AnyGenialVecEnv, ResumableVecEnvWrapper
from genial_env import Rules
from genial_env.core.symmetry import Symmetry, random_symmetries
from genial_env.encodings import AnyEncoding, Decodable, make_encoding

__all__ = ["VecSymmetryAugmentation"]


class VecSymmetryAugmentation(ResumableVecEnvWrapper):
    """An environment that is seen under a new random symmetry at every decision.

    Args:
        venv: the environment; its observations must be of the encoding.
        rules: the rules of the environment.
        encoding: an encoding with the method ``decode``.
        seed: seed of the symmetries.

    Raises:
        TypeError: if the encoding cannot decode.
    """

    def __init__(self, venv: AnyGenialVecEnv, rules: Rules, encoding: AnyEncoding, seed: int) -> None:
        super().__init__(venv)
        decodable = make_encoding(encoding)
        if not isinstance(decodable, Decodable):
            raise TypeError(f"augmentation takes an encoding with the method decode(rules, arrays), not {encoding!r}")
        self._encoding, self._rules, self._rng = decodable, rules, np.random.default_rng(seed)
        self._symmetry: Symmetry
        self._rack: NDArray[np.int8]

    def reset(self) -> VecEnvObs:
        """Start new games and return their images."""
        images: VecEnvObs = self._augment(self.venv.reset())
        return images

    def step_async(self, actions: np.ndarray) -> None:
        """Take actions that were chosen for the images."""
        self.venv.step_async(self._symmetry.inverse.actions(np.asarray(actions, dtype=np.int64), self._rack))

    def step_wait(self) -> VecEnvStepReturn:
        """Step the environment and return the images of the new positions."""
        observation, rewards, dones, infos = self.venv.step_wait()
        return self._augment(observation), rewards, dones, infos

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        """Call ``"action_masks"``, the only method that is supported: masks of the images, bool [G, A].

        Raises:
            AttributeError: for any other method.
        """
        if method_name != "action_masks":
            raise AttributeError(f"games that are seen under symmetries have only action_masks, not {method_name!r}")
        masks: Any = self.venv.env_method(method_name, *args, **kwargs)
        images = self._symmetry.mask(masks)
        return images if indices is None else images[list(self._get_indices(indices))]

    def _get_own_state(self) -> Any:
        return self._rng.bit_generator.state, self._symmetry.board_number, self._symmetry.colors, self._rack

    def _set_own_state(self, own: Any) -> None:
        self._rng.bit_generator.state, number, colors, self._rack = own
        self._symmetry = Symmetry(self._rules, number, colors)

    def _augment(self, observation: Any) -> Any:
        arrays = observation if isinstance(observation, dict) else {"": observation}
        view = self._encoding.decode(self._rules, arrays)
        self._symmetry = random_symmetries(self._rules, self.num_envs, self._rng)
        image = self._symmetry.view(view)
        self._rack = image.rack
        images = self._encoding.encode(image)
        return images.get("", images)
