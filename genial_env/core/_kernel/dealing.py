"""Start games."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.backends import AnyBackend, accelerated
from genial_env.core import chance
from genial_env.core._kernel.board import open_sets, recount_points
from genial_env.core._kernel.draws import fill_racks
from genial_env.core._kernel.rows import as_rows, count_kinds
from genial_env.core.arrays import Bits, Ints
from genial_env.core.rules import Rules
from genial_env.core.state import FREE, Phase, State
from genial_env.core.tables import tables


def deal(rules: Rules, seeds: int | Sequence[int] | NDArray[Any], *, backend: AnyBackend = None) -> State:
    """Deal one game for each seed: all racks are drawn, and seat 0 is to play.

    Args:
        rules: the rules.
        seeds: one integer or [B] integers.
        backend: the compute backend; None: the current one.

    Raises:
        TypeError, ValueError: if the seeds are not integers from 0 to 2**64 - 1.
    """
    return deal_at(undealt(rules), seeds, backend=backend)


def redeal(state: State, rows: Ints, seeds: int | Sequence[int] | NDArray[Any], *, backend: AnyBackend = None) -> None:
    """Deal new games in some rows, in place.

    Args:
        state: the games.
        rows: [G] row indices, each at most once.
        seeds: one integer for each row.
        backend: the compute backend; None: the current one.

    Raises:
        TypeError, ValueError: if the seeds are not integers from 0 to 2**64 - 1, or not one for each row.
        IndexError: if a row index is out of range.
    """
    rows, seeds = as_rows(state, rows), chance.as_seeds(seeds)
    if seeds.shape != rows.shape:
        raise ValueError(f"seeds must be one for each of {len(rows)} rows, not {len(seeds)}")
    for name, array in undealt(state.rules).arrays().items():
        getattr(state, name)[rows] = array
    deal_racks.on(backend)(state, rows, seeds)


@lru_cache(maxsize=64)
def undealt(rules: Rules) -> State:
    """Return one game before any tile is drawn. It is cached, so copy it before writing to it."""
    t = tables(rules)
    board = np.full((1, t.n_cells), FREE, dtype=np.int8)
    board[0, t.start_symbols] = np.arange(rules.colors)
    return State.initial(
        rules,
        games=1,
        board=board,
        points=recount_points(rules, board),
        open=open_sets(t, board),
        bag=t.full_bag[None].copy(),
    )


def undealt_at(position: State) -> State:
    """Return a game that begins at a late position, before any tile is drawn.

    It has the board, the markers and the seat to play of the position. The tiles in the racks are back in the bag, and
    what swaps have shown about them is forgotten. :func:`deal_at` deals it.

    Args:
        position: a batch of one game, at the beginning of a turn.

    Raises:
        ValueError: if it is not one game, or the game is over, or a seat is in the middle of its turn.
    """
    if len(position) != 1:
        raise ValueError(f"a game begins at one position, not {len(position)}")
    if position.phase[0] != Phase.PLACE:
        raise ValueError(f"a game begins where a turn begins, not in phase {Phase(int(position.phase[0])).name}")
    start = undealt(position.rules).copy()
    for name in ("board", "points", "open", "symbols_touched", "scores", "has_placed", "to_play"):
        getattr(start, name)[:] = getattr(position, name)
    held = count_kinds(position.racks.reshape(1, -1), position.tables.n_kinds)
    start.bag[:] = position.bag + held.astype(np.uint8)
    return start


def deal_at(start: State, seeds: int | Sequence[int] | NDArray[Any], *, backend: AnyBackend = None) -> State:
    """Deal one game for each seed that begins at a late position: all racks are drawn.

    Args:
        start: one game before any tile is drawn (:func:`undealt_at`).
        seeds: one integer or [B] integers.
        backend: the compute backend; None: the current one.

    Raises:
        TypeError, ValueError: if the seeds are not integers from 0 to 2**64 - 1.
    """
    keys = chance.as_seeds(seeds)
    games = start.select(np.zeros(len(keys), dtype=np.int64))
    deal_racks.on(backend)(games, np.arange(len(keys)), keys)
    return games


@accelerated
def deal_racks(state: State, rows: Ints, seeds: Bits) -> None:
    """Set the keys of the draws and fill every seat's rack, seat by seat, in place, without argument checks."""
    state.key[rows] = chance.seat_keys(seeds, chance.Purpose.DRAWS, state.rules.players)
    for seat in range(state.rules.players):
        fill_racks(state, rows, np.full(len(rows), seat))
