"""What the searching agents share: checks of their settings, and the order in which they look at placements."""

import math

import numpy as np
from numpy.typing import NDArray

from genial_env.policies import DenialPolicy, WorthPolicy, added_worth
from genial_env.rules import TRACK_END
from genial_env.views import View

PLAYOUTS = 1000
"""For a decision, where no budget is given."""


def checked_budget(playouts: int | None, budget_s: float | None) -> int | None:
    """The playouts for a decision; None where the clock decides.

    Raises:
        ValueError: for both, or a value out of its range.
    """
    if playouts is not None and budget_s is not None:
        raise ValueError(f"give playouts or budget_s, not both: {playouts!r} and {budget_s!r}")
    if budget_s is not None:
        check("budget_s", budget_s, 0 < budget_s < math.inf, "above 0")
        return None
    playouts = PLAYOUTS if playouts is None else playouts
    check_count("playouts", playouts)
    return playouts


def checked_prior(prior: WorthPolicy | None) -> WorthPolicy:
    """What puts placements in order: "denial" where nothing is given.

    Raises:
        TypeError: for something that gives placements no values.
    """
    if prior is not None and not isinstance(prior, WorthPolicy):
        raise TypeError(f"prior must be a WorthPolicy, not {prior!r}")
    return DenialPolicy() if prior is None else prior


def check(name: str, value: object, fine: bool, wanted: str) -> None:
    """Refuse a setting that is not fine.

    Raises:
        ValueError: then.
    """
    if not fine:
        raise ValueError(f"{name} must be {wanted}, not {value!r}")


def check_count(name: str, value: object) -> None:
    """Refuse what is no whole number of at least 1.

    Raises:
        ValueError: then.
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    check(name, value, whole and value >= 1, "a whole number of at least 1")  # type: ignore[operator]


ARRIVAL = 8 * 200
"""What a marker's arrival adds to the prior's value of a placement. It earns another placement, which the worths of
markers tell too little of; "denial" is worth 8,000 when all of a track is gone.
"""


def prior_values(prior: WorthPolicy, view: View) -> NDArray[np.int32]:
    """[G, K, E]: what puts a search's placements in order: the prior's values, those that earn placements earlier."""
    values: NDArray[np.int32] = prior.values(view).astype(np.int32)
    if view.rules.has_bonus:
        arrivals = added_worth(view, (np.arange(view.rules.top + 1) // TRACK_END).astype(np.int16))
        values += ARRIVAL * arrivals.astype(np.int32)
    return values
