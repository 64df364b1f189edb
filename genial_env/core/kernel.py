"""The rules as functions on arrays: B games at once, and no Python loop over games.

    state = deal(Rules(), seeds=range(1000))
    while not state.over.all():
        mask = legal(state, live)                  # [G, A] bool, True = playable
        apply(state, actions, live)                # in place
    ranks(state.scores)                            # [B, T], 1 = best

`rows` picks the games a call is about ([G] indices into B, each at most once); left out, it is all of them. `backend`
says who does the work (:mod:`genial_env.backends`); left out, it is the backend in use.

Two arrays are kept up to date rather than recomputed, and everything is fast because of them. `open` says which
placements find both cells free; laying a tile closes only those that share a cell with it. `points` says what each
color would score on each free cell. Both halves of a tile lie on cells that were free, so a tile scores
``points[first cell, first color] + points[second cell, second color]``, doubles included; and laying color k on
cell x changes only ``points[y, k]`` for the first free cell y behind the run of k in each of the six directions::

        y  k  k  x  k  .        y saw a run of 2; now it sees 2 + x + the run of 1 on the other side,
        |  +--+  |  +- run      so points[y, k] grows by 1 + 1
        |   run of 2
        points[y, k] += 1 + run of k from x the other way
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genial_env.backends import AnyBackend, accelerated
from genial_env.core import actions as words
from genial_env.core import bitsets, chance
from genial_env.core.rules import COLOR_LETTERS, TRACK_END, Rules
from genial_env.core.state import EMPTY, FREE, LEVELS, End, Phase, State
from genial_env.core.tables import Bools, Ints, Tables, tables
from genial_env.errors import IllegalAction

_OPPOSITE = np.array([3, 4, 5, 0, 1, 2])
_NEWEST_FIRST = np.arange(LEVELS)
_PLACE, _BONUS, _SWAP, _OVER = (int(phase) for phase in Phase)  # numpy compares plain numbers faster


# Dealing


def deal(rules: Rules, seeds: int | Sequence[int] | NDArray[Any], *, backend: AnyBackend = None) -> State:
    """Start one game for each seed: racks drawn, seat 0 to play.

    Raises:
        TypeError, ValueError: for seeds that are not whole numbers from 0 to 2**64 - 1.
    """
    keys = chance.as_seeds(seeds)
    opening = undealt(rules)
    games = State(rules, *(np.repeat(array, len(keys), axis=0) for array in opening.arrays().values()))
    deal_racks.on(backend)(games, np.arange(len(keys)), keys)
    return games


def redeal(state: State, rows: Ints, seeds: int | Sequence[int] | NDArray[Any], *, backend: AnyBackend = None) -> None:
    """In place: start anew in some rows, one seed each.

    Raises:
        TypeError, ValueError: for seeds that are not whole numbers from 0 to 2**64 - 1, or not one for each row.
        IndexError: for rows that there are not.
    """
    rows, seeds = as_rows(state, rows), chance.as_seeds(seeds)
    if seeds.shape != rows.shape:
        raise ValueError(f"seeds must be one for each of {len(rows)} rows, not {len(seeds)}")
    for name, array in undealt(state.rules).arrays().items():
        getattr(state, name)[rows] = array
    deal_racks.on(backend)(state, rows, seeds)


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
    """B games set up as given; everything but the board is broadcast to its shape in :class:`State`.

    Args:
        rules: the rules.
        board: [B, N] or [N], the color on each cell, -1 where free; the printed symbols are there in any case.
        scores: [B, T, C] markers.
        racks: [B, P, K] tile kinds, -1 for an empty slot.
        bag: [B, M] tiles left of each kind; left out, the full bag without the racks.
        to_play: [B] seats.
        phase: [B] a :class:`Phase`; left out, OVER where the game has ended, else PLACE.
        pending_bonus: [B] bonus placements still to be made.
        has_placed: [B, P] whether the first-turn rule is behind a seat.
        seeds: [B] for the draws to come.
        any_tiles: whether covered cells, racks and bag may be such as no set of tiles gives: single halves on the
            board, or more of a color or kind than there are. For studies of scoring, and examples that show a part of
            a board.

    Raises:
        ValueError: for a shape or a value that does not fit the rules, and for what cannot be: printed symbols that are
            missing or of other colors, an odd number of covered cells in one place, too many of a color or kind,
            a phase that says OVER where the game goes on, or the reverse.
    """
    cells = np.atleast_2d(np.asarray(board))
    n_games, t = len(cells), tables(rules)
    if cells.shape != (n_games, t.n_cells):
        raise ValueError(f"board must have the shape ({n_games}, {t.n_cells}), not {cells.shape}")
    _check_between("board", cells, FREE, rules.colors - 1)
    _check_between("scores", scores, 0, rules.top)
    _check_between("racks", racks, EMPTY, t.n_kinds - 1)
    _check_between("to_play", to_play, 0, rules.players - 1)
    _check_between("phase", _PLACE if phase is None else phase, _PLACE, _OVER)
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
    state.phase[:] = _PLACE if phase is None else phase
    state.pending_bonus[:] = pending_bonus
    state.has_placed[:] = has_placed
    said_over = state.over
    ended = _end_games(state, np.arange(n_games), (state.scores == rules.top).all(axis=2).any(axis=1))
    if phase is not None:
        _check_over(state, said_over, ended)
    return state


def _check_start_symbols(rules: Rules, cells: NDArray[Any]) -> None:
    """Raise a ValueError for boards [B, N] on which a printed symbol is missing or of another color."""
    start_symbols = tables(rules).start_symbols
    for game, color in np.argwhere(cells[:, start_symbols] != np.arange(rules.colors))[:1].tolist():
        found = int(cells[game, start_symbols[color]])
        what = "a free cell" if found == FREE else COLOR_LETTERS[found]
        raise ValueError(
            f"board of game {game}: {_cell_words(rules, start_symbols[color])} must show its printed symbol, "
            f"{COLOR_LETTERS[color]}, not {what}"
        )


def _check_tiles(state: State, known: Ints) -> None:
    """Raise a ValueError for boards that whole tiles cannot cover, or more of a color or kind than there are.

    Args:
        state: B games.
        known: [B, M] the tiles that are said to be elsewhere than on the board.
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
            f"racks and bag of game {game}: there are {t.full_bag[kind]} tiles {words.tile_name(rules, kind)}, "
            f"not {known[game, kind]} (any_tiles=True allows it)"
        )
    halves = (t.kinds[:, :, None] == np.arange(rules.colors)).sum(axis=1)  # [M, C]
    laid = (np.where(tiled, state.board, FREE)[..., None] == np.arange(rules.colors)).sum(axis=1)  # [B, C]
    most, found = t.full_bag.astype(np.int64) @ halves, laid + known @ halves
    for game, color in np.argwhere(found > most)[:1].tolist():
        raise ValueError(
            f"board, racks and bag of game {game}: all tiles have {most[color]} halves of {COLOR_LETTERS[color]}, "
            f"not {found[game, color]} (any_tiles=True allows it)"
        )


def _regions(t: Tables, tiled: Bools) -> Ints:
    """[B, N]: for each covered cell the least number, in [B * N], of the cells that it hangs together with."""
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
    """Raise a ValueError for games that were said to be over and go on, or the reverse."""
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
        raise ValueError(f"phase of game {game}: it must be {_OVER}, over, as {why}")


def _cell_words(rules: Rules, cell: int) -> str:
    """A cell by its name and place: "cell A1 (0, -5)"."""
    q, r = tables(rules).cells[cell].tolist()
    return f"cell {words.cell_name(rules, (q, r))} {q, r}"


def _check_between(name: str, values: ArrayLike, low: int, high: int) -> None:
    array = np.asarray(values)
    if array.size and not low <= array.min() <= array.max() <= high:
        raise ValueError(f"{name} must lie between {low} and {high}, not between {array.min()} and {array.max()}")


@lru_cache(maxsize=64)
def undealt(rules: Rules) -> State:
    """One game before anything is drawn; made once for these rules, so copy it before you write to it."""
    t = tables(rules)
    board = np.full((1, t.n_cells), FREE, dtype=np.int8)
    board[0, t.start_symbols] = np.arange(rules.colors)
    return State(
        rules=rules,
        board=board,
        points=recount_points(rules, board),
        open=open_sets(t, board),
        symbols_touched=np.zeros(1, dtype=np.uint8),
        scores=np.zeros((1, rules.tracks, rules.colors), dtype=np.int8),
        racks=np.full((1, rules.players, rules.rack), EMPTY, dtype=np.int8),
        bag=t.full_bag[None].copy(),
        key=np.zeros((1, rules.players), dtype=np.uint64),
        drawn=np.zeros((1, rules.players), dtype=np.int64),
        has_placed=np.zeros((1, rules.players), dtype=np.bool_),
        returned=np.zeros((1, rules.players, rules.rack, t.n_kinds), dtype=np.uint8),
        levels=np.zeros((1, t.n_kinds, LEVELS), dtype=np.uint8),
        swapped=np.zeros(1, dtype=np.bool_),
        to_play=np.zeros(1, dtype=np.int64),
        phase=np.full(1, _PLACE, dtype=np.int8),
        pending_bonus=np.zeros(1, dtype=np.int64),
        decisions=np.zeros(1, dtype=np.int64),
        end=np.full(1, End.UNFINISHED, dtype=np.int8),
    )


@accelerated
def deal_racks(state: State, rows: Ints, seeds: chance.Bits) -> None:
    """In place: fill every seat's rack, seat by seat (solo: seat 0 draws its one tile)."""
    state.key[rows] = chance.seat_keys(seeds, chance.Purpose.DRAWS, state.rules.players)
    for seat in range(state.rules.players):
        _refill(state, rows, np.full(len(rows), seat))


def open_sets(t: Tables, board: NDArray[Any]) -> bitsets.Bitsets:
    """[B, words]: the placements of boards [B, N] that find both cells free."""
    return bitsets.pack((board[:, t.placements] == FREE).all(axis=2))


def recount_points(rules: Rules, board: NDArray[Any], *, backend: AnyBackend = None) -> NDArray[np.int8]:
    """The points map of boards [B, N] from scratch: [B, N, C], what color c would score on free cell n.

    Raises:
        ValueError: for boards of another shape.
    """
    n_cells = tables(rules).n_cells
    if board.ndim != 2 or board.shape[1] != n_cells:
        raise ValueError(f"boards must have the shape (B, {n_cells}), not {board.shape}")
    return recount_points_unchecked.on(backend)(rules, board)


@accelerated
def recount_points_unchecked(rules: Rules, board: NDArray[Any]) -> NDArray[np.int8]:
    """Compute :func:`recount_points` without argument checks."""
    t = tables(rules)
    n_games = len(board)
    edged = np.concatenate([board, np.full((n_games, 1), FREE)], axis=1)
    points = np.zeros((n_games, t.n_cells, rules.colors), dtype=np.int8)
    for direction in range(6):
        line = edged[:, t.rays[:-1, direction, 1:]]  # [B, N, distance]
        run = np.logical_and.accumulate((line == line[:, :, :1]) & (line != FREE), axis=2).sum(axis=2)
        for color in range(rules.colors):
            points[:, :, color] += np.where(line[:, :, 0] == color, run, 0).astype(np.int8)
    points[board != FREE] = 0
    return points


# What is allowed


def legal(state: State, rows: Ints | None = None, out: Bools | None = None, *, backend: AnyBackend = None) -> Bools:
    """The mask of playable actions, [G, A]; a game that is over has none.

    Args:
        state: the games.
        rows: which of them.
        out: a C-contiguous bool array [G, A] to write into, instead of a new one.
        backend: who does it.

    Raises:
        IndexError: for rows that there are not.
        ValueError: for an `out` of another shape, dtype or layout.
    """
    rows = None if rows is None else as_rows(state, rows)
    shape = (len(state) if rows is None else len(rows), state.tables.n_actions)
    if out is None:
        out = np.empty(shape, dtype=np.bool_)
    elif out.shape != shape or out.dtype != np.bool_ or not out.flags.c_contiguous:
        raise ValueError(f"out must be a C-contiguous bool array of shape {shape}, not {out.dtype} {out.shape}")
    fill_masks.on(backend)(state, rows, out)
    return out


@accelerated
def fill_masks(state: State, rows: Ints | None, mask: Bools) -> None:
    """Write the masks of :func:`legal` into `mask` [G, A], without argument checks."""
    t = state.tables
    slots = legal_slots(state, rows)
    tiles = mask[:, : t.swap_action].reshape(len(slots), state.rules.rack, t.n_placements)
    tiles[:] = legal_placements(state, rows)[:, None, :]
    tiles[np.divmod(np.flatnonzero(~slots), state.rules.rack)] = False
    if state.rules.has_swap:
        mask[:, t.swap_action] = may_swap(state, rows)
        mask[:, t.decline_action] = may_decline(state, rows)


def legal_slots(state: State, rows: Ints | None = None) -> Bools:
    """[G, K]: the slots to place from; none where the decision is not a placement.

    With :func:`legal_placements` this is the mask of a placing decision in two factors.
    """
    filled: Bools = (own_racks(state, rows) != EMPTY) & (_pick(state.phase, rows) <= _BONUS)[:, None]
    return filled


def legal_placements(state: State, rows: Ints | None = None) -> Bools:
    """[G, E]: the placements that are open to any tile of the rack, first-turn rule included."""
    return bitsets.unpack(placement_sets(state, rows), state.tables.n_placements)


def placement_sets(state: State, rows: Ints | None = None) -> bitsets.Bitsets:
    """[G, words]: the same as bitsets."""
    return placement_sets_unchecked(state, as_rows(state, rows))


@accelerated
def placement_sets_unchecked(state: State, rows: Ints) -> bitsets.Bitsets:
    """Compute :func:`placement_sets` without argument checks."""
    allowed = state.open.take(rows, axis=0)
    first = np.flatnonzero(~_flat(state.has_placed).take(_seat_at(state, rows)))
    if first.size:
        near = allowed[first] & _near_untouched_symbols(state, rows[first])
        bound = bitsets.any_left(near)  # on a small variant board nothing may fit the rule: then it lapses
        allowed[first[bound]] = near[bound]
    return allowed


def may_swap(state: State, rows: Ints | None = None) -> Bools:
    """[G]: whether swapping the rack is allowed now."""
    offered: Bools = _pick(state.phase, rows) == _SWAP
    return offered


def may_decline(state: State, rows: Ints | None = None) -> Bools:
    """[G]: whether declining (a swap; in 2009 a bonus) is allowed now."""
    phase = _pick(state.phase, rows)
    declinable: Bools = phase == _SWAP
    if state.rules.bonus_may_be_declined:
        declinable |= phase == _BONUS
    return declinable


def legal_count(state: State, rows: Ints | None = None) -> Ints:
    """[G]: how many actions the mask of :func:`legal` allows."""
    slots = bitsets.fold(np.add, legal_slots(state, rows).astype(np.int64))
    return slots * bitsets.count(placement_sets(state, rows)) + may_decline(state, rows) + may_swap(state, rows)


def own_racks(state: State, rows: Ints | None = None) -> NDArray[np.int8]:
    """[G, K]: the rack of each game's seat to play."""
    rows = np.arange(len(state)) if rows is None else rows
    return state.racks.reshape(-1, state.rules.rack).take(_seat_at(state, rows), axis=0)


def own_scores(state: State, rows: Ints | None = None) -> NDArray[np.int8]:
    """[G, C]: the markers of each game's seat to play."""
    rows = np.arange(len(state)) if rows is None else rows
    at = rows * state.rules.tracks + state.track(state.to_play[rows])
    return state.scores.reshape(-1, state.rules.colors).take(at, axis=0)


def _near_untouched_symbols(state: State, rows: Ints) -> bitsets.Bitsets:
    """[G, words]: the placements next to a printed symbol that has no tile next to it."""
    near = np.zeros((len(rows), state.open.shape[1]), dtype=np.uint64)
    for color, placements in enumerate(state.tables.near):
        near[state.symbols_touched[rows] >> color & 1 == 0] |= placements
    return near


def _seat_at(state: State, rows: Ints) -> Ints:
    """[G]: the seat to play, as an index into [B * P]."""
    return rows * state.rules.players + state.to_play[rows]


def _pick(array: NDArray[Any], rows: Ints | None) -> NDArray[Any]:
    return array if rows is None else array[rows]


# Playing


def apply(
    state: State,
    actions: ArrayLike,
    rows: Ints | None = None,
    draws: ArrayLike | None = None,
    *,
    backend: AnyBackend = None,
) -> None:
    """In place: play one action in each game.

    Args:
        state: the games.
        actions: [G] action ids.
        rows: [G] the games they are for.
        draws: [G, K] tile kinds to be drawn by this action, in order, instead of by the game's own luck, which gives
            what is left at -1. For replays, and for planners that deal chance themselves.
        backend: who does it.

    Raises:
        IllegalAction: saying action, cells, seat, game and reason, and nothing has changed.
        TypeError, ValueError: for actions that are not [G] whole numbers, or scripted draws that the bag cannot give.
        IndexError: for rows that there are not.
    """
    rows = as_rows(state, rows)
    actions = as_actions(actions, len(rows))
    script = None if draws is None else _as_script(state, draws, rows)
    wrong = apply_unchecked.on(backend)(state, rows, actions, script)
    if wrong >= 0:
        raise IllegalAction(why_illegal(state, int(rows[wrong]), int(actions[wrong])))


def apply_without_draw(state: State, actions: ArrayLike, rows: Ints | None = None) -> None:
    """In place: play one action in each game, but draw no tiles and do not pass the turn on.

    That is the afterstate: all that follows from the action, and no luck yet. The phase is what is left to do for the
    seat, PLACE where that is nothing. Of a swap the old tiles are in the bag. This is no position of the game, so
    nothing can be played on from it.

    Args:
        state: the games.
        actions: [G] action ids, which must be legal.
        rows: [G] the games they are for.
    """
    rows = as_rows(state, rows)
    actions, t = as_actions(actions, len(rows)), state.tables
    state.decisions[rows] += 1
    placing, swapping = actions < t.swap_action, actions == t.swap_action
    going_on = placing | (~swapping & (state.phase[rows] == _BONUS))
    state.pending_bonus[rows[going_on & ~placing]] -= 1  # a bonus declined
    _place(state, rows[placing], actions[placing])
    closing = ~going_on
    closing[going_on] = _turn_closes(state, rows[going_on])
    state.phase[rows[closing]] = _PLACE
    swappers = rows[swapping]
    state.bag[swappers] += count_kinds(_set_aside(state, swappers), t.n_kinds).astype(np.uint8)


@accelerated
def apply_unchecked(state: State, rows: Ints, actions: Ints, script: Ints | None) -> int:
    """Compute :func:`apply` in place, without argument checks except for legality.

    Returns:
        -1, or the index in `rows` of the first illegal action; then nothing has changed.
    """
    fine = is_legal_unchecked.numpy(state, actions, rows)
    if not fine.all():
        return int(np.flatnonzero(~fine)[0])
    state.decisions[rows] += 1
    if (actions < state.tables.swap_action).all():
        _place(state, rows, actions)
        _draw_and_pass(state, rows, script, _turn_closes(state, rows))
    else:
        _apply_mixed(state, rows, actions, script)
    return -1


def _apply_mixed(state: State, rows: Ints, actions: Ints, script: Ints | None) -> None:
    """In place: as :func:`apply`, where not every action is a placement."""
    t = state.tables
    placing, swapping = actions < t.swap_action, actions == t.swap_action
    closing = swapping | (state.phase[rows] == _SWAP)
    state.pending_bonus[rows[~placing & ~closing]] -= 1  # a bonus declined
    _place(state, rows[placing], actions[placing])
    closing[~closing] = _turn_closes(state, rows[~closing])
    swappers = rows[swapping]
    aside = count_kinds(_set_aside(state, swappers), t.n_kinds).astype(np.uint8)
    _draw_and_pass(state, rows, script, closing)
    if swappers.size:
        _return_tiles(state, swappers, aside)  # only now


def as_rows(state: State, rows: Ints | None) -> Ints:
    """The numbers of games as an int64 array [G]; None means all.

    Raises:
        IndexError: for something that is none of them.
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
    """Actions as an int64 array [G].

    Raises:
        TypeError: for something other than whole numbers.
        ValueError: for another shape.
    """
    values = np.asarray(actions)
    if values.dtype.kind not in "iu":
        raise TypeError(f"actions must be whole numbers, not {values.dtype}: {actions!r}")
    if values.shape != (n_games,):
        raise ValueError(f"actions must have one entry a game, shape ({n_games},), not {values.shape}")
    return values.astype(np.int64, copy=False)


def is_legal(state: State, actions: Ints, rows: Ints, *, backend: AnyBackend = None) -> Bools:
    """[G]: whether each action may be played, without making the masks.

    Raises:
        TypeError, ValueError: for actions that are not [G] whole numbers.
        IndexError: for rows that there are not.
    """
    rows = as_rows(state, rows)
    return is_legal_unchecked.on(backend)(state, as_actions(actions, len(rows)), rows)


@accelerated
def is_legal_unchecked(state: State, actions: Ints, rows: Ints) -> Bools:
    """Compute :func:`is_legal` without argument checks."""
    t = state.tables
    placing = (actions >= 0) & (actions < t.swap_action)
    slot, placement = np.divmod(np.where(placing, actions, 0), t.n_placements)
    seat_at = _seat_at(state, rows)
    has_tile = _flat(state.racks).take(seat_at * state.rules.rack + slot) != EMPTY
    allowed: Bools = bitsets.contains(state.open, rows, placement) & has_tile & (state.phase[rows] <= _BONUS)
    first = np.flatnonzero(~_flat(state.has_placed).take(seat_at))
    if first.size:
        sets = placement_sets_unchecked.numpy(state, rows[first])
        allowed[first] &= bitsets.contains(sets, np.arange(len(first)), placement[first])
    allowed &= placing
    if state.rules.has_swap and not placing.all():
        allowed |= (actions == t.swap_action) & may_swap(state, rows)
        allowed |= (actions == t.decline_action) & may_decline(state, rows)
    return allowed


def why_illegal(state: State, row: int, action: int) -> str:
    """The message for an action that may not be played: what, where, who, which game, and why."""
    phase, seat = Phase(int(state.phase[row])), int(state.to_play[row])
    where = f"illegal action {action} ({words.describe(state.rules, action)}) by seat {seat} in game {row}"
    return f"{where}: {_reason(state, row, action, phase, seat)}"


def _reason(state: State, row: int, action: int, phase: Phase, seat: int) -> str:
    t = state.tables
    if phase == _OVER:
        return "the game is over"
    if not 0 <= action < t.n_actions:
        return f"actions run from 0 to {t.n_actions - 1}"
    if phase == _SWAP:
        return "the decision is to swap the rack or to decline"
    if action == t.swap_action:
        return f"no swap now: the decision is a placement ({phase.name.lower()})"
    if action >= t.swap_action:
        return "a bonus placement must be made" if phase == _BONUS else "the turn's tile must be laid"
    slot, placement = divmod(action, t.n_placements)
    if state.racks[row, seat, slot] == EMPTY:
        return f"slot {slot} is empty"
    covered = [tuple(map(int, t.cells[c])) for c in t.placements[placement] if state.board[row, c] != FREE]
    if covered:
        return f"cell {covered[0]} is not free"
    return "a seat's first tile must lie next to a printed symbol that has no tile next to it yet"


def gained(state: State, actions: Ints, rows: Ints) -> Ints:
    """[G, C]: the points each action would score by color, before any marker stops; none for other than placements."""
    t = state.tables
    placing = np.flatnonzero((actions >= 0) & (actions < t.swap_action))
    slot, placement = np.divmod(actions[placing], t.n_placements)
    kinds = own_racks(state, rows)[placing, slot]
    points = np.zeros((len(rows), state.rules.colors), dtype=np.int64)
    for half in (0, 1):
        cell, color = t.placements[placement, half], t.kinds[kinds, half]
        points[placing, color] += state.points[rows[placing], cell, color]
    return points


def _place(state: State, rows: Ints, actions: Ints) -> None:
    """In place: lay tiles, score them, move markers; bonus placements earned and used are counted in `pending_bonus`.

    What is done for both halves of a tile has the half as its first axis: [2, G].
    """
    t, rules = state.tables, state.rules
    slot, placement = np.divmod(actions, t.n_placements)
    seat_at = _seat_at(state, rows)
    slot_at = seat_at * rules.rack + slot
    racks = _flat(state.racks)
    kinds = racks.take(slot_at)
    colors = t.kinds.take(kinds, axis=0).T.copy()
    racks[slot_at] = EMPTY
    _show(state, rows, slot_at, kinds)
    cells = t.placements.take(placement, axis=0).T + rows * t.n_cells
    points = _flat(state.points).take(cells * rules.colors + colors)
    arrivals = _advance(state, rows, colors, points)
    if rules.has_bonus:
        state.pending_bonus[rows] += arrivals - (state.phase[rows] == _BONUS)
    _cover(state, cells, colors)
    state.open[rows] = state.open.take(rows, axis=0) & t.compatible.take(placement, axis=0)
    state.symbols_touched[rows] |= t.placement_near.take(placement)
    _flat(state.has_placed)[seat_at] = True


def _show(state: State, rows: Ints, slot_at: Ints, kinds: NDArray[np.int8]) -> None:
    """In place: a tile has left a slot, and everybody saw which.

    So of the tiles that returns of its kind left in the bag or in unseen slots, one is accounted for where the slot had
    been filled before the return.

    Args:
        state: the games.
        rows: [G] which of them.
        slot_at: [G] the slots, as indices into [B * P * K].
        kinds: [G] the tiles; EMPTY where the slot had none.
    """
    swapped = np.flatnonzero(state.swapped.take(rows) & (kinds != EMPTY))
    if not swapped.size:
        return
    rows, slot_at, kinds = rows.take(swapped), slot_at.take(swapped), kinds.take(swapped)
    n_kinds = state.tables.n_kinds
    since = _flat(state.returned).take(slot_at * n_kinds + kinds)
    levels = state.levels.reshape(-1, LEVELS)
    levels[rows * n_kinds + kinds] -= since[:, None] > _NEWEST_FIRST
    state.returned.reshape(-1, n_kinds)[slot_at] = 0


def _advance(state: State, rows: Ints, colors: Ints, points: NDArray[np.int8]) -> Ints:
    """In place: move two markers a game (one by both halves of a double); returns how many arrived at a stop.

    On the largest board a double scores 89 at most, so a marker and its points fit into int8.
    """
    rules = state.rules
    double = colors[0] == colors[1]
    points = points + points[::-1] * double
    at = (rows * rules.tracks + state.track(state.to_play[rows])) * rules.colors + colors
    scores = _flat(state.scores)
    before = scores.take(at)
    stop = _next_stop(rules, before)
    after = np.minimum(before + points, stop)
    scores[at] = after
    arrived = (after == stop) & (before < stop)
    arrived[1] &= ~double
    arrivals: Ints = arrived[0] + arrived[1].astype(np.int64)
    return arrivals


def _next_stop(rules: Rules, markers: NDArray[np.int8]) -> NDArray[np.int8] | int:
    return TRACK_END if rules.top == TRACK_END else np.where(markers < TRACK_END, TRACK_END, rules.top).astype(np.int8)


def _cover(state: State, cells: Ints, colors: Ints) -> None:
    """In place: lay both halves on the board and bring the points map up to date.

    Args:
        state: the games.
        cells: [2, G] where, as indices into [B * N].
        colors: [2, G] what.
    """
    board, points, n_colors = _flat(state.board), _flat(state.points), state.rules.colors
    board[cells[0]] = colors[0]  # lies already when the second half's lines are walked; not the other way round
    runs, behind, free = _runs(state, cells, colors)
    growth = runs.take(_OPPOSITE, axis=2) + np.int8(1)
    at = behind * n_colors + colors[:, :, None]
    for half in (0, 1):  # one after the other: a cell next to both halves of a double counts once for each
        ends = np.flatnonzero(free[half])
        points[at[half].reshape(-1).take(ends)] += growth[half].reshape(-1).take(ends)
    board[cells[1]] = colors[1]
    state.points.reshape(-1, n_colors)[cells.reshape(-1)] = 0


def _runs(state: State, cells: Ints, colors: Ints) -> tuple[NDArray[np.int8], Ints, Bools]:
    """What lies along the lines of each half's color from its cell, in the six directions.

    Walked by distance, over only those lines that have not ended.

    Args:
        state: the games.
        cells: [2, G] the cells, as indices into [B * N].
        colors: [2, G] the colors.

    Returns:
        [2, G, 6] how long the run is; the cell behind it, as an index into [B * N]; whether that cell is in play and
        free.
    """
    t, board = state.tables, _flat(state.board)
    cell = cells % t.n_cells
    base = cells - cell
    step = t.neighbours.take(cell, axis=0)
    behind = step + base[:, :, None]
    inside = step < t.n_cells
    seen = board.take(behind, mode="clip")
    same = inside & (seen == colors[:, :, None])
    free = inside & (seen == FREE)
    runs = same.astype(np.int8)
    alive = np.flatnonzero(same)
    half, direction = np.divmod(alive, 6)
    base, color, line = _flat(base).take(half), _flat(colors).take(half), _flat(cell).take(half) * 6 + direction
    distance = 1
    while alive.size:
        distance += 1
        step = _flat(t.rays).take(line * t.rays.shape[2] + distance)
        beyond = base + step
        inside = step < t.n_cells
        seen = board.take(beyond, mode="clip")
        _flat(behind)[alive] = beyond
        _flat(free)[alive] = inside & (seen == FREE)
        same = np.flatnonzero(inside & (seen == color))
        alive, base, color, line = alive.take(same), base.take(same), color.take(same), line.take(same)
        _flat(runs)[alive] = distance
    return runs, behind, free


def _turn_closes(state: State, rows: Ints) -> Bools:
    """In place: after a placement made or declined, the game ends, the bonus chain goes on, a swap is offered, or
    the turn closes: [G], which.
    """
    lowest = bitsets.fold(np.minimum, own_scores(state, rows))
    closing = ~_end_games(state, rows, lowest == state.rules.top)
    chain = closing & (state.pending_bonus.take(rows) > 0)
    if chain.any():
        chain &= (own_racks(state, rows) != EMPTY).any(axis=1)  # without a tile a bonus lapses
        closing &= ~chain
        state.phase[rows[chain]] = _BONUS
        state.pending_bonus[rows[closing]] = 0
    if state.rules.has_swap:
        offered = closing & lacks_lowest(state, rows)
        if offered.any():
            closing &= ~offered
            state.phase[rows[offered]] = _SWAP
    return closing


def _end_games(state: State, rows: Ints, at_top: Bools) -> Bools:
    """In place: close the games that have ended, `at_top` by their markers or else by a full board; returns which."""
    ended = at_top | ~bitsets.any_left(state.open.take(rows, axis=0))
    if ended.any():
        done = rows[ended]
        state.end[done] = np.where(at_top[ended], End.ALL_AT_TOP, End.BOARD_FULL)
        state.phase[done] = _OVER
        state.pending_bonus[done] = 0
    return ended


def lacks_lowest(state: State, rows: Ints | None = None) -> Bools:
    """[G]: no tile of the mover's rack, as it is now, shows any of its lowest colors (an empty rack: never).

    Between the last placement of a turn and the draw this is the right to swap.
    """
    shown = bitsets.fold(np.bitwise_or, state.tables.kind_mask.take(own_racks(state, rows), mode="wrap"))
    scores = own_scores(state, rows)
    is_lowest = scores == bitsets.fold(np.minimum, scores)[:, None]
    lowest = bitsets.fold(np.bitwise_or, is_lowest.astype(np.uint8) << np.arange(scores.shape[1], dtype=np.uint8))
    lacking: Bools = (shown != 0) & (shown & lowest == 0)
    return lacking


def _set_aside(state: State, rows: Ints) -> NDArray[np.int8]:
    """In place: empty the movers' racks, and return what was in them."""
    aside = own_racks(state, rows)
    first = _seat_at(state, rows) * state.rules.rack
    for slot in range(state.rules.rack):
        _show(state, rows, first + slot, aside[:, slot])
    state.racks[rows, state.to_play[rows]] = EMPTY
    return aside


def _return_tiles(state: State, rows: Ints, aside: NDArray[np.uint8]) -> None:
    """In place: put swapped tiles, [G, M] of each kind, back into the bags; note it in `returned` and `levels`.

    One tile after the other is put back, and all racks were filled before: a return leaves all tiles of the kind that
    are not on the board, less those that are still to be put back.
    """
    racks = state.racks[rows]
    held = count_kinds(racks.reshape(len(rows), state.rules.players * state.rules.rack), state.tables.n_kinds).astype(
        np.uint8
    )
    state.bag[rows] += aside
    hidden = state.bag[rows] + held
    before = _NEWEST_FIRST - aside[:, :, None].astype(np.int64)
    older = np.take_along_axis(state.levels[rows], np.maximum(before, 0), axis=2)
    state.levels[rows] = np.where(before < 0, hidden[:, :, None] - _NEWEST_FIRST, older)
    returned = state.returned[rows] + aside[:, None, None, :] * (racks != EMPTY)[..., None]
    state.returned[rows] = np.minimum(returned, LEVELS)
    state.swapped[rows] = True


def _draw_and_pass(state: State, rows: Ints, script: Ints | None, closing: Bools) -> None:
    """In place: where the turn closes, fill the mover's rack and give the turn to the next seat."""
    if not closing.all():
        rows, script = rows[closing], None if script is None else script[closing]
    seat = state.to_play[rows]
    _refill(state, rows, seat, script)
    state.to_play[rows] = (seat + 1) % state.rules.players
    state.phase[rows] = _PLACE


def _refill(state: State, rows: Ints, seat: Ints, script: Ints | None = None) -> None:
    """In place: draw a tile for every empty slot, in slot order."""
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


def _draw(state: State, rows: Ints, seat_at: Ints, wanted: Ints | None) -> Ints:
    """In place: take one tile out of each bag, as scripted or else by the seat's luck, and return its kind."""
    n_kinds = state.tables.n_kinds
    upto = bitsets.running_total(state.bag.take(rows, axis=0), np.int16)  # [M, G]
    luck = chance.bits(_flat(state.key).take(seat_at), _flat(state.drawn).take(seat_at))
    drawn: Ints = np.add.reduce(upto <= chance.below(luck, upto[-1]), axis=0, dtype=np.int64)
    if wanted is not None:
        drawn = np.where(wanted < 0, drawn, wanted)
    _flat(state.bag)[rows * n_kinds + drawn] -= 1
    _flat(state.drawn)[seat_at] += 1
    return drawn


def _as_script(state: State, draws: ArrayLike, rows: Ints) -> Ints:
    """Scripted draws as an int64 array [G, K] that the bags can give."""
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


# Small tools


def count_kinds(kinds: NDArray[np.integer[Any]], n_kinds: int) -> Ints:
    """[G, M]: how often each tile kind stands in [G, slots], empty slots left out."""
    n_games = len(kinds)
    at = np.arange(n_games)[:, None] * (n_kinds + 1) + kinds + 1
    return np.bincount(at.ravel(), minlength=n_games * (n_kinds + 1)).reshape(n_games, n_kinds + 1)[:, 1:]


def _flat(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory as one axis: one-dimensional fancy indexing is several times faster."""
    return array.reshape(-1)


def find_touched_symbols(t: Tables, board: NDArray[Any]) -> NDArray[np.uint8]:
    """[B]: bit c says that a tile lies next to color c's printed symbol, on boards [B, N]."""
    tiled = board != FREE
    tiled[:, t.start_symbols] = False
    touched: NDArray[np.uint8] = np.bitwise_or.reduce(np.where(tiled, t.near_start_symbol, 0).astype(np.uint8), axis=1)
    return touched
