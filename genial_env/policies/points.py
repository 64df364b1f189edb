"""The most points, whether or not they still move a marker: what a beginner plays."""

import numpy as np
from numpy.typing import NDArray

from genial_env.core.placement_values import tile_values
from genial_env.core.views import View
from genial_env.policies.base import HeuristicPolicy


class Points(HeuristicPolicy):
    """Takes the most points, equal ones by lot; swaps when it may, makes every bonus."""

    name = "points"

    def values(self, view: View) -> NDArray[np.int8]:
        """[G, K, E]: the points of every placement."""
        return tile_values(view, view.points)
