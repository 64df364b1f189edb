"""The judge: all actions are evaluated, exactly where that is possible, and nothing hidden enters."""

from functools import lru_cache

import numpy as np
import pytest

from genial_env import Rules, play, use_backend, view
from genial_env.analysis.judge import LEVELS, Level, RolloutJudge, can_judge, make_judge
from genial_env.analysis.review import review
from genial_env.core import kernel
from genial_env.core.arrays import Floats32
from genial_env.core.chance import bits, game_seeds
from genial_env.core.determinization import determinize
from genial_env.core.placement_values import equivalence_keys
from genial_env.core.state import Phase
from genial_env.policies.base import NONE
from genial_env.policies.endgame import (
    exact_action,
    exact_solutions,
    most_placements_left,
    solve,
    value_over_all_deals,
)
from genial_env.policies.judgement import Judgement
from genial_env.policies.search import deal
from genial_env.policies.value_search import ValueSearch
from genial_env.records import replay_decisions
from tests.conftest import needs_numba
from tests.policies.test_value import SMALL, SOLO, TEAM, random_net
from tests.positions import random_actions, random_play

THREE = Rules(3, "2009", side=4, colors=4, rack=3)
SOME = Level(actions=3, deals=5, replies=2)
each_game = pytest.mark.parametrize("rules", [Rules(), THREE, TEAM, SOLO], ids=str)


@lru_cache
def weights(rules: Rules) -> dict[str, Floats32]:
    """Those of a network that has learned nothing."""
    return random_net(rules).arrays()


def judge_of(rules: Rules, level: str | Level) -> RolloutJudge:
    """A judge with this network."""
    return RolloutJudge(level, weights(rules))


def same(one: Judgement, other: Judgement, row: int, at: int) -> bool:
    """Whether the judgements of two games are the same."""
    count = int((other.actions[at] != NONE).sum())
    return all(
        np.array_equal(getattr(one, name)[row, :count], getattr(other, name)[at, :count], equal_nan=name != "actions")
        for name in ("actions", "utility", "win", "error")
    )


@each_game
def test_fast_judges_all_actions_that_differ(rules: Rules) -> None:
    state = random_play(rules, games=4, seed=3, steps=8)
    rows = np.flatnonzero(~state.over)
    seen = view(state, rows=rows)
    found = judge_of(rules, "fast").judge(seen)
    keys, legal = equivalence_keys(seen, found.actions), kernel.legal(state, rows)
    for game in range(len(seen)):
        count = int((found.actions[game] != NONE).sum())
        every = equivalence_keys(seen.select(np.array([game])), np.flatnonzero(legal[game])[None])[0]
        assert set(keys[game, :count].tolist()) == set(every.tolist())
        assert len(set(keys[game, :count].tolist())) == count
        assert (np.diff(found.utility[game, :count]) <= 0).all()
        assert np.isnan(found.win[game, :count]).all() == (rules.tracks == 1)


@each_game
def test_rollouts_are_paired_and_have_errors(rules: Rules) -> None:
    state = random_play(rules, games=3, seed=3, steps=6)
    seen = view(state)
    found = judge_of(rules, SOME).judge(seen)
    search = ValueSearch(replies=SOME.replies, turns=1, weights=weights(rules))
    for game in range(len(seen)):
        count = int((found.actions[game] != NONE).sum())
        assert count <= SOME.actions
        assert found.error[game, 0] == 0
        alone = seen.select(np.array([game]))
        deals = deal(alone, bits(0, np.zeros(1, dtype=np.int64)), 0, SOME.deals)
        chances = search.predict(alone, found.actions[game, :count], deals)
        utility = search._nets.of(rules).outcomes.expected(chances)[0].reshape(SOME.deals, count)
        assert np.allclose(found.utility[game, :count], utility.mean(axis=0), atol=1e-6)
        errors = (utility[:, :1] - utility).std(axis=0, ddof=1) / np.sqrt(SOME.deals)
        assert np.allclose(found.error[game, :count], errors, atol=1e-6)


@pytest.mark.parametrize("level", ["fast", SOME], ids=str)
@each_game
def test_alike_alone_and_in_a_batch(rules: Rules, level: str | Level) -> None:
    state = random_play(rules, games=3, seed=3, steps=6)
    seen, judge = view(state), judge_of(rules, level)
    together = judge.judge(seen)
    for game in range(len(seen)):
        assert same(together, judge.judge(seen.select(np.array([game]))), game, 0)


@pytest.mark.parametrize("level", ["fast", SOME], ids=str)
@each_game
def test_nothing_hidden_enters(rules: Rules, level: str | Level) -> None:
    """The values stay the same if the hidden tiles are dealt anew, and the game is not changed."""
    state = random_play(rules, games=3, seed=3, steps=6)
    judge, seen = judge_of(rules, level), view(state)
    before = {name: array.copy() for name, array in state.arrays().items()}
    found = judge.judge(seen)
    other = judge.judge(view(determinize(seen, bits(7, np.arange(len(seen))))))
    for game in range(len(seen)):
        assert same(found, other, game, game)
    assert all(np.array_equal(array, before[name]) for name, array in state.arrays().items())


@pytest.mark.parametrize("level", ["fast", SOME], ids=str)
@pytest.mark.parametrize("rules", [SMALL, THREE], ids=str)
def test_last_placements_are_exact(rules: Rules, level: str | Level) -> None:
    judge, known = judge_of(rules, level), 0
    for steps in range(10, 18):
        state = random_play(rules, games=12, seed=5, steps=steps)
        rows = np.flatnonzero(~state.over)
        if not rows.size:
            break
        seen = view(state, rows=rows)
        also = random_actions(state, rows, np.random.default_rng(1))
        found, with_another = judge.judge(seen), judge.judge(seen, also)
        assert (with_another.actions == also[:, None]).any(axis=1).all()
        for game in range(len(seen)):
            alone = seen.select(np.array([game]))
            exact = exact_action(alone)
            if exact is None:
                continue
            known += 1
            value_of = dict(zip(*(array.tolist() for array in value_over_all_deals(alone)), strict=True))
            for each in (found, with_another):
                count = (each.actions[game] != NONE).sum()
                values = [value_of[action] for action in each.actions[game, :count].tolist()]
                assert np.allclose(each.utility[game, :count], values, atol=1e-6)
                assert (each.error[game, :count] == 0).all()
                assert max(values) == values[0] == max(value_of.values())
                if rules.tracks == 2:
                    assert np.allclose(2 * each.win[game, :count] - 1, values, atol=1e-6)
    assert known > 10


@needs_numba
def test_the_shipped_judge_finds_the_best_late_move_more_often_than_chance() -> None:
    """Its predictions alone, in positions that the solver knows, against the solver."""
    with use_backend("numba"):
        records = play(["denial", "denial"], Rules(), games=12, seed=4, record=True).records
        assert records is not None
        agreed, chance = [], []
        for record in records:
            states = replay_decisions(record).states
            seen = view(states, rows=np.flatnonzero(states.phase == Phase.PLACE)[-3:])
            exact = exact_solutions(seen)
            predicted = RolloutJudge("fast").judge(seen)
            for game, solution in exact.items():
                agreed.append(predicted.actions[game, 0] in solution.best)
                chance.append(len(solution.best) / len(solution.actions))
    assert len(agreed) > 10
    assert np.mean(agreed) == 1 > np.mean(chance)


@each_game
def test_open_racks_stay_and_draws_are_random(rules: Rules) -> None:
    """The values are means over deals with the true racks. Solo, where no rack is hidden, they are the same."""
    state = random_play(rules, games=3, seed=3, steps=6)
    judge, seen = judge_of(rules, SOME), view(state)
    found = judge.judge_open(state)
    for game in range(len(state)):
        alone, known = seen.select(np.array([game])), state.select(np.array([game]))
        deals = judge._deal(alone, known)
        for name, array in deals.states.arrays().items():
            if name != "key":
                assert np.array_equal(array, np.repeat(getattr(known, name), SOME.deals, axis=0))
        keys = np.concatenate([known.key, deals.states.key])
        assert len(np.unique(keys, axis=0)) == SOME.deals + 1
        count = int((found.actions[game] != NONE).sum())
        chances = judge._search.predict(alone, found.actions[game, :count], deals)
        utility = judge._nets.of(rules).outcomes.expected(chances)[0].reshape(SOME.deals, count)
        assert np.allclose(found.utility[game, :count], utility.mean(axis=0), atol=1e-6)
    if rules is SOLO:
        assert all(same(found, judge.judge(seen), game, game) for game in range(len(state)))


@pytest.mark.parametrize("rules", [SMALL, THREE], ids=str)
def test_only_open_racks_enter(rules: Rules) -> None:
    """With the hidden tiles dealt anew, the values change if racks are open, and only then."""
    state = random_play(rules, games=6, seed=3, steps=8)
    judge, seen = judge_of(rules, SOME), view(state)
    other = determinize(seen, bits(7, np.arange(len(seen))))
    hidden = [judge.judge(view(each)) for each in (state, other)]
    known = [judge.judge_open(each) for each in (state, other)]
    assert all(same(*hidden, game, game) for game in range(len(seen)))
    assert not all(same(*known, game, game) for game in range(len(seen)))


@pytest.mark.parametrize("rules", [SMALL, THREE], ids=str)
def test_last_placements_with_open_racks_are_exact(rules: Rules) -> None:
    judge, solved = judge_of(rules, SOME), 0
    for steps in range(10, 18):
        state = random_play(rules, games=12, seed=5, steps=steps)
        state = state.select(~state.over)
        state = state.select(most_placements_left(state) <= 2)
        if not len(state):
            continue
        found = judge.judge_open(state)
        for game in range(len(state)):
            solution, count = solve(state.select(np.array([game]))), int((found.actions[game] != NONE).sum())
            assert np.allclose(found.utility[game, :count], solution.values_of(found.actions[game, :count]))
            assert found.actions[game, 0] in solution.best
            assert (found.error[game, :count] == 0).all()
            solved += 1
    assert solved > 10


def test_without_rollouts_open_racks_are_refused() -> None:
    with pytest.raises(ValueError, match="judge fast has no rollouts, so open racks would not enter into its values"):
        RolloutJudge("fast", weights(SMALL)).judge_open(kernel.deal(SMALL, game_seeds(0, 1)))


def test_what_cannot_be_judged() -> None:
    judge = judge_of(SMALL, "fast")
    over = random_play(SMALL, games=2, seed=1, steps=100)
    with pytest.raises(ValueError, match="game 0 is over: there is nothing to judge"):
        judge.judge(view(over))
    state = kernel.deal(SMALL, game_seeds(0, 2))
    with pytest.raises(ValueError, match="game 0: it is not the turn of seat 1, whose view this is"):
        judge.judge(view(state, 1))
    with pytest.raises(ValueError, match="game 1: action 10000 is not legal"):
        judge.judge(view(state), np.array([int(kernel.legal(state)[0].argmax()), 10000]))


def test_levels() -> None:
    assert [make_judge(name, Rules()).name for name in LEVELS] == list(LEVELS)
    assert RolloutJudge().level == LEVELS["normal"]
    assert RolloutJudge(SOME).name == "judge"
    with pytest.raises(ValueError, match="the level must be one of fast, normal, deep, not 'slow'"):
        RolloutJudge("slow")
    with pytest.raises(ValueError, match="deals must be 0 or at least 2, not 1: one deal gives no standard error"):
        Level(actions=3, deals=1)
    with pytest.raises(ValueError, match="actions must be"):
        Level(actions=0, deals=2)
    assert can_judge(Rules())
    assert not can_judge(SMALL)


def test_a_review_tells_errors() -> None:
    (record,) = play(["random", "random"], SMALL, games=1, record=True).records or []
    judge = judge_of(SMALL, SOME)
    found = review(record, judge)
    errors = [each.error for each in found.decisions]
    assert any(error > 0 for error in errors)
    assert all(error == 0 for error, each in zip(errors, found.decisions, strict=True) if each.loss == 0)
    assert found.judge == "judge"
