"""What the seat to play knows about the next seat's tiles."""

import numpy as np

from genial_env.core.arrays import Floats, Ints
from genial_env.core.determinization import hidden_tiles
from genial_env.core.state import EMPTY, State
from genial_env.core.views import View
from genial_env.policies.endgame._hands import HiddenHand
from genial_env.policies.endgame._outcomes import choose_best, find_ends, list_distinct_actions

__all__ = ["Knowledge"]


class Knowledge:
    """What the seat to play knows.

    Args:
        view: one game, seen by the seat to play.
    """

    def __init__(self, view: View) -> None:
        self.rules = view.rules
        self.seat = int(view.seat[0])
        self.track = self.rules.track_of(self.seat)
        self.unseen: Ints = view.unseen[0].astype(np.int64)
        self.next_seat = int(view.tables.seats_from[self.seat, 1])
        hidden = hidden_tiles(view)
        self.opponent = HiddenHand(hidden.of_slots(slice(0, view.rules.rack)))
        self._uneven = view.rules.players > 2 and bool(hidden.uneven[0])

    def check_deals(self) -> None:
        """Check that all deals are equally likely, before the racks of several opponents are used.

        Raises:
            ValueError: if they are not.
        """
        if self._uneven:
            raise ValueError("swaps have shown something about the others' racks: not all deals are equally likely")

    def value_last_tile(self, state: State, seat: int) -> Floats:
        """Return the utilities if a seat places the last tile in its best way, by tile kind: [G, M, T]."""
        n_kinds = state.tables.n_kinds
        games = state.select(np.repeat(np.arange(len(state)), n_kinds))
        games.racks[:, seat] = EMPTY
        games.racks[:, seat, 0] = np.tile(np.arange(n_kinds), len(state))
        rows, actions = list_distinct_actions(games)
        ends, utilities = find_ends(games, rows, actions)
        assert ends.all()
        mover = np.full(len(games), self.rules.track_of(seat))
        best = choose_best(rows, utilities, mover, np.full(len(games), self.track))
        return best.reshape(len(state), n_kinds, self.rules.tracks)
