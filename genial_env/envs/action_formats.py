"""The two formats in which a learner's actions are given.

"flat": one number, an action id. The space is ``Discrete(A)``, and the mask has A entries.

"factored": two numbers. The space is ``MultiDiscrete([K + 2, E])``. The first number chooses what to do: 0 to K - 1
place the tile of that rack slot, K swaps the rack, K + 1 declines. The second number is the placement; it is ignored
if no tile is placed. The mask has one entry for each value, first K + 2 and then E, as sb3-contrib's MaskablePPO
expects it. An action is legal exactly if both its numbers are. For a swap the mask allows placement 0 only. Solo has
one slot, no swap and no decline: ``MultiDiscrete([1, E])``.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from genial_env.core import kernel
from genial_env.core.arrays import Bools, Ints
from genial_env.core.kernel import as_actions
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.envs.game import as_action

__all__ = [
    "ACTION_FORMATS",
    "ActionFormat",
    "FactoredActions",
    "FlatActions",
    "explain_illegal",
    "int8_mask",
    "make_action_format",
]


class ActionFormat(Protocol):
    """How actions are given, and the mask that belongs to them."""

    @property
    def space(self) -> spaces.Space[Any]:
        """The space of one action."""

    @property
    def entries(self) -> int:
        """The number of entries in the mask of one game."""

    def mask(self, view: View, out: Bools | None = None) -> Bools:
        """Return the mask of legal actions, [G, entries].

        Args:
            view: G games.
            out: an array to write into, instead of a new one.
        """

    def ids(self, actions: Any, n_games: int) -> Ints:
        """Return the action ids of a batch, [G]. An action outside of the space gets an id out of range.

        Raises:
            TypeError, ValueError: if `actions` is not a batch of actions.
        """

    def id(self, action: Any) -> int:
        """Return the action id of one action. An action outside of the space gets an id out of range.

        Raises:
            TypeError, ValueError: if `action` does not have the form of an action.
        """

    def why_outside(self, action: Any) -> str | None:
        """Return why an action is outside of the space; None if its id alone explains it."""


class FlatActions:
    """Action ids."""

    def __init__(self, rules: Rules) -> None:
        self.entries = tables(rules).n_actions
        self.space = spaces.Discrete(self.entries)

    def mask(self, view: View, out: Bools | None = None) -> Bools:
        """Return the mask, [G, A]."""
        return view.mask(out)

    def ids(self, actions: Any, n_games: int) -> Ints:
        """Return the same numbers, [G]."""
        return as_actions(actions, n_games)

    def id(self, action: Any) -> int:
        """Return the same number as an int."""
        return as_action(action)

    def why_outside(self, action: Any) -> str | None:
        """Return None: the id is the action."""
        return None


class FactoredActions:
    """Two numbers: what to do, and the placement."""

    def __init__(self, rules: Rules) -> None:
        self._rules, self._t = rules, tables(rules)
        self._n_choices = rules.rack + (2 if rules.has_swap else 0)
        self.space = spaces.MultiDiscrete([self._n_choices, self._t.n_placements])
        self.entries = self._n_choices + self._t.n_placements

    def mask(self, view: View, out: Bools | None = None) -> Bools:
        """Return the mask, [G, K + 2 + E], solo [G, 1 + E]."""
        parts = [view.slots]
        if self._rules.has_swap:
            parts += [view.may_swap[:, None], view.may_decline[:, None]]
        placements = view.placements & view.slots.max(axis=1, keepdims=True)
        placements[np.flatnonzero(view.may_swap), 0] = True
        return np.concatenate([*parts, placements], axis=1, out=out)

    def ids(self, actions: Any, n_games: int) -> Ints:
        """Return the action ids, [G], of actions [G, 2]."""
        values = np.asarray(actions)
        if values.dtype.kind not in "iu":
            raise TypeError(f"actions must be whole numbers, not {values.dtype}: {actions!r}")
        if values.shape != (n_games, 2):
            raise ValueError(f"actions must have the shape ({n_games}, 2), not {values.shape}")
        t, rack = self._t, self._rules.rack
        choice, placement = values.astype(np.int64).T
        placement = np.where((placement >= 0) & (placement < t.n_placements), placement, t.n_actions)
        known = (choice >= 0) & (choice < self._n_choices)
        other = t.swap_action + (choice - rack)  # K swaps, K + 1 declines
        return np.where(known, np.where(choice < rack, t.join_action(choice, placement), other), t.n_actions)

    def id(self, action: Any) -> int:
        """Return the action id of an action [2]."""
        values = np.asarray(action)
        if values.dtype.kind not in "iu":
            raise TypeError(f"an action must be two whole numbers, not {action!r} ({type(action).__name__})")
        if values.shape != (2,):
            raise ValueError(f"an action must be two numbers, shape (2,), not {values.shape}")
        return int(self.ids(values[None], 1)[0])

    def why_outside(self, action: Any) -> str | None:
        """Return which of the two numbers is out of range."""
        limits = (("choice", self._n_choices), ("placement", self._t.n_placements))
        for (name, limit), value in zip(limits, np.asarray(action).tolist(), strict=True):
            if not 0 <= value < limit:
                return f"the {name} runs from 0 to {limit - 1}, not {value}"
        return None


ACTION_FORMATS: dict[str, Callable[[Rules], ActionFormat]] = {"flat": FlatActions, "factored": FactoredActions}


def make_action_format(name: str, rules: Rules) -> ActionFormat:
    """Return an action format by its name.

    Raises:
        ValueError: if the name is unknown.
    """
    if name not in ACTION_FORMATS:
        raise ValueError(f"unknown action format {name!r}: the formats are {', '.join(ACTION_FORMATS)}")
    return ACTION_FORMATS[name](rules)


def int8_mask(action_format: ActionFormat, view: View) -> NDArray[np.int8]:
    """Return the mask as a new int8 array of 0 and 1, [G, entries], which Gymnasium's spaces sample by."""
    mask = np.empty((len(view), action_format.entries), dtype=np.int8)
    action_format.mask(view, out=mask.view(np.bool_))
    return mask


def explain_illegal(action_format: ActionFormat, state: State, row: int, action: Any, action_id: int) -> str:
    """Return the message for an illegal action: the action, the seat, the game and the reason.

    Args:
        action_format: of the action.
        state: the games.
        row: the row of the game.
        action: the action as it was given.
        action_id: its action id.
    """
    is_outside = not 0 <= action_id < tables(state.rules).n_actions
    reason = action_format.why_outside(action) if is_outside else None
    if reason is None:
        return kernel.why_illegal(state, row, action_id)
    given = np.asarray(action).tolist()
    return f"illegal action {given} by seat {int(state.to_play[row])} in game {row}: {reason}"
