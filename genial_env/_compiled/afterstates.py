"""Compiled implementation of :mod:`genial_env.policies.afterstates`, which computes the same numbers.

It plays candidates on a copy of one game with the compiled rules. It computes values by cell on a grid with a border,
where all six neighbours are shifted slices (:mod:`genial_env._compiled.deciding`).
"""

import threading
from typing import Any, NamedTuple

import numpy as np

from genial_env._compiled.deciding import best_neighbours, correct_double, value_halves
from genial_env._compiled.handover import arrays, facts, scratch, share
from genial_env._compiled.jit import Entry, helper
from genial_env._compiled.primitives import Array, Arrays, copy
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
    track_of,
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
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.prior import STOP_VALUE

MOST_POINTS = max(THRESHOLDS)


class Buffers(NamedTuple):
    """Scratch buffers of one thread.

    The numbers of cells are computed once for the game before an action (`base_...`). For the game after it they are
    changed where the action makes a difference, and restored.

    Axis "grid": indices of the grid with a border (`grid_index` of :class:`~genial_env.core.scalar.Facts`).
    """

    cells: Array  # [N + 1] int16 the cells that a tile fits on before the action
    sizes: Array  # [4] int64 before the action: how many cells these are, pairs of free cells, free cells
    removed: Array  # [16] int16 those of the cells that no tile fits on any more
    base_points: Array  # [C, grid] int16 the points that cells offer; NOTHING where no tile fits
    base_gains: Array  # [T, C, grid] int16 the value of a half for a track; NOTHING where no tile fits
    base_counts: Array  # [C, points] int64 the number of cells by the points that they offer
    points: Array  # [C, grid] int16 the same after the action
    gains: Array  # [T, C, grid] int16 the same after the action
    counts: Array  # [C, points] int64 the same after the action
    near: Array  # [C, grid] int16 the greatest number on a neighbour
    sums: Array  # [2, grid] int16 the value of a tile on each cell
    by_kind: Array  # [T, M] int16 the value of the best placement of a kind for a track
    elsewhere: Array  # [M] int16 the value of the best placement of a tile in hand elsewhere
    held: Array  # [M] int64 the tiles in hand
    order: Array  # [M] int64 kinds by value, the highest first
    stack: Array  # [N + 1] int16 cells of a region
    seen: Array  # [N + 1] uint8 whether a cell belongs to a region found before
    values: Array  # [most] int64 the values of the best candidates


def make_buffers(rules: Rules, most: int) -> Arrays:
    """Allocate the scratch buffers of one thread."""
    t, grid = tables(rules), (2 * rules.side + 1) ** 2
    points, gains = (rules.colors, grid), (rules.tracks, rules.colors, grid)
    counts = rules.colors, MOST_POINTS + 1
    return Buffers(
        cells=np.empty(t.n_cells + 1, np.int16),
        sizes=np.empty(4, np.int64),
        removed=np.empty(16, np.int16),
        base_points=np.empty(points, np.int16),
        base_gains=np.empty(gains, np.int16),
        base_counts=np.empty(counts, np.int64),
        points=np.empty(points, np.int16),
        gains=np.empty(gains, np.int16),
        counts=np.empty(counts, np.int64),
        near=np.full(points, NOTHING, np.int16),
        sums=np.empty((2, grid), np.int16),
        by_kind=np.empty((rules.tracks, t.n_kinds), np.int16),
        elsewhere=np.empty(t.n_kinds, np.int16),
        held=np.empty(t.n_kinds, np.int64),
        order=np.empty(t.n_kinds, np.int64),
        stack=np.empty(t.n_cells + 1, np.int16),
        seen=np.empty(t.n_cells + 1, np.uint8),
        values=np.empty(most + 1, np.int64),
    )


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
    find_allowed_placements(s, t, g, m.sets)
    value_halves(s, t, g, plan, m)
    n_found, most = 0, len(out)
    for slot in range(t.n_slots):
        kind = s.racks[g, 0, slot]
        if kind == EMPTY or is_duplicate(s, g, slot):
            continue
        a, b = t.kinds[kind, 0], t.kinds[kind, 1]
        for placement in range(t.n_placements):
            if not holds(m.sets[placement >> 6], placement):
                continue
            first, second = t.cells[placement, 0], t.cells[placement, 1]
            if a == b and first > second:
                continue
            value = np.int64(m.halves[a, t.grid_index[first]]) + m.halves[b, t.grid_index[second]]
            if a == b:
                value += correct_double(s, t, g, 0, plan, first, second, a)
            value += arrival * count_arrivals(s, t, g, first, second, a, b)
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
def is_duplicate(s: Games, g: int, slot: int) -> Any:
    """Return whether an earlier slot holds the same tile."""
    found = False
    for other in range(slot):
        found |= s.racks[g, 0, other] == s.racks[g, 0, slot]
    return found


@helper
def count_arrivals(s: Games, t: Facts, g: int, first: int, second: int, a: int, b: int) -> Any:
    """Count the markers of seat 0 that a tile would bring to a stop."""
    one, other = np.int64(s.points[g, first, a]), np.int64(s.points[g, second, b])
    if a == b:
        return arrives(s, t, g, a, one + other)
    return arrives(s, t, g, a, one) + arrives(s, t, g, b, other)


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
        for track in range(t.n_tracks):
            copy(o.scores[0, track], scores[i, track])


@helper
def take_over(s: Games, g: int, o: Games) -> None:
    """Make the one game a copy of another, in place, except for arrays that no view has."""
    copy(s.board[g], o.board[0])
    for cell in range(s.board.shape[1]):
        copy(s.points[g, cell], o.points[0, cell])
    copy(s.open[g], o.open[0])
    for track in range(s.scores.shape[1]):
        copy(s.scores[g, track], o.scores[0, track])
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
    first, second, a, b = -1, -1, -1, -1
    n_removed = 0
    if is_placing(t, action):
        slot, placement = split_action(t, action)
        first, second = np.int64(t.cells[placement, 0]), np.int64(t.cells[placement, 1])
        kind = p.racks[0, 0, slot]
        a, b = np.int64(t.kinds[kind, 0]), np.int64(t.kinds[kind, 1])
        n_removed = find_removed(o, t, r, first, second)
        for color in range(t.n_colors):
            if color == a or color == b:
                describe_color_of_cells(o, t, r, values, color, r.points, r.gains, r.counts)
            remove_cells(o, t, r, n_removed, color)
    n_free = r.sizes[2]
    n_pairs = r.sizes[1]
    if first >= 0:
        n_free -= 2
        n_pairs -= count_free_beside(p, t, first) + count_free_beside(p, t, second) - 1
    write_features(o, t, r, others, r.sizes[0] - n_removed, n_pairs, n_free, out)
    for i in range(n_removed):
        cell = r.removed[i]
        index = t.grid_index[cell]
        for color in range(t.n_colors):
            r.points[color, index] = r.base_points[color, index]
            for track in range(t.n_tracks):
                r.gains[track, color, index] = r.base_gains[track, color, index]
    for color in range(t.n_colors):
        if n_removed > 0:
            copy(r.base_counts[color], r.counts[color])
        if color == a or color == b:
            copy(r.base_points[color], r.points[color])
            for track in range(t.n_tracks):
                copy(r.base_gains[track, color], r.gains[track, color])


@helper
def find_removed(o: Games, t: Facts, r: Buffers, first: int, second: int) -> Any:
    """Write the cells that no tile fits on after a placement to `removed`; return how many they are.

    They are the cells of the placement, and free neighbours that have no free neighbour left.
    """
    r.removed[0], r.removed[1], n_removed = first, second, 2
    for half in range(2):
        covered = second if half else first
        for direction in range(6):
            cell = t.rays[covered, direction, 0]
            if cell < 0 or o.board[0, cell] != FREE or count_free_beside(o, t, cell) > 0:
                continue
            is_new = True
            for i in range(2, n_removed):
                is_new &= r.removed[i] != cell
            if is_new:
                r.removed[n_removed] = cell
                n_removed += 1
    return n_removed


@helper
def count_free_beside(o: Games, t: Facts, cell: int) -> Any:
    """Count the free neighbours of a cell in the one game."""
    beside = 0
    for direction in range(6):
        other = t.rays[cell, direction, 0]
        if other >= 0 and o.board[0, other] == FREE:
            beside += 1
    return beside


@helper
def remove_cells(o: Games, t: Facts, r: Buffers, n_removed: int, color: int) -> None:
    """Take the cells in `removed` out of the numbers of a color."""
    for i in range(n_removed):
        index = t.grid_index[r.removed[i]]
        r.counts[color, min(np.int64(r.points[color, index]), MOST_POINTS)] -= 1
        r.points[color, index] = NOTHING
        for track in range(t.n_tracks):
            r.gains[track, color, index] = NOTHING


@helper
def describe_cells(o: Games, t: Facts, r: Buffers, values: Array) -> None:
    """Write what the cells of the one game offer, before an action and, as long as nothing was changed, after it."""
    n_fitting, n_pairs, n_free = 0, 0, 0
    for cell in range(o.board.shape[1]):
        if o.board[0, cell] != FREE:
            continue
        n_free += 1
        beside = count_free_beside(o, t, cell)
        n_pairs += beside
        r.cells[n_fitting] = cell
        n_fitting += beside > 0
    r.sizes[0], r.sizes[1], r.sizes[2] = n_fitting, n_pairs >> 1, n_free
    for color in range(t.n_colors):
        fill(r.base_points[color], NOTHING)
        for track in range(t.n_tracks):
            fill(r.base_gains[track, color], NOTHING)
        describe_color_of_cells(o, t, r, values, color, r.base_points, r.base_gains, r.base_counts)
        copy(r.base_points[color], r.points[color])
        copy(r.base_counts[color], r.counts[color])
        for track in range(t.n_tracks):
            copy(r.base_gains[track, color], r.gains[track, color])


@helper
def fill(row: Array, number: int) -> None:
    """Write a number to all of a row."""
    for index in range(len(row)):
        row[index] = number


@helper
def describe_color_of_cells(
    o: Games, t: Facts, r: Buffers, values: Array, color: int, points: Array, gains: Array, counts: Array
) -> None:
    """Write what the cells in `cells` offer to a color."""
    row = counts[color]
    for n in range(len(row)):
        row[n] = 0
    n_fitting = r.sizes[0]
    for i in range(n_fitting):
        cell = r.cells[i]
        offered = np.int64(o.points[0, cell, color])
        points[color, t.grid_index[cell]] = offered
        row[min(offered, MOST_POINTS)] += 1
    for track in range(t.n_tracks):
        marker: Any = np.int64(o.scores[0, track, color])
        limit: Any = np.int64(furthest(t, marker))
        now = np.int64(values[marker])
        for i in range(n_fitting):
            cell = r.cells[i]
            gain = values[advanced(marker, o.points[0, cell, color], limit)] - now
            gains[track, color, t.grid_index[cell]] = gain


@helper
def write_features(
    o: Games, t: Facts, r: Buffers, others: Array, n_fitting: int, n_pairs: int, n_free: int, out: Array
) -> None:
    """Write the features of the one game to out [W], as ``compute_features`` in that module does."""
    for kind in range(t.n_kinds):
        r.held[kind] = 0
    n_held = 0
    for slot in range(t.n_slots):
        kind = o.racks[0, 0, slot]
        if kind != EMPTY:
            r.held[kind] += 1
            n_held += 1
    for track in range(t.n_tracks):
        value_kinds(o, t, r, track)
    n_rivals = max(t.n_players - 1, 1)
    per_color = 4 * t.n_tracks + 8 + N_THRESHOLDS + n_rivals
    for color in range(t.n_colors):
        describe_color(o, t, r, color, out[color * per_color : (color + 1) * per_color])
    count_kinds_by_color(o, t, r, n_rivals, per_color, out)
    per_kind = 3 + t.n_tracks
    kinds = out[t.n_colors * per_color : t.n_colors * per_color + t.n_kinds * per_kind]
    for kind in range(t.n_kinds):
        at = kind * per_kind
        kinds[at], kinds[at + 1] = r.held[kind], o.bag[0, kind]
        kinds[at + 2], kinds[at + 3] = r.by_kind[0, kind], r.elsewhere[kind]
        for track in range(1, t.n_tracks):
            kinds[at + 3 + track] = r.by_kind[track, kind]
    whole = out[t.n_colors * per_color + t.n_kinds * per_kind :]
    at = sort_markers(o, t, whole)
    best, second = np.int64(0), np.int64(0)
    for kind in range(t.n_kinds):
        if r.held[kind] > 0:
            value = np.int64(r.by_kind[0, kind])
            second = max(second, min(best, value))
            best = max(best, value)
    whole[at], whole[at + 1] = best, second
    at += 2
    for rival in range(n_rivals):
        track = track_of(t, rival + 1)
        size = np.int64(others[rival]) if t.n_players > 1 else np.int64(1)
        expected, most = expect(o, t, r, track, size)
        whole[at], whole[at + 1], whole[at + 2] = expected, most, size
        at += 3
    whole[at], whole[at + 1], whole[at + 2] = n_free, n_fitting, n_pairs
    whole[at + 3], whole[at + 4], whole[at + 5] = o.pending_bonus[0], n_held, may_swap(o, 0)
    expected, most = expect(o, t, r, 0, t.n_slots - n_held)
    whole[at + 6], whole[at + 7] = expected, most
    left = count_placements_left(o, t, r, n_fitting)
    whole[at + 8], whole[at + 9] = left, left & 1


N_THRESHOLDS = len(THRESHOLDS)


@helper
def value_kinds(o: Games, t: Facts, r: Buffers, track: int) -> None:
    """Write the value of the best placement of each kind for a track to `by_kind`, and of tiles in hand elsewhere."""
    for color in range(t.n_colors):
        best_neighbours(t.width, r.gains[track, color], r.near[color])
    for kind in range(t.n_kinds):
        is_held = track == 0 and r.held[kind] > 0
        if track == 0:
            r.elsewhere[kind] = 0
        if not is_held and o.bag[0, kind] == 0:
            r.by_kind[track, kind] = 0
            continue
        a, b = t.kinds[kind, 0], t.kinds[kind, 1]
        best = best_sum(t.width, r.gains[track, a], r.near[b])
        r.by_kind[track, kind] = best
        if is_held and best > 0:
            r.elsewhere[kind] = best_elsewhere(o, t, r, a, b, best)


@helper
def best_sum(width: int, first: Array, second: Array) -> Any:
    """Return the greatest sum of the numbers at the same index of two grids, at least 0."""
    one, other = first[width + 1 : len(first) - width - 1], second[width + 1 :]
    most = np.int16(0)
    for at in range(len(one)):
        most = max(most, np.int16(one[at] + other[at]))
    return np.int64(most)


@helper
def best_elsewhere(o: Games, t: Facts, r: Buffers, a: int, b: int, best: int) -> Any:
    """Return the greatest value of a tile on a cell that is not near every cell of the best placements, at least 0."""
    edge = t.width + 1
    inner = len(r.sums[0]) - 2 * edge
    one, other = r.gains[0, a][edge : edge + inner], r.gains[0, b][edge : edge + inner]
    near_one, near_other = r.near[a][edge : edge + inner], r.near[b][edge : edge + inner]
    by_cell, rest = r.sums[0][:inner], r.sums[1][:inner]
    for at in range(inner):
        by_cell[at] = max(np.int16(one[at] + near_other[at]), np.int16(other[at] + near_one[at]))
    most = np.int64(0)
    for at in range(inner):
        if by_cell[at] != best:
            continue
        for index in range(inner):
            rest[index] = by_cell[index]
        for down in range(-REACH, REACH + 1):
            start = at + down * t.width
            for right in range(max(-REACH, -REACH - down), min(REACH, REACH - down) + 1):
                if 0 <= start + right < inner:
                    rest[start + right] = NOTHING
        found = np.int16(0)
        for index in range(inner):
            found = max(found, rest[index])
        most = max(most, np.int64(found))
        if most == best:
            break
    return most


@helper
def describe_color(o: Games, t: Facts, r: Buffers, color: int, out: Array) -> None:
    """Write the features of a color to out [F], except for those of tiles."""
    at = 0
    for track in range(t.n_tracks):
        marker, lower = np.int64(o.scores[0, track, color]), np.int64(0)
        for other in range(t.n_colors):
            lower += o.scores[0, track, other] < marker
        out[at], out[at + 1] = marker, marker - lowest_marker(o, t, 0, track)
        out[at + 2], out[at + 3] = lower, marker == t.top
        at += 4
    own: Any = np.int64(o.scores[0, 0, color])
    out[at] = np.int64(next_stop(t, own)) - own
    at += 1
    total = np.int64(0)
    n = N_THRESHOLDS - 1
    for points in range(MOST_POINTS, 0, -1):
        total += r.counts[color, points]
        if points == THRESHOLDS[n]:
            out[at + n] = total
            n -= 1
    at += N_THRESHOLDS
    row = r.points[color]
    most = np.int16(0)
    for index in range(len(row)):
        most = max(most, row[index])
    best_neighbours(t.width, row, r.near[0])
    out[at], out[at + 1] = most, best_sum(t.width, row, r.near[0])


@helper
def count_kinds_by_color(o: Games, t: Facts, r: Buffers, n_rivals: int, per_color: int, out: Array) -> None:
    """Write the features of colors that tell of tiles to out [C * F...]."""
    start = 4 * t.n_tracks + 3 + N_THRESHOLDS
    for color in range(t.n_colors):
        row = out[color * per_color + start : (color + 1) * per_color]
        for n in range(len(row)):
            row[n] = 0
    for kind in range(t.n_kinds):
        a, b = np.int64(t.kinds[kind, 0]), np.int64(t.kinds[kind, 1])
        double = np.int64(a == b)
        unseen = np.int64(o.bag[0, kind])
        for half in range(2 - double):
            row = out[(b if half else a) * per_color + start :]
            row[double] += r.held[kind]
            row[2 + double] += unseen
            if r.held[kind] > 0:
                row[4] = max(row[4], r.by_kind[0, kind])
            if unseen > 0:
                for rival in range(n_rivals):
                    row[5 + rival] = max(row[5 + rival], r.by_kind[track_of(t, rival + 1), kind])


@helper
def sort_markers(o: Games, t: Facts, out: Array) -> Any:
    """Write the markers of every track, sorted upwards, to out [T * C]; return the next index."""
    for track in range(t.n_tracks):
        row = out[track * t.n_colors : (track + 1) * t.n_colors]
        for color in range(t.n_colors):
            marker, at = o.scores[0, track, color], color
            while at > 0 and row[at - 1] > marker:
                row[at] = row[at - 1]
                at -= 1
            row[at] = marker
    return t.n_tracks * t.n_colors


@helper
def expect(o: Games, t: Facts, r: Buffers, track: int, size: int) -> Any:
    """Return the expected and the greatest value of so many unseen tiles (``_expected_best`` in that module)."""
    values, total, n_found = r.by_kind[track], np.int64(0), 0
    for kind in range(t.n_kinds):
        unseen = np.int64(o.bag[0, kind])
        total += unseen
        if unseen == 0 or values[kind] == 0:
            continue
        at = n_found
        while at > 0 and values[r.order[at - 1]] < values[kind]:
            r.order[at] = r.order[at - 1]
            at -= 1
        r.order[at] = kind
        n_found += 1
    left, before, expected = total, np.int64(1 << FIXED), np.int64(0)
    for n in range(n_found):
        kind = r.order[n]
        left -= o.bag[0, kind]
        share, none = (left << FIXED) // max(total, 1), np.int64(1 << FIXED)
        for _ in range(size):
            none = (none * share) >> FIXED
        expected += values[kind] * (before - none)
        before = none
    return expected >> FIXED, np.int64(values[r.order[0]]) if n_found > 0 else np.int64(0)


@helper
def count_placements_left(o: Games, t: Facts, r: Buffers, n_fitting: int) -> Any:
    """Return an upper bound of the placements left (``_count_placements_left`` in that module)."""
    left = n_fitting >> 1
    if left > FEW_CELLS >> 1:
        return left
    left = 0
    for cell in range(o.board.shape[1]):
        r.seen[cell] = o.board[0, cell] != FREE
    for i in range(r.sizes[0]):
        start = r.cells[i]
        if r.seen[start]:
            continue
        r.seen[start] = 1
        r.stack[0], n_stack, size = start, 1, 0
        while n_stack > 0:
            n_stack -= 1
            cell = r.stack[n_stack]
            size += 1
            for direction in range(6):
                other = t.rays[cell, direction, 0]
                if other >= 0 and r.seen[other] == 0:
                    r.seen[other] = 1
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
    found = np.full(out.shape, afterstates.NONE)

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
