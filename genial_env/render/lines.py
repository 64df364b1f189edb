"""Straight lines of one color on a board: how long they are, and which of them a tile scores."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from genial_env.core.actions import Cell
from genial_env.core.arrays import Ints
from genial_env.core.rules import COLOR_LETTERS
from genial_env.core.state import FREE, State
from genial_env.core.tables import Tables

__all__ = ["Line", "run_lengths", "scoring_lines"]


@dataclass(frozen=True)
class Line:
    """A straight line that half a tile scores: the cell of the half first, then the cells of its color.

    Each cell after the first is a point.
    """

    letter: str
    cells: tuple[Cell, ...]

    @property
    def points(self) -> int:
        """The number of points that the line scores."""
        return len(self.cells) - 1


def run_lengths(t: Tables, board: NDArray[np.int8]) -> Ints:
    """Return how many cells of one color lie next to each cell in each direction, in a straight line.

    The color is that of the neighbour. A free neighbour, or none, makes the length 0.

    Args:
        t: the tables of the rules.
        board: [N] the color on each cell of one board.

    Returns:
        [N, 6] cells, by cell and direction (:data:`genial_env.core.hexgrid.DIRECTIONS`).
    """
    beyond = np.append(board, FREE)[t.rays[:-1, :, 1:]]  # the added entry stands for all that is off the board
    same = (beyond == beyond[:, :, :1]) & (beyond != FREE)
    lengths: Ints = np.logical_and.accumulate(same, axis=2).sum(axis=2)
    return lengths


def scoring_lines(state: State, row: int, first: Cell, second: Cell) -> list[Line]:
    """Return the lines that a tile on the board scores.

    For the tile laid last these are the lines that it scored. For an earlier tile they are the lines that it would
    score now.

    Args:
        state: the games, with the tile on the board.
        row: the index of the game.
        first: the cell of the tile's first half, (q, r).
        second: the cell of its second half.

    Raises:
        ValueError: if a cell is off the board or free.
    """
    t, board, lengths = state.tables, state.board[row], run_lengths(state.tables, state.board[row])
    for cell in (first, second):
        if cell not in t.cell_index or board[t.cell_index[cell]] == FREE:
            found = "free" if cell in t.cell_index else "off the board"
            raise ValueError(f"a half must lie on {cell}, which is {found}")
    numbers = [t.cell_index[cell] for cell in (first, second)]
    lines = []
    for own, other in (numbers, reversed(numbers)):
        color = int(board[own])
        for direction, length in enumerate(lengths[own].tolist()):
            ray = t.rays[own, direction, : length + 1].tolist()
            if length and ray[1] != other and board[ray[1]] == color:
                cells = [(q, r) for q, r in t.cells[ray].tolist()]
                lines.append(Line(COLOR_LETTERS[color], tuple(cells)))
    return lines
