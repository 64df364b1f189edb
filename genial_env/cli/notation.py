"""Parse and format decisions as people type them: "RO D4 D5", "2 D4 D5", "swap", "keep", "decline".

States are batches of one game. The decisions are those of the seat to play.
"""

import numpy as np

from genial_env.core import kernel
from genial_env.core.actions import Place, cell_name, cell_named, encode, tile_kind, tile_name
from genial_env.core.placement_values import equivalence_keys, tile_values
from genial_env.core.state import EMPTY, FREE, Phase, State
from genial_env.core.views import View
from genial_env.render.sentences import points_by_color

WORDS = ("swap", "keep", "decline")
"""The decisions that are not placements. "keep" and "decline" are the same action."""

_DUE = {Phase.PLACE: "lay a tile", Phase.BONUS: "lay a bonus tile", Phase.SWAP: "swap or keep"}


def read_decision(state: State, words: list[str]) -> int:
    """Return the action that some words describe.

    Raises:
        ValueError: if the words are not understood, or the action is illegal; the message says what is expected.
    """
    t, phase = state.tables, Phase(int(state.phase[0]))
    if len(words) == 1 and words[0] in WORDS:
        allowed = kernel.may_swap(state) if words[0] == "swap" else kernel.may_decline(state)
        if not allowed[0]:
            raise ValueError(f"no {words[0]} now: {_DUE[phase]}")
        return t.swap_action if words[0] == "swap" else t.decline_action
    if len(words) != 3:
        raise ValueError(f"expected a tile or its slot and two cells, such as RO D4 D5, not {' '.join(words)!r}")
    if phase == Phase.SWAP:
        raise ValueError(f"no tile is laid now: {_DUE[phase]}")
    return _read_placement(state, *words)


def format_decision(state: State, action: int) -> str:
    """Return a legal action as it would be typed."""
    t, rules = state.tables, state.rules
    if not t.is_placing(action):
        return "swap" if action == t.swap_action else "keep" if state.phase[0] == Phase.SWAP else "decline"
    slot, placement = t.split_action(action)
    first, second = t.cells[t.placements[placement]].tolist()
    tile = tile_name(rules, kernel.own_racks(state)[0, slot])
    return f"{tile} {cell_name(rules, tuple(first))} {cell_name(rules, tuple(second))}"


def format_with_points(state: State, action: int) -> str:
    """Return a legal action as it would be typed; a placement with its points: "RO D4 D5: 7 points (R4 O3)"."""
    if not state.tables.is_placing(action):
        return format_decision(state, action)
    points = points_by_color(state, action)
    by_color = " ".join(f"{letter}{count}" for letter, count in points.items())
    total = sum(points.values())
    sum_words = f"{total} point{'' if total == 1 else 's'}"
    return f"{format_decision(state, action)}: {sum_words}{f' ({by_color})' if points else ''}"


def list_best_by_points(view: View, most: int) -> list[int]:
    """Return the legal placements with the most points, the best first, and then the other legal actions.

    Of actions that lead to the same position there is one.

    Args:
        view: one game.
        most: the greatest number of placements.
    """
    legal = np.flatnonzero(view.mask()[0])
    distinct = legal[np.sort(np.unique(equivalence_keys(view, legal[None])[0], return_index=True)[1])]
    is_placing = view.tables.is_placing(distinct)
    placements = distinct[is_placing]
    points = tile_values(view, view.points).reshape(-1)[placements]
    best = placements[np.argsort(-points, kind="stable")][:most]
    return [*best.tolist(), *distinct[~is_placing].tolist()]


def _read_placement(state: State, tile: str, first: str, second: str) -> int:
    rules = state.rules
    slot, is_reversed = _read_slot(state, tile)
    cells = [cell_named(rules, name) for name in (first, second)]
    for cell in cells:
        if state.board[0, state.tables.cell_index[cell]] != FREE:
            raise ValueError(f"{cell_name(rules, cell)} is not free")
    if is_reversed:
        cells.reverse()
    try:
        action = encode(rules, Place(slot, *cells))
    except ValueError as error:
        raise ValueError(f"a tile lies on two neighbouring cells, not on {first} and {second}") from error
    if not kernel.is_legal(state, np.array([action]), np.array([0]))[0]:
        raise ValueError(f"{kernel.FIRST_TURN_RULE} (printed symbols are small letters)")
    return action


def _read_slot(state: State, tile: str) -> tuple[int, bool]:
    """Return the slot of a tile, and whether its letters are typed in reverse."""
    rules, rack = state.rules, kernel.own_racks(state)[0].tolist()
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
