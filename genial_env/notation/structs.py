"""Views, states and actions as JSON values, and back.

Seats and tracks are in absolute order, colors are letters, tiles two letters (null: an empty slot), and cells have the
names of :func:`genial_env.core.actions.cell_name`. A board is one text with a character for each cell in the order of
their numbers: a color letter, or a dot where the cell is free. docs/text.md describes the keys.

What is read back is checked: a value that does not fit raises a ValueError that says where, what was expected and what
was found. The objects `legal` and `points` of a view follow from the others and are not read.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._util.strict_json import JSONError
from genial_env._util.validators import (
    BOOLEAN,
    STRING,
    Validator,
    any_value,
    integer,
    json_object,
    list_of,
    mapping_of,
    optional,
    validation_error,
)
from genial_env.core.actions import (
    Decline,
    Place,
    Swap,
    cell_name,
    cell_named,
    decode,
    encode,
    tile_kind,
    tile_name,
)
from genial_env.core.determinization import complete
from genial_env.core.kernel import find_touched_symbols, open_sets, recount_points
from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.state import EMPTY, LEVELS, End, Phase, State
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.notation._json_parts import (
    PHASES,
    JsonObject,
    board_from_json,
    board_to_json,
    counts_from_json,
    counts_to_json,
    key_from_json,
    levels_from_json,
    levels_to_json,
    phase_from_json,
    returned_to_json,
    tiles_from_json,
    tiles_to_json,
    to_absolute,
)

__all__ = [
    "action_from_json",
    "action_to_json",
    "rules_from_json",
    "rules_to_json",
    "state_from_json",
    "state_to_json",
    "view_from_json",
    "view_to_json",
]

_ENDS = {end.words: end for end in End}


# Rules


def rules_to_json(rules: Rules) -> JsonObject:
    """Return all values of the rules, and the names of the cells in the order of their numbers as `cells`."""
    values = {name: getattr(rules, name) for name in rules.__dataclass_fields__}
    return values | {"cells": [cell_name(rules, (q, r)) for q, r in tables(rules).cells.tolist()]}


def rules_from_json(data: Any) -> Rules:
    """Return the rules of an object such as :func:`rules_to_json` returns; `cells` may be missing.

    Raises:
        ValueError: if it does not describe rules that can be played.
    """
    if isinstance(data, dict):
        data = {name: value for name, value in data.items() if name != "cells"}
    return Rules.from_dict(data)


# Views


def view_to_json(view: View, row: int = 0) -> JsonObject:
    """Return what a seat knows of a game, and what it may do now.

    Args:
        view: the views.
        row: the index of the game.
    """
    rules, t, seat = view.rules, view.tables, int(view.seat[row])
    seats, tracks = t.seats_from[seat], t.tracks_from[seat]
    data = {
        "seat": seat,
        "to_play": int((seat + view.to_play[row]) % rules.players),
        "phase": PHASES[Phase(int(view.phase[row]))],
        "pending_bonus": int(view.pending_bonus[row]),
        "board": board_to_json(view.board[row]),
        "scores": to_absolute(view.scores[row], tracks),
        "rack": tiles_to_json(rules, view.rack[row]),
        "rack_sizes": to_absolute(view.rack_sizes[row], seats),
        "has_placed": to_absolute(view.has_placed[row], seats),
        "unseen": counts_to_json(rules, view.unseen[row]),
        "returned": returned_to_json(rules, view.returned[row], seats.tolist()),
        "levels": levels_to_json(rules, view.levels[row]),
    }
    return data | {"legal": _legal_to_json(view, row), "points": _points_to_json(rules, view.points[row])}


def view_from_json(rules: Rules, data: Any, where: str = "") -> View:
    """Return the view of an object such as :func:`view_to_json` returns: a batch of one game.

    Args:
        rules: the rules of the game.
        data: the object.
        where: its location, for messages.

    Raises:
        ValueError: if it does not describe what a seat may know under these rules.
    """
    t = tables(rules)
    found = _view_validator(rules)(data, where)
    seat = found["seat"]
    seats, tracks = t.seats_from[seat], t.tracks_from[seat]
    relative = {int(at): index for index, at in enumerate(seats)}
    returned = np.zeros((rules.players, rules.rack, t.n_kinds), dtype=np.uint8)
    for entry in found["returned"]:
        returned[relative[entry["seat"]], entry["slot"]] = counts_from_json(rules, entry["tiles"], f"{where} returned")
    try:
        return complete(
            rules,
            seat=seat,
            board=[board_from_json(rules, found["board"], where)],
            scores=np.array(found["scores"])[None, tracks],
            rack=[tiles_from_json(rules, found["rack"], where)],
            unseen=[counts_from_json(rules, found["unseen"], f"{where} unseen")],
            returned=returned[None],
            levels=levels_from_json(rules, found["levels"], where)[None],
            rack_sizes=np.array(found["rack_sizes"])[None, seats],
            has_placed=np.array(found["has_placed"])[None, seats],
            to_play=[(found["to_play"] - seat) % rules.players],
            phase=[phase_from_json(found["phase"], where)],
            pending_bonus=[found["pending_bonus"]],
        )
    except JSONError:
        raise
    except ValueError as error:  # no deal of the hidden tiles agrees with it
        raise JSONError(f"{where}: {error}" if where else str(error)) from error


def _view_validator(rules: Rules) -> Validator:
    seat = integer(0, rules.players - 1)
    return json_object(
        optional_keys={"legal": any_value, "points": any_value},
        rack=list_of(optional(STRING), rules.rack),
        seat=seat,
        rack_sizes=list_of(integer(0, rules.rack), rules.players),
        unseen=mapping_of(integer(0, 255)),
        **_public_validators(rules, seat),
    )


def _public_validators(rules: Rules, seat: Validator) -> dict[str, Validator]:
    """Return the validators of the keys that views and states have in common."""
    return {
        "to_play": seat,
        "phase": STRING,
        "pending_bonus": integer(0, rules.players * rules.rack),
        "board": STRING,
        "scores": list_of(list_of(integer(0, rules.top), rules.colors), rules.tracks),
        "has_placed": list_of(BOOLEAN, rules.players),
        "returned": list_of(
            json_object(seat=seat, slot=integer(0, rules.rack - 1), tiles=mapping_of(integer(1, LEVELS)))
        ),
        "levels": mapping_of(list_of(integer(0, 255))),
    }


# States


def state_to_json(state: State, row: int = 0) -> JsonObject:
    """Return everything about a game, hidden tiles and the keys of the draws included.

    Args:
        state: the games.
        row: the index of the game.
    """
    rules = state.rules
    return {
        "to_play": int(state.to_play[row]),
        "phase": PHASES[Phase(int(state.phase[row]))],
        "pending_bonus": int(state.pending_bonus[row]),
        "board": board_to_json(state.board[row]),
        "scores": state.scores[row].tolist(),
        "racks": [tiles_to_json(rules, rack) for rack in state.racks[row]],
        "bag": counts_to_json(rules, state.bag[row]),
        "has_placed": state.has_placed[row].tolist(),
        "returned": returned_to_json(rules, state.returned[row], list(range(rules.players))),
        "levels": levels_to_json(rules, state.levels[row]),
        "keys": [str(key) for key in state.key[row].tolist()],
        "drawn": state.drawn[row].tolist(),
        "decisions": int(state.decisions[row]),
        "end": End(int(state.end[row])).words,
    }


def state_from_json(rules: Rules, data: Any, where: str = "") -> State:
    """Return the state of an object such as :func:`state_to_json` returns: a batch of one game.

    Raises:
        ValueError: if it does not describe a game under these rules.
    """
    t, seat = tables(rules), integer(0, rules.players - 1)
    found = json_object(
        racks=list_of(list_of(optional(STRING), rules.rack), rules.players),
        bag=mapping_of(integer(0, 255)),
        keys=list_of(STRING, rules.players),
        drawn=list_of(integer(0, 2**31), rules.players),
        decisions=integer(0, 2**31),
        end=STRING,
        optional_keys=None,
        **_public_validators(rules, seat),
    )(data, where)
    if found["end"] not in _ENDS:
        raise validation_error(f"{where} end".strip(), f"one of {', '.join(_ENDS)}", found["end"])
    returned = np.zeros((1, rules.players, rules.rack, t.n_kinds), dtype=np.uint8)
    for entry in found["returned"]:
        returned[0, entry["seat"], entry["slot"]] = counts_from_json(rules, entry["tiles"], f"{where} returned")
    board = board_from_json(rules, found["board"], where)[None]
    levels = levels_from_json(rules, found["levels"], where)[None]
    state = State.initial(
        rules,
        1,
        board=board,
        points=recount_points(rules, board),
        open=open_sets(t, board),
        symbols_touched=find_touched_symbols(t, board),
        scores=np.array([found["scores"]], dtype=np.int8),
        racks=np.array([[tiles_from_json(rules, rack, where) for rack in found["racks"]]], dtype=np.int8),
        bag=counts_from_json(rules, found["bag"], f"{where} bag")[None],
        key=np.array([[key_from_json(key, where) for key in found["keys"]]], dtype=np.uint64),
        drawn=np.array([found["drawn"]], dtype=np.int64),
        has_placed=np.array([found["has_placed"]], dtype=np.bool_),
        returned=returned,
        levels=levels,
        swapped=np.asarray(levels[:, :, 0].any(axis=1)),
        to_play=np.array([found["to_play"]], dtype=np.int64),
        phase=np.array([phase_from_json(found["phase"], where)], dtype=np.int8),
        pending_bonus=np.array([found["pending_bonus"]], dtype=np.int64),
        decisions=np.array([found["decisions"]], dtype=np.int64),
        end=np.array([_ENDS[found["end"]]], dtype=np.int8),
    )
    return State.from_arrays(rules, state.arrays())


# Actions


def action_to_json(view: View, action: int, row: int = 0) -> JsonObject:
    """Return a legal action as an object: its `type` ("place", "swap" or "decline"); `slot`, `tile` and `cells`.

    The first letter of the tile lies on the first cell.
    """
    rules = view.rules
    found = decode(rules, action)
    if not isinstance(found, Place):
        return {"type": "swap" if isinstance(found, Swap) else "decline"}
    return {
        "type": "place",
        "slot": found.slot,
        "tile": tile_name(rules, int(view.rack[row, found.slot])),
        "cells": [cell_name(rules, found.first), cell_name(rules, found.second)],
    }


def action_from_json(view: View, data: Any, row: int = 0) -> int:
    """Return the action id of an object such as :func:`action_to_json` returns. It need not be legal.

    Of `slot` and `tile` one may be missing. A tile's letters may be reversed: the first one lies on the first cell.

    Raises:
        ValueError: if it does not describe an action, or the rack does not hold the tile.
    """
    found = json_object(
        type=STRING,
        optional_keys={
            "slot": integer(0, view.rules.rack - 1),
            "tile": STRING,
            "cells": list_of(STRING, 2),
        },
    )(data, "action")
    if found["type"] in ("swap", "decline"):
        return encode(view.rules, Swap() if found["type"] == "swap" else Decline())
    if found["type"] != "place":
        raise validation_error("action type", "place, swap or decline", found["type"])
    if "cells" not in found or not {"slot", "tile"} & found.keys():
        raise validation_error("action", "cells, and a tile or its slot", data)
    first, second = (cell_named(view.rules, name) for name in found["cells"])
    rack, slot = view.rack[row].tolist(), found.get("slot")
    if "tile" in found:
        name = found["tile"].upper()
        kind = tile_kind(view.rules, name)
        if kind not in rack or (slot is not None and rack[slot] != kind):
            held = " ".join(tile_name(view.rules, each) for each in rack if each != EMPTY)
            place = "the rack" if slot is None else f"slot {slot}"
            raise ValueError(f"{place} does not hold {name}: the rack is {held}")
        slot = rack.index(kind) if slot is None else slot
        if name != tile_name(view.rules, kind):
            first, second = second, first
    return encode(view.rules, Place(slot, first, second))


def _legal_to_json(view: View, row: int) -> JsonObject:
    """Return what the seat may do now: the slots and pairs of cells of a placement, and whether it may swap or decline.

    Any tile of the slots may lie on any of the pairs, either way round.
    """
    t = view.tables
    slots = np.flatnonzero(view.slots[row]).tolist()
    open_pairs = np.flatnonzero(view.placements[row] & ~t.is_reversed) if slots else np.zeros(0, dtype=np.int64)
    names = [cell_name(view.rules, (q, r)) for q, r in t.cells.tolist()]
    return {
        "slots": slots,
        "pairs": [f"{names[first]} {names[second]}" for first, second in t.placements[open_pairs].tolist()],
        "swap": bool(view.may_swap[row]),
        "decline": bool(view.may_decline[row]),
    }


def _points_to_json(rules: Rules, points: NDArray[np.int8]) -> dict[str, list[int]]:
    """Return for each color what it would score on each cell now."""
    return {COLOR_LETTERS[color]: points[:, color].tolist() for color in range(rules.colors)}
