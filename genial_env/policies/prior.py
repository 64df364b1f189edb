"""The prior: the order in which a search considers placements."""

import numpy as np
from numpy.typing import NDArray

from genial_env.core.views import View
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.marker_gains import count_arrivals

__all__ = ["STOP_VALUE", "check_prior", "compute_prior_values"]

STOP_VALUE = 8 * 200
"""Added to a placement's prior value for each bonus placement that it earns by bringing a marker to a stop.

The marker values alone underestimate it. In "denial" the whole track of a marker counts 8,000.
"""


def check_prior(prior: HeuristicPolicy | None) -> HeuristicPolicy:
    """Return the prior; if it is None, a :class:`~genial_env.policies.denial.DenialPolicy`.

    Raises:
        TypeError: if it is not a :class:`~genial_env.policies.heuristic.HeuristicPolicy`.
    """
    if prior is not None and not isinstance(prior, HeuristicPolicy):
        raise TypeError(f"prior must be a HeuristicPolicy, not {prior!r}")
    return DenialPolicy() if prior is None else prior


def compute_prior_values(prior: HeuristicPolicy, view: View) -> NDArray[np.int32]:
    """Return the prior value of every placement: [G, K, E]. Searches consider high values first.

    It is the policy's value, and :data:`STOP_VALUE` for each bonus placement that it earns.
    """
    values: NDArray[np.int32] = prior.values(view).astype(np.int32)
    if view.rules.has_bonus:
        values += STOP_VALUE * np.minimum(count_arrivals(view), view.rules.bonuses_a_tile).astype(np.int32)
    return values
