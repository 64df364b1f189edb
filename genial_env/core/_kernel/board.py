"""Compute what follows from a board: free placements, the points map, and the start symbols that are touched."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.backends import AnyBackend, accelerated
from genial_env.core import bitsets
from genial_env.core.arrays import Bitsets
from genial_env.core.rules import Rules
from genial_env.core.state import FREE
from genial_env.core.tables import Tables, tables


def open_sets(t: Tables, board: NDArray[Any]) -> Bitsets:
    """Find the placements of boards [B, N] whose two cells are free: [B, W]."""
    return bitsets.pack((board[:, t.placements] == FREE).all(axis=2))


def find_touched_symbols(t: Tables, board: NDArray[Any]) -> NDArray[np.uint8]:
    """Find the start symbols of boards [B, N] that have a tile next to them: [B], bit c for color c's symbol."""
    tiled = board != FREE
    tiled[:, t.start_symbols] = False
    touched: NDArray[np.uint8] = np.bitwise_or.reduce(np.where(tiled, t.near_start_symbol, 0).astype(np.uint8), axis=1)
    return touched


def recount_points(rules: Rules, board: NDArray[Any], *, backend: AnyBackend = None) -> NDArray[np.int8]:
    """Compute the points map of boards [B, N] from scratch: [B, N, C], what color c would score on free cell n.

    Args:
        rules: the rules.
        board: [B, N] the color on each cell, -1 where free.
        backend: the compute backend; None: the current one.

    Raises:
        ValueError: if the boards have another shape.
    """
    n_cells = tables(rules).n_cells
    if board.ndim != 2 or board.shape[1] != n_cells:
        raise ValueError(f"boards must have the shape (B, {n_cells}), not {board.shape}")
    return recount_points_unchecked.on(backend)(rules, board)


@accelerated
def recount_points_unchecked(rules: Rules, board: NDArray[Any]) -> NDArray[np.int8]:
    """Compute :func:`recount_points` without argument checks."""
    t = tables(rules)
    n_games = len(board)
    edged = np.concatenate([board, np.full((n_games, 1), FREE)], axis=1)
    points = np.zeros((n_games, t.n_cells, rules.colors), dtype=np.int8)
    for direction in range(6):
        line = edged[:, t.rays[:-1, direction, 1:]]  # [B, N, distance]
        run = np.logical_and.accumulate((line == line[:, :, :1]) & (line != FREE), axis=2).sum(axis=2)
        for color in range(rules.colors):
            points[:, :, color] += np.where(line[:, :, 0] == color, run, 0).astype(np.int8)
    points[board != FREE] = 0
    return points
