"""Test sequentially whether agent A is better than agent B, and estimate by how much, from pairs of games.

A pair is two games of the same deal with the seats swapped. A's score in a game is 1 for a win, 0.5 for a tie and 0 for
a loss. A's score in a pair is the mean of the two games: 0, 0.25, 0.5, 0.75 or 1. A match is summarized by the numbers
of pairs with each score, the *pentanomial counts* [5]. Pairs are independent of each other. The two games of a pair are
not: the effects of the deal largely cancel between them. Counting pairs uses this without a model of it.

Differences in strength are in Elo on the logistic scale: at a difference of `elo` the expected score of A is
``1 / (1 + 10 ** (-elo / 400))`` per game, ties included.

The test is the generalized sequential probability ratio test on the expected score, which is also used to test chess
engines:

- A. Wald, "Sequential tests of statistical hypotheses", Annals of Mathematical Statistics 16 (1945): the bounds.
- X. Li, J. Liu, Z. Ying, "Generalized sequential probability ratio test for separate families of hypotheses",
  Sequential Analysis 33 (2014): a ratio of the largest likelihoods under either hypothesis in place of a ratio of two.
- M. Van den Bergh, "The generalized SPRT for chess" (cantate.be/Fishtest/GSPRT_approximation.pdf) and "Comments on
  maximum likelihood estimates for multinomial distributions" (cantate.be/Fishtest/support_MLE_multinomial.pdf): the
  likelihoods are those of the likeliest distribution over the five scores among all whose mean is the hypothesis.
"""

from dataclasses import asdict, dataclass
from math import copysign, exp, inf, isfinite, log, sinh, sqrt, tanh
from statistics import NormalDist
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from genial_env._util.checks import as_integer
from genial_env.arena.intervals import mean_interval
from genial_env.core.arrays import Floats, Ints

__all__ = [
    "PAIR_SCORES",
    "Estimate",
    "Sprt",
    "Verdict",
    "elo_of",
    "expected_score",
    "log_likelihood_ratios",
    "pair_counts",
]

Verdict = Literal["H0", "H1"]

PAIR_SCORES = np.array([0, 0.25, 0.5, 0.75, 1])
"""The scores of a pair, in the order of the pentanomial counts."""

ELO_PER_LOGIT = 400 / log(10)
"""The Elo difference that is one unit of log odds."""

MOST_ELO = 2000.0
"""The largest difference that a hypothesis may have. Its expected score is 0.99999."""

EMPTY = 1e-3
"""The count, in pairs, that replaces 0 in the likelihoods."""


def expected_score(elo: float) -> float:
    """Return the expected score per game, 0 to 1, of an agent that is `elo` stronger than its opponent."""
    return (1 + tanh(elo / ELO_PER_LOGIT / 2)) / 2


def elo_of(score: float) -> float:
    """Return the difference in Elo that has an expected score; infinite for the scores 0 and 1."""
    return copysign(inf, score - 0.5) if score in (0, 1) else ELO_PER_LOGIT * log(score / (1 - score))


def pair_counts(first: ArrayLike, second: ArrayLike) -> Ints:
    """Compute the pentanomial counts of a match.

    Args:
        first: [N] A's scores in the first game of each pair: 0, 0.5 or 1.
        second: [N] A's scores in the second game, the same deal with the seats swapped.

    Returns:
        [5] The numbers of pairs that scored 0, 0.25, 0.5, 0.75 and 1.

    Raises:
        ValueError: if the shapes differ, or if a score has another value.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise ValueError(f"both games of N pairs need scores [N], not {list(one.shape)} and {list(other.shape)}")
    odd = np.setdiff1d(np.concatenate([one, other]), (0, 0.5, 1))
    if odd.size:
        raise ValueError(f"the score of a game is 0, 0.5 or 1, not {odd[0]}")
    return np.bincount((2 * (one + other)).astype(np.int64), minlength=5)


def _checked(counts: ArrayLike) -> Floats:
    """Return pentanomial counts as floats [..., 5].

    Raises:
        ValueError: if the shape differs, or if a count is negative or not finite.
    """
    found = np.asarray(counts, dtype=np.float64)
    if found.ndim == 0 or found.shape[-1] != 5:
        raise ValueError(f"pentanomial counts have 5 entries, for scores 0, 0.25, 0.5, 0.75 and 1, not {found.shape}")
    if not (np.isfinite(found) & (found >= 0)).all():
        raise ValueError(f"counts are finite numbers of at least 0, not {found.tolist()}")
    return found


def _tilt(frequencies: Floats, mean: float) -> Floats:
    """Compute the x [...] for which ``f / (1 + x * (score - mean))`` is the likeliest distribution with a given mean.

    This x is the root of ``sum(f * d / (1 + x * d))``, d = score - mean, which falls from plus to minus infinity
    between ``-1 / max(d)`` and ``-1 / min(d)`` (Van den Bergh, "Comments on maximum likelihood estimates for
    multinomial distributions", proposition 1.1). It is found by Newton's method, with a bisection step wherever a
    Newton step would leave the bracket.

    Args:
        frequencies: [..., 5] The frequencies f of the scores: positive, with sum 1.
        mean: The mean, strictly between 0 and 1.
    """
    away = PAIR_SCORES - mean
    low, high = np.full(frequencies.shape[:-1], -1 / away[-1]), np.full(frequencies.shape[:-1], -1 / away[0])
    x = np.zeros_like(low)
    for _ in range(200):
        terms = away / (1 + x[..., None] * away)
        value = (frequencies * terms).sum(axis=-1)
        low, high = np.where(value > 0, x, low), np.where(value > 0, high, x)
        step = x + value / (frequencies * terms**2).sum(axis=-1)
        step = np.where((low < step) & (step < high), step, (low + high) / 2)
        if (np.abs(step - x) <= 1e-12 * (1 + np.abs(x))).all():
            break
        x = step
    return x


def log_likelihood_ratios(counts: ArrayLike, elo0: float, elo1: float) -> Floats:
    """Compute the log-likelihood ratio of H1 (`elo1`) against H0 (`elo0`) for each of many matches.

    A count of 0 is replaced by a thousandth of a pair, so that both hypotheses are possible after any match.

    Args:
        counts: [..., 5] pentanomial counts.
        elo0: the difference in Elo under H0.
        elo1: the difference in Elo under H1.

    Returns:
        [...] natural logarithms, 0 for no pairs.

    Raises:
        ValueError: if the counts are invalid.
    """
    found = _checked(counts)
    filled = np.where(found > 0, found, EMPTY)
    frequencies = filled / filled.sum(axis=-1, keepdims=True)
    logs = []
    for elo in (elo0, elo1):
        mean = expected_score(elo)
        logs.append(-np.log1p(_tilt(frequencies, mean)[..., None] * (PAIR_SCORES - mean)))
    # The ratio of the likelihoods of the pairs that were played: the replaced zeros are not evidence.
    ratios: Floats = found.sum(axis=-1) * (frequencies * (logs[1] - logs[0])).sum(axis=-1)
    return ratios


TYPICAL_DEVIATION = 0.35
"""The standard deviation of the score of a pair of independent games between equal agents that hardly ever tie."""


@dataclass(frozen=True)
class Sprt:
    """A sequential test of H1 (A is `elo1` stronger than B) against H0 (A is `elo0` stronger than B).

    Play pairs, and ask for the verdict after each pair or each batch of pairs, until there is one. Wald's bounds assume
    that the ratio hits a bound exactly. In fact it goes beyond by at most one pair or batch, which makes errors rarer.

    The likelihoods use an estimated distribution of the scores. So the error rates hold approximately, not exactly.

    Attributes:
        elo0: the difference in Elo at which the verdict "H1" is an error with probability `alpha`.
        elo1: the difference in Elo, above `elo0`, at which the verdict "H0" is an error with probability `beta`.
        alpha: the probability of "H1" at `elo0`. It is smaller below `elo0`.
        beta: the probability of "H0" at `elo1`. It is smaller above `elo1`.
        min_pairs: the number of pairs before the first verdict. The spread of the scores is estimated from the match
            itself, and a few pairs do not suffice for that.

    Raises:
        ValueError: if not -2000 <= elo0 < elo1 <= 2000, or if `alpha` or `beta` is not between 0 and 0.5.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    min_pairs: int = 16

    def __post_init__(self) -> None:
        """Check the arguments."""
        if not -MOST_ELO <= self.elo0 < self.elo1 <= MOST_ELO:
            limits = f"-{MOST_ELO:g} <= elo0 < elo1 <= {MOST_ELO:g}"
            raise ValueError(f"expected {limits}, not elo0 = {self.elo0} and elo1 = {self.elo1}")
        for name, chance in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < chance < 0.5:
                raise ValueError(f"{name} must be between 0 and 0.5, not {chance}")
        object.__setattr__(self, "min_pairs", as_integer(self.min_pairs, "min_pairs", 1))

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which H0 and H1 are accepted (Wald 1945)."""
        return log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha)

    def llr(self, counts: ArrayLike) -> float:
        """Return the log-likelihood ratio of H1 against H0 for pentanomial counts [5]."""
        return float(log_likelihood_ratios(_match(counts), self.elo0, self.elo1))

    def verdict(self, counts: ArrayLike) -> Verdict | None:
        """Return the accepted hypothesis for pentanomial counts [5]; None if more pairs are needed."""
        if _match(counts).sum() < self.min_pairs:
            return None
        return self._decide(self.llr(counts))

    def llr_of_mean(self, pairs: int, mean: float, variance: float) -> float:
        """Return the log-likelihood ratio for scores of pairs that may be any numbers, such as corrected ones.

        The scores count as normally distributed with an unknown variance, of which the likeliest is taken under either
        hypothesis (Li, Liu, Ying). One more pair with the mean and the deviation :data:`TYPICAL_DEVIATION` keeps few
        pairs, which may be equal by chance, from a verdict.

        Args:
            pairs: the number of pairs.
            mean: the mean of their scores.
            variance: the mean of the squared differences from it.
        """
        spread = (pairs * variance + TYPICAL_DEVIATION**2) / (pairs + 1)
        away = [(mean - expected_score(elo)) ** 2 for elo in (self.elo0, self.elo1)]
        return pairs / 2 * (log(spread + away[0]) - log(spread + away[1]))

    def verdict_of_mean(self, pairs: int, mean: float, variance: float) -> Verdict | None:
        """Return the accepted hypothesis for scores as :meth:`llr_of_mean` takes them; None if more are needed."""
        return None if pairs < self.min_pairs else self._decide(self.llr_of_mean(pairs, mean, variance))

    def _decide(self, ratio: float) -> Verdict | None:
        low, high = self.bounds
        return "H1" if ratio >= high else "H0" if ratio <= low else None

    def chance_of_h1(self, elo: float) -> float:
        """Return the approximate probability of the verdict "H1" if A is `elo` stronger than B."""
        return self._walk(elo, 1.0)[0]

    def expected_pairs(self, elo: float, deviation: float = TYPICAL_DEVIATION) -> float:
        """Return the approximate mean number of pairs that the test needs if A is `elo` stronger than B.

        Args:
            elo: the true difference in Elo.
            deviation: the standard deviation of a pair's score (`deviation` of an :class:`Estimate`). The default is
                that of two independent games between equal agents that hardly ever tie. Ties make it smaller, and so
                does the deal where its effects cancel. The number of pairs is proportional to its square.

        Raises:
            ValueError: if the deviation is not above 0 and at most 0.5.
        """
        if not 0 < deviation <= 0.5:
            raise ValueError(f"the deviation of a pair's score is above 0 and at most 0.5, not {deviation}")
        return max(float(self.min_pairs), self._walk(elo, deviation)[1])

    def _walk(self, elo: float, deviation: float) -> tuple[float, float]:
        """Compute the probability of H1 and the mean number of pairs, with a Brownian motion in place of the ratio.

        Its drift and variance per pair are those of the ratio for scores close to the hypotheses (Van den Bergh, "The
        generalized SPRT for chess"). The results follow from Wald's identity.
        """
        low, high = self.bounds
        score0, score1 = expected_score(self.elo0), expected_score(self.elo1)
        drift = (score1 - score0) * (2 * expected_score(elo) - score0 - score1) / (2 * deviation**2)
        variance = ((score1 - score0) / deviation) ** 2
        pull = 2 * drift / variance
        if abs(pull) < 1e-6:
            return -low / (high - low), -low * high / variance
        if pull > 0:
            chance = (1 - exp(pull * low)) / (1 - exp(pull * (low - high)))
        else:
            chance = (exp(-pull * low) - 1) * exp(pull * high) / (exp(pull * (high - low)) - 1)
        return chance, (high * chance + low * (1 - chance)) / drift


def _match(counts: ArrayLike) -> Floats:
    """Return the pentanomial counts of one match as floats [5].

    Raises:
        ValueError: if the counts are invalid or belong to several matches.
    """
    found = _checked(counts)
    if found.ndim != 1:
        raise ValueError(f"expected the counts of one match [5], not {list(found.shape)}")
    return found


@dataclass(frozen=True)
class Estimate:
    """An estimate of how much stronger A is than B, from the pentanomial counts of a match.

    The Elo is the log odds of the mean score after half a win and half a loss are added. This keeps it finite when A
    won or lost every game, and removes most of its bias (Haldane 1956, Anscombe 1956). The interval of the score is
    that of a mean over pairs, with one more pair of the worst or the best score (:mod:`genial_env.arena.intervals`).
    It covers the true score in at least 95% of the matches of a fixed length, whatever the correlation between the two
    games of a pair (experiments/coverage.py). The interval of the Elo is the same interval on the Elo scale. When A won
    every game, the upper ends are 1 and infinity: the match gives only a lower limit of A's strength.

    After a sequential test the estimate is biased away from 0, since a match with a high or low score stops early.

    Attributes:
        pairs: the number of pairs.
        score: the mean score, 0 to 1.
        score_low: the lower end of its 95% interval, 0 if A lost every game.
        score_high: the upper end, 1 if A won every game.
        elo: the difference in Elo, above 0 if A is the stronger agent.
        elo_low: the lower end of its 95% interval, minus infinity if A lost every game.
        elo_high: the upper end, infinity if A won every game.
        superiority: the likelihood of superiority, 0 to 1: the probability that A is stronger, with a flat prior.
        deviation: the standard deviation of a pair's score, 0 to 0.5.
    """

    pairs: int
    score: float
    score_low: float
    score_high: float
    elo: float
    elo_low: float
    elo_high: float
    superiority: float
    deviation: float

    @classmethod
    def of(cls, counts: ArrayLike) -> Self:
        """Create the estimate from pentanomial counts [5].

        Raises:
            ValueError: if the counts are invalid or all 0.
        """
        found = _match(counts)
        if not found.sum():
            raise ValueError("an estimate needs at least one pair, and all counts are 0")
        score = _moments(found)[0]
        mean, deviation = _moments(found + HALF_GAMES)
        logit = log(mean / (1 - mean))
        error = deviation / sqrt(found.sum() + HALF_GAMES.sum()) / (mean * (1 - mean))
        low, high = mean_interval(PAIR_SCORES, np.ones(5), (0.0, 1.0), times=found)
        return cls(
            pairs=int(found.sum()),
            score=score,
            score_low=low,
            score_high=high,
            elo=ELO_PER_LOGIT * logit,
            elo_low=elo_of(low),
            elo_high=elo_of(high),
            superiority=NormalDist().cdf(2 * sinh(logit / 2) / error),
            deviation=deviation,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the values for JSON, with None for an infinite end of the interval."""
        return {name: value if isfinite(value) else None for name, value in asdict(self).items()}


HALF_GAMES = np.array([0.25, 0, 0, 0, 0.25])
"""Half a win and half a loss, as counts of pairs."""


def _moments(counts: Floats) -> tuple[float, float]:
    """Return the mean and the standard deviation of the pairs' scores."""
    mean = float(counts @ PAIR_SCORES / counts.sum())
    return mean, sqrt(float(counts @ (PAIR_SCORES - mean) ** 2 / counts.sum()))
