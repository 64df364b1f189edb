"""What numba compiles: the rules of :mod:`genial_env.core.scalar` over many games; masks, views and planes filled in;
decisions of the named policies; whole playouts.

Every entry takes the arrays of a State and the facts of its rules as plain tuples, which numba unpacks twice as fast as
named ones, and works on the games ``rows[lo:hi]``, so that threads can share a batch. Nothing here makes an array:
:func:`make_scratch` does, for every thread its own.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from genial_env._compiled.jit import Entry, compiled_functions, helper
from genial_env.core import chance, scalar
from genial_env.core.rules import Rules
from genial_env.core.scalar import BONUS, FIRST_STOP, OVER, SWAP, Facts, Games, facts_of
from genial_env.core.state import EMPTY, FREE
from genial_env.policies.heuristic import MOST_EXTRA

Array = Any
"""A numpy array in compiled code."""

Arrays = tuple[Any, ...]
"""A named tuple of arrays, as a plain one."""

STEP, MULTIPLIER_1, MULTIPLIER_2 = chance.STEP, chance.MULTIPLIER_1, chance.MULTIPLIER_2
U1, U27, U30, U31, U32 = (np.uint64(n) for n in (1, 27, 30, 31, 32))

NOTHING = -(1 << 29)
"""Less than any value, and twice it still fits in an int32."""


class Scratch(NamedTuple):
    """Memory for one thread to think with. A place of the grid: :class:`~genial_env.core.scalar.Facts`."""

    sets: Array  # [W] int64 placements
    flags: Array  # [64 W] uint8 the same, one by one
    slots: Array  # [K] bool
    order: Array  # [2, K] int64
    halves: Array  # [C, places] int32 what laying a half is worth; NOTHING where it cannot lie
    near: Array  # [C, places] int32 the most that any neighbour is worth
    slopes: Array  # [C, places] int32 what one point more is worth, as the weights have it
    extra: Array  # [C, places] int32 what a half counts for besides its points
    cells: Array  # [N + 1] uint16 the free cells
    mosts: Array  # [K] int64 the most that the tile of a slot can be worth
    found: Array  # [K * E] int32 the best actions


def make_scratch(rules: Rules) -> Arrays:
    """New memory for one thread."""
    t = facts_of(rules)
    grid = (t.n_colors, t.width * t.width)
    return Scratch(
        sets=np.empty(t.n_words, np.int64),
        flags=np.empty(t.n_words * 64, np.uint8),
        slots=np.empty(t.n_slots, np.bool_),
        order=np.empty((2, t.n_slots), np.int64),
        halves=np.empty(grid, np.int32),
        near=np.empty(grid, np.int32),
        slopes=np.empty(grid, np.int32),
        extra=np.empty(grid, np.int32),
        cells=np.empty(len(t.places) + 1, np.uint16),
        mosts=np.empty(t.n_slots, np.int64),
        found=np.empty(t.n_slots * t.n_placements, np.int32),
    )


def _popcount(typing: Any, word: Any) -> Any:
    """The number of ones in an int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


popcount: Any = intrinsic(_popcount)


@helper
def random_bits(key: int, counter: int) -> Any:
    """As :func:`genial_env.core.chance.bits`: a uint64."""
    x = np.uint64(key) + (np.uint64(counter) + U1) * STEP
    x ^= x >> U30
    x *= MULTIPLIER_1
    x ^= x >> U27
    x *= MULTIPLIER_2
    x ^= x >> U31
    return x


@helper
def below(random: Any, limit: int) -> Any:
    """As :func:`genial_env.core.chance.below`."""
    return (np.int64(random >> U32) * limit) >> 32


@helper
def luck(key: int, counter: int) -> Any:
    """As :func:`genial_env.core.scalar.luck`."""
    return np.int64(random_bits(key, counter) >> U32)


RULES = compiled_functions(scalar, luck=luck)
"""The functions of :mod:`genial_env.core.scalar` for compiled functions, by name."""

apply, is_legal, fill_rack = RULES["apply"], RULES["is_legal"], RULES["fill_rack"]
may_place, may_swap, may_decline = RULES["may_place"], RULES["may_swap"], RULES["may_decline"]
find_allowed_placements, add_hidden_tiles = RULES["find_allowed_placements"], RULES["add_hidden_tiles"]
is_bound_by_first_turn = RULES["is_bound_by_first_turn"]
tiles_held, run_from = RULES["tiles_held"], RULES["run_from"]


@helper
def copy(source: Array, out: Array) -> None:
    """The first numbers of `source` into `out` [n], one by one: numba's own copying of arrays may want to put the
    source aside, and has no memory for that (:func:`genial_env._compiled.jit.helper`).
    """
    for i in range(len(out)):
        out[i] = source[i]


# The kernel


@Entry
def deal_racks(state: Arrays, facts: Arrays, rows: Array, script: Array, lo: int, hi: int) -> None:
    """In place: draw a tile for every empty slot, seat by seat."""
    s, t = Games(*state), Facts(*facts)
    for i in range(lo, hi):
        for seat in range(t.n_players):
            fill_rack(s, t, rows[i], seat, script)


@Entry
def play(
    state: Arrays,
    facts: Arrays,
    rows: Array,
    actions: Array,
    scripts: Array,
    is_scripted: bool,
    checks: bool,
    plays: bool,
    lo: int,
    hi: int,
) -> int:
    """In place: check that all actions are legal, or play them, or both: -1, or the place of the first illegal action,
    and then nothing has changed. scripts are [G, K], or [1, K] for all.
    """
    s, t = Games(*state), Facts(*facts)
    if checks:
        for i in range(lo, hi):
            if not is_legal(s, t, rows[i], actions[i]):
                return i
    if plays:
        for i in range(lo, hi):
            apply(s, t, rows[i], actions[i], scripts[i if is_scripted else 0])
    return -1


@Entry
def play_one(state: Arrays, facts: Arrays, action: int, script: Array) -> bool:
    """In place: play an action in the one game, if it is legal; whether it was."""
    s, t = Games(*state), Facts(*facts)
    if not is_legal(s, t, 0, action):
        return False
    apply(s, t, 0, action, script)
    return True


@Entry
def are_legal(state: Arrays, facts: Arrays, rows: Array, actions: Array, out: Array, lo: int, hi: int) -> None:
    """Which actions may be played: out [G]."""
    s, t = Games(*state), Facts(*facts)
    for i in range(lo, hi):
        out[i] = is_legal(s, t, rows[i], actions[i])


@Entry
def open_placements(state: Arrays, facts: Arrays, rows: Array, out: Array, lo: int, hi: int) -> None:
    """The placements open to any tile, as bitsets: out [G, W] int64."""
    s, t = Games(*state), Facts(*facts)
    for i in range(lo, hi):
        find_allowed_placements(s, t, rows[i], out[i])


@helper
def spread(sets: Array, flags: Array) -> None:
    """The bits of a set [W] as bytes: flags [64 W]."""
    for word in range(len(sets)):
        bits, part = sets[word], flags[word << 6 : (word + 1) << 6]
        for bit in range(64):
            part[bit] = (bits >> bit) & 1


@helper
def write_mask(t: Facts, slots: Array, placements: Array, may_swap: bool, declinable: bool, out: Array) -> None:
    """A mask [A] of bytes from its factors: slots [K] and placements [E or more]."""
    n = t.n_placements
    for slot in range(t.n_slots):
        part = out[slot * n : (slot + 1) * n]
        if slots[slot]:
            copy(placements, part)
        else:
            for placement in range(n):
                part[placement] = 0
    if t.has_swap != 0:
        out[t.n_slots * n] = may_swap
        out[t.n_slots * n + 1] = declinable


@Entry
def fill_masks(state: Arrays, facts: Arrays, scratch: Arrays, rows: Array, out: Array, lo: int, hi: int) -> None:
    """The full masks: out [G, A] uint8."""
    s, t, m = Games(*state), Facts(*facts), Scratch(*scratch)
    for i in range(lo, hi):
        g = rows[i]
        seat, places_now = s.to_play[g], may_place(s, g)
        for slot in range(t.n_slots):
            m.slots[slot] = places_now and s.racks[g, seat, slot] != EMPTY
        if places_now:
            find_allowed_placements(s, t, g, m.sets)
            spread(m.sets, m.flags)
        write_mask(t, m.slots, m.flags, may_swap(s, g), may_decline(s, t, g), out[i])


@Entry
def count_points(facts: Arrays, boards: Array, out: Array, lo: int, hi: int) -> None:
    """The points maps of boards [B, N] from scratch: out [B, N, C], zeros before."""
    t = Facts(*facts)
    for g in range(lo, hi):
        for cell in range(len(t.places)):
            if boards[g, cell] != FREE:
                continue
            for direction in range(6):
                beyond, run = t.rays[cell, direction, 0], 0
                color = boards[g, beyond] if beyond >= 0 else FREE
                if not 0 <= color < t.n_colors:
                    continue
                while beyond >= 0 and boards[g, beyond] == color:
                    run += 1
                    beyond = t.rays[cell, direction, run]
                out[g, cell, color] += run


# Views and planes


class ViewArrays(NamedTuple):
    """The arrays of a :class:`~genial_env.core.views.View` that are worked out."""

    board: Array
    points: Array
    scores: Array
    rack: Array
    unseen: Array
    returned: Array
    levels: Array
    rack_sizes: Array
    has_placed: Array
    to_play: Array
    phase: Array
    pending_bonus: Array
    slots: Array
    placements: Array
    may_swap: Array
    may_decline: Array


@Entry
def fill_views(
    state: Arrays, facts: Arrays, scratch: Arrays, rows: Array, seats: Array, seen: Arrays, lo: int, hi: int
) -> None:
    """What seats see, into the arrays of :class:`ViewArrays`; `returned` and `levels` of zeros."""
    s, t, m, v = Games(*state), Facts(*facts), Scratch(*scratch), ViewArrays(*seen)
    for i in range(lo, hi):
        g, seat = rows[i], seats[i]
        copy(s.board[g], v.board[i])
        for cell in range(s.board.shape[1]):
            copy(s.points[g, cell], v.points[i, cell])
        copy(s.racks[g, seat], v.rack[i])
        show_seats(s, t, g, seat, v.scores[i], v.unseen[i], v.rack_sizes[i], v.has_placed[i])
        show_swaps(s, t, m, g, seat, v.returned[i], v.levels[i])
        v.to_play[i] = seats_on(s, t, g, seat)
        v.phase[i] = s.phase[g]
        v.pending_bonus[i] = s.pending_bonus[g]
        show_choices(s, t, m, g, seat, v.slots[i])
        copy(m.flags, v.placements[i])
        v.may_swap[i] = s.to_play[g] == seat and may_swap(s, g)
        v.may_decline[i] = s.to_play[g] == seat and may_decline(s, t, g)


@helper
def seats_on(s: Games, t: Facts, g: int, seat: int) -> Any:
    """How many seats on from a seat the seat to play is."""
    return (s.to_play[g] - seat + t.n_players) % t.n_players


@helper
def show_choices(s: Games, t: Facts, m: Scratch, g: int, seat: int, slots: Array) -> None:
    """The factors of a seat's mask: into slots [K], and the placements open to the seat to play into `flags`."""
    places_now = s.to_play[g] == seat and may_place(s, g)
    for slot in range(t.n_slots):
        slots[slot] = places_now and s.racks[g, seat, slot] != EMPTY
    find_allowed_placements(s, t, g, m.sets)
    spread(m.sets, m.flags)


@helper
def show_seats(
    s: Games,
    t: Facts,
    g: int,
    seat: int,
    scores: Array,
    unseen: Array,
    rack_sizes: Array,
    has_placed: Array,
) -> None:
    """What a view says seat by seat, the own first, into its rows."""
    copy(s.bag[g], unseen)
    add_hidden_tiles(s, t, g, seat, unseen)
    for other in range(t.n_tracks):
        copy(s.scores[g, (seat + other) % t.n_tracks], scores[other])
    for other in range(t.n_players):
        there = (seat + other) % t.n_players
        rack_sizes[other] = tiles_held(s, t, g, there)
        has_placed[other] = s.has_placed[g, there]


@helper
def show_swaps(s: Games, t: Facts, m: Scratch, g: int, seat: int, returned: Array, levels: Array) -> None:
    """What swaps have told, as a view has it: into returned [P, K, M] and levels [M, X], which hold zeros."""
    if s.swapped[g]:
        show_returned(s, t, m, g, seat, returned)
        for kind in range(t.n_kinds):
            copy(s.levels[g, kind], levels[kind])


@helper
def show_returned(s: Games, t: Facts, m: Scratch, g: int, seat: int, out: Array) -> None:
    """`returned` as a view has it, out [P, K, M]: others' slots with the oldest tile, of the highest sum, first."""
    sums, slots = m.order[0], m.order[1]
    for other in range(t.n_players):
        there = (seat + other) % t.n_players
        for slot in range(t.n_slots):
            total = 0
            for kind in range(t.n_kinds):
                total += s.returned[g, there, slot, kind]
            at = slot
            while other > 0 and at > 0 and sums[at - 1] < total:
                sums[at], slots[at] = sums[at - 1], slots[at - 1]
                at -= 1
            sums[at], slots[at] = total, slot
        for slot in range(t.n_slots):
            copy(s.returned[g, there, slots[slot]], out[other, slot])


@Entry
def masks_of(
    facts: Arrays,
    slots: Array,
    placements: Array,
    may_swap: Array,
    declinable: Array,
    out: Array,
    lo: int,
    hi: int,
) -> None:
    """The full masks of views: out [G, A] uint8."""
    t = Facts(*facts)
    for i in range(lo, hi):
        write_mask(t, slots[i], placements[i], may_swap[i], declinable[i], out[i])


@helper
def draw_planes(
    t: Facts,
    places: Array,
    board: Array,
    points: Array,
    rack: Array,
    to_play: int,
    phase: int,
    grid: Array,
    halves: Array,
    movers: Array,
    phases: Array,
) -> None:
    """Those fields of the encoding "planes" that are not just numbers of the view, into rows of zeros.

    Args:
        t: the facts of the rules.
        places: [N] where the cells stand on the encoding's grid.
        board: [N] of a view, as are points [N, C], rack [K], to_play and phase.
        points: see there.
        rack: see there.
        to_play: see there.
        phase: see there.
        grid: [2 + 2C, grid] the field "board".
        halves: [K, 2, C] the field "rack".
        movers: [P] the field "to_play".
        phases: [4] the field "phase".
    """
    for cell in range(len(t.places)):
        place, color = places[cell], board[cell]
        grid[0, place] = 1
        if FREE <= color < t.n_colors:
            grid[2 + color, place] = 1  # free, -1, is plane 1
        for other in range(t.n_colors):
            grid[2 + t.n_colors + other, place] = points[cell, other]
    for slot in range(t.n_slots):
        kind = rack[slot]
        if 0 <= kind < t.n_kinds:
            halves[slot, 0, t.kinds[kind, 0]] = 1
            halves[slot, 1, t.kinds[kind, 1]] = 1
    if 0 <= to_play < t.n_players:
        movers[to_play] = 1
    if 0 <= phase <= OVER:
        phases[phase] = 1


@Entry
def encode_planes(facts: Arrays, places: Array, view: Arrays, out: Arrays, lo: int, hi: int) -> None:
    """As :func:`draw_planes`, from the arrays [G, ...] of views into those of observations."""
    t = Facts(*facts)
    board, points, rack, to_play, phase = view
    grid, halves, movers, phases = out
    for i in range(lo, hi):
        draw_planes(
            t, places, board[i], points[i], rack[i], to_play[i], phase[i], grid[i], halves[i], movers[i], phases[i]
        )


class Planes(NamedTuple):
    """The fields of the encoding "planes" of one game, in its order."""

    board: Array  # [2 + 2C, grid]
    rack: Array
    markers: Array
    unseen: Array
    returned: Array
    levels: Array
    rack_sizes: Array
    has_placed: Array
    to_play: Array
    phase: Array
    pending_bonus: Array


@Entry
def observe_one(
    state: Arrays, facts: Arrays, scratch: Arrays, places: Array, seat: int, planes: Arrays, mask: Array
) -> None:
    """The encoding "planes" of what a seat of the one game sees, into the arrays of :class:`Planes`, of zeros, and its
    mask [A] int8.
    """
    s, t, m, p = Games(*state), Facts(*facts), Scratch(*scratch), Planes(*planes)
    to_play, phase = seats_on(s, t, 0, seat), s.phase[0]
    board, points, rack = s.board[0], s.points[0], s.racks[0, seat]
    draw_planes(t, places, board, points, rack, to_play, phase, p.board, p.rack, p.to_play, p.phase)
    show_seats(s, t, 0, seat, p.markers, p.unseen, p.rack_sizes, p.has_placed)
    show_swaps(s, t, m, 0, seat, p.returned, p.levels)
    p.pending_bonus[0] = s.pending_bonus[0]
    show_choices(s, t, m, 0, seat, m.slots)
    swappable, declinable = to_play == 0 and may_swap(s, 0), to_play == 0 and may_decline(s, t, 0)
    write_mask(t, m.slots, m.flags, swappable, declinable, mask)


# Decisions


@helper
def nth_member(sets: Array, n: int) -> Any:
    """The n-th member (from 0) of a set [W] that has more."""
    word, held = 0, popcount(sets[0])
    while n >= held:
        n -= held
        word += 1
        held = popcount(sets[word])
    bits, at, width = sets[word], np.int64(word << 6), 32
    while width > 0:
        low = popcount(bits & ((np.int64(1) << width) - 1))
        if n >= low:
            n -= low
            bits >>= width
            at += width
        width >>= 1
    return at


@helper
def choose_uniformly(s: Games, t: Facts, g: int, m: Scratch, random: Any) -> Any:
    """As :class:`~genial_env.policies.uniform.RandomPolicy`."""
    phase, seat, swap_action = s.phase[g], s.to_play[g], np.int64(t.n_slots * t.n_placements)
    swaps, declines = np.int64(phase == SWAP), np.int64(may_decline(s, t, g))
    n_slots, n_placements = np.int64(0), np.int64(0)
    if phase <= BONUS:
        n_slots = np.int64(tiles_held(s, t, g, seat))
        find_allowed_placements(s, t, g, m.sets)
        for word in range(t.n_words):
            n_placements += popcount(m.sets[word])
    n_placings = n_slots * n_placements
    choice = below(random, n_placings + swaps + declines)
    if choice >= n_placings:
        return swap_action + 1 if choice - n_placings < declines else swap_action
    nth_slot, slot = choice // n_placements, -1
    while nth_slot >= 0:
        slot += 1
        if s.racks[g, seat, slot] != EMPTY:
            nth_slot -= 1
    return slot * t.n_placements + nth_member(m.sets, choice % n_placements)


@helper
def value_halves(s: Games, t: Facts, g: int, plan: Arrays, m: Scratch) -> Any:
    """What laying a half is worth, by color and place of its cell on the grid, into `halves`: NOTHING where it cannot
    lie. As the values of :class:`~genial_env.policies.heuristic.HeuristicPolicy`.

    Returns:
        How many cells are free; their numbers are in `cells`.
    """
    worth, weights = plan
    track, weight = s.to_play[g] % t.n_tracks, weights[0]
    n_free = 0
    for cell in range(s.board.shape[1]):
        m.cells[n_free] = cell
        n_free += s.board[g, cell] == FREE
    for color in range(t.n_colors):
        marker = np.int64(s.scores[g, track, color])
        stop, now = (FIRST_STOP if marker < FIRST_STOP else t.top), worth[marker]
        row = m.halves[color]
        for place in range(len(row)):
            row[place] = NOTHING
        for i in range(n_free):
            cell = m.cells[i]
            row[t.places[cell]] = weight * (worth[min(marker + s.points[g, cell, color], stop)] - now)
    if looks_further(weights):
        look_further(s, t, g, plan, n_free, m)
    return n_free


@helper
def looks_further(weights: Array) -> Any:
    """Whether anything counts besides points."""
    found = False
    for i in range(1, len(weights) - 1):
        found |= weights[i] != 0
    return found


@helper
def look_further(s: Games, t: Facts, g: int, plan: Arrays, n_free: int, m: Scratch) -> None:
    """In place: add what covering a cell takes from the others and from oneself, and what a color opens on the cells at
    the ends of its lines.
    """
    halves, slopes, extra = m.halves, m.slopes, m.extra
    worth, weights = plan
    opened, opened_to_others = weights[3], weights[4]
    own_track = s.to_play[g] % t.n_tracks
    for color in range(t.n_colors):
        for place in range(slopes.shape[1]):
            slopes[color, place] = 0
            extra[color, place] = 0
    for track in range(t.n_tracks):
        own = track == own_track
        per_all, per_most = (-weights[5], -weights[6]) if own else (weights[1], weights[2])
        for i in range(n_free):
            cell, place = m.cells[i], t.places[m.cells[i]]
            in_all, most = np.int64(0), np.int64(NOTHING)
            for color in range(t.n_colors):
                marker = np.int64(s.scores[g, track, color])
                stop = FIRST_STOP if marker < FIRST_STOP else t.top
                after = min(marker + s.points[g, cell, color], stop)
                slope = worth[min(after + 1, stop)] - worth[after]
                slopes[color, place] += opened * slope if own else -opened_to_others * slope
                gain = worth[after] - worth[marker]
                in_all += gain
                most = max(most, gain)
            for color in range(t.n_colors):
                extra[color, place] += per_all * in_all + per_most * most
    for color in range(t.n_colors):
        add_neighbours(t.width, slopes[color], extra[color])
    for i in range(n_free):
        cell, place = m.cells[i], t.places[m.cells[i]]
        for direction in range(6):
            beyond = t.rays[cell, direction, 0]
            if beyond < 0 or s.board[g, beyond] == FREE:
                continue
            color = s.board[g, beyond]
            run, end = run_from(s, t, g, cell, direction, color)
            back, back_end = run_from(s, t, g, cell, (direction + 3) % 6, color)
            if end >= 0:
                extra[color, place] += slopes[color, t.places[end]] * (1 + back)
            if back == 0 and back_end >= 0:
                extra[color, place] += slopes[color, t.places[back_end]] * run
        for color in range(t.n_colors):
            halves[color, place] += min(max(extra[color, place], -MOST_EXTRA), MOST_EXTRA)


@helper
def add_neighbours(width: int, row: Array, out: Array) -> None:
    """In place: add to each place of the grid what is on the six around it."""
    a, b, c, d, e, f = around(width, row)
    inner = out[width + 1 :]
    for at in range(len(a)):
        inner[at] += a[at] + b[at] + c[at] + d[at] + e[at] + f[at]


@helper
def choose_by_worth(s: Games, t: Facts, g: int, plan: Arrays, m: Scratch, random: Any) -> Any:
    """As :class:`~genial_env.policies.heuristic.HeuristicPolicy`."""
    if s.phase[g] == SWAP:
        return np.int64(t.n_slots * t.n_placements)
    n_free = value_halves(s, t, g, plan, m)
    if is_bound_by_first_turn(s, t, g):
        find_allowed_placements(s, t, g, m.sets)
        n_found = best_of_set(s, t, g, plan, m)
    else:
        n_found = best_of_all(s, t, g, plan, n_free, m)
    return np.int64(m.found[below(random, n_found)]) if n_found > 0 else np.int64(0)


@helper
def best_of_set(s: Games, t: Facts, g: int, plan: Arrays, m: Scratch) -> Any:
    """The best actions that lay a tile on one of a set of placements, into `found`: how many."""
    halves, found = m.halves, m.found
    seat = s.to_play[g]
    best, n_found = np.int64(NOTHING), np.int64(0)
    for slot in range(t.n_slots):
        kind = s.racks[g, seat, slot]
        if kind == EMPTY:
            continue
        a, b = t.kinds[kind, 0], t.kinds[kind, 1]
        for placement in range(t.n_placements):
            if (m.sets[placement >> 6] >> (placement & 63)) & 1 == 0:
                continue
            first, second = t.cells[placement, 0], t.cells[placement, 1]
            value = np.int64(halves[a, t.places[first]]) + halves[b, t.places[second]]
            if a == b:
                value += worth_of_both(s, t, g, seat % t.n_tracks, plan, first, second, a)
            if value > best:
                best, n_found = value, np.int64(0)
            if value == best:
                found[n_found] = slot * t.n_placements + placement
                n_found += 1
    return n_found


@helper
def best_of_all(s: Games, t: Facts, g: int, plan: Arrays, n_free: int, m: Scratch) -> Any:
    """The best actions that lay a tile on any open placement, into `found`: how many.

    The second half of a tile goes on the best free neighbour of its first, whatever that one scores. So the best
    neighbour is found once for every cell and color, and tells how much each tile can be worth on each first cell;
    placements are looked at only where that is as much as the best so far.
    """
    halves, near, found = m.halves, m.near, m.found
    seat = s.to_play[g]
    for color in range(t.n_colors):
        best_neighbours(t.width, halves[color], near[color])
    best, slack_of_double = np.int64(NOTHING), plan[1][7]
    for slot in range(t.n_slots):
        kind, most = s.racks[g, seat, slot], np.int64(NOTHING)
        if kind != EMPTY:
            a, b = t.kinds[kind, 0], t.kinds[kind, 1]
            most = most_of(t.width, halves[a], near[b])
            if a != b:
                best = max(best, most)
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
            first, place = m.cells[i], t.places[m.cells[i]]
            most = np.int64(halves[a, place]) + near[b, place] + slack
            if most < best or most < NOTHING >> 1:
                continue
            for direction in range(6):
                second = t.rays[first, direction, 0]
                if second < 0 or s.board[g, second] != FREE:
                    continue
                value = np.int64(halves[a, place]) + halves[b, t.places[second]]
                if a == b:
                    value += worth_of_both(s, t, g, seat % t.n_tracks, plan, first, second, a)
                if value > best:
                    best, n_found = value, np.int64(0)
                if value == best:
                    found[n_found] = slot * t.n_placements + t.placement_of[first, direction]
                    n_found += 1
    return n_found


@helper
def around(width: int, row: Array) -> Arrays:
    """The grid but for its first and last places, shifted to each of the six neighbours: of slices from 0 on numba sees
    that no index is negative, and works out many places at once.
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
    """For each place of the grid the most that is on the six around it."""
    a, b, c, d, e, f = around(width, row)
    inner = out[width + 1 :]
    for at in range(len(a)):
        inner[at] = max(max(max(a[at], b[at]), max(c[at], d[at])), max(e[at], f[at]))


@helper
def most_of(width: int, first: Array, second: Array) -> Any:
    """The greatest sum on a place of the grid."""
    one, other = first[width + 1 : len(first) - width - 1], second[width + 1 :]
    most = np.int32(NOTHING)
    for at in range(len(one)):
        most = max(most, np.int32(one[at] + other[at]))
    return np.int64(most)


@helper
def worth_of_both(s: Games, t: Facts, g: int, track: int, plan: Arrays, first: int, second: int, color: int) -> Any:
    """What is to be added for a double to the worths of its halves, as its marker moves by both together."""
    worth = plan[0]
    marker = np.int64(s.scores[g, track, color])
    stop = FIRST_STOP if marker < FIRST_STOP else t.top
    one, other = s.points[g, first, color], s.points[g, second, color]
    both = worth[min(marker + one + other, stop)] + worth[marker]
    return plan[1][0] * (both - worth[min(marker + one, stop)] - worth[min(marker + other, stop)])


@helper
def choose(s: Games, t: Facts, g: int, plan: Arrays, m: Scratch, random: Any) -> Any:
    """The action of the policy with this :class:`~genial_env.policies.base.Plan`."""
    if plan[1][0] == 0:
        return choose_uniformly(s, t, g, m, random)
    return choose_by_worth(s, t, g, plan, m, random)


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
    """What a policy plays: out [G]."""
    s, t, m = Games(*state), Facts(*facts), Scratch(*scratch)
    for i in range(lo, hi):
        out[i] = choose(s, t, rows[i], plan, m, random[i])


@Entry
def play_out(
    state: Arrays,
    facts: Arrays,
    scratch: Arrays,
    worths: Array,
    weights: Array,
    keys: Array,
    script: Array,
    stuck: Array,
    lo: int,
    hi: int,
) -> int:
    """In place: play games to their ends; worths and weights have a row for each seat's plan, keys are [B, P].

    Returns:
        -1, or the first game in which there was nothing to play; what was tried is in stuck [B].
    """
    s, t, m = Games(*state), Facts(*facts), Scratch(*scratch)
    for g in range(lo, hi):
        while s.phase[g] != OVER:
            seat = s.to_play[g]
            random = random_bits(keys[g, seat], s.decisions[g])
            action = choose(s, t, g, (worths[seat], weights[seat]), m, random)
            if not is_legal(s, t, g, action):
                stuck[g] = action
                return g
            apply(s, t, g, action, script)
    return -1
