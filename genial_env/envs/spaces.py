"""Encodings and rules as Gymnasium spaces."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from genial_env.core.rules import Rules
from genial_env.core.tables import tables
from genial_env.encodings import Encoding, Field


def observation_space(encoding: Encoding, rules: Rules) -> spaces.Space[Any]:
    """A Dict with a Box for each field; for an encoding with one field without a name that Box alone."""
    boxes = {name: _box(field) for name, field in encoding.fields(rules).items()}
    return boxes[""] if "" in boxes else spaces.Dict(boxes)  # type: ignore[arg-type]


def action_space(rules: Rules) -> spaces.Discrete:
    """All A actions."""
    return spaces.Discrete(tables(rules).n_actions)


def reward_space(rules: Rules) -> spaces.Box:
    """The range of the reward "vector": one entry a color."""
    return spaces.Box(-rules.top, rules.top, (rules.colors,), dtype=np.float32)


def batch_of(arrays: dict[str, NDArray[Any]]) -> Any:
    """What :func:`observation_space` describes, for a batch: the dict, or the one array without a name.

    Every array owns its data, whatever an encoding hands over: a part of a larger array would lead to the rest of it.
    """
    owned = {name: array if array.base is None else array.copy() for name, array in arrays.items()}
    return owned.get("", owned)


def item_of(arrays: dict[str, NDArray[Any]], index: int) -> Any:
    """The observation of one game of a batch, copied."""
    return arrays[""][index].copy() if "" in arrays else {name: array[index].copy() for name, array in arrays.items()}


def _box(field: Field) -> spaces.Box:
    return spaces.Box(field.low, field.high, field.shape, dtype=field.dtype)  # type: ignore[arg-type]
