"""The encoding "planes": the board as planes on the axial grid, everything else as small arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.backends import accelerated
from genial_env.core.arrays import Ints
from genial_env.core.determinization import complete
from genial_env.core.rules import Rules
from genial_env.core.specs import LEVELS, Spec, axis_sizes, limit, shape_of
from genial_env.core.state import FREE, Phase
from genial_env.core.tables import Tables, tables
from genial_env.core.views import View
from genial_env.encodings.base import Field

__all__ = ["PLANE_SPECS", "Planes", "assemble", "encode_planes", "grid_index", "plane_shapes"]


def _most_tiles(t: Tables) -> int:
    return int(t.full_bag.max())


PLANE_SPECS: dict[str, Spec] = {
    "board": Spec("LHH", "planes of the board, see below", high=lambda t: 6 * (2 * t.rules.side - 1)),
    "rack": Spec("K2C", "color of each half of the tile in each slot, one-hot; zeros: empty slot", high=1),
    "markers": Spec("TC", "the markers, R G B O Y P", high=lambda t: t.rules.top),
    "unseen": Spec("M", "tiles of each kind in the bag and the others' racks", high=_most_tiles),
    "returned": Spec(
        "PKM",
        "for each slot of each seat: tiles of each kind that swaps have returned to the bag since the slot was filled, "
        "so that it holds none of them; 12 means 12 or more. Own slots as in `rack`, others' with the longest filled "
        "first",
        high=LEVELS,
    ),
    "levels": Spec(
        "MX",
        "for the latest 12 returns of a tile of each kind, the latest first: how many of the kind were in the bag "
        "right after it, or are in slots that were filled before and have not been shown since; 0 where there was no "
        "such return. What it tells about the others' racks: [hidden information](hidden.md)",
        high=_most_tiles,
    ),
    "rack_sizes": Spec("P", "tiles held", high=lambda t: t.rules.rack),
    "has_placed": Spec("P", "1: the seat has placed its first tile", high=1),
    "to_play": Spec("P", "one-hot: whose decision it is", high=1),
    "phase": Spec("F", "one-hot: place, bonus, swap, over", high=1),
    "pending_bonus": Spec("1", "bonus placements still to be made", high=lambda t: 2 * t.rules.rack),
}
"""The declarations of the fields, uint8 arrays, in their order.

Axes besides those of :func:`~genial_env.core.specs.axis_sizes`: L planes, H rows and columns of the axial grid,
F phases; 1 and 2 stand for themselves.
"""

_ONLY_WITH_SWAP = ("returned", "levels")

_COPIED = {
    "markers": "scores",
    "unseen": "unseen",
    "returned": "returned",
    "levels": "levels",
    "rack_sizes": "rack_sizes",
    "has_placed": "has_placed",
    "pending_bonus": "pending_bonus",
}
"""The fields that hold the numbers of an array of the view, by the name of that array."""


@lru_cache(maxsize=64)
def plane_shapes(rules: Rules) -> Mapping[str, tuple[int, ...]]:
    """Return the shape of every declared field for one game, also of those that these rules lack."""
    own = {"L": 2 + 2 * rules.colors, "H": 2 * rules.side - 1, "F": len(Phase), "1": 1, "2": 2}
    sizes = {**axis_sizes(rules), **own}
    return {name: shape_of(spec, sizes) for name, spec in PLANE_SPECS.items()}


@lru_cache(maxsize=64)
def _fields(rules: Rules) -> dict[str, Field]:
    names = [name for name in PLANE_SPECS if rules.has_swap or name not in _ONLY_WITH_SWAP]
    shapes = plane_shapes(rules)
    return {name: Field(shapes[name], high=limit(PLANE_SPECS[name].high or 0, rules)) for name in names}


class Planes:
    """A dict of uint8 arrays, declared in :data:`PLANE_SPECS`; own seat and track first, the others clockwise.

    ``board`` has the planes: 0 in play; 1 free; 2 to 1 + C color c lies here; 2 + C to 1 + 2C what color c would score
    on this free cell. Cell (q, r) stands in row r + side - 1, column q + side - 1. Solo has no ``returned`` and
    ``levels``.
    """

    def fields(self, rules: Rules) -> dict[str, Field]:
        """Return the fields by name."""
        return dict(_fields(rules))

    def encode(self, view: View) -> dict[str, NDArray[Any]]:
        """Encode views as new arrays [G, *shape], one for each field."""
        return encode_planes(view)

    def decode(self, rules: Rules, arrays: dict[str, NDArray[Any]]) -> View:
        """Return the views [G] of encoded arrays, as seat 0 sees them."""
        t, grid = tables(rules), arrays["board"]
        n_games, n_colors = len(grid), rules.colors
        cells = grid.reshape(n_games, 2 + 2 * n_colors, (2 * rules.side - 1) ** 2)[:, :, grid_index(rules)]
        kinds = t.kind_of[tuple(arrays["rack"].argmax(axis=3).transpose(2, 0, 1))]
        return complete(
            rules,
            board=np.where(cells[:, 1] == 1, -1, cells[:, 2 : 2 + n_colors].argmax(axis=1)),
            scores=arrays["markers"],
            rack=np.where(arrays["rack"].any(axis=(2, 3)), kinds, -1),
            unseen=arrays["unseen"],
            returned=arrays.get("returned", 0),
            levels=arrays.get("levels", 0),
            rack_sizes=arrays["rack_sizes"],
            has_placed=arrays["has_placed"] == 1,
            to_play=arrays["to_play"].argmax(axis=1),
            phase=arrays["phase"].argmax(axis=1),
            pending_bonus=arrays["pending_bonus"][:, 0],
        )


@accelerated
def encode_planes(view: View) -> dict[str, NDArray[Any]]:
    """Compute the fields of :class:`Planes`, [G, *shape] each, newly made."""
    source = _sources(view.rules)
    return assemble(
        view,
        board=_board(view),
        rack=source.tiles.take(view.rack, axis=0, mode="wrap"),
        to_play=source.seats.take(view.to_play, axis=0),
        phase=source.phases.take(view.phase, axis=0),
    )


def assemble(view: View, **computed: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    """Return all fields in their order: the computed ones, and those that are copied from the view."""
    fields: dict[str, NDArray[Any]] = {}
    for name, attribute in _field_sources(view.rules):
        if attribute is None:
            fields[name] = computed[name]
            continue
        source = getattr(view, attribute)
        if source.ndim == 1:  # numbers [G] of the view have the shape [G, 1] in a field
            source = source[:, None]
        fields[name] = source.copy() if source.dtype == _UINT8 else source.astype(_UINT8)  # a copy is faster
    return fields


_UINT8 = np.dtype(np.uint8)


@lru_cache(maxsize=64)
def _field_sources(rules: Rules) -> tuple[tuple[str, str | None], ...]:
    """Return the fields in their order, each with the array of the view that it copies; None: it is computed."""
    return tuple((name, _COPIED.get(name)) for name in _fields(rules))


@dataclass(frozen=True)
class _Sources:
    """Tables for gathering the numbers of an observation."""

    in_play: NDArray[np.uint8]  # [H * H] 1 where the flattened grid has a cell
    cells: Ints  # [H * H] the number of the cell; undefined off the board
    points: Ints  # [C * H * H] for each color and grid index: the index of its points in [N * C]
    contents: NDArray[np.int8]  # [1 + C, 1] what a cell may hold
    tiles: NDArray[np.uint8]  # [M + 1, 2, C] each kind's halves one-hot; the last, also -1, is no tile
    seats: NDArray[np.uint8]  # [P, P] one-hot
    phases: NDArray[np.uint8]  # [4, 4] one-hot


@lru_cache(maxsize=64)
def _sources(rules: Rules) -> _Sources:
    t, size = tables(rules), (2 * rules.side - 1) ** 2
    in_play, cells = np.zeros(size, dtype=np.uint8), np.zeros(size, dtype=np.int64)
    in_play[grid_index(rules)], cells[grid_index(rules)] = 1, np.arange(t.n_cells)
    tiles = np.zeros((t.n_kinds + 1, 2, rules.colors), dtype=np.uint8)
    tiles[:-1] = t.kinds[:, :, None] == np.arange(rules.colors)
    return _Sources(
        in_play=in_play,
        cells=cells,
        points=(cells * rules.colors + np.arange(rules.colors)[:, None]).ravel(),
        contents=np.arange(FREE, rules.colors, dtype=np.int8)[:, None],
        tiles=tiles,
        seats=np.eye(rules.players, dtype=np.uint8),
        phases=np.eye(len(Phase), dtype=np.uint8),
    )


@lru_cache(maxsize=64)
def grid_index(rules: Rules) -> Ints:  # [N]
    """Return the index of each cell on the flattened grid."""
    row_and_column = tables(rules).cells[:, ::-1] + rules.side - 1
    at: Ints = row_and_column @ np.array([2 * rules.side - 1, 1])
    return at


def _board(view: View) -> NDArray[np.uint8]:
    """Return the planes of the board. Numbers are gathered, not scattered, which is twice as fast."""
    width, colors, source = 2 * view.rules.side - 1, view.rules.colors, _sources(view.rules)
    n_games, size = len(view), width * width
    grid = np.empty((n_games, 2 + 2 * colors, width, width), dtype=np.uint8)
    planes = grid.reshape(n_games, 2 + 2 * colors, size)
    planes[:, 0] = 1
    board = view.board.take(source.cells, axis=1)
    np.equal(board[:, None, :], source.contents, out=planes[:, 1:-colors].view(np.bool_))
    points = view.points.reshape(n_games, view.board.shape[1] * colors).take(source.points, axis=1)
    planes[:, -colors:] = points.reshape(n_games, colors, size)
    planes *= source.in_play
    return grid
