"""Checks of the settings that several agents have in common."""

from typing import Any

from genial_env._util.checks import as_integer, as_number

__all__ = ["check_budget", "check_count", "check_name"]

_DEFAULT_PLAYOUTS = 1000
"""For a decision, if no budget is given."""

_MOST_PLAYOUTS = 10**9


def check_budget(playouts: int | None, budget_s: float | None) -> int | None:
    """Return the playouts for a decision; None if the time decides.

    Raises:
        TypeError, ValueError: if both are given, or one is not a number or out of range.
    """
    if playouts is not None and budget_s is not None:
        raise ValueError(f"give playouts or budget_s, not both: {playouts!r} and {budget_s!r}")
    if budget_s is not None:
        as_number(budget_s, "budget_s", 0, above=True)
        return None
    return check_count("playouts", _DEFAULT_PLAYOUTS if playouts is None else playouts, _MOST_PLAYOUTS)


def check_name(name: Any) -> str:
    """Return an agent's name for tables and records.

    Raises:
        TypeError: if it is not text.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be text, not {name!r} ({type(name).__name__})")
    return name


def check_count(name: str, value: Any, most: int = 10_000) -> int:
    """Return an integer from 1 to `most`.

    Raises:
        TypeError, ValueError: if it is not one.
    """
    return as_integer(value, name, 1, most)
