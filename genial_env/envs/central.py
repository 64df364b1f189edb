"""The central state: one vector of what all agents together know, for centralized critics.

No agent may know all of it, so it is for training only. Seats and tracks stand in absolute order: the vector is the
same for every agent. It has these parts, in this order, each divided by its maximum as in the encoding "flat", so
that every entry lies between 0 and 1 (axis letters as in :mod:`genial_env.core.state`):

=================  ================  ===============================================================================
part               shape             content, and its maximum
=================  ================  ===============================================================================
``board``          (N, 1 + C)        one-hot for each cell: free, or the color on it; 1
``points``         (N, C)            what color c would score on this free cell; 6 * (2 * side - 1)
``racks``          (P, K, 2, C)      color of each half of the tile in each slot, one-hot; zeros: empty slot; 1
``markers``        (T, C)            the markers; 18, in team and solo 36
``bag``            (M,)              tiles of each kind in the bag; the most of any kind in a full bag
``has_placed``     (P,)              1: the seat has placed its first tile; 1
``to_play``        (P,)              one-hot: the seat to play, after the end the seat that played last; 1
``phase``          (4,)              one-hot: place, bonus, swap, over; 1
``pending_bonus``  (1,)              bonus placements to be made; 2 * K
=================  ================  ===============================================================================

The length L is 1,369 with 2 seats, 1,917 with 3, 2,543 with 4, 2,531 in teams.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.rules import Rules
from genial_env.core.state import EMPTY, FREE, Phase, State
from genial_env.core.tables import tables
from genial_env.encodings import Field
from genial_env.encodings.base import highest_of, scaled

__all__ = ["central_fields", "central_length", "central_state", "count_tiles"]


@lru_cache(maxsize=64)
def central_fields(rules: Rules) -> dict[str, Field]:
    """Return the parts by name, in their order, before the division by their maximum."""
    t, width = tables(rules), 2 * rules.side - 1
    return {
        "board": Field((t.n_cells, 1 + rules.colors), high=1),
        "points": Field((t.n_cells, rules.colors), high=6 * width),
        "racks": Field((rules.players, rules.rack, 2, rules.colors), high=1),
        "markers": Field((rules.tracks, rules.colors), high=rules.top),
        "bag": Field((t.n_kinds,), high=int(t.full_bag.max())),
        "has_placed": Field((rules.players,), high=1),
        "to_play": Field((rules.players,), high=1),
        "phase": Field((len(Phase),), high=1),
        "pending_bonus": Field((1,), high=2 * rules.rack),
    }


def central_length(rules: Rules) -> int:
    """Return L."""
    return len(_highest(rules))


def central_state(state: State) -> NDArray[np.float32]:
    """Compute the central state of each game, a new array [B, L]."""
    rules, t = state.rules, state.tables
    parts: dict[str, NDArray[Any]] = {
        "board": state.board[..., None] == np.arange(FREE, rules.colors),
        "points": state.points,
        "racks": _one_hot(t.kinds.take(state.racks, axis=0), rules.colors) & (state.racks != EMPTY)[..., None, None],
        "markers": state.scores,
        "bag": state.bag,
        "has_placed": state.has_placed,
        "to_play": _one_hot(state.to_play, rules.players),
        "phase": _one_hot(state.phase, len(Phase)),
        "pending_bonus": state.pending_bonus[:, None],
    }
    return scaled((parts[name] for name in central_fields(rules)), _highest(rules))


def count_tiles(state: State, seat: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Count the tiles of each kind in the racks, clockwise from a seat of each game, and in the bag: [B, P + 1, M].

    Args:
        state: B games.
        seat: [B] the seats.
    """
    t = state.tables
    counts = (state.racks[..., None] == np.arange(t.n_kinds)).sum(axis=2)  # [B, P, M]
    from_seat = np.take_along_axis(counts, t.seats_from[seat][:, :, None], axis=1)
    return np.concatenate([from_seat, state.bag[:, None]], axis=1).astype(np.uint8)


@lru_cache(maxsize=64)
def _highest(rules: Rules) -> NDArray[np.float32]:  # [L]
    """Return the maximum that each entry is divided by."""
    return highest_of(central_fields(rules).values())


def _one_hot(values: NDArray[Any], n: int) -> NDArray[np.bool_]:
    hot: NDArray[np.bool_] = values[..., None] == np.arange(n)
    return hot
