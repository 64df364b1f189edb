"""The compiled twin of :mod:`genial_env.policies.afterstates`: the same numbers for the backend "numba", some twenty
times as fast.

It plays candidates on a copy of one game with the package's compiled rules, and works out what cells are worth on a
grid with an edge around it, where all six neighbours are shifted slices (:mod:`genial_env._compiled.core`).
"""

import threading
from typing import Any, NamedTuple

import numpy as np

from genial_env._compiled import core
from genial_env._compiled.core import RULES, Scratch, best_neighbours, copy, tiles_held, value_halves, worth_of_both
from genial_env._compiled.handover import arrays, facts, scratch, share
from genial_env._compiled.jit import Entry, helper
from genial_env.core.bitsets import Ints
from genial_env.core.kernel import undealt
from genial_env.core.rules import Rules
from genial_env.core.scalar import BONUS, FIRST_STOP, OVER, PLACE, SWAP, Facts, Games
from genial_env.core.state import EMPTY, FREE
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.policies import afterstates
from genial_env.policies.afterstates import FIXED, NOTHING, THRESHOLDS, Afterstates
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.prior import STOP_VALUE

Array = Any
Arrays = tuple[Any, ...]

MOST_POINTS = max(THRESHOLDS)
lay, lacks_lowest, has_open, lowest_marker = (RULES[n] for n in ("lay", "lacks_lowest", "has_open", "lowest_marker"))


class Room(NamedTuple):
    """Memory for one thread. A place of the grid: :class:`~genial_env.core.scalar.Facts`."""

    cells: Array  # [N + 1] int16 the cells that a tile fits on
    points: Array  # [C, places] int16 what they offer; NOTHING elsewhere
    gains: Array  # [T, C, places] int16 what a half is worth to a track; NOTHING elsewhere
    near: Array  # [C, places] int16 the most that any neighbour has
    counts: Array  # [C, points] int16 cells by what they offer
    by_kind: Array  # [T, M] int16 what the best placement of a kind is worth to a track
    held: Array  # [M] int64 the tiles in hand
    order: Array  # [M] int64 kinds, the most worth first
    values: Array  # [most] int64 what the best candidates are worth


def make_room(rules: Rules, most: int) -> Arrays:
    """New memory for one thread."""
    t, places = tables(rules), (2 * rules.side + 1) ** 2
    return Room(
        cells=np.empty(t.n_cells + 1, np.int16),
        points=np.empty((rules.colors, places), np.int16),
        gains=np.empty((rules.tracks, rules.colors, places), np.int16),
        near=np.empty((rules.colors, places), np.int16),
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
    room: Arrays,
    plan: Arrays,
    arrival: int,
    out: Array,
    lo: int,
    hi: int,
) -> None:
    """The best distinct placements of each game, the best first, into out [G, most], of -1."""
    s, t, m, r = Games(*state), Facts(*facts), Scratch(*scratch), Room(*room)
    for g in range(lo, hi):
        if s.phase[g] > BONUS or s.to_play[g] != 0:
            continue
        core.find_allowed_placements(s, t, g, m.sets)
        value_halves(s, t, g, plan, m)
        n_found, most = 0, out.shape[1]
        for slot in range(t.n_slots):
            kind = s.racks[g, 0, slot]
            if kind == EMPTY or lies_earlier(s, g, slot):
                continue
            a, b = t.kinds[kind, 0], t.kinds[kind, 1]
            for placement in range(t.n_placements):
                if (m.sets[placement >> 6] >> (placement & 63)) & 1 == 0:
                    continue
                first, second = t.cells[placement, 0], t.cells[placement, 1]
                if a == b and first > second:
                    continue
                value = np.int64(m.halves[a, t.places[first]]) + m.halves[b, t.places[second]]
                if a == b:
                    value += worth_of_both(s, t, g, 0, plan, first, second, a)
                value += arrival * arrivals(s, t, g, first, second, a, b)
                if n_found == most and value <= r.values[most - 1]:
                    continue
                at = n_found if n_found < most else most - 1
                while at > 0 and r.values[at - 1] < value:
                    r.values[at], out[g, at] = r.values[at - 1], out[g, at - 1]
                    at -= 1
                r.values[at], out[g, at] = value, slot * t.n_placements + placement
                n_found = min(n_found + 1, most)


@helper
def lies_earlier(s: Games, g: int, slot: int) -> Any:
    """Whether the tile of a slot lies in an earlier one, too."""
    found = False
    for other in range(slot):
        found |= s.racks[g, 0, other] == s.racks[g, 0, slot]
    return found


@helper
def arrivals(s: Games, t: Facts, g: int, first: int, second: int, a: int, b: int) -> Any:
    """How many markers of seat 0 a tile would bring to a stop."""
    one, other = np.int64(s.points[g, first, a]), np.int64(s.points[g, second, b])
    if a == b:
        return arrives(s, t, g, a, one + other)
    return arrives(s, t, g, a, one) + arrives(s, t, g, b, other)


@helper
def arrives(s: Games, t: Facts, g: int, color: int, points: int) -> Any:
    """Whether so many points bring a marker of seat 0 to a stop: 0 or 1."""
    marker = np.int64(s.scores[g, 0, color])
    stop = np.int64(FIRST_STOP) if marker < FIRST_STOP else np.int64(t.top)
    return np.int64(marker < stop and marker + points >= stop)


# Afterstates


@Entry
def leave_and_look(
    state: Arrays,
    facts: Arrays,
    one: Arrays,
    room: Arrays,
    worth: Array,
    game: Array,
    actions: Array,
    others: Array,
    features: Array,
    over: Array,
    scores: Array,
    lo: int,
    hi: int,
) -> None:
    """The afterstates of actions [n] of some games [n]: features [n, W], over [n], scores [n, T, C].

    Args:
        state: G games, as :func:`genial_env.policies.afterstates.make_states` makes them.
        facts: of their rules.
        one: a state of one game, to play on.
        room: memory.
        worth: [top + 1] of a marker.
        game: [n].
        actions: [n].
        others: [G, P - 1] how many tiles the other seats hold.
        features: out, as are over and scores.
        over: see there.
        scores: see there.
        lo: the first to do.
        hi: behind the last.
    """
    s, t, o, r = Games(*state), Facts(*facts), Games(*one), Room(*room)
    for i in range(lo, hi):
        g = game[i]
        take_over(s, g, o)
        apply_without_draw(o, t, actions[i])
        over[i] = o.phase[0] == OVER
        for track in range(t.n_tracks):
            copy(o.scores[0, track], scores[i, track])
        observe(o, t, r, worth, others[g], features[i])


@helper
def take_over(s: Games, g: int, o: Games) -> None:
    """In place: make the one game a copy of another; what no view has is left as it is."""
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
def apply_without_draw(o: Games, t: Facts, action: int) -> None:
    """In place: as :func:`genial_env.core.kernel.apply_without_draw`."""
    n_placings = t.n_slots * t.n_placements
    if action < n_placings:
        slot = action // t.n_placements
        lay(o, t, 0, slot, action - slot * t.n_placements)
        settle(o, t)
    elif action == n_placings:
        for slot in range(t.n_slots):
            kind = o.racks[0, 0, slot]
            if kind != EMPTY:
                o.bag[0, kind] += 1
                o.racks[0, 0, slot] = EMPTY
        o.phase[0] = PLACE
    elif o.phase[0] == BONUS:
        o.pending_bonus[0] -= 1
        settle(o, t)
    else:
        o.phase[0] = PLACE


@helper
def settle(o: Games, t: Facts) -> None:
    """In place: what there is left to do after a placement made or declined."""
    if lowest_marker(o, t, 0, 0) == t.top or not has_open(o, t, 0):
        o.phase[0], o.pending_bonus[0] = OVER, 0
    elif o.pending_bonus[0] > 0 and tiles_held(o, t, 0, 0) > 0:
        o.phase[0] = BONUS
    else:
        o.pending_bonus[0] = 0
        o.phase[0] = SWAP if t.has_swap != 0 and lacks_lowest(o, t, 0) else PLACE


@helper
def observe(o: Games, t: Facts, r: Room, worth: Array, others: Array, out: Array) -> None:
    """The numbers of the one game: out [W], as :func:`genial_env.policies.afterstates.compute_features` makes them."""
    n_fitting, n_pairs, n_free = find_cells(o, t, r)
    offer(o, t, r, worth, n_fitting)
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
        track = (rival + 1) % t.n_tracks if t.n_players > 1 else 0
        size = np.int64(others[rival]) if t.n_players > 1 else np.int64(1)
        expected, most = expect(o, t, r, track, size)
        whole[at], whole[at + 1], whole[at + 2] = expected, most, size
        at += 3
    whole[at], whole[at + 1], whole[at + 2] = n_free, n_fitting, n_pairs
    whole[at + 3], whole[at + 4], whole[at + 5] = o.pending_bonus[0], n_held, o.phase[0] == SWAP


N_THRESHOLDS = len(THRESHOLDS)


@helper
def find_cells(o: Games, t: Facts, r: Room) -> Any:
    """The cells that a tile fits on, into `cells`; how many, how many pairs of free cells, and how many free cells."""
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
def offer(o: Games, t: Facts, r: Room, worth: Array, n_fitting: int) -> None:
    """What the cells that fit offer: into `points`, `counts` and `gains`."""
    for color in range(t.n_colors):
        row, counts = r.points[color], r.counts[color]
        for place in range(len(row)):
            row[place] = NOTHING
        for points in range(len(counts)):
            counts[points] = 0
        for i in range(n_fitting):
            cell = r.cells[i]
            offered = np.int64(o.points[0, cell, color])
            row[t.places[cell]] = offered
            counts[min(offered, MOST_POINTS)] += 1
        for track in range(t.n_tracks):
            gains, marker = r.gains[track, color], np.int64(o.scores[0, track, color])
            stop, now = (np.int64(FIRST_STOP) if marker < FIRST_STOP else np.int64(t.top)), np.int64(worth[marker])
            for place in range(len(gains)):
                gains[place] = NOTHING
            for i in range(n_fitting):
                cell = r.cells[i]
                gains[t.places[cell]] = worth[min(marker + o.points[0, cell, color], stop)] - now


@helper
def best_sum(width: int, first: Array, second: Array) -> Any:
    """The greatest sum on a place of the grid, at least 0."""
    one, other = first[width + 1 : len(first) - width - 1], second[width + 1 :]
    most = np.int16(0)
    for at in range(len(one)):
        most = max(most, np.int16(one[at] + other[at]))
    return np.int64(most)


@helper
def value_kinds(t: Facts, r: Room, track: int) -> None:
    """What the best placement of each kind is worth to a track, into `by_kind`."""
    for color in range(t.n_colors):
        best_neighbours(t.width, r.gains[track, color], r.near[color])
    for kind in range(t.n_kinds):
        a, b = t.kinds[kind, 0], t.kinds[kind, 1]
        r.by_kind[track, kind] = best_sum(t.width, r.gains[track, a], r.near[b])


@helper
def describe_color(o: Games, t: Facts, r: Room, color: int, n_rivals: int, out: Array) -> None:
    """The numbers of a color: out [F]."""
    at = 0
    for track in range(t.n_tracks):
        marker, lower = np.int64(o.scores[0, track, color]), np.int64(0)
        for other in range(t.n_colors):
            lower += o.scores[0, track, other] < marker
        out[at], out[at + 1] = marker, marker - lowest_marker(o, t, 0, track)
        out[at + 2], out[at + 3] = lower, marker == t.top
        at += 4
    marker = np.int64(o.scores[0, 0, color])
    out[at] = (np.int64(FIRST_STOP) if marker < FIRST_STOP else np.int64(t.top)) - marker
    at += 1
    at = count_cells(r.counts[color], out, at)
    row = r.points[color]
    most = np.int64(0)
    for place in range(len(row)):
        most = max(most, np.int64(row[place]))
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
        track = (rival + 1) % t.n_tracks if t.n_players > 1 else 0
        best = np.int64(0)
        for kind in range(t.n_kinds):
            if o.bag[0, kind] > 0 and (t.kinds[kind, 0] == color or t.kinds[kind, 1] == color):
                best = max(best, np.int64(r.by_kind[track, kind]))
        out[at + rival] = best


@helper
def count_cells(counts: Array, out: Array, at: int) -> Any:
    """How many cells offer at least so many points, for each threshold, into out from `at` on; where that ends."""
    for n in range(N_THRESHOLDS):
        total = np.int64(0)
        for points in range(THRESHOLDS[n], MOST_POINTS + 1):
            total += counts[points]
        out[at + n] = total
    return at + N_THRESHOLDS


@helper
def sort_markers(o: Games, t: Facts, out: Array) -> Any:
    """The markers of every track from the lowest up: out [T * C]; how many that are."""
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
def expect(o: Games, t: Facts, r: Room, track: int, size: int) -> Any:
    """The expected best of so many unseen tiles (``_expected_best`` there), and the most worth."""
    worth, total = r.by_kind[track], np.int64(0)
    for kind in range(t.n_kinds):
        total += o.bag[0, kind]
        at = kind
        while at > 0 and worth_if_unseen(o, worth, r.order[at - 1]) < worth_if_unseen(o, worth, kind):
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
        expected += worth_if_unseen(o, worth, kind) * (before - none)
        before = none
    return expected >> FIXED, worth_if_unseen(o, worth, r.order[0])


@helper
def worth_if_unseen(o: Games, worth: Array, kind: int) -> Any:
    """What a kind is worth, 0 where none is left."""
    return np.int64(worth[kind]) if o.bag[0, kind] > 0 else np.int64(0)


# Handing over


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
        rank_placements(*game, scratch(rules), _room(rules, most), tuple(plan), arrival, found, lo, hi)

    share(threads, len(view), work)
    out[:] = found


@afterstates.fill_afterstates.compiled
def fill_afterstates(threads: int, view: View, made: Afterstates) -> None:
    """Compute it in compiled code."""
    rules = view.rules
    game = arrays(afterstates.make_states(view)), facts(rules)
    others = np.ascontiguousarray(view.rack_sizes[:, 1:])
    wanted = made.game, made.actions, others, made.features, made.over.view(np.uint8), made.scores
    worth = afterstates.denial_marker_values(rules)

    def work(lo: int, hi: int) -> None:
        leave_and_look(*game, _one(rules), _room(rules, 1), worth, *wanted, lo, hi)

    share(threads, len(made), work)


class _Memory(threading.local):
    def __init__(self) -> None:
        self.rooms: dict[tuple[Rules, int], Arrays] = {}
        self.games: dict[Rules, Arrays] = {}


_memory = _Memory()


def _room(rules: Rules, most: int) -> Arrays:
    """This thread's memory to think with."""
    rooms = _memory.rooms
    if (rules, most) not in rooms:
        rooms[rules, most] = tuple(make_room(rules, most))
    return rooms[rules, most]


def _one(rules: Rules) -> Arrays:
    """This thread's game to play on."""
    games = _memory.games
    if rules not in games:
        games[rules] = arrays(undealt(rules).copy())
    return games[rules]
