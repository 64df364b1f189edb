"""Candidate actions, and the features of the positions that they lead to.

An *afterstate* is the position after a seat's action and before it draws new tiles: everything that the action
determines, and nothing random. Everything here is computed from views, so it uses only what the seat may know.

The features do not change if the board is rotated or mirrored. There is a row of :func:`color_features` for each color,
a row of :func:`kind_features` for each tile kind, and one of :func:`game_features` for the whole game. All are
integers, so that both backends compute the same ones. *Gains* are in the marker values of the policy "denial".

Axis letters as in :mod:`genial_env.core.tables`; also n afterstates, F features of a color, D of a tile kind, W
features in all.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.backends import accelerated
from genial_env.core import kernel
from genial_env.core.arrays import Bools, Floats32, Ints
from genial_env.core.rules import Rules
from genial_env.core.state import EMPTY, FREE, State
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.policies.base import NONE
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.prior import check_prior, compute_prior_values

__all__ = [
    "Afterstates",
    "Features",
    "afterstates",
    "candidates",
    "color_features",
    "distinct_placements",
    "game_features",
    "kind_features",
    "split_features",
    "width",
]

Features = NDArray[np.int16]

THRESHOLDS = (1, 2, 3, 4, 5, 6, 8)
"""There is a feature for each: the number of cells that score at least so many points."""

NOTHING = -8000
"""Less than any gain; twice it still fits in 16 bits."""


@lru_cache(maxsize=64)
def color_features(rules: Rules) -> list[str]:
    """Return the names of the features of a color: F."""
    marker = ["marker", "marker above the lowest", "lower markers", "marker at the top"]
    tracks = [f"track {track}: {word}" for track in range(rules.tracks) for word in marker]
    their_gains = [f"seat {seat}: greatest gain of an unseen tile with the color" for seat in _others(rules)]
    return [
        *tracks,
        "points to the next stop",
        *(f"cells that score {points}+ points" for points in THRESHOLDS),
        "most points on a cell",
        "most points on two neighboring cells",
        "tiles in the rack with one half",
        "doubles in the rack",
        "unseen tiles with one half",
        "unseen doubles",
        "greatest gain of a tile in the rack with the color",
        *their_gains,
    ]


@lru_cache(maxsize=64)
def kind_features(rules: Rules) -> list[str]:
    """Return the names of the features of a tile kind: D."""
    return [
        "tiles in the rack",
        "unseen tiles",
        "greatest gain, of a tile in the rack or unseen",
        "greatest gain elsewhere, of a tile in the rack",
        *(f"track {track}: greatest gain, of an unseen tile" for track in range(1, rules.tracks)),
    ]


@lru_cache(maxsize=64)
def game_features(rules: Rules) -> list[str]:
    """Return the names of the features of the whole game."""
    markers = [
        f"track {track}: marker number {place} from the lowest"
        for track in range(rules.tracks)
        for place in range(rules.colors)
    ]
    their_gains = [
        word
        for seat in _others(rules)
        for word in (f"seat {seat}: expected gain", f"seat {seat}: greatest gain", f"seat {seat}: tiles")
    ]
    return [
        *markers,
        "greatest gain of a tile in the rack",
        "second greatest gain",
        *their_gains,
        "free cells",
        "free cells with a free neighbor",
        "pairs of neighboring free cells",
        "pending bonus placements",
        "tiles in the rack",
        "may swap",
        "expected gain of the tiles to be drawn",
        "greatest gain of an unseen tile",
        "most placements left",
        "most placements left, modulo 2",
    ]


def _others(rules: Rules) -> range:
    """Return the seats that play before the next own turn, counted from the own; solo the own, which draws first."""
    return range(1, rules.players) if rules.players > 1 else range(1)


@lru_cache(maxsize=64)
def width(rules: Rules) -> int:
    """Return W: C * F features of the colors, then M * D of the tile kinds, then those of the game."""
    by_color, by_kind = rules.colors * len(color_features(rules)), tables(rules).n_kinds * len(kind_features(rules))
    return by_color + by_kind + len(game_features(rules))


def split_features(rules: Rules, features: Features) -> tuple[Features, Features, Features]:
    """Split features [n, W] into those of the colors [n, C, F], of the kinds [n, M, D] and of the game [n, ...]."""
    n, per_color, per_kind = len(features), len(color_features(rules)), len(kind_features(rules))
    colors, kinds, game = np.split(
        features, np.cumsum([rules.colors * per_color, tables(rules).n_kinds * per_kind]), axis=1
    )
    return colors.reshape(n, -1, per_color), kinds.reshape(n, -1, per_kind), game


@dataclass(eq=False)
class Afterstates:
    """The positions after n actions."""

    game: Ints  # [n] the index of the view
    actions: Ints  # [n]
    features: Features  # [n, W]
    over: Bools  # [n] the game has ended
    scores: NDArray[np.int8]  # [n, T, C] the markers, own track first

    def __len__(self) -> int:
        """Return n."""
        return len(self.game)


def candidates(view: View, most: int, prior: HeuristicPolicy | None = None) -> Ints:
    """Return the candidate actions of each game, the best placements first.

    Those are the placements of the highest prior value (:func:`~genial_env.policies.prior.compute_prior_values`), one
    of those that lead to the same position, and swap and decline where they are legal.

    Args:
        view: G games in which it is the seat's turn.
        most: the most placements.
        prior: sorts the placements; by default :class:`~genial_env.policies.denial.DenialPolicy`.

    Returns:
        [G, most + 2] action ids, :data:`NONE` after the last.
    """
    prior = check_prior(prior)
    actions = np.full((len(view), most + 2), NONE, dtype=np.int64)
    rank_placements(view, prior, actions[:, :most])
    _add_choices(view, actions)
    return actions


@accelerated
def rank_placements(view: View, prior: HeuristicPolicy, out: Ints) -> None:
    """Write the best placements of each game, best first, into `out` [G, most], which holds :data:`NONE`."""
    t = view.tables
    placing = np.flatnonzero(view.slots.any(axis=1))
    if not placing.size:
        return
    placers = view.select(placing)
    values = compute_prior_values(prior, placers).astype(np.int64)
    values[~distinct_placements(placers)] = IMPOSSIBLE
    flat = values.reshape(len(placing), t.swap_action)
    best = np.argsort(-flat, axis=1, kind="stable")[:, : out.shape[1]]
    possible = np.take_along_axis(flat, best, axis=1) > IMPOSSIBLE
    out[placing, : best.shape[1]] = np.where(possible, best, NONE)


IMPOSSIBLE = -(1 << 40)
"""Less than the value of any placement."""


def distinct_placements(view: View) -> Bools:
    """Return one legal placement for each position that can be reached: [G, K, E].

    Of duplicate tiles it is that of the first slot, of a double the direction that names the lower cell first.
    """
    t = view.tables
    is_duplicate = np.tril(view.rack[:, :, None] == view.rack[:, None, :], -1).any(axis=2)
    slots = view.slots & ~is_duplicate
    directed = ~t.is_double[view.rack][:, :, None] | ~t.is_reversed
    distinct: Bools = slots[:, :, None] & view.placements[:, None, :] & directed
    return distinct


def _add_choices(view: View, actions: Ints) -> None:
    """In place: add swap and decline after the placements."""
    t = view.tables
    for allowed, action in ((view.may_swap, t.swap_action), (view.may_decline, t.decline_action)):
        games = np.flatnonzero(allowed)
        if games.size:
            actions[games, (actions[games] != NONE).sum(axis=1)] = action


def afterstates(view: View, game: Ints, actions: Ints) -> Afterstates:
    """Compute the afterstates of actions.

    Args:
        view: G games in which it is the seat's turn.
        game: [n] the game of each action.
        actions: [n] legal action ids.
    """
    rules = view.rules
    made = Afterstates(
        game=game,
        actions=actions,
        features=np.empty((len(game), width(rules)), dtype=np.int16),
        over=np.empty(len(game), dtype=np.bool_),
        scores=np.empty((len(game), rules.tracks, rules.colors), dtype=np.int8),
    )
    fill_afterstates(view, made)
    return made


def make_states(view: View) -> State:
    """Return states in which the viewing seat is seat 0, the others hold no tiles, and the bag holds all unseen ones.

    No real game is like this. It is what the rules need to apply an action of the seat.
    """
    rules, t, n = view.rules, view.tables, len(view)
    racks = np.full((n, rules.players, rules.rack), EMPTY, dtype=np.int8)
    racks[:, 0] = view.rack
    return State.initial(
        rules,
        n,
        board=view.board.copy(),
        points=view.points.copy(),
        open=kernel.open_sets(t, view.board),
        symbols_touched=kernel.find_touched_symbols(t, view.board),
        scores=view.scores.copy(),
        racks=racks,
        bag=view.unseen.copy(),
        has_placed=view.has_placed.copy(),
        to_play=view.to_play.copy(),
        phase=view.phase.copy(),
        pending_bonus=view.pending_bonus.copy(),
    )


@accelerated
def fill_afterstates(view: View, made: Afterstates) -> None:
    """Fill in `features`, `over` and `scores` of the afterstates in place."""
    for start in range(0, len(made), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        state = make_states(view).select(made.game[part])
        kernel.apply_without_draw(state, made.actions[part])
        made.over[part], made.scores[part] = state.over, state.scores
        others = view.rack_sizes[made.game[part], 1:]
        made.features[part] = compute_features(state, others)


AT_ONCE = 2048
"""Afterstates computed together, so that they fit in the cache."""


def compute_features(state: State, others: Ints) -> Features:
    """Compute the features of afterstates for seat 0: [n, W].

    Args:
        state: n games as :func:`make_states` makes them.
        others: [n, P - 1] the number of tiles of each other seat.
    """
    rules, t = state.rules, state.tables
    free = np.append(state.board == FREE, np.zeros((len(state), 1), dtype=np.bool_), axis=1)  # and one off the board
    beside = free[:, t.neighbours[:-1]] & free[:, :-1, None]  # [n, N, 6]
    fits = beside.any(axis=2)
    held = kernel.count_kinds(state.racks[:, 0], t.n_kinds)
    gains, elsewhere = _compute_gains(state, 0, fits, held)
    by_track = [gains, *(_compute_gains(state, track, fits)[0] for track in range(1, rules.tracks))]
    own_gains = np.where(held > 0, gains, 0)  # [n, M]
    relevant_gains = np.where((held > 0) | (state.bag > 0), gains, 0)
    unseen_gains = [np.where(state.bag > 0, each, 0) for each in by_track]
    sizes = others if rules.players > 1 else np.ones((len(state), 1), dtype=np.int64)
    their_gains = [unseen_gains[rules.track_of(seat)] for seat in _others(rules)]
    by_color = [
        *_marker_features(state),
        *_points_features(state, fits),
        *(_count_by_color(rules, tiles)[half] for tiles in (held, state.bag.astype(np.int64)) for half in (0, 1)),
        *(_best_with_color(rules, each) for each in (own_gains, *their_gains)),
    ]
    by_kind = [held, state.bag, relevant_gains, elsewhere, *unseen_gains[1:]]
    best_two = -np.sort(-own_gains, axis=1)[:, :2]
    n_held, most_left = held.sum(axis=1), _count_placements_left(state, fits)
    whole = [
        *np.sort(state.scores, axis=2).transpose(1, 2, 0).reshape(-1, len(state)),
        best_two[:, 0],
        best_two[:, 1],
        *(
            numbers
            for number, each in enumerate(their_gains)
            for numbers in (_expected_best(each, state.bag, sizes[:, number]), each.max(axis=1), sizes[:, number])
        ),
        free.sum(axis=1),
        fits.sum(axis=1),
        beside.sum(axis=(1, 2)) // 2,
        state.pending_bonus,
        n_held,
        kernel.may_swap(state),
        _expected_best(unseen_gains[0], state.bag, rules.rack - n_held),
        unseen_gains[0].max(axis=1),
        most_left,
        most_left % 2,
    ]
    parts = [np.stack(each, axis=2).reshape(len(state), -1) for each in (by_color, by_kind)]
    return np.concatenate([*parts, np.stack(whole, axis=1)], axis=1).astype(np.int16)


def _marker_features(state: State) -> list[NDArray[Any]]:
    """Return features of the markers of each track, and the own points to the next stop: [n, C] each."""
    rules, numbers = state.rules, []
    for track in range(rules.tracks):
        markers = state.scores[:, track]
        lower = (markers[:, None, :] < markers[:, :, None]).sum(axis=2)
        numbers += [markers, markers - markers.min(axis=1, keepdims=True), lower, markers == rules.top]
    own = state.scores[:, 0]
    return [*numbers, state.tables.next_stop[own] - own]


def _points_features(state: State, fits: Bools) -> list[NDArray[Any]]:
    """Return features of the points on the cells with a free neighbor: [n, C] each."""
    points = np.where(fits[:, :, None], state.points, 0).astype(np.int16)
    here = np.where(fits[:, :, None], state.points, NOTHING).astype(np.int16)
    side_by_side = (here + _best_beside(state, here)).max(axis=1)
    return [
        *((points >= threshold).sum(axis=1) for threshold in THRESHOLDS),
        points.max(axis=1),
        np.maximum(side_by_side, 0),
    ]


def _best_beside(state: State, values: NDArray[np.int16]) -> NDArray[np.int16]:
    """Return the maximum over the neighbors of each cell: [n, N, C]."""
    nowhere = np.full((len(values), 1, values.shape[2]), NOTHING, dtype=np.int16)
    around = np.append(values, nowhere, axis=1)
    best = around[:, state.tables.neighbours[:-1, 0]]
    for direction in range(1, 6):
        np.maximum(best, around[:, state.tables.neighbours[:-1, direction]], out=best)
    return best


def _compute_gains(
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
    beside = _best_beside(state, gain)
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


def _count_placements_left(state: State, fits: Bools) -> Ints:
    """Return an upper bound of the placements left: [n].

    If at most :data:`FEW_CELLS` cells are left, half the cells of each region of adjacent cells is rounded down.
    """
    left = fits.sum(axis=1) // 2
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


@lru_cache(maxsize=64)
def denial_marker_values(rules: Rules) -> NDArray[np.int16]:
    """Return the marker values of the policy "denial": [top + 1]."""
    return DenialPolicy().marker_values(rules)


def _count_by_color(rules: Rules, tiles: Ints) -> tuple[Ints, Ints]:
    """Return how many tiles, given by kind [n, M], have the color on one half, and on both: [n, C] each."""
    shown = tables(rules).color_counts
    return tiles @ (shown == 1), tiles @ (shown == 2)


def _best_with_color(rules: Rules, gains: NDArray[Any]) -> NDArray[Any]:
    """Return the greatest gain, given by kind [n, M], of a tile with each color: [n, C]."""
    shown = tables(rules).color_counts > 0
    best: NDArray[Any] = np.where(shown, gains[:, :, None], 0).max(axis=1)
    return best


def _expected_best(gains: NDArray[np.int16], unseen: NDArray[np.uint8], size: Ints) -> Ints:
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
