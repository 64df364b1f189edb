"""What the searching agents share: checks of their settings, and the order in which they look at placements."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_integer, as_number
from genial_env.core.rules import TRACK_END
from genial_env.core.views import View
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.marker_gains import marker_value_gains

PLAYOUTS = 1000
"""For a decision, where no budget is given."""

MOST_PLAYOUTS = 10**9


def checked_budget(playouts: int | None, budget_s: float | None) -> int | None:
    """The playouts for a decision; None where the clock decides.

    Raises:
        TypeError, ValueError: for both, or a value that is no number or out of its range.
    """
    if playouts is not None and budget_s is not None:
        raise ValueError(f"give playouts or budget_s, not both: {playouts!r} and {budget_s!r}")
    if budget_s is not None:
        as_number(budget_s, "budget_s", 0, above=True)
        return None
    return check_count("playouts", PLAYOUTS if playouts is None else playouts, MOST_PLAYOUTS)


def checked_prior(prior: HeuristicPolicy | None) -> HeuristicPolicy:
    """What puts placements in order: "denial" where nothing is given.

    Raises:
        TypeError: for something that gives placements no values.
    """
    if prior is not None and not isinstance(prior, HeuristicPolicy):
        raise TypeError(f"prior must be a HeuristicPolicy, not {prior!r}")
    return DenialPolicy() if prior is None else prior


def check_name(name: Any) -> str:
    """Return how tables and records are to call an agent.

    Raises:
        TypeError: if it is no text.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be text, not {name!r} ({type(name).__name__})")
    return name


def check_count(name: str, value: Any, most: int = 10_000) -> int:
    """Return a whole number from 1 to `most`.

    Raises:
        TypeError, ValueError: if it is none.
    """
    return as_integer(value, name, 1, most)


ARRIVAL = 8 * 200
"""What a marker's arrival adds to the prior's value of a placement. It earns another placement, which the worths of
markers tell too little of; "denial" is worth 8,000 when all of a track is gone.
"""


def prior_values(prior: HeuristicPolicy, view: View) -> NDArray[np.int32]:
    """[G, K, E]: what puts a search's placements in order: the prior's values, those that earn placements earlier."""
    values: NDArray[np.int32] = prior.values(view).astype(np.int32)
    if view.rules.has_bonus:
        arrivals = marker_value_gains(view, (np.arange(view.rules.top + 1) // TRACK_END).astype(np.int16))
        values += ARRIVAL * arrivals.astype(np.int32)
    return values
