"""What a run says while it runs, for terminals and logs alike, and which files it leaves."""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from types import TracebackType

from genial_env._util.files import LOCK_FILES

__all__ = ["INTERVAL_S", "Progress", "list_files", "print_line"]

INTERVAL_S = 10.0
"""Seconds between two lines."""


def print_line(line: str) -> None:
    """Print a line at once, also into a pipe or a file."""
    print(line, flush=True)


class Progress:
    """Prints a line every ten seconds while the block runs, also during long evaluations.

        with Progress(150_000, "decisions") as progress:
            progress.done = 4096
            progress.phase = "evaluation"

    A line has the seconds since the start of the block, what is done, the time left at the speed so far, and the phase.

    Args:
        total: how much is to be done.
        unit: what is counted.
        done: how much was done before.
        interval_s: seconds between two lines.
        write: writes a line.
        clock: returns the time in seconds.
    """

    def __init__(
        self,
        total: int,
        unit: str,
        done: int = 0,
        interval_s: float = INTERVAL_S,
        write: Callable[[str], None] = print_line,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.done, self.phase = done, ""
        self._total, self._unit, self._first = total, unit, done
        self._interval_s, self._write, self._clock, self._began = interval_s, write, clock, clock()
        self._ended = Event()
        self._thread = Thread(target=self._repeat, daemon=True)

    def __enter__(self) -> "Progress":
        self._began = self._clock()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def line(self) -> str:
        """Return the line of this moment."""
        seconds, done = self._clock() - self._began, min(self.done, self._total)
        share = done / self._total if self._total else 1.0
        text = f"{seconds:6.0f} s  {done:,} of {self._total:,} {self._unit} ({share:.0%})"
        if self._first < done < self._total:
            left = seconds * (self._total - done) / (done - self._first)
            text += f", about {left:,.0f} s left"
        return f"{text}, {self.phase}" if self.phase else text

    def _repeat(self) -> None:
        while not self._ended.wait(self._interval_s):
            self._write(self.line())


def list_files(folder: Path) -> str:
    """Return the files in a folder and below it with their sizes, one a line, after a line with the folder's name."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in LOCK_FILES)
    lines = [f"  {path.relative_to(folder).as_posix()} ({path.stat().st_size:,} bytes)" for path in files]
    return "\n".join([f"Files in {folder}:", *lines])
