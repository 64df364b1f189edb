"""The prior: the order in which a search considers placements."""

import numpy as np
from numpy.typing import NDArray

from genial_env.core.views import View
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.marker_gains import compute_marker_value_gains

__all__ = ["STOP_VALUE", "check_prior", "compute_prior_values"]

STOP_VALUE = 8 * 200
"""Added to a placement's prior value for each marker that reaches a stop, because that earns a bonus placement.

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

    It is the policy's value, and :data:`STOP_VALUE` for each marker that reaches a stop if that earns a bonus.
    """
    values: NDArray[np.int32] = prior.values(view).astype(np.int32)
    if view.rules.has_bonus:
        stops_reached = np.searchsorted(view.rules.stops, np.arange(view.rules.top + 1), side="right").astype(np.int16)
        values += STOP_VALUE * compute_marker_value_gains(view, stops_reached).astype(np.int32)
    return values
