"""The puzzles for people: proved and judged ones, of all phases of the game."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from experiments import make_lessons
from experiments.make_lessons import as_line
from genial_env import RecordError, view
from genial_env.analysis.puzzles import JUDGED_KINDS, KINDS, LESSONS, SHIPPED, Puzzle, read_puzzles, score
from genial_env.core.placement_values import equivalence_keys
from genial_env.records import to_json_line, verify
from tests.conftest import needs_numba


@cache
def read_lessons() -> list[Puzzle]:
    """The puzzles; each game is replayed, which takes too long for the start of every worker of the tests."""
    return list(read_puzzles(LESSONS))


@cache
def judged_lessons() -> list[Puzzle]:
    """Those that are judged, not proved."""
    return [puzzle for puzzle in read_lessons() if puzzle.error is not None]


def test_there_are_enough() -> None:
    kinds = Counter(puzzle.kind for puzzle in read_lessons())
    assert len(read_lessons()) + len(SHIPPED.read_text().splitlines()) >= 500
    assert all(kinds[kind] >= 20 for kind in JUDGED_KINDS)
    assert all(puzzle.kind in (KINDS if puzzle.error is None else JUDGED_KINDS) for puzzle in read_lessons())
    games = {(puzzle.rules, puzzle.record["seed"], puzzle.record["agents"][0]) for puzzle in read_lessons()}
    assert len(games) > 0.9 * len(read_lessons())
    assert list(verify(puzzle.record for puzzle in read_lessons()[::20])) == [None] * len(read_lessons()[::20])


def test_judged_puzzles_are_clear() -> None:
    for puzzle in judged_lessons():
        assert puzzle.error is not None
        gap = puzzle.value - puzzle.second
        assert gap >= make_lessons.MIN_ADVANTAGE - 1e-6
        assert gap >= make_lessons.MIN_ERRORS * puzzle.error - 1e-5
        seen = view(puzzle.state)
        keys = equivalence_keys(seen, np.array([puzzle.best]))[0]
        assert len(set(keys.tolist())) == 1  # one move, in all ways to make it


def test_a_choice_without_a_value() -> None:
    puzzle = next(puzzle for puzzle in judged_lessons() if np.isnan(puzzle.values).any())
    unknown = int(puzzle.actions[int(np.flatnonzero(np.isnan(puzzle.values))[0])])

    class Chooses:
        name = "chooses"

        def __call__(self, seen: object, random: object) -> np.ndarray:
            return np.array([unknown])

    (answer,) = score(Chooses(), [puzzle])
    assert not answer.solved
    assert np.isnan(answer.lost)


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text("".join(to_json_line(as_line(puzzle)) for puzzle in [read_lessons()[0], judged_lessons()[0]]))
    first, second = read_puzzles(path)
    assert first == read_lessons()[0]
    assert second.record == judged_lessons()[0].record
    assert np.array_equal(second.values, judged_lessons()[0].values, equal_nan=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "endgame"}, "kind: expected one of opening, middle game, late game"),
        ({"error": -1}, "error: expected a finite number from 0 up"),
        ({"error": None}, "kind: expected one of endgame"),
        ({"values": "all"}, "values: expected a list"),
    ],
)
def test_the_reader_says_what_is_wrong(changes: dict[str, object], message: str, tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text(json.dumps(as_line(judged_lessons()[0]) | changes) + "\n")
    with pytest.raises(RecordError, match=message):
        read_puzzles(path)


def test_a_proved_puzzle_has_all_values(tmp_path: Path) -> None:
    proved: Puzzle = next(puzzle for puzzle in read_lessons() if puzzle.error is None)
    line = as_line(proved)
    line["values"][0] = None
    path = tmp_path / "some.jsonl"
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(RecordError, match="values: expected a number for each legal action"):
        read_puzzles(path)


@pytest.mark.slow
@needs_numba
def test_making_judged_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_lessons, "_BATCH", 8)
    (rules,) = [rules for rules in make_lessons.WANTED if rules.players == 2]
    found = next(iter(make_lessons.find_judged(rules, 1, seed=5)))
    assert found.error is not None
    assert found.value - found.second >= make_lessons.MIN_ADVANTAGE
