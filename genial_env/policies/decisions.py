"""Ask policies for their decisions in a batch of games."""

from collections.abc import Sequence

import numpy as np

from genial_env.backends import accelerated
from genial_env.core import kernel
from genial_env.core.arrays import Bits, Ints
from genial_env.core.chance import Purpose, bits, seat_keys
from genial_env.core.state import State
from genial_env.core.views import view
from genial_env.policies.base import Policy
from genial_env.policies.uniform import RandomPolicy, random_actions

__all__ = ["act", "choice_keys", "decide"]


def act(policies: Sequence[Policy], assignment: Ints, state: State, keys: Bits, rows: Ints) -> Ints:
    """Choose the actions of the seats to play. Each policy is called once, for all its games.

    Args:
        policies: the policies.
        assignment: [B, P] the index of the policy that plays each seat.
        state: B games.
        keys: [B, P] the keys of the seats' random streams (:func:`choice_keys`).
        rows: [G] the games in which a decision is wanted.

    Returns:
        [G] action ids.
    """
    seat = state.to_play[rows]
    player = assignment[rows, seat]
    actions = np.empty(len(rows), dtype=np.int64)
    for number in np.unique(player):
        mine = player == number
        random = bits(keys[rows[mine], seat[mine]], state.decisions[rows[mine]])
        actions[mine] = decide(policies[number], state, rows[mine], random)
    return actions


@accelerated
def decide(policy: Policy, state: State, rows: Ints, random: Bits) -> Ints:
    """Choose the actions [G] of a policy in some games [G] in which it is to play, with random bits [G]."""
    if type(policy) is RandomPolicy:
        return random_actions.numpy(state, rows, random)
    return kernel.as_actions(policy(view(state, rows=rows), random), len(rows))


def choice_keys(seeds: Bits, players: int) -> Bits:
    """Return the keys [B, P] of the streams from which policies get random bits. Seeds cannot be computed from them."""
    return seat_keys(seeds, Purpose.CHOICES, players)
