"""Draws of recorded games as chance events: what was drawn, and from which tiles.

Tiles are drawn one after the other, each with the same probability among those in the bag. What a swap lays aside is
in the bag again only after its draw.

Axis letters as in :mod:`genial_env.core.state`; also D draws, each of up to K tiles for one seat.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from genial_env.analysis.full_states import Positions, describe_positions
from genial_env.core import kernel
from genial_env.core.arrays import Ints
from genial_env.core.state import EMPTY, State

__all__ = ["Draws", "Tiles", "draws_of_actions", "draws_of_deals"]


class Tiles(NamedTuple):
    """The tiles of n full states."""

    racks: Ints  # [n, P, M] the tiles of each kind in each rack, seats in absolute order
    bag: Ints  # [n, M]

    def move(self, rows: Ints, seats: Ints, kinds: Ints) -> None:
        """Move a tile of a kind from the bag to the rack of a seat, in some rows, in place."""
        self.racks[rows, seats, kinds] += 1
        self.bag[rows, kinds] -= 1

    def select(self, rows: Ints) -> "Tiles":
        """Return copies of some rows."""
        return Tiles(self.racks[rows], self.bag[rows])


@dataclass(eq=False)
class Draws:
    """D draws."""

    before: State  # [D] the position before the first tile is drawn, without the tiles that a swap laid aside
    seat: Ints  # [D] the seat that draws
    until_next: Ints  # [D] the number of seats from it to the one that plays next
    kinds: Ints  # [D, K] the kinds in the order in which they were drawn, EMPTY after the last

    def __len__(self) -> int:
        """Return D."""
        return len(self.seat)

    @property
    def tiles(self) -> Tiles:
        """The tiles before the draws: new arrays."""
        state = self.before
        shape = len(state) * state.rules.players, state.rules.rack
        counts = kernel.count_kinds(state.racks.reshape(shape), state.tables.n_kinds)
        return Tiles(counts.reshape(len(state), state.rules.players, -1).astype(np.int64), state.bag.astype(np.int64))

    def describe(self) -> Positions:
        """Compute the features that do not depend on the tiles."""
        return describe_positions(self.before, self.seat, self.until_next)

    def select(self, rows: Ints) -> "Draws":
        """Return some of the draws."""
        return Draws(self.before.select(rows), self.seat[rows], self.until_next[rows], self.kinds[rows])

    @staticmethod
    def concat(parts: Iterable["Draws"]) -> "Draws":
        """Join draws of games with the same rules."""
        listed = list(parts)
        numbers: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in listed]) for name in ("seat", "until_next", "kinds")
        }
        return Draws(State.concat([part.before for part in listed]), **numbers)


def draws_of_deals(dealt: State) -> Iterator[Draws]:
    """Yield the draws of the initial racks, seat by seat.

    Args:
        dealt: D games in which nothing was played yet.
    """
    for seat in range(dealt.rules.players):
        before = dealt.copy()
        before.racks[:, seat:] = EMPTY
        held = kernel.count_kinds(before.racks.reshape(len(dealt), -1), dealt.tables.n_kinds)
        before.bag[:] = dealt.tables.full_bag - held
        yield Draws(
            before=before,
            seat=np.full(len(dealt), seat),
            until_next=np.full(len(dealt), -seat % dealt.rules.players),
            kinds=dealt.racks[:, seat].astype(np.int64),
        )


def draws_of_actions(states: State, actions: Ints, kinds: Ints) -> Draws:
    """Return the draws after actions.

    Args:
        states: D games, before the actions.
        actions: [D] the actions played.
        kinds: [D, K] the tiles drawn after each of them, EMPTY after the last.
    """
    rules, t = states.rules, states.tables
    before, seat = states.copy(), states.to_play.astype(np.int64)
    kernel.apply_without_draw(before, actions)
    swapped = np.flatnonzero(actions == t.swap_action) if rules.has_swap else np.empty(0, dtype=np.int64)
    aside = states.racks[swapped, seat[swapped]]
    before.bag[swapped] -= kernel.count_kinds(aside, t.n_kinds).astype(np.uint8)
    return Draws(before, seat, np.ones(len(seat), dtype=np.int64), kinds)
