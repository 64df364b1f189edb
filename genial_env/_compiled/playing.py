"""Compiled entry points of the kernel: deal, play, and find out what is legal.

Every entry point takes the arrays of a state and the facts of its rules as plain tuples, which numba unpacks twice as
fast as named ones, and works on the games ``rows[lo:hi]``, so that threads can share a batch.
"""

from genial_env._compiled.jit import Entry, helper
from genial_env._compiled.primitives import Array, Arrays, copy, spread
from genial_env._compiled.rules import (
    apply,
    fill_rack,
    find_allowed_placements,
    is_legal,
    may_decline,
    may_place,
    may_swap,
    run_from,
)
from genial_env._compiled.scratch import Scratch
from genial_env.core.scalar import Facts, Games
from genial_env.core.state import EMPTY, FREE


@Entry
def deal_racks(state: Arrays, facts: Arrays, rows: Array, script: Array, lo: int, hi: int) -> None:
    """Draw a tile for every empty slot, seat by seat, in place."""
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
    """Check that all actions are legal, or play them in place, or both.

    Args:
        state: the arrays of the games.
        facts: of their rules.
        rows: [G] row indices.
        actions: [G].
        scripts: [G, K] scripted draws, or [1, K] for all games.
        is_scripted: whether `scripts` has a row for each game.
        checks: whether to check legality.
        plays: whether to play.
        lo: the first index in `rows`.
        hi: the index behind the last one.

    Returns:
        -1, or the index of the first illegal action; then nothing has been played.
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
    """Play an action in the only game, in place, if it is legal; return whether it was."""
    s, t = Games(*state), Facts(*facts)
    if not is_legal(s, t, 0, action):
        return False
    apply(s, t, 0, action, script)
    return True


@Entry
def are_legal(state: Arrays, facts: Arrays, rows: Array, actions: Array, out: Array, lo: int, hi: int) -> None:
    """Write whether each action is legal to out [G]."""
    s, t = Games(*state), Facts(*facts)
    for i in range(lo, hi):
        out[i] = is_legal(s, t, rows[i], actions[i])


@Entry
def find_placement_sets(state: Arrays, facts: Arrays, rows: Array, out: Array, lo: int, hi: int) -> None:
    """Write the sets of placements that are open to the seat to play to out [G, W] int64."""
    s, t = Games(*state), Facts(*facts)
    for i in range(lo, hi):
        find_allowed_placements(s, t, rows[i], out[i])


@Entry
def fill_masks(state: Arrays, facts: Arrays, scratch: Arrays, rows: Array, out: Array, lo: int, hi: int) -> None:
    """Write the masks of legal actions to out [G, A] uint8."""
    s, t, m = Games(*state), Facts(*facts), Scratch(*scratch)
    for i in range(lo, hi):
        g = rows[i]
        write_slots(s, t, g, s.to_play[g], m.slots)
        if may_place(s, g):
            find_allowed_placements(s, t, g, m.sets)
            spread(m.sets, m.flags)
        write_mask(t, m.slots, m.flags, may_swap(s, g), may_decline(s, t, g), out[i])


@helper
def write_slots(s: Games, t: Facts, g: int, seat: int, out: Array) -> None:
    """Write the slots that a seat may place a tile from now to out [K]."""
    places_now = s.to_play[g] == seat and may_place(s, g)
    for slot in range(t.n_slots):
        out[slot] = places_now and s.racks[g][seat, slot] != EMPTY


@helper
def write_mask(t: Facts, slots: Array, placements: Array, swaps: bool, declines: bool, out: Array) -> None:
    """Write a mask to out [A] from its factors: slots [K], placements [E or more], and whether to swap or decline."""
    n = t.n_placements
    for slot in range(t.n_slots):
        part = out[slot * n : (slot + 1) * n]
        if slots[slot]:
            copy(placements, part)
        else:
            for placement in range(n):
                part[placement] = 0
    if t.has_swap != 0:
        out[t.swap_action] = swaps
        out[t.decline_action] = declines


@Entry
def count_points(facts: Arrays, boards: Array, out: Array, lo: int, hi: int) -> None:
    """Add up the points maps of boards [B, N] in out [B, N, C], which must be zeros."""
    t = Facts(*facts)
    for g in range(lo, hi):
        board = boards[g]
        for cell in range(len(t.grid_index)):
            if board[cell] != FREE:
                continue
            for direction in range(6):
                neighbour = t.rays[cell, direction, 0]
                color = board[neighbour] if neighbour >= 0 else FREE
                if 0 <= color < t.n_colors:
                    run, _ = run_from(t, board, cell, direction, color)
                    out[g, cell, color] += run
