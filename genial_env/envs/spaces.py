"""Gymnasium spaces of encodings, actions and rewards."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from genial_env.core.rules import Rules
from genial_env.core.tables import tables
from genial_env.encodings import Encoding, Field
from genial_env.envs.rewards import Scheme

__all__ = ["action_space", "batch_of", "item_of", "observation_space", "reward_space"]


def observation_space(encoding: Encoding, rules: Rules) -> spaces.Space[Any]:
    """Return a Dict with a Box for each field; for an encoding of one array without a name, its Box."""
    boxes = {name: _box(field) for name, field in encoding.fields(rules).items()}
    return boxes[""] if "" in boxes else spaces.Dict(boxes)  # type: ignore[arg-type]


def action_space(rules: Rules) -> spaces.Discrete:
    """Return the space of all A action ids."""
    return spaces.Discrete(tables(rules).n_actions)


def reward_space(rules: Rules, scheme: Scheme) -> spaces.Box:
    """Return the space of rewards with one entry for each color: of "vector", or of a function, which has no bounds."""
    bound = rules.top if scheme == "vector" else np.inf
    return spaces.Box(-bound, bound, (rules.colors,), dtype=np.float32)


def batch_of(arrays: dict[str, NDArray[Any]]) -> Any:
    """Return the observations of a batch in the structure of :func:`observation_space`.

    Every array owns its data: from a view of a larger array, a user could reach the rest of that array.
    """
    owned = {name: array if array.base is None else array.copy() for name, array in arrays.items()}
    return owned.get("", owned)


def item_of(arrays: dict[str, NDArray[Any]], index: int) -> Any:
    """Return the observation of one game of a batch, copied."""
    return arrays[""][index].copy() if "" in arrays else {name: array[index].copy() for name, array in arrays.items()}


def _box(field: Field) -> spaces.Box:
    return spaces.Box(field.low, field.high, field.shape, dtype=field.dtype)  # type: ignore[arg-type]
