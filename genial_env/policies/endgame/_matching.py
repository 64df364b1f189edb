"""How many tiles can still be placed on a board."""

from functools import lru_cache

import numpy as np

from genial_env.core import bitsets
from genial_env.core.arrays import Ints
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.tables import tables
from genial_env.policies.endgame._merging import find_unique_rows

__all__ = ["most_placements_left"]


def most_placements_left(state: State) -> Ints:
    """Return the most tiles that can still be placed in each game, whatever the racks hold: [B].

    It is the size of the largest matching of the free cells that have a free neighbor. If there are more than 20 such
    cells, it is half their number, which is never too low.
    """
    first, inverse = find_unique_rows(state.open)
    counts = np.array([_matching_size(state.rules, state.open[row].tobytes()) for row in first], dtype=np.int64)
    return counts[inverse]


_MOST_CELLS = 20
"""With more free cells the matching is not computed but bounded."""


@lru_cache(maxsize=1 << 16)
def _matching_size(rules: Rules, open_set: bytes) -> int:
    """Return the size of the largest matching of a board, given its set of open placements."""
    t = tables(rules)
    placements = np.flatnonzero(bitsets.unpack(np.frombuffer(open_set, dtype=np.uint64)[None], t.n_placements)[0])
    pairs = t.placements[placements]
    cells, first = np.unique(pairs[:, 0], return_index=True)
    if len(cells) > _MOST_CELLS:
        return len(cells) // 2
    number = {cell: index for index, cell in enumerate(cells.tolist())}
    beside = [0] * len(first)
    for a, b in pairs.tolist():
        beside[number[a]] |= 1 << number[b]
    return _find_largest_matching(tuple(beside), (1 << len(beside)) - 1)


def _find_largest_matching(beside: tuple[int, ...], free: int) -> int:
    """Return the size of the largest matching of cells.

    Args:
        beside: for each cell a bitset of its neighbors.
        free: the bitset of the cells that may be matched.
    """
    known: dict[int, int] = {}

    def largest(free: int) -> int:
        if free in known:
            return known[free]
        degrees = [((beside[cell] & free).bit_count(), cell) for cell in range(len(beside)) if free >> cell & 1]
        degree, cell = min((pair for pair in degrees if pair[0]), default=(0, -1))
        if degree == 0:
            return 0
        rest, neighbours = free & ~(1 << cell), beside[cell] & free
        found = 0 if degree == 1 else largest(rest)  # a cell with one neighbour may always be matched with it
        while neighbours:
            lowest = neighbours & -neighbours
            neighbours ^= lowest
            found = max(found, 1 + largest(rest & ~lowest))
        known[free] = found
        return found

    return largest(free)
