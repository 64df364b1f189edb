"""With which probability does a policy play each action? For corrections that need to know it.

    from genial_env.policies.probabilities import find_probabilities

    tell = find_probabilities(make_policy("greedy"))  # None if the policy does not say
    print(tell(view).sum(axis=1))                     # 1 for each game

A policy says so by a method ``probabilities(view)``, which returns [G, A] floats: for each action the share of the
random bits for which the policy plays it. "random" has the method, "lexicographic" and "ppo" too. The policies that
break ties at random (:class:`~genial_env.policies.heuristic.HeuristicPolicy`) get it from here.

A subclass that overrides ``__call__`` plays otherwise, so what its base class says does not count.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Floats
from genial_env.core.state import Phase
from genial_env.core.views import View
from genial_env.policies.base import Policy
from genial_env.policies.heuristic import HeuristicPolicy

__all__ = ["Tell", "find_probabilities", "share_among", "share_among_best"]

Tell = Callable[[View], Floats]
"""Returns the probabilities [G, A] of all actions in G games in which it is the seat's turn."""


def find_probabilities(policy: Policy) -> Tell | None:
    """Return the function that tells a policy's probabilities; None if the policy does not tell them."""
    classes = type(policy).__mro__
    decides = next((each for each in classes if "__call__" in vars(each)), object)
    if decides is HeuristicPolicy and isinstance(policy, HeuristicPolicy):
        return lambda view: share_among_best(view, policy.values)
    tells = next((each for each in classes if "probabilities" in vars(each)), None)
    if tells is None or not issubclass(tells, decides):
        return None
    found: Tell = policy.probabilities  # type: ignore[attr-defined]
    return found


def share_among_best(view: View, compute_values: Callable[[View], NDArray[Any]]) -> Floats:
    """Return the probabilities [G, A] of a policy that swaps, or plays a placement of the highest value at random.

    Args:
        view: G games in which it is the seat's turn.
        compute_values: returns the values [G, K, E] of placements, integers.
    """
    best = np.zeros((len(view), view.tables.n_actions), dtype=np.bool_)
    swaps = view.phase == Phase.SWAP
    if swaps.any():  # solo there is no such action
        best[swaps, view.tables.swap_action] = True
    placing = np.flatnonzero(~swaps)
    if placing.size:
        placers = view.select(placing)
        values = compute_values(placers).astype(np.int64)
        legal = placers.placements[:, None, :] & placers.slots[:, :, None]
        values = np.where(legal, values, np.iinfo(np.int64).min).reshape(len(placing), -1)
        best[placing, : values.shape[1]] = values == values.max(axis=1, keepdims=True)
    return share_among(best)


def share_among(actions: NDArray[np.bool_]) -> Floats:
    """Return equal probabilities for some actions of each game: [G, A], from flags [G, A], one at least in a game."""
    shares: Floats = actions / actions.sum(axis=1, keepdims=True)
    return shares
