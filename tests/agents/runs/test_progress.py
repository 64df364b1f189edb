"""Progress lines of runs, and the list of the files that a run leaves."""

from pathlib import Path
from threading import Event

from agents.runs.progress import Progress, list_files
from tests.conftest import GUARD


def test_lines() -> None:
    now = [100.0]
    progress = Progress(2000, "games", done=1000, clock=lambda: now[0])
    assert progress.line() == "     0 s  1,000 of 2,000 games (50%)"
    now[0] += 30
    progress.done, progress.phase = 1300, "evaluation"
    assert progress.line() == "    30 s  1,300 of 2,000 games (65%), about 70 s left, evaluation"
    progress.done, progress.phase = 2010, ""
    assert progress.line() == "    30 s  2,000 of 2,000 games (100%)"


def test_a_run_in_which_nothing_is_left_to_do() -> None:
    assert Progress(0, "decisions", clock=lambda: 5.0).line() == "     0 s  0 of 0 decisions (100%)"


def test_lines_are_written_until_the_block_ends() -> None:
    lines: list[str] = []
    written = Event()

    def write(line: str) -> None:
        lines.append(line)
        written.set()

    with Progress(10, "steps", interval_s=0.001, write=write) as progress:
        progress.done = 5
        assert written.wait(GUARD)
    assert " of 10 steps" in lines[0]
    assert not progress._thread.is_alive()


def test_files(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "events").write_text("12345")
    (tmp_path / "model.zip").write_text("1")
    (tmp_path / ".lock").write_text("")
    assert list_files(tmp_path) == f"Files in {tmp_path}:\n  logs/events (5 bytes)\n  model.zip (1 bytes)"
