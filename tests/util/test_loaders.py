"""Everything that reads stored files is fuzzed with a fixed seed: what is loaded is what the file says, or the
documented error says what is wrong with it; nothing else is raised.
"""

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genial_env import RecordError, Rules, play
from genial_env._util.strict_json import MAX_DEPTH, JSONError, parse_object
from genial_env._util.validators import finite_number, shorten
from genial_env.analysis.puzzles import read_puzzles
from genial_env.arena import report, tournament
from genial_env.arena.store import GAMES, RECORDS, SETTINGS, Settings, Store
from genial_env.backends import Backend
from genial_env.records import read_records, to_json_line, verify
from genial_env.table import Table
from tests.paths import PUZZLES

SMALL = Rules(side=4, colors=4, rack=3)

HOSTILE: list[Any] = [
    None, True, -1, 0, 1, 7, 2**63, 10**400, 0.5, 1e308, "", "x", "\ud800", "[x]", [], [0], {}, {"a": 1},
    ["a", ["b"]], [[]] * 3,
]  # fmt: skip


def deep(levels: int) -> Any:
    found: Any = 0
    for _ in range(levels):
        found = [found]
    return found


def places(value: Any, *path: Any) -> Iterator[tuple[Any, ...]]:
    """The paths of all values within a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inner:
        yield (*path, name)
        yield from places(each, *path, name)


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy with another value at a path; without it for ``...``."""
    value = copy.deepcopy(value)
    owner = value
    for name in path[:-1]:
        owner = owner[name]
    if new is ...:
        del owner[path[-1]]
    else:
        owner[path[-1]] = new
    return value


def mutated(text: str, count: int, seed: int = 23) -> Iterator[bytes]:
    """A JSON text with other values, without values, with keys twice, with other bytes, cut off, in other order."""
    rng = np.random.default_rng(seed)
    value, content = json.loads(text), text.encode()
    paths = list(places(value))
    yield from (b"", b"\n", b"{}", b"[]", b"null", b"NaN", b"\xff", b"[" * 10_000)
    for number in range(count):
        path = paths[rng.integers(len(paths))]
        new = [..., deep(MAX_DEPTH - 10), deep(MAX_DEPTH + 10), *HOSTILE][rng.integers(len(HOSTILE) + 3)]
        match number % 6:
            case 0 | 1 | 2:
                yield json.dumps(changed(value, path, new)).encode()
            case 3:
                found = json.dumps(changed(value, path, "HERE"))
                yield found.replace('"HERE"', ["NaN", "1e999", '{"a":1,"a":1}', '"\\ud800"'][rng.integers(4)]).encode()
            case 4:
                at = rng.integers(len(content), size=2)
                yield bytes(rng.integers(256) if place in at else byte for place, byte in enumerate(content))
            case _:
                yield content[: rng.integers(len(content))]


def outcomes(
    path: Path, texts: Iterator[bytes], load: Callable[[], Any], errors: tuple[type[Exception], ...]
) -> list[Any]:
    """What is loaded from each text, or the error, which must be of these types and say a little."""
    found: list[Any] = []
    for text in texts:
        path.write_bytes(text)
        try:
            found.append(load())
        except errors as error:
            found.append(error)
            said = str(error)
            said.encode()
            if type(error) not in errors or not 0 < len(said) < 1500:
                pytest.fail(f"{text[:300]!r}: {error!r}")
    assert sum(isinstance(each, Exception) for each in found) > len(found) / 2
    return found


# Each kind of file


def test_records(tmp_path: Path) -> None:
    record = (play(["greedy"] * 2, SMALL, games=1, seed=1, record=True).records or [])[0]
    path = tmp_path / "games.jsonl"
    texts = list(mutated(to_json_line(record), 300))
    found = outcomes(path, iter(texts), lambda: list(read_records(path)), (RecordError,))
    for text, read in zip(texts, found, strict=True):
        if isinstance(read, list):
            assert read == [json.loads(text)] if text.strip() else read == []
    read = [record for records in found if isinstance(records, list) for record in records]
    assert all(fault is None or (0 < len(fault) < 1500 and fault.encode()) for fault in verify(read))
    path.write_bytes(b"\xef\xbb\xbf" + to_json_line(record).encode())
    assert list(read_records(path)) == [record]
    record["agents"] = ["\ud800", "é"]  # half a surrogate pair, which UTF-8 does not know
    path.write_text(to_json_line(record), encoding="utf-8")
    assert list(read_records(path)) == [record]


def test_messages_of_deep_and_odd_values() -> None:
    """Records that code hands over may be anything."""
    inside: dict[str, Any] = {}
    inside["self"] = inside
    record = (play(["greedy"] * 2, SMALL, games=1, seed=1, record=True).records or [])[0]
    for odd in (deep(900), deep(100_000), inside, {1: 2, (3, 4): 5}, object(), float("nan"), "\ud800", np.int64(3)):
        faults = list(verify([dict(record, scores=odd), dict(record, events=[odd]), dict(record, rules=odd), odd]))
        assert all(fault and len(fault) < 1500 for fault in faults)
        assert len(shorten(odd)) <= 120


def test_puzzles(tmp_path: Path) -> None:
    line = PUZZLES.read_text().splitlines()[0]
    path = tmp_path / "puzzles.jsonl"
    texts = [*mutated(line, 150), *(json.dumps(each).encode() for each in spoiled_puzzles(json.loads(line)))]
    found = outcomes(path, iter(texts), lambda: read_puzzles(path), (RecordError,))
    for text, read in zip(texts, found, strict=True):
        if isinstance(read, list) and read:
            assert read[0].record == json.loads(text)["record"]


def spoiled_puzzles(puzzle: Any) -> Iterator[Any]:
    for key in ("kind", "seat", "best", "value", "second", "values", "unit", "proof"):
        for new in HOSTILE:
            if new != puzzle[key]:
                yield changed(puzzle, (key,), new)


def test_saved_tables() -> None:
    table = Table(SMALL, [None, "greedy"], seed=3)
    table.play(int(np.flatnonzero(table.view(0).mask()[0])[0]))
    table.advance()
    text = json.dumps(table.to_dict())
    loaded, messages = 0, []
    for content in mutated(text, 200):
        try:
            saved = parse_object(content.decode("utf-8", "replace"))
            again = Table.from_dict(saved).to_dict()
        except ValueError as error:
            messages.append(str(error))
        else:
            assert again["actions"] == saved["actions"]
            loaded += 1
    assert loaded < 60
    assert all(0 < len(message) < 1500 for message in messages)


# A tournament's folder


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played") / "t"
    settings = Settings(("random", "greedy", "tests.strange_agents:Wordy"), SMALL, groups=2, seed=3)
    store = tournament.run(settings, folder, backend=Backend("numpy"))
    report.write(store, pictures=False)
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "t"))


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines(keepends=True)


def test_every_value_of_a_game(folder: Path) -> None:
    """Of the values put in place of others only those are taken that could be: other times and numbers of moves."""
    path, lines = folder / GAMES, lines_of(folder / GAMES)
    forfeited = next(number for number, line in enumerate(lines) if json.loads(line)["forfeit"] is not None)
    taken, messages = set(), []
    for number in (0, forfeited):
        game = json.loads(lines[number])
        for place in places(game):
            for new in [..., deep(MAX_DEPTH - 10), *HOSTILE]:
                other = changed(game, place, new)
                if other == game and repr(other) == repr(game):
                    continue
                path.write_text("".join([*lines[:number], json.dumps(other) + "\n", *lines[number + 1 :]]))
                try:
                    Store(folder)
                except JSONError as error:
                    messages.append(str(error))
                else:
                    taken.add(place[-1] if isinstance(place[-1], str) else place[0])
    assert taken <= {"moves", "seconds", "reason", "seat"}
    assert all(message.startswith(f"{folder}") for message in messages)


def test_lines_of_a_tournament(folder: Path) -> None:
    """Missing, twice, in another order, cut off; of games and of records."""
    store = Store(folder)
    games, records = lines_of(folder / GAMES), lines_of(folder / RECORDS)

    def told(name: str, lines: list[str]) -> str:
        (folder / name).write_text("".join(lines))
        try:
            with pytest.raises(ValueError, match=f"{folder}") as caught:
                Store(folder)
        finally:
            (folder / GAMES).write_text("".join(games))
            (folder / RECORDS).write_text("".join(records))
        return str(caught.value)

    assert f"{GAMES}:3: expected every game once" in told(GAMES, [*games[:2], games[0], *games[2:]])
    assert f"{GAMES}:3: expected a game, found an empty line" in told(GAMES, [*games[:1], "\n", *games[1:]])
    assert f"{RECORDS}:1: expected the record of game 1" in told(GAMES, [games[1], games[0], *games[2:]])
    assert f"{RECORDS}:1: expected the record of game 1" in told(RECORDS, records[1:])
    assert "expected a record for each of 12 games, found 11" in told(RECORDS, records[:-1])
    assert "expected a record for each of 12 games, found 0" in told(RECORDS, [])
    assert "expected every record once" in told(RECORDS, [*records, records[0]])
    (folder / RECORDS).unlink()
    with pytest.raises(ValueError, match="expected a record for each of 12 games, found 0"):
        Store(folder)
    (folder / RECORDS).write_text("".join(records))
    for left in (games[:5], [*games[:5], games[5][:20]]):  # as an interruption leaves them
        (folder / GAMES).write_text("".join(left))
        assert Store(folder).games == store.games[:5]
    (folder / GAMES).write_bytes(b"\xef\xbb\xbf" + "".join(games).encode())
    assert Store(folder).games == store.games


@pytest.mark.parametrize("name", [SETTINGS, GAMES, RECORDS])
def test_a_tournament(name: str, folder: Path) -> None:
    path = folder / name
    text = path.read_text()
    rest = "" if name == SETTINGS else "".join(lines_of(path)[1:])
    texts = [content + b"\n" + rest.encode() for content in mutated(text.removesuffix(rest), 150)]
    found = outcomes(path, iter(texts), lambda: Store(folder), (ValueError, JSONError))
    for content, store in zip(texts, found, strict=True):
        if isinstance(store, Store) and name == GAMES:
            assert [game.to_dict() for game in store.games] == [json.loads(line) for line in content.splitlines()]
        elif isinstance(store, Store) and name == SETTINGS:
            assert store.settings.to_dict() == json.loads(content)["settings"]


def test_reports(folder: Path) -> None:
    path = folder / report.RESULTS
    assert report.markdown(report.read_report(path)) == (folder / report.TABLES).read_text()
    texts = mutated(path.read_text(), 200)
    outcomes(path, texts, lambda: report.markdown(report.read_report(path)), (ValueError, JSONError))


# Training runs


def test_runs(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="needs the extra train")
    pytest.importorskip("tyro", reason="needs the extra train")
    from agents.runs import stored_runs
    from agents.runs.run import CURVE, RUN, read_runs

    whole = stored_runs.read(stored_runs.FOLDER)[0]
    stored = stored_runs.FOLDER / whole.file
    found = outcomes(
        tmp_path / "run-0.json",
        mutated(stored.read_text(), 200),
        lambda: stored_runs.read(tmp_path),
        (ValueError, JSONError),
    )
    for read in found:
        if isinstance(read, list):
            assert stored_runs.group_runs(read)
            assert read[0].opponents is not None
    run = tmp_path / "run"
    run.mkdir()
    about = {name: getattr(whole, name) for name in ("trainer", "seed", "started", "sessions", "finished", "totals")}
    about |= {"command": ["python", "-m", "x"], "arguments": whole.arguments}
    lines = "".join(json.dumps(line) + "\n" for line in whole.curve)
    (run / RUN).write_text(json.dumps(about))
    (run / CURVE).write_text(lines + '{"half a li')
    assert read_runs(run)[0].curve == whole.curve
    for name, text in ((RUN, json.dumps(about)), (CURVE, json.dumps(whole.curve[0]))):
        texts = (content + b"\n" for content in mutated(text, 150))
        outcomes(run / name, texts, lambda: read_runs(run), (ValueError, JSONError))
        (run / name).write_text(text + "\n")


def test_numbers() -> None:
    assert finite_number()(3, "") == 3
    for wrong in (True, "3", 10**400, -(10**400), None, float("nan"), float("inf")):
        with pytest.raises(JSONError, match="expected a finite number"):
            finite_number()(wrong, "here")
