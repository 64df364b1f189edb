"""What a half opens: the points that it adds to the free cells at the ends of its lines."""

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Ints
from genial_env.core.state import FREE
from genial_env.core.views import View

__all__ = ["add_opened"]


def add_opened(view: View, slope: NDArray[np.int32], total: NDArray[np.int32]) -> NDArray[np.int32]:
    """Add the value of what each half opens to `total` in place, and return `total`.

    A half opens points at each free end of its lines. Their value is the number of points times the slope there. A half
    of color k on cell x::

        y  k  k  x  .          adds 1 point on y, and 1 + 2 points on the free neighbour on the right

    Args:
        view: G games.
        slope: [G, N, C] the value of one point more, 0 on covered cells.
        total: [G, N, C] what the value is added to.
    """
    t, (n_games, n_cells, n_colors) = view.tables, slope.shape
    edged = np.concatenate([slope, np.zeros((n_games, 1, n_colors), dtype=slope.dtype)], axis=1)
    for direction in range(6):
        total += edged.take(t.neighbours[:-1, direction], axis=1)
    line, color, run, end = _lines(view)
    cell_at, towards = np.divmod(line, 6)
    game, cell = np.divmod(cell_at, n_cells)
    by_line = np.zeros((2, n_games * n_cells * 6), dtype=np.int8)
    by_line[0, line], by_line[1, line] = color + 1, run
    opposite = cell_at * 6 + _OPPOSITE[towards]
    back = by_line[1].take(opposite) * (by_line[0].take(opposite) == color + 1)
    beside = t.neighbours[cell, _OPPOSITE[towards]]
    at = edged.reshape(-1)
    opened = at.take((game * (n_cells + 1) + beside) * n_colors + color) * run
    opened += at.take((game * (n_cells + 1) + end) * n_colors + color) * (back + np.int32(1))
    np.add.at(total.reshape(-1), cell_at * n_colors + color, opened)
    return total


_OPPOSITE = np.array([3, 4, 5, 0, 1, 2])


def _lines(view: View) -> tuple[Ints, Ints, Ints, Ints]:
    """Find the lines of one color that begin next to a free cell.

    Returns:
        [L] each: the free cell and direction as an index into [G * N * 6]; the color; the length; the cell behind the
        line (N: off the board).
    """
    t, n_games, n_cells = view.tables, len(view), view.board.shape[1]
    board = np.concatenate([view.board, np.full((n_games, 1), FREE, dtype=np.int8)], axis=1)
    first = board.take(t.neighbours[:-1].ravel(), axis=1).reshape(n_games, n_cells, 6)
    line = np.flatnonzero((first != FREE) & (view.board == FREE)[:, :, None])
    color, base = first.reshape(-1).take(line).astype(np.int64), line // (n_cells * 6) * (n_cells + 1)
    ray = line % (n_cells * 6) * t.rays.shape[2]
    flat, rays = board.reshape(-1), t.rays.reshape(-1)
    run, end = np.ones(len(line), dtype=np.int64), rays.take(ray + 2)
    alive, distance = np.flatnonzero(flat.take(base + end) == color), 1
    while alive.size:
        distance += 1
        run[alive] = distance
        end[alive] = rays.take(ray.take(alive) + distance + 1)
        alive = alive[flat.take(base.take(alive) + end.take(alive)) == color.take(alive)]
    return line, color, run, end
