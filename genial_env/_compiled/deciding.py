"""Compiled decisions of the policies that have a plan, and whole playouts.

A :class:`~genial_env.policies.base.Plan` is passed as a tuple: the value of a marker at each point of the track, and
the weights.
"""

from typing import Any

import numpy as np

from genial_env._compiled.jit import Entry, helper
from genial_env._compiled.primitives import Array, Arrays, below, nth_member, popcount, random_bits
from genial_env._compiled.rules import (
    advanced,
    apply,
    arrived,
    find_allowed_placements,
    furthest,
    holds,
    is_bound_by_first_turn,
    is_legal,
    join_action,
    may_decline,
    may_place,
    may_swap,
    run_from,
    tiles_held,
    track_of,
)
from genial_env._compiled.scratch import Scratch
from genial_env.core.scalar import OVER, Facts, Games
from genial_env.core.state import EMPTY, FREE
from genial_env.policies.heuristic import MOST_EXTRA

NOTHING = -(1 << 29)
"""Less than any value; twice this number still fits in an int32."""


@helper
def choose_uniformly(s: Games, t: Facts, g: int, m: Scratch, random: Any) -> Any:
    """Choose as :class:`~genial_env.policies.uniform.RandomPolicy` does."""
    seat = s.to_play[g]
    swaps, declines = np.int64(may_swap(s, g)), np.int64(may_decline(s, t, g))
    n_slots, n_placements = np.int64(0), np.int64(0)
    if may_place(s, g):
        n_slots = np.int64(tiles_held(s, t, g, seat))
        find_allowed_placements(s, t, g, m.sets)
        for word in range(t.n_words):
            n_placements += popcount(m.sets[word])
    n_placings = n_slots * n_placements
    choice = below(random, n_placings + swaps + declines)
    if choice >= n_placings:
        return np.int64(t.decline_action if choice - n_placings < declines else t.swap_action)
    nth_slot, slot = choice // n_placements, -1
    while nth_slot >= 0:
        slot += 1
        if s.racks[g, seat, slot] != EMPTY:
            nth_slot -= 1
    return join_action(t, slot, nth_member(m.sets, choice % n_placements))


@helper
def value_halves(s: Games, t: Facts, g: int, plan: Arrays, m: Scratch) -> Any:
    """Write the value of placing a half to `halves`, by color and grid index of its cell; NOTHING on covered cells.

    These are the values of :class:`~genial_env.policies.heuristic.HeuristicPolicy`.

    Returns:
        How many cells are free; their numbers are in `cells`.
    """
    values, weights = plan
    track, weight = track_of(t, s.to_play[g]), weights[0]
    n_free = 0
    for cell in range(s.board.shape[1]):
        m.cells[n_free] = cell
        n_free += s.board[g, cell] == FREE
    for color in range(t.n_colors):
        marker: Any = np.int64(s.scores[g, track, color])
        limit, now = furthest(t, marker), values[marker]
        row = m.halves[color]
        for index in range(len(row)):
            row[index] = NOTHING
        for i in range(n_free):
            cell = m.cells[i]
            row[t.grid_index[cell]] = weight * (values[advanced(marker, s.points[g, cell, color], limit)] - now)
    if looks_further(weights):
        look_further(s, t, g, plan, n_free, m)
    return n_free


@helper
def looks_further(weights: Array) -> Any:
    """Return whether anything counts besides points."""
    found = False
    for i in range(1, 7):
        found |= weights[i] != 0
    return found


@helper
def look_further(s: Games, t: Facts, g: int, plan: Arrays, n_free: int, m: Scratch) -> None:
    """Add further values to `halves`, in place.

    These are what covering a cell takes from the others and from oneself, and what a color adds to the cells at the
    ends of its lines.
    """
    halves, slopes, extra = m.halves, m.slopes, m.extra
    values, weights = plan
    opened, opened_to_others = weights[3], weights[4]
    own_track = track_of(t, s.to_play[g])
    for color in range(t.n_colors):
        for index in range(slopes.shape[1]):
            slopes[color, index] = 0
            extra[color, index] = 0
    for track in range(t.n_tracks):
        own = track == own_track
        per_all, per_most = (-weights[5], -weights[6]) if own else (weights[1], weights[2])
        for i in range(n_free):
            cell, index = m.cells[i], t.grid_index[m.cells[i]]
            in_all, most = np.int64(0), np.int64(NOTHING)
            for color in range(t.n_colors):
                marker: Any = np.int64(s.scores[g, track, color])
                limit = furthest(t, marker)
                after = advanced(marker, s.points[g, cell, color], limit)
                slope = values[advanced(after, 1, limit)] - values[after]
                slopes[color, index] += opened * slope if own else -opened_to_others * slope
                gain = values[after] - values[marker]
                in_all += gain
                most = max(most, gain)
            for color in range(t.n_colors):
                extra[color, index] += per_all * in_all + per_most * most
    for color in range(t.n_colors):
        add_neighbours(t.width, slopes[color], extra[color])
    for i in range(n_free):
        cell, index = m.cells[i], t.grid_index[m.cells[i]]
        for direction in range(6):
            beyond = t.rays[cell, direction, 0]
            if beyond < 0 or s.board[g, beyond] == FREE:
                continue
            color = s.board[g, beyond]
            run, end = run_from(t, s.board[g], cell, direction, color)
            back, back_end = run_from(t, s.board[g], cell, (direction + 3) % 6, color)
            if end >= 0:
                extra[color, index] += slopes[color, t.grid_index[end]] * (1 + back)
            if back == 0 and back_end >= 0:
                extra[color, index] += slopes[color, t.grid_index[back_end]] * run
        for color in range(t.n_colors):
            halves[color, index] += min(max(extra[color, index], -MOST_EXTRA), MOST_EXTRA)


@helper
def add_neighbours(width: int, row: Array, out: Array) -> None:
    """Add to each number of a grid the six numbers around it in another one, in place."""
    a, b, c, d, e, f = around(width, row)
    inner = out[width + 1 :]
    for at in range(len(a)):
        inner[at] += a[at] + b[at] + c[at] + d[at] + e[at] + f[at]


@helper
def choose_by_value(s: Games, t: Facts, g: int, plan: Arrays, m: Scratch, random: Any) -> Any:
    """Choose as :class:`~genial_env.policies.heuristic.HeuristicPolicy` does."""
    if may_swap(s, g):
        return np.int64(t.swap_action)
    n_free = value_halves(s, t, g, plan, m)
    if is_bound_by_first_turn(s, t, g):
        find_allowed_placements(s, t, g, m.sets)
        n_found = best_of_set(s, t, g, plan, m)
    else:
        n_found = best_of_all(s, t, g, plan, n_free, m)
    return np.int64(m.found[below(random, n_found)]) if n_found > 0 else np.int64(0)


@helper
def best_of_set(s: Games, t: Facts, g: int, plan: Arrays, m: Scratch) -> Any:
    """Write the best actions among the placements in `sets` to `found`; return how many there are."""
    halves, found = m.halves, m.found
    seat = s.to_play[g]
    best, n_found = np.int64(NOTHING), np.int64(0)
    for slot in range(t.n_slots):
        kind = s.racks[g, seat, slot]
        if kind == EMPTY:
            continue
        a, b = t.kinds[kind, 0], t.kinds[kind, 1]
        for placement in range(t.n_placements):
            if not holds(m.sets[placement >> 6], placement):
                continue
            first, second = t.cells[placement, 0], t.cells[placement, 1]
            value = np.int64(halves[a, t.grid_index[first]]) + halves[b, t.grid_index[second]]
            if a == b:
                value += correct_double(s, t, g, track_of(t, seat), plan, first, second, a)
            elif plan[1][8] != 0:
                value -= plan[1][8] * both_arrive(s, t, g, track_of(t, seat), first, second, a, b)
            if value > best:
                best, n_found = value, np.int64(0)
            if value == best:
                found[n_found] = join_action(t, slot, placement)
                n_found += 1
    return n_found


@helper
def best_of_all(s: Games, t: Facts, g: int, plan: Arrays, n_free: int, m: Scratch) -> Any:
    """Write the best actions among all open placements to `found`; return how many there are.

    For a given cell of the first half, the second half is best on the neighbour with the highest value. So the best
    neighbour is computed once for every cell and color. It gives an upper bound for each tile and first cell, and
    placements are tried only where the bound is not below the best value so far.
    """
    halves, near, found = m.halves, m.near, m.found
    seat = s.to_play[g]
    for color in range(t.n_colors):
        best_neighbours(t.width, halves[color], near[color])
    best, slack_of_double, surplus = np.int64(NOTHING), plan[1][7], plan[1][8]
    for slot in range(t.n_slots):
        kind, most = s.racks[g, seat, slot], np.int64(NOTHING)
        if kind != EMPTY:
            a, b = t.kinds[kind, 0], t.kinds[kind, 1]
            most = most_of(t.width, halves[a], near[b])
            if a != b:
                best = max(best, most - surplus)
            else:
                most += slack_of_double
        m.mosts[slot] = most
    n_found = np.int64(0)
    for slot in range(t.n_slots):
        kind = s.racks[g, seat, slot]
        if kind == EMPTY or m.mosts[slot] < best:
            continue
        a, b = t.kinds[kind, 0], t.kinds[kind, 1]
        slack = slack_of_double if a == b else np.int64(0)
        for i in range(n_free):
            first, index = m.cells[i], t.grid_index[m.cells[i]]
            most = np.int64(halves[a, index]) + near[b, index] + slack
            if most < best or most < NOTHING >> 1:
                continue
            for direction in range(6):
                second = t.rays[first, direction, 0]
                if second < 0 or s.board[g, second] != FREE:
                    continue
                value = np.int64(halves[a, index]) + halves[b, t.grid_index[second]]
                if a == b:
                    value += correct_double(s, t, g, track_of(t, seat), plan, first, second, a)
                elif surplus != 0:
                    value -= surplus * both_arrive(s, t, g, track_of(t, seat), first, second, a, b)
                if value > best:
                    best, n_found = value, np.int64(0)
                if value == best:
                    found[n_found] = join_action(t, slot, t.placement_of[first, direction])
                    n_found += 1
    return n_found


@helper
def around(width: int, row: Array) -> Arrays:
    """Return the inner part of a grid, shifted to each of the six neighbours.

    numba sees that an index into slices that begin at 0 is not negative, so that it can vectorize the loops.
    """
    n = len(row) - 2 * (width + 1)
    return (
        row[2 : 2 + n],
        row[1 : 1 + n],
        row[width : width + n],
        row[width + 2 : width + 2 + n],
        row[2 * width : 2 * width + n],
        row[2 * width + 1 : 2 * width + 1 + n],
    )


@helper
def best_neighbours(width: int, row: Array, out: Array) -> None:
    """Write the greatest of the six numbers around each number of a grid to out."""
    a, b, c, d, e, f = around(width, row)
    inner = out[width + 1 :]
    for at in range(len(a)):
        inner[at] = max(max(max(a[at], b[at]), max(c[at], d[at])), max(e[at], f[at]))


@helper
def most_of(width: int, first: Array, second: Array) -> Any:
    """Return the greatest sum of the numbers at the same index of two grids."""
    one, other = first[width + 1 : len(first) - width - 1], second[width + 1 :]
    most = np.int32(NOTHING)
    for at in range(len(one)):
        most = max(most, np.int32(one[at] + other[at]))
    return np.int64(most)


@helper
def correct_double(s: Games, t: Facts, g: int, track: int, plan: Arrays, first: int, second: int, color: int) -> Any:
    """Return what to add to the values of a double's halves, as both halves move the same marker."""
    values = plan[0]
    marker: Any = np.int64(s.scores[g, track, color])
    limit = furthest(t, marker)
    one, other = s.points[g, first, color], s.points[g, second, color]
    both = values[advanced(marker + one, other, limit)] + values[marker]
    return plan[1][0] * (both - values[advanced(marker, one, limit)] - values[advanced(marker, other, limit)])


@helper
def both_arrive(s: Games, t: Facts, g: int, track: int, first: int, second: int, a: int, b: int) -> Any:
    """Return 1 if both halves of a tile of two colors bring a marker of a track to a stop, else 0."""
    one, other = np.int64(s.points[g, first, a]), np.int64(s.points[g, second, b])
    return arrives(s, t, g, track, a, one) * arrives(s, t, g, track, b, other)


@helper
def arrives(s: Games, t: Facts, g: int, track: int, color: int, points: int) -> Any:
    """Return 1 if so many points bring a marker of a track to a stop, else 0."""
    marker: Any = np.int64(s.scores[g, track, color])
    return np.int64(arrived(t, marker, advanced(marker, points, furthest(t, marker))))


@helper
def choose(s: Games, t: Facts, g: int, plan: Arrays, m: Scratch, random: Any) -> Any:
    """Choose as the policy of a plan does."""
    if plan[1][0] == 0:
        return choose_uniformly(s, t, g, m, random)
    return choose_by_value(s, t, g, plan, m, random)


@Entry
def decide(
    state: Arrays,
    facts: Arrays,
    scratch: Arrays,
    plan: Arrays,
    rows: Array,
    random: Array,
    out: Array,
    lo: int,
    hi: int,
) -> None:
    """Write the actions that a policy chooses to out [G]; `random` are [G] random bits."""
    s, t, m = Games(*state), Facts(*facts), Scratch(*scratch)
    for i in range(lo, hi):
        out[i] = choose(s, t, rows[i], plan, m, random[i])


@Entry
def play_out(
    state: Arrays,
    facts: Arrays,
    scratch: Arrays,
    values: Array,
    weights: Array,
    keys: Array,
    script: Array,
    stuck: Array,
    lo: int,
    hi: int,
) -> int:
    """Play games to their ends, in place.

    Args:
        state: the arrays of the games.
        facts: of their rules.
        scratch: buffers.
        values: [P, ...] the marker values of each seat's plan.
        weights: [P, ...] the weights of each seat's plan.
        keys: [B, P] the keys of the random bits of the choices.
        script: of no scripted draws.
        stuck: [B] out: the action that was illegal.
        lo: the first row.
        hi: the row behind the last one.

    Returns:
        -1, or the first game in which the policy chose an illegal action.
    """
    s, t, m = Games(*state), Facts(*facts), Scratch(*scratch)
    for g in range(lo, hi):
        while s.phase[g] != OVER:
            seat = s.to_play[g]
            random = random_bits(keys[g, seat], s.decisions[g])
            action = choose(s, t, g, (values[seat], weights[seat]), m, random)
            if not is_legal(s, t, g, action):
                stuck[g] = action
                return g
            apply(s, t, g, action, script)
    return -1
