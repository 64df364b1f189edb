"""Checks of arguments that many modules share."""

import operator
from typing import Any


def as_integer(value: Any, name: str, low: int | None = None, high: int | None = None) -> int:
    """Return a whole number as a Python int. Python and numpy integers pass; booleans, floats and strings do not.

    Args:
        value: what the caller gave.
        name: the argument's name, for the message.
        low: the least that is allowed; None for no limit.
        high: the most that is allowed; None for no limit.

    Raises:
        TypeError: if `value` is no whole number.
        ValueError: if it is out of range.

    >>> as_integer(2, "players", 1, 4)
    2
    """
    if type(value).__name__ in ("bool", "bool_", "ndarray"):  # numpy's bool, and arrays of one number, have __index__
        raise _no_integer(value, name)
    try:
        number = operator.index(value)
    except TypeError:
        raise _no_integer(value, name) from None
    if (low is not None and number < low) or (high is not None and number > high):
        raise ValueError(f"{name} must be {_range(low, high)}, not {number}")
    return number


def _no_integer(value: Any, name: str) -> TypeError:
    return TypeError(f"{name} must be a whole number, not {value!r} ({type(value).__name__})")


def _range(low: int | None, high: int | None) -> str:
    if low is None:
        return f"at most {high}"
    if high is None:
        return f"at least {low}"
    return str(low) if low == high else f"{low} to {high}"
