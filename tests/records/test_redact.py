"""What a seat is told of what happens: one function knows it, and all that speak to a seat go by it."""

from typing import Any

import numpy as np
import pytest

from genial_env import Rules, play
from genial_env.cli.dialogue import Dialogue
from genial_env.core.views import View
from genial_env.policies.greedy import GreedyPolicy
from genial_env.policies.roster import ROSTER
from genial_env.records import HIDDEN_SLOT, HIDDEN_TILE, SPECTATOR, events_for_seat
from genial_env.render.sentences import describe_event
from genial_env.table import Table
from genial_env.web._serialize import game_to_json

SMALL = Rules(2, "2009", side=4, colors=4, rack=3)


class Keeper(GreedyPolicy):
    """Declines every swap."""

    name = "keeper"

    def __call__(self, view: View, random: Any) -> np.ndarray:
        return np.where(view.may_swap, view.tables.decline_action, super().__call__(view, random))


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Table:
    """A game between agents in which swaps are declined."""
    monkeypatch.setitem(ROSTER, "keeper", Keeper)
    return Table(SMALL, ["keeper", "keeper"], seed=4)


def test_what_is_hidden_and_what_is_not() -> None:
    records = play([Keeper(), "random"], SMALL, games=20, seed=1, record=True).records
    assert records is not None
    events = [event for record in records for event in record["events"]] + [["pass", seat, 5] for seat in (0, 1)]
    assert {event[0] for event in events} == {"place", "draw", "swap", "keep", "pass"}
    for seat in (0, 1, SPECTATOR):
        told = iter(events_for_seat(events, seat))
        for event in events:
            name, mover = event[:2]
            if mover == seat:
                assert next(told) == event
            elif name == "place":
                assert next(told) == [*event[:3], HIDDEN_SLOT, *event[4:]]
            elif name == "draw":
                assert next(told) == ["draw", mover, [HIDDEN_TILE] * len(event[2])]
            elif name == "swap":
                assert next(told) == ["swap", mover, event[2], event[3], [HIDDEN_TILE] * len(event[4])]
            elif name == "pass":
                assert next(told) == event
        assert next(told, None) is None


def test_the_terminal_tells_nobody_that_an_agent_declined(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    dialogue = Dialogue(table)
    while not table.over:
        table.advance()
        dialogue._show_news()
    said = capsys.readouterr().out.splitlines()
    events = table.record()["events"]
    assert sum(event[0] == "keep" for event in events) > 0
    assert said == [describe_event(SMALL, event) for event in events_for_seat(events, SPECTATOR)]
    assert not any("keeps its rack" in line for line in said)
    assert all(line.endswith(("tile", "tiles")) for line in said if "draws" in line)


def test_the_page_tells_nobody_either(table: Table) -> None:
    """Not by gaps between the numbers of the moves, too."""
    while not table.over:
        table.advance()
    for seat in (None, 0, 1):
        moves = game_to_json("a", table, seat)["moves"]
        assert [move["event"] for move in moves] == list(range(len(moves)))
        assert {move["kind"] for move in moves} <= {"place", "pass", "swap"}


def test_openspiel_tells_the_same() -> None:
    """Its events are bytes, for speed; who is told of what is as here."""
    pytest.importorskip("pyspiel", reason="needs open_spiel")
    from genial_env.envs import _openspiel_events as known
    from genial_env.envs import openspiel

    names = {known.PLACE: "place", known.PASS: "pass", known.SWAP: "swap", known.KEEP: "keep"}
    rest = {"place": [1, 0, "RG"], "pass": [1], "swap": [1, [], []], "keep": [1]}
    game, rng, kinds = openspiel.GenialGame({**SMALL.to_dict(), "edition": 2009}), np.random.default_rng(0), set()
    for _ in range(6):
        state = game.new_initial_state()
        while not state.is_terminal():
            outcomes = (
                [kind for kind, _ in state.chance_outcomes()] if state.is_chance_node() else state.legal_actions()
            )
            state.apply_action(int(rng.choice(outcomes)))
        rows = [row for row in known.decode_events(state.events) if row.what != known.SHOW]
        events = [[names[row.what], row.seat, *rest[names[row.what]]] for row in rows]
        kinds |= {event[0] for event in events}
        for player in (0, 1, SPECTATOR):
            seen = [row for row in known.events_known_to(state.events, player) if row.what != known.SHOW]
            told = events_for_seat(events, player)
            assert [[names[row.what], row.seat] for row in seen] == [event[:2] for event in told]
            slots = [row.slot == -1 for row in seen if row.what == known.PLACE]
            assert slots == [event[3] == HIDDEN_SLOT for event in told if event[0] == "place"]
    assert kinds >= {"place", "swap", "keep"}
