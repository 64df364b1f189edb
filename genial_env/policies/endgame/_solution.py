"""The values of all legal actions of a game, from the values of its distinct actions."""

from dataclasses import dataclass

import numpy as np

from genial_env.core import kernel
from genial_env.core.arrays import Bools, Floats, Ints
from genial_env.core.state import State
from genial_env.policies.endgame._outcomes import SAME

__all__ = ["Solution", "check_unfinished", "extend_to_all_actions"]


@dataclass(frozen=True, eq=False)
class Solution:
    """The exact value of every legal action of a game, for the seat to play."""

    actions: Ints  # [n] ascending
    values: Floats  # [n]

    @property
    def value(self) -> float:
        """The value of the best action."""
        return float(self.values.max())

    @property
    def best(self) -> Ints:
        """The actions of that value."""
        return self.actions[self.values >= self.value - SAME]

    @property
    def first_best(self) -> int:
        """The first action of the greatest value, which policies choose."""
        return int(self.actions[self.values.argmax()])

    def values_of(self, actions: Ints) -> Floats:
        """Return the values of some legal actions."""
        found: Floats = self.values[np.searchsorted(self.actions, actions)]
        return found


def extend_to_all_actions(state: State, game: int, known: State, row: int, actions: Ints, values: Floats) -> Solution:
    """Return the values of all legal actions of a game. Actions that lead to the same position have the same value.

    Args:
        state: the games.
        game: the index of the game.
        known: states in which the distinct actions were valued; racks may be in another order.
        row: the index of the game there.
        actions: [n] the distinct actions.
        values: [n] their values.
    """
    value_of = dict(zip(_name_placements(known, row, actions), values.tolist(), strict=True))
    legal = np.flatnonzero(kernel.legal(state, np.array([game]))[0])
    return Solution(legal, np.array([value_of[name] for name in _name_placements(state, game, legal)]))


def _name_placements(state: State, row: int, actions: Ints) -> list[tuple[int, int]]:
    """Return (tile kind, placement) for each action of a game, else (-1, action); equal for equivalent actions."""
    t = state.tables
    placing = t.is_placing(actions)
    slot, placement = t.split_action(np.where(placing, actions, 0))
    kind = state.racks[row, state.to_play[row]][slot].astype(np.int64)
    second = np.where(placing, t.canonical_placement(kind, placement), actions)
    return list(zip(np.where(placing, kind, -1).tolist(), second.tolist(), strict=True))


def check_unfinished(over: Bools) -> None:
    """Check that no game has ended.

    Raises:
        ValueError: if one has.
    """
    if over.any():
        raise ValueError(f"game {int(np.flatnonzero(over)[0])} is over: there is nothing to solve")
