"""The reward schemes, for batches of any size."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genial_env import Rules, genial_v0
from genial_env.core import kernel, ranking
from genial_env.core.ranking import rank_utility
from genial_env.core.state import State
from genial_env.envs.rewards import (
    DENSE,
    SCHEMES,
    RewardFunction,
    check_scheme,
    compute_rewards,
    worst_reward,
    zero_rewards,
)
from genial_env.envs.single import GenialEnv
from genial_env.envs.vector import GenialVectorEnv
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


# Functions in the place of names

SMALL: dict[str, Any] = {"side": 4, "colors": 4, "rack": 3}


def growth(before: State, actions: np.ndarray, after: State, seats: np.ndarray) -> np.ndarray:
    """The scheme "vector"."""
    assert len(before) == len(after) == len(seats) == len(actions)
    assert actions.dtype == seats.dtype == np.int64
    assert kernel.is_legal(before, actions, np.arange(len(seats))).all()
    own = np.arange(len(seats)), before.rules.track_of(seats)
    found: np.ndarray = (after.scores - before.scores)[own]
    return found


def lowest(before: State, actions: np.ndarray, after: State, seats: np.ndarray) -> np.ndarray:
    own = np.arange(len(seats)), before.rules.track_of(seats)
    found: np.ndarray = (after.scores.min(axis=2).astype(int) - before.scores.min(axis=2))[own]
    return found


growth.worst_reward = lowest.worst_reward = -18  # type: ignore[attr-defined]


def played(env: Any, steps: int = 40, illegal_at: int = 3) -> list[Any]:
    """The rewards of an environment for one learner, or of many."""
    _, infos = env.reset(seed=3)
    found = []
    for step in range(steps):
        actions = np.asarray(infos["action_mask"].argmax(axis=-1))
        if step == illegal_at and actions.ndim:
            actions[0] = -1
        _, earned, ended, *_, infos = env.step(actions)
        found.append(earned)
        if actions.ndim == 0 and ended:
            _, infos = env.reset()
    return found


@pytest.mark.parametrize(("function", "name"), [(lowest, "lowest"), (growth, "vector")])
def test_a_function_pays_as_a_scheme_does(function: RewardFunction, name: str) -> None:
    for arguments in ({"opponents": "greedy"}, {"players": 4, "edition": "2004", "mode": "team", "seat": "random"}):
        several = [GenialVectorEnv(4, reward=reward, **arguments, **SMALL) for reward in (function, name)]
        assert several[0].action_space == several[1].action_space
        if "mode" not in arguments:  # of 36 in teams, which the attribute does not know
            assert np.array_equal(played(several[0]), played(several[1]))
        else:
            assert np.array_equal(played(several[0], illegal_at=-1), played(several[1], illegal_at=-1))
        single = [GenialEnv(reward=reward, **arguments, **SMALL) for reward in (function, name)]
        assert np.array_equal(played(single[0]), played(single[1]))
    zoo = [genial_v0.raw_env(reward=reward, players=3, **SMALL) for reward in (function, name)]
    for env in zoo:
        env.reset(seed=1)
    for _ in range(12):
        observation, earned, *_ = zoo[0].last()
        assert np.array_equal(earned, zoo[1].last()[1])
        assert all(np.array_equal(zoo[0].rewards[agent], zoo[1].rewards[agent]) for agent in zoo[0].agents)
        for env in zoo:
            env.step(None if zoo[1].terminations[zoo[1].agent_selection] else int(observation["action_mask"].argmax()))


def test_the_space_of_a_function() -> None:
    assert not hasattr(GenialVectorEnv(2, reward=lowest, **SMALL), "reward_space")
    env = GenialVectorEnv(2, reward=growth, **SMALL)
    assert env.reward_space.shape == (4,)
    assert env.reward_dim == 4
    assert env.get_attr("reward_dim") == (4, 4)


@pytest.mark.parametrize(
    ("returns", "error", "said"),
    [
        (lambda n: np.zeros((n, 2)), ValueError, r"7 games: expected the shape \(7,\) or \(7, 4\), found \(7, 2\)"),
        (lambda n: 0.0, ValueError, r"expected the shape \(7,\) or \(7, 4\), found \(\)"),
        (lambda n: np.full(n, np.nan), ValueError, "expected finite numbers, found nan"),
        (lambda n: ["much"] * n, TypeError, "expected numbers, found <U4"),
        (lambda n: [[1], [1, 2]], ValueError, "expected an array"),
    ],
)
def test_functions_that_are_refused(returns: Any, error: type[Exception], said: str) -> None:
    def bad(before: State, actions: np.ndarray, after: State, seats: np.ndarray) -> Any:
        return returns(len(seats))

    for make in (lambda: GenialVectorEnv(2, reward=bad, **SMALL), lambda: GenialEnv(reward=bad, **SMALL)):
        with pytest.raises(error, match=f"the reward function 'bad', .*{said}"):
            make()


def test_a_function_that_goes_wrong_later() -> None:
    def moody(before: State, actions: np.ndarray, after: State, seats: np.ndarray) -> Any:
        return np.where(len(seats) == 7, 0.0, np.inf) * np.ones(len(seats))

    envs = GenialVectorEnv(2, reward=moody, **SMALL)
    _, infos = envs.reset(seed=0)
    actions = infos["action_mask"].argmax(axis=1)
    with pytest.raises(ValueError, match="'moody', 2 games: expected finite numbers, found inf"):
        envs.step(actions)
    with pytest.raises(RuntimeError, match="call reset"):
        envs.step(actions)
    moody.worst_reward = "bad"  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="'moody', worst_reward: expected numbers"):
        GenialEnv(reward=moody, **SMALL)
    with pytest.raises(TypeError, match="reward must be a name, a function or None, not 3"):
        GenialEnv(reward=3, **SMALL)  # type: ignore[arg-type]
