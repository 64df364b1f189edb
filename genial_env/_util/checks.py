"""Argument checks that many modules share."""

import math
import numbers
import operator
from typing import Any


def as_integer(value: Any, name: str, low: int | None = None, high: int | None = None) -> int:
    """Return a whole number as a Python int. Python and numpy integers pass; booleans, floats and strings do not.

    Args:
        value: the argument's value.
        name: the argument's name, for the message.
        low: the smallest allowed value; None for no limit.
        high: the largest allowed value; None for no limit.

    Raises:
        TypeError: if `value` is not a whole number.
        ValueError: if it is out of range.

    >>> as_integer(2, "players", 1, 4)
    2
    """
    if type(value).__name__ in ("bool", "bool_", "ndarray"):  # numpy's bool and arrays of one number have __index__
        raise _not_integer(value, name)
    try:
        number = operator.index(value)
    except TypeError:
        raise _not_integer(value, name) from None
    if (low is not None and number < low) or (high is not None and number > high):
        raise ValueError(f"{name} must be {_range(low, high)}, not {number}")
    return number


def as_number(
    value: Any, name: str, low: float | None = None, high: float | None = None, *, above: bool = False
) -> float:
    """Return a finite number as a Python float. Python's and numpy's real numbers pass; booleans and strings do not.

    Args:
        value: the argument's value.
        name: the argument's name, for the message.
        low: the smallest allowed value; None for no limit.
        high: the largest allowed value; None for no limit.
        above: whether `low` itself is excluded.

    Raises:
        TypeError: if `value` is not a real number.
        ValueError: if it is out of range, infinite or NaN.

    >>> as_number(2, "temperature", 0, above=True)
    2.0
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, not {value!r} ({type(value).__name__})")
    wanted = _range(low, high)
    if low is not None and above:
        wanted = f"above {low}" if high is None else f"above {low}, at most {high}"
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite{f' and {wanted}' if wanted else ''}, not {number}")
    is_low = low is not None and (number <= low if above else number < low)
    if is_low or (high is not None and number > high):
        raise ValueError(f"{name} must be {wanted}, not {value!r}")
    return number


def as_flag(value: Any, name: str) -> bool:
    """Return True or False as a Python bool. Python and numpy booleans pass; numbers and strings do not.

    Args:
        value: the argument's value.
        name: the argument's name, for the message.

    Raises:
        TypeError: if `value` is neither True nor False.

    >>> as_flag(False, "records")
    False
    """
    if type(value).__name__ not in ("bool", "bool_"):
        raise TypeError(f"{name} must be True or False, not {value!r} ({type(value).__name__})")
    return bool(value)


def _not_integer(value: Any, name: str) -> TypeError:
    return TypeError(f"{name} must be a whole number, not {value!r} ({type(value).__name__})")


def _range(low: float | None, high: float | None) -> str:
    if low is None:
        return "" if high is None else f"at most {high}"
    if high is None:
        return f"at least {low}"
    return str(low) if low == high else f"{low} to {high}"
