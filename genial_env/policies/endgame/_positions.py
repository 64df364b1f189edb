"""Simplify positions, and compute keys that are equal for positions of the same value."""

import numpy as np

from genial_env.core import kernel
from genial_env.core.arrays import Bits, Ints
from genial_env.core.state import EMPTY, Phase, State
from genial_env.policies.endgame._matching import most_placements_left
from genial_env.policies.endgame._merging import as_words

__all__ = ["compute_keys", "decline_useless_swaps", "forget_irrelevant"]


def decline_useless_swaps(state: State) -> State:
    """In place: decline the swaps whose tiles could never be placed; return the state."""
    idle = (state.phase == Phase.SWAP) & (most_placements_left(state) < state.rules.players)
    if idle.any():
        rows = np.flatnonzero(idle)
        kernel.apply(state, np.full(len(rows), state.tables.decline_action), rows)
    return state


def forget_irrelevant(state: State) -> State:
    """In place: remove what cannot matter any more: racks of seats that get no turn, and what swaps have shown."""
    players = state.rules.players
    left = most_placements_left(state)
    may_decline = kernel.may_decline(state)
    for ahead in range(1, players):
        idle = np.flatnonzero(left < ahead + ~may_decline)
        state.racks[idle, state.tables.seats_from[state.to_play[idle], ahead]] = EMPTY
    if state.swapped.any():
        state.returned[:] = 0
        state.levels[:] = 0
        state.swapped[:] = False
    return state


def compute_keys(state: State, asking: Ints) -> Bits:
    """Return keys [G, words]. Positions with equal keys have equal values.

    Args:
        state: G games.
        asking: [G] the track of the seat for which the game is solved.
    """
    n_games = len(state)
    left = most_placements_left(state)
    bag = np.where((left >= state.rules.players)[:, None], state.bag, 0)
    parts = (
        state.board,
        state.scores.reshape(n_games, -1),
        np.sort(state.racks, axis=2).reshape(n_games, -1),
        state.has_placed,
        bag,
        np.stack([state.to_play, state.phase, np.minimum(state.pending_bonus, left), asking], axis=1),
    )
    return as_words(np.concatenate([part.astype(np.uint8) for part in parts], axis=1))
