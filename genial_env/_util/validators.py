"""Validators of stored JSON values. Small validators are combined into one for each stored format.

    GAME = json_object(group=integer(), seats=list_of(integer(0, 3), 2), note=optional(STRING))
    GAME(value, "games.jsonl:3")

A validator takes a value and its location ("" for none). It returns the value, or raises a
:class:`~genial_env._util.strict_json.JSONError` that says where, what was expected and what was found. Booleans are not
numbers.
"""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from genial_env._util.strict_json import JSONError

Validator = Callable[[Any, str], Any]
"""A function from a value and its location to the same value."""


def validation_error(where: str, expected: str, found: Any) -> JSONError:
    """Return the error for a value that is not as expected."""
    return JSONError(_at(where, f"expected {expected}, found {shorten(found)}"))


def _at(where: str, what: str) -> str:
    return f"{where}: {what}" if where else what


def _within(where: str, name: str) -> str:
    """Return the location of a key's value."""
    return _at(where, name if name.isascii() and name.isprintable() and len(name) < 60 else shorten(name))


def shorten(value: Any) -> str:
    """Return a value as text for a message: JSON if possible, with at most 120 characters."""
    try:
        text = json.dumps(value, default=repr)
    except (TypeError, ValueError, RecursionError):  # keys that are not strings, circular references, deep nesting
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 120 else f"{text[:117]}..."


def integer(low: int = 0, high: int | None = None) -> Validator:
    """Return a validator of whole numbers from `low` to `high`; None for no upper limit."""
    wanted = f"a whole number from {low} {'up' if high is None else f'to {high}'}"

    def check(value: Any, where: str) -> int:
        if type(value) is not int or value < low or (high is not None and value > high):
            raise validation_error(where, wanted, value)
        return value

    return check


def finite_number(low: float | None = None) -> Validator:
    """Return a validator of finite numbers of at least `low`; None for no limit."""
    wanted = "a finite number" if low is None else f"a finite number from {low} up"

    def check(value: Any, where: str) -> float:
        if type(value) not in (int, float) or abs(value) > 1e300 or not math.isfinite(value):
            raise validation_error(where, wanted, value)
        if low is not None and value < low:
            raise validation_error(where, wanted, value)
        number: float = value
        return number

    return check


def any_value(value: Any, where: str) -> Any:
    """Return any value unchanged: a validator for values that are checked elsewhere."""
    return value


def _of_type(kind: type, name: str) -> Validator:
    def check(value: Any, where: str) -> Any:
        if not isinstance(value, kind):
            raise validation_error(where, name, value)
        return value

    return check


STRING = _of_type(str, "text")
BOOLEAN = _of_type(bool, "true or false")
LIST = _of_type(list, "a list")
OBJECT = _of_type(dict, "an object")


def optional(validator: Validator) -> Validator:
    """Return a validator that also allows null."""
    return lambda value, where: None if value is None else validator(value, where)


def list_of(each: Validator, length: int | None = None, *, min_length: int = 0) -> Validator:
    """Return a validator of lists.

    Args:
        each: The validator of the elements.
        length: The required length; None for any.
        min_length: The smallest length that is allowed, if `length` is None.
    """
    wanted = "a list" if length is None else f"a list of {length}"
    if length is None and min_length:
        wanted = f"a list of at least {min_length}"

    def check(value: Any, where: str) -> list[Any]:
        if not isinstance(value, list) or len(value) < min_length or (length is not None and len(value) != length):
            raise validation_error(where, wanted, value)
        return [each(element, f"{where}[{number}]") for number, element in enumerate(value)]

    return check


def mapping_of(each: Validator) -> Validator:
    """Return a validator of objects with any keys whose values pass another validator."""

    def check(value: Any, where: str) -> dict[str, Any]:
        return {name: each(found, _within(where, name)) for name, found in OBJECT(value, where).items()}

    return check


def json_object(
    others: Validator | None = None, optional_keys: Mapping[str, Validator] | None = None, **by_key: Validator
) -> Validator:
    """Return a validator of objects with known keys.

    Args:
        others: The validator of the values of unknown keys; None if unknown keys are errors.
        optional_keys: The validators of keys that may be missing.
        by_key: The validators of required keys.
    """
    known = {**by_key, **(optional_keys or {})}

    def check(value: Any, where: str) -> dict[str, Any]:
        found: Mapping[str, Any] = OBJECT(value, where)
        for name in by_key:
            if name not in found:
                raise JSONError(_at(where, f"expected the key {name!r}, found none"))
        checked = {}
        for name, each in found.items():
            validator = known.get(name, others)
            if validator is None:
                raise JSONError(_at(where, f"expected the keys {', '.join(known)}, found {shorten(name)}"))
            checked[name] = validator(each, _within(where, name))
        return checked

    return check
