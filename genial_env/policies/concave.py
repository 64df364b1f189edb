"""The policy "concave": points count the more the lower the marker."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_number
from genial_env.core.rules import TRACK_END, Rules
from genial_env.policies.heuristic import HeuristicPolicy

__all__ = ["ConcavePolicy", "saturating_values"]

TEMPERATURES = (0.001, 1_000_000)
"""The lowest temperature, and the highest, at which all points count almost the same."""

TUNED_TEMPERATURE = {1: 4.0, 2: 10.0, 3: 30.0, 4: 60.0}
"""The default temperature by the number of seats; every number that :class:`Rules` allows has an entry."""


class ConcavePolicy(HeuristicPolicy):
    """Takes the placement that adds most to the own markers' values, which are concave: low markers count more.

    A marker at m has the value ``1 - exp(-m / temperature)``.

    Args:
        temperature: in points, 0.001 to 1,000,000; the lower, the more the low markers count. By default it is tuned
            for the number of seats (docs/policies.md).

    Raises:
        TypeError, ValueError: if the temperature is no finite number, or out of range.
    """

    name = "concave"

    def __init__(self, temperature: float | None = None) -> None:
        self.temperature = None if temperature is None else as_number(temperature, "temperature", *TEMPERATURES)

    def marker_values(self, rules: Rules) -> NDArray[np.int16]:
        """Return values from 0 to 1000 at the end of the track."""
        return saturating_values(self.temperature or TUNED_TEMPERATURE[rules.players], rules.top)


@lru_cache(maxsize=64)
def saturating_values(temperature: float, top: int, shape: float = 1.0, arrival: int = 0) -> NDArray[np.int16]:
    """Compute marker values ``1 - exp(-(m / temperature) ** shape)``.

    Args:
        temperature: in points.
        top: the end of the track.
        shape: the exponent.
        arrival: what is added from every stop on.

    Returns:
        [top + 1] integers, scaled so that the end of the track has 1000 before `arrival` is added. Read-only.
    """
    markers = np.arange(top + 1)
    values = -np.expm1(-((markers / temperature) ** shape))
    whole: NDArray[np.int16] = (np.rint(1000 * values / values[-1]) + arrival * (markers // TRACK_END)).astype(np.int16)
    whole.setflags(write=False)
    return whole
