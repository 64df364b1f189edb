"""The reward schemes, for batches of any size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genial_env import Rules
from genial_env.core import ranking
from genial_env.core.ranking import rank_utility
from genial_env.envs.rewards import DENSE, SCHEMES, check_scheme, compute_rewards, worst_reward, zero_rewards
from tests.positions import STANDARD

COMPETITIVE = [rules for rules in STANDARD if rules.mode != "solo"]


def moments(rules: Rules, seed: int, games: int = 20) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Markers before and after, and whether the games ended in between."""
    rng = np.random.default_rng(seed)
    before = rng.integers(0, rules.top + 1, (games, rules.tracks, rules.colors)).astype(np.int8)
    after = np.minimum(before + rng.integers(0, 6, before.shape), rules.top).astype(np.int8)
    return before, after, rng.random(games) < 0.5


def schemes(rules: Rules) -> list[str]:
    return [name for name in SCHEMES if rules.tracks > 1 or name in DENSE]


@given(st.lists(st.integers(0, 3), min_size=2, max_size=4))
def test_rank_utility_shares_out_nothing(markers: list[int]) -> None:
    scores = np.array(markers)[:, None] + np.zeros(6, dtype=np.int64)
    utility = rank_utility(ranking.ranks(scores))
    assert utility.sum() == pytest.approx(0)
    assert np.abs(utility).max() <= 1
    assert (np.argsort(-utility, kind="stable") == np.argsort(-np.array(markers), kind="stable")).all()
    for one, other in zip(utility, markers, strict=True):
        assert (utility[np.array(markers) == other] == one).all()


@pytest.mark.parametrize("rules", STANDARD, ids=str)
def test_ranges_shapes_and_the_worst(rules: Rules) -> None:
    before, after, over = moments(rules, seed=0)
    low = {"rank": -1, "margin": -rules.top, "lowest": 0, "vector": 0}
    high = {"rank": 1, "margin": rules.top, "lowest": rules.top, "vector": rules.top}
    for scheme in schemes(rules):
        found = compute_rewards(scheme, rules, before, after, over)
        assert found.dtype == np.float64
        assert found.shape[1:] == zero_rewards(scheme, rules).shape
        assert low[scheme] <= found.min() <= found.max() <= high[scheme]
        assert np.shape(worst_reward(scheme, rules)) == found.shape[2:]
        assert np.max(worst_reward(scheme, rules)) <= low[scheme]
        if scheme not in DENSE:
            assert not found[~over].any()


@pytest.mark.parametrize("rules", COMPETITIVE, ids=str)
def test_games_of_a_batch_do_not_mix(rules: Rules) -> None:
    before, after, over = moments(rules, seed=1)
    for scheme in SCHEMES:
        together = compute_rewards(scheme, rules, before, after, over)
        alone = [
            compute_rewards(scheme, rules, before[i : i + 1], after[i : i + 1], over[i : i + 1])[0] for i in range(20)
        ]
        assert np.array_equal(together, alone)
        assert len(compute_rewards(scheme, rules, before[:0], after[:0], over[:0])) == 0


def test_partners_are_paid_alike() -> None:
    rules = Rules(4, "2009", "team")
    for scheme in SCHEMES:
        found = compute_rewards(scheme, rules, *moments(rules, seed=2))
        assert np.array_equal(found[:, :2], found[:, 2:])


def test_margin_compares_with_the_best_of_the_others() -> None:
    rules = Rules(3)
    after = np.full((1, 3, 6), 9)
    after[0, :, 2] = [4, 7, 5]
    found = compute_rewards("margin", rules, np.zeros_like(after), after, np.array([True]))
    assert found.tolist() == [[-3, 2, -2]]


def test_defaults_and_refusals() -> None:
    solo = Rules(1, "2004", "solo")
    assert (check_scheme(Rules(), None), check_scheme(solo, None)) == ("rank", "lowest")
    for scheme in ("rank", "margin"):
        with pytest.raises(ValueError, match=f"reward '{scheme}' compares with others, and solo has none"):
            check_scheme(solo, scheme)
    with pytest.raises(ValueError, match="unknown reward 'win': the rewards are rank, margin, lowest, vector"):
        check_scheme(Rules(), "win")
