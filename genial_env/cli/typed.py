"""Decisions as people type them: "RO D4 D5", "2 D4 D5", "swap", "keep", "decline".

States are batches of one, and the decisions those of the seat to play.
"""

import numpy as np

from genial_env.core import kernel
from genial_env.core.actions import Place, cell_name, cell_named, encode, tile_kind, tile_name
from genial_env.core.placement_values import equivalence_keys, tile_values
from genial_env.core.state import EMPTY, FREE, Phase, State
from genial_env.core.views import View
from genial_env.render.sentences import points_of

WORDS = ("swap", "keep", "decline")
"""The decisions that are no placements; the last two mean the same."""

_DUE = {Phase.PLACE: "lay a tile", Phase.BONUS: "lay a bonus tile", Phase.SWAP: "swap or keep"}


def read_decision(state: State, words: list[str]) -> int:
    """The action that some words mean.

    Raises:
        ValueError: for what cannot be understood or is not allowed now, saying what was expected.
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


def typed(state: State, action: int) -> str:
    """How one would type a legal action."""
    t, rules = state.tables, state.rules
    if action >= t.swap_action:
        return "swap" if action == t.swap_action else "keep" if state.phase[0] == Phase.SWAP else "decline"
    slot, placement = divmod(action, t.n_placements)
    first, second = t.cells[t.placements[placement]].tolist()
    tile = tile_name(rules, kernel.own_racks(state)[0, slot])
    return f"{tile} {cell_name(rules, tuple(first))} {cell_name(rules, tuple(second))}"


def with_points(state: State, action: int) -> str:
    """The same, and for a placement its points behind a colon: "RO D4 D5: 7 points (R4 O3)"."""
    if action >= state.tables.swap_action:
        return typed(state, action)
    points = points_of(state, action)
    by_color = " ".join(f"{letter}{count}" for letter, count in points.items())
    total = sum(points.values())
    return f"{typed(state, action)}: {total} point{'' if total == 1 else 's'}{f' ({by_color})' if points else ''}"


def best_by_points(view: View, most: int) -> list[int]:
    """So many legal placements of a view of one game, those with the most points first, and then what is no placement.
    Of those that lead to the same position there is one.
    """
    swap_action = view.tables.swap_action
    legal = np.flatnonzero(view.mask()[0])
    distinct = legal[np.sort(np.unique(equivalence_keys(view, legal[None])[0], return_index=True)[1])]
    placements = distinct[distinct < swap_action]
    points = tile_values(view, view.points).reshape(-1)[placements]
    best = placements[np.argsort(-points, kind="stable")][:most]
    return [*best.tolist(), *distinct[distinct >= swap_action].tolist()]


def _read_placement(state: State, tile: str, first: str, second: str) -> int:
    rules = state.rules
    slot, is_turned = _read_slot(state, tile)
    cells = [cell_named(rules, name) for name in (first, second)]
    for cell in cells:
        if state.board[0, state.tables.cell_index[cell]] != FREE:
            raise ValueError(f"{cell_name(rules, cell)} is not free")
    if is_turned:
        cells.reverse()
    try:
        action = encode(rules, Place(slot, *cells))
    except ValueError as error:
        raise ValueError(f"a tile lies on two neighbouring cells, not on {first} and {second}") from error
    if not kernel.is_legal(state, np.array([action]), np.array([0]))[0]:
        raise ValueError(
            "a seat's first tile must lie next to a printed symbol (a small letter) without a tile beside it"
        )
    return action


def _read_slot(state: State, tile: str) -> tuple[int, bool]:
    """The slot of a tile, and whether its letters stand the other way round than in its name."""
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
