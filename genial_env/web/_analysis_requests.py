"""Requests of the analysis board: show a position, try a move in it, deal its hidden racks, judge it.

The server keeps nothing of an analysis. Each request has the position as text (docs/notation.md), and the answer has
the text of the position that it leads to. Racks that are hidden in the text stay hidden.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from secrets import randbelow
from typing import Any

import numpy as np

from genial_env.analysis.judge import LEVELS, RolloutJudge, can_judge
from genial_env.analysis.review import verdict
from genial_env.core import chance, kernel
from genial_env.core.actions import tile_kind
from genial_env.core.arrays import Ints
from genial_env.core.rules import Rules
from genial_env.core.state import EMPTY, State
from genial_env.core.views import view
from genial_env.errors import IllegalAction
from genial_env.policies.base import NONE, Policy
from genial_env.policies.decisions import act, choice_keys
from genial_env.policies.judgement import Judgement
from genial_env.policies.registry import make_known_policy, prepare
from genial_env.records import Recorder, format_position, parse_position
from genial_env.render.sentences import describe_action, points_by_color
from genial_env.table import PERSON
from genial_env.web._game_requests import SEEDS, list_agents, parse_action, parse_rules
from genial_env.web._request_checks import Refused, invalid
from genial_env.web._serialize import (
    JsonObject,
    choice_to_json,
    event_to_json,
    names_to_json,
    position_to_json,
    rules_to_json,
)

SHOWN_MOVES, SHOWN_ANSWERS = 8, 3
"""The most moves that are sent of a judgement, and beside the verdict on a decision."""


def read_position(sent: JsonObject) -> tuple[State, int | None]:
    """Return the position of ``{"position": text}``, and the seat whose rack alone is known; None if all are known.

    Hidden racks and draws to come are dealt anew in every call.

    Raises:
        Refused: if the text is not understood, or the position is impossible; the message says why.
    """
    text = sent.get("position")
    if not isinstance(text, str):
        raise invalid("position", "a text", text)
    try:
        state = parse_position(text, randbelow(SEEDS))
    except ValueError as error:
        raise Refused(422, str(error), "impossible_position", reason=str(error)) from error
    racks = re.split("[ _]+", text.strip())[1].split("/")
    known = [seat for seat, rack in enumerate(racks) if not rack.isdecimal()]
    return state, known[0] if len(known) < len(racks) else None


def new_position(sent: JsonObject) -> JsonObject:
    """Return the beginning of a game under ``{"rules": ...}``, dealt at random.

    Raises:
        Refused: if the rules cannot be played.
    """
    return position_answer(kernel.deal(parse_rules(sent.get("rules")), randbelow(SEEDS)), None)


def show_position(sent: JsonObject) -> JsonObject:
    """Return a position as the page shows it, and what the seat to play may do.

    Raises:
        Refused: see :func:`read_position`.
    """
    return position_answer(*read_position(sent))


def position_answer(state: State, known: int | None) -> JsonObject:
    """Return a position as the page shows it.

    Args:
        state: one game.
        known: the seat whose rack alone is shown; None for all racks.
    """
    rules, to_play = state.rules, int(state.to_play[0])
    position = position_to_json(state)
    if known is not None:
        shown = [
            rack if seat == known else sum(tile != "" for tile in rack) for seat, rack in enumerate(position["racks"])
        ]
        position["racks"] = shown
    answer = {
        "text": format_position(state, seat=known, draws=False),
        "rules": rules_to_json(rules),
        **names_to_json([PERSON] * rules.players),
        "position": position,
        "judge": can_judge(rules),
    }
    if not state.over[0] and known in (None, to_play):
        answer["choice"] = choice_to_json(view(state))
    return answer


def try_move(sent: JsonObject) -> JsonObject:
    """Play a decision in a position, and return the position that it leads to and the events.

    Args:
        sent: ``{"position": text, "slot": 0, "cells": [4, 5]}``, or ``{"position": text, "word": "swap"}``. ``"draws":
            ["RG"]`` names the tiles that are drawn; without it they are random.

    Raises:
        Refused: if the position is impossible, the rack of the seat to play is hidden, the rules forbid the decision,
            or the bag lacks the tiles.
    """
    state, known = read_position(sent)
    rules, seat = state.rules, int(state.to_play[0])
    if known not in (None, seat):
        raise Refused(409, f"the rack of seat {seat} is hidden: deal it first", "rack_not_dealt", seat=seat)
    if state.over[0]:
        raise Refused(409, "the game is over in this position", "nothing_to_judge")
    recorder = Recorder(state, [PERSON] * rules.players)
    try:
        recorder.apply(np.array([parse_action(rules, sent)]), draws=_parse_draws(rules, sent.get("draws")))
    except IllegalAction as error:
        raise Refused(422, str(error), "illegal_action", reason=str(error)) from error
    except ValueError as error:
        raise Refused(422, f"draws: {error}", "invalid_request", field="draws") from error
    events = recorder.records()[0]["events"]
    shown = events if known in (None, seat) else events[:1]
    return {
        **position_answer(state, known),
        "events": [event_to_json(at, event, rules) for at, event in enumerate(shown)],
    }


def _parse_draws(rules: Rules, sent: Any) -> Ints | None:
    """Return the drawn tiles as kinds [1, K], EMPTY behind the last; None if they are not given."""
    if sent is None:
        return None
    if not isinstance(sent, list) or len(sent) > rules.rack or not all(isinstance(tile, str) for tile in sent):
        raise invalid("draws", f"a list of up to {rules.rack} tiles", sent)
    kinds = np.full((1, rules.rack), EMPTY, dtype=np.int64)
    kinds[0, : len(sent)] = [tile_kind(rules, tile) for tile in sent]
    return kinds


def deal_racks(sent: JsonObject) -> JsonObject:
    """Return a position with tiles in its hidden racks, drawn at random from the unseen ones.

    Raises:
        Refused: see :func:`read_position`.
    """
    return position_answer(read_position(sent)[0], None)


def ask_agent(sent: JsonObject) -> JsonObject:
    """Have an agent play the decision of the seat to play; return the position that it leads to and the decision.

    Racks that are hidden in the position are dealt before, and shown.

    Args:
        sent: ``{"position": text, "agent": "value"}``.

    Raises:
        Refused: if the position is impossible or over, or there is no such agent for its rules.
    """
    state, _ = read_position(sent)
    rules, agent = state.rules, sent.get("agent")
    known = list_agents(rules)
    if agent not in known:
        raise invalid("agent", f"one of {', '.join(known)}", agent)
    if state.over[0]:
        raise Refused(409, "the game is over in this position", "nothing_to_judge")
    recorder = Recorder(state, [PERSON] * rules.players)
    keys = choice_keys(chance.as_seeds(randbelow(SEEDS)), rules.players)
    seats = np.zeros((1, rules.players), dtype=np.int64)
    action = int(act([_make_agent(agent, rules)], seats, state.copy(), keys, np.zeros(1, dtype=np.int64))[0])
    move = action_to_json(state, action)
    recorder.apply(np.array([action]))
    told = [event_to_json(at, event, rules) for at, event in enumerate(recorder.records()[0]["events"])]
    return {**position_answer(state, None), "events": told, "move": move}


@lru_cache(maxsize=16)
def _make_agent(name: str, rules: Rules) -> Policy:
    agent = make_known_policy(name)
    prepare(agent, rules)
    return agent


def judge_position(sent: JsonObject) -> JsonObject:
    """Judge the moves of the seat to play by what it sees.

    Args:
        sent: ``{"position": text, "level": "normal"}``.

    Returns:
        The level; the number of judged moves; the unit; the best moves.

    Raises:
        Refused: if the position is impossible or over, the rack of the seat to play is hidden, the level is unknown, or
            there is no judge for the rules.
    """
    state, known = read_position(sent)
    level = _read_level(sent)
    if state.over[0] or known not in (None, int(state.to_play[0])):
        message = "there is nothing to judge: the game is over, or the rack of the seat to play is hidden"
        raise Refused(409, message, "nothing_to_judge")
    if not can_judge(state.rules):
        raise Refused(409, "there is no judge for these rules", "no_judge")
    found = _make_judge(level).judge(view(state))
    judged = int((found.actions[0] != NONE).sum())
    return {
        "level": level,
        "judged": judged,
        "unit": "lowest marker" if state.rules.tracks == 1 else "rank utility",
        "moves": moves_to_json(state, found, range(min(judged, SHOWN_MOVES))),
    }


def _read_level(sent: JsonObject) -> str:
    """Return the level of the judge in a request.

    Raises:
        Refused: if it is unknown.
    """
    level = sent.get("level", "normal")
    if not isinstance(level, str) or level not in LEVELS:
        raise invalid("level", f"one of {', '.join(LEVELS)}", level)
    return level


def answer_position(sent: JsonObject) -> JsonObject:
    """Judge a decision beside the best ones, for a person who tries to find a better one.

    Args:
        sent: as of :func:`try_move`, with the level of the judge as of :func:`judge_position`.

    Returns:
        The loss of the decision, its standard error (None for a prediction), its verdict, and the best decisions.

    Raises:
        Refused: see both.
    """
    state, known = read_position(sent)
    if state.over[0] or known not in (None, int(state.to_play[0])) or not can_judge(state.rules):
        raise Refused(409, "this position cannot be judged", "nothing_to_judge")
    action = parse_action(state.rules, sent)
    if not kernel.is_legal(state, np.array([action]), np.array([0]))[0]:
        reason = kernel.why_illegal(state, 0, action)
        raise Refused(422, reason, "illegal_action", reason=reason)
    level = _read_level(sent)
    found = _make_judge(level).judge(view(state), np.array([action]))
    place = found.actions[0].tolist().index(action)
    loss = float(found.utility[0, 0] - found.utility[0, place])
    judged = int((found.actions[0] != NONE).sum())
    return {
        "loss": round(loss, 4),
        "error": _number(found.error[0, place]),
        "verdict": verdict(loss, state.rules),
        "best": moves_to_json(state, found, range(min(judged, SHOWN_ANSWERS))),
    }


def moves_to_json(state: State, found: Judgement, places: Sequence[int]) -> list[JsonObject]:
    """Return judged moves of one game, each with slot and cells, or with a word if it lays no tile."""
    moves = []
    for place in places:
        action = int(found.actions[0, place])
        numbers = {name: _number(getattr(found, name)[0, place]) for name in ("utility", "win", "error")}
        moves.append({**action_to_json(state, action), **numbers})
    return moves


def action_to_json(state: State, action: int) -> JsonObject:
    """Return an action of one game: its words, its points, and slot and cells or a word."""
    t = state.tables
    data: JsonObject = {"text": describe_action(state, action), "points": points_by_color(state, action)}
    if t.is_placing(action):
        slot, placement = t.split_action(action)
        return {**data, "slot": int(slot), "cells": t.placements[placement].tolist()}
    return {**data, "word": "swap" if action == t.swap_action else "decline"}


def _number(value: float) -> float | None:
    """Return a number rounded to 4 digits; None for nan."""
    return None if np.isnan(value) else round(float(value), 4)


@lru_cache(maxsize=len(LEVELS))
def _make_judge(level: str) -> RolloutJudge:
    return RolloutJudge(level)
