"""The Monte-Carlo search: it is a policy, its knobs turn, it keeps to its budget, and it finds what can be proven."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from genial_env import Rules, determinize, play, use_backend, view
from genial_env.analysis.puzzles import read_puzzles, score
from genial_env.core import kernel
from genial_env.core.chance import bits
from genial_env.core.state import Phase
from genial_env.core.views import View
from genial_env.policies import search
from genial_env.policies.concave import ConcavePolicy
from genial_env.policies.endgame import exact_action, most_placements_left
from genial_env.policies.search import Search
from genial_env.testing import check_policy
from tests.conftest import needs_numba
from tests.paths import PUZZLES
from tests.positions import every, random_play

SOLO, TEAM, SMALL = Rules(1, "2004", "solo"), Rules(4, "2004", "team"), Rules(side=4, colors=4, rack=3)


def middle(rules: Rules, steps: int = 12) -> View:
    """A view of one game in which a tile is to be laid."""
    state = random_play(rules, games=8, seed=3, steps=steps)
    return view(state, rows=np.flatnonzero(state.phase <= Phase.BONUS)[:1])


@every(
    "rules",
    [Rules(), Rules(3), Rules(4), TEAM, SOLO, Rules(2, "2009"), SMALL, Rules(3, side=4, colors=4, rack=2)],
    [SOLO, TEAM, SMALL],
)
def test_it_is_a_policy_that_looks_at_nothing_hidden(rules: Rules) -> None:
    check_policy(Search(playouts=12, candidates=4), rules)


@needs_numba
@every("rules", [Rules(), Rules(3, "2009"), TEAM, SOLO], [Rules(3, "2009")])
def test_both_backends_choose_alike(rules: Rules) -> None:
    chosen = []
    for backend in ("numpy", "numba"):
        with use_backend(backend):
            chosen.append([Search(playouts=40)(middle(rules, steps), bits(7, np.arange(1))) for steps in (1, 9, 17)])
    assert np.array_equal(*chosen)


def test_little_search_beats_weak_players() -> None:
    ranks = play([Search(playouts=20, candidates=4), "random"], games=6, seed=1, backend=None).ranks
    assert (ranks[:, 0] == 1).all()
    own = play([Search(playouts=60)], SOLO, games=6, seed=1).scores.min(axis=2).mean()
    assert own > play(["greedy"], SOLO, games=200, seed=1).scores.min(axis=2).mean()


def test_it_finds_what_is_proven() -> None:
    """Nearly all puzzles, those of two seats with a placement or two left by solving them."""
    puzzles = read_puzzles(PUZZLES)
    answers = score(Search(playouts=200), puzzles)
    assert np.mean([answer.solved for answer in answers]) > 0.75
    solvable = [a for a in answers if exact_action(view(a.puzzle.state)) is not None]
    assert len(solvable) > 30
    assert all(answer.solved for answer in solvable)


def test_what_is_solved_and_what_not() -> None:
    for rules in (Rules(), Rules(3), SOLO, SMALL):
        state = random_play(rules, games=40, seed=5, steps=200)
        assert state.over.all()
        state = random_play(rules, games=40, seed=5, steps=rules.most_placements - 6)
        rows = np.flatnonzero(~state.over)
        for row in rows:
            alone = state.select(np.array([row]))
            few = most_placements_left(alone)[0] <= 2
            if alone.phase[0] == Phase.SWAP or not few:
                assert exact_action(view(alone)) is None


def test_knobs_turn() -> None:
    state = random_play(Rules(), games=12, seed=3, steps=10)
    seen = view(state, rows=np.flatnonzero(state.phase <= Phase.BONUS))
    random = bits(3, np.arange(len(seen)))
    settings: list[dict[str, Any]] = [
        {},
        {"playouts": 200},
        {"candidates": 3},
        {"margin": 0.5},
        {"playout": "random"},
        {"prior": ConcavePolicy()},
    ]
    chosen = [tuple(Search(**{"playouts": 30, **extra})(seen, random).tolist()) for extra in settings]
    assert len(set(chosen)) == len(chosen)


@pytest.mark.parametrize("budget_s", [1e-6, 0.2])
def test_it_keeps_to_the_clock(budget_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock on which a batch of playouts takes ten milliseconds, and nothing else takes any time."""
    now, outcomes, moves = 0.0, Search.outcomes, []

    def taking_time(agent: Search, seen: View, left: Any, *arguments: Any) -> Any:
        nonlocal now
        now += 0.01
        moves.append(len(left))
        return outcomes(agent, seen, left, *arguments)

    monkeypatch.setattr(Search, "outcomes", taking_time)
    monkeypatch.setattr(search, "time", SimpleNamespace(perf_counter=lambda: now))
    agent, seen = Search(budget_s=budget_s), middle(Rules())
    action = agent(seen, bits(1, np.arange(1)))
    one_a_round = 0.01 * math.ceil(math.log2(moves[0]))
    assert now == pytest.approx(max(budget_s, one_a_round), abs=0.006)
    assert kernel.is_legal(determinize(seen, np.random.default_rng(0)), action, np.arange(1)).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"playouts": 5, "budget_s": 1.0}, r"not both: 5 and 1\.0"),
        ({"playouts": 0}, "playouts must be 1 to 1000000000, not 0"),
        ({"budget_s": 0.0}, r"budget_s must be above 0, not 0\.0"),
        ({"budget_s": float("inf")}, "budget_s must be finite and above 0, not inf"),
        ({"candidates": 0}, "candidates must be 1 to 10000, not 0"),
        ({"margin": 0.7}, r"margin must be 0 to 0\.5, not 0\.7"),
        ({"playout": "clever"}, "unknown agent 'clever'"),
        ({"prior": "clever"}, "unknown agent 'clever'"),
    ],
)
def test_what_is_wrong_is_said(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Search(**wrong)
    with pytest.raises(TypeError, match="prior must be a HeuristicPolicy or the name of one, not 'random'"):
        Search(prior="random")
