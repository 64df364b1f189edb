"""Check the arguments `rows` and `actions`, and index what belongs to the seat to play."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genial_env.core.arrays import Ints
from genial_env.core.state import State


def as_rows(state: State, rows: Ints | None) -> Ints:
    """Return row indices as an int64 array [G]; None means all rows.

    Raises:
        IndexError: if `rows` is not one-dimensional, not of integers, or out of range.
    """
    if rows is None:
        return np.arange(len(state))
    numbers = np.asarray(rows)
    if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and numbers.size):
        raise IndexError(f"rows must be whole numbers [G], not {numbers.dtype} of shape {numbers.shape}")
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < len(state):
        raise IndexError(
            f"rows must lie between 0 and {len(state) - 1}, not between {numbers.min()} and {numbers.max()}"
        )
    return np.ascontiguousarray(numbers, dtype=np.int64)


def as_actions(actions: ArrayLike, n_games: int) -> Ints:
    """Return actions as an int64 array [G].

    Raises:
        TypeError: if they are not integers.
        ValueError: if the shape is not [G].
    """
    values = np.asarray(actions)
    if values.dtype.kind not in "iu":
        raise TypeError(f"actions must be whole numbers, not {values.dtype}: {actions!r}")
    if values.shape != (n_games,):
        raise ValueError(f"actions must have one entry a game, shape ({n_games},), not {values.shape}")
    return values.astype(np.int64, copy=False)


def mover_index(state: State, rows: Ints) -> Ints:
    """Return the seat to play of each row as an index into the flattened axes [B * P]: [G]."""
    return rows * state.rules.players + state.to_play[rows]


def own_racks(state: State, rows: Ints | None = None) -> NDArray[np.int8]:
    """Return the rack of each game's seat to play: [G, K]."""
    rows = np.arange(len(state)) if rows is None else rows
    return state.racks.reshape(-1, state.rules.rack).take(mover_index(state, rows), axis=0)


def own_track_index(state: State, rows: Ints) -> Ints:
    """Return the track of each row's seat to play as an index into the flattened axes [B * T]: [G]."""
    return rows * state.rules.tracks + state.rules.track_of(state.to_play[rows])


def own_scores(state: State, rows: Ints | None = None) -> NDArray[np.int8]:
    """Return the markers of each game's seat to play: [G, C]."""
    rows = np.arange(len(state)) if rows is None else rows
    return state.scores.reshape(-1, state.rules.colors).take(own_track_index(state, rows), axis=0)


def count_kinds(kinds: NDArray[np.integer[Any]], n_kinds: int) -> Ints:
    """Count the tiles of each kind in slots [G, slots], in which negative numbers are empty: [G, M]."""
    n_games = len(kinds)
    at = np.arange(n_games)[:, None] * (n_kinds + 1) + kinds + 1
    return np.bincount(at.ravel(), minlength=n_games * (n_kinds + 1)).reshape(n_games, n_kinds + 1)[:, 1:]


def flat(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same memory as one axis: one-dimensional fancy indexing is several times faster."""
    return array.reshape(-1)


def pick(array: NDArray[Any], rows: Ints | None) -> NDArray[Any]:
    """Return some rows of an array; None: the array itself."""
    return array if rows is None else array[rows]
