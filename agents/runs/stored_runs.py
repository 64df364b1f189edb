"""Finished training runs as they are stored in `docs/training`: one small JSON file per run, without weights.

A run is stored under the label of its group. The runs of a group differ in their seeds only. Tables and pictures show
the label, for example "value" or "value, no past selves".
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from agents.runs.run import LINE, ROOT, Kept, make_command, make_portable
from genial_env import Rules
from genial_env._util.files import write_text
from genial_env._util.strict_json import read_object
from genial_env._util.validators import OBJECT, STRING, finite_number, integer, json_object, list_of
from genial_env.arena.provenance import PROVENANCE

__all__ = ["FOLDER", "Stored", "group_runs", "make_slug", "make_stored", "read", "store"]

FOLDER = ROOT / "docs" / "training"

RULES_ARGUMENTS = ("players", "edition", "mode", "side", "colors", "rack")
"""Arguments of trainers that define the rules. Missing ones, and those that are None, are as in the printed game."""

MAY_DIFFER = ("seed", "out", "threads", "actors", "ray", "backend", "device")
"""Arguments in which the runs of a group may differ: the seed, and where and on which resources they ran."""


@dataclass(frozen=True)
class Stored:
    """A finished run.

    Attributes:
        label: the label of its group.
        trainer: the name of the trainer.
        seed: the seed.
        command: the command that repeats the run, without paths of the machine that made it.
        arguments: the arguments of the trainer.
        started: date and time of the start.
        finished: date and time of the end.
        sessions: code, libraries and machine of each session, as in genial_env.arena.provenance.
        totals: wall and CPU seconds, moves, games, and further numbers of the trainer.
        curve: the evaluations, as :meth:`agents.runs.run.Run.add_evaluation` writes them.
    """

    label: str
    trainer: str
    seed: int
    command: str
    arguments: dict[str, Any]
    started: str
    finished: str
    sessions: list[dict[str, Any]]
    totals: dict[str, float]
    curve: list[dict[str, Any]]

    @property
    def rules(self) -> Rules:
        """The rules of the games."""
        return Rules(**{name: self.arguments[name] for name in RULES_ARGUMENTS if self.arguments.get(name) is not None})

    @property
    def file(self) -> str:
        """The name of the run's file."""
        return f"{make_slug(self.label)}-{self.seed}.json"

    @property
    def opponents(self) -> tuple[str, ...]:
        """The opponents of all evaluations."""
        return tuple(dict.fromkeys(name for line in self.curve for name in line["against"]))


def make_slug(text: str) -> str:
    """Convert a text to a file name of lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def make_stored(kept: Kept, label: str) -> Stored:
    """Convert a run from its folder to what is stored.

    Raises:
        ValueError: if the run is not finished or has no evaluations.
    """
    about = kept.about
    if about["finished"] is None:
        raise ValueError(f"the run in {kept.folder} is not finished: only finished runs are stored")
    if not kept.curve:
        raise ValueError(f"the run in {kept.folder} has no evaluations: there is nothing to store")
    arguments = {name: value for name, value in make_portable(about["arguments"]).items() if name != "out"}
    return Stored(
        label,
        about["trainer"],
        about["seed"],
        make_command(about["command"]),
        arguments,
        about["started"],
        about["finished"],
        about["sessions"],
        about["totals"],
        kept.curve,
    )


def store(runs: Sequence[Stored], folder: Path, replace: bool = False) -> list[Path]:
    """Write runs to their files: all of them, or none if one of them is refused.

    Args:
        runs: the runs.
        folder: the folder of stored runs.
        replace: whether existing files are replaced.

    Returns:
        The paths of the files.

    Raises:
        FileExistsError: if a file exists and `replace` is False.
        ValueError: if a run does not fit into its group, see :func:`group_runs`.
    """
    paths = [folder / run.file for run in runs]
    for path in paths:
        if path.exists() and not replace:
            raise FileExistsError(f"{path} exists already: --replace replaces it")
    others = [run for run in read(folder) if folder / run.file not in paths]
    group_runs([*others, *runs])
    folder.mkdir(parents=True, exist_ok=True)
    for path, run in zip(paths, runs, strict=True):
        write_text(path, _text(run))
    return paths


def read(folder: Path) -> list[Stored]:
    """Read all stored runs, sorted by file name.

    Raises:
        ValueError: if a file is not a stored run; the message says what was expected and found.
    """
    return [_read(path) for path in sorted(folder.glob("*.json"))]


def _read(path: Path) -> Stored:
    run = Stored(**_STORED(read_object(path), str(path)))
    try:
        _ = run.rules
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: arguments: expected rules that can be played ({error})") from error
    return run


_STORED = json_object(
    label=STRING,
    trainer=STRING,
    seed=integer(),
    command=STRING,
    arguments=OBJECT,
    started=STRING,
    finished=STRING,
    sessions=list_of(PROVENANCE, min_length=1),
    totals=json_object(moves=integer(), wall_s=finite_number(0), cpu_s=finite_number(0), others=finite_number()),
    curve=list_of(LINE, min_length=1),
)


def group_runs(runs: Iterable[Stored]) -> dict[str, list[Stored]]:
    """Group runs by label, sorted by label and then by seed.

    Raises:
        ValueError: if two runs of a group have the same seed, or differ in anything else than :data:`MAY_DIFFER`.
    """
    ordered = sorted(runs, key=lambda run: (run.label, run.seed))
    groups = {label: list(found) for label, found in groupby(ordered, key=lambda run: run.label)}
    for found in groups.values():
        for one, other in pairwise(found):
            _check_same(one, other)
    return groups


def _check_same(one: Stored, other: Stored) -> None:
    if one.seed == other.seed:
        raise ValueError(f"group {one.label!r} has two runs with seed {one.seed}: seeds must differ")
    if one.trainer != other.trainer:
        raise ValueError(f"group {one.label!r} has runs of the trainers {one.trainer!r} and {other.trainer!r}")
    for name in sorted((one.arguments.keys() | other.arguments.keys()) - set(MAY_DIFFER)):
        first, second = one.arguments.get(name), other.arguments.get(name)
        if first != second:
            seeds = f"seed {one.seed} has {name} {first!r}, seed {other.seed} {second!r}"
            raise ValueError(f"the runs of group {one.label!r} must differ in their seeds only, but {seeds}")


def _text(run: Stored) -> str:
    """Format a run as JSON with one line per evaluation, so that files are small and diffs readable."""
    fields = asdict(run)
    lines = ",\n".join(json.dumps(line) for line in fields.pop("curve"))
    head = [f"{json.dumps(name)}: {json.dumps(value)},\n" for name, value in fields.items()]
    return "{\n" + "".join(head) + f'"curve": [\n{lines}\n]\n}}\n'
