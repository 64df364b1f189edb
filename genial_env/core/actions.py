"""Convert action ids to objects and back, and name cells and tiles.

``slot * E + placement`` places the tile of a rack slot, its first half on the placement's first cell. ``K * E`` swaps
the rack and ``K * E + 1`` declines (a swap or a bonus placement). Solo has the E placements only.
"""

import re
import string
from dataclasses import dataclass
from functools import lru_cache

from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.tables import tables

__all__ = [
    "Action",
    "Cell",
    "Decline",
    "Place",
    "Swap",
    "cell_name",
    "cell_named",
    "decode",
    "describe",
    "encode",
    "placement_id",
    "tile_kind",
    "tile_name",
    "tile_names",
]

Cell = tuple[int, int]


@dataclass(frozen=True)
class Place:
    """Place the tile of `slot`, its first half on `first` and its second half on `second`, both as (q, r)."""

    slot: int
    first: Cell
    second: Cell

    def __str__(self) -> str:
        return f"slot {self.slot} on {self.first} {self.second}"


@dataclass(frozen=True)
class Swap:
    """Swap the rack: show it, set it aside and draw a new one."""

    def __str__(self) -> str:
        return "swap"


@dataclass(frozen=True)
class Decline:
    """Decline a swap or a bonus placement."""

    def __str__(self) -> str:
        return "decline"


Action = Place | Swap | Decline


def decode(rules: Rules, action: int) -> Action:
    """Return the action of an id as an object.

    Raises:
        ValueError: if the id is not between 0 and A - 1.
    """
    t = tables(rules)
    if not 0 <= action < t.n_actions:
        raise ValueError(f"actions run from 0 to {t.n_actions - 1}, not {action}")
    if t.is_placing(action):
        slot, placement = t.split_action(action)
        first, second = t.cells[t.placements[placement]].tolist()
        return Place(slot, tuple(first), tuple(second))
    return Swap() if action == t.swap_action else Decline()


def encode(rules: Rules, action: Action) -> int:
    """Return the id of an action.

    Raises:
        ValueError: if the slot or a cell does not exist, the cells are not neighbours, or it is a swap or decline in
            solo.
    """
    t = tables(rules)
    if isinstance(action, Place):
        if not 0 <= action.slot < rules.rack:
            raise ValueError(f"rack slots run from 0 to {rules.rack - 1}, not {action.slot}")
        return t.join_action(action.slot, placement_id(rules, action.first, action.second))
    if not rules.has_swap:
        raise ValueError(f"mode {rules.mode!r} has no action {str(action)!r}")
    return t.swap_action if isinstance(action, Swap) else t.decline_action


def placement_id(rules: Rules, first: Cell, second: Cell) -> int:
    """Return the number of an oriented placement.

    Raises:
        ValueError: if a cell is off the board, or the cells are not neighbours.
    """
    t = tables(rules)
    for cell in (first, second):
        if cell not in t.cell_index:
            raise ValueError(f"cell {cell} is not on a board of side {rules.side}")
    direction = t.neighbours[t.cell_index[first]] == t.cell_index[second]
    if not direction.any():
        raise ValueError(f"cells {first} and {second} are not neighbours")
    return int(t.placement_of[t.cell_index[first]][direction][0])


def describe(rules: Rules, action: int) -> str:
    """Describe an action id for messages: "no such action" if it is out of range."""
    return str(decode(rules, action)) if 0 <= action < tables(rules).n_actions else "no such action"


def cell_name(rules: Rules, cell: Cell) -> str:
    """Return the name of a cell (q, r) for people: its row, A at the top, and its number from the left, from 1: "D4".

    Raises:
        ValueError: if the cell is off the board.
    """
    if cell not in tables(rules).cell_index:
        raise ValueError(f"cell {cell} is not on a board of side {rules.side}")
    q, r = cell
    return f"{_row_letters(rules)[r + rules.side - 1]}{q - _first_in_row(rules, r) + 1}"


def cell_named(rules: Rules, name: str) -> Cell:
    """Return the cell of a name (:func:`cell_name`), in upper or lower case.

    Raises:
        ValueError: if no cell has the name; the message says which names there are.
    """
    letters = _row_letters(rules)
    found = re.fullmatch(rf"([{letters}])(\d{{1,3}})", name.strip().upper())
    if found is None:
        raise ValueError(
            f"a cell is a row's letter, {letters[0]} to {letters[-1]}, and its place in it from the left, not {name!r}"
        )
    r = letters.index(found[1]) - rules.side + 1
    length = 2 * rules.side - 1 - abs(r)
    if not 1 <= int(found[2]) <= length:
        raise ValueError(f"the cells of row {found[1]} are {found[1]}1 to {found[1]}{length}, not {name!r}")
    return _first_in_row(rules, r) + int(found[2]) - 1, r


def _row_letters(rules: Rules) -> str:
    return string.ascii_uppercase[: 2 * rules.side - 1]


def _first_in_row(rules: Rules, r: int) -> int:
    """Return q of the leftmost cell of row r."""
    return max(1 - rules.side, 1 - rules.side - r)


def tile_name(rules: Rules, kind: int) -> str:
    """Return the name of a tile kind, the letters of its two colors, first half first: "RO"."""
    return tile_names(rules)[kind]


@lru_cache(maxsize=64)
def tile_names(rules: Rules) -> tuple[str, ...]:
    """Return the names of all tile kinds (:func:`tile_name`)."""
    return tuple("".join(COLOR_LETTERS[color] for color in colors) for colors in tables(rules).kinds.tolist())


def tile_kind(rules: Rules, name: str) -> int:
    """Return the tile kind of a name (:func:`tile_name`), with the letters in any order.

    Raises:
        ValueError: if the name is not two letters of the colors in play.
    """
    letters = COLOR_LETTERS[: rules.colors]
    if not isinstance(name, str) or len(name) != 2 or any(letter not in letters for letter in name):
        raise ValueError(f"a tile is two of the letters {letters}, not {name!r}")
    return int(tables(rules).kind_of[letters.index(name[0]), letters.index(name[1])])
