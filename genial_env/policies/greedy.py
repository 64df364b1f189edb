"""The policy "greedy": the most points that still move a marker."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.rules import Rules
from genial_env.core.views import View
from genial_env.policies.base import Plan
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.marker_gains import effective_points

__all__ = ["GreedyPolicy"]


class GreedyPolicy(HeuristicPolicy):
    """Takes the placement that moves the own markers by the most points; ties are broken uniformly at random.

    It swaps whenever it may, and makes every bonus placement.
    """

    name = "greedy"

    def marker_values(self, rules: Rules) -> NDArray[np.int16]:
        """Return the points themselves."""
        return np.arange(rules.top + 1, dtype=np.int16)

    def values(self, view: View) -> NDArray[np.integer[Any]]:
        """Compute the points [G, K, E] by which each placement moves the own markers."""
        return effective_points(view)

    def plan(self, rules: Rules) -> Plan | None:
        """Return the marker values for compiled code, in whole points."""
        return self._plan(rules, 1)
