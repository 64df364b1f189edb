"""The policy "lexicographic": the sorted own markers after the placement rank highest, by the game's own ranking."""

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Bits, Floats, Ints
from genial_env.core.placement_values import pick_best
from genial_env.core.rules import Rules
from genial_env.core.state import Phase
from genial_env.core.views import View
from genial_env.policies.marker_gains import compute_marker_value_gains
from genial_env.policies.probabilities import share_among_best

__all__ = ["Lexicographic"]

_BASE = 7
"""More than there are markers, so that a marker on a lower level outweighs all higher ones."""

_EXCLUDED = np.iinfo(np.int64).min + 1
"""Less than the value of any placement."""


class Lexicographic:
    """Plays the placement after which the own sorted markers rank highest, ties broken uniformly at random.

    It swaps whenever it may. Of two sets of markers the better has fewer on the lowest level at which their numbers
    differ. So the value of a marker on level m is ``-BASE ** (end - m)``, and the values add up. The double track is
    too long for integers of 64 bits: the part up to the first stop decides, and among equals the part above it.
    """

    name = "lexicographic"

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        actions = np.full(len(view), view.tables.swap_action)
        placing = np.flatnonzero(view.phase != Phase.SWAP)
        if placing.size:
            placers = view.select(placing)
            actions[placing] = pick_best(placers, _compute_values(placers), random[placing])
        return actions

    def probabilities(self, view: View) -> Floats:
        """Return the probability of each action: [G, A]."""
        return share_among_best(view, _compute_values)


def _compute_values(view: View) -> Ints:
    """Return values of which the greatest among the legal placements is that of the best sorted markers: [G, K, E]."""
    first, *others = [0, *view.rules.stops[:-1]]
    values = compute_marker_value_gains(view, _marker_values(view.rules, first))
    for start in others:
        legal = view.slots[:, :, None] & view.placements[:, None, :]
        best = np.where(legal, values, _EXCLUDED).max(axis=(1, 2), keepdims=True)
        values = np.where(
            values == best, compute_marker_value_gains(view, _marker_values(view.rules, start)), _EXCLUDED
        )
    return values


def _marker_values(rules: Rules, start: int) -> NDArray[np.int64]:
    """Return the marker values on the part of the track from `start` to the next stop, elsewhere 0: [top + 1]."""
    level = np.arange(rules.top + 1)
    end = next(stop for stop in rules.stops if stop > start)
    inside = (level >= start) & (level < end)
    return np.where(inside, -(_BASE ** (end - 1 - np.clip(level, start, end - 1))), 0)
