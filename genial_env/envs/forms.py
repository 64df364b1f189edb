"""The two forms in which a learner may be asked for its action.

"flat": one number, an action id: ``Discrete(A)``, with a mask of A entries.

"factored": two numbers, ``MultiDiscrete([K + 2, E])``: what to do (lay the tile of slot 0..K-1; K swaps, K + 1
declines) and the placement, which counts for nothing when nothing is laid. Its mask is one entry a value, K + 2 and
then E, as sb3-contrib's MaskablePPO wants it; what is playable is exactly the product of the two. For a swap the only
placement is 0. Solo has one slot, no swap and no declining: ``MultiDiscrete([1, E])``.
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


class ActionForm(Protocol):
    """How actions are given, and how their mask looks."""

    @property
    def space(self) -> spaces.Space[Any]:
        """The space of a single action."""

    @property
    def entries(self) -> int:
        """How many entries the mask of a game has."""

    def mask(self, view: View, out: Bools | None = None) -> Bools:
        """[G, entries]: what is playable; into `out`, where it is given."""

    def ids(self, actions: Any, n_games: int) -> Ints:
        """[G]: the actions of a batch as action ids; one that does not exist stays out of range, and so is illegal.

        Raises:
            TypeError, ValueError: for something that is no batch of actions.
        """

    def id(self, action: Any) -> int:
        """One action as an action id; one that does not exist stays out of range, and so is illegal.

        Raises:
            TypeError, ValueError: for something that does not have the form of an action.
        """

    def outside(self, action: Any) -> str | None:
        """Why an action is outside of the space, where its action id does not say it; None where it does."""


class Flat:
    """Action ids."""

    def __init__(self, rules: Rules) -> None:
        self.entries = tables(rules).n_actions
        self.space = spaces.Discrete(self.entries)

    def mask(self, view: View, out: Bools | None = None) -> Bools:
        """[G, A]."""
        return view.mask(out)

    def ids(self, actions: Any, n_games: int) -> Ints:
        """[G]: the same."""
        return as_actions(actions, n_games)

    def id(self, action: Any) -> int:
        """The same as an int."""
        return as_action(action)

    def outside(self, action: Any) -> str | None:
        """None: an action id says it itself."""
        return None


class Factored:
    """Two numbers: what to do, and where."""

    def __init__(self, rules: Rules) -> None:
        self._rules, self._t = rules, tables(rules)
        self._n_choices = rules.rack + (2 if rules.has_swap else 0)
        self.space = spaces.MultiDiscrete([self._n_choices, self._t.n_placements])
        self.entries = self._n_choices + self._t.n_placements

    def mask(self, view: View, out: Bools | None = None) -> Bools:
        """[G, K + 2 + E], solo [G, 1 + E]."""
        parts = [view.slots]
        if self._rules.has_swap:
            parts += [view.may_swap[:, None], view.may_decline[:, None]]
        placements = view.placements & view.slots.max(axis=1, keepdims=True)
        placements[np.flatnonzero(view.may_swap), 0] = True
        return np.concatenate([*parts, placements], axis=1, out=out)

    def ids(self, actions: Any, n_games: int) -> Ints:
        """[G]: the actions of a batch [G, 2] as action ids."""
        values = np.asarray(actions)
        if values.dtype.kind not in "iu":
            raise TypeError(f"actions must be whole numbers, not {values.dtype}: {actions!r}")
        if values.shape != (n_games, 2):
            raise ValueError(f"actions must have the shape ({n_games}, 2), not {values.shape}")
        choice, placement = values.astype(np.int64).T
        placement = np.where((placement >= 0) & (placement < self._t.n_placements), placement, self._t.n_actions)
        known = (choice >= 0) & (choice < self._n_choices)
        ids = np.where(choice < self._rules.rack, choice * self._t.n_placements + placement, self._other(choice))
        return np.where(known, ids, self._t.n_actions)

    def id(self, action: Any) -> int:
        """One action [2] as an action id."""
        values = np.asarray(action)
        if values.dtype.kind not in "iu":
            raise TypeError(f"an action must be two whole numbers, not {action!r} ({type(action).__name__})")
        if values.shape != (2,):
            raise ValueError(f"an action must be two numbers, shape (2,), not {values.shape}")
        return int(self.ids(values[None], 1)[0])

    def outside(self, action: Any) -> str | None:
        """Which of the two numbers is out of its range."""
        limits = (("choice", self._n_choices), ("placement", self._t.n_placements))
        for (name, limit), value in zip(limits, np.asarray(action).tolist(), strict=True):
            if not 0 <= value < limit:
                return f"the {name} runs from 0 to {limit - 1}, not {value}"
        return None

    def _other(self, choice: NDArray[Any]) -> NDArray[Any]:
        """K swaps, K + 1 declines."""
        return self._t.swap_action + (choice - self._rules.rack)


def why_illegal(form: ActionForm, state: State, row: int, action: Any, number: int) -> str:
    """The message for an illegal action: what, where, who, which game, and why.

    Args:
        form: of the actions.
        state: the games.
        row: which of them.
        action: as it was given.
        number: its action id.
    """
    is_outside = not 0 <= number < tables(state.rules).n_actions
    reason = form.outside(action) if is_outside else None
    if reason is None:
        return kernel.why_illegal(state, row, number)
    given = np.asarray(action).tolist()
    return f"illegal action {given} by seat {int(state.to_play[row])} in game {row}: {reason}"


FORMS: dict[str, Callable[[Rules], ActionForm]] = {"flat": Flat, "factored": Factored}


def numeric_mask(form: ActionForm, view: View) -> NDArray[np.int8]:
    """[G, entries]: what is playable, as Gymnasium samples by it: 1 or 0, newly made."""
    mask = np.empty((len(view), form.entries), dtype=np.int8)
    form.mask(view, out=mask.view(np.bool_))
    return mask


def make_form(name: str, rules: Rules) -> ActionForm:
    """A form by its name.

    Raises:
        ValueError: for an unknown name.
    """
    if name not in FORMS:
        raise ValueError(f"unknown form of actions {name!r}: the forms are {', '.join(FORMS)}")
    return FORMS[name](rules)
