"""The policy "points": the most points, as a beginner plays."""

import numpy as np
from numpy.typing import NDArray

from genial_env.core.placement_values import tile_values
from genial_env.core.views import View
from genial_env.policies.heuristic import HeuristicPolicy

__all__ = ["PointsPolicy"]


class PointsPolicy(HeuristicPolicy):
    """Takes the placement with the most points, whether or not they move a marker; ties are broken at random.

    It swaps whenever it may, and makes every bonus placement.
    """

    name = "points"

    def values(self, view: View) -> NDArray[np.int8]:
        """Return the points [G, K, E] of every placement."""
        return tile_values(view, view.points)
