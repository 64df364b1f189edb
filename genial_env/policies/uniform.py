"""Uniformly random play."""

import numpy as np

from genial_env.backends import accelerated
from genial_env.core import bitsets, kernel
from genial_env.core.arrays import Bits, Bitsets, Bools, Floats, Ints
from genial_env.core.chance import below
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.tables import Tables
from genial_env.core.views import View
from genial_env.policies.base import Plan, PlannedPolicy
from genial_env.policies.probabilities import share_among

__all__ = ["RandomPolicy", "pick_uniformly", "random_actions"]


class RandomPolicy(PlannedPolicy):
    """Chooses every legal action with the same probability."""

    name = "random"

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        placements = bitsets.pack(view.placements)
        return pick_uniformly(view.tables, view.slots, placements, view.may_swap, view.may_decline, random)

    def probabilities(self, view: View) -> Floats:
        """Return the probability of each action: [G, A]."""
        return share_among(view.mask())

    def plan(self, rules: Rules) -> Plan | None:
        """Return zeros: uniformly random play."""
        return Plan(np.zeros(rules.top + 1, dtype=np.int64), np.zeros(9, dtype=np.int64))


@accelerated
def random_actions(state: State, rows: Ints, random: Bits) -> Ints:
    """Choose the actions [G] of :class:`RandomPolicy` in some games. They need no view, so none is made."""
    return pick_uniformly(
        state.tables,
        kernel.legal_slots(state, rows),
        kernel.placement_sets_unchecked(state, rows),
        kernel.may_swap(state, rows),
        kernel.may_decline(state, rows),
        random,
    )


def pick_uniformly(
    t: Tables, slots: Bools, placements: Bitsets, may_swap: Bools, may_decline: Bools, random: Bits
) -> Ints:
    """Draw one legal action a game, uniformly. The factors are faster than a mask of thousands of actions.

    Args:
        t: the tables of the rules.
        slots: [G, K] the slots to place from.
        placements: [G, words] the open placements, as bitsets.
        may_swap: [G] whether a swap is allowed.
        may_decline: [G] whether declining is allowed.
        random: [G] random bits.

    Returns:
        [G] action ids.
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
    actions[placing] = t.join_action(slot, bitsets.nth(placements.take(placing, axis=0), nth_placement))
    return actions
