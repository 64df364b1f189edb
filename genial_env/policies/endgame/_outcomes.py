"""Distinct actions, the utilities of finished games, and the choice between utilities."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core import bitsets, kernel
from genial_env.core.arrays import Bools, Floats, Ints
from genial_env.core.rules import Rules
from genial_env.core.state import EMPTY, Phase, State

__all__ = ["SAME", "choose_best", "find_ends", "list_distinct_actions"]

SAME = 1e-9
"""Values closer than this are equal. They are sums of products of fractions, computed in float64."""


def list_distinct_actions(state: State) -> tuple[Ints, Ints]:
    """Return one action for each position that can be reached: games [n], ascending, and action ids [n].

    Of duplicate tiles the one in the first slot is placed, and a double in the direction that names the lower cell
    first.
    """
    t = state.tables
    open_now = bitsets.unpack(kernel.placement_sets(state), t.n_placements)
    open_now[state.phase > Phase.BONUS] = False
    game, placement = np.nonzero(open_now)
    racks = kernel.own_racks(state)
    duplicates = (racks[:, :, None] == racks[:, None, :]) & np.tri(racks.shape[1], k=-1, dtype=np.bool_)
    usable = (racks != EMPTY) & ~duplicates.any(axis=2)
    wanted = usable[game] & ~(t.is_double[racks[game]] & t.is_reversed[placement, None])
    index, slot = np.nonzero(wanted)
    declining, swapping = np.flatnonzero(kernel.may_decline(state)), np.flatnonzero(kernel.may_swap(state))
    rows = np.concatenate([game[index], swapping, declining])
    actions = np.concatenate(
        [
            t.join_action(slot, placement[index]),
            np.full(len(swapping), t.swap_action),
            np.full(len(declining), t.decline_action),
        ]
    )
    order = np.argsort(rows, kind="stable")
    return rows[order], actions[order]


def find_ends(state: State, rows: Ints, actions: Ints) -> tuple[Bools, Floats]:
    """Return whether each action ends its game [n], and the utilities [n, T] of the games that end, elsewhere 0.

    Args:
        state: the games.
        rows: [n] the game of each action.
        actions: [n] legal actions.
    """
    t, rules = state.tables, state.rules
    placing = t.is_placing(actions)
    track = state.rules.track_of(state.to_play[rows])
    before = state.scores[rows, track]
    own = np.minimum(before + kernel.gained(state, actions, rows), t.furthest[before])
    _, placement = t.split_action(np.where(placing, actions, 0))
    ends = ~bitsets.any_left(state.open[rows] & t.compatible[placement]) | (own == rules.top).all(axis=1)
    ends &= placing
    codes = _marker_codes(rules, state.scores)[rows[ends]]
    codes[np.arange(len(codes)), track[ends]] = _marker_codes(rules, own[ends])
    utilities = np.zeros((len(rows), rules.tracks))
    utilities[ends] = _compute_utilities(rules, codes)
    return ends, utilities


def _marker_codes(rules: Rules, markers: NDArray[Any]) -> Ints:
    """Return integers [...] that compare as sets of markers [..., C] do at the end of a game."""
    base = rules.top + 1
    return np.sort(markers, axis=-1).astype(np.int64) @ base ** np.arange(rules.colors - 1, -1, -1)


def _compute_utilities(rules: Rules, codes: Ints) -> Floats:
    """Return the utilities [n, T] of final markers, given as codes [n, T]."""
    beaten = np.sign(codes[:, :, None] - codes[:, None, :]).sum(axis=2)
    alone = rules.tracks == 1
    utilities: Floats = codes / (rules.top + 1) ** (rules.colors - 1) if alone else beaten / (rules.tracks - 1)
    return utilities


def choose_best(rows: Ints, utilities: Floats, mover: Ints, asking: Ints) -> Floats:
    """Return the utilities of the best action of each game: [G, T].

    Args:
        rows: [n] the game of each action, ascending; no game is left out.
        utilities: [n, T] of the actions.
        mover: [G] the track of the seat that chooses.
        asking: [G] the track against which ties are broken.
    """
    starts = np.searchsorted(rows, np.arange(len(mover)))
    index = np.arange(len(rows))
    own, asked = utilities[index, mover[rows]], utilities[index, asking[rows]]
    best = own >= np.maximum.reduceat(own, starts)[rows] - SAME
    worst = np.where(best, asked, np.inf)
    chosen = best & (worst <= np.minimum.reduceat(worst, starts)[rows] + SAME)
    return utilities[np.minimum.reduceat(np.where(chosen, index, len(rows)), starts)]
