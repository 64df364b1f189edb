"""What a JSON value that was stored must look like: one check for each stored kind is put together from these.

    CHECK = an_object(group=a_whole_number(), seats=a_list(a_whole_number(0, 3), 2), note=or_null(TEXT))
    CHECK(value, "games.jsonl:3")

A check takes a value and where it stands ("" for nowhere in particular), and gives it back, or raises a
:class:`~genial_env._util.strict_json.JSONError` that says where, what was expected and what was found. Booleans are no
numbers.
"""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from genial_env._util.strict_json import JSONError

Check = Callable[[Any, str], Any]
"""A value and where it stands to the value."""


def wrong(where: str, expected: str, found: Any) -> JSONError:
    """Make the error for a value that is not as expected."""
    return JSONError(_at(where, f"expected {expected}, found {shorten(found)}"))


def _at(where: str, what: str) -> str:
    return f"{where}: {what}" if where else what


def _within(where: str, name: str) -> str:
    """Where the value of a key stands."""
    return _at(where, name if name.isascii() and name.isprintable() and len(name) < 60 else shorten(name))


def shorten(value: Any) -> str:
    """A value for a message, as JSON where it can be, cut short."""
    try:
        text = json.dumps(value, default=repr)
    except (TypeError, ValueError, RecursionError):  # keys that are no text, values within themselves, too deep
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 120 else f"{text[:117]}..."


def a_whole_number(low: int = 0, high: int | None = None) -> Check:
    """Check for a whole number in a range."""
    wanted = f"a whole number from {low} {'up' if high is None else f'to {high}'}"

    def check(value: Any, where: str) -> int:
        if type(value) is not int or value < low or (high is not None and value > high):
            raise wrong(where, wanted, value)
        return value

    return check


def a_number(low: float | None = None) -> Check:
    """Check for a finite number, from `low` up."""
    wanted = "a finite number" if low is None else f"a finite number from {low} up"

    def check(value: Any, where: str) -> float:
        if type(value) not in (int, float) or abs(value) > 1e300 or not math.isfinite(value):
            raise wrong(where, wanted, value)
        if low is not None and value < low:
            raise wrong(where, wanted, value)
        number: float = value
        return number

    return check


def anything(value: Any, where: str) -> Any:
    """Let any value pass: for what somebody else checks."""
    return value


def _of_type(kind: type, words: str) -> Check:
    def check(value: Any, where: str) -> Any:
        if type(value) is not kind:
            raise wrong(where, words, value)
        return value

    return check


TEXT = _of_type(str, "text")
TRUTH = _of_type(bool, "true or false")
ANY_OBJECT = _of_type(dict, "an object")


def or_null(check: Check) -> Check:
    """Check for what another check allows, or null."""
    return lambda value, where: None if value is None else check(value, where)


def a_list(each: Check, length: int | None = None, *, least: int = 0) -> Check:
    """Check for a list whose elements pass another check."""
    wanted = f"a list of {length}" if length is not None else f"a list of at least {least}" if least else "a list"

    def check(value: Any, where: str) -> list[Any]:
        if not isinstance(value, list) or len(value) < least or (length is not None and len(value) != length):
            raise wrong(where, wanted, value)
        return [each(element, f"{where}[{number}]") for number, element in enumerate(value)]

    return check


def a_mapping(each: Check) -> Check:
    """Check for an object with any keys whose values pass another check."""

    def check(value: Any, where: str) -> dict[str, Any]:
        return {name: each(found, _within(where, name)) for name, found in ANY_OBJECT(value, where).items()}

    return check


def an_object(others: Check | None = None, **by_key: Check) -> Check:
    """Check for an object with these keys.

    Args:
        others: for the values of other keys; left out, there may be none.
        by_key: for the value of each key. The keys must be there.
    """

    def check(value: Any, where: str) -> dict[str, Any]:
        found: Mapping[str, Any] = ANY_OBJECT(value, where)
        for name in by_key:
            if name not in found:
                raise JSONError(_at(where, f"expected the key {name!r}, found none"))
        checked = {}
        for name, each in found.items():
            test = by_key.get(name, others)
            if test is None:
                raise JSONError(_at(where, f"expected the keys {', '.join(by_key)}, found {shorten(name)}"))
            checked[name] = test(each, _within(where, name))
        return checked

    return check
