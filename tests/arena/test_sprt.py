"""The sequential test of two agents keeps its promises, and the estimate of their difference covers the truth."""

import json
from collections.abc import Sequence
from itertools import product
from math import inf, log, sqrt

import numpy as np
import pytest

from genial_env.arena.sprt import PAIR_SCORES, Estimate, Sprt, expected_score, log_likelihood_ratios, pair_counts

LAWS = {"no ties": (0, 0), "some ties": (0.15, 0.4), "luck of the deal": (0.1, 0.8), "alike games": (0.05, -0.4)}
"""Ties a game, and the share of pairs in which the luck of the deal decides both games (below 0: games end alike)."""


def law(elo: float, ties: float, luck: float) -> np.ndarray:
    """[5]: how likely a pair scores 0 to 1; its mean is the expected score."""
    score = expected_score(elo)
    ties = min(ties, 1.9 * score, 1.9 * (1 - score))
    game = np.array([1 - score - ties / 2, ties, score - ties / 2])
    special = np.zeros(5)
    if luck >= 0:  # who has the better seat wins, but for the surplus of the stronger
        special[2], special[4 if score > 0.5 else 0] = 1 - abs(2 * score - 1), abs(2 * score - 1)
    else:
        special[::2] = game
    return (1 - abs(luck)) * np.convolve(game, game) + abs(luck) * special


def simulate(test: Sprt, laws: Sequence[np.ndarray], tests: int, seed: int) -> np.ndarray:
    """[L, 3]: under each law the shares of the verdicts H0 and H1 and the mean number of pairs, of so many tests that
    look after every pair.
    """
    rng, probabilities = np.random.default_rng(seed), np.repeat(laws, tests, axis=0)
    counts, lengths, verdicts = np.zeros(probabilities.shape), *np.zeros((2, len(probabilities)))
    live, (low, high) = np.arange(len(probabilities)), test.bounds
    for pairs in range(1, 100_000):
        counts[live] += rng.multinomial(1, probabilities[live])
        if pairs >= test.min_pairs:
            ratios = log_likelihood_ratios(counts[live], test.elo0, test.elo1)
            verdicts[live] = np.where(ratios >= high, 1, np.where(ratios <= low, -1, 0))
            lengths[live] = pairs
            live = live[verdicts[live] == 0]
            if not live.size:
                break
    assert not live.size
    return np.stack([verdicts < 0, verdicts > 0, lengths]).reshape(3, -1, tests).mean(axis=2).T


def at_most(chance: float, trials: int) -> float:
    """A share that is exceeded by chance once in 30 000 times."""
    return chance + 4 * sqrt(chance * (1 - chance) / trials)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_errors_are_as_rare_as_promised(name: str) -> None:
    test, tests = Sprt(0, 60), 1500
    at_h0, at_h1 = simulate(test, [law(elo, *LAWS[name]) for elo in (0, 60)], tests, seed=1)
    wrongly_h1, wrongly_h0 = at_h0[1], at_h1[0]
    assert wrongly_h1 <= at_most(0.05, tests)
    assert wrongly_h0 <= at_most(0.05, tests)
    if name != "luck of the deal":  # there the scores are almost all the same, and errors are rarer still
        assert wrongly_h1 > 0.02
        assert wrongly_h0 > 0.02


@pytest.mark.slow
@pytest.mark.parametrize(
    "test",
    [Sprt(0, 60, alpha=0.01, beta=0.1), Sprt(0, 200), Sprt(0, 500), Sprt(200, 300)],
    ids=lambda test: f"{test.elo0:g} {test.elo1:g}",
)
def test_errors_of_other_tests(test: Sprt) -> None:
    tests = 500
    for ties, luck in ((0.15, 0.4), (0, 0), (0.05, -0.4)):
        at_h0, at_h1 = simulate(test, [law(elo, ties, luck) for elo in (test.elo0, test.elo1)], tests, seed=3)
        assert at_h0[1] <= at_most(test.alpha, tests)
        assert at_h1[0] <= at_most(test.beta, tests)


def test_between_and_beyond_the_hypotheses() -> None:
    test, tests = Sprt(-30, 30), 800
    laws = {elo: law(elo, *LAWS["some ties"]) for elo in (-80, -15, 0, 15, 80)}
    for elo, (h0, h1, pairs) in zip(laws, simulate(test, list(laws.values()), tests, seed=5), strict=True):
        deviation = sqrt(laws[elo] @ (PAIR_SCORES - expected_score(elo)) ** 2)
        assert h0 + h1 == 1
        assert h1 == pytest.approx(test.chance_of_h1(elo), abs=0.07)
        assert pairs == pytest.approx(test.expected_pairs(elo, deviation), rel=0.25)
        if abs(elo) == 80:
            assert (h1 if elo < 0 else h0) <= 0.005


def test_planning_at_the_hypotheses() -> None:
    test = Sprt(0, 20, alpha=0.02, beta=0.1)
    assert test.chance_of_h1(0) == pytest.approx(0.02, abs=1e-3)
    assert test.chance_of_h1(20) == pytest.approx(0.9, abs=1e-3)
    chances = [test.chance_of_h1(elo) for elo in range(-2000, 2001, 5)]
    assert chances == sorted(chances)
    assert chances[0] == pytest.approx(0)
    assert chances[-1] == pytest.approx(1)
    middle = 400 * np.log10(1 / (1 - (0.5 + expected_score(20)) / 2) - 1)  # the mean of both scores: no drift
    around = [test.expected_pairs(middle + away) for away in (-1e-3, 0, 1e-3)]
    assert around == pytest.approx([around[1]] * 3, rel=1e-3)
    assert test.expected_pairs(20, 0.1) == pytest.approx(test.expected_pairs(20, 0.2) / 4)
    assert Sprt(0, 400).expected_pairs(1000) == 16


def test_ratio_is_that_of_the_likeliest_laws() -> None:
    """Against a search of all laws over three scores: [a, 1 - 2a - d, a + d] has mean 0.5 + d / 2."""
    counts = np.array([3, 0, 4, 0, 13])
    a = np.linspace(1e-6, 0.5, 200_001)
    best = []
    for elo in (0, 100):
        excess = 2 * expected_score(elo) - 1
        rows = np.array([a, 1 - 2 * a - excess, a + excess])
        rows = rows[:, (rows > 0).all(axis=0)]
        best.append((counts[::2, None] * np.log(rows)).sum(axis=0).max())
    assert Sprt(0, 100).llr(counts) == pytest.approx(best[1] - best[0], abs=1e-3)


def test_ratio_of_many_is_that_of_each() -> None:
    rng = np.random.default_rng(6)
    counts = rng.poisson(rng.choice([0, 0.3, 5, 300], size=(200, 5)))
    together = log_likelihood_ratios(counts, -10, 40)
    assert np.isfinite(together).all()
    assert together == pytest.approx([Sprt(-10, 40).llr(row) for row in counts], abs=1e-6)
    swapped = log_likelihood_ratios(counts[:, ::-1], -40, 10)
    assert together == pytest.approx(-swapped, abs=1e-6)


@pytest.mark.parametrize("counts", np.eye(5, dtype=int) * 10_000, ids=str)
def test_one_score_alone(counts: np.ndarray) -> None:
    for elo0, elo1 in ((0, 1), (-2000, 2000), (1999, 2000)):
        test = Sprt(elo0, elo1)
        assert np.isfinite(test.llr(counts))
        assert test.llr(counts * 2) == pytest.approx(2 * test.llr(counts), rel=1e-2)


def test_verdicts() -> None:
    test = Sprt(0, 50)
    assert test.bounds == (pytest.approx(-log(19)), pytest.approx(log(19)))
    assert test.llr([0] * 5) == 0
    assert test.verdict([0] * 5) is None
    assert test.verdict([0, 0, 0, 0, 400]) == "H1"
    assert test.verdict([400, 0, 0, 0, 0]) == "H0"
    assert test.verdict([100, 40, 300, 40, 100]) == "H0"
    assert test.verdict([1, 1, 12, 1, 2]) is None
    assert Sprt(0, 400, min_pairs=1).verdict([0, 0, 0, 0, 15]) == "H1"
    assert Sprt(0, 400).verdict([0, 0, 0, 0, 15]) is None


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"elo0": 5, "elo1": 5}, "elo0 < elo1"),
        ({"elo0": 5, "elo1": float("nan")}, "elo1 = nan"),
        ({"elo0": 0, "elo1": 1e5}, "2000"),
        ({"elo0": 0, "elo1": 5, "alpha": 0}, "alpha .* not 0"),
        ({"elo0": 0, "elo1": 5, "beta": 0.5}, "beta .* not 0.5"),
        ({"elo0": 0, "elo1": 5, "min_pairs": 0}, "min_pairs .* not 0"),
    ],
    ids=str,
)
def test_refused_tests(wrong: dict[str, float], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Sprt(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("counts", [[1, 2, 3], 4, [1, 2, 3, 4, -1], [0, 0, 0, 0, float("inf")], [[1] * 5] * 2], ids=str)
def test_refused_counts(counts: object) -> None:
    with pytest.raises(ValueError, match="count"):
        Sprt(0, 5).llr(counts)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="count"):
        Estimate.of(counts)  # type: ignore[arg-type]


def test_other_refusals() -> None:
    with pytest.raises(ValueError, match="at least one pair"):
        Estimate.of([0] * 5)
    with pytest.raises(ValueError, match=r"not 0\.7"):
        Sprt(0, 5).expected_pairs(0, 0.7)
    with pytest.raises(ValueError, match=r"not \[1\] and \[2\]"):
        pair_counts([1], [1, 0])
    with pytest.raises(ValueError, match=r"not 0\.25"):
        pair_counts([1], [0.25])


def test_pair_counts() -> None:
    first, second = zip(*product((0, 0.5, 1), repeat=2), strict=True)
    assert pair_counts(first, second).tolist() == [1, 2, 3, 2, 1]
    assert pair_counts([], []).tolist() == [0] * 5
    assert pair_counts([1, 1, 1], [1, 0.5, 1]).tolist() == [0, 0, 0, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("elo", [0, 80, -300])
@pytest.mark.parametrize("pairs", [10, 40, 400])
def test_intervals_cover_the_truth(elo: float, pairs: int) -> None:
    rng = np.random.default_rng(7)
    for ties, luck in LAWS.values():
        drawn, back = np.unique(rng.multinomial(pairs, law(elo, ties, luck), size=120), axis=0, return_inverse=True)
        estimates = [Estimate.of(counts) for counts in drawn]
        found = [estimates[number] for number in back.ravel()]
        covered = np.mean([e.elo_low <= elo <= e.elo_high for e in found])
        assert covered == np.mean([e.score_low <= expected_score(elo) <= e.score_high for e in found])
        assert covered >= 0.95 - 4 * sqrt(0.95 * 0.05 / 120)


def test_superiority_is_calibrated() -> None:
    """Between equals it is evenly spread: the test that it is above q errs in 1 - q of the matches."""
    drawn = np.random.default_rng(8).multinomial(200, law(0, 0.1, 0.3), size=300)
    found = np.array([Estimate.of(counts).superiority for counts in drawn])
    for q in (0.05, 0.25, 0.5, 0.75, 0.95):
        assert (found < q).mean() == pytest.approx(q, abs=4 * sqrt(q * (1 - q) / 300))


@pytest.mark.parametrize("pairs", [1, 10, 1000])
def test_estimates_at_the_ends(pairs: int) -> None:
    won, lost, even = (Estimate.of(pairs * np.eye(5, dtype=int)[score]) for score in (4, 0, 2))
    assert (won.score, lost.score, even.score) == (1, 0, 0.5)
    assert won.elo_low < won.elo < won.elo_high == inf
    assert won.score_low == pytest.approx(0.025 ** (1 / pairs), abs=1e-5)  # what a chance of 2.5% wins so often
    assert (lost.elo_low, lost.elo) == (-inf, pytest.approx(-won.elo))
    assert lost.elo_high == pytest.approx(-won.elo_low, abs=0.1)
    assert won.to_dict()["elo_high"] is None
    assert lost.superiority == pytest.approx(1 - won.superiority)
    assert won.superiority > (0.5 if pairs == 1 else 0.975)
    assert (even.elo, even.superiority) == (0, 0.5)
    for estimate in (won, lost, even):
        assert 0 <= estimate.score_low <= estimate.score <= estimate.score_high <= 1
        assert 0 < estimate.deviation < 0.5
        assert json.loads(json.dumps(estimate.to_dict(), allow_nan=False))["pairs"] == pairs


def test_estimate_of_a_long_match() -> None:
    probabilities = law(70, 0.2, 0.3)
    estimate = Estimate.of(np.round(1e6 * probabilities))
    assert estimate.elo == pytest.approx(70, abs=0.1)
    assert estimate.score == pytest.approx(expected_score(70), abs=1e-4)
    assert estimate.deviation == pytest.approx(sqrt(probabilities @ (PAIR_SCORES - estimate.score) ** 2), rel=1e-3)
    margin = 1.96 * estimate.deviation / 1e3
    assert estimate.score_high - estimate.score == pytest.approx(margin, rel=1e-2)
