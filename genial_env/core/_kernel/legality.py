"""Find out which actions are legal."""

import numpy as np

from genial_env.backends import AnyBackend, accelerated
from genial_env.core import actions as action_words
from genial_env.core import bitsets
from genial_env.core._kernel.rows import as_actions, as_rows, flat, mover_index, own_racks, pick
from genial_env.core.arrays import Bitsets, Bools, Ints
from genial_env.core.state import EMPTY, FREE, Phase, State

_BONUS, _SWAP = int(Phase.BONUS), int(Phase.SWAP)  # numpy compares plain numbers faster


# The factors of the mask


def legal_slots(state: State, rows: Ints | None = None) -> Bools:
    """Return the slots to place a tile from: [G, K]; none where the decision is not a placement.

    With :func:`legal_placements` this is the mask of a placement in two factors.
    """
    filled: Bools = (own_racks(state, rows) != EMPTY) & (pick(state.phase, rows) <= _BONUS)[:, None]
    return filled


def legal_placements(state: State, rows: Ints | None = None) -> Bools:
    """Return the placements that are open to any tile of the rack, first-turn rule included: [G, E]."""
    return bitsets.unpack(placement_sets(state, rows), state.tables.n_placements)


def placement_sets(state: State, rows: Ints | None = None) -> Bitsets:
    """Return :func:`legal_placements` as bitsets: [G, W]."""
    return placement_sets_unchecked(state, as_rows(state, rows))


@accelerated
def placement_sets_unchecked(state: State, rows: Ints) -> Bitsets:
    """Compute :func:`placement_sets` without argument checks.

    The first-turn rule stands here: a seat's first tile must lie next to a start symbol that no tile lies next to. On a
    small board there may be no such placement; then the rule lapses.
    """
    allowed = state.open.take(rows, axis=0)
    first = np.flatnonzero(~flat(state.has_placed).take(mover_index(state, rows)))
    if first.size:
        near = allowed[first] & _near_untouched_symbols(state, rows[first])
        binding = bitsets.any_left(near)
        allowed[first[binding]] = near[binding]
    return allowed


def _near_untouched_symbols(state: State, rows: Ints) -> Bitsets:
    """Return the placements next to a start symbol that has no tile next to it: [G, W]."""
    near = np.zeros((len(rows), state.open.shape[1]), dtype=np.uint64)
    for color, placements in enumerate(state.tables.near):
        near[state.symbols_touched[rows] >> color & 1 == 0] |= placements
    return near


def may_swap(state: State, rows: Ints | None = None) -> Bools:
    """Return whether swapping the rack is legal now: [G]."""
    offered: Bools = pick(state.phase, rows) == _SWAP
    return offered


def may_decline(state: State, rows: Ints | None = None) -> Bools:
    """Return whether declining (a swap, or in edition 2009 a bonus placement) is legal now: [G]."""
    phase = pick(state.phase, rows)
    declinable: Bools = phase == _SWAP
    if state.rules.bonus_may_be_declined:
        declinable |= phase == _BONUS
    return declinable


def legal_count(state: State, rows: Ints | None = None) -> Ints:
    """Count the legal actions: [G], as many as the mask of :func:`legal` has."""
    slots = bitsets.fold(np.add, legal_slots(state, rows).astype(np.int64))
    return slots * bitsets.count(placement_sets(state, rows)) + may_decline(state, rows) + may_swap(state, rows)


# The whole mask


def legal(state: State, rows: Ints | None = None, out: Bools | None = None, *, backend: AnyBackend = None) -> Bools:
    """Return the mask of legal actions: [G, A], True = playable. A game that is over has none.

    Args:
        state: the games.
        rows: [G] row indices; None: all.
        out: a C-contiguous bool array [G, A] to write into, instead of a new one.
        backend: the compute backend; None: the current one.

    Raises:
        IndexError: if a row index is out of range.
        ValueError: if `out` has another shape, dtype or layout.
    """
    rows = None if rows is None else as_rows(state, rows)
    shape = (len(state) if rows is None else len(rows), state.tables.n_actions)
    if out is None:
        out = np.empty(shape, dtype=np.bool_)
    elif out.shape != shape or out.dtype != np.bool_ or not out.flags.c_contiguous:
        raise ValueError(f"out must be a C-contiguous bool array of shape {shape}, not {out.dtype} {out.shape}")
    fill_masks.on(backend)(state, rows, out)
    return out


@accelerated
def fill_masks(state: State, rows: Ints | None, mask: Bools) -> None:
    """Write the masks of :func:`legal` into `mask` [G, A], without argument checks."""
    t = state.tables
    slots = legal_slots(state, rows)
    tiles = mask[:, : t.swap_action].reshape(len(slots), state.rules.rack, t.n_placements)
    tiles[:] = legal_placements(state, rows)[:, None, :]
    tiles[np.divmod(np.flatnonzero(~slots), state.rules.rack)] = False
    if state.rules.has_swap:
        mask[:, t.swap_action] = may_swap(state, rows)
        mask[:, t.decline_action] = may_decline(state, rows)


# Single actions


def is_legal(state: State, actions: Ints, rows: Ints, *, backend: AnyBackend = None) -> Bools:
    """Return whether each action is legal: [G]. Faster than making the masks.

    Args:
        state: the games.
        actions: [G] action ids; numbers that are no action are illegal.
        rows: [G] row indices.
        backend: the compute backend; None: the current one.

    Raises:
        TypeError, ValueError: if the actions are not [G] integers.
        IndexError: if a row index is out of range.
    """
    rows = as_rows(state, rows)
    return is_legal_unchecked.on(backend)(state, as_actions(actions, len(rows)), rows)


@accelerated
def is_legal_unchecked(state: State, actions: Ints, rows: Ints) -> Bools:
    """Compute :func:`is_legal` without argument checks."""
    t = state.tables
    placing = t.is_placing(actions)
    slot, placement = t.split_action(np.where(placing, actions, 0))
    at = mover_index(state, rows)
    has_tile = flat(state.racks).take(at * state.rules.rack + slot) != EMPTY
    allowed: Bools = bitsets.contains(state.open, rows, placement) & has_tile & (state.phase[rows] <= _BONUS)
    first = np.flatnonzero(~flat(state.has_placed).take(at))  # only there the first-turn rule may bind
    if first.size:
        sets = placement_sets_unchecked.numpy(state, rows[first])
        allowed[first] &= bitsets.contains(sets, np.arange(len(first)), placement[first])
    allowed &= placing
    if state.rules.has_swap and not placing.all():
        allowed |= (actions == t.swap_action) & may_swap(state, rows)
        allowed |= (actions == t.decline_action) & may_decline(state, rows)
    return allowed


# Error messages


def why_illegal(state: State, row: int, action: int) -> str:
    """Compose the message for an illegal action: the action, the seat, the game, and the reason.

    Args:
        state: the games.
        row: the row of the game.
        action: any number that is not a legal action there.
    """
    seat = int(state.to_play[row])
    where = f"illegal action {action} ({action_words.describe(state.rules, action)}) by seat {seat} in game {row}"
    return f"{where}: {illegal_reason(state, row, action)}"


def illegal_reason(state: State, row: int, action: int) -> str:
    """Return only the reason of :func:`why_illegal`, for messages that name the action and the game themselves.

    Args:
        state: the games.
        row: the row of the game.
        action: any number that is not a legal action there.
    """
    t, phase, seat = state.tables, Phase(int(state.phase[row])), int(state.to_play[row])
    if phase == Phase.OVER:
        return "the game is over"
    if not 0 <= action < t.n_actions:
        return f"actions run from 0 to {t.n_actions - 1}"
    if phase == Phase.SWAP:
        return "the decision is to swap the rack or to decline"
    if action == t.swap_action:
        return f"no swap now: the decision is a placement ({phase.name.lower()})"
    if action == t.decline_action:
        return "a bonus placement must be made" if phase == Phase.BONUS else "the turn's tile must be laid"
    slot, placement = t.split_action(action)
    if state.racks[row, seat, slot] == EMPTY:
        return f"slot {slot} is empty"
    covered = [tuple(map(int, t.cells[c])) for c in t.placements[placement] if state.board[row, c] != FREE]
    if covered:
        return f"cell {covered[0]} is not free"
    return FIRST_TURN_RULE


FIRST_TURN_RULE = "a seat's first tile must lie next to a printed symbol that has no tile next to it yet"
"""The first-turn rule in words, for messages."""
