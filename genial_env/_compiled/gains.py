"""Compiled implementation of :mod:`genial_env.policies.afterstates.gains`, which computes the same numbers."""

from typing import Any

import numpy as np

from genial_env._compiled.cells import inner_size
from genial_env._compiled.feature_buffers import MANY, Buffers
from genial_env._compiled.jit import helper
from genial_env._compiled.primitives import Array
from genial_env.core.scalar import Facts, Games
from genial_env.policies.afterstates.gains import FIXED, REACH


@helper
def value_kinds(o: Games, t: Facts, r: Buffers, track: int) -> None:
    """Write the value of the best placement of each kind for a track to `by_kind`, and of tiles in hand elsewhere."""
    gains, near = r.numbers[1 + track], r.near[1 + track]
    for kind in range(t.n_kinds):
        is_held = track == 0 and r.held[kind] > 0
        best = np.int64(0)
        if is_held or o.bag[0, kind] > 0:
            best = best_sum(t.width, gains[t.kinds[kind, 0]], near[t.kinds[kind, 1]])
        r.by_kind[track, kind] = best
        if is_held:
            r.elsewhere[kind] = best_elsewhere(t, r, t.kinds[kind, 0], t.kinds[kind, 1], best) if best > 0 else 0
        elif track == 0:
            r.elsewhere[kind] = 0


@helper
def best_sum(width: int, first: Array, second: Array) -> Any:
    """Return the greatest sum of the numbers at the same index of two grids, at least 0."""
    one, other = first[width + 1 :], second[width + 1 :]
    most = np.int16(0)
    for at in range(inner_size(width)):
        most = max(most, np.int16(one[at] + other[at]))
    return np.int64(most)


@helper
def greatest(width: int, numbers: Array) -> Any:
    """Return the greatest of the numbers of a grid, at least 0."""
    inner = numbers[width + 1 :]
    most = np.int16(0)
    for at in range(inner_size(width)):
        most = max(most, inner[at])
    return np.int64(most)


@helper
def best_elsewhere(t: Facts, r: Buffers, a: int, b: int, value: int) -> Any:
    """Return the greatest value of a tile on a cell that is not near every cell of the best placements, at least 0.

    The cells near all of those are the cells whose coordinates in the three directions of the grid are near the least
    and the greatest of theirs.
    """
    edge = t.width + 1
    one, other = r.numbers[1, a][edge:], r.numbers[1, b][edge:]
    near_one, near_other = r.near[1, a][edge:], r.near[1, b][edge:]
    by_cell, best = r.by_cell[edge:], np.int16(value)
    for at in range(inner_size(t.width)):
        by_cell[at] = max(np.int16(one[at] + near_other[at]), np.int16(other[at] + near_one[at]))
    columns, rows = r.places[0][edge:], r.places[1][edge:]
    far = np.int16(MANY)
    least_q, least_r, least_s = far, far, far
    most_q, most_r, most_s = np.int16(-MANY), np.int16(-MANY), np.int16(-MANY)
    for at in range(inner_size(t.width)):
        away = np.int16(0) if by_cell[at] == best else far
        q, row = columns[at], rows[at]
        s = np.int16(q + row)
        least_q, most_q = min(least_q, np.int16(q + away)), max(most_q, np.int16(q - away))
        least_r, most_r = min(least_r, np.int16(row + away)), max(most_r, np.int16(row - away))
        least_s, most_s = min(least_s, np.int16(s + away)), max(most_s, np.int16(s - away))
    from_q, to_q = np.int16(most_q - REACH), np.int16(least_q + REACH)
    from_r, to_r = np.int16(most_r - REACH), np.int16(least_r + REACH)
    from_s, to_s = np.int16(most_s - REACH), np.int16(least_s + REACH)
    most = np.int16(0)
    for at in range(inner_size(t.width)):
        q, row = columns[at], rows[at]
        s = np.int16(q + row)
        is_near = (q >= from_q) & (q <= to_q) & (row >= from_r) & (row <= to_r) & (s >= from_s) & (s <= to_s)
        here = by_cell[at]
        most = max(most, np.int16(0) if is_near else here)
    return np.int64(most)


@helper
def find_unseen(o: Games, t: Facts, r: Buffers, track: int) -> Any:
    """Write the numbers of unseen tiles of the kinds, and their values for a track; return the greatest value."""
    most = np.int16(0)
    for kind in range(t.n_kinds):
        unseen, value = np.int32(o.bag[0, kind]), r.by_kind[track, kind]
        value = value if unseen > 0 else np.int16(0)
        most = max(most, value)
        r.unseen_values[kind] = value
        r.unseen[kind] = unseen
        r.ranks[kind] = np.int32(value) * np.int32(t.n_kinds) + np.int32(kind)
    return np.int64(most)


@helper
def expect(t: Facts, r: Buffers, chances: Array) -> Any:
    """Return the expected value of the best of some of the tiles that :func:`find_unseen` has found.

    It is that of :func:`genial_env.policies.afterstates.gains.expected_best`. For each kind all tiles of lower kinds
    are counted, which is faster than to sort them, as the processor cannot foresee the order.

    Args:
        t: the facts.
        r: buffers.
        chances: [tiles] the probability that only tiles of some kinds are drawn, by how many of these are unseen.
    """
    expected: Any = np.int64(0)
    for kind in range(t.n_kinds):
        rank, lower = r.ranks[kind], np.int32(0)
        for other in range(len(r.ranks) >> 5 << 5):
            unseen = r.unseen[other]
            lower = np.int32(lower + (unseen if r.ranks[other] < rank else np.int32(0)))
        drawn: Any = np.int64(chances[lower + r.unseen[kind]]) - chances[lower]
        expected += np.int64(r.unseen_values[kind]) * drawn
    return expected >> FIXED
