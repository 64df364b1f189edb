"""Programs end with one line, leave no process and no part of a file behind; folders have one writer."""

import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from genial_env._util import shutdown
from genial_env._util.files import LOCK, FolderInUse, lock_folder
from genial_env._util.shutdown import Terminated, handle_signals, signals_raise
from tests.cli.test_cli import ROOT
from tests.positions import every

LONG = 120.0
"""Seconds that nothing here takes, however busy the machine is."""


# In this process


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_ends_a_program_in_order(name: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    number, before, cleaned = getattr(signal, name), signal.getsignal(getattr(signal, name)), []

    def stand_still() -> Iterator[int]:
        try:
            yield 1
        finally:
            cleaned.append(True)

    def work() -> None:
        generator = stand_still()
        next(generator)
        try:
            signal.raise_signal(number)
        finally:
            signal.raise_signal(number)  # a second one does not disturb the cleaning up

    with pytest.raises(SystemExit) as ended, handle_signals("program"):
        work()
    assert ended.value.code == status
    assert cleaned == [True]
    assert capsys.readouterr().err == f"program: ended by {name}\n"
    assert signal.getsignal(number) is before


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="such signals are of POSIX")
def test_a_signal_interrupts_a_call_that_blocks_whenever_it_comes() -> None:
    """Another thread gets it, so that nothing interrupts the call: as if it came just before the call."""
    reading, writing = os.pipe()
    blocks = threading.Event()

    def send() -> None:
        blocks.wait()
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    def block() -> None:
        blocks.set()
        os.read(reading, 1)

    thread = threading.Thread(target=send)
    thread.start()
    with pytest.raises(Terminated), signals_raise(Terminated):
        block()
    thread.join()
    os.close(reading)
    os.close(writing)
    assert signal.set_wakeup_fd(-1) == -1


def test_ctrl_c_of_others_and_errors_of_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended, handle_signals("program"):
        raise KeyboardInterrupt
    assert ended.value.code == 130
    with pytest.raises(SystemExit) as ended, handle_signals("program"):
        (tmp_path / "no" / "folder").write_text("")
    assert ended.value.code == 1
    with lock_folder(tmp_path), pytest.raises(SystemExit) as ended, handle_signals("program"), lock_folder(tmp_path):
        pass
    assert ended.value.code == 1
    interrupted, missing, locked = capsys.readouterr().err.splitlines()
    assert interrupted == "program: ended by SIGINT"
    assert missing == f"program: {tmp_path}/no/folder: No such file or directory"
    assert f"{tmp_path}: Another process is writing there (process {os.getpid()} on" in locked


def test_what_is_not_to_be_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal that is ignored stays so; other threads leave signals alone; other errors are shown as they are."""
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with handle_signals("program"):
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    found: list[object] = []

    def in_thread() -> None:
        with handle_signals("program"):
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    assert found == [before]
    with pytest.raises(ValueError, match="a fault"), handle_signals("program"):
        raise ValueError("a fault")
    assert not issubclass(Terminated, Exception)
    assert shutdown.describe_os_error(OSError("no number")) == "no number"


# Whole programs

linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes where Linux tells of them")


class Program:
    """A program in a session of its own, so that a signal can reach all its processes as Ctrl-C does."""

    def __init__(self, *words: object) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes():
            os.kill(process, signal.SIGKILL)
        self._process.communicate()

    def processes(self) -> list[int]:
        """The living processes of the session."""
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    state, _, _, session = (folder / "stat").read_text().rpartition(") ")[2].split()[:4]
                except OSError:  # it has ended meanwhile
                    continue
                if int(session) == self._process.pid and state != "Z":
                    found.append(int(folder.name))
        return found

    def wait_until(self, true: Callable[[], bool]) -> None:
        """Wait for something that the program does."""
        deadline = time.monotonic() + LONG
        while not true():
            assert self._process.poll() is None, self._process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def end(self, number: int, *, all_of_it: bool = False) -> tuple[int, str]:
        """Send a signal, to the first process or as a terminal does; the exit status and what was said, when no process
        is left.
        """
        if all_of_it:
            os.killpg(self._process.pid, number)
        else:
            os.kill(self._process.pid, number)
        status = self._process.wait(LONG)
        deadline = time.monotonic() + LONG
        while self.processes():
            assert time.monotonic() < deadline, self.processes()
            time.sleep(0.02)
        return status, self._process.communicate()[1]


@linux
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_simulate_leaves_no_part_of_a_file(number: int, status: int, tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    out.write_text("old")
    words = ("-m", "genial_env", "simulate", "--games", 10**7, "--batch", 16, "--out", out)
    with Program(*words) as program:
        program.wait_until(lambda: any(path.stat().st_size for path in tmp_path.glob(".games*")))
        assert program.end(number) == (status, f"genial: ended by {signal.Signals(number).name}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]
    assert out.read_text() == "old"


@linux
@every("name", ["SIGTERM", "SIGINT", "SIGKILL"], ["SIGKILL"])
def test_a_tournament_leaves_no_process(name: str, tmp_path: Path) -> None:
    """Neither workers nor their trackers nor an agent's own process, whatever ends it; games are kept."""
    number = getattr(signal, name)
    agents = "random,tests.strange_agents:make"
    words = ("-m", "genial_env", "tournament", tmp_path / "t", "--agents", agents, "--groups", 10**5, "--workers", 2)
    with Program(*words, "--backend", "numpy") as program:
        games = tmp_path / "t" / "games.jsonl"
        program.wait_until(lambda: games.exists() and games.stat().st_size > 0)
        assert len(program.processes()) >= 5
        status, said = program.end(number, all_of_it=number == signal.SIGINT)
    if name == "SIGKILL":
        assert status == -signal.SIGKILL
    else:
        assert (status, said) == (128 + number, f"genial: ended by {signal.Signals(number).name}\n")
    with lock_folder(tmp_path / "t"):
        pass


LEARNER = """
import time
from agents.value.actors import Actors
from genial_env._util.shutdown import handle_signals

with handle_signals("learner"), Actors(time.sleep, 2, "numpy") as actors:
    for _ in range(2):
        actors.submit(3600)
    actors.take_result()
"""


@linux
def test_actors_end_with_their_learner() -> None:
    """By Ctrl-C, which reaches them too; a kill of the learner is in tests/agents/value/test_learner.py."""
    with Program("-c", LEARNER) as program:
        program.wait_until(lambda: len(program.processes()) >= 4)  # the learner, a tracker, two actors
        assert program.end(signal.SIGINT, all_of_it=True) == (130, "learner: ended by SIGINT\n")


def programs() -> list[Path]:
    return [path for path in sorted((ROOT / "experiments").glob("*.py")) if "__main__" in path.read_text()]


@pytest.mark.parametrize("path", programs(), ids=lambda path: path.stem)
def test_every_experiment_ends_in_order(path: Path) -> None:
    """Those that are a command of `genial` end as it does."""
    text = path.read_text()
    assert f'with handle_signals("{path.stem}"):' in text or "cli.main()" in text


# One trainer a folder


@pytest.mark.parametrize("name", ["train_value", "train_ppo", "distill", "quickstart"])
def test_a_second_trainer_in_a_folder_is_refused(name: str, tmp_path: Path) -> None:
    pytest.importorskip("tyro", reason="needs the extra train")
    pytest.importorskip("torch", reason="needs the extra train")
    trainer = importlib.import_module(f"experiments.{name}")
    (tmp_path / "run.json").write_text("of another")
    with lock_folder(tmp_path), pytest.raises(FolderInUse, match=f"process {os.getpid()} on"):
        trainer.main(trainer.Args(out=tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {"run.json", LOCK}
    assert (tmp_path / "run.json").read_text() == "of another"


def test_a_model_is_replaced_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that gets full leaves the model that was there."""
    pytest.importorskip("sb3_contrib", reason="needs the extra train")
    from sb3_contrib import MaskablePPO

    from agents.ppo.masked import AtomicSaveMaskablePPO

    def save_half(self: object, path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device", str(path))

    (tmp_path / "model.zip").write_bytes(b"old")
    monkeypatch.setattr(MaskablePPO, "save", save_half)
    for name in ("model", "model.zip"):  # callbacks leave out what SB3 adds
        with pytest.raises(OSError, match="No space left"):
            AtomicSaveMaskablePPO.__new__(AtomicSaveMaskablePPO).save(tmp_path / name)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("model.zip", b"old")]
