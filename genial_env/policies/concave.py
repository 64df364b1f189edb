"""The policy "concave": points count the more the lower the marker."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_number
from genial_env.core.rules import Rules
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.seat_counts import concave_temperature

__all__ = ["ConcavePolicy", "saturating_values"]

TEMPERATURES = (0.001, 1_000_000)
"""The lowest temperature, and the highest, at which all points count almost the same."""


class ConcavePolicy(HeuristicPolicy):
    """Takes the placement that adds most to the own markers' values, which are concave: low markers count more.

    A marker at m has the value ``1 - exp(-m / temperature)``.

    Args:
        temperature: in points, 0.001 to 1,000,000; the lower, the more the low markers count. By default it is tuned
            for the number of seats (:mod:`genial_env.policies.seat_counts`).

    Raises:
        TypeError, ValueError: if the temperature is no finite number, or out of range.
    """

    name = "concave"

    def __init__(self, temperature: float | None = None) -> None:
        self.temperature = None if temperature is None else as_number(temperature, "temperature", *TEMPERATURES)

    def marker_values(self, rules: Rules) -> NDArray[np.int16]:
        """Return values from 0 to 1000 at the end of the track.

        Raises:
            ValueError: if no temperature was given and none is tuned for these rules.
        """
        return saturating_values(rules, self.temperature or concave_temperature(rules))


@lru_cache(maxsize=64)
def saturating_values(rules: Rules, temperature: float, shape: float = 1.0, arrival: int = 0) -> NDArray[np.int16]:
    """Compute marker values ``1 - exp(-(m / temperature) ** shape)``.

    Args:
        rules: the rules, which define the track.
        temperature: in points.
        shape: the exponent.
        arrival: what is added for each stop that the marker has reached.

    Returns:
        [top + 1] integers, scaled so that the end of the track has 1000 before `arrival` is added. Read-only.
    """
    markers = np.arange(rules.top + 1)
    values = -np.expm1(-((markers / temperature) ** shape))
    bonus = arrival * np.searchsorted(rules.stops, markers, side="right")
    whole: NDArray[np.int16] = (np.rint(1000 * values / values[-1]) + bonus).astype(np.int16)
    whole.setflags(write=False)
    return whole
