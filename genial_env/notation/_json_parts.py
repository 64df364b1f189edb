"""The parts of positions as JSON values: boards, tiles, counts, and what swaps have shown."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._util.strict_json import JSONError
from genial_env._util.validators import validation_error
from genial_env.core.actions import tile_kind, tile_name
from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.state import EMPTY, LEVELS, Phase
from genial_env.core.tables import tables

JsonObject = dict[str, Any]
"""A dictionary that becomes a JSON object."""

FREE_CELL = "."

PHASES = {Phase.PLACE: "place", Phase.BONUS: "bonus", Phase.SWAP: "swap", Phase.OVER: "over"}
"""The names of the decisions."""


def to_absolute(values: NDArray[Any], order: NDArray[Any]) -> list[Any]:
    """Return values in the order of a view as a list in absolute order."""
    reordered = np.empty_like(values)
    reordered[order] = values
    found: list[Any] = reordered.tolist()
    return found


def board_to_json(board: NDArray[np.int8]) -> str:
    return "".join((COLOR_LETTERS + FREE_CELL)[color] for color in board.tolist())


def board_from_json(rules: Rules, text: str, where: str) -> NDArray[np.int8]:
    letters = COLOR_LETTERS[: rules.colors]
    n_cells = tables(rules).n_cells
    if len(text) != n_cells or set(text) - set(letters + FREE_CELL):
        raise validation_error(f"{where} board".strip(), f"{n_cells} of the characters {letters}{FREE_CELL}", text)
    return np.array([letters.find(letter) for letter in text], dtype=np.int8)


def tiles_to_json(rules: Rules, kinds: NDArray[np.int8]) -> list[str | None]:
    return [None if kind == EMPTY else tile_name(rules, kind) for kind in kinds.tolist()]


def tiles_from_json(rules: Rules, tiles: list[str | None], where: str) -> list[int]:
    return [EMPTY if tile is None else read_kind(rules, tile, f"{where} rack") for tile in tiles]


def read_kind(rules: Rules, tile: str, where: str) -> int:
    try:
        return tile_kind(rules, tile)
    except ValueError as error:
        raise JSONError(f"{where.strip()}: {error}") from error


def counts_to_json(rules: Rules, counts: NDArray[Any]) -> dict[str, int]:
    return {tile_name(rules, kind): count for kind, count in enumerate(counts.tolist()) if count}


def counts_from_json(rules: Rules, counts: dict[str, int], where: str) -> NDArray[np.uint8]:
    found = np.zeros(tables(rules).n_kinds, dtype=np.uint8)
    for tile, count in counts.items():
        found[read_kind(rules, tile, where)] = count
    return found


def returned_to_json(rules: Rules, returned: NDArray[np.uint8], seats: list[int]) -> list[JsonObject]:
    """Return the slots of which swaps tell something."""
    return [
        {"seat": seats[at], "slot": slot, "tiles": counts_to_json(rules, returned[at, slot])}
        for at, slot in np.argwhere(returned.any(axis=2)).tolist()
    ]


def levels_to_json(rules: Rules, levels: NDArray[np.uint8]) -> dict[str, list[int]]:
    """Return the levels of each kind, the latest return first; zeros stand for no return and are left out."""
    return {
        tile_name(rules, kind): [level for level in levels[kind].tolist() if level]
        for kind in np.flatnonzero(levels.any(axis=1)).tolist()
    }


def levels_from_json(rules: Rules, by_tile: dict[str, list[int]], where: str) -> NDArray[np.uint8]:
    found = np.zeros((tables(rules).n_kinds, LEVELS), dtype=np.uint8)
    for tile, levels in by_tile.items():
        if len(levels) > LEVELS:
            raise validation_error(f"{where} levels {tile}".strip(), f"at most {LEVELS} numbers", levels)
        found[read_kind(rules, tile, f"{where} levels"), : len(levels)] = levels
    return found


def phase_from_json(name: str, where: str) -> int:
    for phase, known in PHASES.items():
        if name == known:
            return int(phase)
    raise validation_error(f"{where} phase".strip(), f"one of {', '.join(PHASES.values())}", name)


def key_from_json(text: str, where: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) < 2**64):
        raise validation_error(f"{where} keys".strip(), "a whole number below 2**64 as text", text)
    return int(text)
