"""The policy "denial": concave marker values, and what a half denies to the others and opens to them."""

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_integer, as_number
from genial_env.core.rules import Rules
from genial_env.policies.concave import ConcavePolicy, saturating_values
from genial_env.policies.heuristic import HalfWeights
from genial_env.policies.seat_counts import DenialSettings, denial_settings

__all__ = ["DenialPolicy"]

SHAPES = (0.01, 10)
"""The least and the greatest `shape`."""

MOST_FOR_ARRIVAL = 50


class DenialPolicy(ConcavePolicy):
    """Takes the placement with the highest sum of its own gain, what it denies to the others and what it opens.

    Besides its gain, a half counts the value of its cell for the others, minus the value of the cell for the own
    markers in other colors. It also counts the points that it opens at the ends of its lines: their value for the own
    markers is added, their value for the others' is subtracted.

    Args:
        temperature: in points, 0.001 to 1,000,000; a marker at m has the value ``1 - exp(-(m / temperature) **
            shape)``.
        shape: 0.01 to 10; above 1 the very first points count less.
        arrival: 0 to 50; the extra value of each stop that a marker has reached, because it earns a placement. The
            whole track has the value 1000. Where a tile earns one bonus placement at most, its second arrival does not
            count.
        weights: the weights of denying and opening. By default, all four settings are tuned for the kind of game.

    Raises:
        TypeError, ValueError: if a setting has another type, or is out of range.
    """

    name = "denial"

    def __init__(
        self,
        temperature: float | None = None,
        shape: float | None = None,
        arrival: int | None = None,
        weights: HalfWeights | None = None,
    ) -> None:
        super().__init__(temperature)
        if weights is not None and not isinstance(weights, HalfWeights):
            raise TypeError(
                f"weights must be genial_env.policies.heuristic.HalfWeights, which only code can give, not {weights!r} "
                f"({type(weights).__name__})"
            )
        self.shape = None if shape is None else as_number(shape, "shape", *SHAPES)
        self.arrival = None if arrival is None else as_integer(arrival, "arrival", 0, MOST_FOR_ARRIVAL)
        self._weights = weights

    def tuned(self, rules: Rules) -> DenialSettings:
        """Return the settings for those that were not given.

        Raises:
            ValueError: if there are none for these rules.
        """
        return denial_settings(rules)

    def weights(self, rules: Rules) -> HalfWeights:
        """Return the weights of denying and opening.

        Raises:
            ValueError: if no weights were given and none are tuned for these rules.
        """
        return self._weights if self._weights is not None else self.tuned(rules).weights

    def arrival_value(self, rules: Rules) -> int:
        """Return the extra value of arrivals.

        Raises:
            ValueError: if it was not given and none is tuned for these rules.
        """
        return self.tuned(rules).arrival if self.arrival is None else self.arrival

    def marker_values(self, rules: Rules) -> NDArray[np.int16]:
        """Return values from 0 to 1000 at the end of the track, and the extra value of arrivals.

        Raises:
            ValueError: if a setting was not given and none is tuned for these rules.
        """
        temperature, shape = self.temperature, self.shape
        if temperature is None or shape is None:
            tuned = self.tuned(rules)
            temperature = tuned.temperature if temperature is None else temperature
            shape = tuned.shape if shape is None else shape
        return saturating_values(rules, temperature, shape, self.arrival_value(rules))
