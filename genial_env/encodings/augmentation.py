"""Augment training data by the symmetries of the game."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Ints
from genial_env.core.rules import Rules
from genial_env.core.symmetry import random_symmetries
from genial_env.encodings.base import Decodable
from genial_env.encodings.registry import make_encoding

__all__ = ["augment"]


def augment(
    rules: Rules,
    encoding: str | Decodable,
    observation: Any,
    masks: NDArray[Any],
    actions: Ints,
    rng: np.random.Generator,
    keep_start_symbols: bool = False,
) -> tuple[Any, NDArray[Any], Ints]:
    """Map each game of a batch of training data by a random symmetry.

    Args:
        rules: the rules.
        encoding: the encoding of the observations, by name or as an object that can decode.
        observation: the arrays [G, ...] by field, or the array of an encoding with a single one.
        masks: [G, A].
        actions: [G] action ids of the observing seat, which refer to the rack in the observation.
        rng: the source of the random choices.
        keep_start_symbols: whether to use only symmetries that leave the start symbols in place.

    Returns:
        The new observations, masks and actions.

    Raises:
        TypeError: if the encoding cannot decode.
    """
    coder = make_encoding(encoding)
    if not isinstance(coder, Decodable):
        raise TypeError(f"augment needs an encoding with decode(rules, arrays), unlike {encoding!r}")
    arrays = observation if isinstance(observation, dict) else {"": observation}
    view = coder.decode(rules, arrays)
    chosen = random_symmetries(rules, len(view), rng, keep_start_symbols)
    images = coder.encode(chosen.view(view))
    actions = np.asarray(actions, dtype=np.int64)
    return images.get("", images), chosen.mask(np.asarray(masks)), chosen.actions(actions, view.rack)
