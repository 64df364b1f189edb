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
    join_action,
    lowest_marker,
    may_place,
    may_swap,
    next_stop,
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
from genial_env.policies.afterstates import FIXED, NOTHING, THRESHOLDS, Afterstates
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.prior import STOP_VALUE

MOST_POINTS = max(THRESHOLDS)


class Buffers(NamedTuple):
    """Scratch buffers of one thread.

    Axis "grid": indices of the grid with a border (`grid_index` of :class:`~genial_env.core.scalar.Facts`).
    """

    cells: Array  # [N + 1] int16 the cells that a tile fits on
    points: Array  # [C, grid] int16 the points that they offer; NOTHING elsewhere
    gains: Array  # [T, C, grid] int16 the value of a half for a track; NOTHING elsewhere
    near: Array  # [C, grid] int16 the greatest number on a neighbour
    counts: Array  # [C, points] int64 the number of cells by the points that they offer
    by_kind: Array  # [T, M] int16 the value of the best placement of a kind for a track
    held: Array  # [M] int64 the tiles in hand
    order: Array  # [M] int64 kinds by value, the highest first
    values: Array  # [most] int64 the values of the best candidates


def make_buffers(rules: Rules, most: int) -> Arrays:
    """Allocate the scratch buffers of one thread."""
    t, grid = tables(rules), (2 * rules.side + 1) ** 2
    return Buffers(
        cells=np.empty(t.n_cells + 1, np.int16),
        points=np.empty((rules.colors, grid), np.int16),
        gains=np.empty((rules.tracks, rules.colors, grid), np.int16),
        near=np.empty((rules.colors, grid), np.int16),
        counts=np.empty((rules.colors, MOST_POINTS + 1), np.int64),
        by_kind=np.empty((rules.tracks, t.n_kinds), np.int16),
        held=np.empty(t.n_kinds, np.int64),
        order=np.empty(t.n_kinds, np.int64),
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
        if not may_place(s, g) or s.to_play[g] != 0:
            continue
        find_allowed_placements(s, t, g, m.sets)
        value_halves(s, t, g, plan, m)
        n_found, most = 0, out.shape[1]
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
                    r.values[at], out[g, at] = r.values[at - 1], out[g, at - 1]
                    at -= 1
                r.values[at], out[g, at] = value, join_action(t, slot, placement)
                n_found = min(n_found + 1, most)


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
    one: Arrays,
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
        one: a state of one game, to play on.
        buffers: scratch buffers.
        values: [top + 1] the value of a marker.
        game: [n] indices of games.
        actions: [n].
        others: [G, P - 1] how many tiles the other seats hold.
        features: [n, W] out.
        over: [n] out: whether the game is over.
        scores: [n, T, C] out.
        lo: the first index in `actions`.
        hi: the index behind the last one.
    """
    s, t, o, r = Games(*state), Facts(*facts), Games(*one), Buffers(*buffers)
    for i in range(lo, hi):
        g = game[i]
        take_over(s, g, o)
        apply_without_draw(o, t, 0, actions[i])
        over[i] = o.phase[0] == OVER
        for track in range(t.n_tracks):
            copy(o.scores[0, track], scores[i, track])
        write_features(o, t, r, values, others[g], features[i])


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
def write_features(o: Games, t: Facts, r: Buffers, values: Array, others: Array, out: Array) -> None:
    """Write the features of the one game to out [W], as ``compute_features`` in that module does."""
    n_fitting, n_pairs, n_free = find_cells(o, t, r)
    write_offers(o, t, r, values, n_fitting)
    for track in range(t.n_tracks):
        value_kinds(t, r, track)
    for kind in range(t.n_kinds):
        r.held[kind] = 0
    n_held = 0
    for slot in range(t.n_slots):
        kind = o.racks[0, 0, slot]
        if kind != EMPTY:
            r.held[kind] += 1
            n_held += 1
    n_rivals = max(t.n_players - 1, 1)
    per_color = 4 * t.n_tracks + 8 + N_THRESHOLDS + n_rivals
    for color in range(t.n_colors):
        describe_color(o, t, r, color, n_rivals, out[color * per_color : (color + 1) * per_color])
    whole = out[t.n_colors * per_color :]
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


N_THRESHOLDS = len(THRESHOLDS)


@helper
def find_cells(o: Games, t: Facts, r: Buffers) -> Any:
    """Write the free cells with a free neighbour to `cells`.

    Returns:
        How many these are, how many pairs of adjacent free cells there are, and how many free cells.
    """
    n_fitting, n_pairs, n_free = 0, 0, 0
    for cell in range(o.board.shape[1]):
        if o.board[0, cell] != FREE:
            continue
        n_free += 1
        beside = 0
        for direction in range(6):
            other = t.rays[cell, direction, 0]
            if other >= 0 and o.board[0, other] == FREE:
                beside += 1
        n_pairs += beside
        r.cells[n_fitting] = cell
        n_fitting += beside > 0
    return n_fitting, n_pairs >> 1, n_free


@helper
def write_offers(o: Games, t: Facts, r: Buffers, values: Array, n_fitting: int) -> None:
    """Write what the cells in `cells` offer to `points`, `counts` and `gains`."""
    for color in range(t.n_colors):
        row, counts = r.points[color], r.counts[color]
        for index in range(len(row)):
            row[index] = NOTHING
        for points in range(len(counts)):
            counts[points] = 0
        for i in range(n_fitting):
            cell = r.cells[i]
            offered = np.int64(o.points[0, cell, color])
            row[t.grid_index[cell]] = offered
            counts[min(offered, MOST_POINTS)] += 1
        for track in range(t.n_tracks):
            gains = r.gains[track, color]
            marker: Any = np.int64(o.scores[0, track, color])
            limit: Any = np.int64(furthest(t, marker))
            now = np.int64(values[marker])
            for index in range(len(gains)):
                gains[index] = NOTHING
            for i in range(n_fitting):
                cell = r.cells[i]
                gains[t.grid_index[cell]] = values[advanced(marker, o.points[0, cell, color], limit)] - now


@helper
def best_sum(width: int, first: Array, second: Array) -> Any:
    """Return the greatest sum of the numbers at the same index of two grids, at least 0."""
    one, other = first[width + 1 : len(first) - width - 1], second[width + 1 :]
    most = np.int16(0)
    for at in range(len(one)):
        most = max(most, np.int16(one[at] + other[at]))
    return np.int64(most)


@helper
def value_kinds(t: Facts, r: Buffers, track: int) -> None:
    """Write the value of the best placement of each kind for a track to `by_kind`."""
    for color in range(t.n_colors):
        best_neighbours(t.width, r.gains[track, color], r.near[color])
    for kind in range(t.n_kinds):
        a, b = t.kinds[kind, 0], t.kinds[kind, 1]
        r.by_kind[track, kind] = best_sum(t.width, r.gains[track, a], r.near[b])


@helper
def describe_color(o: Games, t: Facts, r: Buffers, color: int, n_rivals: int, out: Array) -> None:
    """Write the features of a color to out [F]."""
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
    at = count_cells(r.counts[color], out, at)
    row = r.points[color]
    most = np.int64(0)
    for index in range(len(row)):
        most = max(most, np.int64(row[index]))
    best_neighbours(t.width, row, r.near[0])
    out[at], out[at + 1] = most, best_sum(t.width, row, r.near[0])
    at += 2
    for n in range(4):
        out[at + n] = 0
    best_in_hand = np.int64(0)
    for kind in range(t.n_kinds):
        a, b = t.kinds[kind, 0], t.kinds[kind, 1]
        if a != color and b != color:
            continue
        double = np.int64(a == b)
        out[at + double] += r.held[kind]
        out[at + 2 + double] += o.bag[0, kind]
        if r.held[kind] > 0:
            best_in_hand = max(best_in_hand, np.int64(r.by_kind[0, kind]))
    out[at + 4] = best_in_hand
    at += 5
    for rival in range(n_rivals):
        track = track_of(t, rival + 1)
        best = np.int64(0)
        for kind in range(t.n_kinds):
            if o.bag[0, kind] > 0 and (t.kinds[kind, 0] == color or t.kinds[kind, 1] == color):
                best = max(best, np.int64(r.by_kind[track, kind]))
        out[at + rival] = best


@helper
def count_cells(counts: Array, out: Array, at: int) -> Any:
    """Write how many cells offer at least each threshold of points to out from index `at`; return the next index."""
    for n in range(N_THRESHOLDS):
        total = np.int64(0)
        for points in range(THRESHOLDS[n], MOST_POINTS + 1):
            total += counts[points]
        out[at + n] = total
    return at + N_THRESHOLDS


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
    values, total = r.by_kind[track], np.int64(0)
    for kind in range(t.n_kinds):
        total += o.bag[0, kind]
        at = kind
        while at > 0 and value_if_unseen(o, values, r.order[at - 1]) < value_if_unseen(o, values, kind):
            r.order[at] = r.order[at - 1]
            at -= 1
        r.order[at] = kind
    left, before, expected = total, np.int64(1 << FIXED), np.int64(0)
    for n in range(t.n_kinds):
        kind = r.order[n]
        left -= o.bag[0, kind]
        share, none = (left << FIXED) // max(total, 1), np.int64(1 << FIXED)
        for _ in range(size):
            none = (none * share) >> FIXED
        expected += value_if_unseen(o, values, kind) * (before - none)
        before = none
    return expected >> FIXED, value_if_unseen(o, values, r.order[0])


@helper
def value_if_unseen(o: Games, values: Array, kind: int) -> Any:
    """Return the value of a kind, 0 if no tile of it is unseen."""
    return np.int64(values[kind]) if o.bag[0, kind] > 0 else np.int64(0)


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
        rank_placements(*game, scratch(rules), _buffers_for(rules, most), tuple(plan), arrival, found, lo, hi)

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
        fill_features(*game, _one(rules), _buffers_for(rules, 1), values, *wanted, lo, hi)

    share(threads, len(made), work)


class _Buffers(threading.local):
    def __init__(self) -> None:
        self.by_size: dict[tuple[Rules, int], Arrays] = {}
        self.games: dict[Rules, Arrays] = {}


_buffers = _Buffers()


def _buffers_for(rules: Rules, most: int) -> Arrays:
    """Return the scratch buffers of this thread, which are allocated at the first call."""
    kept = _buffers.by_size
    if (rules, most) not in kept:
        kept[rules, most] = tuple(make_buffers(rules, most))
    return kept[rules, most]


def _one(rules: Rules) -> Arrays:
    """Return the game of this thread to play on, which is made at the first call."""
    games = _buffers.games
    if rules not in games:
        games[rules] = arrays(undealt(rules).copy())
    return games[rules]
