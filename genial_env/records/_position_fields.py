"""Read the fields of a position's text (:mod:`genial_env.records.position_text`). Every error says where it is."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.actions import tile_kind, tile_name
from genial_env.core.arrays import Ints
from genial_env.core.rules import COLOR_LETTERS, SIZE_LIMITS, Rules
from genial_env.core.state import EMPTY, LEVELS
from genial_env.core.tables import Tables, tables

FIELDS = ("board", "racks", "markers", "bag", "seat to play", "decision")
"""The fields that every text has, in their order."""

WORDS = ("edition", "mode")
"""The options whose values are words."""

RULE_OPTIONS = {
    "edition": "edition",
    "mode": "mode",
    "colors": "colors",
    "rack": "rack",
    "boxes": "tile_sets",
    "onebonus": "one_bonus_a_tile",
}
"""The options that are rules, with the field of :class:`~genial_env.core.rules.Rules` that they set.

Their names have no underscores, which may stand for spaces.
"""

OPTIONS = (*RULE_OPTIONS, "first", "decisions", "levels", "returned", "drawn", "keys")
"""All options, in the order in which they are written."""

MAX_CHARACTERS = 20_000
"""The most characters of a text. Those of games have at most some thousands."""


def quote(found: str) -> str:
    """Return a part of a text for a message, with at most 40 characters."""
    return repr(found if len(found) <= 40 else f"{found[:37]}...")


def split_fields(text: str) -> tuple[list[str], dict[str, str]]:
    """Return the fields of a text and its options by name.

    Raises:
        ValueError: if fields are missing, or an option is unknown or twice there.
    """
    if not isinstance(text, str):
        raise ValueError(f"a position is a text, not {type(text).__name__}")
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"expected a position of at most {MAX_CHARACTERS} characters, found {len(text)}")
    parts = text.replace("_", " ").split() if " " not in text.strip() else text.split()
    fields, options = parts[: len(FIELDS)], {}
    if len(fields) < len(FIELDS):
        found = f"no field {FIELDS[len(fields)]!r}" if fields else "no text"
        raise ValueError(f"expected the fields {', '.join(FIELDS)}, separated by spaces, found {found}")
    for part in parts[len(FIELDS) :]:
        name, equals, value = part.partition("=")
        if name not in OPTIONS or not equals:
            raise ValueError(f"expected options such as edition=2009, of {', '.join(OPTIONS)}, found {quote(part)}")
        if name in options:
            raise ValueError(f"{name}: expected the option once, found it twice")
        options[name] = value
    return fields, options


def read_rules(rows: int, players: int, options: Mapping[str, str]) -> Rules:
    """Return the rules that follow from the rows of the board, the number of racks, and the options.

    Raises:
        ValueError: if they are not rules that can be played.
    """
    low, high = SIZE_LIMITS["side"]
    if rows % 2 == 0 or not low <= (rows + 1) // 2 <= high:
        raise ValueError(f"board: expected an odd number of rows from {2 * low - 1} to {2 * high - 1}, found {rows}")
    named: dict[str, Any] = {"players": players, "side": (rows + 1) // 2}
    for name, rule in RULE_OPTIONS.items():
        if name in options:
            named[rule] = options[name] if name in WORDS else read_number(options[name], name, 99)
    if "onebonus" in options:
        named["one_bonus_a_tile"] = bool(read_number(options["onebonus"], "onebonus", 1))
    return Rules.from_dict(named)


def row_letters(rules: Rules) -> str:
    """Return the letters of the rows of a board, from the top."""
    return "ABCDEFGHIJKLMNOPQRS"[: 2 * rules.side - 1]


def rows_of(t: Tables) -> list[list[int]]:
    """Return the cells of each row, from the top and from the left."""
    rows: dict[int, list[int]] = {}
    for cell, (_, r) in enumerate(t.cells.tolist()):
        rows.setdefault(r, []).append(cell)
    return [rows[r] for r in sorted(rows)]


def read_row(word: str, length: int, rules: Rules, where: str) -> list[str | None]:
    """Return the letter on each cell of a row, None on a free cell."""
    letters = COLOR_LETTERS[: rules.colors]
    cells: list[str | None] = []
    for part in re.findall(r"[0-9]+|.", word):
        if part.isdecimal() and part.isascii():
            cells += [None] * min(int(part[:3]), 100)
        elif part.upper() in letters:
            cells.append(part)
        else:
            raise ValueError(f"{where}: expected letters of {letters} and numbers of free cells, found {quote(part)}")
    if len(cells) != length:
        raise ValueError(f"{where}: expected {length} cells, found {len(cells)}")
    return cells


def read_rack(word: str, rules: Rules, where: str) -> list[int]:
    """Return the tile kinds of a rack up to its last tile, EMPTY for an empty slot."""
    if word == "-":
        return []
    names = re.findall("..?", word)
    if len(names) > rules.rack:
        raise ValueError(f"{where}: expected at most {rules.rack} tiles, found {len(names)}")
    return [EMPTY if name == "--" else _read_kind(name, rules, where) for name in names]


def _read_kind(name: str, rules: Rules, where: str) -> int:
    try:
        return tile_kind(rules, name)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def read_counts(word: str, rules: Rules, where: str, most: int) -> Ints:
    """Return how many tiles of each kind a word such as "RR3RG2" names: [M]."""
    counts = np.zeros(tables(rules).n_kinds, dtype=np.int64)
    if word == "-":
        return counts
    if not re.fullmatch(r"([A-Z]{2}[0-9]{1,3})+", word):
        raise ValueError(f"{where}: expected tiles and their numbers such as RR3RG2, or -, found {quote(word)}")
    for name, count in re.findall(r"([A-Z]{2})([0-9]+)", word):
        kind = _read_kind(name, rules, where)
        if counts[kind]:
            raise ValueError(f"{where}: expected the tile {name} once, found it twice")
        counts[kind] = read_number(count, f"{where}, {name}", most)
    return counts


def check_counts(rules: Rules, where: str, found: Ints, most: NDArray[Any]) -> None:
    """Check that there are at most so many tiles of each kind.

    Raises:
        ValueError: if there are more of one.
    """
    for kind in np.flatnonzero(found > most)[:1].tolist():
        raise ValueError(f"{where}: expected at most {most[kind]} tiles {tile_name(rules, kind)}, found {found[kind]}")


def read_number(word: str, where: str, most: int) -> int:
    """Return a whole number from 0 to `most`."""
    if not re.fullmatch("[0-9]{1,10}", word) or int(word) > most:
        raise ValueError(f"{where}: expected a whole number from 0 to {most}, found {quote(word)}")
    return int(word)


def read_numbers(word: str, count: int, where: str, most: int) -> list[int]:
    """Return whole numbers that are separated by commas."""
    words = word.split(",")
    if len(words) != count:
        raise ValueError(f"{where}: expected {count} numbers, found {len(words)}")
    return [read_number(each, where, most) for each in words]


def read_keys(word: str, players: int) -> list[int]:
    """Return the keys of the draws, which are written in base 16."""
    words = word.split(",")
    if len(words) != players or not all(re.fullmatch("[0-9a-f]{1,16}", each) for each in words):
        raise ValueError(f"keys: expected {players} numbers of up to 16 digits in base 16, found {quote(word)}")
    return [int(each, 16) for each in words]


def read_levels(word: str, rules: Rules) -> NDArray[np.uint8]:
    """Return how many tiles of a kind could be drawn right after each return of one: [M, X]."""
    t = tables(rules)
    levels = np.zeros((t.n_kinds, LEVELS), dtype=np.uint8)
    for each in [] if word == "-" else word.split(","):
        found = re.fullmatch(r"([A-Z]{2})([0-9]+(?:\.[0-9]+)*)", each)
        if found is None:
            raise ValueError(f"levels: expected a tile and numbers such as RG3.2, found {quote(each)}")
        kind, numbers = _read_kind(found[1], rules, "levels"), found[2].split(".")
        if len(numbers) > LEVELS:
            raise ValueError(f"levels, {found[1]}: expected at most {LEVELS} numbers, found {len(numbers)}")
        most = int(t.full_bag.max())
        levels[kind, : len(numbers)] = [read_number(number, f"levels, {found[1]}", most) for number in numbers]
    return levels


def read_returned(word: str, rules: Rules) -> NDArray[np.uint8]:
    """Return how many tiles of each kind were returned since a slot was filled: [P, K, M]."""
    returned = np.zeros((rules.players, rules.rack, tables(rules).n_kinds), dtype=np.uint8)
    for each in word.split(","):
        found = re.fullmatch(r"([0-9])\.([0-9]+)([A-Z].*)", each)
        if found is None:
            raise ValueError(f"returned: expected a seat, its slots and tiles such as 0.135RG2, found {quote(each)}")
        seat = read_number(found[1], "returned, seat", rules.players - 1)
        slots = [read_number(slot, "returned, slot", rules.rack - 1) for slot in found[2]]
        returned[seat, slots] = read_counts(found[3], rules, f"returned, seat {seat}", LEVELS)
    return returned
