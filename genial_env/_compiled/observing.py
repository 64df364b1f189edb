"""Compiled entry points of views and of the encoding "planes"."""

from collections import namedtuple
from typing import TYPE_CHECKING, Any

from genial_env._compiled.jit import Entry, helper
from genial_env._compiled.playing import write_mask, write_slots
from genial_env._compiled.primitives import Array, Arrays, copy, spread
from genial_env._compiled.rules import (
    add_hidden_tiles,
    find_allowed_placements,
    may_decline,
    may_swap,
    seat_after,
    steps_to_mover,
    tiles_held,
    track_of,
)
from genial_env._compiled.scratch import Scratch
from genial_env.core.scalar import OVER, Facts, Games
from genial_env.core.state import FREE
from genial_env.core.views import VIEW_SPECS, View
from genial_env.encodings.planes import PLANE_SPECS

VIEW_ARRAYS = tuple(name for name in VIEW_SPECS if name != "seat")
"""The arrays of a view that are computed here."""

if TYPE_CHECKING:
    ViewArrays = View  # it has the same attributes
    PlaneArrays = Any
else:
    ViewArrays = namedtuple("ViewArrays", VIEW_ARRAYS)
    PlaneArrays = namedtuple("PlaneArrays", PLANE_SPECS)


@Entry
def fill_views(
    state: Arrays, facts: Arrays, scratch: Arrays, rows: Array, seats: Array, out: Arrays, lo: int, hi: int
) -> None:
    """Write what seats see to the arrays `out` of views; `returned` and `levels` must be zeros.

    Args:
        state: the arrays of the games.
        facts: of their rules.
        scratch: buffers.
        rows: [G] row indices.
        seats: [G].
        out: the arrays named by VIEW_ARRAYS, [G, ...] each.
        lo: the first index in `rows`.
        hi: the index behind the last one.
    """
    s, t, m, v = Games(*state), Facts(*facts), Scratch(*scratch), ViewArrays(*out)
    for i in range(lo, hi):
        g, seat = rows[i], seats[i]
        copy(s.board[g], v.board[i])
        for cell in range(s.board.shape[1]):
            copy(s.points[g, cell], v.points[i, cell])
        copy(s.racks[g, seat], v.rack[i])
        show_seats(s, t, g, seat, v.scores[i], v.unseen[i], v.rack_sizes[i], v.has_placed[i])
        show_swaps(s, t, m, g, seat, v.returned[i], v.levels[i])
        v.to_play[i] = steps_to_mover(s, t, g, seat)
        v.phase[i] = s.phase[g]
        v.pending_bonus[i] = s.pending_bonus[g]
        show_choices(s, t, m, g, seat, v.slots[i])
        copy(m.flags, v.placements[i])
        v.may_swap[i] = s.to_play[g] == seat and may_swap(s, g)
        v.may_decline[i] = s.to_play[g] == seat and may_decline(s, t, g)


@helper
def show_choices(s: Games, t: Facts, m: Scratch, g: int, seat: int, slots: Array) -> None:
    """Write the factors of a seat's mask: to slots [K], and the placements open to the seat to play to `m.flags`."""
    write_slots(s, t, g, seat, slots)
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
    """Write what a view holds of each seat, the own first, to the rows of its arrays."""
    copy(s.bag[g], unseen)
    add_hidden_tiles(s, t, g, seat, unseen)
    for other in range(t.n_tracks):
        copy(s.scores[g, track_of(t, seat + other)], scores[other])
    for other in range(t.n_players):
        there = seat_after(t, seat, other)
        rack_sizes[other] = tiles_held(s, t, g, there)
        has_placed[other] = s.has_placed[g, there]


@helper
def show_swaps(s: Games, t: Facts, m: Scratch, g: int, seat: int, returned: Array, levels: Array) -> None:
    """Write what swaps have shown to returned [P, K, M] and levels [M, X], which must be zeros."""
    if s.swapped[g]:
        show_returned(s, t, m, g, seat, returned)
        for kind in range(t.n_kinds):
            copy(s.levels[g, kind], levels[kind])


@helper
def show_returned(s: Games, t: Facts, m: Scratch, g: int, seat: int, out: Array) -> None:
    """Write the array `returned` of a view to out [P, K, M]; of the others' slots the longest filled, with the highest
    sum, come first.
    """
    sums, slots = m.order[0], m.order[1]
    for other in range(t.n_players):
        there = seat_after(t, seat, other)
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
def fill_view_masks(
    facts: Arrays,
    slots: Array,
    placements: Array,
    swaps: Array,
    declines: Array,
    out: Array,
    lo: int,
    hi: int,
) -> None:
    """Write the masks of views to out [G, A] uint8 from their factors."""
    t = Facts(*facts)
    for i in range(lo, hi):
        write_mask(t, slots[i], placements[i], swaps[i], declines[i], out[i])


@helper
def draw_planes(
    t: Facts,
    grid_index: Array,
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
    """Write those fields of the encoding "planes" that are no plain copies of the view to arrays of zeros.

    Args:
        t: the facts of the rules.
        grid_index: [N] the index of each cell on the grid of the encoding.
        board: [N] of the view.
        points: [N, C] of the view.
        rack: [K] of the view.
        to_play: of the view.
        phase: of the view.
        grid: [L, H * H] the field "board".
        halves: [K, 2, C] the field "rack".
        movers: [P] the field "to_play".
        phases: [F] the field "phase".
    """
    for cell in range(len(t.grid_index)):
        index, color = grid_index[cell], board[cell]
        grid[0, index] = 1
        if FREE <= color < t.n_colors:
            grid[2 + color, index] = 1  # free, -1, is plane 1
        for other in range(t.n_colors):
            grid[2 + t.n_colors + other, index] = points[cell, other]
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
def encode_planes(facts: Arrays, grid_index: Array, view: Arrays, out: Arrays, lo: int, hi: int) -> None:
    """Apply :func:`draw_planes` to the arrays [G, ...] of views and observations."""
    t = Facts(*facts)
    board, points, rack, to_play, phase = view
    grid, halves, movers, phases = out
    for i in range(lo, hi):
        draw_planes(
            t, grid_index, board[i], points[i], rack[i], to_play[i], phase[i], grid[i], halves[i], movers[i], phases[i]
        )


@Entry
def observe_one(
    state: Arrays, facts: Arrays, scratch: Arrays, grid_index: Array, seat: int, planes: Arrays, mask: Array
) -> None:
    """Encode what a seat of the only game sees as "planes", without making a view.

    Args:
        state: the arrays of the game.
        facts: of its rules.
        scratch: buffers.
        grid_index: [N] the index of each cell on the grid of the encoding.
        seat: the seat.
        planes: the fields named by PLANE_SPECS, which must be zeros; the board's grid flattened.
        mask: [A] int8, the mask of the seat.
    """
    s, t, m, p = Games(*state), Facts(*facts), Scratch(*scratch), PlaneArrays(*planes)
    to_play, phase = steps_to_mover(s, t, 0, seat), s.phase[0]
    board, points, rack = s.board[0], s.points[0], s.racks[0, seat]
    draw_planes(t, grid_index, board, points, rack, to_play, phase, p.board, p.rack, p.to_play, p.phase)
    show_seats(s, t, 0, seat, p.markers, p.unseen, p.rack_sizes, p.has_placed)
    show_swaps(s, t, m, 0, seat, p.returned, p.levels)
    p.pending_bonus[0] = s.pending_bonus[0]
    show_choices(s, t, m, 0, seat, m.slots)
    swaps, declines = to_play == 0 and may_swap(s, 0), to_play == 0 and may_decline(s, t, 0)
    write_mask(t, m.slots, m.flags, swaps, declines, mask)
