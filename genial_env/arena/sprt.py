"""Is agent A better than agent B? A sequential test on pairs of games, and an estimate of how much.

A pair is two games of the same deal with the seats swapped. A's score of a game is 1 for a win, 0.5 for a tie and 0
for a loss; of a pair it is the mean of its two games: 0, 0.25, 0.5, 0.75 or 1. How often each came is all that is kept
of a match, the *pentanomial counts* [5]. Pairs are independent of each other while the two games of a pair are not: the
luck of the deal largely cancels between them, and counting by pairs makes use of that without a model of it.

Differences in strength are in Elo on the logistic scale: at a difference of `elo` A is expected to score
``1 / (1 + 10 ** (-elo / 400))`` a game, ties included.

The test is the generalised sequential probability ratio test on the expected score, as chess engines are tested:

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
from numpy.typing import ArrayLike, NDArray

from genial_env._util.checks import as_integer
from genial_env.arena.intervals import mean_interval
from genial_env.core.bitsets import Ints

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

Floats = NDArray[np.float64]
Verdict = Literal["H0", "H1"]

PAIR_SCORES = np.array([0, 0.25, 0.5, 0.75, 1])
"""What the pentanomial counts are counts of."""

ELO_PER_LOGIT = 400 / log(10)
"""Elo of one unit of log odds."""

MOST_ELO = 2000.0
"""The largest difference that a test may ask about; its expected score is 0.99999."""

EMPTY = 1e-3
"""What a score that never came counts as in the likelihoods, in pairs."""


def expected_score(elo: float) -> float:
    """The expected score a game, 0 to 1, of an agent that is `elo` stronger than its opponent."""
    return (1 + tanh(elo / ELO_PER_LOGIT / 2)) / 2


def elo_of(score: float) -> float:
    """Return the difference in Elo at which a score is expected; infinite for 0 and 1."""
    return copysign(inf, score - 0.5) if score in (0, 1) else ELO_PER_LOGIT * log(score / (1 - score))


def pair_counts(first: ArrayLike, second: ArrayLike) -> Ints:
    """Pentanomial counts of a match.

    Args:
        first: [N] A's scores of the first game of each pair: 0, 0.5 or 1.
        second: [N] of the second, the same deal with the seats swapped.

    Returns:
        [5] how many pairs scored 0, 0.25, 0.5, 0.75 and 1.

    Raises:
        ValueError: for shapes that differ, or other scores.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise ValueError(f"both games of N pairs need scores [N], not {list(one.shape)} and {list(other.shape)}")
    odd = np.setdiff1d(np.concatenate([one, other]), (0, 0.5, 1))
    if odd.size:
        raise ValueError(f"the score of a game is 0, 0.5 or 1, not {odd[0]}")
    return np.bincount((2 * (one + other)).astype(np.int64), minlength=5)


def _checked(counts: ArrayLike) -> Floats:
    """[..., 5] as floats.

    Raises:
        ValueError: for another shape, negative counts, or what is not a finite number.
    """
    found = np.asarray(counts, dtype=np.float64)
    if found.ndim == 0 or found.shape[-1] != 5:
        raise ValueError(f"pentanomial counts have 5 entries, for scores 0, 0.25, 0.5, 0.75 and 1, not {found.shape}")
    if not (np.isfinite(found) & (found >= 0)).all():
        raise ValueError(f"counts are finite numbers of at least 0, not {found.tolist()}")
    return found


def _tilt(frequencies: Floats, mean: float) -> Floats:
    """[...]: the x that makes ``f / (1 + x * (score - mean))`` the likeliest distribution with that mean.

    Such an x is the root of ``sum(f * d / (1 + x * d))``, d = score - mean, which falls from plus to minus infinity
    between ``-1 / max(d)`` and ``-1 / min(d)`` (Van den Bergh, "Comments on maximum likelihood estimates for
    multinomial distributions", proposition 1.1). Newton's method, with a bisection wherever it would leave the bracket.

    Args:
        frequencies: [..., 5] all positive, of sum 1.
        mean: strictly between 0 and 1.
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
    """How much better `elo1` explains each of many matches than `elo0` does.

    Scores that never came count as a thousandth of a pair, so that either hypothesis is possible after any match.

    Args:
        counts: [..., 5] pentanomial counts.
        elo0: Elo of the one hypothesis.
        elo1: of the other.

    Returns:
        [...] natural logarithms, 0 for no pairs.

    Raises:
        ValueError: for counts that are none.
    """
    found = _checked(counts)
    filled = np.where(found > 0, found, EMPTY)
    frequencies = filled / filled.sum(axis=-1, keepdims=True)
    logs = []
    for elo in (elo0, elo1):
        mean = expected_score(elo)
        logs.append(-np.log1p(_tilt(frequencies, mean)[..., None] * (PAIR_SCORES - mean)))
    # The ratio of the likelihoods of the pairs played: what fills the empty scores is not evidence.
    ratios: Floats = found.sum(axis=-1) * (frequencies * (logs[1] - logs[0])).sum(axis=-1)
    return ratios


@dataclass(frozen=True)
class Sprt:
    """A sequential test of H1, A is `elo1` stronger than B, against H0, A is `elo0` stronger.

    Play pairs and ask for the verdict after each, or after each batch of them, until there is one. Wald's bounds take
    the ratio to land on them; it lands a little beyond, by at most one pair or batch, which makes errors rarer.

    The likelihoods estimate what they do not know, so that the chances of errors hold closely, not exactly. In 20 000
    simulated tests of 0 against 60 Elo, 4 of 5 pairs decided by the luck of the deal, "H0" came in 5.6% at 60 Elo.

    Attributes:
        elo0: where a verdict "H1" should be an error, in Elo.
        elo1: where a verdict "H0" should be, above `elo0`.
        alpha: the chance of "H1" at `elo0` (and less below).
        beta: the chance of "H0" at `elo1` (and less above).
        min_pairs: no verdict before so many pairs. The likelihoods take the spread of the scores from the match itself,
            which a handful of pairs tells too little of.

    Raises:
        ValueError: for hypotheses the wrong way around or beyond 2000 Elo, or chances that are not between 0 and 0.5.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    min_pairs: int = 16

    def __post_init__(self) -> None:
        """Check."""
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
        """The log-likelihood ratio of H1 against H0 for pentanomial counts [5]."""
        return float(log_likelihood_ratios(_match(counts), self.elo0, self.elo1))

    def verdict(self, counts: ArrayLike) -> Verdict | None:
        """The hypothesis that pentanomial counts [5] decide for; None: play on."""
        if _match(counts).sum() < self.min_pairs:
            return None
        ratio, (low, high) = self.llr(counts), self.bounds
        return "H1" if ratio >= high else "H0" if ratio <= low else None

    def chance_of_h1(self, elo: float) -> float:
        """About how likely the verdict "H1" is if A is `elo` stronger: 0 to 1."""
        return self._walk(elo, 1.0)[0]

    def expected_pairs(self, elo: float, deviation: float = 0.35) -> float:
        """About how many pairs the test takes on average if A is `elo` stronger.

        Args:
            elo: the true difference.
            deviation: standard deviation of a pair's score (:attr:`Estimate.deviation` of an earlier match). 0.35 is
                that of two independent games between equals that hardly ever tie; ties, and deals whose luck
                cancels out, make it smaller, and the pairs needed shrink with its square.

        Raises:
            ValueError: for a deviation outside 0 to 0.5.
        """
        if not 0 < deviation <= 0.5:
            raise ValueError(f"the deviation of a pair's score is above 0 and at most 0.5, not {deviation}")
        return max(float(self.min_pairs), self._walk(elo, deviation)[1])

    def _walk(self, elo: float, deviation: float) -> tuple[float, float]:
        """The chance of H1 and the mean number of pairs, the ratio taken as a Brownian motion between the bounds.

        Its drift and variance a pair are those of the ratio for scores close to the hypotheses (Van den Bergh, "The
        generalized SPRT for chess"); the rest is Wald's identity.
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
    """[5].

    Raises:
        ValueError: for the counts of no match or of many.
    """
    found = _checked(counts)
    if found.ndim != 1:
        raise ValueError(f"expected the counts of one match [5], not {list(found.shape)}")
    return found


@dataclass(frozen=True)
class Estimate:
    """How much stronger A is than B, from the pentanomial counts of a match.

    The Elo is the log odds of the mean score with half a game won and half a game lost added, which keeps it finite
    when A won or lost every game and takes most of the bias out of it (Haldane 1956, Anscombe 1956). The interval of
    the score is that of a mean over pairs, with one more pair that went as badly, or as well, as it can
    (:mod:`genial_env.arena.intervals`). It covers the truth in at least 95% of the matches of a fixed length, however
    the two games of a pair hang together (experiments/coverage.py). The Elo's is its image. When A won every game, the
    high ends are 1 and infinite: the match only says what A is at least.

    After a sequential test the estimate is biased away from 0, as a lucky match stops early.

    Attributes:
        pairs: how many.
        score: the mean score, 0 to 1.
        score_low: lower end of its 95% interval, 0 where A lost every game.
        score_high: upper end, 1 where A won every game.
        elo: the difference in Elo, above 0 where A is the stronger.
        elo_low: lower end of its 95% interval, minus infinity where A lost every game.
        elo_high: upper end, infinity where A won every game.
        superiority: likelihood of superiority, 0 to 1: how likely A is stronger, given the match and no prior opinion.
        deviation: standard deviation of a pair's score, 0 to 0.5.
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
        """From pentanomial counts [5].

        Raises:
            ValueError: for counts that are none, or of no pairs.
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
        """For JSON: None for an end of the interval that is infinite."""
        return {name: value if isfinite(value) else None for name, value in asdict(self).items()}


HALF_GAMES = np.array([0.25, 0, 0, 0, 0.25])
"""Half a game won and half a game lost, in pairs."""


def _moments(counts: Floats) -> tuple[float, float]:
    """Mean and standard deviation of the pairs' scores."""
    mean = float(counts @ PAIR_SCORES / counts.sum())
    return mean, sqrt(float(counts @ (PAIR_SCORES - mean) ** 2 / counts.sum()))
