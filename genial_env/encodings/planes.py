"""The encoding "planes": the board as planes on the axial grid, everything else as small arrays."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.backends import accelerated
from genial_env.core.bitsets import Ints
from genial_env.core.determinization import complete
from genial_env.core.rules import Rules
from genial_env.core.state import FREE, LEVELS, Phase
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.encodings.base import Field

__all__ = ["Planes", "encode_planes", "places"]


class Planes:
    """A dict of uint8 arrays; own seat and track first, the others clockwise.

    =============  =======================  ==========================================================================
    field          shape                    content
    =============  =======================  ==========================================================================
    ``board``      (2 + 2C, H, H)           H = 2 * side - 1; cell (q, r) stands in row r + side - 1, column
                                            q + side - 1. Planes: 0 in play; 1 free; 2 to 1 + C color c lies here;
                                            2 + C to 1 + 2C what color c would score on this free cell
    ``rack``       (K, 2, C)                color of each half of the tile in each slot, one-hot; zeros: empty slot
    ``markers``    (T, C)                   the markers, 0 to 18 (team and solo: to 36)
    ``unseen``     (M,)                     tiles of each kind in the bag and the others' racks
    ``returned``   (P, K, M)                tiles of each kind returned by swaps since the slot was filled, so that it
                                            holds none of them (others' slots: the longest filled first); not in solo
    ``levels``     (M, 12)                  for the latest returns of each kind, the latest first: tiles of the kind
                                            that were then in the bag, or are in slots filled before; not in solo
    ``rack_sizes`` (P,)                     tiles held by each seat
    ``has_placed`` (P,)                     1: the seat has laid its first tile
    ``to_play``    (P,)                     one-hot: whose decision it is
    ``phase``      (4,)                     one-hot: place, bonus, swap, over
    ``pending_bonus``       (1,)                     bonus placements to be made
    =============  =======================  ==========================================================================
    """

    def fields(self, rules: Rules) -> dict[str, Field]:
        """The fields by name."""
        t, width = tables(rules), 2 * rules.side - 1
        most = int(t.full_bag.max())
        swaps = {
            "returned": Field((rules.players, rules.rack, t.n_kinds), high=LEVELS),
            "levels": Field((t.n_kinds, LEVELS), high=most),
        }
        return {
            "board": Field((2 + 2 * rules.colors, width, width), high=6 * width),
            "rack": Field((rules.rack, 2, rules.colors), high=1),
            "markers": Field((rules.tracks, rules.colors), high=rules.top),
            "unseen": Field((t.n_kinds,), high=most),
            **(swaps if rules.has_swap else {}),
            "rack_sizes": Field((rules.players,), high=rules.rack),
            "has_placed": Field((rules.players,), high=1),
            "to_play": Field((rules.players,), high=1),
            "phase": Field((len(Phase),), high=1),
            "pending_bonus": Field((1,), high=2 * rules.rack),
        }

    def encode(self, view: View) -> dict[str, NDArray[Any]]:
        """[G, *shape] for each field, newly made."""
        return encode_planes(view)

    def decode(self, rules: Rules, arrays: dict[str, NDArray[Any]]) -> View:
        """The views [G], seat 0's."""
        t, grid = tables(rules), arrays["board"]
        n_games, n_colors = len(grid), rules.colors
        cells = grid.reshape(n_games, 2 + 2 * n_colors, (2 * rules.side - 1) ** 2)[:, :, places(rules)]
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
    rules, source = view.rules, _sources(view.rules)
    return {
        "board": _board(view),
        "rack": source.tiles.take(view.rack, axis=0, mode="wrap"),
        "markers": view.scores.astype(np.uint8),
        "unseen": view.unseen.copy(),
        **({"returned": view.returned.copy(), "levels": view.levels.copy()} if rules.has_swap else {}),
        "rack_sizes": view.rack_sizes.astype(np.uint8),
        "has_placed": view.has_placed.astype(np.uint8),
        "to_play": source.seats.take(view.to_play, axis=0),
        "phase": source.phases.take(view.phase, axis=0),
        "pending_bonus": view.pending_bonus[:, None].astype(np.uint8),
    }


@dataclass(frozen=True)
class _Sources:
    """Where the numbers of an observation come from, and what they are compared with."""

    in_play: NDArray[np.uint8]  # [H * H] 1 where the place of the flattened grid is a cell
    cells: Ints  # [H * H] its cell, any off the board
    points: Ints  # [C * H * H] for each color and place where its points stand in [N * C]
    contents: NDArray[np.int8]  # [1 + C, 1] what a cell may hold
    tiles: NDArray[np.uint8]  # [M + 1, 2, C] each kind's halves one-hot; the last, also -1, is no tile
    seats: NDArray[np.uint8]  # [P, P] one-hot
    phases: NDArray[np.uint8]  # [4, 4] one-hot


@lru_cache(maxsize=64)
def _sources(rules: Rules) -> _Sources:
    t, size = tables(rules), (2 * rules.side - 1) ** 2
    in_play, cells = np.zeros(size, dtype=np.uint8), np.zeros(size, dtype=np.int64)
    in_play[places(rules)], cells[places(rules)] = 1, np.arange(t.n_cells)
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
def places(rules: Rules) -> Ints:  # [N]
    """Where each cell stands on the flattened grid."""
    row_and_column = tables(rules).cells[:, ::-1] + rules.side - 1
    at: Ints = row_and_column @ np.array([2 * rules.side - 1, 1])
    return at


def _board(view: View) -> NDArray[np.uint8]:
    """Gathered rather than scattered, one number of the grid after the other, which is twice as fast."""
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
