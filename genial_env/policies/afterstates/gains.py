"""The greatest gains of tile kinds, in the marker values of the policy "denial"."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Bools, Floats32, Ints
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.tables import tables
from genial_env.policies.denial import DenialPolicy

__all__ = [
    "FIXED",
    "NOTHING",
    "REACH",
    "best_beside",
    "compute_gains",
    "denial_marker_values",
    "expected_best",
]

NOTHING = -8000
"""Less than any gain; twice it still fits in 16 bits."""


@lru_cache(maxsize=64)
def denial_marker_values(rules: Rules) -> NDArray[np.int16]:
    """Return the marker values of the policy "denial": [top + 1]."""
    return DenialPolicy().marker_values(rules)


def best_beside(state: State, values: NDArray[np.int16]) -> NDArray[np.int16]:
    """Return the maximum over the neighbors of each cell: [n, N, C]."""
    nowhere = np.full((len(values), 1, values.shape[2]), NOTHING, dtype=np.int16)
    around = np.append(values, nowhere, axis=1)
    best = around[:, state.tables.neighbours[:-1, 0]]
    for direction in range(1, 6):
        np.maximum(best, around[:, state.tables.neighbours[:-1, direction]], out=best)
    return best


def compute_gains(
    state: State, track: int, fits: Bools, held: Ints | None = None
) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return the greatest gain of each tile kind for a track, as the sum of its halves, and the greatest elsewhere.

    Elsewhere are the placements of a cell that is more than two cells away from a cell of a best placement. They do not
    overlap with that one.

    Args:
        state: n games.
        track: the track.
        fits: [n, N] the free cells with a free neighbor.
        held: [n, M] the tiles in the rack. The gain elsewhere is 0 for other kinds.

    Returns:
        [n, M] each.
    """
    t, values, markers = state.tables, denial_marker_values(state.rules), state.scores[:, track]
    after = np.minimum(markers[:, None, :] + state.points, t.furthest[markers][:, None, :])
    gain = np.where(fits[:, :, None], values[after] - values[markers][:, None, :], NOTHING).astype(np.int16)
    beside = best_beside(state, gain)
    best = np.empty((len(state), t.n_kinds), dtype=np.int16)
    elsewhere = np.zeros_like(best)
    for kind, (a, b) in enumerate(t.kinds):
        by_cell = gain[:, :, a] + beside[:, :, b]
        best[:, kind] = by_cell.max(axis=1)
        some = np.flatnonzero(held[:, kind]) if held is not None else ()
        if len(some):
            by_cell = np.maximum(by_cell[some], gain[some, :, b] + beside[some, :, a])  # of a tile that covers the cell
            is_best = by_cell == best[some, kind, None]
            is_elsewhere = is_best.astype(np.float32) @ _is_far(state.rules) > 0
            elsewhere[some, kind] = np.where(is_elsewhere, by_cell, NOTHING).max(axis=1)
    return np.maximum(best, 0), np.maximum(elsewhere, 0)


@lru_cache(maxsize=64)
def _is_far(rules: Rules) -> Floats32:
    """Return 1 for the pairs of cells that are more than two cells away from each other, else 0: [N, N]."""
    q, r = (tables(rules).cells[:, None, i] - tables(rules).cells[None, :, i] for i in (0, 1))
    far: Floats32 = (np.maximum(np.abs(q), np.maximum(np.abs(r), np.abs(q + r))) > REACH).astype(np.float32)
    return far


REACH = 2
"""Placements of cells that are farther apart than this do not overlap."""


def expected_best(gains: NDArray[np.int16], unseen: NDArray[np.uint8], size: Ints) -> Ints:
    """Return the expected greatest gain of tiles drawn with replacement from the unseen ones: [n].

    It is computed in integers, so that both backends agree.

    Args:
        gains: [n, M] by kind.
        unseen: [n, M] the number of unseen tiles of each kind.
        size: [n] the number of tiles drawn.
    """
    order = np.argsort(-gains, axis=1, kind="stable")
    values = np.take_along_axis(gains, order, axis=1).astype(np.int64)
    counts = np.take_along_axis(unseen, order, axis=1).astype(np.int64)
    total = counts.sum(axis=1, keepdims=True)
    share = ((total - counts.cumsum(axis=1)) << FIXED) // np.maximum(total, 1)
    none = np.full(share.shape, 1 << FIXED)  # the probability that no tile of the kinds up to this one is drawn
    for tile in range(int(size.max(initial=0))):
        none = np.where(tile < size[:, None], (none * share) >> FIXED, none)
    before = np.append(np.full((len(none), 1), 1 << FIXED), none[:, :-1], axis=1)
    expected: Ints = (values * (before - none)).sum(axis=1) >> FIXED
    return expected


FIXED = 12
"""The bits of a probability as an integer."""
