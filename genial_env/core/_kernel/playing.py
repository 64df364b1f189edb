"""Play actions: placements, scoring, swaps, and what follows a placement."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genial_env.backends import AnyBackend, accelerated
from genial_env.core import bitsets
from genial_env.core._kernel.draws import as_script, fill_racks
from genial_env.core._kernel.legality import is_legal_unchecked, why_illegal
from genial_env.core._kernel.rows import (
    as_actions,
    as_rows,
    count_kinds,
    flat,
    mover_index,
    own_racks,
    own_scores,
    own_track_index,
)
from genial_env.core.arrays import Bools, Ints
from genial_env.core.rules import Rules
from genial_env.core.state import EMPTY, FREE, LEVELS, End, Phase, State
from genial_env.errors import IllegalAction

_OPPOSITE = np.array([3, 4, 5, 0, 1, 2])
_NEWEST_FIRST = np.arange(LEVELS)
_PLACE, _BONUS, _SWAP, _OVER = (int(phase) for phase in Phase)  # numpy compares plain numbers faster


def live_games(state: State) -> Iterator[Ints]:
    """Yield the indices of the games that are not over, until all games are over: [G], ascending.

    Play an action in the yielded games before each next iteration; otherwise the loop does not end::

        for live in live_games(state):
            apply(state, choose(state, live), live)

    Args:
        state: the games. Games that are over must not be replaced during the iteration.
    """
    live = np.flatnonzero(~state.over)
    while live.size:
        yield live
        live = live[~state.over[live]]


def apply(
    state: State,
    actions: ArrayLike,
    rows: Ints | None = None,
    draws: ArrayLike | None = None,
    *,
    backend: AnyBackend = None,
) -> None:
    """Play one action in each game, in place.

    Args:
        state: the games.
        actions: [G] action ids.
        rows: [G] row indices, each at most once; None: all.
        draws: [G, K] tile kinds that this action draws, in order, instead of those that follow from the game's seed;
            from a -1 on the seed decides. For replays, and for planners that enumerate chance outcomes.
        backend: the compute backend; None: the current one.

    Raises:
        IllegalAction: if an action is illegal. The message names action, cells, seat, game and reason, and no game has
            changed.
        TypeError, ValueError: if the actions are not [G] integers, or a bag cannot give the scripted draws.
        IndexError: if a row index is out of range.
    """
    rows = as_rows(state, rows)
    actions = as_actions(actions, len(rows))
    script = None if draws is None else as_script(state, draws, rows)
    wrong = apply_unchecked.on(backend)(state, rows, actions, script)
    if wrong >= 0:
        raise IllegalAction(why_illegal(state, int(rows[wrong]), int(actions[wrong])))


@accelerated
def apply_unchecked(state: State, rows: Ints, actions: Ints, script: Ints | None) -> int:
    """Compute :func:`apply` in place, without argument checks except for legality.

    Returns:
        -1, or the index in `rows` of the first illegal action; then no game has changed.
    """
    fine = is_legal_unchecked.numpy(state, actions, rows)
    if not fine.all():
        return int(np.flatnonzero(~fine)[0])
    closing = _carry_out(state, rows, actions)
    swappers = rows[actions == state.tables.swap_action]
    if not swappers.size:
        _draw_and_pass(state, rows, script, closing)
        return -1
    aside = count_kinds(_set_aside(state, swappers), state.tables.n_kinds).astype(np.uint8)
    _draw_and_pass(state, rows, script, closing)
    _return_tiles(state, swappers, aside)  # after the draw, so that no tile comes back at once
    return -1


def apply_without_draw(state: State, actions: ArrayLike, rows: Ints | None = None) -> None:
    """Play one action in each game, in place, but draw no tiles and do not pass the turn on.

    The result is the afterstate: everything that follows from the action before chance decides. Its phase is the
    decision that the seat still has to make in this turn, PLACE if there is none. After a swap the old tiles are in the
    bag and the rack is empty. An afterstate is no position of the game: nothing can be played from it.

    Args:
        state: the games.
        actions: [G] action ids, which must be legal.
        rows: [G] row indices, each at most once; None: all.
    """
    rows = as_rows(state, rows)
    actions, t = as_actions(actions, len(rows)), state.tables
    closing = _carry_out(state, rows, actions)
    state.phase[rows[closing]] = _PLACE
    swappers = rows[actions == t.swap_action]
    state.bag[swappers] += count_kinds(_set_aside(state, swappers), t.n_kinds).astype(np.uint8)


def _carry_out(state: State, rows: Ints, actions: Ints) -> Bools:
    """Play actions, in place, up to the point where the rack is filled; the tiles of a swap stay in the rack.

    Returns:
        [G]: in which games the turn closes.
    """
    state.decisions[rows] += 1
    placing = state.tables.is_placing(actions)
    if placing.all():
        _place(state, rows, actions)
        return _turn_closes(state, rows)
    closing: Bools = state.phase[rows] == _SWAP  # swapped, or declined to
    state.pending_bonus[rows[~placing & ~closing]] -= 1  # a bonus declined
    _place(state, rows[placing], actions[placing])
    closing[~closing] = _turn_closes(state, rows[~closing])
    return closing


def gained(state: State, actions: Ints, rows: Ints) -> Ints:
    """Compute the points that each action would score by color, before any marker stops.

    Args:
        state: the games.
        actions: [G] action ids.
        rows: [G] row indices.

    Returns:
        [G, C]; zeros for actions that place no tile.
    """
    t = state.tables
    placing = np.flatnonzero(t.is_placing(actions))
    slot, placement = t.split_action(actions[placing])
    kinds = own_racks(state, rows)[placing, slot]
    points = np.zeros((len(rows), state.rules.colors), dtype=np.int64)
    for half in (0, 1):
        cell, color = t.placements[placement, half], t.kinds[kinds, half]
        points[placing, color] += state.points[rows[placing], cell, color]
    return points


# Placing a tile


def _place(state: State, rows: Ints, actions: Ints) -> None:
    """Place tiles, score them and move markers, in place; count bonus placements earned and used in `pending_bonus`.

    Arrays for both halves of a tile have the half as their first axis: [2, G].
    """
    t, rules = state.tables, state.rules
    slot, placement = t.split_action(actions)
    at = mover_index(state, rows)
    slot_index = at * rules.rack + slot
    racks = flat(state.racks)
    kinds = racks.take(slot_index)
    colors = t.kinds.take(kinds, axis=0).T.copy()
    racks[slot_index] = EMPTY
    _show(state, rows, slot_index, kinds)
    cells = t.placements.take(placement, axis=0).T + rows * t.n_cells
    points = flat(state.points).take(cells * rules.colors + colors)
    arrivals = _advance(state, rows, colors, points)
    if rules.has_bonus:
        earned = np.minimum(arrivals, rules.bonuses_a_tile)
        state.pending_bonus[rows] += earned - (state.phase[rows] == _BONUS)
    _cover(state, cells, colors)
    state.open[rows] = state.open.take(rows, axis=0) & t.compatible.take(placement, axis=0)
    state.symbols_touched[rows] |= t.placement_near.take(placement)
    flat(state.has_placed)[at] = True


def _show(state: State, rows: Ints, slot_index: Ints, kinds: NDArray[np.int8]) -> None:
    """Record, in place, that tiles have left their slots and that all seats have seen them.

    `levels` counts, for each return of a kind, the tiles of the kind in the bag or in unseen slots that were filled
    before. A shown tile no longer counts for the returns after which its slot was not filled again.

    Args:
        state: the games.
        rows: [G] row indices.
        slot_index: [G] the slots, as indices into [B * P * K].
        kinds: [G] the tiles; EMPTY where the slot had none.
    """
    swapped = np.flatnonzero(state.swapped.take(rows) & (kinds != EMPTY))
    if not swapped.size:
        return
    rows, slot_index, kinds = rows.take(swapped), slot_index.take(swapped), kinds.take(swapped)
    n_kinds = state.tables.n_kinds
    since = flat(state.returned).take(slot_index * n_kinds + kinds)
    levels = state.levels.reshape(-1, LEVELS)
    levels[rows * n_kinds + kinds] -= since[:, None] > _NEWEST_FIRST
    state.returned.reshape(-1, n_kinds)[slot_index] = 0


def _advance(state: State, rows: Ints, colors: Ints, points: NDArray[np.int8]) -> Ints:
    """Move two markers a game in place (one marker by both halves of a double).

    On the largest board a double scores 89 at most, so the sum of a marker and its points fits in int8.

    Args:
        state: the games.
        rows: [G] row indices.
        colors: [2, G] of the tile's halves.
        points: [2, G] that they score.

    Returns:
        [G]: how many markers arrived at a stop.
    """
    double = colors[0] == colors[1]
    points = points + points[::-1] * double
    at = own_track_index(state, rows) * state.rules.colors + colors
    scores = flat(state.scores)
    before = scores.take(at)
    after = np.minimum(before + points, state.tables.furthest.take(before))
    scores[at] = after
    arrived = state.tables.arrived(before, after)
    arrived[1] &= ~double
    arrivals: Ints = arrived[0] + arrived[1].astype(np.int64)
    return arrivals


def _cover(state: State, cells: Ints, colors: Ints) -> None:
    """Cover two cells a game with the halves of a tile and update the points map, in place.

    Args:
        state: the games.
        cells: [2, G] the cells, as indices into [B * N].
        colors: [2, G] of the halves.
    """
    board, points, n_colors = flat(state.board), flat(state.points), state.rules.colors
    board[cells[0]] = colors[0]  # so that the runs of the second half see the first half; not vice versa
    runs, behind, free = _runs(state, cells, colors)
    growth = runs.take(_OPPOSITE, axis=2) + np.int8(1)
    at = behind * n_colors + colors[:, :, None]
    for half in (0, 1):  # one after the other: a cell next to both halves of a double counts once for each
        ends = np.flatnonzero(free[half])
        points[at[half].reshape(-1).take(ends)] += growth[half].reshape(-1).take(ends)
    board[cells[1]] = colors[1]
    state.points.reshape(-1, n_colors)[cells.reshape(-1)] = 0


def _runs(state: State, cells: Ints, colors: Ints) -> tuple[NDArray[np.int8], Ints, Bools]:
    """Find the run of each half's color that begins next to its cell, in the six directions.

    The loop is over the distance from the cell, and only over those lines whose run has not ended.

    Args:
        state: the games.
        cells: [2, G] the cells, as indices into [B * N].
        colors: [2, G] the colors.

    Returns:
        Three arrays [2, G, 6]: the length of the run; the cell behind it, as an index into [B * N]; whether that cell
        is on the board and free.
    """
    t, board = state.tables, flat(state.board)
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
    base, color, line = flat(base).take(half), flat(colors).take(half), flat(cell).take(half) * 6 + direction
    distance = 1
    while alive.size:
        distance += 1
        step = flat(t.rays).take(line * t.rays.shape[2] + distance)
        beyond = base + step
        inside = step < t.n_cells
        seen = board.take(beyond, mode="clip")
        flat(behind)[alive] = beyond
        flat(free)[alive] = inside & (seen == FREE)
        same = np.flatnonzero(inside & (seen == color))
        alive, base, color, line = alive.take(same), base.take(same), color.take(same), line.take(same)
        flat(runs)[alive] = distance
    return runs, behind, free


# After a placement


def _turn_closes(state: State, rows: Ints) -> Bools:
    """Decide what follows a placement that was made or declined, and set the phase in place.

    The game ends, or the next bonus placement is due, or a swap is offered, or else the turn closes.

    Returns:
        [G]: in which games the turn closes.
    """
    lowest = bitsets.fold(np.minimum, own_scores(state, rows))
    closing = ~end_games(state, rows, lowest == state.rules.top)
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


def end_games(state: State, rows: Ints, at_top: Bools) -> Bools:
    """End the games, in place, in which a track has all markers at its end or no placement is open.

    Args:
        state: the games.
        rows: [G] row indices.
        at_top: [G] whether a track has all markers at its end.

    Returns:
        [G]: which games have ended.
    """
    ended = at_top | ~bitsets.any_left(state.open.take(rows, axis=0))
    if ended.any():
        done = rows[ended]
        state.end[done] = np.where(at_top[ended], End.ALL_AT_TOP, End.BOARD_FULL)
        state.phase[done] = _OVER
        state.pending_bonus[done] = 0
    return ended


def all_at_top(rules: Rules, scores: NDArray[np.int8]) -> Bools:
    """Return whether any track of scores [B, T, C] has all markers at its end: [B]."""
    at_top: Bools = (scores == rules.top).all(axis=2).any(axis=1)
    return at_top


def lacks_lowest(state: State, rows: Ints | None = None) -> Bools:
    """Return whether no tile in the rack of the seat to play shows any of its lowest colors: [G].

    Between the last placement of a turn and the draw this is the right to swap. An empty rack has no such right.
    """
    shown = bitsets.fold(np.bitwise_or, state.tables.kind_mask.take(own_racks(state, rows), mode="wrap"))
    lacking: Bools = (shown != 0) & (shown & lowest_colors(own_scores(state, rows)) == 0)
    return lacking


def lowest_colors(scores: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Return the colors of the lowest markers among scores [G, C]: [G], bit c for color c."""
    is_lowest = scores == bitsets.fold(np.minimum, scores)[:, None]
    return bitsets.fold(np.bitwise_or, is_lowest.astype(np.uint8) << np.arange(scores.shape[1], dtype=np.uint8))


# Swapping, and passing the turn on


def _set_aside(state: State, rows: Ints) -> NDArray[np.int8]:
    """Empty the racks of the seats to play, in place, and return the tiles that were in them: [G, K]."""
    aside = own_racks(state, rows)
    first = mover_index(state, rows) * state.rules.rack
    for slot in range(state.rules.rack):
        _show(state, rows, first + slot, aside[:, slot])
    state.racks[rows, state.to_play[rows]] = EMPTY
    return aside


def _return_tiles(state: State, rows: Ints, aside: NDArray[np.uint8]) -> None:
    """Put swapped tiles back into the bags, in place, and update `returned` and `levels`.

    Tiles are put back one after the other, when all racks have been filled. So after each return all tiles of its kind
    that are not on the board are in the bag or in slots filled before, except those that are still to be put back.

    Args:
        state: the games.
        rows: [G] row indices.
        aside: [G, M] how many tiles of each kind are put back.
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
    """Fill the rack of the seat to play and pass the turn on, in place, in the games whose turn closes."""
    if not closing.all():
        rows, script = rows[closing], None if script is None else script[closing]
    seat = state.to_play[rows]
    fill_racks(state, rows, seat, script)
    state.to_play[rows] = (seat + 1) % state.rules.players
    state.phase[rows] = _PLACE
