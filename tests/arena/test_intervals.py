"""Intervals over deals: the bound of Clopper and Pearson where deals are won or lost, and coverage of the truth."""

import numpy as np
import pytest

from experiments.coverage import LAWS, Args, cover, table
from genial_env.arena.intervals import chance_below_zero, mean_interval

special = pytest.importorskip("scipy.special")
pytest.importorskip("choix")


@pytest.mark.parametrize(
    ("won", "deals"), [(0, 5), (1, 1), (2, 2), (5, 10), (9, 10), (10, 10), (499, 500), (1000, 2000)]
)
def test_deals_won_or_lost(won: int, deals: int) -> None:
    values = np.arange(deals) < won
    low, high = mean_interval(values * 2.0, np.full(deals, 2.0), (0.0, 1.0))
    lost = deals - won
    assert low == pytest.approx(special.betaincinv(won, lost + 1, 0.025) if won else 0, abs=1e-5)
    assert high == pytest.approx(special.betaincinv(won + 1, lost, 0.975) if lost else 1, abs=1e-5)
    counted = mean_interval(np.array([0.0, 1.0]), np.ones(2), (0.0, 1.0), times=np.array([lost, won], dtype=float))
    assert counted == pytest.approx((low, high))


@pytest.mark.parametrize("shapes", [(1, 1), (3, 1), (0.5, 2.5), (400, 400), (2000, 3)], ids=str)
def test_the_chance_is_that_of_a_beta_variable(shapes: tuple[float, float]) -> None:
    for share in np.linspace(0.002, 0.998, 40):
        found = chance_below_zero(np.array([1 - share, -share]), np.array(shapes, dtype=float))
        assert found == pytest.approx(special.betainc(*shapes, share), abs=1e-4)


def test_the_chance_of_many_variables() -> None:
    rng = np.random.default_rng(0)
    weights, shapes = rng.normal(0.3, 1, 12), rng.uniform(0.5, 3, 12)
    drawn = (rng.gamma(shapes, size=(200_000, 12)) @ weights < 0).mean()
    assert chance_below_zero(weights, shapes) == pytest.approx(drawn, abs=0.005)


def test_a_smaller_block_widens_less_but_never_below_student() -> None:
    values = np.random.default_rng(1).uniform(0.2, 0.4, 30)
    whole = mean_interval(10 * values, np.full(30, 10.0), (0.0, 1.0))
    small = mean_interval(10 * values, np.full(30, 10.0), (0.0, 1.0), block=1.0)
    reach = 2.045 * values.std(ddof=1) / np.sqrt(30)
    assert whole[0] < small[0] <= values.mean() - reach + 1e-4
    assert whole[1] > small[1] >= values.mean() + reach - 1e-4


def test_limits() -> None:
    assert np.isnan(mean_interval(np.zeros(3), np.zeros(3), (0.0, 1.0))).all()
    assert mean_interval(np.array([0.5]), np.array([1.0]), (-1.0, 1.0), block=0.5) == (-1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["match", "match, luck", "2 seats", "3 seats"])
@pytest.mark.parametrize("chance", [0.5, 0.97])
def test_intervals_hold_the_truth(name: str, chance: float) -> None:
    """A small part of experiments/coverage.py."""
    shares, widths = cover(LAWS[name], chance, deals=10, trials=40, seed=3)
    assert (shares >= 35 / 40).all()
    assert (widths > 0).all()


def test_the_table_of_coverage() -> None:
    found = table(Args(laws=("match, ties",), deals=(10,), chances=(0.9,), trials=3))
    assert found.row_count == 1
    assert [column.header for column in found.columns] == ["law", "deals", "0.9", "width"]
