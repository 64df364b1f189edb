"""Hexagonal boards: cells, neighbours, lines and the 12 symmetries.

A cell is an axial pair (q, r) about the centre (0, 0): q grows to the right, r down-right. Pointy-top hexes in
horizontal rows; a board of side 3 numbers its cells in row order, top row first, left to right::

            0   1   2            (0,-2) (1,-2) (2,-2)
          3   4   5   6
        7   8   9  10  11        (-2,0) (-1,0) (0,0) (1,0) (2,0)
         12  13  14  15
           16  17  18            (-2,2) (-1,2) (0,2)

Directions, in order::

      up-left 2   1 up-right
          left 3 - - 0 right
    down-left 4   5 down-right
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["DIRECTIONS", "cell_index", "cells", "corners", "neighbours", "rays", "symmetries"]

DIRECTIONS = ((1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1), (0, 1))
"""The six steps to a neighbour, as (dq, dr)."""


def cells(side: int) -> NDArray[np.int64]:  # [N, 2]
    """Return the axial pairs (q, r) of a board in row order: N = 3 * side * (side - 1) + 1."""
    reach = range(1 - side, side)
    return np.array([(q, r) for r in reach for q in reach if abs(q + r) < side], dtype=np.int64)


def cell_index(side: int) -> dict[tuple[int, int], int]:
    """Return the number of each cell (q, r) in row order."""
    return {(int(q), int(r)): number for number, (q, r) in enumerate(cells(side))}


def neighbours(side: int) -> NDArray[np.int64]:  # [N + 1, 6]
    """Return the neighbour of each cell in each direction; N means "off the board", and its neighbours are N."""
    index = cell_index(side)
    off = len(index)
    table = [[index.get((q + dq, r + dr), off) for dq, dr in DIRECTIONS] for q, r in index]
    return np.array([*table, [off] * 6], dtype=np.int64)


def rays(side: int) -> NDArray[np.int64]:  # [N + 1, 6, 2 * side]
    """Return the cell at distance 0, 1, 2, ... from each cell in each direction; N beyond the edge."""
    step = neighbours(side)
    lines = np.empty((len(step), 6, 2 * side), dtype=np.int64)
    lines[:, :, 0] = np.arange(len(step))[:, None]
    for distance in range(1, 2 * side):
        lines[:, :, distance] = step[lines[:, :, distance - 1], np.arange(6)]
    return lines


def corners(radius: int) -> list[tuple[int, int]]:
    """Return the six corners of the hexagon of some radius around the centre, clockwise from the top left."""
    clockwise = [DIRECTIONS[d] for d in (2, 1, 0, 5, 4, 3)]
    return [(radius * q, radius * r) for q, r in clockwise]


def symmetries(side: int) -> NDArray[np.int64]:  # [12, N]
    """Return the symmetries of the board as permutations: ``symmetries(side)[g, n]`` is the image of cell n.

    The first six rotate the board anticlockwise by 0, 60, ... 300 degrees. The last six mirror it left to right and
    then rotate it by the same angles.
    """
    index = cell_index(side)
    images = []
    for mirrored in (False, True):
        for turns in range(6):
            moved = [_turn(_mirror(cell) if mirrored else cell, turns) for cell in index]
            images.append([index[cell] for cell in moved])
    return np.array(images, dtype=np.int64)


def _turn(cell: tuple[int, int], turns: int) -> tuple[int, int]:
    """Rotate a cell anticlockwise by 60 degrees, so many times."""
    q, r = cell
    for _ in range(turns):
        q, r = q + r, -q
    return q, r


def _mirror(cell: tuple[int, int]) -> tuple[int, int]:
    """Mirror a cell left to right; it stays in its row."""
    q, r = cell
    return -q - r, r
