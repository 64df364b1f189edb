"""Compiled implementation of :mod:`genial_env.policies.afterstates`, which computes the same numbers.

It plays candidates on a copy of one game with the compiled rules. It computes values by cell on a grid with a border,
where all six neighbours are shifted slices (:mod:`genial_env._compiled.deciding`).
"""

import threading
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from genial_env._compiled.deciding import best_neighbours, correct_double, value_halves
from genial_env._compiled.handover import arrays, facts, scratch, share
from genial_env._compiled.jit import Entry, helper
from genial_env._compiled.primitives import Array, Arrays, copy, fill, flat, table
from genial_env._compiled.rules import (
    advanced,
    apply_without_draw,
    arrived,
    find_allowed_placements,
    furthest,
    holds,
    is_placing,
    join_action,
    lowest_marker,
    may_place,
    may_swap,
    next_stop,
    split_action,
)
from genial_env._compiled.scratch import Scratch
from genial_env.core.arrays import Ints
from genial_env.core.kernel import undealt
from genial_env.core.rules import Rules
from genial_env.core.scalar import OVER, Facts, Games
from genial_env.core.state import EMPTY, FREE
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.policies import afterstates
from genial_env.policies.afterstates import FEW_CELLS, FIXED, NOTHING, REACH, THRESHOLDS, Afterstates
from genial_env.policies.base import NONE
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.prior import STOP_VALUE

MOST_POINTS, N_THRESHOLDS = max(THRESHOLDS), len(THRESHOLDS)


class Buffers(NamedTuple):
    """Scratch buffers of one thread.

    The numbers of cells are computed once for the game before an action. The same numbers after the action are copied
    from them, and changed where the action makes a difference.

    Axis "grid": indices of the grid with a border (`grid_index` of :class:`~genial_env.core.scalar.Facts`), and beyond
    it up to a multiple of the numbers that are computed at once. Axis "layer": the points that a cell offers, then the
    gain of a half there for each track; NOTHING where no tile fits.
    """

    fitting: Array  # [N + 1] uint16 the cells that a tile fits on before the action
    cells: Array  # [N + 1] uint16 their indices
    sizes: Array  # [3] int64 before the action: how many cells these are, pairs of free cells, free cells
    beside: Array  # [grid] int16 the free neighbours of a free cell before the action; MANY elsewhere
    removed: Array  # [16] uint16 the indices of those of the cells that no tile fits on any more
    before: Array  # [1 + T, C, grid] int16 the numbers of the cells before the action
    numbers: Array  # [1 + T, C, grid] int16 the same after the action
    near: Array  # [1 + T, C, grid] int16 the greatest of `numbers` on a neighbour
    thresholds: Array  # [7] int16
    reached: Array  # [points, 8] int16 1 for each of the thresholds that so many points reach, else 0
    counts_before: Array  # [C, 8] int16 the number of cells that reach each threshold before the action
    counts: Array  # [C, 8] int16 the same after the action
    constants: Array  # [W] int16 the features that a placement does not change; anything elsewhere
    by_kind: Array  # [T, M] int16 the value of the best placement of a kind for a track
    elsewhere: Array  # [M] int16 the value of the best placement of a tile in hand elsewhere
    by_cell: Array  # [grid] int16 the value of a tile on each cell
    held: Array  # [M] int16 the tiles in hand
    unseen_values: Array  # [M] int16 the value of the best placement of a kind, 0 if no tile of it is unseen
    ranks: Array  # [32 * n >= M] int32 the same, so that no two are equal
    unseen: Array  # [32 * n >= M] int32 the unseen tiles of a kind
    stack: Array  # [N + 1] uint16 cells of a region
    waiting: Array  # [grid] bool cells that belong to no region yet; False between calls
    values: Array  # [most] int64 the values of the best candidates
    allowed: Array  # [E + 1] uint16 the allowed placements
    ends: Array  # [2, E + 1] uint16 their cells
    chances: Array  # [K + 1, tiles + 1, tiles + 1] int16 as `_compute_chances` returns
    steps: Array  # [6] int64 from a grid index to those of the neighbours
    places: Array  # [2, grid] int16 the column and the row of a grid index
    kind_of: Array  # [C, C] int64 the kind with two colors
    tracks: Array  # [P + 1] int64 the track of a seat


MANY = 1 << 8
"""More free neighbours than any cell has."""

AT_ONCE = 64
"""Numbers of cells are computed for a multiple of so many cells, which the processor does fastest."""


def make_buffers(rules: Rules, most: int) -> Arrays:
    """Allocate the scratch buffers of one thread."""
    t, width = tables(rules), 2 * rules.side + 1
    grid = width + 1 + _round_up(width * width)
    numbers = 1 + rules.tracks, rules.colors, grid
    reached = np.zeros((MOST_POINTS + 1, 8), np.int16)
    reached[:, :N_THRESHOLDS] = np.arange(MOST_POINTS + 1)[:, None] >= THRESHOLDS
    return Buffers(
        fitting=np.empty(t.n_cells + 1, np.uint16),
        cells=np.empty(t.n_cells + 1, np.uint16),
        sizes=np.empty(3, np.int64),
        beside=np.full(grid, MANY, np.int16),
        removed=np.empty(16, np.uint16),
        before=np.full(numbers, NOTHING, np.int16),
        numbers=np.full(numbers, NOTHING, np.int16),
        near=np.full(numbers, NOTHING, np.int16),
        thresholds=np.array(THRESHOLDS, np.int16),
        reached=reached,
        counts_before=np.zeros((rules.colors, 8), np.int16),
        counts=np.empty((rules.colors, 8), np.int16),
        constants=np.zeros(afterstates.width(rules), np.int16),
        by_kind=np.empty((rules.tracks, t.n_kinds), np.int16),
        elsewhere=np.empty(t.n_kinds, np.int16),
        by_cell=np.empty(grid, np.int16),
        held=np.empty(t.n_kinds, np.int16),
        unseen_values=np.empty(t.n_kinds, np.int16),
        ranks=np.zeros(-(-t.n_kinds // 32) * 32, np.int32),
        unseen=np.zeros(-(-t.n_kinds // 32) * 32, np.int32),
        stack=np.empty(t.n_cells + 1, np.uint16),
        waiting=np.zeros(grid, np.bool_),
        values=np.empty(most + 1, np.int64),
        allowed=np.empty(t.n_placements + 1, np.uint16),
        ends=np.empty((2, t.n_placements + 1), np.uint16),
        chances=_compute_chances(rules),
        steps=np.array([1, -1, width, -width, width - 1, 1 - width]),
        places=np.stack([np.arange(grid) % width, np.arange(grid) // width]).astype(np.int16),
        kind_of=t.kind_of.astype(np.int64),
        tracks=np.arange(rules.players + 1) % rules.tracks,
    )


def _round_up(n: int) -> int:
    """Return the next multiple of :data:`AT_ONCE`."""
    return -(-n // AT_ONCE) * AT_ONCE


@lru_cache(maxsize=16)
def _compute_chances(rules: Rules) -> NDArray[np.int16]:
    """Return the probability that no tile of some kinds is drawn: [draws, tiles, tiles of other kinds].

    It is rounded down after every draw, with :data:`FIXED` bits, as ``_expected_best`` in that module does.
    """
    n_tiles = int(tables(rules).full_bag.sum())
    tiles = np.arange(n_tiles + 1)
    share = np.minimum((tiles << FIXED) // np.maximum(tiles, 1)[:, None], 1 << FIXED)
    chances = np.full((rules.rack + 1, n_tiles + 1, n_tiles + 1), 1 << FIXED)
    for draw in range(rules.rack):
        chances[draw + 1] = (chances[draw] * share) >> FIXED
    return chances.astype(np.int16)


# Candidates


@Entry
def rank_placements(
    state: Arrays,
    facts: Arrays,
    scratch: Arrays,
    buffers: Arrays,
    plan: Arrays,
    arrival: int,
    out: Array,
    lo: int,
    hi: int,
) -> None:
    """Write the best distinct placements of each game, the best first, to out [G, most], which must hold -1."""
    s, t, m, r = Games(*state), Facts(*facts), Scratch(*scratch), Buffers(*buffers)
    for g in range(lo, hi):
        if may_place(s, g) and s.to_play[g] == 0:
            rank_one(s, t, g, plan, arrival, m, r, out[g])


@helper
def rank_one(s: Games, t: Facts, g: int, plan: Arrays, arrival: int, m: Scratch, r: Buffers, out: Array) -> Any:
    """Write the best distinct placements of seat 0, the best first, to out [most]; return how many there are."""
    n_free = value_halves(s, t, g, plan, m)
    add_arrivals(s, t, g, m, n_free, arrival)
    n_allowed = list_allowed(s, t, g, m, r)
    n_found, most = 0, len(out)
    for slot in range(t.n_slots):
        kind = s.racks[g, 0, slot]
        if kind == EMPTY or is_duplicate(s, g, slot):
            continue
        a, b = np.int64(t.kinds[kind, 0]), np.int64(t.kinds[kind, 1])
        for i in range(n_allowed):
            placement: Any = np.int64(r.allowed[i])
            first, second = np.int64(r.ends[0, i]), np.int64(r.ends[1, i])
            if a == b and first > second:
                continue
            value = np.int64(m.halves[a, t.grid_index[first]]) + m.halves[b, t.grid_index[second]]
            if a == b:
                value += correct_double(s, t, g, 0, plan, first, second, a)
                value += arrival * correct_arrivals(s, t, g, first, second, a)
            if n_found == most and value <= r.values[most - 1]:
                continue
            at = n_found if n_found < most else most - 1
            while at > 0 and r.values[at - 1] < value:
                r.values[at], out[at] = r.values[at - 1], out[at - 1]
                at -= 1
            r.values[at], out[at] = value, join_action(t, slot, placement)
            n_found = min(n_found + 1, most)
    return n_found


@helper
def list_allowed(s: Games, t: Facts, g: int, m: Scratch, r: Buffers) -> Any:
    """Write the allowed placements to `allowed` and their cells to `ends`; return how many there are."""
    find_allowed_placements(s, t, g, m.sets)
    n_allowed = 0
    for placement in range(t.n_placements):
        r.allowed[n_allowed] = placement
        r.ends[0, n_allowed], r.ends[1, n_allowed] = t.cells[placement, 0], t.cells[placement, 1]
        n_allowed += holds(m.sets[placement >> 6], placement)
    return n_allowed


@helper
def add_arrivals(s: Games, t: Facts, g: int, m: Scratch, n_free: int, arrival: int) -> None:
    """Add the value of an arrival to the `halves` that bring a marker of seat 0 to a stop, in place."""
    if arrival == 0:
        return
    for color in range(t.n_colors):
        row = m.halves[color]
        for i in range(n_free):
            cell = m.cells[i]
            row[t.grid_index[cell]] += arrival * arrives(s, t, g, color, np.int64(s.points[g, cell, color]))


@helper
def is_duplicate(s: Games, g: int, slot: int) -> Any:
    """Return whether an earlier slot holds the same tile."""
    found = False
    for other in range(slot):
        found |= s.racks[g, 0, other] == s.racks[g, 0, slot]
    return found


@helper
def correct_arrivals(s: Games, t: Facts, g: int, first: int, second: int, color: int) -> Any:
    """Return what to add to the arrivals of a double's halves, as both halves move the same marker."""
    one, other = np.int64(s.points[g, first, color]), np.int64(s.points[g, second, color])
    both = arrives(s, t, g, color, one + other)
    return both - arrives(s, t, g, color, one) - arrives(s, t, g, color, other)


@helper
def arrives(s: Games, t: Facts, g: int, color: int, points: int) -> Any:
    """Return 1 if so many points bring a marker of seat 0 to a stop, else 0."""
    marker: Any = np.int64(s.scores[g, 0, color])
    return np.int64(arrived(t, marker, advanced(marker, points, furthest(t, marker))))


# Afterstates


@Entry
def fill_features(
    state: Arrays,
    facts: Arrays,
    before: Arrays,
    after: Arrays,
    buffers: Arrays,
    values: Array,
    game: Array,
    actions: Array,
    others: Array,
    features: Array,
    over: Array,
    scores: Array,
    lo: int,
    hi: int,
) -> None:
    """Write the afterstates of actions [n] of some games [n].

    Args:
        state: G games, as :func:`genial_env.policies.afterstates.make_states` makes them.
        facts: of their rules.
        before: a state of one game, to copy games to.
        after: another one, to play on.
        buffers: scratch buffers.
        values: [top + 1] the value of a marker.
        game: [n] indices of games. Fastest if the actions of a game follow each other.
        actions: [n].
        others: [G, P - 1] how many tiles the other seats hold.
        features: [n, W] out.
        over: [n] out: whether the game is over.
        scores: [n, T, C] out.
        lo: the first index in `actions`.
        hi: the index behind the last one.
    """
    s, t, p, o, r = Games(*state), Facts(*facts), Games(*before), Games(*after), Buffers(*buffers)
    last = -1
    for i in range(lo, hi):
        g = game[i]
        if g != last:
            take_over(s, g, p)
            describe_cells(p, t, r, values)
            last = g
        write_afterstate(p, o, t, r, values, actions[i], others[g], features[i])
        over[i] = o.phase[0] == OVER
        copy(flat(o.scores), flat(scores[i]))


@helper
def take_over(s: Games, g: int, o: Games) -> None:
    """Make the one game a copy of another, in place, except for arrays that no view has."""
    copy(s.board[g], o.board[0])
    copy(flat(s.points[g]), flat(o.points))
    copy(s.open[g], o.open[0])
    copy(flat(s.scores[g]), flat(o.scores))
    copy(s.racks[g, 0], o.racks[0, 0])
    copy(s.bag[g], o.bag[0])
    o.to_play[0], o.phase[0], o.pending_bonus[0] = 0, s.phase[g], s.pending_bonus[g]


@helper
def write_afterstate(
    p: Games, o: Games, t: Facts, r: Buffers, values: Array, action: int, others: Array, out: Array
) -> None:
    """Play an action of the game `p` in the game `o`, and write its features to out [W].

    The cells of `p` must have been described (:func:`describe_cells`).
    """
    take_over(p, 0, o)
    apply_without_draw(o, t, 0, action)
    copy(flat(r.before), flat(r.numbers))
    copy(flat(r.counts_before), flat(r.counts))
    copy(r.constants, out)
    n_fitting, n_pairs, n_free = r.sizes[0], r.sizes[1], r.sizes[2]
    n_removed = 0
    if is_placing(t, action):
        slot, placement = split_action(t, action)
        kind = p.racks[0, 0, slot]
        a, b = np.int64(t.kinds[kind, 0]), np.int64(t.kinds[kind, 1])
        first, second = np.int64(t.cells[placement, 0]), np.int64(t.cells[placement, 1])
        for half in range(2 - np.int64(a == b)):
            describe_cells_of_color(o, t, r, values, b if half else a, r.numbers, r.counts)
        one, other = np.int64(t.grid_index[first]), np.int64(t.grid_index[second])
        n_free -= 2
        n_pairs -= np.int64(r.beside[one]) + r.beside[other] - 1
        n_removed = find_removed(r, one, other)
        n_fitting -= n_removed
        remove_cells(t, r, n_removed)
    elif action == t.swap_action:
        write_constants(o, t, r, out)
    write_features(o, t, r, others, n_removed, n_fitting, n_pairs, n_free, out)


@helper
def describe_cells_of_color(
    o: Games, t: Facts, r: Buffers, values: Array, color: int, numbers: Array, counts: Array
) -> None:
    """Write what the cells in `cells` offer to a color to numbers [1 + T, C, grid] and counts [C, 8]."""
    points = numbers[0, color]
    for i in range(r.sizes[0]):
        points[r.cells[i]] = o.points[0, r.fitting[i], color]
    for track in range(t.n_tracks):
        marker: Any = np.int64(o.scores[0, track, color])
        limit: Any = np.int64(furthest(t, marker))
        now = values[marker]
        gains = numbers[1 + track, color]
        for i in range(r.sizes[0]):
            index = r.cells[i]
            gains[index] = values[np.uint64(advanced(marker, points[index], limit))] - now
    inner = points[t.width + 1 :]
    for n in range(N_THRESHOLDS):
        threshold, count = np.int16(r.thresholds[n]), np.int16(0)
        for at in range(inner_size(t.width)):
            points_here = inner[at]
            count = np.int16(count + (np.int16(1) if points_here >= threshold else np.int16(0)))
        counts[color, n] = count


@helper
def find_removed(r: Buffers, one: int, other: int) -> Any:
    """Write the cells that no tile fits on after a placement to `removed`; return how many they are.

    They are the cells of the placement, and free neighbours that have no free neighbour left.
    """
    r.removed[0], r.removed[1], n_removed = one, other, 2
    at_one, at_other = r.beside[one], r.beside[other]
    r.beside[one], r.beside[other] = MANY, MANY
    for half in range(2):
        for direction in range(6):
            index = (other if half else one) + r.steps[direction]
            beside = np.int64(r.beside[index]) - 1
            r.beside[index] = beside
            r.removed[n_removed] = index
            n_removed += beside == 0
    for half in range(2):
        for direction in range(6):
            r.beside[(other if half else one) + r.steps[direction]] += 1
    r.beside[one], r.beside[other] = at_one, at_other
    return n_removed


@helper
def remove_cells(t: Facts, r: Buffers, n_removed: int) -> None:
    """Take the cells in `removed` out of the numbers of all cells."""
    for i in range(n_removed):
        index = r.removed[i]
        for color in range(t.n_colors):
            row, gone = r.counts[color], r.reached[min(np.int64(r.numbers[0, color, index]), MOST_POINTS)]
            for n in range(8):
                row[n] -= gone[n]
            for layer in range(1 + t.n_tracks):
                r.numbers[layer, color, index] = NOTHING


@helper
def describe_cells(o: Games, t: Facts, r: Buffers, values: Array) -> None:
    """Write what the cells of the one game offer, and its features that a placement does not change."""
    fill(r.beside, MANY)
    fill(flat(r.before), NOTHING)
    n_fitting, n_pairs, n_free = 0, 0, 0
    for cell in range(o.board.shape[1]):
        if o.board[0, cell] != FREE:
            continue
        n_free += 1
        beside = 0
        for direction in range(6):
            other = t.rays[cell, direction, 0]
            beside += other >= 0 and o.board[0, other] == FREE
        index = np.int64(t.grid_index[cell])
        n_pairs += beside
        r.beside[index] = beside
        r.fitting[n_fitting], r.cells[n_fitting] = cell, index
        n_fitting += beside > 0
    r.sizes[0], r.sizes[1], r.sizes[2] = n_fitting, n_pairs >> 1, n_free
    for color in range(t.n_colors):
        describe_cells_of_color(o, t, r, values, color, r.before, r.counts_before)
    write_constants(o, t, r, r.constants)


@helper
def size_of_color(t: Facts) -> Any:
    """Return the number of features of a color."""
    return 4 * t.n_tracks + 8 + N_THRESHOLDS + count_rivals(t)


@helper
def count_rivals(t: Facts) -> Any:
    """Return how many rivals have features; the player of solo is its own rival."""
    return max(t.n_players - 1, 1)


@helper
def start_of_kinds(t: Facts) -> Any:
    """Return the index of the first feature of the tile kinds."""
    return t.n_colors * size_of_color(t)


@helper
def start_of_whole(t: Facts) -> Any:
    """Return the index of the first feature of the whole game."""
    return start_of_kinds(t) + t.n_kinds * (3 + t.n_tracks)


@helper
def write_constants(o: Games, t: Facts, r: Buffers, out: Array) -> None:
    """Write the features of the one game that a placement does not change to out [W].

    They are those of the other tracks' markers, and the numbers of unseen tiles.
    """
    colors, kinds = table(out, 0, size_of_color(t)), table(out, start_of_kinds(t), 3 + t.n_tracks)
    for track in range(1, t.n_tracks):
        write_markers(o, t, track, out)
    unseen = 4 * t.n_tracks + 5 + N_THRESHOLDS
    for color in range(t.n_colors):
        colors[color, unseen], colors[color, unseen + 1] = 0, 0
    for kind in range(t.n_kinds):
        a, b = t.kinds[kind, 0], t.kinds[kind, 1]
        colors[a, unseen + np.int64(a == b)] += o.bag[0, kind]
        if a != b:
            colors[b, unseen] += o.bag[0, kind]
        kinds[kind, 1] = o.bag[0, kind]


@helper
def write_markers(o: Games, t: Facts, track: int, out: Array) -> None:
    """Write the features of a track's markers to out [W]."""
    colors, markers, lowest = table(out, 0, size_of_color(t)), o.scores[0, track], lowest_marker(o, t, 0, track)
    in_order = out[start_of_whole(t) + track * t.n_colors :]
    for color in range(t.n_colors):
        marker, lower, place = np.int64(markers[color]), np.int64(0), np.int64(0)
        for other in range(t.n_colors):
            lower += markers[other] < marker
            place += other < color and markers[other] == marker
        in_order[lower + place] = marker
        at = 4 * track
        colors[color, at], colors[color, at + 1] = marker, marker - lowest
        colors[color, at + 2], colors[color, at + 3] = lower, marker == t.top


@helper
def write_features(
    o: Games,
    t: Facts,
    r: Buffers,
    others: Array,
    n_removed: int,
    n_fitting: int,
    n_pairs: int,
    n_free: int,
    out: Array,
) -> None:
    """Write the features of the one game to out [W] that :func:`write_constants` does not write.

    They are those of ``compute_features`` in that module.
    """
    n_held = count_held(o, t, r)
    best_neighbours(t.width, flat(r.numbers), flat(r.near))
    for track in range(t.n_tracks):
        value_kinds(o, t, r, track)
    write_markers(o, t, 0, out)
    for color in range(t.n_colors):
        describe_color(o, t, r, color, out)
    whole = out[start_of_whole(t) + t.n_tracks * t.n_colors :]
    whole[0], whole[1] = describe_rack(o, t, r, out)
    describe_kinds(t, r, out)
    at, n_unseen = 2, np.int64(0)
    for kind in range(t.n_kinds):
        n_unseen += o.bag[0, kind]
    for rival in range(count_rivals(t)):
        track = r.tracks[rival + 1]
        size = np.int64(others[rival]) if t.n_players > 1 else np.int64(1)
        most = find_unseen(o, t, r, track)
        best_by_color(t, r, 4 * t.n_tracks + 8 + N_THRESHOLDS + rival, out)
        whole[at], whole[at + 1], whole[at + 2] = expect(t, r, r.chances[size, n_unseen]), most, size
        at += 3
    whole[at], whole[at + 1], whole[at + 2] = n_free, n_fitting, n_pairs
    whole[at + 3], whole[at + 4], whole[at + 5] = o.pending_bonus[0], n_held, may_swap(o, 0)
    whole[at + 7] = find_unseen(o, t, r, 0)
    whole[at + 6] = expect(t, r, r.chances[t.n_slots - n_held, n_unseen])
    left = count_placements_left(r, n_removed, n_fitting)
    whole[at + 8], whole[at + 9] = left, left & 1


@helper
def count_held(o: Games, t: Facts, r: Buffers) -> Any:
    """Write how many tiles of each kind are in hand to `held`; return how many there are."""
    fill(r.held, 0)
    n_held = 0
    for slot in range(t.n_slots):
        kind = o.racks[0, 0, slot]
        if kind != EMPTY:
            r.held[kind] += 1
            n_held += 1
    return n_held


@helper
def value_kinds(o: Games, t: Facts, r: Buffers, track: int) -> None:
    """Write the value of the best placement of each kind for a track to `by_kind`, and of tiles in hand elsewhere."""
    gains, near = r.numbers[1 + track], r.near[1 + track]
    for kind in range(t.n_kinds):
        is_held = track == 0 and r.held[kind] > 0
        best = np.int64(0)
        if is_held or o.bag[0, kind] > 0:
            best = best_sum(t.width, gains[t.kinds[kind, 0]], near[t.kinds[kind, 1]])
        r.by_kind[track, kind] = best
        if is_held:
            r.elsewhere[kind] = best_elsewhere(t, r, t.kinds[kind, 0], t.kinds[kind, 1], best) if best > 0 else 0
        elif track == 0:
            r.elsewhere[kind] = 0


@helper
def inner_size(width: int) -> Any:
    """Return how many numbers of a grid are looked at: from the first cell to behind the last one."""
    return (width * (width - 2) + AT_ONCE - 3) // AT_ONCE * AT_ONCE


@helper
def best_sum(width: int, first: Array, second: Array) -> Any:
    """Return the greatest sum of the numbers at the same index of two grids, at least 0."""
    one, other = first[width + 1 :], second[width + 1 :]
    most = np.int16(0)
    for at in range(inner_size(width)):
        most = max(most, np.int16(one[at] + other[at]))
    return np.int64(most)


@helper
def greatest(width: int, numbers: Array) -> Any:
    """Return the greatest of the numbers of a grid, at least 0."""
    inner = numbers[width + 1 :]
    most = np.int16(0)
    for at in range(inner_size(width)):
        most = max(most, inner[at])
    return np.int64(most)


@helper
def best_elsewhere(t: Facts, r: Buffers, a: int, b: int, value: int) -> Any:
    """Return the greatest value of a tile on a cell that is not near every cell of the best placements, at least 0.

    The cells near all of those are the cells whose coordinates in the three directions of the grid are near the least
    and the greatest of theirs.
    """
    edge = t.width + 1
    one, other = r.numbers[1, a][edge:], r.numbers[1, b][edge:]
    near_one, near_other = r.near[1, a][edge:], r.near[1, b][edge:]
    by_cell, best = r.by_cell[edge:], np.int16(value)
    for at in range(inner_size(t.width)):
        by_cell[at] = max(np.int16(one[at] + near_other[at]), np.int16(other[at] + near_one[at]))
    columns, rows = r.places[0][edge:], r.places[1][edge:]
    far = np.int16(MANY)
    least_q, least_r, least_s = far, far, far
    most_q, most_r, most_s = np.int16(-MANY), np.int16(-MANY), np.int16(-MANY)
    for at in range(inner_size(t.width)):
        away = np.int16(0) if by_cell[at] == best else far
        q, row = columns[at], rows[at]
        s = np.int16(q + row)
        least_q, most_q = min(least_q, np.int16(q + away)), max(most_q, np.int16(q - away))
        least_r, most_r = min(least_r, np.int16(row + away)), max(most_r, np.int16(row - away))
        least_s, most_s = min(least_s, np.int16(s + away)), max(most_s, np.int16(s - away))
    from_q, to_q = np.int16(most_q - REACH), np.int16(least_q + REACH)
    from_r, to_r = np.int16(most_r - REACH), np.int16(least_r + REACH)
    from_s, to_s = np.int16(most_s - REACH), np.int16(least_s + REACH)
    most = np.int16(0)
    for at in range(inner_size(t.width)):
        q, row = columns[at], rows[at]
        s = np.int16(q + row)
        is_near = (q >= from_q) & (q <= to_q) & (row >= from_r) & (row <= to_r) & (s >= from_s) & (s <= to_s)
        here = by_cell[at]
        most = max(most, np.int16(0) if is_near else here)
    return np.int64(most)


@helper
def describe_color(o: Games, t: Facts, r: Buffers, color: int, out: Array) -> None:
    """Write the features of the points that a color offers to out [W]."""
    row = out[color * size_of_color(t) + 4 * t.n_tracks :]
    marker: Any = np.int64(o.scores[0, 0, color])
    row[0] = np.int64(next_stop(t, marker)) - marker
    for n in range(8):
        row[1 + n] = r.counts[color, n]
    points = r.numbers[0, color]
    row[1 + N_THRESHOLDS] = greatest(t.width, points)
    row[2 + N_THRESHOLDS] = best_sum(t.width, points, r.near[0, color])


@helper
def describe_rack(o: Games, t: Facts, r: Buffers, out: Array) -> Any:
    """Write the features of colors that tell of the tiles in hand to out [W].

    Returns:
        The values of the best placements of the best two kinds in hand.
    """
    colors, start = table(out, 0, size_of_color(t)), 4 * t.n_tracks + 3 + N_THRESHOLDS
    for color in range(t.n_colors):
        colors[color, start], colors[color, start + 1], colors[color, start + 4] = 0, 0, 0
    best, second = np.int64(0), np.int64(0)
    for slot in range(t.n_slots):
        kind = np.int64(o.racks[0, 0, slot])
        if kind == EMPTY:
            continue
        a, b = np.int64(t.kinds[kind, 0]), np.int64(t.kinds[kind, 1])
        value = np.int64(r.by_kind[0, kind])
        for half in range(2 - np.int64(a == b)):
            shown: Any = b if half else a
            colors[shown, start + np.int64(a == b)] += 1
            colors[shown, start + 4] = max(colors[shown, start + 4], value)
        if not is_duplicate(o, 0, slot):
            second = max(second, min(best, value))
            best = max(best, value)
    return best, second


@helper
def describe_kinds(t: Facts, r: Buffers, out: Array) -> None:
    """Write the features of the kinds to out [W]."""
    kinds = table(out, start_of_kinds(t), 3 + t.n_tracks)
    for kind in range(t.n_kinds):
        kinds[kind, 0], kinds[kind, 2], kinds[kind, 3] = r.held[kind], r.by_kind[0, kind], r.elsewhere[kind]
    for track in range(1, t.n_tracks):
        for kind in range(t.n_kinds):
            kinds[kind, 3 + track] = r.by_kind[track, kind]


@helper
def find_unseen(o: Games, t: Facts, r: Buffers, track: int) -> Any:
    """Write the numbers of unseen tiles of the kinds, and their values for a track; return the greatest value."""
    most = np.int16(0)
    for kind in range(t.n_kinds):
        unseen, value = np.int32(o.bag[0, kind]), r.by_kind[track, kind]
        value = value if unseen > 0 else np.int16(0)
        most = max(most, value)
        r.unseen_values[kind] = value
        r.unseen[kind] = unseen
        r.ranks[kind] = np.int32(value) * np.int32(t.n_kinds) + np.int32(kind)
    return np.int64(most)


@helper
def best_by_color(t: Facts, r: Buffers, feature: int, out: Array) -> None:
    """Write the greatest of `unseen_values` of the kinds with each color to a feature of the colors in out [W]."""
    colors = table(out, 0, size_of_color(t))
    for color in range(t.n_colors):
        best = np.int16(0)
        for other in range(t.n_colors):
            best = max(best, r.unseen_values[r.kind_of[color, other]])
        colors[color, feature] = best


@helper
def expect(t: Facts, r: Buffers, chances: Array) -> Any:
    """Return the expected value of the best of some of the tiles that :func:`find_unseen` has found.

    It is that of ``_expected_best`` in that module. For each kind all tiles of lower kinds are counted, which is faster
    than to sort them, as the processor cannot foresee the order.

    Args:
        t: the facts.
        r: buffers.
        chances: [tiles] the probability that only tiles of some kinds are drawn, by how many of these are unseen.
    """
    expected: Any = np.int64(0)
    for kind in range(t.n_kinds):
        rank, lower = r.ranks[kind], np.int32(0)
        for other in range(len(r.ranks) >> 5 << 5):
            unseen = r.unseen[other]
            lower = np.int32(lower + (unseen if r.ranks[other] < rank else np.int32(0)))
        drawn: Any = np.int64(chances[lower + r.unseen[kind]]) - chances[lower]
        expected += np.int64(r.unseen_values[kind]) * drawn
    return expected >> FIXED


@helper
def count_placements_left(r: Buffers, n_removed: int, n_fitting: int) -> Any:
    """Return an upper bound of the placements left (``_count_placements_left`` in that module)."""
    left = n_fitting >> 1
    if left > FEW_CELLS >> 1:
        return left
    left = 0
    for i in range(r.sizes[0]):
        r.waiting[r.cells[i]] = True
    for i in range(n_removed):
        r.waiting[r.removed[i]] = False
    for i in range(r.sizes[0]):
        start = r.cells[i]
        if not r.waiting[start]:
            continue
        r.waiting[start] = False
        r.stack[0], n_stack, size = start, 1, 0
        while n_stack > 0:
            n_stack -= 1
            index = np.int64(r.stack[n_stack])
            size += 1
            for direction in range(6):
                other = index + r.steps[direction]
                if r.waiting[other]:
                    r.waiting[other] = False
                    r.stack[n_stack] = other
                    n_stack += 1
        left += size >> 1
    return left


# Registered implementations


@afterstates.rank_placements.compiled
def rank(threads: int, view: View, prior: HeuristicPolicy, out: Ints) -> None:
    """Compute it in compiled code; in numpy if the prior has no plan."""
    plan = prior.plan(view.rules)
    if plan is None:
        afterstates.rank_placements.numpy(view, prior, out)
        return
    rules, most = view.rules, out.shape[1]
    game = arrays(afterstates.make_states(view)), facts(rules)
    arrival = STOP_VALUE if rules.has_bonus else 0
    found = np.full(out.shape, NONE)

    def work(lo: int, hi: int) -> None:
        rank_placements(*game, scratch(rules), buffers_for(rules, most), tuple(plan), arrival, found, lo, hi)

    share(threads, len(view), work)
    out[:] = found


@afterstates.fill_afterstates.compiled
def fill_afterstates(threads: int, view: View, made: Afterstates) -> None:
    """Compute it in compiled code."""
    rules = view.rules
    game = arrays(afterstates.make_states(view)), facts(rules)
    others = np.ascontiguousarray(view.rack_sizes[:, 1:])
    wanted = made.game, made.actions, others, made.features, made.over.view(np.uint8), made.scores
    values = afterstates.denial_marker_values(rules)

    def work(lo: int, hi: int) -> None:
        fill_features(*game, *two_games(rules), buffers_for(rules, 1), values, *wanted, lo, hi)

    share(threads, len(made), work)


class _Buffers(threading.local):
    def __init__(self) -> None:
        self.by_size: dict[tuple[Rules, int], Arrays] = {}
        self.games: dict[Rules, tuple[Arrays, Arrays]] = {}


_buffers = _Buffers()


def buffers_for(rules: Rules, most: int) -> Arrays:
    """Return the scratch buffers of this thread, which are allocated at the first call."""
    kept = _buffers.by_size
    if (rules, most) not in kept:
        kept[rules, most] = tuple(make_buffers(rules, most))
    return kept[rules, most]


def two_games(rules: Rules) -> tuple[Arrays, Arrays]:
    """Return the two games of this thread to play on, which are made at the first call."""
    games = _buffers.games
    if rules not in games:
        games[rules] = arrays(undealt(rules).copy()), arrays(undealt(rules).copy())
    return games[rules]
