"""What a seat leaves behind: the placements worth a look, and the position after each, in numbers for a network.

An *afterstate* is the game as a seat's action leaves it, before new tiles are drawn: all that the action decides, and
no luck yet. Everything here starts from views, so it knows what the seat may know.

The numbers are the same whatever is recolored, turned or mirrored: for each color a row of :func:`color_features`, for
the whole game one of :func:`game_features`. All are whole numbers, so that both backends make the same ones.

Axis letters as in :mod:`genial_env.core.state`, and n afterstates, F features of a color, W of an afterstate in all.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.backends import accelerated
from genial_env.core import kernel
from genial_env.core.bitsets import Bools, Ints
from genial_env.core.rules import TRACK_END, Rules
from genial_env.core.state import EMPTY, FREE, LEVELS, State
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.prior import check_prior, compute_prior_values

Features = NDArray[np.int16]

THRESHOLDS = (1, 2, 3, 4, 5, 6, 8)
"""Of points: how many cells offer at least so many."""

NOTHING = -8000
"""Less than any worth, and twice it still fits in 16 bits."""

NONE = -1
"""In a row of candidates: no further one."""


@lru_cache(maxsize=64)
def color_features(rules: Rules) -> list[str]:
    """What the numbers of a color say, F words."""
    marker = ["marker", "above the lowest", "colors lower", "at the top"]
    tracks = [f"track {track}: {word}" for track in range(rules.tracks) for word in marker]
    rivals = [f"seat {seat}: most worth of a tile that shows it" for seat in _rivals(rules)]
    return [
        *tracks,
        "points to the next stop",
        *(f"cells with {points}+ points" for points in THRESHOLDS),
        "most points on a cell",
        "most points on two cells side by side",
        "tiles in hand with one half",
        "doubles in hand",
        "unseen tiles with one half",
        "unseen doubles",
        "most worth of a tile in hand that shows it",
        *rivals,
    ]


@lru_cache(maxsize=64)
def game_features(rules: Rules) -> list[str]:
    """What the numbers of the whole game say."""
    markers = [
        f"track {track}: marker {place} from below" for track in range(rules.tracks) for place in range(rules.colors)
    ]
    rivals = [
        word
        for seat in _rivals(rules)
        for word in (f"seat {seat}: expected worth", f"seat {seat}: most worth", f"seat {seat}: tiles")
    ]
    return [
        *markers,
        "most worth of a tile in hand",
        "of the next tile",
        *rivals,
        "free cells",
        "cells that a tile fits on",
        "pairs of free cells",
        "bonus placements owed",
        "tiles in hand",
        "may swap",
    ]


def _rivals(rules: Rules) -> range:
    """The seats that lay tiles before the next own turn; solo the own, whose tile is still in the bag."""
    return range(1, rules.players) if rules.players > 1 else range(1)


@lru_cache(maxsize=64)
def width(rules: Rules) -> int:
    """W: C * F numbers of the colors, one color after the other, then those of the game."""
    return rules.colors * len(color_features(rules)) + len(game_features(rules))


@dataclass(eq=False)
class Afterstates:
    """n positions, each as an action of a view's seat leaves it."""

    game: Ints  # [n] which view it is of
    actions: Ints  # [n]
    features: Features  # [n, W]
    over: Bools  # [n] the game has ended
    scores: NDArray[np.int8]  # [n, T, C] the markers, own track first

    def __len__(self) -> int:
        """N."""
        return len(self.game)


def candidates(view: View, most: int, prior: HeuristicPolicy | None = None) -> Ints:
    """The actions of each game that are worth a look, the likeliest first.

    Those are the placements of the highest prior value (:func:`~genial_env.policies.prior.compute_prior_values`), one
    of those that lead to the same position, and swap and decline where they are legal.

    Args:
        view: G games in which it is the seat's turn.
        most: how many placements.
        prior: left out, :class:`~genial_env.policies.denial.DenialPolicy`.

    Returns:
        [G, most + 2] action ids, :data:`NONE` behind the last.
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
"""Less than any value of a placement."""


def distinct_placements(view: View) -> Bools:
    """[G, K, E]: the playable placements, of equal ones the first: of a tile that lies in two slots, and of a double
    the two ways round.
    """
    t = view.tables
    earlier = np.tril(view.rack[:, :, None] == view.rack[:, None, :], -1).any(axis=2)
    colors = t.kinds.take(view.rack, axis=0)
    mixed = colors[:, :, 0] != colors[:, :, 1]
    one_way = t.placements[:, 0] < t.placements[:, 1]
    slots = view.slots & ~earlier
    distinct: Bools = slots[:, :, None] & view.placements[:, None, :] & (mixed[:, :, None] | one_way)
    return distinct


def _add_choices(view: View, actions: Ints) -> None:
    """In place: add swap and decline behind the placements."""
    t = view.tables
    for allowed, action in ((view.may_swap, t.swap_action), (view.may_decline, t.decline_action)):
        games = np.flatnonzero(allowed)
        if games.size:
            actions[games, (actions[games] != NONE).sum(axis=1)] = action


def afterstates(view: View, game: Ints, actions: Ints) -> Afterstates:
    """What some actions leave behind.

    Args:
        view: G games in which it is the seat's turn.
        game: [n] the games that the actions are for.
        actions: [n] action ids, playable ones.
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


def turned(view: View) -> State:
    """The games as states in which the seat is number 0, nobody else holds a tile, and the bag holds all unseen tiles.

    No game is like this; it is what the rules need for playing on from a view.
    """
    rules, t, n = view.rules, view.tables, len(view)
    racks = np.full((n, rules.players, rules.rack), EMPTY, dtype=np.int8)
    racks[:, 0] = view.rack
    return State(
        rules=rules,
        board=view.board.copy(),
        points=view.points.copy(),
        open=kernel.open_sets(t, view.board),
        symbols_touched=kernel.find_touched_symbols(t, view.board),
        scores=view.scores.copy(),
        racks=racks,
        bag=view.unseen.copy(),
        key=np.zeros((n, rules.players), dtype=np.uint64),
        drawn=np.zeros((n, rules.players), dtype=np.int64),
        has_placed=view.has_placed.copy(),
        returned=np.zeros((n, rules.players, rules.rack, t.n_kinds), dtype=np.uint8),
        levels=np.zeros((n, t.n_kinds, LEVELS), dtype=np.uint8),
        swapped=np.zeros(n, dtype=np.bool_),
        to_play=view.to_play.copy(),
        phase=view.phase.copy(),
        pending_bonus=view.pending_bonus.copy(),
        decisions=np.zeros(n, dtype=np.int64),
        end=np.zeros(n, dtype=np.int8),
    )


# In numpy


@accelerated
def fill_afterstates(view: View, made: Afterstates) -> None:
    """Fill in `features`, `over` and `scores` of the afterstates in place."""
    for start in range(0, len(made), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        state = turned(view).select(made.game[part])
        kernel.apply_without_draw(state, made.actions[part])
        made.over[part], made.scores[part] = state.over, state.scores
        others = view.rack_sizes[made.game[part], 1:]
        made.features[part] = features(state, others)


AT_ONCE = 2048
"""Afterstates that numpy looks at together, so that they fit in the cache."""


def features(state: State, others: Ints) -> Features:
    """[n, W]: the numbers of afterstates, of seat 0 in states as :func:`turned` makes them.

    Args:
        state: n games.
        others: [n, P - 1] how many tiles the other seats hold.
    """
    rules, t = state.rules, state.tables
    free = np.append(state.board == FREE, np.zeros((len(state), 1), dtype=np.bool_), axis=1)  # and one off the board
    beside = free[:, t.neighbours[:-1]] & free[:, :-1, None]  # [n, N, 6]
    fits = beside.any(axis=2)
    worths = [_worth_by_kind(state, track, fits) for track in range(rules.tracks)]
    held = kernel.count_kinds(state.racks[:, 0], t.n_kinds)
    in_hand = np.where(held > 0, worths[0], 0)  # [n, M]
    sizes = others if rules.players > 1 else np.ones((len(state), 1), dtype=np.int64)
    rivals = [np.where(state.bag > 0, worths[seat % rules.tracks], 0) for seat in _rivals(rules)]
    by_color = [
        *_marker_numbers(state),
        *_points_numbers(state, fits),
        *(_by_color(rules, tiles)[half] for tiles in (held, state.bag.astype(np.int64)) for half in (0, 1)),
        *(_best_showing(rules, worth) for worth in (in_hand, *rivals)),
    ]
    best_two = -np.sort(-in_hand, axis=1)[:, :2]
    whole = [
        *np.sort(state.scores, axis=2).transpose(1, 2, 0).reshape(-1, len(state)),
        best_two[:, 0],
        best_two[:, 1],
        *(
            numbers
            for number, worth in enumerate(rivals)
            for numbers in (_expected(worth, state.bag, sizes[:, number]), worth.max(axis=1), sizes[:, number])
        ),
        free.sum(axis=1),
        fits.sum(axis=1),
        beside.sum(axis=(1, 2)) // 2,
        state.pending_bonus,
        held.sum(axis=1),
        kernel.may_swap(state),
    ]
    colors = np.stack(by_color, axis=2).reshape(len(state), -1)  # [n, C * F]
    return np.concatenate([colors, np.stack(whole, axis=1)], axis=1).astype(np.int16)


def _marker_numbers(state: State) -> list[NDArray[Any]]:
    """Each [n, C]: the markers of every track, and the own points to the next stop."""
    rules, numbers = state.rules, []
    for track in range(rules.tracks):
        markers = state.scores[:, track]
        lower = (markers[:, None, :] < markers[:, :, None]).sum(axis=2)
        numbers += [markers, markers - markers.min(axis=1, keepdims=True), lower, markers == rules.top]
    return [*numbers, _stops(rules, state.scores[:, 0]) - state.scores[:, 0]]


def _stops(rules: Rules, markers: NDArray[np.int8]) -> NDArray[np.int64]:
    return np.where(markers < TRACK_END, TRACK_END, rules.top)


def _points_numbers(state: State, fits: Bools) -> list[NDArray[Any]]:
    """Each [n, C]: what the cells offer that a tile fits on."""
    points = np.where(fits[:, :, None], state.points, 0).astype(np.int16)
    here = np.where(fits[:, :, None], state.points, NOTHING).astype(np.int16)
    side_by_side = (here + _best_beside(state, here)).max(axis=1)
    return [
        *((points >= threshold).sum(axis=1) for threshold in THRESHOLDS),
        points.max(axis=1),
        np.maximum(side_by_side, 0),
    ]


def _best_beside(state: State, values: NDArray[np.int16]) -> NDArray[np.int16]:
    """[n, N, C]: the most that any neighbour of a cell has."""
    nowhere = np.full((len(values), 1, values.shape[2]), NOTHING, dtype=np.int16)
    around = np.append(values, nowhere, axis=1)
    best = around[:, state.tables.neighbours[:-1, 0]]
    for direction in range(1, 6):
        np.maximum(best, around[:, state.tables.neighbours[:-1, direction]], out=best)
    return best


def _worth_by_kind(state: State, track: int, fits: Bools) -> NDArray[np.int16]:
    """[n, M]: what the best placement of each tile kind adds to the worth of a track's markers, as the policy "denial"
    has it, halves by themselves.
    """
    rules = state.rules
    worth, markers = markers_worth(rules), state.scores[:, track].astype(np.int64)
    after = np.minimum(markers[:, None, :] + state.points, _stops(rules, state.scores[:, track])[:, None, :])
    gain = np.where(fits[:, :, None], worth[after] - worth[markers][:, None, :], NOTHING).astype(np.int16)
    beside = _best_beside(state, gain)
    best = [(gain[:, :, a] + beside[:, :, b]).max(axis=1) for a, b in state.tables.kinds]
    result: NDArray[np.int16] = np.maximum(np.stack(best, axis=1), 0)
    return result


@lru_cache(maxsize=64)
def markers_worth(rules: Rules) -> NDArray[np.int16]:
    """[top + 1]: what a marker is worth to "denial"."""
    return DenialPolicy().marker_values(rules)


def _by_color(rules: Rules, tiles: Ints) -> tuple[Ints, Ints]:
    """Each [n, C]: how many of the tiles, counted by kind [n, M], show a color with one half, and with both."""
    kinds = tables(rules).kinds
    shown = (kinds[:, :, None] == np.arange(rules.colors)).sum(axis=1)  # [M, C]
    return tiles @ (shown == 1), tiles @ (shown == 2)


def _best_showing(rules: Rules, worth: NDArray[Any]) -> NDArray[Any]:
    """[n, C]: the most worth [n, M] of a kind that shows the color."""
    kinds = tables(rules).kinds
    shown = (kinds[:, :, None] == np.arange(rules.colors)).any(axis=1)
    best: NDArray[Any] = np.where(shown, worth[:, :, None], 0).max(axis=1)
    return best


def _expected(worth: NDArray[np.int16], unseen: NDArray[np.uint8], size: Ints) -> Ints:
    """[n]: the worth that the best of so many tiles has on the average, drawn from the unseen ones and put back each
    time; in whole numbers, so that both backends agree.
    """
    order = np.argsort(-worth, axis=1, kind="stable")
    values = np.take_along_axis(worth, order, axis=1).astype(np.int64)
    counts = np.take_along_axis(unseen, order, axis=1).astype(np.int64)
    total = counts.sum(axis=1, keepdims=True)
    share = ((total - counts.cumsum(axis=1)) << FIXED) // np.maximum(total, 1)
    none = np.full(share.shape, 1 << FIXED)  # the chance that none is drawn of the kinds up to this one
    for tile in range(int(size.max(initial=0))):
        none = np.where(tile < size[:, None], (none * share) >> FIXED, none)
    before = np.append(np.full((len(none), 1), 1 << FIXED), none[:, :-1], axis=1)
    expected: Ints = (values * (before - none)).sum(axis=1) >> FIXED
    return expected


FIXED = 12
"""Bits of a chance in whole numbers."""
