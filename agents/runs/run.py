"""The folder of a training run, the same for all trainers.

===============  =====================================================================================================
`run.json`       trainer, command, arguments, seed; start and end; totals (wall and CPU seconds, moves, games, ...);
                 and `sessions`: code, libraries and machine of each session (genial_env.arena.provenance). A run that
                 is interrupted and resumed has several sessions.
`config.yaml`    the options, for ``--config`` (agents/runs/config.py)
`curve.jsonl`    one line per evaluation: ``wall_s``, ``cpu_s``, ``moves``, ``games``, ``against`` (by opponent the
                 fields of :class:`~agents.runs.evaluation.Measured`), and further numbers of the trainer
===============  =====================================================================================================

A trainer stores ``run.get_state()`` in its checkpoints and passes it to ``run.set_state()`` when it resumes. The clocks
then continue from there. Lines that were written after the checkpoint are removed, because they will be written again.
"""

import dataclasses
import errno
import json
import math
import re
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agents.runs.config import CONFIG, write_config
from agents.runs.evaluation import Measured
from genial_env._util.files import append_lines, lock_folder, write_text
from genial_env._util.strict_json import numbered_lines, parse_object, read_object
from genial_env._util.validators import (
    OBJECT,
    STRING,
    any_value,
    finite_number,
    integer,
    json_object,
    list_of,
    mapping_of,
    optional,
)
from genial_env.arena.provenance import PROVENANCE, provenance
from genial_env.backends import current

__all__ = ["CURVE", "LINE", "ROOT", "RUN", "Kept", "Run", "make_command", "make_portable", "open_run", "read_runs"]

ROOT = Path(__file__).parents[2]
RUN, CURVE = "run.json", "curve.jsonl"

_ABSOLUTE = re.compile(r"""(?<![\w./:])/(?:[^\s'"=,:()/]+/)*([^\s'"=,:()/]+)""")
"""An absolute path anywhere in a text, but not a URL."""


LINE = json_object(
    wall_s=finite_number(0),
    cpu_s=finite_number(0),
    moves=integer(),
    games=integer(),
    against=mapping_of(json_object(games=integer(1), mean=finite_number(), half=finite_number(0))),
    others=any_value,
)
"""A line of `curve.jsonl`."""

ABOUT = json_object(
    trainer=STRING,
    seed=integer(),
    started=STRING,
    sessions=list_of(PROVENANCE),
    command=list_of(STRING),
    arguments=OBJECT,
    finished=optional(STRING),
    totals=mapping_of(finite_number()),
)
"""The contents of `run.json`."""


class Run:
    """The folder of one run, and its clocks.

    If the folder holds a run already, that run is resumed, and the trainer calls :meth:`set_state`. A run that ended
    before its first evaluation and checkpoint is replaced instead. Trainers call :func:`open_run`, which locks the
    folder.

    Args:
        folder: the folder; created if it does not exist.
        trainer: the name of the trainer, for example "ppo".
        arguments: the arguments of the command line, a dataclass with the field `seed`.
        may_change: names of arguments that may differ when a run is resumed, for example the number of threads.

    Raises:
        FileExistsError: if the folder holds a run of another trainer or with other arguments.
        ValueError: if an argument is infinite or NaN; then the folder stays as it was.
    """

    def __init__(self, folder: Path, trainer: str, arguments: Any, may_change: tuple[str, ...] = ()) -> None:
        self.folder = folder
        as_json = _to_json(arguments)
        path = folder / RUN
        found = ABOUT(read_object(path), str(path)) if path.exists() else None
        self.is_resumed = found is not None and _has_begun(folder, found)
        """Whether the folder held a run with results already."""
        if found is not None and self.is_resumed:
            _check_same(path, found, trainer, as_json, may_change)
            self._about = found
        else:
            folder.mkdir(parents=True, exist_ok=True)
            self._about = {"trainer": trainer, "seed": as_json["seed"], "started": _now(), "sessions": []}
        self._about |= {"command": sys.orig_argv, "arguments": as_json, "finished": None, "totals": {}}
        self._about["sessions"].append(provenance(current()))
        self._wall_s, self._cpu_s, self._lines = 0.0, 0.0, 0
        self._began_wall, self._began_cpu = time.perf_counter(), time.process_time()
        write_config(folder / CONFIG, arguments)
        self._write()

    @property
    def command(self) -> str:
        """The command that repeats the run, without paths of this machine; see :func:`make_command`."""
        return make_command(self._about["command"])

    @property
    def wall_s(self) -> float:
        """Wall time in seconds, over all sessions."""
        return self._wall_s + time.perf_counter() - self._began_wall

    @property
    def cpu_s(self) -> float:
        """CPU time in seconds, over all sessions, including what :meth:`add_cpu` added."""
        return self._cpu_s + time.process_time() - self._began_cpu

    def add_cpu(self, seconds: float) -> None:
        """Add CPU time of another process in place."""
        self._cpu_s += seconds

    def add_evaluation(self, moves: int, games: int, against: Mapping[str, Measured], **more: Any) -> dict[str, Any]:
        """Append a line to the learning curve and return it.

        Args:
            moves: number of decisions trained on so far.
            games: number of games trained on so far.
            against: the results of the evaluation by opponent.
            more: further numbers.
        """
        line = {
            "wall_s": round(self.wall_s, 2),
            "cpu_s": round(self.cpu_s, 2),
            "moves": moves,
            "games": games,
            "against": {name: dataclasses.asdict(found) for name, found in against.items()},
            **{name: _finite(value) for name, value in more.items()},
        }
        append_lines(self.folder / CURVE, [json.dumps(line) + "\n"])
        self._lines += 1
        self._about["totals"] = {name: line[name] for name in ("wall_s", "cpu_s", "moves", "games")}
        self._write()
        return line

    def get_state(self) -> dict[str, Any]:
        """Return clocks and length of the learning curve, for a checkpoint."""
        return {"wall_s": self.wall_s, "cpu_s": self.cpu_s, "lines": self._lines}

    def set_state(self, saved: Mapping[str, Any] | None) -> None:
        """Restore in place what :meth:`get_state` returned; None (no checkpoint) starts from the beginning."""
        saved = {"wall_s": 0.0, "cpu_s": 0.0, "lines": 0} if saved is None else saved
        self._wall_s, self._cpu_s, self._lines = saved["wall_s"], saved["cpu_s"], saved["lines"]
        self._began_wall, self._began_cpu = time.perf_counter(), time.process_time()
        path = self.folder / CURVE
        if path.exists():
            kept = path.read_text(encoding="utf-8").splitlines(keepends=True)[: self._lines]
            write_text(path, "".join(kept))

    def finish(self, moves: int, games: int, **scalars: float) -> None:
        """Mark the run as finished in place, with its totals."""
        clocks = {"wall_s": round(self.wall_s, 2), "cpu_s": round(self.cpu_s, 2)}
        self._about |= {"finished": _now(), "totals": clocks | {"moves": moves, "games": games} | scalars}
        self._write()

    def _write(self) -> None:
        write_text(self.folder / RUN, json.dumps(self._about, indent=2, allow_nan=False) + "\n")


@contextmanager
def open_run(folder: Path, trainer: str, arguments: Any, may_change: tuple[str, ...] = ()) -> Iterator[Run]:
    """Open a :class:`Run` and lock its folder until the end of the block.

    Raises:
        FolderInUse: if another process trains in the folder, which then stays as it was.
        FileExistsError: see :class:`Run`.
    """
    with lock_folder(folder):
        yield Run(folder, trainer, arguments, may_change)


@dataclass(frozen=True)
class Kept:
    """A run read from disk: its folder, `run.json`, and the lines of `curve.jsonl`."""

    folder: Path
    about: dict[str, Any]
    curve: list[dict[str, Any]]


def make_command(arguments: Sequence[str]) -> str:
    """Return a command line that works on another machine.

    The interpreter becomes "python", and other paths are changed by :func:`make_portable`. The option `--out` is
    dropped if its folder is outside the repository.

    Args:
        arguments: the words of the command line, as in `sys.orig_argv`.
    """
    found, left = ["python"], iter(arguments[1:])
    for word in left:
        option, equals, value = word.partition("=")
        if option != "--out":
            found.append(make_portable(word))
            continue
        folder = (value if equals else next(left)).removeprefix(f"{ROOT}/")
        if not Path(folder).is_absolute():
            found += ["--out", folder]
    return shlex.join(found)


def make_portable(value: Any) -> Any:
    """Remove absolute paths from a JSON value.

    Paths in the repository become relative to it. Of other paths only the file name is left.
    """
    if isinstance(value, dict):
        return {name: make_portable(each) for name, each in value.items()}
    if isinstance(value, list):
        return [make_portable(each) for each in value]
    return _ABSOLUTE.sub(r"\1", value.replace(f"{ROOT}/", "")) if isinstance(value, str) else value


def read_runs(folder: Path) -> list[Kept]:
    """Read all runs in a folder and the folders below it, sorted by path.

    Raises:
        ValueError: if a file is not the file of a run; the message says what was expected and found.
    """
    return [_read_run(path.parent) for path in sorted(folder.rglob(RUN))]


def _read_run(folder: Path) -> Kept:
    path, curve = folder / RUN, folder / CURVE
    about = ABOUT(read_object(path), str(path))
    lines = numbered_lines(curve, whole=True) if curve.exists() else ()
    return Kept(folder, about, [LINE(parse_object(text, f"{curve}:{n}"), f"{curve}:{n}") for n, text in lines])


def _has_begun(folder: Path, about: dict[str, Any]) -> bool:
    """Return whether a run has results: an evaluation, a checkpoint or an end."""
    curve = folder / CURVE
    has_line = curve.exists() and curve.stat().st_size > 0
    return has_line or any(folder.glob("checkpoint*")) or about["finished"] is not None


def _check_same(
    path: Path, about: dict[str, Any], trainer: str, arguments: dict[str, Any], may_change: tuple[str, ...]
) -> None:
    if about["trainer"] != trainer:
        raise _is_of_another_run(path, f"trainer {about['trainer']!r}", repr(trainer))
    for name in sorted((arguments.keys() | about["arguments"].keys()) - set(may_change)):
        found, wanted = about["arguments"].get(name), arguments.get(name)
        if found != wanted:
            raise _is_of_another_run(path, f"{name} {found!r}", repr(wanted))


def _is_of_another_run(path: Path, found: str, wanted: str) -> FileExistsError:
    """Return the error for a folder that holds a run with other options."""
    return FileExistsError(errno.EEXIST, f"a run with {found}, not {wanted}: choose another folder", str(path))


def _to_json(arguments: Any) -> dict[str, Any]:
    """Convert a dataclass to what JSON reads back."""
    converted: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(arguments), default=str, allow_nan=False))
    return converted


def _finite(value: Any) -> Any:
    """Replace NaN and infinity, which JSON lacks, by None."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
