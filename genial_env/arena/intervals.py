"""Compute confidence intervals for means over deals that stay valid when an agent won or lost every game.

The unit is the deal: results of the same deal are correlated, deals are independent. For the lower end of an interval,
one more block of games with the worst possible result is added to the sample. The deals and the block get independent
exponential weights, as in the Bayesian bootstrap. The lower end is the 2.5% quantile of the weighted mean. The upper
end is the 97.5% quantile, with a block of the best possible result. If the block is as large as a deal, this is
Gaffke's bound. For results that are only won or lost it equals the interval of Clopper and Pearson. No distribution of
bounded results is known for which its coverage is below 95%.

- C. Clopper, E. Pearson, "The use of confidence or fiducial limits", Biometrika 26 (1934).
- D. Rubin, "The Bayesian bootstrap", Annals of Statistics 9 (1981).
- N. Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable",
  Mathematical Methods of Statistics 14 (2005).
- E. Learned-Miller, P. Thomas, "A new confidence interval for the mean of a bounded random variable", arXiv 1905.06208.

The weighted means are not sampled: the distribution of a weighted sum of exponential variables is computed.
"""

from collections.abc import Callable
from functools import cache
from math import expm1, log, nan, pi, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from genial_env.core.arrays import Floats

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


TAIL = 0.025
"""The probability that the true value is beyond one end of a 95% interval."""

NORMAL_95 = NormalDist().inv_cdf(1 - TAIL)


class Intervals(NamedTuple):
    """Values with 95% intervals, as arrays of the same shape.

    Values without data are NaN. An end is infinite where the results set no limit: an agent that won every game may be
    stronger by any amount.
    """

    value: Floats
    low: Floats
    high: Floats

    def to_dict(self) -> dict[str, Any]:
        """Return the values and ends as lists for JSON, with None for numbers that are not finite."""
        return {name: _finite_or_none(values) for name, values in self._asdict().items()}


def _finite_or_none(values: Floats) -> Any:
    found = values.astype(object)
    found[~np.isfinite(values)] = None
    return found.tolist()


def chance_below_zero(weights: Floats, shapes: Floats) -> float:
    """Compute the probability that a weighted sum of independent gamma variables is below 0.

    The characteristic function is inverted numerically (J. Gil-Pelaez, "Note on the inversion theorem", Biometrika 38,
    1951) on a logarithmic grid. The error is about 1e-5 if the shapes add up to 2 or more.

    Args:
        weights: [K] The weights, of any sign.
        shapes: [K] The shape parameters of the gamma variables, above 0. Their scale is 1.
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
    below = mean * float(_GRID[0]) / expm1(_STEP)  # below the grid the integrand is linear
    integral = _STEP * (float(integrand.sum()) + below)
    return min(1.0, max(0.0, 0.5 - integral / pi))


_STEP = 0.05
_GRID = np.exp(np.arange(log(1e-3), log(1e8), _STEP))  # fine enough for the oscillation

_FAR = 12.0
"""The number of standard deviations between the mean and 0 from which the probability of the other sign is below 1e-4.

No tail is heavier than that of the exponential variable with the largest weight.
"""


def solve(accepts: Callable[[float], bool], inside: float, outside: float, precision: float) -> float:
    """Return, by bisection, the last accepted number between `inside`, which is accepted, and `outside`, which is not.

    Args:
        accepts: whether a number is accepted.
        inside: an accepted number.
        outside: a number that is not accepted, above or below `inside`.
        precision: the largest error.
    """
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
    tail: float = TAIL,
) -> tuple[float, float]:
    """Compute the 95% interval of a mean over deals, ``sums.sum() / counts.sum()``.

    Args:
        sums: [K] the sum of the results of each deal.
        counts: [K] the number of results of each deal.
        limits: the worst and the best possible result.
        block: the number of results in the added block; None: the mean number of results of a deal, which is safe
            for any correlation between the results of a deal. A smaller block assumes that the results of a deal are
            not fully correlated. The interval is then at least as wide as Student's interval over deals.
        times: [K] the number of deals that each entry stands for; None: one each.
        tail: the probability that the true value is beyond one end, for intervals of another level. It does not change
            Student's interval, so it cannot be given together with `block`.

    Returns:
        The lower end and the upper end; NaN without results.
    """
    assert block is None or tail == TAIL, "Student's interval is of 95%"
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
            return accepted(excess, shapes, worst, tail) or (block is not None and accepted_by_student(excess, shapes))

        return limit if accepts(limit) else solve(accepts, value, limit, 1e-6 * (limits[1] - limits[0]))

    return end(limits[0], 1), end(limits[1], -1)


def accepted(excess: Floats, times: Floats, worst: float, tail: float = TAIL) -> bool:
    """Return whether a hypothetical mean lies within one end of the interval.

    Args:
        excess: [K] results of the deals minus their expected results under the hypothesis. The sign is positive in the
            direction away from this end.
        times: [K] the number of deals of each kind.
        worst: the excess of the added block, below 0.
        tail: the probability that the true value is beyond the end.
    """
    return chance_below_zero(np.append(excess, worst), np.append(times, 1.0)) >= tail


def accepted_by_student(excess: Floats, times: Floats) -> bool:
    """Return whether Student's t-test over deals accepts a hypothetical mean.

    Args:
        excess: [K] see :func:`accepted`.
        times: [K] the number of deals of each kind.
    """
    deals = float(times.sum())
    if deals < 2:
        return True
    mean = float(excess @ times) / deals
    variance = float((excess - mean) ** 2 @ times) / (deals - 1)
    return mean <= student_95(deals - 1) * sqrt(variance / deals)


@cache
def student_95(degrees: float) -> float:
    """Return the 97.5% quantile of Student's t distribution with the given degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1 - TAIL))
