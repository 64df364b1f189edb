"""The puzzles: their games replay, the best moves are best, and the reader says what is wrong."""

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments import make_puzzles
from genial_env import RecordError, View, view
from genial_env.analysis.judge import RolloutJudge
from genial_env.analysis.proofs import SENTENCES, read_proof, write_proof
from genial_env.analysis.puzzle_ratings import rated_puzzles
from genial_env.analysis.puzzles import KINDS, Puzzle, read_puzzles, score
from genial_env.errors import IllegalAction
from genial_env.policies.endgame import value_over_all_deals
from genial_env.records import replay, truncate, verify
from tests.conftest import needs_numba
from tests.paths import PUZZLES
from tests.positions import every

LINES = [json.loads(line) for line in PUZZLES.read_text().splitlines()]
CLEAR = 0.02


@cache
def shipped() -> list[Puzzle]:
    """The puzzles; each game is replayed, which takes too long for the start of every worker of the tests."""
    return list(read_puzzles(PUZZLES))


def name_puzzle(number: int) -> str:
    """The kind and the number of seats of a puzzle."""
    return f"{LINES[number]['kind']} {LINES[number]['record']['rules']['players']}"


def test_there_are_enough_of_every_kind() -> None:
    kinds = Counter(puzzle.kind for puzzle in shipped())
    assert len(shipped()) >= 80
    assert all(kinds[kind] >= 10 for kind in KINDS)
    tables = {(puzzle.rules.players, puzzle.rules.mode) for puzzle in shipped()}
    assert tables == {(2, "individual"), (3, "individual"), (4, "individual"), (4, "team"), (1, "solo")}


def test_the_proof_of_every_puzzle_is_read_and_written() -> None:
    codes = Counter()
    for puzzle in rated_puzzles().values():
        proof = read_proof(puzzle["proof"])
        assert proof is not None, puzzle["proof"]
        assert write_proof(proof.code, **proof.values) == puzzle["proof"]
        codes[proof.code] += 1
    assert set(codes) == set(SENTENCES)
    assert read_proof("It is obvious.") is None


def test_games_replay_and_differ() -> None:
    assert list(verify(puzzle.record for puzzle in shipped())) == [None] * len(shipped())
    games = {(puzzle.rules, puzzle.record["seed"]) for puzzle in shipped()}
    assert len(games) == len(shipped())


@every("number", range(0, len(LINES), 3), range(0, len(LINES), 9), ids=name_puzzle)
def test_best_is_best(number: int) -> None:
    """A third of them, proven again."""
    puzzle = shipped()[number]
    actions, values = value_over_all_deals(view(puzzle.state))
    assert np.abs(values - puzzle.values).max() < 1e-6
    assert actions[values > values.max() - 1e-6].tolist() == list(puzzle.best)
    others = values[values < values.max() - 1e-6]
    assert puzzle.value == pytest.approx(values.max(), abs=1e-6)
    assert puzzle.second == pytest.approx(others.max(), abs=1e-6)


@every("number", range(0, len(LINES), 4), range(0, len(LINES), 12), ids=name_puzzle)
def test_the_judge_of_hints_names_a_best_move(number: int) -> None:
    """And with several seats gives its proved value; solo it estimates the lowest marker alone."""
    puzzle = shipped()[number]
    judged = RolloutJudge().judge(view(puzzle.state))
    assert judged.actions[0, 0] in puzzle.best
    if puzzle.rules.tracks > 1:
        assert judged.utility[0, 0] == pytest.approx(puzzle.value, abs=1e-6)
        assert judged.error[0, 0] == 0


def test_the_best_is_clearly_best() -> None:
    assert all(puzzle.value - puzzle.second >= CLEAR for puzzle in shipped())


class _First:
    """Takes the first best move, or another one."""

    def __init__(self, right: bool) -> None:
        self.name = "first"
        self._answers = {
            (puzzle.rules, view(puzzle.state).board.tobytes()): puzzle.best[0] if right else _wrong(puzzle)
            for puzzle in shipped()
        }

    def __call__(self, seen: View, random: np.ndarray) -> np.ndarray:
        return np.array([self._answers[seen.rules, board.tobytes()] for board in seen.board])


def _wrong(puzzle: Puzzle) -> int:
    return next(action for action in puzzle.actions.tolist() if action not in puzzle.best)


def test_score() -> None:
    right, wrong = score(_First(True), shipped()), score(_First(False), shipped())
    assert [answer.puzzle for answer in right] == shipped()
    assert all(answer.solved and answer.lost == 0 for answer in right)
    assert not any(answer.solved for answer in wrong)
    assert all(answer.lost >= CLEAR for answer in wrong)
    greedy = score("greedy", shipped(), seed=3)
    assert [a.action for a in greedy] == [a.action for a in score("greedy", shipped(), seed=3)]
    assert 0 < sum(answer.solved for answer in greedy) < len(shipped())


def test_score_refuses_illegal_actions() -> None:
    class Never:
        name = "never"

        def __call__(self, seen: View, random: np.ndarray) -> np.ndarray:
            return np.full(len(seen), 10**6)

    with pytest.raises(IllegalAction):
        score(Never(), shipped()[:1])


def line(**changes: Any) -> str:
    found = {**json.loads(PUZZLES.read_text().splitlines()[0]), **changes}
    return json.dumps({key: value for key, value in found.items() if value is not ...})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "opening"}, "kind: expected one of endgame"),
        ({"proof": ...}, "expected the key 'proof', found none"),
        ({"hint": "R"}, 'expected the keys kind, .*, found "hint"'),
        ({"unit": "points"}, 'unit: expected rank utility or lowest marker, found "points"'),
        ({"value": "1"}, 'value: expected a finite number, found "1"'),
        ({"second": 1.5}, "second: expected "),
        ({"best": 3}, "best: expected a list of at least 1, found 3"),
        ({"best": [0]}, "best: expected .*, the actions of the highest value, found"),
        ({"seat": 5}, "seat: expected a whole number from 0 to 3, found 5"),
        ({"values": [0.5]}, "values: expected .* numbers, one for each legal action, found"),
        ({"proof": 1}, "proof: expected text, found 1"),
        ({"record": {}}, "record: format: expected"),
    ],
)
def test_reader_says_what_is_wrong(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "puzzles.jsonl"
    path.write_text(line() + "\n\n" + line(**changes) + "\n")
    with pytest.raises(RecordError, match=rf"puzzles\.jsonl:3: {message}"):
        read_puzzles(path)


def test_reader_refuses_what_is_no_json(tmp_path: Path) -> None:
    path = tmp_path / "puzzles.jsonl"
    path.write_text("{\n")
    with pytest.raises(RecordError, match=r"puzzles\.jsonl:1: expected JSON, found something unreadable"):
        read_puzzles(path)


@pytest.mark.slow
@needs_numba
def test_making_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In little, and the same twice."""
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for path in paths:
        make_puzzles.main(make_puzzles.Args(share=0.006, out=path))
    assert paths[0].read_text() == paths[1].read_text()
    assert read_puzzles(paths[0])
    assert "immediate win" in capsys.readouterr().out


def test_cut() -> None:
    record = shipped()[0].record
    events = [number for number, event in enumerate(record["events"]) if event[0] != "draw"]
    shorter = truncate(record, events[-1])
    assert list(verify([shorter])) == [None]
    assert shorter["end"] == "unfinished"
    assert len(shorter["events"]) == events[-1]
    assert replay(shorter).scores.tolist() == [shorter["scores"]]
    draw = next(number for number, event in enumerate(record["events"]) if event[0] == "draw")
    with pytest.raises(ValueError, match=f"event {draw} draws for the decision before it"):
        truncate(record, draw)
