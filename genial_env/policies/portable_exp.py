"""The exponential function, the same to the last bit on every processor and in compiled code.

Libraries round ``exp`` differently. This one uses multiplication and addition in float64 only, in a fixed order, which
IEEE 754 rounds alike everywhere.
"""

import numpy as np

from genial_env.core.arrays import Floats32

__all__ = ["COEFFICIENTS", "LEAST", "LOG2_E", "LOG_2", "exp"]

LOG2_E, LOG_2 = 1.4426950408889634, 0.6931471805599453

COEFFICIENTS = tuple(float(1 / np.prod(np.arange(1, n + 1, dtype=np.float64))) for n in range(8))
"""Of the Taylor series: 1 / n!."""

LEAST = -80.0
"""The function of a lesser number is that of this one."""


def exp(x: Floats32) -> Floats32:
    """Return e to the power of x, for x at most 0."""
    wide = np.maximum(x.astype(np.float64), LEAST)
    twos = np.rint(wide * LOG2_E)
    rest = wide - twos * LOG_2
    power = np.full_like(rest, COEFFICIENTS[-1])
    for coefficient in reversed(COEFFICIENTS[:-1]):
        power *= rest
        power += coefficient
    return np.ldexp(power, twos.astype(np.int32)).astype(np.float32)
