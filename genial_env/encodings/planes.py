"""The encoding "planes": the board as planes on the axial grid, everything else as small arrays."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.bitsets import Ints
from genial_env.encodings.base import Field
from genial_env.rules import Rules
from genial_env.state import FREE, Phase
from genial_env.tables import tables
from genial_env.views import View, complete


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
    ``returned``   (P, K, M)                tiles of each kind that are certain to have been put back by a swap since
                                            the slot's tile was drawn, so that it is none of them (others' slots:
                                            oldest tile first); not in solo
    ``rack_sizes`` (P,)                     tiles held by each seat
    ``has_placed`` (P,)                     1: the seat has laid its first tile
    ``to_play``    (P,)                     one-hot: whose decision it is
    ``phase``      (4,)                     one-hot: place, bonus, swap, over
    ``owed``       (1,)                     bonus placements to be made
    =============  =======================  ==========================================================================
    """

    def fields(self, rules: Rules) -> dict[str, Field]:
        """The fields by name."""
        t, width = tables(rules), 2 * rules.side - 1
        returned = (rules.players, rules.rack, t.n_kinds)
        return {
            "board": Field((2 + 2 * rules.colors, width, width), high=6 * width),
            "rack": Field((rules.rack, 2, rules.colors), high=1),
            "markers": Field((rules.tracks, rules.colors), high=rules.top),
            "unseen": Field((t.n_kinds,), high=int(t.full_bag.max())),
            **({"returned": Field(returned, high=int(t.full_bag.max()))} if rules.has_swap else {}),
            "rack_sizes": Field((rules.players,), high=rules.rack),
            "has_placed": Field((rules.players,), high=1),
            "to_play": Field((rules.players,), high=1),
            "phase": Field((len(Phase),), high=1),
            "owed": Field((1,), high=2 * rules.rack),
        }

    def encode(self, view: View) -> dict[str, NDArray[Any]]:
        """[G, *shape] for each field, newly made."""
        rules = view.rules
        return {
            "board": _board(view),
            "rack": _one_hot(view.tables.kinds.take(view.rack, axis=0), rules.colors)
            * (view.rack >= 0)[..., None, None],
            "markers": view.scores.astype(np.uint8),
            "unseen": view.unseen.copy(),
            **({"returned": view.returned.copy()} if rules.has_swap else {}),
            "rack_sizes": view.rack_sizes.astype(np.uint8),
            "has_placed": view.has_placed.astype(np.uint8),
            "to_play": _one_hot(view.to_play, rules.players),
            "phase": _one_hot(view.phase, len(Phase)),
            "owed": view.owed[:, None].astype(np.uint8),
        }

    def decode(self, rules: Rules, arrays: dict[str, NDArray[Any]]) -> View:
        """The views [G], seat 0's."""
        t, grid = tables(rules), arrays["board"]
        n_games, n_colors = len(grid), rules.colors
        cells = grid.reshape(n_games, 2 + 2 * n_colors, (2 * rules.side - 1) ** 2)[:, :, _grid(rules)]
        kinds = t.kind_of[tuple(arrays["rack"].argmax(axis=3).transpose(2, 0, 1))]
        none_returned = np.zeros((n_games, rules.players, rules.rack, t.n_kinds), dtype=np.uint8)
        return complete(
            rules,
            board=np.where(cells[:, 1] == 1, -1, cells[:, 2 : 2 + n_colors].argmax(axis=1)),
            scores=arrays["markers"],
            rack=np.where(arrays["rack"].any(axis=(2, 3)), kinds, -1),
            unseen=arrays["unseen"],
            returned=arrays.get("returned", none_returned),
            rack_sizes=arrays["rack_sizes"],
            has_placed=arrays["has_placed"] == 1,
            to_play=arrays["to_play"].argmax(axis=1),
            phase=arrays["phase"].argmax(axis=1),
            owed=arrays["owed"][:, 0],
        )


_OFF = FREE - 1


@lru_cache(maxsize=64)
def _grid(rules: Rules) -> Ints:  # [N]
    """Where each cell stands on the flattened grid."""
    row_and_column = tables(rules).cells[:, ::-1] + rules.side - 1
    at: Ints = row_and_column @ np.array([2 * rules.side - 1, 1])
    return at


@lru_cache(maxsize=64)
def _sources(rules: Rules) -> tuple[Ints, Ints]:
    """For each place of the flattened grid its cell, N off the board; and [C * H * H] for each color and place where
    its points stand in [N * C], off the board those of a printed symbol, which are always 0.
    """
    t = tables(rules)
    at = np.full((2 * rules.side - 1) ** 2, t.n_cells)
    at[_grid(rules)] = np.arange(t.n_cells)
    cells = np.where(at < t.n_cells, at, t.printed[0])
    return at, (cells * rules.colors + np.arange(rules.colors)[:, None]).ravel()


def _board(view: View) -> NDArray[np.uint8]:
    """Gathered rather than scattered, one number of the grid after the other, which is twice as fast."""
    rules, t, width, colors = view.rules, view.tables, 2 * view.rules.side - 1, view.rules.colors
    at, points_at = _sources(rules)
    planes = np.empty((len(view), 2 + 2 * colors, width * width), dtype=np.uint8)
    planes[:, 0] = at < t.n_cells
    off_board = np.full((len(view), 1), _OFF, dtype=np.int8)
    board = np.concatenate([view.board, off_board], axis=1).take(at, axis=1)
    flags = planes[:, 1:-colors].view(np.bool_)
    np.equal(board[:, None, :], np.arange(FREE, colors, dtype=np.int8)[:, None], out=flags)
    points = view.points.reshape(len(view), t.n_cells * colors).take(points_at, axis=1)
    planes[:, -colors:] = points.reshape(len(view), colors, width * width)
    return planes.reshape(len(view), 2 + 2 * colors, width, width)


def _one_hot(values: NDArray[Any], n: int) -> NDArray[np.uint8]:
    hot: NDArray[np.uint8] = (values[..., None] == np.arange(n)).astype(np.uint8)
    return hot
