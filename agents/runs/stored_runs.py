"""What finished training runs have to say, as it is kept in `docs/training`: a small JSON file a run, without weights.

A run is stored under the label of its group: the runs of a group do the same with different seeds, and the label is
what tables and pictures call it ("value", "value, no past selves").
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from agents.runs.runs import LINE, ROOT, Kept, command_of, portable
from genial_env import Rules
from genial_env._util.files import write_text
from genial_env._util.strict_json import read_object
from genial_env._util.validators import OBJECT, STRING, finite_number, integer, json_object, list_of
from genial_env.arena.provenance import SITTING

FOLDER = ROOT / "docs" / "training"

OF_RULES = ("players", "edition", "mode", "side", "colors", "rack")
"""Arguments of trainers that say what is played; what a trainer does not have, or has as None, is as printed."""

MAY_DIFFER = ("seed", "out", "threads", "actors", "ray", "backend", "device")
"""Arguments in which the runs of a group may differ: the seed, and where and on how much of a machine they run."""


@dataclass(frozen=True)
class Stored:
    """A finished run.

    Attributes:
        label: of its group.
        trainer: its name.
        seed: of the run.
        command: to make it again, without paths of the machine that made it.
        arguments: of the trainer.
        started: when.
        finished: when.
        sittings: what it was made by and on, as genial_env.arena.provenance says it.
        totals: wall and CPU seconds, moves, games, and what else the trainer counts.
        curve: its evaluations, as :meth:`agents.runs.runs.Run.add` writes them.
    """

    label: str
    trainer: str
    seed: int
    command: str
    arguments: dict[str, Any]
    started: str
    finished: str
    sittings: list[dict[str, Any]]
    totals: dict[str, float]
    curve: list[dict[str, Any]]

    @property
    def rules(self) -> Rules:
        """What was played."""
        return Rules(**{name: self.arguments[name] for name in OF_RULES if self.arguments.get(name) is not None})

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{slug(self.label)}-{self.seed}.json"

    @property
    def opponents(self) -> tuple[str, ...]:
        """Whom it was measured against at any time."""
        return tuple(dict.fromkeys(name for line in self.curve for name in line["against"]))


def slug(words: str) -> str:
    """Words as the name of a file: letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def stored(kept: Kept, label: str) -> Stored:
    """A run from its folder as it is to be stored.

    Raises:
        ValueError: for a run that is not finished, or that was never measured.
    """
    about = kept.about
    if about["finished"] is None:
        raise ValueError(f"the run in {kept.folder} is not finished: finished runs only are stored")
    if not kept.curve:
        raise ValueError(f"the run in {kept.folder} has no evaluations: there is nothing to store")
    arguments = {name: value for name, value in portable(about["arguments"]).items() if name != "out"}
    return Stored(
        label,
        about["trainer"],
        about["seed"],
        command_of(about["command"]),
        arguments,
        about["started"],
        about["finished"],
        about["sittings"],
        about["totals"],
        kept.curve,
    )


def store(runs: Sequence[Stored], folder: Path, replace: bool = False) -> list[Path]:
    """Write runs to their files: all, or none where one cannot be.

    Args:
        runs: what to store.
        folder: where the others are.
        replace: whether a file that is there is replaced.

    Raises:
        FileExistsError: for a file that is there, without `replace`.
        ValueError: for runs that do not go into a group with each other or with those stored already.
    """
    paths = [folder / run.file for run in runs]
    for path in paths:
        if path.exists() and not replace:
            raise FileExistsError(f"{path} is there already: --replace puts the new run in its place")
    others = [run for run in read(folder) if folder / run.file not in paths]
    groups_of([*others, *runs])
    folder.mkdir(parents=True, exist_ok=True)
    for path, run in zip(paths, runs, strict=True):
        write_text(path, _text(run))
    return paths


def read(folder: Path) -> list[Stored]:
    """All stored runs, in the order of their files' names.

    Raises:
        ValueError: for a file that is no stored run, saying where, what was expected and what was found.
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
    sittings=list_of(SITTING, min_length=1),
    totals=json_object(moves=integer(), wall_s=finite_number(0), cpu_s=finite_number(0), others=finite_number()),
    curve=list_of(LINE, min_length=1),
)


def groups_of(runs: Iterable[Stored]) -> dict[str, list[Stored]]:
    """Runs by label, both in order, those of a label by seed.

    Raises:
        ValueError: for a label with runs that differ in more than seed, place and machine, or with a seed twice.
    """
    ordered = sorted(runs, key=lambda run: (run.label, run.seed))
    groups = {label: list(found) for label, found in groupby(ordered, key=lambda run: run.label)}
    for found in groups.values():
        for one, other in pairwise(found):
            _check_same(one, other)
    return groups


def _check_same(one: Stored, other: Stored) -> None:
    if one.seed == other.seed:
        raise ValueError(f"group {one.label!r} has two runs with seed {one.seed}: a seed counts once")
    if one.trainer != other.trainer:
        raise ValueError(f"group {one.label!r} has runs of the trainers {one.trainer!r} and {other.trainer!r}")
    for name in sorted((one.arguments.keys() | other.arguments.keys()) - set(MAY_DIFFER)):
        first, second = one.arguments.get(name), other.arguments.get(name)
        if first != second:
            seeds = f"seed {one.seed} has {name} {first!r}, seed {other.seed} {second!r}"
            raise ValueError(f"the runs of group {one.label!r} must differ in their seeds only, but {seeds}")


def _text(run: Stored) -> str:
    """JSON with a line an evaluation, so that files are small and differences readable."""
    words = asdict(run)
    lines = ",\n".join(json.dumps(line) for line in words.pop("curve"))
    head = [f"{json.dumps(name)}: {json.dumps(value)},\n" for name, value in words.items()]
    return "{\n" + "".join(head) + f'"curve": [\n{lines}\n]\n}}\n'
