"""Per-thread scratch buffers for the features of afterstates."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from genial_env._compiled.primitives import Array, Arrays
from genial_env._compiled.scratch import per_thread
from genial_env.core.rules import Rules
from genial_env.core.tables import tables
from genial_env.policies.afterstates.gains import FIXED, NOTHING
from genial_env.policies.afterstates.layout import THRESHOLDS, width
from genial_env.policies.afterstates.lines import LENGTH, PATTERN_OF, find_parts, has_lines

MOST_POINTS, N_THRESHOLDS = max(THRESHOLDS), len(THRESHOLDS)


class Buffers(NamedTuple):
    """Scratch buffers of one thread.

    The numbers of cells are computed once for the game before an action. The same numbers after the action are copied
    from them, and changed where the action makes a difference.

    Axis "grid": indices of the grid with a border (`grid_index` of :class:`~genial_env.core.scalar.Facts`), and beyond
    it up to a multiple of the numbers that are computed at once. Axis "layer": the points that a cell offers, then the
    gain of a half there for each track; NOTHING where no tile fits.
    """

    fitting: Array  # [N + 1] uint16 the cells that a tile fits on before the action
    cells: Array  # [N + 1] uint16 their indices
    sizes: Array  # [3] int64 before the action: how many cells these are, pairs of free cells, free cells
    beside: Array  # [grid] int16 the free neighbours of a free cell before the action; MANY elsewhere
    removed: Array  # [16] uint16 the indices of those of the cells that no tile fits on any more
    before: Array  # [1 + T, C, grid] int16 the numbers of the cells before the action
    numbers: Array  # [1 + T, C, grid] int16 the same after the action
    near: Array  # [1 + T, C, grid] int16 the greatest of `numbers` on a neighbour
    thresholds: Array  # [7] int16
    reached: Array  # [points, 8] int16 1 for each of the thresholds that so many points reach, else 0
    counts_before: Array  # [C, 8] int16 the number of cells that reach each threshold before the action
    counts: Array  # [C, 8] int16 the same after the action
    constants: Array  # [W] int16 the features that a placement does not change; anything elsewhere
    by_kind: Array  # [T, M] int16 the value of the best placement of a kind for a track
    elsewhere: Array  # [M] int16 the value of the best placement of a tile in hand elsewhere
    by_cell: Array  # [grid] int16 the value of a tile on each cell
    held: Array  # [M] int16 the tiles in hand
    unseen_values: Array  # [M] int16 the value of the best placement of a kind, 0 if no tile of it is unseen
    ranks: Array  # [32 * n >= M] int32 the same, so that no two are equal
    unseen: Array  # [32 * n >= M] int32 the unseen tiles of a kind
    stack: Array  # [N + 1] uint16 cells of a region
    waiting: Array  # [grid] bool cells that belong to no region yet; False between calls
    chances: Array  # [K + 1, tiles + 1, tiles + 1] int16 as `_compute_chances` returns
    steps: Array  # [6] int64 from a grid index to those of the neighbours
    places: Array  # [2, grid] int16 the column and the row of a grid index
    kind_of: Array  # [C, C] int64 the kind with two colors
    tracks: Array  # [P + 1] int64 the track of a seat
    parts: Array  # [L, 4] int16 the cells of each part of a line, -1 for those off the board; L = 0 with several seats
    parts_of: Array  # [N, 12] int16 the parts with a cell, then -1
    pattern_of: Array  # [81] int64 the pattern of each code of a part
    part: Array  # [4] int64 the colors of a part


MANY = 1 << 8
"""More free neighbours than any cell has."""

AT_ONCE = 64
"""Numbers of cells are computed for a multiple of so many cells, which the processor does fastest."""


@per_thread
def buffers_for(rules: Rules) -> Arrays:
    """Return the scratch buffers of this thread."""
    t, columns = tables(rules), 2 * rules.side + 1
    grid = columns + 1 + _round_up(columns * columns)
    numbers = 1 + rules.tracks, rules.colors, grid
    reached = np.zeros((MOST_POINTS + 1, 8), np.int16)
    reached[:, :N_THRESHOLDS] = np.arange(MOST_POINTS + 1)[:, None] >= THRESHOLDS
    made = Buffers(
        fitting=np.empty(t.n_cells + 1, np.uint16),
        cells=np.empty(t.n_cells + 1, np.uint16),
        sizes=np.empty(3, np.int64),
        beside=np.full(grid, MANY, np.int16),
        removed=np.empty(16, np.uint16),
        before=np.full(numbers, NOTHING, np.int16),
        numbers=np.full(numbers, NOTHING, np.int16),
        near=np.full(numbers, NOTHING, np.int16),
        thresholds=np.array(THRESHOLDS, np.int16),
        reached=reached,
        counts_before=np.zeros((rules.colors, 8), np.int16),
        counts=np.empty((rules.colors, 8), np.int16),
        constants=np.zeros(width(rules), np.int16),
        by_kind=np.empty((rules.tracks, t.n_kinds), np.int16),
        elsewhere=np.empty(t.n_kinds, np.int16),
        by_cell=np.empty(grid, np.int16),
        held=np.empty(t.n_kinds, np.int16),
        unseen_values=np.empty(t.n_kinds, np.int16),
        ranks=np.zeros(-(-t.n_kinds // 32) * 32, np.int32),
        unseen=np.zeros(-(-t.n_kinds // 32) * 32, np.int32),
        stack=np.empty(t.n_cells + 1, np.uint16),
        waiting=np.zeros(grid, np.bool_),
        chances=_compute_chances(rules),
        steps=np.array([1, -1, columns, -columns, columns - 1, 1 - columns]),
        places=np.stack([np.arange(grid) % columns, np.arange(grid) // columns]).astype(np.int16),
        kind_of=t.kind_of.astype(np.int64),
        tracks=np.arange(rules.players + 1) % rules.tracks,
        **_list_parts(rules),
        pattern_of=PATTERN_OF,
        part=np.empty(LENGTH, np.int64),
    )
    return tuple(made)


def _list_parts(rules: Rules) -> dict[str, NDArray[np.int16]]:
    """Return the parts of lines, and those with each cell."""
    n_cells = tables(rules).n_cells
    parts = find_parts(rules) if has_lines(rules) else np.empty((0, LENGTH), np.int64)
    parts_of = np.full((n_cells, 3 * LENGTH), -1, np.int16)
    for cell in range(n_cells):
        with_cell = np.flatnonzero((parts == cell).any(axis=1))
        parts_of[cell, : len(with_cell)] = with_cell
    return {"parts": np.where(parts < n_cells, parts, -1).astype(np.int16), "parts_of": parts_of}


def _round_up(n: int) -> int:
    """Return the next multiple of :data:`AT_ONCE`."""
    return -(-n // AT_ONCE) * AT_ONCE


@lru_cache(maxsize=16)
def _compute_chances(rules: Rules) -> NDArray[np.int16]:
    """Return the probability that no tile of some kinds is drawn: [draws, tiles, tiles of other kinds].

    It is rounded down after every draw, with :data:`FIXED` bits, as in
    :func:`genial_env.policies.afterstates.gains.expected_best`.
    """
    n_tiles = int(tables(rules).full_bag.sum())
    tiles = np.arange(n_tiles + 1)
    share = np.minimum((tiles << FIXED) // np.maximum(tiles, 1)[:, None], 1 << FIXED)
    chances = np.full((rules.rack + 1, n_tiles + 1, n_tiles + 1), 1 << FIXED)
    for draw in range(rules.rack):
        chances[draw + 1] = (chances[draw] * share) >> FIXED
    return chances.astype(np.int16)
