"""Corrections by terms with a mean of zero: the weights, that means stay, and that intervals become narrower."""

import numpy as np
import pytest

from genial_env.analysis.corrections import N_TERMS
from genial_env.arena.correction import FIRST_WEIGHTS, LIMITS, Correction, correct_in_order
from genial_env.arena.sprt import Sprt, expected_score
from genial_env.core.arrays import Floats

TRUE = np.array([1.0, 0.5, 0.8, 1.2, 0.0, 0.3, 0.6, 0.9])


def simulated(n: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Results [n] with the mean 0.5 and their terms [n, F]."""
    rng = np.random.default_rng(seed)
    terms = rng.normal(size=(n, N_TERMS)) * 0.1
    return 0.5 + terms @ TRUE + rng.normal(size=n) * 0.1, terms


def test_weights_are_those_that_leave_the_least_variance() -> None:
    correction = Correction()
    np.testing.assert_array_equal(correction.weights, FIRST_WEIGHTS)
    results, terms = simulated(4000)
    corrected = correction.add(results, terms)
    np.testing.assert_allclose(corrected, results - terms @ FIRST_WEIGHTS)
    np.testing.assert_allclose(correction.weights, TRUE, atol=0.08)


def test_a_result_does_not_change_its_own_weights() -> None:
    results, terms = simulated(60)
    before = correct_in_order(results, terms, np.arange(60))
    results[30] += 100
    after = correct_in_order(results, terms, np.arange(60))
    assert after[30] == pytest.approx(before[30] + 100)
    np.testing.assert_array_equal(before[:30], after[:30])
    assert not np.allclose(before[31:], after[31:])


def test_deals_count_in_their_order() -> None:
    results, terms = simulated(40)
    deals = np.repeat(np.arange(20), 2)
    mixed = np.random.default_rng(1).permutation(40)
    np.testing.assert_allclose(
        correct_in_order(results[mixed], terms[mixed], deals[mixed]), correct_in_order(results, terms, deals)[mixed]
    )


def test_the_mean_stays_and_the_variance_falls() -> None:
    means = []
    for seed in range(200):
        results, terms = simulated(30, seed)
        corrected = correct_in_order(results, terms, np.arange(30))
        means.append((results.mean(), corrected.mean()))
    plain, corrected = np.array(means).T
    assert abs(corrected.mean() - 0.5) < 4 * corrected.std() / np.sqrt(200)
    assert corrected.std() < 0.8 * plain.std()


def test_terms_that_hardly_vary_get_no_wild_weights() -> None:
    results, terms = simulated(100)
    correction = Correction()
    correction.add(results, terms * 1e-6)
    assert (correction.weights >= LIMITS[0]).all()
    assert (correction.weights <= LIMITS[1]).all()
    correction = Correction()
    correction.add(np.full(5, 0.5), np.zeros((5, N_TERMS)))
    np.testing.assert_allclose(correction.weights, FIRST_WEIGHTS)


def test_a_sequential_test_of_any_scores() -> None:
    test = Sprt(0, 60)
    assert test.verdict_of_mean(test.min_pairs - 1, 1.0, 0.0) is None
    assert test.verdict_of_mean(1000, expected_score(60), 0.1) == "H1"
    assert test.verdict_of_mean(1000, 0.5, 0.1) == "H0"
    assert test.llr_of_mean(0, 0.5, 0.0) == 0
    middle = (expected_score(0) + expected_score(60)) / 2
    assert test.llr_of_mean(500, middle, 0.1) == pytest.approx(0)
    wide, narrow = (test.llr_of_mean(500, 0.58, variance) for variance in (0.12, 0.06))
    assert narrow > wide > 0


@pytest.mark.parametrize("elo", [0, 60])
def test_errors_of_that_test_are_rare(elo: float) -> None:
    """At either hypothesis at most 5% of the verdicts are wrong, and some more by chance."""
    test, rng, wrong = Sprt(0, 60), np.random.default_rng(3), 0
    for _ in range(200):
        scores = expected_score(elo) + rng.normal(size=3000) * 0.33
        n = np.arange(1, 3001)
        means = scores.cumsum() / n
        variances = (scores**2).cumsum() / n - means**2
        verdicts = (test.verdict_of_mean(*each) for each in zip(n.tolist(), means, variances, strict=True))
        wrong += next(each for each in verdicts if each) != ("H1" if elo else "H0")
    assert wrong <= 20
