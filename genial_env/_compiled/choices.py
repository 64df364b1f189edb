"""Compiled implementation of :mod:`genial_env.policies.afterstates.choices`, which finds the same placements."""

from typing import Any, NamedTuple

import numpy as np

from genial_env._compiled.deciding import arrives, best_neighbours, both_arrive, correct_double, value_halves
from genial_env._compiled.handover import arrays, facts, share
from genial_env._compiled.jit import Entry, helper
from genial_env._compiled.primitives import Array, Arrays
from genial_env._compiled.rules import find_allowed_placements, holds, join_action, may_place
from genial_env._compiled.scratch import Scratch, per_thread, scratch
from genial_env.core.arrays import Ints
from genial_env.core.rules import Rules
from genial_env.core.scalar import Facts, Games
from genial_env.core.state import EMPTY
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.policies.afterstates import choices
from genial_env.policies.afterstates.states import make_states
from genial_env.policies.base import NONE
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.prior import STOP_VALUE


class Ranking(NamedTuple):
    """Scratch buffers of one thread."""

    values: Array  # [most] int64 the values of the best candidates
    allowed: Array  # [E + 1] uint16 the allowed placements
    ends: Array  # [2, E + 1] uint16 their cells
    behind: Array  # [E + 1] int64 the place of the next one with another first cell


@per_thread
def ranking_for(rules: Rules, most: int) -> Arrays:
    """Return the scratch buffers of this thread."""
    n_placements = tables(rules).n_placements
    made = Ranking(
        values=np.empty(most, np.int64),
        allowed=np.empty(n_placements + 1, np.uint16),
        ends=np.empty((2, n_placements + 1), np.uint16),
        behind=np.empty(n_placements + 1, np.int64),
    )
    return tuple(made)


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
    """Write the best distinct placements of each game, the best first, to out [G, most], which must hold -1.

    The prior is given by its plan, and what it adds for an arrival at a stop that earns a bonus placement.
    """
    s, t, m, r = Games(*state), Facts(*facts), Scratch(*scratch), Ranking(*buffers)
    for g in range(lo, hi):
        if may_place(s, g) and s.to_play[g] == 0:
            rank_one(s, t, g, plan, arrival, m, r, out[g])


@helper
def rank_one(s: Games, t: Facts, g: int, plan: Arrays, arrival: int, m: Scratch, r: Ranking, out: Array) -> Any:
    """Write the best distinct placements of seat 0, the best first, to out [most]; return how many there are.

    The best neighbour of a cell gives an upper bound for the placements that begin there. They are tried only where the
    bound is above the worst value so far.
    """
    n_free = value_halves(s, t, g, plan, m)
    add_arrivals(s, t, g, m, n_free, arrival)
    for color in range(t.n_colors):
        best_neighbours(t.width, m.halves[color], m.near[color])
    n_allowed = list_allowed(s, t, g, m, r)
    surplus = plan[1][8] + (arrival if t.bonuses_a_tile == 1 else 0)
    n_found, most = 0, len(out)
    for slot in range(t.n_slots):
        kind = s.racks[g, 0, slot]
        if kind == EMPTY or is_duplicate(s, g, slot):
            continue
        a, b = np.int64(t.kinds[kind, 0]), np.int64(t.kinds[kind, 1])
        slack = plan[1][7] + arrival if a == b else np.int64(0)
        i = np.int64(0)
        while i < n_allowed:
            placement: Any = np.int64(r.allowed[i])
            first, second = np.int64(r.ends[0, i]), np.int64(r.ends[1, i])
            here = np.int64(m.halves[a, t.grid_index[first]])
            if n_found == most and here + m.near[b, t.grid_index[first]] + slack <= r.values[most - 1]:
                i = r.behind[i]
                continue
            i += 1
            if a == b and first > second:
                continue
            value = here + m.halves[b, t.grid_index[second]]
            if a == b:
                value += correct_double(s, t, g, 0, plan, first, second, a)
                value += arrival * correct_arrivals(s, t, g, first, second, a)
            elif surplus != 0:
                value -= surplus * both_arrive(s, t, g, 0, first, second, a, b)
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
def list_allowed(s: Games, t: Facts, g: int, m: Scratch, r: Ranking) -> Any:
    """Write the allowed placements to `allowed`, their cells to `ends`, and `behind`; return how many there are."""
    find_allowed_placements(s, t, g, m.sets)
    n_allowed = 0
    for placement in range(t.n_placements):
        r.allowed[n_allowed] = placement
        r.ends[0, n_allowed], r.ends[1, n_allowed] = t.cells[placement, 0], t.cells[placement, 1]
        n_allowed += holds(m.sets[placement >> 6], placement)
    for i in range(n_allowed - 1, -1, -1):
        is_last = i == n_allowed - 1 or r.ends[0, i + 1] != r.ends[0, i]
        r.behind[i] = i + 1 if is_last else r.behind[i + 1]
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
            row[t.grid_index[cell]] += arrival * arrives(s, t, g, 0, color, np.int64(s.points[g, cell, color]))


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
    both = arrives(s, t, g, 0, color, one + other)
    return both - arrives(s, t, g, 0, color, one) - arrives(s, t, g, 0, color, other)


def arrival_value(rules: Rules) -> int:
    """Return what a prior adds for an arrival (:func:`genial_env.policies.prior.compute_prior_values`)."""
    return STOP_VALUE if rules.has_bonus else 0


@choices.rank_placements.compiled
def rank(threads: int, view: View, prior: HeuristicPolicy, out: Ints) -> None:
    """Compute it in compiled code; in numpy if the prior has no plan."""
    plan = prior.plan(view.rules)
    if plan is None:
        choices.rank_placements.numpy(view, prior, out)
        return
    rules, most = view.rules, out.shape[1]
    game = arrays(make_states(view)), facts(rules)
    order, found = (tuple(plan), arrival_value(rules)), np.full(out.shape, NONE)

    def work(lo: int, hi: int) -> None:
        rank_placements(*game, scratch(rules), ranking_for(rules, most), *order, found, lo, hi)

    share(threads, len(view), work)
    out[:] = found
