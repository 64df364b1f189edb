"""Views: what one seat may know of a game.

A view has the board, all markers, the seat's own rack, how many tiles of each kind are unseen, the sizes of the racks,
the decision to be made, and what swaps have shown. Policies and encodings get views, never a
:class:`~genial_env.core.state.State`; :func:`genial_env.core.determinization.determinize` samples states that agree
with a view.

Seats and tracks stand in the order of the view: the seat's own first, the others clockwise. All arrays are copies.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from genial_env.backends import AnyBackend, accelerated
from genial_env.core import bitsets, kernel
from genial_env.core.arrays import Bools, Ints
from genial_env.core.rules import Rules
from genial_env.core.state import EMPTY, State
from genial_env.core.tables import Tables, tables

__all__ = ["View", "fill_view_masks", "returned_tiles", "view", "view_unchecked"]


@dataclass(eq=False)
class View:
    """G games, each seen from one seat. Axis letters as in :mod:`genial_env.core.state`; own seat and track first."""

    rules: Rules
    seat: Ints  # [G] who is looking
    board: NDArray[np.int8]  # [G, N] the color on each cell, -1 where free
    points: NDArray[np.int8]  # [G, N, C] what color c would score on free cell n
    scores: NDArray[np.int8]  # [G, T, C] the markers
    rack: NDArray[np.int8]  # [G, K] the own tiles' kinds, -1 for an empty slot
    unseen: NDArray[np.uint8]  # [G, M] tiles in the bag and in the others' racks
    returned: NDArray[np.uint8]
    """[G, P, K, M] tiles of each kind returned by swaps since the slot was filled, at most X, so that it holds none of
    them. Own slots as in `rack`, of the others' the longest filled first."""
    levels: NDArray[np.uint8]
    """[G, M, X] for the latest returns of each kind, the latest first: tiles of the kind in the bag right after it, or
    in slots that were filled before and not shown since, the own ones included. 0 where there was no such return."""
    rack_sizes: Ints  # [G, P]
    has_placed: Bools  # [G, P] whether the seat has laid its first tile
    to_play: Ints  # [G] 0 = own turn, 1 = the next seat's, ...
    phase: NDArray[np.int8]  # [G] a state.Phase
    pending_bonus: Ints  # [G] bonus placements to be made
    slots: Bools  # [G, K] the slots one may place from now; none where it is not the seat's own placement
    placements: Bools  # [G, E] the placements open to any tile of the rack; mask = slots x placements
    may_swap: Bools  # [G]
    may_decline: Bools  # [G]

    def __len__(self) -> int:
        """G."""
        return len(self.seat)

    def __repr__(self) -> str:
        return f"<View of {len(self)} games, {self.rules}>"

    @property
    def tables(self) -> Tables:
        """The look-up tables of these rules."""
        return tables(self.rules)

    @property
    def room(self) -> NDArray[np.int8]:  # [G, C]
        """How many points move each own marker to its next stop."""
        own = self.scores[:, 0]
        room: NDArray[np.int8] = self.tables.next_stop[own] - own
        return room

    def select(self, games: Ints) -> "View":
        """Return the views of some of the games, copied."""
        arrays = {f.name: getattr(self, f.name)[games] for f in fields(self) if f.name != "rules"}
        return View(self.rules, **arrays)

    def mask(self, out: Bools | None = None) -> Bools:  # [G, A]
        """Return the mask of legal actions; none where it is not the seat's turn.

        Args:
            out: a C-contiguous bool array [G, A] to write into, instead of a new one.
        """
        mask = np.empty((len(self), self.tables.n_actions), dtype=np.bool_) if out is None else out
        fill_view_masks(self, mask)
        return mask


@accelerated
def fill_view_masks(view: View, mask: Bools) -> None:
    """Write the masks of :meth:`View.mask` into `mask` [G, A]."""
    t, rules = view.tables, view.rules
    tiles = mask[:, : t.swap_action].reshape(len(view), rules.rack, t.n_placements)
    np.logical_and(view.slots[:, :, None], view.placements[:, None, :], out=tiles)
    if rules.has_swap:
        mask[:, t.swap_action] = view.may_swap
        mask[:, t.decline_action] = view.may_decline


def view(
    state: State,
    seats: Ints | int | None = None,
    rows: Ints | None = None,
    *,
    backend: AnyBackend = None,
) -> View:
    """Return what one seat of each game may know.

    Args:
        state: the games.
        seats: [G] the seats, or one seat for all games; None: the seat to play.
        rows: [G] row indices; None: all.
        backend: the compute backend; None: the current one.

    Raises:
        IndexError: if a row index is out of range.
        ValueError: if a seat is out of range.
    """
    rows = kernel.as_rows(state, rows)
    if seats is None:
        seat = state.to_play[rows]
    else:
        seat = np.broadcast_to(np.asarray(seats, dtype=np.int64), rows.shape)
        if seat.size and not 0 <= seat.min() <= seat.max() < state.rules.players:
            raise ValueError(f"seats run from 0 to {state.rules.players - 1}, not {seat.min()} to {seat.max()}")
    return view_unchecked.on(backend)(state, rows, seat)


@accelerated
def view_unchecked(state: State, rows: Ints, seat: Ints) -> View:
    """Compute :func:`view` without argument checks; `seat` [G]."""
    rules, t = state.rules, state.tables
    mover = state.to_play[rows]
    own_turn = seat == mover
    seats = t.seats_from[seat]
    racks = state.racks[rows[:, None], seats]
    held = racks[:, 1:].reshape(len(rows), (rules.players - 1) * rules.rack)
    return View(
        rules=rules,
        seat=seat.copy(),
        board=state.board[rows],
        points=state.points[rows],
        scores=state.scores[rows[:, None], t.tracks_from[seat]],
        rack=racks[:, 0].copy(),
        unseen=state.bag[rows] + kernel.count_kinds(held, t.n_kinds).astype(np.uint8),
        returned=returned_tiles(state, rows, seats),
        levels=state.levels[rows],
        rack_sizes=(racks != EMPTY).sum(axis=2),
        has_placed=state.has_placed[rows[:, None], seats],
        to_play=(mover - seat) % rules.players,
        phase=state.phase[rows],
        pending_bonus=state.pending_bonus[rows],
        slots=kernel.legal_slots(state, rows) & own_turn[:, None],
        placements=bitsets.unpack(kernel.placement_sets_unchecked.numpy(state, rows), t.n_placements),
        may_swap=kernel.may_swap(state, rows) & own_turn,
        may_decline=kernel.may_decline(state, rows) & own_turn,
    )


def returned_tiles(state: State, rows: Ints, seats: Ints) -> NDArray[np.uint8]:
    """Return the array `returned` of views: [G, P, K, M].

    Args:
        state: the games.
        rows: [G] row indices.
        seats: [G, P] the seats in the order of the view.
    """
    shape = (len(rows), state.rules.players, state.rules.rack, state.tables.n_kinds)
    returned = np.zeros(shape, dtype=np.uint8)
    swapped = np.flatnonzero(state.swapped.take(rows))
    if swapped.size:
        known = state.returned[rows[swapped, None], seats[swapped]]
        others = known[:, 1:]
        oldest_first = np.argsort(-others.sum(axis=3, dtype=np.int64), axis=2, kind="stable")
        known[:, 1:] = np.take_along_axis(others, oldest_first[..., None], axis=2)
        returned[swapped] = known
    return returned
