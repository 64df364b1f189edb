"""The prior: the order in which a search considers placements."""

import numpy as np
from numpy.typing import NDArray

from genial_env.core.rules import Rules
from genial_env.core.views import View
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.marker_gains import count_arrivals
from genial_env.policies.registry import make_policy
from genial_env.policies.seat_counts import DenialSettings, prior_settings

__all__ = ["STOP_VALUE", "PlacementPrior", "check_prior", "compute_prior_values"]

STOP_VALUE = 8 * 200
"""Added to a placement's prior value for each bonus placement that it earns by bringing a marker to a stop.

The marker values alone underestimate it. The whole track of a marker counts 8,000.
"""


class PlacementPrior(DenialPolicy):
    """The prior of agents with a value network: the values of "denial", with settings fitted to what "value" chooses.

    They were found by `python -m experiments.fit_prior` (docs/measurements.md). As a player it is weaker than "denial".
    Searches with playouts of "denial" keep the order of that policy.
    """

    name = "prior"

    def tuned(self, rules: Rules) -> DenialSettings:
        """Return the fitted settings.

        Raises:
            ValueError: if there are none for these rules.
        """
        return prior_settings(rules)


def check_prior(prior: str | HeuristicPolicy | None) -> HeuristicPolicy:
    """Return the prior; if it is None, :class:`PlacementPrior`.

    Args:
        prior: a heuristic policy, or its name as :func:`genial_env.make_policy` reads it.

    Raises:
        TypeError: if it is not a :class:`~genial_env.policies.heuristic.HeuristicPolicy`.
        ValueError: if there is no policy of this name.
    """
    found = PlacementPrior() if prior is None else make_policy(prior) if isinstance(prior, str) else prior
    if not isinstance(found, HeuristicPolicy):
        raise TypeError(f"prior must be a HeuristicPolicy or the name of one, not {prior!r}")
    return found


def compute_prior_values(prior: HeuristicPolicy, view: View) -> NDArray[np.int32]:
    """Return the prior value of every placement: [G, K, E]. Searches consider high values first.

    It is the policy's value, and :data:`STOP_VALUE` for each bonus placement that it earns.
    """
    values: NDArray[np.int32] = prior.values(view).astype(np.int32)
    if view.rules.has_bonus:
        values += STOP_VALUE * np.minimum(count_arrivals(view), view.rules.bonuses_a_tile).astype(np.int32)
    return values
