"""Draw tiles from the bags."""

import numpy as np
from numpy.typing import ArrayLike

from genial_env.core import bitsets, chance
from genial_env.core._kernel.rows import count_kinds, flat
from genial_env.core.arrays import Ints
from genial_env.core.state import EMPTY, State


def fill_racks(state: State, rows: Ints, seat: Ints, script: Ints | None = None) -> None:
    """Draw a tile for every empty slot of a seat in each row, in slot order, in place.

    Args:
        state: the games.
        rows: [G] row indices.
        seat: [G] the seats.
        script: [G, K] tile kinds to draw instead, -1 from where on the seat's random bits decide.
    """
    all_racks = state.racks.reshape(-1, state.rules.rack)
    at = rows * state.rules.players + seat
    racks = all_racks.take(at, axis=0)
    missing = bitsets.fold(np.add, (racks == EMPTY).astype(np.int8))
    drawn = 0
    short = np.flatnonzero(missing)
    while short.size:
        slot = racks.take(short, axis=0).argmin(axis=1)  # EMPTY is the least
        wanted = None if script is None else script[short, drawn]
        racks[short, slot] = _draw(state, rows.take(short), at.take(short), wanted)
        drawn += 1
        short = short[missing.take(short) > drawn]
    all_racks[at] = racks


def _draw(state: State, rows: Ints, seat_index: Ints, wanted: Ints | None) -> Ints:
    """Take one tile out of each bag, in place, and return its kind: the scripted one, or by the seat's random bits."""
    n_kinds = state.tables.n_kinds
    upto = bitsets.running_total(state.bag.take(rows, axis=0), np.int16)  # [M, G]
    random = chance.bits(flat(state.key).take(seat_index), flat(state.drawn).take(seat_index))
    drawn: Ints = np.add.reduce(upto <= chance.below(random, upto[-1]), axis=0, dtype=np.int64)
    if wanted is not None:
        drawn = np.where(wanted < 0, drawn, wanted)
    flat(state.bag)[rows * n_kinds + drawn] -= 1
    flat(state.drawn)[seat_index] += 1
    return drawn


def as_script(state: State, draws: ArrayLike, rows: Ints) -> Ints:
    """Return scripted draws as an int64 array [G, K].

    Raises:
        TypeError: if they are not integers.
        ValueError: if the shape is wrong, a number is no tile kind, a tile kind follows a -1, or a bag lacks tiles.
    """
    script, n_kinds = np.asarray(draws), state.tables.n_kinds
    if script.dtype.kind not in "iu":
        raise TypeError(f"draws must be whole numbers, not {script.dtype}")
    if script.shape != (len(rows), state.rules.rack):
        raise ValueError(f"draws must have the shape ({len(rows)}, {state.rules.rack}), not {script.shape}")
    if script.size and not -1 <= script.min() <= script.max() < n_kinds:
        raise ValueError(
            f"draws must be tile kinds from 0 to {n_kinds - 1}, or -1, not {script.min()} to {script.max()}"
        )
    if ((script[:, :-1] < 0) & (script[:, 1:] >= 0)).any():
        raise ValueError("draws must be given from the first on: no tile kind may follow a -1")
    lacking = np.argwhere(count_kinds(script, n_kinds) > state.bag[rows])
    if len(lacking):
        which, kind = lacking[0].tolist()
        raise ValueError(
            f"game {rows[which]}: the bag has not enough tiles of kind {kind} for the draws {script[which]}"
        )
    return script.astype(np.int64, copy=False)
