"""What the searching agents take: checks of their settings, each saying what was expected and what came."""

import math

import numpy as np

from genial_env.policies import DenialPolicy, WorthPolicy

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
