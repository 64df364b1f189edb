"""Set up positions, and check that they can occur."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genial_env.core import actions as action_words
from genial_env.core import bitsets, chance
from genial_env.core._kernel.board import find_touched_symbols, open_sets, recount_points
from genial_env.core._kernel.dealing import deal
from genial_env.core._kernel.playing import all_at_top, end_games
from genial_env.core._kernel.rows import count_kinds
from genial_env.core.arrays import Bools, Ints
from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.state import EMPTY, FREE, End, Phase, State
from genial_env.core.tables import Tables, tables


def position(
    rules: Rules,
    board: ArrayLike,
    *,
    scores: ArrayLike = 0,
    racks: ArrayLike = EMPTY,
    bag: ArrayLike | None = None,
    to_play: ArrayLike = 0,
    phase: ArrayLike | None = None,
    pending_bonus: ArrayLike = 0,
    has_placed: ArrayLike = True,
    seeds: int | Sequence[int] | NDArray[Any] = 0,
    any_tiles: bool = False,
) -> State:
    """Set up B games; every argument except the board is broadcast to its shape in :class:`State`.

    Args:
        rules: the rules.
        board: [B, N] or [N], the color on each cell, -1 where free. It must show the start symbols.
        scores: [B, T, C] markers.
        racks: [B, P, K] tile kinds, -1 for an empty slot.
        bag: [B, M] tiles left of each kind; None: all tiles that are not in the racks.
        to_play: [B] seats.
        phase: [B] a :class:`Phase`; None: OVER where the game has ended, else PLACE.
        pending_bonus: [B] bonus placements still to be made.
        has_placed: [B, P] whether a seat has placed its first tile, so that the first-turn rule is over for it.
        seeds: [B] for the draws to come.
        any_tiles: whether the board may show single halves, and whether there may be more of a color or kind than the
            box holds. For studies of scoring, and for examples that show a part of a board.

    Raises:
        ValueError: if a shape or a value does not fit the rules, or the position is impossible: a start symbol is
            missing or has another color, a connected region has an odd number of covered cells, there are too many of a
            color or kind, or the phase is OVER in a game that goes on, or another one in a game that has ended.
    """
    cells = np.atleast_2d(np.asarray(board))
    n_games, t = len(cells), tables(rules)
    if cells.shape != (n_games, t.n_cells):
        raise ValueError(f"board must have the shape ({n_games}, {t.n_cells}), not {cells.shape}")
    _check_between("board", cells, FREE, rules.colors - 1)
    _check_between("scores", scores, 0, rules.top)
    _check_between("racks", racks, EMPTY, t.n_kinds - 1)
    _check_between("to_play", to_play, 0, rules.players - 1)
    _check_between("phase", int(Phase.PLACE) if phase is None else phase, int(Phase.PLACE), int(Phase.OVER))
    _check_between("pending_bonus", pending_bonus, 0, rules.players * rules.rack)
    _check_start_symbols(rules, cells)
    state = deal(rules, np.broadcast_to(chance.as_seeds(seeds), n_games))
    state.board[:] = cells
    state.points[:] = recount_points(rules, cells)
    state.open[:] = open_sets(t, cells)
    state.symbols_touched[:] = find_touched_symbols(t, cells)
    state.scores[:] = scores
    state.racks[:] = racks
    held = count_kinds(state.racks.reshape(n_games, rules.players * rules.rack), t.n_kinds)
    left = t.full_bag - held if bag is None else np.asarray(bag)
    _check_between("bag", left, 0, np.iinfo(state.bag.dtype).max)
    state.bag[:] = left
    if not any_tiles:
        _check_tiles(state, held if bag is None else held + state.bag)
    state.to_play[:] = to_play
    state.phase[:] = int(Phase.PLACE) if phase is None else phase
    state.pending_bonus[:] = pending_bonus
    state.has_placed[:] = has_placed
    said_over = state.over
    ended = end_games(state, np.arange(n_games), all_at_top(rules, state.scores))
    if phase is not None:
        _check_over(state, said_over, ended)
    return state


def _check_start_symbols(rules: Rules, cells: NDArray[Any]) -> None:
    """Raise a ValueError if a start symbol is missing on boards [B, N] or has another color."""
    start_symbols = tables(rules).start_symbols
    for game, color in np.argwhere(cells[:, start_symbols] != np.arange(rules.colors))[:1].tolist():
        found = int(cells[game, start_symbols[color]])
        what = "a free cell" if found == FREE else COLOR_LETTERS[found]
        raise ValueError(
            f"board of game {game}: {_cell_words(rules, start_symbols[color])} must show its printed symbol, "
            f"{COLOR_LETTERS[color]}, not {what}"
        )


def _check_tiles(state: State, known: Ints) -> None:
    """Raise a ValueError if whole tiles cannot cover a board, or if there are too many of a color or kind.

    Args:
        state: B games.
        known: [B, M] the tiles that are not on the board.
    """
    rules, t = state.rules, state.tables
    tiled = state.board != FREE
    tiled[:, t.start_symbols] = False
    region = _regions(t, tiled)
    sizes = np.bincount(region[tiled], minlength=tiled.size)
    for number in np.flatnonzero(sizes & 1)[:1].tolist():
        game, cell = divmod(number, t.n_cells)
        raise ValueError(
            f"board of game {game}: tiles cover two cells each, and {sizes[number]} cells are covered around "
            f"{_cell_words(rules, cell)} (any_tiles=True allows it)"
        )
    for game, kind in np.argwhere(known > t.full_bag)[:1].tolist():
        raise ValueError(
            f"racks and bag of game {game}: there are {t.full_bag[kind]} tiles {action_words.tile_name(rules, kind)}, "
            f"not {known[game, kind]} (any_tiles=True allows it)"
        )
    laid = (np.where(tiled, state.board, FREE)[..., None] == np.arange(rules.colors)).sum(axis=1)  # [B, C]
    most, found = t.full_bag.astype(np.int64) @ t.color_counts, laid + known @ t.color_counts
    for game, color in np.argwhere(found > most)[:1].tolist():
        raise ValueError(
            f"board, racks and bag of game {game}: all tiles have {most[color]} halves of {COLOR_LETTERS[color]}, "
            f"not {found[game, color]} (any_tiles=True allows it)"
        )


def _regions(t: Tables, tiled: Bools) -> Ints:
    """Label the connected regions of covered cells: [B, N], the least index in [B * N] of the cell's region."""
    n_games, n_cells = tiled.shape
    nowhere = n_games * n_cells
    region = np.where(tiled, np.arange(nowhere).reshape(tiled.shape), nowhere)
    while True:
        edged = np.concatenate([region, np.full((n_games, 1), nowhere)], axis=1)
        joined = np.where(tiled, np.minimum(region, edged[:, t.neighbours[:n_cells]].min(axis=2)), nowhere)
        if (joined == region).all():
            return region
        region = joined


def _check_over(state: State, said_over: Bools, ended: Bools) -> None:
    """Raise a ValueError if a game was given as over and goes on, or was given as going on and is over."""
    t = state.tables
    for game in np.flatnonzero(said_over & ~ended)[:1].tolist():
        pair = t.placements[bitsets.unpack(state.open[[game]], t.n_placements)[0].argmax()]
        cells = " and ".join(_cell_words(state.rules, cell) for cell in pair)
        raise ValueError(
            f"phase of game {game}: it cannot be over, as {cells} are free and no track has all markers at its end"
        )
    for game in np.flatnonzero(ended & ~said_over)[:1].tolist():
        full = End(int(state.end[game])) is End.BOARD_FULL
        why = "no two adjacent cells are free" if full else "a track has all markers at its end"
        raise ValueError(f"phase of game {game}: it must be {int(Phase.OVER)}, over, as {why}")


def _cell_words(rules: Rules, cell: int) -> str:
    """Name a cell with its coordinates: "cell A1 (0, -5)"."""
    q, r = tables(rules).cells[cell].tolist()
    return f"cell {action_words.cell_name(rules, (q, r))} {q, r}"


def _check_between(name: str, values: ArrayLike, low: int, high: int) -> None:
    """Raise a ValueError if a value lies outside of a range."""
    array = np.asarray(values)
    if array.size and not low <= array.min() <= array.max() <= high:
        raise ValueError(f"{name} must lie between {low} and {high}, not between {array.min()} and {array.max()}")
