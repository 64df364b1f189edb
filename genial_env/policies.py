"""Policies: a batch of views in, an action for each out. Any callable with a name will do.

The package itself has the two that everything else is measured against, "random" and "greedy"; the strong ones live
outside, in `agents`.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from genial_env import bitsets
from genial_env.bitsets import Bitsets, Bools, Ints
from genial_env.chance import Bits, Purpose, below, bits, seat_keys
from genial_env.kernel import as_actions
from genial_env.state import Phase, State
from genial_env.tables import Tables
from genial_env.views import View, pick_best, tile_values, view


class Policy(Protocol):
    """What plays a seat.

    It is called with views [G] in which it is the seat's turn, and 64 random bits for each; it returns the action
    ids [G]. The bits are a function of the game's seed, the seat and the number of the decision, and a policy takes
    all its randomness from them: then a game goes alike in a batch of any size.
    """

    @property
    def name(self) -> str:
        """How tables and records call it."""

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""


class RandomPolicy:
    """Every playable action is equally likely."""

    name = "random"

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        placements = bitsets.pack(view.placements)
        return pick_uniformly(view.tables, view.slots, placements, view.may_swap, view.may_decline, random)


class GreedyPolicy:
    """Takes the most points that still move a marker, equal ones by lot; swaps when it may, makes every bonus."""

    name = "greedy"

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        actions = np.full(len(view), view.tables.swap_action)
        placing = np.flatnonzero(view.phase != Phase.SWAP)
        if placing.size:
            placers = view.select(placing) if placing.size < len(view) else view
            actions[placing] = pick_best(placers, useful_points(placers), random[placing])
        return actions


BUILT_IN: dict[str, Callable[[], Policy]] = {"random": RandomPolicy, "greedy": GreedyPolicy}


def make_policy(policy: str | Policy) -> Policy:
    """A policy by its name; a policy itself is handed through.

    Raises:
        ValueError: for an unknown name.
        TypeError: for something that can be neither.
    """
    if isinstance(policy, str):
        if policy not in BUILT_IN:
            raise ValueError(f"unknown agent {policy!r}: the agents are {', '.join(BUILT_IN)}")
        return BUILT_IN[policy]()
    if not callable(policy) or not isinstance(getattr(policy, "name", None), str):
        raise TypeError(f"a policy is a callable with a name, not {policy!r}")
    return policy


def act(roster: Sequence[Policy], assignment: Ints, state: State, keys: Bits, rows: Ints) -> Ints:
    """[G]: what the policies to play choose; each policy is asked once, for all its games.

    Args:
        roster: policies.
        assignment: [B, P] which of them plays which seat.
        state: the games.
        keys: [B, P] the seats' streams of choices (:func:`choice_keys`).
        rows: [G] the games in which a decision is wanted.
    """
    seat = state.to_play[rows]
    player = assignment[rows, seat]
    actions = np.empty(len(rows), dtype=np.int64)
    for number in np.unique(player):
        mine = player == number
        random = bits(keys[rows[mine], seat[mine]], state.decisions[rows[mine]])
        actions[mine] = as_actions(roster[number](view(state, rows=rows[mine]), random), len(random))
    return actions


def choice_keys(seeds: Bits, players: int) -> Bits:
    """[B, P]: the streams from which policies draw, apart from those of the tiles."""
    return seat_keys(seeds, Purpose.CHOICES, players)


def useful_points(view: View) -> NDArray[np.int8]:
    """[G, K, E]: the points of every placement that still move a marker."""
    room = view.room
    values = tile_values(view, np.minimum(view.points, room[:, None, :]))
    colors = view.tables.kinds.take(view.rack, axis=0)  # [G, K, 2]
    double = colors[:, :, 0] == colors[:, :, 1]
    limit = np.where(double, np.take_along_axis(room, colors[:, :, 0], axis=1), np.iinfo(np.int8).max)
    return np.minimum(values, limit.astype(np.int8)[:, :, None], out=values)


def pick_uniformly(
    t: Tables, slots: Bools, placements: Bitsets, may_swap: Bools, may_decline: Bools, random: Bits
) -> Ints:
    """[G]: one of the playable actions by their factors (:mod:`genial_env.kernel`), all equally likely.

    Drawn by slot and placement, since a mask of thousands of actions takes longer to scan.
    """
    n_slots = bitsets.fold(np.add, slots.astype(np.int64))
    n_placements = bitsets.count(placements)
    n_placings = n_slots * n_placements
    choice = below(random, n_placings + may_decline + may_swap)
    actions = np.where(choice - n_placings < may_decline, t.decline_action, t.swap_action)
    placing = np.flatnonzero(choice < n_placings)
    nth_slot, nth_placement = np.divmod(choice[placing], n_placements[placing])
    held = bitsets.running_total(slots.take(placing, axis=0), np.int64)  # [K, G]
    slot = np.add.reduce(held <= nth_slot, axis=0, dtype=np.int64)
    actions[placing] = slot * t.n_placements + bitsets.nth(placements.take(placing, axis=0), nth_placement)
    return actions
