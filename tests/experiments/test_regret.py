"""The regret of decisions: positions that the solver does not solve, and a better agent that loses less."""

import numpy as np
import pytest

from experiments.regret import PHASES, Args, compute_regret, find_positions, main
from genial_env import Rules, use_backend, view
from genial_env.core.arrays import Bits
from genial_env.core.chance import game_seeds
from genial_env.core.state import State
from genial_env.policies.endgame import exact_solutions
from genial_env.policies.registry import make_policy
from genial_env.policies.value_search import ValueSearch
from tests.conftest import needs_numba


def test_positions_are_of_all_thirds_and_not_solved() -> None:
    states, thirds = find_positions(make_policy("greedy"), Rules(), 60, 1)
    assert len(states) == len(thirds) > 40
    assert set(thirds.tolist()) == {0, 1, 2}
    assert not exact_solutions(view(states))
    assert not states.over.any()


def test_without_positions_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.regret.exact_solutions", lambda view: dict.fromkeys(range(len(view)), 0))
    for count in (0, 3):
        with pytest.raises(ValueError, match=f"no game has a position to judge: take more positions than {count}"):
            find_positions(make_policy("greedy"), Rules(side=4, colors=4, rack=3), count, 1)


@needs_numba
def test_the_regret_of_an_action_is_its_distance_from_the_best() -> None:
    states, _ = find_positions(make_policy("greedy"), Rules(), 4, 2)
    search, random = ValueSearch(candidates=6, replies=4), game_seeds(0, len(states))
    with use_backend("numba"):
        check_regrets(states, search, random)


def check_regrets(states: State, search: ValueSearch, random: Bits) -> None:
    for row in range(len(states)):
        alone = view(states, rows=np.array([row]))
        moves = search.moves(alone)
        of = {int(action): compute_regret(search, alone, int(action), 40, random[row]) for action in moves}
        assert min(of.values()) <= 0 <= max(of.values())


@needs_numba
def test_a_worse_agent_regrets_more(capsys: pytest.CaptureFixture[str]) -> None:
    small = {"positions": 12, "deals": 8, "candidates": 6, "replies": 4}
    worse, better = (main(Args(agent, **small)) for agent in ("random", "value"))
    assert set(worse) == {"all", *PHASES}
    assert worse["all"] > better["all"] + 0.05
    assert "value, 2 seats" in capsys.readouterr().out
