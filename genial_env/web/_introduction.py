"""The positions of the page's introduction to the game. The kernel plays what a learner tries in them."""

from dataclasses import dataclass, field

import numpy as np

from genial_env.core import kernel
from genial_env.core.actions import Cell, tile_kind
from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.state import EMPTY, Phase, State
from genial_env.core.tables import tables
from genial_env.core.views import view
from genial_env.errors import IllegalAction
from genial_env.render.sentences import points_by_color
from genial_env.web._game_requests import parse_action
from genial_env.web._request_checks import Refused, invalid
from genial_env.web._serialize import JsonObject, choice_to_json, name_tiles, names_to_json, rules_to_json, view_to_json

RULES = Rules(2, side=5)
"""A small board, so that everything is in view on a phone."""

LEARNER = 0
"""The seat of the learner."""

MAX_DECISIONS = 6
"""The most decisions of a lesson."""

BOARD = {
    (-2, 0): "R", (-1, 0): "R", (2, 0): "B", (3, 0): "B", (0, 2): "G", (1, 2): "Y", (-1, -2): "O", (0, -2): "P",
}  # fmt: skip
"""The tiles on the board."""


@dataclass(frozen=True)
class Lesson:
    """A position to try something in."""

    rack: tuple[str, ...]
    markers: tuple[int, ...] = (3, 5, 4, 2, 6, 1)
    """Those of the learner, by color."""

    others: tuple[int, ...] = (4, 4, 3, 5, 2, 3)
    """Those of the other player."""

    phase: Phase = Phase.PLACE
    board: dict[Cell, str] = field(default_factory=lambda: BOARD)


LESSONS = {
    "score": Lesson(("RB",)),
    "bonus": Lesson(("RG", "BO", "YP"), markers=(16, 12, 9, 14, 7, 5)),
    "lowest": Lesson((), markers=(18, 17, 14, 16, 15, 6), others=(9, 10, 8, 9, 11, 9)),
    "swap": Lesson(("BO", "OO", "GY", "RB", "RO"), markers=(12, 9, 11, 8, 7, 4), phase=Phase.SWAP),
}
"""The lessons by name. What must be done in each, and the words, are in `static/introduction.js`."""


def play_lesson(sent: JsonObject) -> JsonObject:
    """Play decisions from the beginning of a lesson; return the game as the learner sees it.

    Args:
        sent: ``{"lesson": "score", "decisions": [{"slot": 0, "cells": [4, 5]}, {"word": "swap"}]}``.

    Raises:
        Refused: if there is no such lesson, or the rules forbid a decision.
    """
    name, decisions = sent.get("lesson"), sent.get("decisions", [])
    if not isinstance(name, str) or name not in LESSONS:
        raise invalid("lesson", f"one of {', '.join(LESSONS)}", name)
    if not isinstance(decisions, list) or len(decisions) > MAX_DECISIONS:
        raise invalid("decisions", f"a list of at most {MAX_DECISIONS}", decisions)
    state = _begin(LESSONS[name])
    moves = []
    for number, decision in enumerate(decisions):
        if not isinstance(decision, dict):
            raise invalid(f"decisions[{number}]", "an object", decision)
        moves.append(_play(state, decision, number))
    return _to_json(state, moves)


def _begin(lesson: Lesson) -> State:
    t = tables(RULES)
    cells = kernel.undealt(RULES).board[0].copy()
    for cell, letter in lesson.board.items():
        cells[t.cell_index[cell]] = COLOR_LETTERS.index(letter)
    racks = np.full((1, RULES.players, RULES.rack), EMPTY)
    racks[0, LEARNER, : len(lesson.rack)] = [tile_kind(RULES, tile) for tile in lesson.rack]
    racks[0, 1] = [tile_kind(RULES, tile) for tile in ("BY", "RP", "GO", "BP", "RY", "OY")]
    scores = np.array([[lesson.markers, lesson.others]])
    return kernel.position(RULES, cells, scores=scores, racks=racks, phase=lesson.phase, seeds=1, any_tiles=True)


def _play(state: State, decision: JsonObject, number: int) -> JsonObject:
    """Play a decision of the learner, in place; return it as an event."""
    if state.to_play[0] != LEARNER:
        raise Refused(409, "the lesson is over: the next player is to play", "no_person_to_play")
    action = parse_action(RULES, decision)
    event: JsonObject = {"event": number, "kind": "keep", "seat": LEARNER}
    t = state.tables
    rack = name_tiles(RULES, state.racks[0, LEARNER].tolist())
    before = state.copy()
    if t.is_placing(action):
        slot, placement = t.split_action(action)
        event |= {"kind": "place", "tile": rack[slot], "cells": t.placements[placement].tolist()}
    elif action == t.swap_action:
        event |= {"kind": "swap", "tiles": [tile for tile in rack if tile]}
    try:
        kernel.apply(state, [action])
    except IllegalAction as error:
        raise Refused(422, str(error), "illegal_action", reason=str(error)) from error
    if event["kind"] == "place":
        event["points"] = points_by_color(before, action)
    return event


def _to_json(state: State, moves: list[JsonObject]) -> JsonObject:
    """Return the game as a page shows games; its parts are those of :func:`genial_env.web._serialize.game_to_json`."""
    seen = view(state, LEARNER)
    own_turn = int(state.to_play[0]) == LEARNER and not state.over[0]
    data: JsonObject = {
        "id": "",
        "rules": rules_to_json(RULES),
        **names_to_json([None, "greedy"]),
        "turn": len(moves),
        "waits": own_turn,
        "seat": LEARNER,
        "people": [LEARNER],
        "position": view_to_json(seen, True),
        "moves": moves,
        "judge": False,
    }
    return data | ({"choice": choice_to_json(seen)} if own_turn else {})
