"""Augment training data by the symmetries of the game."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.rules import Rules
from genial_env.core.symmetry import random_symmetries
from genial_env.core.tables import Ints
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
    """A batch of training data with each game turned and recolored at random: new observations, masks and actions.

    Args:
        rules: the rules.
        encoding: what the observations are encoded with, by name or one that can decode.
        observation: the arrays [G, ...] by field, or the one array of an encoding with one.
        masks: [G, A].
        actions: [G] action ids; a learner's own, so that they are about the rack that the observation shows.
        rng: where the choices come from.
        keep_start_symbols: whether the printed symbols stay as they are.

    Raises:
        TypeError: for an encoding that cannot decode.
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
