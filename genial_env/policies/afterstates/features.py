"""The features of afterstates (:mod:`genial_env.policies.afterstates.layout`)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core import kernel
from genial_env.core.arrays import Bools, Ints
from genial_env.core.rules import Rules
from genial_env.core.state import FREE, State
from genial_env.core.tables import tables
from genial_env.policies.afterstates.gains import NOTHING, best_beside, compute_gains, expected_best
from genial_env.policies.afterstates.layout import THRESHOLDS, Features, list_rivals
from genial_env.policies.afterstates.lines import count_patterns, has_lines

__all__ = ["compute_features"]


def compute_features(state: State, others: Ints) -> Features:
    """Compute the features of afterstates for seat 0: [n, W].

    Args:
        state: n games as :func:`genial_env.policies.afterstates.states.make_states` makes them.
        others: [n, P - 1] the number of tiles of each other seat.
    """
    found = _find_shared(state)
    colors, kinds = _describe_colors(state, found), _describe_kinds(state, found)
    rows = [np.stack(each, axis=2).reshape(len(state), -1) for each in (colors, kinds)]
    whole = np.stack(_describe_game(state, found, others), axis=1)
    return np.concatenate([*rows, whole], axis=1).astype(np.int16)


@dataclass(eq=False)
class _Shared:
    """What several features of n afterstates are made of."""

    free: Bools  # [n, N]
    beside: Bools  # [n, N, 6] whether the cell and its neighbor are free
    fits: Bools  # [n, N] the free cells with a free neighbor
    held: Ints  # [n, M] the tiles in the rack
    gains: NDArray[np.int16]  # [n, M] the greatest own gain of each kind
    elsewhere: NDArray[np.int16]  # [n, M] the greatest gain elsewhere, of a tile in the rack
    unseen_gains: list[NDArray[np.int16]]  # for each track [n, M], 0 for kinds of which no tile is unseen

    @property
    def own_gains(self) -> NDArray[np.int16]:
        """[n, M] the greatest gains of the tiles in the rack, 0 for other kinds."""
        return np.where(self.held > 0, self.gains, np.int16(0))


def _find_shared(state: State) -> _Shared:
    """Compute what several features are made of."""
    free = state.board == FREE
    around = np.append(free, np.zeros((len(state), 1), dtype=np.bool_), axis=1)  # and one off the board
    beside = around[:, state.tables.neighbours[:-1]] & free[:, :, None]
    fits = beside.any(axis=2)
    held = kernel.count_kinds(state.racks[:, 0], state.tables.n_kinds)
    gains, elsewhere = compute_gains(state, 0, fits, held)
    by_track = [gains, *(compute_gains(state, track, fits)[0] for track in range(1, state.rules.tracks))]
    unseen_gains = [np.where(state.bag > 0, each, np.int16(0)) for each in by_track]
    return _Shared(free, beside, fits, held, gains, elsewhere, unseen_gains)


def _their_gains(rules: Rules, found: _Shared) -> list[NDArray[np.int16]]:
    """Return the greatest gains of the unseen tiles for each rival: [n, M] each."""
    return [found.unseen_gains[rules.track_of(seat)] for seat in list_rivals(rules)]


def _describe_colors(state: State, found: _Shared) -> list[NDArray[Any]]:
    """Return the features of the colors: [n, C] each."""
    rules = state.rules
    return [
        *marker_features(state),
        *points_features(state, found.fits),
        *count_by_color(rules, found.held),
        *count_by_color(rules, state.bag.astype(np.int64)),
        *(best_with_color(rules, each) for each in (found.own_gains, *_their_gains(rules, found))),
        *(count_patterns(state) if has_lines(rules) else ()),
    ]


def _describe_kinds(state: State, found: _Shared) -> list[NDArray[Any]]:
    """Return the features of the tile kinds: [n, M] each."""
    relevant_gains = np.where((found.held > 0) | (state.bag > 0), found.gains, 0)
    return [found.held, state.bag, relevant_gains, found.elsewhere, *found.unseen_gains[1:]]


def _describe_game(state: State, found: _Shared, others: Ints) -> list[NDArray[Any]]:
    """Return the features of the whole game: [n] each."""
    rules, n_held = state.rules, found.held.sum(axis=1)
    best_two = -np.sort(-found.own_gains, axis=1)[:, :2]
    sizes = others if rules.players > 1 else np.ones((len(state), 1), dtype=np.int64)
    of_rivals: list[NDArray[Any]] = []
    for gains, size in zip(_their_gains(rules, found), sizes.T, strict=True):
        of_rivals += [expected_best(gains, state.bag, size), gains.max(axis=1), size]
    own_unseen, left = found.unseen_gains[0], count_placements_left(state, found.fits)
    return [
        *np.sort(state.scores, axis=2).transpose(1, 2, 0).reshape(-1, len(state)),
        *best_two.T,
        *of_rivals,
        found.free.sum(axis=1),
        found.fits.sum(axis=1),
        found.beside.sum(axis=(1, 2)) // 2,
        state.pending_bonus,
        n_held,
        kernel.may_swap(state),
        expected_best(own_unseen, state.bag, rules.rack - n_held),
        own_unseen.max(axis=1),
        left,
        left % 2,
    ]


def marker_features(state: State) -> list[NDArray[Any]]:
    """Return features of the markers of each track, and the own points to the next stop: [n, C] each."""
    rules, numbers = state.rules, []
    for track in range(rules.tracks):
        markers = state.scores[:, track]
        lower = (markers[:, None, :] < markers[:, :, None]).sum(axis=2)
        numbers += [markers, markers - markers.min(axis=1, keepdims=True), lower, markers == rules.top]
    own = state.scores[:, 0]
    return [*numbers, state.tables.next_stop[own] - own]


def points_features(state: State, fits: Bools) -> list[NDArray[Any]]:
    """Return features of the points on the cells with a free neighbor: [n, C] each."""
    points = np.where(fits[:, :, None], state.points, 0).astype(np.int16)
    here = np.where(fits[:, :, None], points, np.int16(NOTHING))
    side_by_side = (here + best_beside(state, here)).max(axis=1)
    return [
        *((points >= threshold).sum(axis=1) for threshold in THRESHOLDS),
        points.max(axis=1),
        np.maximum(side_by_side, 0),
    ]


def count_placements_left(state: State, fits: Bools) -> Ints:
    """Return an upper bound of the placements left: [n].

    If at most :data:`FEW_CELLS` cells are left, half the cells of each region of adjacent cells is rounded down.
    """
    left: Ints = fits.sum(axis=1) // 2
    few = np.flatnonzero(left <= FEW_CELLS // 2)
    t = state.tables
    n_cells = t.n_cells
    region = np.where(fits[few], np.arange(n_cells), n_cells)  # the lowest cell of its region that a cell knows of
    region = np.append(region, np.full((len(few), 1), n_cells), axis=1)
    while True:
        lowest = np.minimum(region[:, :-1], region[:, t.neighbours[:-1]].min(axis=2))
        lowest[~fits[few]] = n_cells
        if np.array_equal(lowest, region[:, :-1]):
            break
        region[:, :-1] = lowest
    sizes = np.zeros((len(few), n_cells + 1), dtype=np.int64)
    np.add.at(sizes, (np.arange(len(few))[:, None], region[:, :-1]), 1)
    left[few] = (sizes[:, :-1] // 2).sum(axis=1)
    return left


FEW_CELLS = 32
"""The most cells of which regions are told apart."""


def count_by_color(rules: Rules, tiles: Ints) -> tuple[Ints, Ints]:
    """Return how many tiles, given by kind [n, M], have the color on one half, and on both: [n, C] each."""
    shown = tables(rules).color_counts
    return tiles @ (shown == 1), tiles @ (shown == 2)


def best_with_color(rules: Rules, gains: NDArray[Any]) -> NDArray[Any]:
    """Return the greatest gain, given by kind [n, M], of a tile with each color: [n, C]."""
    shown = tables(rules).color_counts > 0
    best: NDArray[Any] = np.where(shown, gains[:, :, None], 0).max(axis=1)
    return best
