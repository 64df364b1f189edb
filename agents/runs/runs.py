"""How a training run is kept on disk, the same for all trainers.

===============  =====================================================================================================
`run.json`       trainer, command, arguments, seed; when it started and whether it is finished; its totals (wall and
                 CPU seconds, moves, games, ...); and what it was made by and on (genial_env.arena.provenance), once
                 for each sitting, as a run that was broken off goes on in another
`curve.jsonl`    a line an evaluation: ``wall_s``, ``cpu_s``, ``moves``, ``games``, ``against`` (by opponent the games,
                 mean and half interval of :class:`~agents.runs.evaluation.Measured`), and what else the trainer tells
===============  =====================================================================================================

A trainer keeps ``run.saved()`` in its checkpoints and, when it goes on from one, gives it to ``run.restore()``: the
clocks go on from there, and lines that were written after the checkpoint, and so will be written again, are cut off.
"""

import dataclasses
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

from agents.runs.evaluation import Measured
from genial_env._util.files import append_lines, lock_folder, write_json, write_text
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
from genial_env.arena.provenance import SITTING, provenance
from genial_env.backends import current

ROOT = Path(__file__).parents[2]
RUN, CURVE = "run.json", "curve.jsonl"

_ABSOLUTE = re.compile(r"""(?<![\w./:])/(?:[^\s'"=,:()/]+/)*([^\s'"=,:()/]+)""")
"""A path from the root of the file system, wherever it stands among words; not an address."""


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
    sittings=list_of(SITTING),
    command=list_of(STRING),
    arguments=OBJECT,
    finished=optional(STRING),
    totals=mapping_of(finite_number()),
)
"""What `run.json` holds."""


class Run:
    """The folder of one run, and its clocks.

    A folder without a run gets one; in a folder with one it goes on, to which the trainer calls :meth:`restore`.
    Trainers take :func:`running`, which locks the folder.

    Args:
        folder: made where there is none.
        trainer: its name, for example "ppo".
        arguments: of the command line, a dataclass with the field `seed`.
        may_change: arguments that may be others than when the run began, for example how long it is to be.

    Raises:
        ValueError: for a folder with a run of another trainer or with other arguments, saying which.
    """

    def __init__(self, folder: Path, trainer: str, arguments: Any, may_change: tuple[str, ...] = ()) -> None:
        self.folder = folder
        words = _words(arguments)
        path = folder / RUN
        self.goes_on = path.exists()
        """Whether the folder held a run already."""
        if self.goes_on:
            self._about = ABOUT(read_object(path), str(path))
            _check_same(path, self._about, trainer, words, may_change)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            self._about = {"trainer": trainer, "seed": words["seed"], "started": _now(), "sittings": []}
        self._about |= {"command": sys.orig_argv, "arguments": words, "finished": None, "totals": {}}
        self._about["sittings"].append(provenance(current()))
        self._wall_s, self._cpu_s, self._lines = 0.0, 0.0, 0
        self._began_wall, self._began_cpu = time.perf_counter(), time.process_time()
        self._write()

    @property
    def command(self) -> str:
        """To make the run again, without paths of this machine: see :func:`command_of`."""
        return command_of(self._about["command"])

    @property
    def wall_s(self) -> float:
        """Seconds by the clock that the run has taken, over all its sittings."""
        return self._wall_s + time.perf_counter() - self._began_wall

    @property
    def cpu_s(self) -> float:
        """Seconds of CPU that it has taken, those of others included that :meth:`add_cpu` was told of."""
        return self._cpu_s + time.process_time() - self._began_cpu

    def add_cpu(self, seconds: float) -> None:
        """In place: count what another process has worked for the run."""
        self._cpu_s += seconds

    def add(self, moves: int, games: int, against: Mapping[str, Measured], **more: Any) -> dict[str, Any]:
        """In place: write a line of the curve; gives it back.

        Args:
            moves: decisions trained on so far.
            games: games trained on so far.
            against: what an evaluation found, by opponent.
            more: what else is to be kept of this moment.
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

    def saved(self) -> dict[str, Any]:
        """Where the run stands, for a checkpoint."""
        return {"wall_s": self.wall_s, "cpu_s": self.cpu_s, "lines": self._lines}

    def restore(self, saved: Mapping[str, Any] | None) -> None:
        """In place: go back to what :meth:`saved` gave, or (None: there is no checkpoint) to the beginning."""
        saved = {"wall_s": 0.0, "cpu_s": 0.0, "lines": 0} if saved is None else saved
        self._wall_s, self._cpu_s, self._lines = saved["wall_s"], saved["cpu_s"], saved["lines"]
        self._began_wall, self._began_cpu = time.perf_counter(), time.process_time()
        path = self.folder / CURVE
        if path.exists():
            kept = path.read_text(encoding="utf-8").splitlines(keepends=True)[: self._lines]
            write_text(path, "".join(kept))

    def finish(self, moves: int, games: int, **scalars: float) -> None:
        """In place: the run is finished, and these are its totals."""
        clocks = {"wall_s": round(self.wall_s, 2), "cpu_s": round(self.cpu_s, 2)}
        self._about |= {"finished": _now(), "totals": clocks | {"moves": moves, "games": games} | scalars}
        self._write()

    def _write(self) -> None:
        write_json(self.folder / RUN, self._about)


@contextmanager
def running(folder: Path, trainer: str, arguments: Any, may_change: tuple[str, ...] = ()) -> Iterator[Run]:
    """Give a :class:`Run`, and let nobody else write in its folder until the end of the block.

    Raises:
        FolderInUse: if another process trains there; the folder is as it was.
        ValueError: see :class:`Run`.
    """
    with lock_folder(folder):
        yield Run(folder, trainer, arguments, may_change)


@dataclass(frozen=True)
class Kept:
    """A run as it was read from disk: its folder, `run.json`, and the lines of `curve.jsonl`."""

    folder: Path
    about: dict[str, Any]
    curve: list[dict[str, Any]]


def command_of(words: Sequence[str]) -> str:
    """A command line as it can be given on another machine.

    The interpreter is "python", other paths are as :func:`portable` says, and `--out` with a folder outside the
    repository is left out.

    Args:
        words: as `sys.orig_argv` has them.
    """
    found, left = ["python"], iter(words[1:])
    for word in left:
        option, equals, value = word.partition("=")
        if option != "--out":
            found.append(portable(word))
            continue
        folder = (value if equals else next(left)).removeprefix(f"{ROOT}/")
        if not Path(folder).is_absolute():
            found += ["--out", folder]
    return shlex.join(found)


def portable(value: Any) -> Any:
    """What JSON can say, without absolute paths: those in the repository begin there, of others the name is left."""
    if isinstance(value, dict):
        return {name: portable(each) for name, each in value.items()}
    if isinstance(value, list):
        return [portable(each) for each in value]
    return _ABSOLUTE.sub(r"\1", value.replace(f"{ROOT}/", "")) if isinstance(value, str) else value


def read_runs(folder: Path) -> list[Kept]:
    """All runs in a folder and the folders below it, in the order of their paths.

    Raises:
        ValueError: for a file that is none of a run, saying where, what was expected and what was found.
    """
    return [_read_run(path.parent) for path in sorted(folder.rglob(RUN))]


def _read_run(folder: Path) -> Kept:
    path, curve = folder / RUN, folder / CURVE
    about = ABOUT(read_object(path), str(path))
    lines = numbered_lines(curve, whole=True) if curve.exists() else ()
    return Kept(folder, about, [LINE(parse_object(text, f"{curve}:{n}"), f"{curve}:{n}") for n, text in lines])


def _check_same(
    path: Path, about: dict[str, Any], trainer: str, words: dict[str, Any], may_change: tuple[str, ...]
) -> None:
    if about["trainer"] != trainer:
        raise ValueError(f"{path} is of trainer {about['trainer']!r}, not {trainer!r}: take another folder")
    for name in sorted((words.keys() | about["arguments"].keys()) - set(may_change)):
        found, wanted = about["arguments"].get(name), words.get(name)
        if found != wanted:
            raise ValueError(f"{path} is of a run with {name} {found!r}, not {wanted!r}: take another folder")


def _words(arguments: Any) -> dict[str, Any]:
    """A dataclass as JSON gives it back."""
    words: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(arguments), default=str))
    return words


def _finite(value: Any) -> Any:
    """A number for JSON, which knows no NaN and no infinity: null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
