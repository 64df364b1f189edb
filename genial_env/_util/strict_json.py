"""Parse JSON strictly. Input that JSON parsers interpret differently is an error."""

import json
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MAX_CHARACTERS = 2**24
"""The longest text that is parsed, a line or a whole file. Files are measured in bytes."""

MAX_DEPTH = 64
"""The largest nesting depth of arrays and objects."""

_STRINGS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_SQUARE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class JSONError(ValueError):
    """An error in JSON text or its values. The message says where, what was expected and what was found."""


def parse_json(text: str, where: str = "", *, max_characters: int = MAX_CHARACTERS) -> Any:
    """Parse one JSON value.

    Args:
        text: the JSON text.
        where: the location for the message, such as ``"games.jsonl:3"``.
        max_characters: the longest text allowed.

    Raises:
        JSONError: if the text is not JSON, is too long or nested too deeply, has an object with a repeated key, or has
            NaN, an infinity, or a number that is too large for a float or for Python's limit of digits.
    """
    place = f"{where}: " if where else ""
    if len(text) > max_characters:
        raise JSONError(f"{place}expected JSON of at most {max_characters} characters, found {len(text)}")
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_too_deep(text):
        raise JSONError(f"{place}expected JSON nested at most {MAX_DEPTH} deep, found more")
    try:
        return json.loads(
            text, object_pairs_hook=_object_of, parse_float=_finite_float, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError) as error:
        raise JSONError(f"{place}expected JSON, found something unreadable ({error})") from error


def parse_object(text: str, where: str = "", *, max_characters: int = MAX_CHARACTERS) -> dict[str, Any]:
    """Parse one JSON object.

    Raises:
        JSONError: see :func:`parse_json`; also if the value is not an object.
    """
    value = parse_json(text, where, max_characters=max_characters)
    if not isinstance(value, dict):
        place = f"{where}: " if where else ""
        raise JSONError(f"{place}expected a JSON object, found {type(value).__name__}")
    return value


def read_object(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a file that holds one JSON object. A byte order mark is skipped.

    Raises:
        OSError: if the file cannot be read.
        JSONError: see :func:`parse_object`; also if the text is not UTF-8.
    """
    with Path(path).open("rb") as file:
        content = file.read(MAX_CHARACTERS + 1)
    if len(content) > MAX_CHARACTERS:
        raise JSONError(f"{path}: expected a file of at most {MAX_CHARACTERS} bytes, found more")
    return parse_object(decode_text(content, str(path)), str(path))


def numbered_lines(path: str | os.PathLike[str], *, whole: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are not blank, each with its number from 1. A byte order mark is skipped.

    Args:
        path: the file.
        whole: whether to skip a last line without line end, which an interrupted writer may leave.

    Raises:
        OSError: if the file cannot be read.
        JSONError: if the text is not UTF-8, or if a line has more than ``MAX_CHARACTERS`` bytes.
    """
    with Path(path).open("rb") as file:
        number = 0
        while line := file.readline(MAX_CHARACTERS + 1):
            number += 1
            where = f"{path}:{number}"
            if len(line) > MAX_CHARACTERS:
                raise JSONError(f"{where}: expected a line of at most {MAX_CHARACTERS} bytes, found more")
            if whole and not line.endswith(b"\n"):
                return
            text = decode_text(line, where, may_have_mark=number == 1)
            if text.strip():
                yield number, text


def decode_text(content: bytes, where: str = "", *, may_have_mark: bool = True) -> str:
    """Decode UTF-8 text.

    Args:
        content: the bytes.
        where: the location for the message.
        may_have_mark: whether to skip a byte order mark at the beginning.

    Raises:
        JSONError: if the text is not UTF-8.
    """
    try:
        return content.decode("utf-8-sig" if may_have_mark else "utf-8")
    except UnicodeDecodeError as error:
        place = f"{where}: " if where else ""
        raise JSONError(f"{place}expected UTF-8 text, found {error.reason} at byte {error.start}") from error


def _is_too_deep(text: str) -> bool:
    """Return whether arrays and objects are nested more than MAX_DEPTH deep."""
    outside = _STRINGS.sub("", text) if "\\" in text else "".join(text.split('"')[::2])
    brackets = outside.encode("ascii", "ignore").translate(_SQUARE, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):  # each time the innermost pairs are removed
        if b"[]" not in brackets:
            break
        brackets = brackets.replace(b"[]", b"")
    return b"[]" in brackets or brackets.count(b"[") > MAX_DEPTH


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} occurs twice")
    return found


def _finite_float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"the number {digits[:40]} is too large")
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")
