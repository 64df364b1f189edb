"""The loop of two functions, positions as lines, what texts tell, and a player who only reads and writes text."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from genial_env import Rules
from genial_env.core.views import view
from genial_env.records import events_for_seat
from genial_env.records.redact import HIDDEN_SLOT, HIDDEN_TILE
from genial_env.table import Table
from genial_env.text import (
    TextGame,
    describe_legal,
    describe_observation,
    describe_rules,
    state_from_line,
    state_to_line,
    view_from_line,
    view_to_line,
)
from tests.conftest import slow
from tests.core.test_hidden import hidden_permuted, same_view, swapping_play
from tests.positions import EVERYDAY, STANDARD, VARIANTS, every_rules, same
from tests.text.chat_agent import answer

SMALL = Rules(side=3, colors=3, rack=2)


def chat(rules: Rules, seed: int, players: Sequence[str | None] | None = None) -> dict[str, Any]:
    """Play a game by the scripted player, every answer of which must be a legal move."""
    game, rng = TextGame(rules, players, seed, attempts=1), random.Random(seed)
    done, info = game.done, {}
    while not done:
        seat, text = game.observe()
        assert f"You are seat {seat}." in text
        done, info = game.step(answer(game.legal_moves(), rng))
        assert info["message"] == ""
    assert info["forfeit"] is None
    assert game.describe_result().startswith("The game is over: ")
    return info


def test_a_player_of_texts_makes_no_illegal_move() -> None:
    for rules in EVERYDAY:
        info = chat(rules, 1)
        assert len(info["ranks"]) == rules.tracks
    for seed in range(10):
        chat(SMALL, seed)


@slow
def test_a_player_of_texts_makes_no_illegal_move_in_a_thousand_games() -> None:
    for seed in range(1000):
        chat((STANDARD + VARIANTS)[seed % 20] if seed < 40 else SMALL, seed)


def test_agents_play_the_other_seats() -> None:
    info = chat(SMALL, 3, ["greedy", None])
    assert info["ranks"] == chat(SMALL, 3, ["greedy", None])["ranks"]
    table = Table(SMALL, ["greedy", None], 3)
    assert TextGame.at(table).observe()[0] == 1
    with pytest.raises(ValueError, match="at least one seat must be played by text"):
        TextGame(SMALL, ["greedy", "random"])


def test_what_was_not_understood_is_asked_again() -> None:
    game = TextGame(SMALL, seed=1, attempts=2)
    first = game.observe()[1]
    assert first.startswith(describe_rules(SMALL))
    again = game.observe()
    assert again == (0, first.removeprefix(describe_rules(SMALL)).lstrip("\n"))
    done, info = game.step("I would like some tea")
    assert not done
    assert info["action"] is None
    assert "no move is found in 'I would like some tea'; legal now: one of the tiles" in info["message"]
    assert game.observe() == again
    example = info["message"].split("for example ")[1].split(",")[0]
    done, info = game.step(example)
    assert info["action"] is not None
    assert game.observe()[0] == 1
    game.step("tea?")
    done, info = game.step("tea!")
    assert done
    assert (info["forfeit"], info["ranks"]) == (1, [1, 2])
    assert game.observe() == (1, "The game is over: seat 1 has forfeited it.")
    with pytest.raises(ValueError, match="the game is over"):
        game.step(example)
    with pytest.raises(ValueError, match="attempts"):
        TextGame(SMALL, attempts=0)


def test_what_others_have_done_is_told() -> None:
    game = TextGame(SMALL, [None, "greedy"], seed=2)
    game.step(game.observe()[1].split('such as "')[1].split('"')[0])
    text = game.observe()[1]
    assert "Since your last decision:\nseat 1 lays " in text
    assert "seat 0 draws" not in text  # that it knows: the answer came before it


# Hidden information


@every_rules
def test_texts_tell_nothing_hidden(rules: Rules) -> None:
    """Everything hidden from a seat is dealt anew: its texts stay the same."""
    rng = np.random.default_rng(0)
    for steps in (1, 11, 30):
        state = swapping_play(rules, games=3, seed=1, steps=steps)
        for seat in range(rules.players):
            changed = hidden_permuted(state, np.full(3, seat), rng)
            for row in range(3):
                one, other = (view(each, seat, np.array([row])) for each in (state, changed))
                assert describe_observation(one) == describe_observation(other)
                assert view_to_line(one) == view_to_line(other)
                assert describe_legal(one) == describe_legal(other)


def test_what_happened_is_told_without_what_is_hidden() -> None:
    rules = Rules(2, "2009", side=4, colors=4, rack=3)
    table = Table(rules, ["random", "random"], 5)
    while not table.over:
        table.advance()
    events = table.record()["events"]
    assert {event[0] for event in events} >= {"place", "draw", "swap"}
    for seat in (0, 1):
        seen = table.view(seat)
        hidden = [_without_secrets(event, seat) for event in events if not (event[0] == "keep" and event[1] != seat)]
        assert describe_observation(seen, events) == describe_observation(seen, hidden)
        assert events_for_seat(events, seat) == hidden


def _without_secrets(event: list[Any], seat: int) -> list[Any]:
    """The event with what only its seat knows replaced."""
    if event[1] == seat:
        return event
    kind, *rest = event
    if kind == "place":
        return [kind, *rest[:2], HIDDEN_SLOT, *rest[3:]]
    if kind in ("draw", "swap"):
        return [kind, *rest[:-1], [HIDDEN_TILE] * len(rest[-1])]
    return event


# Positions as lines


@every_rules
def test_lines_come_back(rules: Rules) -> None:
    for steps in (0, 11, 40):
        state = swapping_play(rules, games=2, seed=steps, steps=steps)
        for row in range(2):
            one = state.select(np.array([row]))
            assert same(state_from_line(state_to_line(state, row)), one)
            for seat in range(rules.players):
                seen = view(one, seat)
                line = view_to_line(seen)
                assert "\n" not in line
                assert same_view(view_from_line(line), seen)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("players=2", "players=two"), "expected a whole number, found 'two'"),
        (("seat=0", "seat=0 seat=0"), "at most once, found 'seat'"),
        (("seat=0", "seat"), "expected key=value, found 'seat'"),
        (("seat=0", "seats=0"), "found 'seats'"),
        (("board=", "board=99"), "board: expected 19 of the characters RGB."),
        (("returned=-", "returned=1@RR:1"), "expected seat@slot@tiles, found '1@RR:1'"),
        (("unseen=", "unseen=XX:1,"), "unseen: a tile is two of the letters RGB, not 'XX'"),
    ],
)
def test_lines_that_cannot_be_read(change: tuple[str, str], message: str) -> None:
    line = view_to_line(view(swapping_play(SMALL, 1, 0, 0)))
    assert change[0] in line
    with pytest.raises(ValueError, match=message):
        view_from_line(line.replace(*change))
