"""Names of agents that come with data run nothing: every loader is handed the same exploits."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from genial_env import Rules, play
from genial_env.backends import Backend
from genial_env.cli import app
from genial_env.cli.common import UserError
from genial_env.core import kernel
from genial_env.policies.registry import known_names, make_known_policy
from genial_env.records import Record, to_json_line, truncate
from genial_env.table import PERSON, Table
from tests.paths import ROOT

SMALL = Rules(side=4, colors=4, rack=3)
STRANGE = "tests.strange_agents:make"
NUMPY = Backend("numpy")


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is there after any of the exploits has run."""
    trap = tmp_path / "ran"
    (tmp_path / "hostile.py").write_text(f"open({str(trap)!r}, 'w')\n")
    monkeypatch.syspath_prepend(tmp_path)
    return trap


def exploits(trap: Path) -> list[str]:
    return [
        f"subprocess:Popen(args='touch {trap}', shell=True)",
        f"os:system(command='touch {trap}')",
        "hostile:make",
        "search(playout='hostile:make')",
        "value(weights='hostile.py')",
        "ppo(weights='/etc/passwd')",
        "search(playouts=2, name='x')",
        "value(weights={})",
        "genial_env.policies.points:PointsPolicy",
    ]


def test_only_known_agents_with_numbers(trap: Path) -> None:
    assert make_known_policy("concave(temperature=5)").name == "concave"
    assert [make_known_policy(name).name for name in known_names()] == known_names()
    for words in [*exploits(trap), "nobody", "", 5, None, ["greedy"], "concave(temperature=-1)", "ppo(" + "(" * 5000]:
        with pytest.raises(ValueError, match="agent"):
            make_known_policy(words)
    assert not trap.exists()


def broken_off(*names: str, rules: Rules = SMALL) -> Record:
    """A game of two that was broken off after its first turn, by these names."""
    record = (play(["greedy"] * 2, rules, games=1, seed=1, record=True).records or [])[0]
    return Record(truncate(record, 2), agents=list(names))


def test_a_game_that_is_resumed(trap: Path, tmp_path: Path) -> None:
    """`genial play --resume`."""
    path = tmp_path / "games.jsonl"
    for words in exploits(trap):
        path.write_text(to_json_line(broken_off(PERSON, words)))
        told = genial("play", "--resume", path)
        assert isinstance(told.exception, UserError)
        assert str(told.exception).startswith(f"{path}: the last game: seat 1: agent ")
        assert not trap.exists()
    path.write_text(to_json_line(broken_off(PERSON, STRANGE)))
    assert "expected one of random, greedy" in str(genial("play", "--resume", path).exception)
    told = genial("play", "--resume", path, "--seats", f"person,{STRANGE}")  # typed by the user
    assert "the game is interrupted" in told.stdout


@pytest.mark.parametrize("command", ["verify", "show", "draw", "review"])
def test_commands_that_read_records(command: str, trap: Path, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    rules = Rules()  # that "value" knows
    path.write_text("".join(to_json_line(broken_off("greedy", words, rules=rules)) for words in exploits(trap)))
    more = {"draw": [tmp_path / "game.svg"], "review": ["--judge", "fast"]}.get(command, [])
    done = genial(command, path, *more)
    assert done.exit_code == 0, done.output
    assert not trap.exists()


def test_a_saved_table(trap: Path) -> None:
    saved = Table(SMALL, [None, "greedy"], seed=0).to_dict()
    for words in exploits(trap):
        with pytest.raises(ValueError, match=r"^seat 1: agent "):
            Table.from_dict(saved | {"players": [None, words]})
        assert not trap.exists()
    again = Table.from_dict(saved, players=[None, "tests.strange_agents:make"])  # named in code
    assert again.record()["agents"] == ["person", "made(0, 1.0)"]


def test_what_a_page_sends(trap: Path, tmp_path: Path) -> None:
    """A new game, a file of records, a record, and files of sessions."""
    from genial_env.web import _game_requests as game_requests
    from genial_env.web import _record_requests as record_requests
    from genial_env.web._request_checks import Refused
    from genial_env.web._session_store import SessionStore
    from genial_env.web._sessions import Session
    from genial_env.web.limits import Limits

    folder, limits = tmp_path / "kept" / "session", Limits()
    folder.mkdir(parents=True)
    nobody = Session("session", SessionStore(None, limits), limits)
    for number, words in enumerate(exploits(trap)):
        with pytest.raises(Refused, match=r"players\[1\]"):
            game_requests.begin_game(nobody, {"rules": SMALL.to_dict(), "players": [None, words], "seed": 1})
        line = to_json_line(broken_off("greedy", words)).encode()
        assert "fault" not in record_requests.summarize_file(line)["games"][0]
        assert record_requests.list_steps(record_requests.parse_record(line))
        table = Table(SMALL, [None, "greedy"], seed=0).to_dict() | {"players": [None, words]}
        (folder / f"{number}.json").write_text(json.dumps({"started": 1.0, "table": table}))
    store = SessionStore(folder.parent, limits)
    found = Session("session", store, limits)
    store.close()
    assert found.games() == []
    assert [fault.message[:14] for fault in found.faults()] == ["seat 1: agent "] * len(exploits(trap))
    assert not trap.exists()


def test_a_tournament_from_its_folder(trap: Path, tmp_path: Path) -> None:
    """What the folder says is data; who names the agents again has typed them."""
    from genial_env.arena import tournament
    from genial_env.arena.store import SETTINGS, Settings, Store

    folder = tmp_path / "t"
    tournament.run(Settings(("greedy", "concave"), SMALL, groups=1), folder, backend=NUMPY)
    kept = json.loads((folder / SETTINGS).read_text())
    tournament.run(Store(folder).settings, folder, backend=NUMPY)
    for words in exploits(trap):
        other = tmp_path / "other"
        other.mkdir(exist_ok=True)
        settings = kept["settings"] | {"agents": ["greedy", words]}
        (other / SETTINGS).write_text(json.dumps(kept | {"settings": settings}))
        assert Store(other).settings.agents == ("greedy", words)
        with pytest.raises(ValueError, match="agent "):
            tournament.run(Store(other).settings, other)
        with pytest.raises(ValueError, match="of a tournament with agents"):
            tournament.run(Settings(("greedy", "concave"), SMALL, groups=1), other)
        assert not trap.exists()
    (other / SETTINGS).write_text(json.dumps(kept | {"settings": kept["settings"] | {"agents": ["greedy", STRANGE]}}))
    tournament.run(Settings(("greedy", STRANGE), SMALL, groups=1), other, backend=NUMPY)


HOSTILE = (
    "open('ran', 'w')\nROSTER = {'nobody': 'agents.nobody:Nobody', 'value': 'agents.nobody:Nobody'}\nLADDER = []\n"
)


def test_a_folder_called_agents_in_the_working_directory(tmp_path: Path) -> None:
    """It is not imported: every named agent is in the package."""
    (tmp_path / "agents").mkdir()
    for name in ("__init__.py", "roster.py", "nobody.py", "value.py"):
        (tmp_path / "agents" / name).write_text(HOSTILE)
    names = "from genial_env.policies.registry import known_names, make_policy; print(known_names())"
    value = "; print(type(make_policy('value')).__module__)"
    code = [sys.executable, "-c", f"import sys; sys.path.insert(0, ''); {names}{value}"]
    done = subprocess.run(code, cwd=tmp_path, env=environment(ROOT), capture_output=True, text=True)
    assert done.stdout.splitlines() == [str(known_names()), "genial_env.policies.value"], done.stderr
    assert not (tmp_path / "ran").exists()


def environment(path: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(path)}


def genial(*words: Any) -> Result:
    """A command, in this process."""
    return CliRunner().invoke(app, [str(word) for word in words])


def test_checkpoints_of_trainers(trap: Path, tmp_path: Path) -> None:
    """Read as weights only: a pickle that runs something is refused, and runs nothing."""
    torch = pytest.importorskip("torch")
    from agents.runs.checkpoints import load_checkpoint

    path = tmp_path / "checkpoint.pt"
    kept = {
        "weights": torch.ones(2),
        "mean": np.float64(0.5),
        "ends": np.bool_(True),
        "arrays": [np.arange(3), np.ones(2, dtype=np.float16)],
        "of": Rules(3),
    }
    torch.save(kept | {"random": np.random.default_rng(7), "state": kernel.deal(SMALL, [5])}, path)
    found = load_checkpoint(path)
    assert found["of"] == Rules(3)
    assert found["random"].integers(2**60) == np.random.default_rng(7).integers(2**60)
    assert all(np.array_equal(one, other) for one, other in zip(found["arrays"], kept["arrays"], strict=True))
    assert np.array_equal(found["state"].racks, kernel.deal(SMALL, [5]).racks)
    torch.save(kept | {"bad": Exploit(f"touch {trap}")}, path)
    for content in (path.read_bytes(), b"", b"nothing"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"checkpoint\.pt: expected a checkpoint of this trainer"):
            load_checkpoint(path)
    assert not trap.exists()


class Exploit:
    """Pickled, a command that unpickling runs."""

    def __init__(self, command: str) -> None:
        self._command = command

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (self._command,)
