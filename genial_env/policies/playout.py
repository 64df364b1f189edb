"""Play the games of a batch to their ends."""

from collections.abc import Callable, Sequence

import numpy as np

from genial_env.backends import accelerated
from genial_env.core import kernel
from genial_env.core.arrays import Bits, Ints
from genial_env.core.state import State
from genial_env.policies.base import Policy
from genial_env.policies.decisions import act

__all__ = ["play_on", "play_out"]


@accelerated
def play_out(state: State, roster: Sequence[Policy], keys: Bits) -> None:
    """In place: play all games to their ends.

    Args:
        state: B games.
        roster: policies, one a seat.
        keys: [B, P] the seats' streams of choices (:func:`genial_env.policies.decisions.choice_keys`).
    """
    play_on(state, roster, keys, lambda actions, live: kernel.apply(state, actions, live))


def play_on(state: State, roster: Sequence[Policy], keys: Bits, apply: Callable[[Ints, Ints], None]) -> None:
    """In place: play all games to their ends, applying the actions with a function.

    Args:
        state: B games.
        roster: policies, one a seat.
        keys: [B, P] the seats' streams of choices.
        apply: is called with the actions [G] and the indices of the games [G].
    """
    assignment = np.broadcast_to(_distinct(roster), (len(state), state.rules.players))
    for live in kernel.live_games(state):
        apply(act(roster, assignment, state, keys, live), live)


def _distinct(roster: Sequence[Policy]) -> Ints:
    """Return for each seat the first one with the same policy, so that a policy on two seats is called once: [P]."""
    return np.array([next(i for i, other in enumerate(roster) if other is policy) for policy in roster])
