"""What one seat may know: the board, all markers, its own rack, how many tiles of each kind are unseen, rack sizes, the
decision to be made. Policies and encodings get views, never a :class:`~genial_env.state.State`.

Seats and tracks are turned so that the seat's own comes first, the others follow clockwise. All arrays are copies.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from genial_env import bitsets, kernel
from genial_env.rules import TRACK_END, Rules
from genial_env.state import EMPTY, State
from genial_env.tables import Bools, Ints, Tables, tables


@dataclass(eq=False)
class View:
    """G games, each seen from one seat. Axis letters as in :mod:`genial_env.state`; own seat and track first."""

    rules: Rules
    seat: Ints  # [G] who is looking
    board: NDArray[np.int8]  # [G, N] the color on each cell, -1 where free
    points: NDArray[np.int8]  # [G, N, C] what color c would score on free cell n
    scores: NDArray[np.int8]  # [G, T, C] the markers
    rack: NDArray[np.int8]  # [G, K] the own tiles' kinds, -1 for an empty slot
    unseen: NDArray[np.uint8]  # [G, M] tiles in the bag and in the others' racks
    rack_sizes: Ints  # [G, P]
    has_placed: Bools  # [G, P] whether the seat has laid its first tile
    to_play: Ints  # [G] 0 = own turn, 1 = the next seat's, ...
    phase: NDArray[np.int8]  # [G] a state.Phase
    owed: Ints  # [G] bonus placements to be made
    slots: Bools  # [G, K] the slots one may place from now; none where it is not the seat's own placement
    placements: Bools  # [G, E] the placements open to any tile of the rack; mask = slots x placements
    may_swap: Bools  # [G]
    may_decline: Bools  # [G]

    def __len__(self) -> int:
        """G."""
        return len(self.seat)

    @property
    def tables(self) -> Tables:
        """The look-up tables of these rules."""
        return tables(self.rules)

    @property
    def room(self) -> NDArray[np.int8]:  # [G, C]
        """How many points still move each own marker before it stops."""
        own = self.scores[:, 0]
        return np.where(own < TRACK_END, TRACK_END, self.rules.top).astype(np.int8) - own

    def select(self, games: Ints) -> "View":
        """The views of some of the games."""
        arrays = {f.name: getattr(self, f.name)[games] for f in fields(self) if f.name != "rules"}
        return View(self.rules, **arrays)

    def mask(self) -> Bools:  # [G, A]
        """The playable actions; none where it is not the seat's turn."""
        t = self.tables
        mask = np.zeros((len(self), t.n_actions), dtype=np.bool_)
        tiles = mask[:, : t.swap_action].reshape(len(self), self.rules.rack, t.n_placements)
        np.logical_and(self.slots[:, :, None], self.placements[:, None, :], out=tiles)
        if self.rules.has_swap:
            mask[:, t.swap_action] = self.may_swap
            mask[:, t.decline_action] = self.may_decline
        return mask


def view(state: State, seats: Ints | int | None = None, rows: Ints | None = None) -> View:
    """What a seat of each game may know.

    Args:
        state: the games.
        seats: [G] the seats, or one for all; left out, the seat to play.
        rows: [G] which games; left out, all.
    """
    rules, t = state.rules, state.tables
    rows = np.arange(len(state)) if rows is None else rows
    mover = state.to_play[rows]
    seat = mover if seats is None else np.broadcast_to(np.asarray(seats, dtype=np.int64), rows.shape)
    own_turn = seat == mover
    turned = (seat[:, None] + np.arange(rules.players)) % rules.players
    racks = state.racks[rows[:, None], turned]
    held = racks[:, 1:].reshape(len(rows), (rules.players - 1) * rules.rack)
    return View(
        rules=rules,
        seat=seat.copy(),
        board=state.board[rows],
        points=state.points[rows],
        scores=state.scores[rows[:, None], (seat[:, None] + np.arange(rules.tracks)) % rules.tracks],
        rack=racks[:, 0].copy(),
        unseen=state.bag[rows] + kernel.count_kinds(held, t.n_kinds).astype(np.uint8),
        rack_sizes=(racks != EMPTY).sum(axis=2),
        has_placed=state.has_placed[rows[:, None], turned],
        to_play=(mover - seat) % rules.players,
        phase=state.phase[rows],
        owed=state.owed[rows],
        slots=kernel.legal_slots(state, rows) & own_turn[:, None],
        placements=kernel.legal_placements(state, rows),
        may_swap=kernel.may_swap(state, rows) & own_turn,
        may_decline=kernel.may_decline(state, rows) & own_turn,
    )


def tile_values(view: View, values: NDArray[np.int8]) -> NDArray[np.int8]:
    """What laying each tile of the rack on each placement is worth, [G, K, E], when a half's worth is given by cell
    and color, [G, N, C]. Entries of empty slots mean nothing.

    With ``values=view.points`` these are the points of every placement.
    """
    t = view.tables
    n_games, n_slots = view.rack.shape
    by_color = np.ascontiguousarray(values.transpose(0, 2, 1)).reshape(-1, t.n_cells)  # [G * C, N]
    halves = t.kinds.take(view.rack, axis=0) + np.arange(n_games)[:, None, None] * view.rules.colors  # [G, K, 2]
    first, second = (by_color.take(halves[:, :, half].ravel(), axis=0) for half in (0, 1))  # [G * K, N]
    total = first.take(t.placements[:, 0], axis=1, mode="clip")  # without a check of every index
    total += second.take(t.placements[:, 1], axis=1, mode="clip")
    return total.reshape(n_games, n_slots, t.n_placements)


def pick_best(view: View, values: NDArray[np.int8], random: NDArray[np.uint64]) -> Ints:
    """[G]: the playable placement of the highest value, equal ones drawn by lot, as an action id.

    Args:
        view: games in which a placement is to be made.
        values: [G, K, E] whole numbers, more than their type's least.
        random: [G] random bits.
    """
    limits = np.iinfo(values.dtype)
    cap = limits.min ^ -view.placements.astype(values.dtype)  # 0 -> the least, 1 -> the greatest number of the type
    capped = np.minimum(values, cap[:, None, :])  # both several times as fast as np.where
    capped[~view.slots] = limits.min
    flat = capped.reshape(len(view), view.tables.swap_action)
    return bitsets.choose(bitsets.pack(flat == flat.max(axis=1)[:, None]), random)
