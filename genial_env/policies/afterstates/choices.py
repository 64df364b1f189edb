"""The actions that are worth a look: the placements of the highest prior values, swap and decline."""

import numpy as np

from genial_env.backends import accelerated
from genial_env.core.arrays import Bools, Ints
from genial_env.core.views import View
from genial_env.policies.base import NONE
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.prior import check_prior, compute_prior_values

__all__ = ["candidates", "distinct_placements", "rank_placements"]


def candidates(view: View, most: int, prior: HeuristicPolicy | None = None) -> Ints:
    """Return the candidate actions of each game, the best placements first.

    Those are the placements of the highest prior value (:func:`~genial_env.policies.prior.compute_prior_values`), one
    of those that lead to the same position, and swap and decline where they are legal.

    Args:
        view: G games in which it is the seat's turn.
        most: the most placements.
        prior: sorts the placements; by default :class:`~genial_env.policies.prior.PlacementPrior`.

    Returns:
        [G, most + 2] action ids, :data:`NONE` after the last.
    """
    prior = check_prior(prior)
    actions = np.full((len(view), most + 2), NONE, dtype=np.int64)
    rank_placements(view, prior, actions[:, :most])
    _add_choices(view, actions)
    return actions


@accelerated
def rank_placements(view: View, prior: HeuristicPolicy, out: Ints) -> None:
    """Write the best placements of each game, best first, into `out` [G, most], which holds :data:`NONE`."""
    t = view.tables
    placing = np.flatnonzero(view.slots.any(axis=1))
    if not placing.size:
        return
    placers = view.select(placing)
    values = compute_prior_values(prior, placers).astype(np.int64)
    values[~distinct_placements(placers)] = IMPOSSIBLE
    flat = values.reshape(len(placing), t.swap_action)
    best = np.argsort(-flat, axis=1, kind="stable")[:, : out.shape[1]]
    possible = np.take_along_axis(flat, best, axis=1) > IMPOSSIBLE
    out[placing, : best.shape[1]] = np.where(possible, best, NONE)


IMPOSSIBLE = -(1 << 40)
"""Less than the value of any placement."""


def distinct_placements(view: View) -> Bools:
    """Return one legal placement for each position that can be reached: [G, K, E].

    Of duplicate tiles it is that of the first slot, of a double the direction that names the lower cell first.
    """
    t = view.tables
    is_duplicate = np.tril(view.rack[:, :, None] == view.rack[:, None, :], -1).any(axis=2)
    slots = view.slots & ~is_duplicate
    directed = ~t.is_double[view.rack][:, :, None] | ~t.is_reversed
    distinct: Bools = slots[:, :, None] & view.placements[:, None, :] & directed
    return distinct


def _add_choices(view: View, actions: Ints) -> None:
    """In place: add swap and decline after the placements."""
    t = view.tables
    for allowed, action in ((view.may_swap, t.swap_action), (view.may_decline, t.decline_action)):
        games = np.flatnonzero(allowed)
        if games.size:
            actions[games, (actions[games] != NONE).sum(axis=1)] = action
