"""What the free cells offer: points, and gains of a half, by color and cell on a grid with a border.

They are computed once for the game before an action, and changed where an action makes a difference.
"""

from typing import Any

import numpy as np

from genial_env._compiled.feature_buffers import AT_ONCE, MANY, MOST_POINTS, N_THRESHOLDS, Buffers
from genial_env._compiled.jit import helper
from genial_env._compiled.primitives import Array, fill, flat
from genial_env._compiled.rules import advanced, furthest
from genial_env.core.scalar import Facts, Games
from genial_env.core.state import FREE
from genial_env.policies.afterstates.gains import NOTHING


@helper
def describe_cells(o: Games, t: Facts, r: Buffers, values: Array) -> None:
    """Write what the cells of the one game offer to `before`, and the numbers of free cells."""
    fill(r.beside, MANY)
    fill(flat(r.before), NOTHING)
    n_fitting, n_pairs, n_free = 0, 0, 0
    for cell in range(o.board.shape[1]):
        if o.board[0, cell] != FREE:
            continue
        n_free += 1
        beside = 0
        for direction in range(6):
            other = t.rays[cell, direction, 0]
            beside += other >= 0 and o.board[0, other] == FREE
        index = np.int64(t.grid_index[cell])
        n_pairs += beside
        r.beside[index] = beside
        r.fitting[n_fitting], r.cells[n_fitting] = cell, index
        n_fitting += beside > 0
    r.sizes[0], r.sizes[1], r.sizes[2] = n_fitting, n_pairs >> 1, n_free
    for color in range(t.n_colors):
        describe_cells_of_color(o, t, r, values, color, r.before, r.counts_before)


@helper
def describe_cells_of_color(
    o: Games, t: Facts, r: Buffers, values: Array, color: int, numbers: Array, counts: Array
) -> None:
    """Write what the cells in `cells` offer to a color to numbers [1 + T, C, grid] and counts [C, 8]."""
    points = numbers[0, color]
    for i in range(r.sizes[0]):
        points[r.cells[i]] = o.points[0, r.fitting[i], color]
    for track in range(t.n_tracks):
        marker: Any = np.int64(o.scores[0, track, color])
        limit: Any = np.int64(furthest(t, marker))
        now = values[marker]
        gains = numbers[1 + track, color]
        for i in range(r.sizes[0]):
            index = r.cells[i]
            gains[index] = values[np.uint64(advanced(marker, points[index], limit))] - now
    inner = points[t.width + 1 :]
    for n in range(N_THRESHOLDS):
        threshold, count = np.int16(r.thresholds[n]), np.int16(0)
        for at in range(inner_size(t.width)):
            points_here = inner[at]
            count = np.int16(count + (np.int16(1) if points_here >= threshold else np.int16(0)))
        counts[color, n] = count


@helper
def find_removed(r: Buffers, one: int, other: int) -> Any:
    """Write the cells that no tile fits on after a placement to `removed`; return how many they are.

    They are the cells of the placement, and free neighbours that have no free neighbour left.
    """
    r.removed[0], r.removed[1], n_removed = one, other, 2
    at_one, at_other = r.beside[one], r.beside[other]
    r.beside[one], r.beside[other] = MANY, MANY
    for half in range(2):
        for direction in range(6):
            index = (other if half else one) + r.steps[direction]
            beside = np.int64(r.beside[index]) - 1
            r.beside[index] = beside
            r.removed[n_removed] = index
            n_removed += beside == 0
    for half in range(2):
        for direction in range(6):
            r.beside[(other if half else one) + r.steps[direction]] += 1
    r.beside[one], r.beside[other] = at_one, at_other
    return n_removed


@helper
def remove_cells(t: Facts, r: Buffers, n_removed: int) -> None:
    """Take the cells in `removed` out of the numbers of all cells."""
    for i in range(n_removed):
        index = r.removed[i]
        for color in range(t.n_colors):
            row, gone = r.counts[color], r.reached[min(np.int64(r.numbers[0, color, index]), MOST_POINTS)]
            for n in range(8):
                row[n] -= gone[n]
            for layer in range(1 + t.n_tracks):
                r.numbers[layer, color, index] = NOTHING


@helper
def inner_size(width: int) -> Any:
    """Return how many numbers of a grid are looked at: from the first cell to behind the last one."""
    return (width * (width - 2) + AT_ONCE - 3) // AT_ONCE * AT_ONCE
