"""What the lines of the board look like to a color, for the player of solo, who alone decides what they become.

A part of a line is four cells in a row: a pair of neighboring cells with the next cell on both sides. To a color each
cell is free, its own, or closed: it has another color or is off the board. The features of a color count the parts of
each pattern in which at least one cell is its own. A pattern read backwards is the same one.
"""

from functools import lru_cache
from itertools import product

import numpy as np

from genial_env.core.arrays import Ints
from genial_env.core.rules import Rules
from genial_env.core.state import FREE, State
from genial_env.core.tables import tables

__all__ = ["LENGTH", "PATTERNS", "PATTERN_OF", "count_patterns", "find_parts", "has_lines"]

LENGTH = 4
"""The cells of a part."""

_OWN, _CLOSED, _CELLS = 1, 2, ("free", "own", "closed")
_READ = list(product(range(len(_CELLS)), repeat=LENGTH))
_PATTERNS = [cells for cells in _READ if cells <= cells[::-1] and _OWN in cells]

PATTERNS = tuple(", ".join(_CELLS[cell] for cell in cells) for cells in _PATTERNS)
"""The names of the patterns: K."""

PATTERN_OF: Ints = np.array([_PATTERNS.index(min(cells, cells[::-1])) if _OWN in cells else -1 for cells in _READ])
"""[81] the pattern of each code: the cells as the digits of a number of base 3, the first cell's the highest.

It is -1 if no cell is the color's own.
"""


def has_lines(rules: Rules) -> bool:
    """Return whether afterstates have these features."""
    return rules.players == 1


@lru_cache(maxsize=16)
def find_parts(rules: Rules) -> Ints:
    """Return the cells of all parts: [L, 4], N for those off the board."""
    neighbors = tables(rules).neighbours
    first, way = np.nonzero(neighbors[:-1, :3] < len(neighbors) - 1)  # three directions: each pair once
    second = neighbors[first, way]
    parts: Ints = np.stack([neighbors[first, (way + 3) % 6], first, second, neighbors[second, way]], axis=1)
    parts.setflags(write=False)
    return parts


def count_patterns(state: State) -> list[Ints]:
    """Count the parts of each pattern: for each of the K patterns [n, C]."""
    n, rules, parts = len(state), state.rules, find_parts(state.rules)
    board = np.append(state.board, np.full((n, 1), rules.colors, dtype=state.board.dtype), axis=1)
    counts = np.empty((len(PATTERNS), n, rules.colors), dtype=np.int64)
    rows = np.arange(n)[:, None] * (1 + len(PATTERNS)) + 1
    for color in range(rules.colors):
        cells = np.where(board == FREE, 0, np.where(board == color, _OWN, _CLOSED))
        codes = np.zeros((n, len(parts)), dtype=np.int64)
        for place in range(LENGTH):
            codes = codes * len(_CELLS) + cells[:, parts[:, place]]
        found = np.bincount((rows + PATTERN_OF[codes]).reshape(-1), minlength=n * (1 + len(PATTERNS)))
        counts[:, :, color] = found.reshape(n, -1)[:, 1:].T
    return list(counts)
