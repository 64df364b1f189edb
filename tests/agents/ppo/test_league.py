"""The league: results, shares of opponents, state."""

from typing import Any

import numpy as np
import pytest

from agents.ppo.league import League, LeagueOptions, compute_results
from genial_env import Rules


def test_results_by_opponent() -> None:
    info = {"seat": 2, "ranks": np.array([1, 2, 3]), "opponents": ["a", "b"]}
    assert compute_results(info, Rules(3)) == [("a", 0.0), ("b", 0.0)]
    info = {"seat": 1, "ranks": np.array([1, 2, 2]), "opponents": ["a", "b"]}
    assert compute_results(info, Rules(3)) == [("a", 0.5), ("b", 0.0)]
    team = {"seat": 3, "ranks": np.array([2, 1]), "opponents": ["a", "partner", "c"]}
    assert compute_results(team, Rules(4, "2009", "team")) == [("a", 1.0), ("c", 1.0)]


class Named:
    def __init__(self, moves: int, weights: Any) -> None:
        self.name, self.weights = f"self@{moves}", weights

    def __call__(self, view: Any, random: Any) -> Any:
        raise AssertionError("no games in this test")


def shares_of(league: League) -> dict[str, float]:
    return {name: round(share, 6) for name, share in league.shares.items()}


def test_hard_opponents_are_met_more_often() -> None:
    league = League(LeagueOptions(("greedy", "denial"), 0.4, max_past_selves=2, win_rate_horizon=1), Named)
    assert shares_of(league) == {"greedy": 0.5, "denial": 0.5}
    league.record_result("greedy", 0.7)  # with a horizon of one game the rate is the result
    league.record_result("denial", 0.4)
    league.add_past_self(100, "a")
    assert shares_of(league) == {"greedy": 0.12, "denial": 0.48, "self@100": 0.4}  # 0.3² : 0.6² of 60%
    league.record_result("denial", 1.0)
    league.record_result("self@100", 0.9)
    assert shares_of(league)["denial"] == 0.48, "shares are updated when a past self is added"
    league.add_past_self(200, "b")
    shares = shares_of(league)
    assert shares["denial"] / shares["greedy"] == pytest.approx(0.05 / 0.09, rel=1e-4)  # the floor
    assert shares["self@100"] / shares["self@200"] == pytest.approx(0.05 / 0.25, rel=1e-4)
    league.add_past_self(300, "c")
    assert [opponent.policy.name for opponent in league.past_selves] == ["self@200", "self@300"], (
        "the easiest was removed"
    )


def test_a_league_is_restored() -> None:
    league = League(LeagueOptions(("denial",), past_self_share=0.5), Named)
    league.add_past_self(100, "a")
    league.record_result("self@100", 1.0)
    other = League(LeagueOptions(("denial",), past_self_share=0.5), Named)
    other.set_state(league.get_state())
    assert other.get_state() == league.get_state()
    assert shares_of(other) == shares_of(league)
    assert other.past_selves[0].policy.weights == "a"


def test_refused_options() -> None:
    with pytest.raises(ValueError, match="at least one scripted opponent"):
        League(LeagueOptions(()), Named)
    with pytest.raises(ValueError, match="2 are named 'concave'"):
        League(LeagueOptions(("concave", "concave(temperature=5)")), Named)
    with pytest.raises(ValueError, match=r"past_self_share must be 0 to 1, not 1\.5"):
        League(LeagueOptions(past_self_share=1.5), Named)
    with pytest.raises(ValueError, match="win_rate_horizon must be at least 1, not 0"):
        League(LeagueOptions(win_rate_horizon=0), Named)
    with pytest.raises(ValueError, match="pfsp_power must be at least 0, not -1"):
        League(LeagueOptions(pfsp_power=-1), Named)
