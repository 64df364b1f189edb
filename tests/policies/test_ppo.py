"""The agent "ppo" with the network of afterstates. tests/agents/ppo has the tests of both networks against torch."""

from pathlib import Path

import numpy as np
import pytest

from genial_env import Rules, make_policy, play, use_backend, view
from genial_env.core.views import View
from genial_env.policies import weight_files
from genial_env.policies.endgame import exact_solutions
from genial_env.policies.ppo import KIND, PPO, TEMPERATURE, afterstate_logits
from genial_env.policies.value import Value, judge
from genial_env.policies.value_net import ValueNet, Widths
from genial_env.testing import check_policy
from tests.positions import FORMER_PPO, random_play

RULES = [Rules(), Rules(3), Rules(4, "2009", "team"), Rules(side=4, colors=4, rack=3)]


def make_arrays(rules: Rules) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    shapes = ValueNet.layout(rules, Widths(6, 5, 4, 7, 3))
    return {name: (0.1 * rng.normal(size=shape)).astype(np.float32) for name, shape in shapes.items()}


def live_views(rules: Rules, games: int, steps: int) -> View:
    """Return what the seats to play know after some random moves, of games that go on."""
    state = random_play(rules, games=games, seed=steps, steps=steps)
    return view(state, rows=np.flatnonzero(~state.over))


def no_bits(games: int) -> np.ndarray:
    return np.zeros(games, dtype=np.uint64)


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_it_is_a_policy(rules: Rules) -> None:
    check_policy(PPO(make_arrays(rules), candidates=4), rules)
    check_policy(PPO(make_arrays(rules), temperature=1.0, candidates=4), rules)


def test_logits_are_utilities_of_candidates() -> None:
    rules = Rules()
    net, seen = ValueNet(rules, make_arrays(rules)), view(random_play(rules, games=5, seed=2, steps=9))
    judged, found = judge(seen, net, 7), afterstate_logits(seen, net, 7)
    assert found.shape == seen.mask().shape
    assert np.allclose(found[judged.after.game, judged.after.actions] * TEMPERATURE, judged.utility)
    assert np.isfinite(found).sum() == len(judged.after)


def test_with_the_weights_of_value_it_plays_as_value() -> None:
    """Up to actions whose logits differ by less than a thousandth."""
    rules = Rules()
    arrays, _ = weight_files.read(weight_files.find_shipped("value", rules), "value")
    with use_backend("numba"):
        for steps in (3, 12, 25, 34):
            seen = live_views(rules, 8, steps)
            expected, found = (agent(seen, no_bits(len(seen))) for agent in (Value(), PPO(arrays)))
            assert (expected == found).mean() > 0.8
            logits = afterstate_logits(seen, ValueNet(rules, arrays), 128)
            each = np.arange(len(seen))
            solved = [game in exact_solutions(seen) for game in each]
            assert np.abs(logits[each, expected] - logits[each, found])[~np.array(solved)].max(initial=0) < 1e-3


def test_the_last_two_placements_are_solved() -> None:
    rules = RULES[3]
    seen = live_views(rules, 60, 13)
    solutions = exact_solutions(seen)
    assert solutions
    for temperature in (0.0, 1.0):
        agent = PPO(make_arrays(rules), temperature, candidates=4)
        played = agent(seen, no_bits(len(seen)))
        assert all(played[game] == solution.first_best for game, solution in solutions.items())
    alone = PPO(make_arrays(rules), candidates=4, solve=False)(seen, no_bits(len(seen)))
    assert any(alone[game] != solution.first_best for game, solution in solutions.items())


def test_drawing_by_temperature() -> None:
    """Candidates are drawn by the distribution, and nothing else."""
    rules = RULES[3]
    arrays = make_arrays(rules)
    seen = view(random_play(rules, games=1, seed=3, steps=4))
    logits = afterstate_logits(seen, ValueNet(rules, arrays), 4)[0].astype(np.float64) / 3
    expected = np.exp(logits - logits.max())
    many = seen.select(np.zeros(20_000, dtype=np.int64))
    random = np.random.default_rng(0).integers(2**64, size=20_000, dtype=np.uint64)
    played = np.bincount(PPO(arrays, 3.0, candidates=4)(many, random), minlength=len(logits)) / 20_000
    assert np.abs(played - expected / expected.sum()).max() < 0.02
    assert not played[~np.isfinite(logits)].any()


def test_both_networks_are_read(tmp_path: Path) -> None:
    rules = Rules()
    file = tmp_path / "some.safetensors"
    weight_files.write(file, KIND, rules, make_arrays(rules))
    agents = [make_policy(f"ppo(weights={str(path)!r}, candidates=4)") for path in (file, FORMER_PPO)]
    assert play(agents, rules, 1).agents == ["ppo", "ppo"]


def test_refused_settings(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"candidates must be .*not 0"):
        PPO(candidates=0)
    file = tmp_path / "value.safetensors"
    weight_files.write(file, "value", Rules(), make_arrays(Rules()))
    with pytest.raises(ValueError, match="must hold weights of kind 'ppo', not 'value'"):
        PPO(file)
    solo = Rules(1, "2009", "solo")
    with pytest.raises(ValueError, match="mode 'solo' has none"):
        PPO(make_arrays(solo)).prepare(solo)
