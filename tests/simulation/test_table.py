"""The table: the games of `play`, whose turn it is, what it refuses, and that it can be put away and taken up."""

import json
from typing import Any

import numpy as np
import pytest

from genial_env import IllegalAction, Rules, play
from genial_env.core import kernel
from genial_env.core.chance import game_seeds
from genial_env.records import verify
from genial_env.table import Table, parse_players

SOLO, TEAM = Rules(1, "2004", "solo"), Rules(4, "2009", "team")
SMALL = Rules(side=4, colors=4, rack=3)


def first_legal(table: Table) -> int:
    """The first action that may be played."""
    return int(kernel.legal(table.state)[0].argmax())


def play_on(table: Table, decisions: int | None = None) -> Table:
    """The same table after so many more decisions, or at the end; people play what comes first."""
    while not table.over and decisions != 0:
        if table.waits:
            table.play(first_legal(table))
        else:
            table.advance()
        decisions = None if decisions is None else decisions - 1
    return table


@pytest.mark.parametrize(
    ("rules", "players"),
    [
        (Rules(), ["greedy", "random"]),
        (Rules(), ["random", "random"]),
        (Rules(3, "2009"), ["concave(temperature=5)", "random", "denial"]),
        (TEAM, ["greedy", "random", "greedy", "random"]),
        (SOLO, ["random"]),
    ],
    ids=str,
)
def test_agents_play_the_game_that_play_plays(rules: Rules, players: list[str]) -> None:
    seed = int(game_seeds(7, 1)[0])
    table = play_on(Table(rules, players, seed))
    assert table.record() == play(players, rules, games=1, seed=7, record=True).records[0]  # type: ignore[index]
    assert table.advance() is None


@pytest.mark.parametrize("rules", [Rules(), Rules(3, "2009"), TEAM, SOLO], ids=str)
def test_people_and_agents(rules: Rules) -> None:
    table = Table(rules, [None, *["greedy"] * (rules.players - 1)], seed=3)
    assert (table.rules, table.seed, table.players[0]) == (rules, 3, None)
    while not table.over:
        assert table.waits == (table.to_play == 0)
        if table.waits:
            assert table.advance() is None
            table.play(first_legal(table))
        else:
            with pytest.raises(ValueError, match=rf"seat {table.to_play} is an agent's \(greedy\)"):
                table.play(first_legal(table))
            before = int(table.state.decisions[0])
            assert table.advance() is not None
            assert table.state.decisions[0] == before + 1
    assert not table.waits
    record = table.record()
    assert record["agents"] == ["person", *["greedy"] * (rules.players - 1)]
    assert (record["seed"], list(verify([record]))) == (3, [None])


def test_what_may_not_be_played_changes_nothing() -> None:
    table = Table(Rules(), [None, "greedy"], seed=0)
    before = table.to_dict()
    with pytest.raises(IllegalAction, match="no swap now"):
        table.play(table.state.tables.swap_action)
    with pytest.raises(IllegalAction, match="actions run from 0 to 2881"):
        table.play(-1)
    for nothing in (None, "0", 0.0, True, 2**70):
        with pytest.raises(ValueError, match="an action must be an action id, a whole number"):
            table.play(nothing)  # type: ignore[arg-type]
    assert table.to_dict() == before


def test_after_the_end_nobody_plays() -> None:
    for last in ([None, None], [None, "greedy"], ["greedy", None]):
        table = play_on(Table(SMALL, last, seed=0))
        with pytest.raises(IllegalAction, match="the game is over"):
            table.play(0)


def test_a_seat_sees_its_own_tiles() -> None:
    table = play_on(Table(Rules(3), [None, "greedy", None], seed=1), decisions=7)
    for seat in range(3):
        seen = table.view(seat)
        assert (len(seen), seen.seat.tolist()) == (1, [seat])
        assert np.array_equal(seen.rack[0], table.state.racks[0, seat])
    with pytest.raises(ValueError, match="seats run from 0 to 2"):
        table.view(3)


@pytest.mark.parametrize("decisions", [0, 1, 11, 40, None])
def test_put_away_and_taken_up(decisions: int | None) -> None:
    table = play_on(Table(Rules(3, "2009"), [None, "random", "greedy"], seed=2**53 - 1), decisions)
    again = Table.from_dict(json.loads(json.dumps(table.to_dict())))
    assert again.record() == table.record()
    assert play_on(again).record() == play_on(table).record()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rules": {"players": 5}}, "players must be 1 to 4, not 5"),
        ({"rules": {"players": "two"}}, "players must be a whole number"),
        ({"rules": {"board": 6}}, "unknown rule 'board'"),
        ({"rules": None}, "rules: expected an object, not None"),
        ({"players": [None]}, "2 seats need 2 players, not 1"),
        ({"players": [None, "gredy"]}, "seat 1: agent 'gredy': expected one of random, greedy"),
        ({"players": [None, 7]}, "players: expected a list"),
        ({"seed": -1}, "a seed must be 0 to"),
        ({"seed": "1"}, "a seed must be a whole number"),
        ({"actions": [0]}, "actions: number 0 cannot be played: illegal action 0"),
        ({"actions": ["swap"]}, "actions: number 0 cannot be played: an action must be an action id"),
        ({"actions": None}, "actions: expected a list of action ids, not None"),
        (
            {"more": 1},
            "a saved table has the keys rules, players, seed, actions, not rules, players, seed, actions, more",
        ),
    ],
)
def test_what_was_not_saved_by_a_table(change: dict[str, Any], said: str) -> None:
    saved = play_on(Table(SMALL, [None, "greedy"], seed=0), 3).to_dict()
    with pytest.raises(ValueError, match=said):
        Table.from_dict(saved | change)


def test_nothing_that_was_saved() -> None:
    with pytest.raises(ValueError, match=r"a saved table has the keys .*, not \[\]"):
        Table.from_dict([])


def test_agents_that_cannot_play_say_so_at_once() -> None:
    with pytest.raises(ValueError, match="seat 1: unknown agent 'gredy': the agents are"):
        Table(Rules(), [None, "gredy"], 0)
    with pytest.raises(ValueError, match=r"seat 0: ppo cannot play this game: no weights of .* shipped"):
        Table(Rules(1, "2009", "solo"), ["ppo"], 0)
    for agent in ("value", "value_search(playouts=20)"):
        with pytest.raises(ValueError, match=rf"seat 1: {agent[:5]}.* cannot play this game: the value network for"):
            Table(Rules(colors=5, side=5, rack=4), [None, agent], 0)
        assert Table(Rules(), [None, agent], 0).waits


def test_a_seat_a_player() -> None:
    with pytest.raises(ValueError, match="3 seats need 3 players, not 2"):
        Table(Rules(3), [None, "greedy"], 0)
    with pytest.raises(TypeError, match="a seed must be a whole number"):
        Table(Rules(), [None, "greedy"], 0.5)  # type: ignore[arg-type]
    assert parse_players(["person", "greedy", "person"]) == [None, "greedy", None]


def test_a_copy_and_its_original_do_not_change_each_other() -> None:
    table = play_on(Table(SMALL, ["greedy", None], 3), 5)
    other = table.copy()
    before = table.to_dict(), table.record()
    play_on(other)
    other.replace(0, "random")
    assert (table.to_dict(), table.record()) == before
    assert play_on(table).record()["events"] == other.record()["events"]


def test_several_actions_are_taken_back() -> None:
    table = Table(SMALL, [None, None], 3)
    states = []
    for _ in range(6):
        states.append(table.to_dict())
        table.play(first_legal(table))
    assert table.movers() == [event[1] for event in table.record()["events"] if event[0] != "draw"]
    assert len(table.actions) == 6
    table.take_back(4)
    assert table.to_dict() == states[2]
    for count in (0, 3):
        with pytest.raises(ValueError, match=f"expected to take back 1 to 2 actions, not {count}"):
            table.take_back(count)
    table.take_back(2)
    with pytest.raises(ValueError, match="nothing was played"):
        table.take_back()


def test_a_seat_is_given_to_another_player() -> None:
    """The game goes on from where it stands; an agent that cannot play changes nothing."""
    table = play_on(Table(SMALL, [None, "greedy"], 3), 4)
    events = table.record()["events"]
    table.replace(0, "random")
    assert (table.players, table.record()["agents"]) == (("random", "greedy"), ["random", "greedy"])
    assert table.record()["events"] == events
    for seat, agent in ((2, "greedy"), (-1, "greedy"), (0, "nobody")):
        with pytest.raises(ValueError, match=f"seat {seat}"):
            table.replace(seat, agent)
    with pytest.raises(ValueError, match="seat 0"):
        table.replace(0, "genial_env.policies.points:PointsPolicy", from_data=True)
    assert Table.from_dict(table.to_dict()).players == ("random", "greedy")
    table.replace(1, None)
    assert play_on(table).over
