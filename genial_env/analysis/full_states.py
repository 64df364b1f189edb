"""The features of full states: of positions of which all racks are known, while a seat draws tiles.

They are for a network of the layers of :class:`~genial_env.policies.value_net.ValueNet`: a row of features for each
color, one for each tile kind, and one for the whole game. Seats and tracks are counted from the seat that draws. All
are integers. *Gains* are in the marker values of the policy "denial".

Full states are for looking back at games. Nothing that plays may see them.

Axis letters as in :mod:`genial_env.core.state`; also D positions and n full states, each of them one of the positions
with other tiles in the racks.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Ints
from genial_env.core.rules import Rules
from genial_env.core.state import FREE, State
from genial_env.policies.afterstates import Features, Inputs
from genial_env.policies.afterstates.features import (
    best_with_color,
    count_by_color,
    count_placements_left,
    marker_features,
    points_features,
)
from genial_env.policies.afterstates.gains import compute_gains, expected_best
from genial_env.policies.afterstates.layout import THRESHOLDS

__all__ = ["Positions", "compute_full_features", "describe_positions", "full_inputs"]


@lru_cache(maxsize=64)
def full_inputs(rules: Rules) -> Inputs:
    """Return the numbers of features of a full state."""
    players, tracks = rules.players, rules.tracks
    return Inputs(
        color=4 * tracks + 1 + len(THRESHOLDS) + 2 + 3 * players + 2,
        kind=players + 1 + tracks,
        game=rules.colors * tracks + 4 * players + 6,
    )


@dataclass(eq=False)
class Positions:
    """What full states have in common that differ only in the tiles in the racks and in the bag: D positions."""

    rules: Rules
    colors: NDArray[np.int16]  # [D, C, ...] features of the colors
    gains: NDArray[np.int16]  # [D, T, M] the greatest gain of each kind for each track
    game: NDArray[np.int16]  # [D, ...] features of the game


def describe_positions(state: State, seats: Ints, until_next: Ints) -> Positions:
    """Compute what does not depend on the tiles.

    Args:
        state: D games.
        seats: [D] the seat that draws.
        until_next: [D] the number of seats from it to the one that plays next.
    """
    rules, t = state.rules, state.tables
    own_first = state.copy()
    own_first.scores[:] = state.scores[np.arange(len(state))[:, None], t.tracks_from[seats]]
    free = state.board == FREE
    around = np.append(free, np.zeros((len(state), 1), dtype=np.bool_), axis=1)
    beside = around[:, t.neighbours[:-1]] & free[:, :, None]
    fits = beside.any(axis=2)
    left = count_placements_left(state, fits)
    game = [
        *np.sort(own_first.scores, axis=2).transpose(1, 2, 0).reshape(-1, len(state)),
        free.sum(axis=1),
        fits.sum(axis=1),
        beside.sum(axis=(1, 2)) // 2,
        until_next,
        left,
        left % rules.players,
    ]
    colors = [*marker_features(own_first), *points_features(own_first, fits)]
    return Positions(
        rules=rules,
        colors=np.stack(colors, axis=2).astype(np.int16),
        gains=np.stack([compute_gains(own_first, track, fits)[0] for track in range(rules.tracks)], axis=1),
        game=np.stack(game, axis=1).astype(np.int16),
    )


def compute_full_features(positions: Positions, at: Ints, racks: NDArray[Any], bag: NDArray[Any]) -> Features:
    """Compute the features of full states: [n, W].

    Args:
        positions: D positions.
        at: [n] the position of each state.
        racks: [n, P, M] the tiles of each kind in each rack, clockwise from the seat that draws.
        bag: [n, M] those in the bag.
    """
    inputs = full_inputs(positions.rules)
    rules, n, held, left = positions.rules, len(at), racks.astype(np.int64), bag.astype(np.int64)
    gains = positions.gains[at]
    by_color: list[NDArray[Any]] = [*count_by_color(rules, left)]
    by_kind: list[NDArray[Any]] = [left, *gains.transpose(1, 0, 2)]
    of_game: list[NDArray[Any]] = []
    for seat in range(rules.players):
        seat_gains = gains[:, rules.track_of(seat)]
        own = np.where(held[:, seat] > 0, seat_gains, np.int16(0))
        best_two = -np.sort(-own, axis=1)[:, :2]
        unseen = np.where(left > 0, seat_gains, np.int16(0))
        size = held[:, seat].sum(axis=1)
        to_draw = np.maximum(rules.rack - size, 0)
        of_game += [*best_two.T, size, expected_best(unseen, bag.astype(np.uint8), to_draw)]
        by_color += [*count_by_color(rules, held[:, seat]), best_with_color(rules, own)]
        by_kind.append(held[:, seat])
    parts = [
        np.concatenate([positions.colors[at], np.stack(by_color, axis=2)], axis=2).reshape(
            n, rules.colors * inputs.color
        ),
        np.stack(by_kind, axis=2).reshape(n, gains.shape[2] * inputs.kind),
        positions.game[at],
        np.stack(of_game, axis=1),
    ]
    return np.concatenate(parts, axis=1).astype(np.int16)
