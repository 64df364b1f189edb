"""Requests of the lessons: list the puzzles of the package, show one, check an answer.

A puzzle is shown as its seat sees it. The page keeps the solver's rating; the server keeps nothing.
"""

from functools import lru_cache

import numpy as np

from genial_env.analysis.proofs import read_proof
from genial_env.analysis.puzzle_ratings import rated_puzzles
from genial_env.analysis.puzzles import Puzzle, parse_puzzle
from genial_env.web._analysis_requests import action_to_json, position_answer
from genial_env.web._game_requests import parse_action
from genial_env.web._request_checks import Refused, shorten
from genial_env.web._serialize import JsonObject

SHOWN_BEST = 3
"""The most best actions that are sent with an answer. Others differ from them in little but the slot."""


def list_puzzles(sent: JsonObject) -> JsonObject:
    """Return the puzzles of the package: their names, kinds, ratings, and the seats and mode of their games."""
    return {
        "puzzles": [
            {"id": name, "kind": each["kind"], "rating": each["rating"], "rules": each["record"]["rules"]}
            for name, each in rated_puzzles().items()
        ]
    }


def show_puzzle(sent: JsonObject) -> JsonObject:
    """Return the position of the puzzle ``{"id": name}`` as its seat sees it.

    Raises:
        Refused: if there is no such puzzle.
    """
    name, puzzle = _find(sent)
    found = rated_puzzles()[name]
    about = {"id": name, "kind": puzzle.kind, "rating": found["rating"], "unit": puzzle.unit}
    return {**position_answer(puzzle.state.copy(), puzzle.seat if puzzle.rules.players > 1 else None), **about}


def check_answer(sent: JsonObject) -> JsonObject:
    """Return whether a decision solves a puzzle, what it loses, the best decisions, and the proof.

    The loss is None where it was not measured. "proof" is in English, "proved" has its code and numbers
    (:mod:`genial_env.analysis.proofs`); it is None for a proof of another form.

    Args:
        sent: ``{"id": name, "slot": 0, "cells": [4, 5]}``, or with a word as for a decision in a game.

    Raises:
        Refused: if there is no such puzzle, or the decision is not legal.
    """
    _, puzzle = _find(sent)
    action = parse_action(puzzle.rules, sent)
    at = int(np.searchsorted(puzzle.actions, action))
    if at == len(puzzle.actions) or puzzle.actions[at] != action:
        reason = "this decision is not allowed in this position"
        raise Refused(422, reason, "illegal_action", reason=reason)
    proved = read_proof(puzzle.proof)
    return {
        "solved": action in puzzle.best,
        "lost": None if np.isnan(puzzle.values[at]) else round(max(0.0, puzzle.value - puzzle.values[at]), 4),
        "value": round(puzzle.value, 4),
        "best": [action_to_json(puzzle.state, best) for best in puzzle.best[:SHOWN_BEST]],
        "count": len(puzzle.best),
        "proof": puzzle.proof,
        "proved": None if proved is None else proved._asdict(),
    }


def _find(sent: JsonObject) -> tuple[str, Puzzle]:
    name = sent.get("id")
    if not isinstance(name, str) or name not in rated_puzzles():
        raise Refused(404, f"there is no puzzle {shorten(name)} here", "no_such_puzzle")
    return name, _read(name)


@lru_cache(maxsize=64)
def _read(name: str) -> Puzzle:
    found = rated_puzzles()[name]
    return parse_puzzle({key: value for key, value in found.items() if key != "rating"})
