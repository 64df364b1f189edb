"""Reviews: what they say of decisions, by a judge whose mind is known and by the value network."""

import json
import math
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

from genial_env import RecordError, Rules, play, view
from genial_env.analysis.judge import Level, RolloutJudge, make_judge
from genial_env.analysis.review import THRESHOLDS, VERDICTS, Judged, accuracy, review, verdict
from genial_env.core import kernel
from genial_env.core.actions import Place, decode, encode, tile_name
from genial_env.core.arrays import Ints
from genial_env.core.placement_values import equivalence_keys, tile_values
from genial_env.core.state import EMPTY, Phase
from genial_env.core.views import View
from genial_env.policies.base import NONE
from genial_env.policies.judgement import Judgement
from genial_env.records import replay, replay_decisions, truncate, verify
from genial_env.render.sentences import describe_event
from tests.policies.test_value import random_net
from tests.positions import STANDARD, random_play

SOLO, TEAM = Rules(1, "2004", "solo"), Rules(4, "2009", "team")
SMALL = Rules(2, "2009", side=4, colors=4, rack=3)
JUDGED = [Rules(), Rules(3, "2009"), SOLO]


def game(rules: Rules, agents: str | list[str] = "greedy", seed: int = 0) -> dict[str, Any]:
    """The record of a game."""
    players = [agents] * rules.players if isinstance(agents, str) else agents
    records = play(players, rules, seed=seed, record=True).records
    assert records is not None
    return records[0]


@dataclass
class Counting:
    """Thinks an action worth its points, a hundredth each, and what is no placement nothing; judges all actions."""

    name: str = "counting"
    asked: int = 0

    def judge(self, view: View, also: Ints | None = None) -> Judgement:
        self.asked += len(view)
        worth = np.zeros((len(view), view.tables.n_actions))
        worth[:, : view.tables.swap_action] = tile_values(view, view.points).reshape(len(view), -1) / 100
        worth[~view.mask()] = -np.inf
        order = np.argsort(-worth, axis=1, kind="stable")[:, : view.mask().sum(axis=1).max()]
        utility = np.take_along_axis(worth, order, axis=1)
        return Judgement(np.where(utility == -np.inf, NONE, order), utility, *np.full((2, *order.shape), 0.5))


@pytest.mark.parametrize("rules", [*STANDARD, SMALL], ids=str)
def test_decisions_are_those_of_the_record(rules: Rules) -> None:
    record = game(rules, "random", seed=3)
    found = replay_decisions(record)
    assert [record["events"][event][0] for event in found.events] == [e[0] for e in record["events"] if e[0] != "draw"]
    assert kernel.is_legal(found.states, found.actions, np.arange(len(found.actions))).all()
    for row in range(0, len(found.actions), 7):
        at = replay(record, int(found.events[row]))
        assert np.array_equal(at.racks[0], found.states.racks[row])
        assert np.array_equal(at.board[0], found.states.board[row])


def test_a_game_without_a_decision() -> None:
    record = truncate(game(SMALL), 0)
    assert review(record, Counting()).decisions == ()
    assert len(replay_decisions(record).states) == 0
    assert all(math.isnan(loss) for loss in review(record, Counting()).mean_loss())
    assert all(math.isnan(share) for share in review(record, Counting()).accuracy())


@pytest.mark.parametrize("rules", [*STANDARD, SMALL], ids=str)
def test_losses_are_the_best_less_the_played(rules: Rules) -> None:
    record = game(rules, "random", seed=5)
    found, known = review(record, Counting()), replay_decisions(record)
    assert (found.rules, found.agents, found.judge) == (rules, ("random",) * rules.players, "counting")
    assert [each.event for each in found.decisions] == known.events.tolist()
    assert [each.action for each in found.decisions] == known.actions.tolist()
    for row, each in enumerate(found.decisions):
        event = record["events"][each.event]
        points = sum(event[7].values()) if event[0] == "place" else 0
        assert each.utility == pytest.approx(points / 100)
        assert each.loss == each.best - each.utility >= 0
        assert (each.seat, each.text, each.win) == (event[1], describe_event(rules, event), 0.5)
        assert each.verdict in VERDICTS
        utilities = [other.utility for other in each.alternatives]
        assert utilities == sorted(utilities, reverse=True)
        assert max([each.utility, *utilities]) == each.best
        state, also = known.states.select(np.array([row])), [other.action for other in each.alternatives]
        assert kernel.is_legal(state.select(np.zeros(len(also), dtype=int)), np.array(also), np.arange(len(also))).all()
        for other in each.alternatives:
            assert other.utility == pytest.approx(sum(other.points.values()) / 100)
            assert len(other.cells) == (2 if other.action < state.tables.swap_action else 0)
    by_seat = [[each.loss for each in found.decisions if each.seat == seat] for seat in range(rules.players)]
    assert found.mean_loss() == pytest.approx([np.mean(losses) for losses in by_seat])
    shares = [
        [accuracy(each.loss, rules) for each in found.decisions if each.seat == seat] for seat in range(rules.players)
    ]
    assert found.accuracy() == pytest.approx([np.mean(share) for share in shares])
    assert found.blunders() == [each for each in found.decisions if each.verdict == "blunder"]


def test_accuracy_falls_with_the_loss() -> None:
    """Known values of lichess's formula: 100% without a loss, 79.8% for 5 percentage points, 63.6% for 10."""
    assert [round(accuracy(loss, Rules()), 1) for loss in (0.0, 0.1, 0.2, 2.0)] == [100.0, 79.8, 63.6, 0.0]
    assert [round(accuracy(loss, SOLO), 1) for loss in (0.0, 0.5, 1.0, 9.0)] == [100.0, 79.8, 63.6, 0.0]


def test_what_comes_to_the_same_counts_once() -> None:
    for seed, each in product(range(3), ("random", "greedy")):
        record = game(SMALL, each, seed)
        found = replay_decisions(record)
        for row, judged in enumerate(review(record, Counting()).decisions):
            shown = {judged.action, *(other.action for other in judged.alternatives)}
            after = set()
            for action in shown:
                state = found.states.select(np.array([row]))
                kernel.apply_without_draw(state, [action])
                rack = tuple(np.sort(state.racks[0, judged.seat]).tolist())
                after.add((state.board.tobytes(), rack, int(state.pending_bonus[0]), int(state.bag.sum())))
            kept_or_swapped = (
                found.states.phase[row] == Phase.SWAP
            )  # before new tiles are drawn keeping changes nothing
            assert kept_or_swapped or len(after) == len(shown)


def test_equivalence_keys() -> None:
    state = random_play(Rules(), 300, seed=1, steps=9)
    state = state.select(~state.over & (state.phase == Phase.PLACE))
    state.racks[np.arange(len(state)), state.to_play, :3] = 0, 0, 1  # RR RR RG
    seen, t = view(state), state.tables
    for row in range(0, len(state), 20):
        placement = int(seen.placements[row].argmax())
        first, second = (tuple(cell) for cell in t.cells[t.placements[placement]].tolist())
        double, twin, turned, mixed, other = (
            encode(state.rules, Place(slot, *cells))
            for slot, cells in [
                (0, (first, second)),
                (1, (first, second)),
                (1, (second, first)),
                (2, (first, second)),
                (2, (second, first)),
            ]
        )
        same = [double, twin, turned]
        different = [mixed, other, t.swap_action, t.decline_action, NONE]
        found = equivalence_keys(seen.select(np.array([row])), np.array([[*same, *different]]))[0].tolist()
        assert len(set(found[:3])) == 1
        assert len(set(found)) == 1 + len(different)
    first_of_all, none = equivalence_keys(seen, np.tile([0, NONE], (len(seen), 1))).T  # RR on placement 0
    assert (first_of_all != none).all()


def test_forced_decisions_lose_nothing() -> None:
    rules = Rules(1, "2004", "solo", side=3, colors=2, tile_sets=2)
    records = [game(rules, "random", seed) for seed in range(8)]
    decided = [
        (each, record["events"][each.event]) for record in records for each in review(record, Counting()).decisions
    ]
    forced = [each for each, event in decided if event[2] == 2 and event[4][0] == event[4][1]]  # a double, either way
    assert forced
    for each in forced:
        assert (each.loss, each.verdict, each.alternatives) == (0, "best", ())


@pytest.mark.parametrize("rules", JUDGED, ids=str)
def test_value_loses_little_by_its_own_network(rules: Rules) -> None:
    """What it loses are the placements that it did not look at."""
    found = review(game(rules, "value"), "fast")
    assert found.judge == "fast"
    assert max(found.mean_loss()) < (0.2 if rules is SOLO else 0.02)
    if rules is not SOLO:
        assert all(0 <= each.win <= 1 and -1 <= each.utility <= 1 for each in found.decisions)


@pytest.mark.parametrize("rules", JUDGED, ids=str)
def test_a_better_player_loses_less(rules: Rules) -> None:
    if rules is SOLO:
        better, worse = (review(game(rules, agent), "fast").mean_loss()[0] for agent in ("denial", "random"))
    else:
        better, worse = review(game(rules, ["denial", *["random"] * (rules.players - 1)], seed=1), "fast").mean_loss()[
            :2
        ]
    assert better < worse


def test_blunders_are_found() -> None:
    found = review(game(Rules(), "random", seed=2), "fast")
    assert found.blunders()
    for each in found.blunders():
        assert each.alternatives[0].utility == each.best >= each.utility + THRESHOLDS["rank utility"][-1]


@pytest.mark.parametrize("rules", JUDGED, ids=str)
def test_as_json(rules: Rules) -> None:
    found = review(game(rules, "random"), "fast")
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["rules"] == rules.to_dict()
    assert told["unit"] == ("lowest marker" if rules is SOLO else "rank utility")
    assert len(told["decisions"]) == len(found.decisions)
    first = told["decisions"][0]
    assert (first["win"] is None) == (rules is SOLO)
    assert first["error"] is None
    assert set(first["alternatives"][0]) == {"action", "text", "cells", "points", "utility"}
    assert set(first) == set(vars(found.decisions[0]))
    parts = [np.array(told["luck"][name]) for name in ("expected", "luck", "skill")]
    np.testing.assert_allclose(sum(parts), told["luck"]["result"])


def test_luck_is_for_finished_games_with_weights() -> None:
    assert review(game(SMALL), Counting()).luck is None
    record = game(Rules())
    assert review(record, Counting()).luck is not None
    assert review(truncate(record, 2), Counting()).luck is None


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    found = review(game(SMALL), Counting(), lambda done, total: told.append((done, total)))
    total = len(found.decisions)
    assert (told[0], told[-1]) == ((0, total), (total, total))
    assert told == sorted(set(told))


@pytest.mark.parametrize(
    ("loss", "said"), [(0, "best"), (0.01, "good"), (0.07, "inaccuracy"), (0.15, "mistake"), (0.5, "blunder")]
)
def test_verdicts(loss: float, said: str) -> None:
    assert verdict(loss, Rules()) == said
    assert verdict(5 * loss, SOLO) == said


def with_another_tile(record: dict[str, Any], seat: int) -> dict[str, Any]:
    """The same game, in which a seat keeps another tile to the end: nobody else can know the difference."""
    last = replay(record)
    held = {tile_name(last.rules, kind) for kind in last.racks[0, seat].tolist() if kind != EMPTY}
    left = [tile_name(last.rules, kind) for kind in np.flatnonzero(last.bag[0]).tolist()]
    for event in range(len(record["events"])):
        if record["events"][event][:2] != ["draw", seat]:
            continue
        for old, new in product(held & set(record["events"][event][2]), left):
            changed = json.loads(json.dumps(record))
            drawn = changed["events"][event][2]
            drawn[drawn.index(old)] = new
            if old != new and list(verify([changed])) == [None]:
                return changed
    raise AssertionError("no tile can be another one")


@pytest.mark.parametrize("rules", [SMALL, Rules(3, "2009", side=4, colors=4, rack=3)], ids=str)
def test_hidden_tiles_enter_only_into_an_open_review(rules: Rules) -> None:
    judge = RolloutJudge(Level(actions=3, deals=5, replies=2), random_net(rules).arrays())

    def of_others(record: dict[str, Any], open_racks: bool) -> list[Judged]:
        return [each for each in review(record, judge, open_racks=open_racks).decisions if each.seat != 0]

    differ = 0
    for seed in range(4):
        record = game(rules, "random", seed)
        other = with_another_tile(record, seat=0)
        assert of_others(record, open_racks=False) == of_others(other, open_racks=False) != []
        known = of_others(record, open_racks=True), of_others(other, open_racks=True)
        assert [each.action for each in known[0]] == [each.action for each in known[1]]
        differ += known[0] != known[1]
    assert differ


def test_open_racks_are_for_finished_games() -> None:
    record = game(SMALL)
    judge = RolloutJudge(Level(actions=2, deals=2, replies=2), random_net(SMALL).arrays())
    assert review(record, judge).to_dict()["racks"] == "hidden"
    found = review(record, judge, open_racks=True)
    assert (found.open_racks, found.to_dict()["racks"]) == (True, "open")
    with pytest.raises(ValueError, match="open racks are for finished games: this game is unfinished"):
        review(truncate(record, 0), judge, open_racks=True)
    with pytest.raises(ValueError, match=r"judge counting cannot use open racks: it has no method judge_open"):
        review(record, Counting(), open_racks=True)


def test_who_cannot_judge() -> None:
    with pytest.raises(ValueError, match=r"agent 'greedy' cannot judge: .*; the levels fast, normal, deep can"):
        review(game(SMALL), "greedy")
    with pytest.raises(ValueError, match="unknown agent 'vlaue'"):
        review(game(SMALL), "vlaue")
    with pytest.raises(ValueError, match="the judge 'normal' cannot judge this game: the value network for 5 colors"):
        review(game(Rules(colors=5, side=5, rack=4)))
    with pytest.raises(TypeError, match="cannot judge: it has no method judge"):
        review(game(SMALL), object())  # type: ignore[arg-type]
    own = Counting()
    assert make_judge(own, SMALL) is own


def test_a_judge_that_leaves_out_what_was_played() -> None:
    class Forgetful(Counting):
        def judge(self, view: View, also: Ints | None = None) -> Judgement:
            found = super().judge(view)
            return Judgement(*(each[:, :1] for each in (found.actions, found.utility, found.win, found.error)))

    with pytest.raises(ValueError, match=r"judge forgetful did not judge the action that was played, \d+"):
        review(game(Rules(), "random"), Forgetful("forgetful"))


def test_a_record_that_does_not_replay() -> None:
    record = game(SMALL)
    with pytest.raises(RecordError, match=r"event 0: expected \d+ legal actions"):
        review(record | {"events": [[*record["events"][0][:2], 1, *record["events"][0][3:]], *record["events"][1:]]})
    with pytest.raises(RecordError, match="ranks: expected"):
        review(record | {"ranks": [1, 1]})
    assert isinstance(decode(SMALL, review(record, Counting()).decisions[0].action), Place)
