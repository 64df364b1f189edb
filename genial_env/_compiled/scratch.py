"""Per-thread scratch buffers of compiled functions, which cannot allocate arrays themselves."""

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from genial_env._compiled.primitives import Array, Arrays
from genial_env.core.rules import Rules
from genial_env.core.scalar import facts_of

_Parameters = ParamSpec("_Parameters")
_Made = TypeVar("_Made")


def per_thread(make: Callable[_Parameters, _Made]) -> Callable[_Parameters, _Made]:
    """Make a function return the same object again when a thread calls it with the same arguments. A decorator."""
    kept = _Kept()

    @wraps(make)
    def find(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Made:
        key = args, *kwargs.items()
        if key not in kept.by_arguments:
            kept.by_arguments[key] = make(*args, **kwargs)
        found: _Made = kept.by_arguments[key]
        return found

    return find


class _Kept(threading.local):
    def __init__(self) -> None:
        self.by_arguments: dict[Any, Any] = {}


class Scratch(NamedTuple):
    """Scratch buffers of one thread.

    Axis "grid": indices of the grid with a border (`grid_index` of :class:`~genial_env.core.scalar.Facts`).
    """

    sets: Array  # [W] int64 placements
    flags: Array  # [64 W] uint8 the same placements, one byte each
    slots: Array  # [K] bool
    order: Array  # [2, K] int64
    halves: Array  # [C, grid] int32 the value of a half; NOTHING on covered cells
    near: Array  # [C, grid] int32 the highest value on a neighbour
    slopes: Array  # [C, grid] int32 the weighted value of one more point
    extra: Array  # [C, grid] int32 the value of a half besides its points
    cells: Array  # [N + 1] uint16 the free cells
    mosts: Array  # [K] int64 an upper bound of the value of the tile in each slot
    found: Array  # [K * E] int32 the best actions


@per_thread
def scratch(rules: Rules) -> Arrays:
    """Return the scratch buffers of this thread, as a plain tuple."""
    t = facts_of(rules)
    grid = (t.n_colors, t.width * t.width)
    made = Scratch(
        sets=np.empty(t.n_words, np.int64),
        flags=np.empty(t.n_words * 64, np.uint8),
        slots=np.empty(t.n_slots, np.bool_),
        order=np.empty((2, t.n_slots), np.int64),
        halves=np.empty(grid, np.int32),
        near=np.empty(grid, np.int32),
        slopes=np.empty(grid, np.int32),
        extra=np.empty(grid, np.int32),
        cells=np.empty(len(t.grid_index) + 1, np.uint16),
        mosts=np.empty(t.n_slots, np.int64),
        found=np.empty(t.n_slots * t.n_placements, np.int32),
    )
    return tuple(made)
