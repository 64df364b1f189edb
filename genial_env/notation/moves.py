"""Parse and format decisions as people type them: "RO D4 D5", "2 D4 D5", "swap", "keep", "decline".

Views are batches of one game, seen by the seat to play, which decides.
"""

from collections.abc import Sequence

import numpy as np

from genial_env.core import kernel
from genial_env.core.actions import Place, cell_name, cell_named, encode, tile_kind, tile_name
from genial_env.core.placement_values import equivalence_keys, tile_values
from genial_env.core.rules import COLOR_LETTERS
from genial_env.core.state import EMPTY, FREE, Phase
from genial_env.core.views import View

__all__ = [
    "WORDS",
    "count_points",
    "format_decision",
    "format_with_points",
    "list_best_by_points",
    "list_distinct",
    "read_decision",
]

WORDS = ("swap", "keep", "decline")
"""The decisions that are not placements. "keep" and "decline" are the same action."""

_DUE = {
    Phase.PLACE: "lay a tile",
    Phase.BONUS: "lay a bonus tile",
    Phase.SWAP: "swap or keep",
    Phase.OVER: "the game is over",
}


def read_decision(view: View, words: Sequence[str]) -> int:
    """Return the action that some words describe.

    Args:
        view: one game, seen by the seat to play.
        words: a tile, or the number of its slot, and two cells; or one of :data:`WORDS`.

    Raises:
        ValueError: if the words are not understood, or the action is illegal; the message says what is expected.
    """
    t, phase = view.tables, Phase(int(view.phase[0]))
    if len(words) == 1 and words[0] in WORDS:
        allowed = view.may_swap if words[0] == "swap" else view.may_decline
        if not allowed[0]:
            raise ValueError(f"no {words[0]} now: {_DUE[phase]}")
        return t.swap_action if words[0] == "swap" else t.decline_action
    if len(words) != 3:
        raise ValueError(f"expected a tile or its slot and two cells, such as RO D4 D5, not {' '.join(words)!r}")
    if phase in (Phase.SWAP, Phase.OVER):
        raise ValueError(f"no tile is laid now: {_DUE[phase]}")
    return _read_placement(view, *words)


def format_decision(view: View, action: int, *, by_slot: bool = False) -> str:
    """Return a legal action as it would be typed.

    Args:
        view: one game, seen by the seat to play.
        action: the id of the action.
        by_slot: whether a tile is named by its slot. Only then reading the text gives the same action id where a rack
            holds a tile twice; otherwise it gives one that leads to the same position.
    """
    t, rules = view.tables, view.rules
    if not t.is_placing(action):
        return "swap" if action == t.swap_action else "keep" if view.phase[0] == Phase.SWAP else "decline"
    slot, placement = t.split_action(action)
    first, second = t.cells[t.placements[placement]].tolist()
    tile = str(slot) if by_slot else tile_name(rules, view.rack[0, slot])
    return f"{tile} {cell_name(rules, tuple(first))} {cell_name(rules, tuple(second))}"


def format_with_points(view: View, action: int) -> str:
    """Return a legal action as it would be typed; a placement with its points: "RO D4 D5: 7 points (R4 O3)"."""
    if not view.tables.is_placing(action):
        return format_decision(view, action)
    points = count_points(view, action)
    by_color = " ".join(f"{letter}{count}" for letter, count in points.items())
    total = sum(points.values())
    sum_words = f"{total} point{'' if total == 1 else 's'}"
    return f"{format_decision(view, action)}: {sum_words}{f' ({by_color})' if points else ''}"


def count_points(view: View, action: int) -> dict[str, int]:
    """Return the points of a legal placement by color letter, before any stop. Colors without points are left out."""
    t = view.tables
    slot, placement = t.split_action(action)
    points: dict[str, int] = {}
    for color, cell in zip(t.kinds[view.rack[0, slot]].tolist(), t.placements[placement].tolist(), strict=True):
        letter = COLOR_LETTERS[color]
        points[letter] = points.get(letter, 0) + int(view.points[0, cell, color])
    return {letter: count for letter, count in points.items() if count}


def list_distinct(view: View) -> list[int]:
    """Return the legal actions in the order of their ids. Of actions that lead to the same position there is one.

    Args:
        view: one game, seen by the seat to play.
    """
    legal = np.flatnonzero(view.mask()[0])
    if not legal.size:
        return []
    distinct: list[int] = legal[
        np.sort(np.unique(equivalence_keys(view, legal[None])[0], return_index=True)[1])
    ].tolist()
    return distinct


def list_best_by_points(view: View, most: int) -> list[int]:
    """Return the legal placements with the most points, the best first, and then the other legal actions.

    Of actions that lead to the same position there is one.

    Args:
        view: one game.
        most: the greatest number of placements.
    """
    distinct = np.array(list_distinct(view), dtype=np.int64)
    is_placing = view.tables.is_placing(distinct)
    placements = distinct[is_placing]
    points = tile_values(view, view.points).reshape(-1)[placements]
    best = placements[np.argsort(-points, kind="stable")][:most]
    return [*best.tolist(), *distinct[~is_placing].tolist()]


def _read_placement(view: View, tile: str, first: str, second: str) -> int:
    rules, t = view.rules, view.tables
    slot, is_reversed = _read_slot(view, tile)
    cells = [cell_named(rules, name) for name in (first, second)]
    for cell in cells:
        if view.board[0, t.cell_index[cell]] != FREE:
            raise ValueError(f"{cell_name(rules, cell)} is not free")
    if is_reversed:
        cells.reverse()
    try:
        action = encode(rules, Place(slot, *cells))
    except ValueError as error:
        raise ValueError(f"a tile lies on two neighbouring cells, not on {first} and {second}") from error
    if not view.placements[0, t.split_action(action)[1]]:
        raise ValueError(f"{kernel.FIRST_TURN_RULE} (printed symbols are small letters)")
    return action


def _read_slot(view: View, tile: str) -> tuple[int, bool]:
    """Return the slot of a tile, and whether its letters are typed in reverse."""
    rules, rack = view.rules, view.rack[0].tolist()
    if tile.isascii() and tile.isdigit():
        filled = [slot for slot, kind in enumerate(rack) if kind != EMPTY]
        if int(tile) not in filled:
            raise ValueError(f"the slots that hold a tile are {', '.join(map(str, filled))}, not {tile}")
        return int(tile), False
    name = tile.upper()
    kind = tile_kind(rules, name)
    if kind not in rack:
        held = " ".join(tile_name(rules, each) for each in rack if each != EMPTY)
        raise ValueError(f"the rack holds {held}, not {name}")
    return rack.index(kind), name != tile_name(rules, kind)
