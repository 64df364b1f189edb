"""Read puzzles (positions of played games in which one move is best) and score policies on them.

Proved puzzles are late positions: the values of all actions were enumerated. Judged puzzles are of all phases of the
game: rollouts found one move better than every other one by several standard errors.

A file has one JSON object per line. The position is stored as the record of an unfinished game, so that it can be
replayed. A policy gets the view of the seat to play, a :class:`~genial_env.core.views.View`.

==========  ===========================================================================================
key         meaning
==========  ===========================================================================================
`kind`      one of :data:`KINDS`, or of :data:`JUDGED_KINDS`
`record`    the game up to the decision (docs/records.md)
`seat`      the seat to play
`best`      the ids of all best actions, ascending
`value`     the value of the best actions
`second`    the highest value of the other actions
`values`    the values of all legal actions, in the order of their ids; null for an action without rollouts
`unit`      the unit of the values: "rank utility" (+1 first to -1 last), or "lowest marker" (solo)
`proof`     a text that says what was enumerated, or how the rollouts were made
`error`     the standard error of `value` less `second`; absent if the puzzle is proved
==========  ===========================================================================================
"""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from genial_env._util.strict_json import JSONError, numbered_lines, parse_object
from genial_env._util.validators import (
    STRING,
    any_value,
    finite_number,
    integer,
    json_object,
    list_of,
    optional,
    shorten,
)
from genial_env.core import kernel
from genial_env.core.arrays import Ints
from genial_env.core.chance import as_seeds, bits
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.views import view
from genial_env.errors import RecordError
from genial_env.policies.base import Policy
from genial_env.policies.registry import make_policy, prepare
from genial_env.records import replay, replay_each

__all__ = [
    "JUDGED_KINDS",
    "KINDS",
    "LESSONS",
    "SHIPPED",
    "Answer",
    "Puzzle",
    "find_refused",
    "parse_puzzle",
    "read_puzzles",
    "score",
]

KINDS = ("endgame", "immediate win", "double bonus", "swap")
"""The best last placement; a win within the turn; two bonuses with one tile; swapping or keeping the rack."""

JUDGED_KINDS = ("opening", "middle game", "late game")
"""The phases of judged puzzles: the first, second and last third of the decisions of the game that was played."""

SHIPPED = Path(__file__).with_name("puzzles.jsonl")
"""The path of the puzzles by which agents are compared. All are proved."""

LESSONS = Path(__file__).with_name("lessons.jsonl")
"""The path of further puzzles, for people: proved and judged ones."""

UNITS = ("rank utility", "lowest marker")


@dataclass(frozen=True)
class Puzzle:
    """A position in which one action, or several alike, are best. The fields are the keys of a file.

    `values` are NaN, in a file null, for actions without rollouts. `error` is None for proved puzzles.
    """

    kind: str
    record: dict[str, Any]
    seat: int
    best: tuple[int, ...]
    value: float
    second: float
    values: tuple[float, ...]
    unit: str
    proof: str
    error: float | None = None

    @cached_property
    def state(self) -> State:
        """The position, as a batch of one game. Copy it before you change it."""
        return replay(self.record)

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self.state.rules

    @cached_property
    def actions(self) -> Ints:
        """The legal actions, ascending: [n]."""
        return np.flatnonzero(kernel.legal(self.state)[0])


@dataclass(frozen=True)
class Answer:
    """The choice of a policy in a puzzle."""

    puzzle: Puzzle
    action: int
    solved: bool  # whether it is one of the best actions
    lost: float  # the best value minus the value of the choice; NaN if the choice has no value


def read_puzzles(path: str | os.PathLike[str]) -> list[Puzzle]:
    """Read the puzzles of a file and replay their games. The values of the actions are not verified.

    Raises:
        OSError: If the file cannot be opened.
        RecordError: If a line is not a puzzle. The message says file, line, what was expected and what was found.
    """
    parsed: list[tuple[int, Puzzle]] = []
    fault = None
    try:
        for number, text in numbered_lines(path):
            try:
                parsed.append((number, _parse_fields(parse_object(text))))
            except (RecordError, JSONError) as error:
                fault = RecordError(f"{path}:{number}: {error}")
                break
    except JSONError as error:
        fault = RecordError(str(error))
    positions = replay_each(puzzle.record for _, puzzle in parsed)
    for (number, puzzle), position in zip(parsed, positions, strict=True):
        try:
            _check_position(puzzle, position)
        except RecordError as error:
            raise RecordError(f"{path}:{number}: {error}") from error
    if fault is not None:
        raise fault
    return [puzzle for _, puzzle in parsed]


def find_refused(policy: str | Policy, puzzles: Sequence[Puzzle]) -> dict[Rules, str]:
    """Return the rules of puzzles that a policy cannot play, for example without weights, each with the reason.

    Raises:
        ValueError: if the name is unknown.
    """
    player, refused = make_policy(policy), {}
    for rules in dict.fromkeys(puzzle.rules for puzzle in puzzles):
        try:
            prepare(player, rules)
        except ValueError as error:
            refused[rules] = str(error)
    return refused


def score(policy: str | Policy, puzzles: Sequence[Puzzle], seed: int = 0) -> list[Answer]:
    """Return the choice of a policy in each puzzle. Puzzles with the same rules are one batch.

    Args:
        policy: a name or a :class:`~genial_env.policies.base.Policy`.
        puzzles: the puzzles.
        seed: the seed of the policy's random bits. They also depend on the index of the puzzle.

    Raises:
        ValueError: if the name is unknown, or the policy cannot play a puzzle's game (:func:`find_refused`).
        IllegalAction: if the policy chooses an illegal action.
    """
    player = make_policy(policy)
    random = bits(as_seeds(seed), np.arange(len(puzzles)))
    by_rules: dict[Rules, list[int]] = {}
    for index, puzzle in enumerate(puzzles):
        by_rules.setdefault(puzzle.rules, []).append(index)
    answers: dict[int, Answer] = {}
    for group in by_rules.values():
        states = State.concat([puzzles[index].state for index in group])
        actions = kernel.as_actions(player(view(states), random[group]), len(group))
        kernel.apply(states, actions)  # raises if one is illegal
        for index, action in zip(group, actions.tolist(), strict=True):
            answers[index] = _answer(puzzles[index], action)
    return [answers[index] for index in range(len(puzzles))]


def _answer(puzzle: Puzzle, action: int) -> Answer:
    value = puzzle.values[int(np.searchsorted(puzzle.actions, action))]
    return Answer(puzzle, action, action in puzzle.best, puzzle.value - value)


# The format of a puzzle


def parse_puzzle(found: dict[str, Any]) -> Puzzle:
    """Return the puzzle of a line of a file, read as JSON. Its game is replayed; the values are not verified.

    Raises:
        RecordError: If it is not a puzzle.
    """
    puzzle = _parse_fields(found)
    _check_position(puzzle, next(replay_each([puzzle.record])))
    return puzzle


def _parse_fields(found: dict[str, Any]) -> Puzzle:
    """Return a puzzle whose position is not checked.

    Raises:
        RecordError: If a field is wrong by itself.
    """
    found = _FORMAT({"error": None, **found}, "")
    kinds = KINDS if found["error"] is None else JUDGED_KINDS
    _check(found["kind"] in kinds, "kind", f"one of {', '.join(kinds)}", found["kind"])
    _check(found["unit"] in UNITS, "unit", " or ".join(UNITS), found["unit"])
    values = tuple(np.nan if value is None else value for value in found["values"])
    return Puzzle(**{**found, "best": tuple(found["best"]), "values": values})


def _check_position(puzzle: Puzzle, position: State | str) -> None:
    """Check a puzzle against its position, which it keeps, or the fault of its record.

    Raises:
        RecordError: If the record has a fault, or a field does not fit the position.
    """
    if isinstance(position, str):
        raise RecordError(f"record: {position}")
    _check(not position.over[0], "record", "a game that is not over", puzzle.record["end"])
    vars(puzzle)["state"] = position  # where the cached property looks first
    _check_answer(puzzle)


_FORMAT = json_object(
    kind=STRING,
    record=any_value,  # replay checks it
    seat=integer(0, 3),
    best=list_of(integer(), min_length=1),
    value=finite_number(),
    second=finite_number(),
    values=list_of(optional(finite_number()), min_length=1),
    unit=STRING,
    proof=STRING,
    error=optional(finite_number(0)),
)


def _check_answer(puzzle: Puzzle) -> None:
    seat, actions = int(puzzle.state.to_play[0]), puzzle.actions.tolist()
    _check(puzzle.seat == seat, "seat", f"{seat}, the seat to play", puzzle.seat)
    _check(
        len(puzzle.values) == len(actions),
        "values",
        f"{len(actions)} numbers, one for each legal action",
        list(puzzle.values),
    )
    if puzzle.error is None:
        _check(not any(map(math.isnan, puzzle.values)), "values", "a number for each legal action", list(puzzle.values))
    most = max((value for value in puzzle.values if not math.isnan(value)), default=math.nan)
    best = [action for action, value in zip(actions, puzzle.values, strict=True) if value == most]
    _check(list(puzzle.best) == best, "best", f"{best}, the actions of the highest value", list(puzzle.best))
    _check(puzzle.value == most, "value", f"{most}, the highest of the values", puzzle.value)
    others = [value for value in puzzle.values if value < most]
    _check(bool(others), "values", "one below the highest", list(puzzle.values))
    _check(puzzle.second == max(others), "second", f"{max(others)}, the highest of the other values", puzzle.second)


def _check(fine: bool, key: str, expected: str, found: Any) -> None:
    if not fine:
        raise RecordError(f"{key}: expected {expected}, found {shorten(found)}")
