"""The best sorted markers after the move: the game's own ranking, taken as a strategy."""

import numpy as np
from numpy.typing import NDArray

from genial_env.core.chance import Bits
from genial_env.core.placement_values import pick_best
from genial_env.core.rules import TRACK_END
from genial_env.core.state import Phase
from genial_env.core.views import View
from genial_env.policies.base import added_worth

BASE = 7
"""More than there are markers: so what is lower outweighs all that is higher."""

EXCLUDED = np.iinfo(np.int64).min + 1
"""Less than anything counts for."""


class Lexicographic:
    """Takes the placement after which the own sorted markers rank highest, equal ones by lot; swaps when it may.

    Of two sets of sorted markers the better is the one with fewer on the lowest level where their numbers differ. So a
    marker on level m counts ``-BASE ** (end - m)``, and that adds up. The double track is too long for whole numbers of
    64 bits: its lower half decides, and among equals its upper one.
    """

    name = "lexicographic"

    def __call__(self, view: View, random: Bits) -> NDArray[np.int64]:
        """Choose an action in each game."""
        actions = np.full(len(view), view.tables.swap_action)
        placing = np.flatnonzero(view.phase != Phase.SWAP)
        if placing.size:
            placers = view.select(placing)
            actions[placing] = pick_best(placers, sorted_order(placers), random[placing])
        return actions


def sorted_order(view: View) -> NDArray[np.int64]:
    """[G, K, E]: numbers of which the greatest among the playable placements is that of the best sorted markers."""
    values = added_worth(view, _counts(view.rules.top, 0))
    for start in range(TRACK_END, view.rules.top, TRACK_END):
        playable = view.slots[:, :, None] & view.placements[:, None, :]
        best = np.where(playable, values, EXCLUDED).max(axis=(1, 2), keepdims=True)
        values = np.where(values == best, added_worth(view, _counts(view.rules.top, start)), EXCLUDED)
    return values


def _counts(top: int, start: int) -> NDArray[np.int64]:
    """[top + 1]: what a marker counts on the half of the track that begins at `start`."""
    level = np.arange(top + 1)
    inside = (level >= start) & (level < start + TRACK_END)
    return np.where(inside, -(BASE ** (start + TRACK_END - 1 - np.clip(level, start, start + TRACK_END - 1))), 0)
