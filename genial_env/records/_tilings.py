"""Find tiles that can have covered the cells of a board, which shows their halves only."""

import numpy as np
from numpy.typing import NDArray

from genial_env.core.actions import cell_name
from genial_env.core.arrays import Ints
from genial_env.core.rules import Rules
from genial_env.core.state import FREE
from genial_env.core.tables import tables

STEPS = 20_000
"""How many tiles are tried in all. Boards of played games take some hundreds at most."""


def find_laid_tiles(rules: Rules, board: NDArray[np.int8], most: Ints) -> Ints:
    """Return tiles that cover the cells of a board. Several sets of tiles may do; one of them is returned.

    Args:
        rules: the rules.
        board: [N] the color on each cell, -1 where it is free.
        most: [M] how many tiles of each kind there may be.

    Returns:
        [M] the number of tiles of each kind.

    Raises:
        ValueError: if the tiles cannot cover the board, or none were found in :data:`STEPS` steps.
    """
    t = tables(rules)
    covered = board != FREE
    covered[t.start_symbols] = False
    cells = np.flatnonzero(covered).tolist()
    partners = {
        cell: [other for other in t.neighbours[cell].tolist() if other < t.n_cells and covered[other]] for cell in cells
    }
    search = _Search(board.tolist(), partners, t.kind_of.tolist(), most.tolist())
    if not search.cover():
        cell = search.hardest if search.hardest is not None else cells[0]
        q, r = t.cells[cell].tolist()
        why = "were found to" if search.steps >= STEPS else "of the box"
        raise ValueError(
            f"board: no tiles {why} cover all cells: none is left for {cell_name(rules, (q, r))} and a neighbour"
        )
    return most - np.array(search.left, dtype=np.int64)


class _Search:
    """A depth-first search that covers the cell with the fewest possible partners first.

    Args:
        colors: [N] the color on each cell.
        partners: the covered neighbours of each covered cell.
        kind_of: [C, C] the tile kind of two colors.
        left: [M] the tiles that are left; changed in place.
    """

    def __init__(
        self, colors: list[int], partners: dict[int, list[int]], kind_of: list[list[int]], left: list[int]
    ) -> None:
        self._colors, self._partners, self._kind_of, self.left = colors, partners, kind_of, left
        self._open = set(partners)
        self.steps = 0
        self.hardest: int | None = None
        """The first cell for which no partner was left."""

    def cover(self) -> bool:
        """Cover all cells; return whether that was possible. The depth is that of the tiles, at most 136."""
        if not self._open:
            return True
        cell = min(self._open, key=lambda each: (len(self._choices(each)), each))
        choices = self._choices(cell)
        if not choices and self.hardest is None:
            self.hardest = cell
        self._open.remove(cell)
        for kind, other in choices:
            if self.steps >= STEPS:
                break
            self.steps += 1
            self._open.remove(other)
            self.left[kind] -= 1
            if self.cover():
                return True
            self.left[kind] += 1
            self._open.add(other)
        self._open.add(cell)
        return False

    def _choices(self, cell: int) -> list[tuple[int, int]]:
        """Return the kinds and partners with which a cell can be covered, the kind with the most tiles left first."""
        kinds = self._kind_of[self._colors[cell]]
        found = [(kinds[self._colors[other]], other) for other in self._partners[cell] if other in self._open]
        return sorted(
            (each for each in found if self.left[each[0]] > 0), key=lambda each: (-self.left[each[0]], each[1])
        )
