"""Positions as one line of text, in the manner of FEN: the view of a seat, or the whole state.

    players=2,edition=2025,mode=individual seat=0 phase=place board=R4G... scores=0,0,0,0,0,0/3,1,0,0,2,0 rack=RO,GG,--

The keys are those of :mod:`genial_env.notation.structs`. Digits in a board count free cells; two hyphens are an empty
slot; a key without entries has the value "-".
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from genial_env._util.strict_json import JSONError
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.views import View
from genial_env.notation.structs import (
    rules_from_json,
    state_from_json,
    state_to_json,
    view_from_json,
    view_to_json,
)

__all__ = ["state_from_line", "state_to_line", "view_from_line", "view_to_line"]

EMPTY_SLOT, NOTHING = "--", "-"


def view_to_line(view: View, row: int = 0) -> str:
    """Return what a seat knows of a game as one line, the rules included."""
    return _to_line(view.rules, view_to_json(view, row))


def view_from_line(line: str) -> View:
    """Return the view of a line such as :func:`view_to_line` returns: a batch of one game.

    Raises:
        ValueError: if the line cannot be read, or does not describe what a seat may know.
    """
    rules, data = _from_line(line)
    return view_from_json(rules, data)


def state_to_line(state: State, row: int = 0) -> str:
    """Return everything about a game as one line, the rules and hidden tiles included."""
    return _to_line(state.rules, state_to_json(state, row))


def state_from_line(line: str) -> State:
    """Return the state of a line such as :func:`state_to_line` returns: a batch of one game.

    Raises:
        ValueError: if the line cannot be read, or does not describe a game.
    """
    rules, data = _from_line(line)
    return state_from_json(rules, data)


def _to_line(rules: Rules, data: dict[str, Any]) -> str:
    named = ",".join(f"{name}={int(value) if value is True else value}" for name, value in rules.to_dict().items())
    parts = [f"{key}={_FORMS[key].write(value)}" for key, value in data.items() if key in _FORMS]
    return " ".join([named, *parts])


def _from_line(line: str) -> tuple[Rules, dict[str, Any]]:
    named, *parts = line.split() or [""]
    words = dict(_pair(part) for part in named.split(","))
    text = ("edition", "mode")
    values = {name: value if name in text else _flag(name, _number(value)) for name, value in words.items()}
    data = {}
    for key, value in map(_pair, parts):
        if key not in _FORMS or key in data:
            raise JSONError(f"expected each of the keys {', '.join(_FORMS)} at most once, found {key!r}")
        data[key] = _FORMS[key].read(value)
    return rules_from_json(values), data


def _flag(name: str, value: int) -> int | bool:
    return bool(value) if name == "one_bonus_a_tile" else value


def _pair(part: str) -> tuple[str, str]:
    key, equals, value = part.partition("=")
    if not equals:
        raise JSONError(f"expected key=value, found {part!r}")
    return key, value


def _number(text: str) -> int:
    if not re.fullmatch(r"\d{1,10}", text):
        raise JSONError(f"expected a whole number, found {text!r}")
    return int(text)


class _Form(NamedTuple):
    """How a value is written and read."""

    write: Callable[[Any], str]
    read: Callable[[str], Any]


def _list(separator: str, each: _Form) -> _Form:
    def read(text: str) -> list[Any]:
        return [] if text == NOTHING else [each.read(part) for part in text.split(separator)]

    return _Form(lambda values: separator.join(map(each.write, values)) or NOTHING, read)


def _dict(separator: str, inner: str, each: _Form) -> _Form:
    """Return the form of an object whose keys are tiles."""

    def read(text: str) -> dict[str, Any]:
        if text == NOTHING:
            return {}
        pairs = (part.partition(inner)[::2] for part in text.split(separator))
        return {key: each.read(value) for key, value in pairs}

    def write(values: dict[str, Any]) -> str:
        return separator.join(f"{key}{inner}{each.write(value)}" for key, value in values.items()) or NOTHING

    return _Form(write, read)


def _write_board(board: str) -> str:
    return re.sub(r"\.+", lambda free: str(len(free[0])), board)


def _read_board(text: str) -> str:
    return re.sub(r"\d{1,3}", lambda count: "." * int(count[0]), text)


def _write_returned(entry: dict[str, Any]) -> str:
    return f"{entry['seat']}@{entry['slot']}@{_COUNTS.write(entry['tiles'])}"


def _read_returned(text: str) -> dict[str, Any]:
    parts = text.split("@")
    if len(parts) != 3:
        raise JSONError(f"expected seat@slot@tiles, found {text!r}")
    return {"seat": _number(parts[0]), "slot": _number(parts[1]), "tiles": _COUNTS.read(parts[2])}


_TEXT = _Form(str, str)
_WORDS = _Form(lambda words: words.replace(" ", "_"), lambda text: text.replace("_", " "))
_INTEGER = _Form(str, _number)
_FLAG = _Form(lambda flag: str(int(flag)), lambda text: bool(_number(text)))
_TILE = _Form(lambda tile: EMPTY_SLOT if tile is None else tile, lambda text: None if text == EMPTY_SLOT else text)
_NUMBERS = _list(",", _INTEGER)
_COUNTS = _dict(",", ":", _INTEGER)

_FORMS = {
    "seat": _INTEGER,
    "to_play": _INTEGER,
    "phase": _TEXT,
    "pending_bonus": _INTEGER,
    "board": _Form(_write_board, _read_board),
    "scores": _list("/", _NUMBERS),
    "rack": _list(",", _TILE),
    "racks": _list("/", _list(",", _TILE)),
    "rack_sizes": _NUMBERS,
    "has_placed": _list(",", _FLAG),
    "unseen": _COUNTS,
    "bag": _COUNTS,
    "returned": _list(";", _Form(_write_returned, _read_returned)),
    "levels": _dict(";", ":", _NUMBERS),
    "keys": _list(",", _TEXT),
    "drawn": _NUMBERS,
    "decisions": _INTEGER,
    "end": _WORDS,
}
