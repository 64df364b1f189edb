"""Confidence intervals for means over deals, honest where an agent won or lost everything.

The unit is the deal: games of one deal share its luck, deals are independent. An end of an interval answers the
question: how low could the true mean be? Nobody knows the results that did not come. So one more block of games is
added in which everything went as badly as it can, and the deals and the block get independent exponential weights, as
in the Bayesian bootstrap. The lower end is the mean that 2.5% of the weighted means stay below; the upper end is found
likewise with a block in which everything went as well as it can. Where the block is as large as a deal, this is
Gaffke's bound. For deals that are won or lost it is the interval of Clopper and Pearson, and no distribution of bounded
results is known for which it covers the truth in fewer than 95% of the cases.

- C. Clopper, E. Pearson, "The use of confidence or fiducial limits", Biometrika 26 (1934).
- D. Rubin, "The Bayesian bootstrap", Annals of Statistics 9 (1981).
- N. Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable",
  Mathematical Methods of Statistics 14 (2005).
- E. Learned-Miller, P. Thomas, "A new confidence interval for the mean of a bounded random variable", arXiv 1905.06208.

The weighted means are not drawn: the distribution of a weighted sum of exponential variables is computed.
"""

from collections.abc import Callable
from functools import cache
from math import expm1, log, nan, pi, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "NORMAL_95",
    "TAIL",
    "Intervals",
    "accepted",
    "accepted_by_student",
    "chance_below_zero",
    "mean_interval",
    "solve",
    "student_95",
]

Floats = NDArray[np.float64]

TAIL = 0.025
"""The chance that the truth is beyond one end of an interval of 95%."""

NORMAL_95 = NormalDist().inv_cdf(1 - TAIL)


class Intervals(NamedTuple):
    """Values with 95% intervals, arrays of one shape.

    NaN where there is nothing to tell from. An end is infinite where the results set no limit: an agent that won
    everything may be stronger by any amount.
    """

    value: Floats
    low: Floats
    high: Floats

    def to_dict(self) -> dict[str, Any]:
        """For JSON: None for an end that is not finite, and for a value that is none."""
        return {name: _finite_or_none(values) for name, values in self._asdict().items()}


def _finite_or_none(values: Floats) -> Any:
    found = values.astype(object)
    found[~np.isfinite(values)] = None
    return found.tolist()


def chance_below_zero(weights: Floats, shapes: Floats) -> float:
    """Compute how likely a weighted sum of independent gamma variables is below 0.

    By numerical inversion of the characteristic function (J. Gil-Pelaez, "Note on the inversion theorem", Biometrika
    38, 1951) on a logarithmic grid; exact to about 1e-5 for shapes of sum 2 or more.

    Args:
        weights: [K] of any sign.
        shapes: [K] of the gamma variables, above 0; their scale is 1.
    """
    scale = sqrt(float(shapes @ weights**2))
    if scale == 0 or (weights >= 0).all():
        return 0.0
    if (weights <= 0).all():
        return 1.0
    mean = float(shapes @ weights) / scale
    if abs(mean) > _FAR:
        return float(mean < 0)
    scaled = weights / scale
    damped = np.log1p(np.outer(_GRID[::16], scaled) ** 2) @ shapes > 50
    points = 1 + 16 * int(damped.argmax()) if damped.any() else len(_GRID)
    arguments = np.outer(_GRID[:points], scaled)
    size = np.exp(-0.5 * np.log1p(arguments**2) @ shapes)
    integrand = size * np.sin(np.arctan(arguments) @ shapes)
    below = mean * float(_GRID[0]) / expm1(_STEP)  # what the grid leaves out near 0, where the integrand is linear
    integral = _STEP * (float(integrand.sum()) + below)
    return min(1.0, max(0.0, 0.5 - integral / pi))


_STEP = 0.05
_GRID = np.exp(np.arange(log(1e-3), log(1e8), _STEP))  # fine enough for the oscillation

_FAR = 12.0
"""Standard deviations between the mean and 0, beyond which the chance is below 1e-4: no tail is heavier than that of
the exponential variable with the largest weight."""


def solve(accepts: Callable[[float], bool], inside: float, outside: float, precision: float) -> float:
    """Return the last accepted number on the way from `inside`, which is accepted, to `outside`, which is not."""
    while abs(outside - inside) > precision:
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if accepts(middle) else (inside, middle)
    return inside


def mean_interval(
    sums: Floats,
    counts: Floats,
    limits: tuple[float, float],
    *,
    block: float | None = None,
    times: Floats | None = None,
) -> tuple[float, float]:
    """Compute the 95% interval of a mean over deals, ``sums.sum() / counts.sum()``.

    Args:
        sums: [K] the results of each deal, added up.
        counts: [K] how many results each deal has.
        limits: the worst result and the best one.
        block: how many results the block has; None: as many as a deal has on average, which is safe whatever the
            results of a deal have to do with each other. A smaller block supposes that a single deal does not decide
            all its results; the interval then is no narrower than Student's over deals.
        times: [K] how many deals each entry stands for; None: one.

    Returns:
        The lower end and the upper end; NaN for no results.
    """
    many = np.ones(len(sums)) if times is None else times
    held = (counts > 0) & (many > 0)
    if not held.any():
        return nan, nan
    (added, results), kinds = np.unique(np.stack([sums[held], counts[held]]), axis=1, return_inverse=True)
    shapes: Floats = np.bincount(kinds.ravel(), many[held]).astype(np.float64)
    size = float(results @ shapes / shapes.sum()) if block is None else block
    value = float(added @ shapes / (results @ shapes))

    def end(limit: float, side: int) -> float:
        def accepts(mean: float) -> bool:
            excess, worst = side * (added - mean * results), side * (limit - mean) * size
            return accepted(excess, shapes, worst) or (block is not None and accepted_by_student(excess, shapes))

        return limit if accepts(limit) else solve(accepts, value, limit, 1e-6 * (limits[1] - limits[0]))

    return end(limits[0], 1), end(limits[1], -1)


def accepted(excess: Floats, times: Floats, worst: float) -> bool:
    """Return whether a supposed truth is within one end of an interval.

    Args:
        excess: [K] by how much the deals exceed what it lets expect, in the direction away from this end.
        times: [K] how many deals there are of each kind.
        worst: the same of the added block, below 0.
    """
    return chance_below_zero(np.append(excess, worst), np.append(times, 1.0)) >= TAIL


def accepted_by_student(excess: Floats, times: Floats) -> bool:
    """Return whether Student's test of the mean excess over deals accepts it; arguments as :func:`accepted`."""
    deals = float(times.sum())
    if deals < 2:
        return True
    mean = float(excess @ times) / deals
    variance = float((excess - mean) ** 2 @ times) / (deals - 1)
    return mean <= student_95(deals - 1) * sqrt(variance / deals)


@cache
def student_95(degrees: float) -> float:
    """Return the 97.5% quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1 - TAIL))
