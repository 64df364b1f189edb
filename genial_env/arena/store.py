"""A tournament's directory: what was asked for, and every finished game, safe from the moment it is finished.

=====================  ==============================================================================================
`tournament.json`      agents, rules, seed, groups, and what it was played by and on (:mod:`.provenance`)
`games.jsonl`          a line a game (:class:`~genial_env.arena.games.Game`)
`records.jsonl`        the same games as records, line by line
=====================  ==============================================================================================

Records are written before the games' lines. What an interruption leaves behind, half a line or records without their
games, is cut off when the tournament goes on.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from genial_env.arena.games import Game
from genial_env.arena.provenance import provenance
from genial_env.arena.schedule import Unit
from genial_env.backends import Backend
from genial_env.checks import as_integer
from genial_env.files import LOCK, append_lines, write_json
from genial_env.record import to_line
from genial_env.rules import Rules

SETTINGS, GAMES, RECORDS = "tournament.json", "games.jsonl", "records.jsonl"


@dataclass(frozen=True)
class Settings:
    """What is to be played.

    Attributes:
        agents: as :func:`genial_env.make_policy` reads them.
        rules: the rules.
        groups: how many deals; in each every lineup meets in every rotation.
        seed: of the deals.
        records: whether game records are kept.

    Raises:
        ValueError: for agents that are named twice, or no groups.
    """

    agents: tuple[str, ...]
    rules: Rules
    groups: int = 100
    seed: int = 0
    records: bool = True

    def __post_init__(self) -> None:
        twice = sorted({agent for agent in self.agents if self.agents.count(agent) > 1})
        if twice:
            raise ValueError(f"every agent is named once, and {', '.join(twice)} is named more often")
        object.__setattr__(self, "groups", as_integer(self.groups, "groups", 1))
        object.__setattr__(self, "seed", as_integer(self.seed, "seed", 0, 2**64 - 1))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "agents": list(self.agents),
            "rules": self.rules.to_dict(),
            "groups": self.groups,
            "seed": self.seed,
            "records": self.records,
        }

    @classmethod
    def from_dict(cls, words: dict[str, Any]) -> "Settings":
        """The reverse of :meth:`to_dict`."""
        return cls(
            tuple(words["agents"]), Rules.from_dict(words["rules"]), words["groups"], words["seed"], words["records"]
        )


class Store:
    """The directory of one tournament.

    Args:
        directory: made by :meth:`begin` where there is none.
        settings: what is to be played; left out, what the directory says. More groups than it says are added to it.

    Raises:
        ValueError: for other settings than those of the directory, saying which, or a directory of something else.
        OSError: for a directory that cannot be written.
    """

    def __init__(self, directory: Path, settings: Settings | None = None) -> None:
        self.directory = directory
        path = directory / SETTINGS
        if path.exists():
            found = self._read_settings(path)
            self.settings, self._sittings = _merged(found[0], settings, path), found[1]
        elif settings is None:
            raise ValueError(f"{directory} holds no tournament: there is no {SETTINGS}")
        else:
            check_directory(directory)
            self.settings, self._sittings = settings, []
        self.games = self._read_games()

    def begin(self, backend: Backend) -> None:
        """In place: write down what is to be played and by what, and cut off what an interruption left behind."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._sittings.append(provenance(backend))
        write_json(self.directory / SETTINGS, {"settings": self.settings.to_dict(), "sittings": self._sittings})
        _keep_lines(self.directory / GAMES, len(self.games))
        _keep_lines(self.directory / RECORDS, len(self.games))

    @property
    def sittings(self) -> list[dict[str, Any]]:
        """What the games were played by and on; one each time that the tournament went on."""
        return self._sittings

    @property
    def done(self) -> set[Unit]:
        """The games that are finished."""
        return {Unit(game.group, tuple(game.seats)) for game in self.games}

    def add(self, games: Sequence[Game], records: Sequence[dict[str, Any]]) -> None:
        """In place: keep finished games."""
        if self.settings.records:
            append_lines(self.directory / RECORDS, (to_line(record) for record in records))
        append_lines(self.directory / GAMES, (json.dumps(game.to_dict()) + "\n" for game in games))
        self.games += games

    def _read_settings(self, path: Path) -> tuple[Settings, list[dict[str, Any]]]:
        try:
            words = json.loads(path.read_text(encoding="utf-8"))
            return Settings.from_dict(words["settings"]), words["sittings"]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} cannot be read as a tournament: {error!r}") from error

    def _read_games(self) -> list[Game]:
        games = []
        lines = _whole_lines(self.directory / GAMES)
        for number, line in enumerate(lines, 1):
            try:
                games.append(Game(**json.loads(line)))
            except (TypeError, ValueError) as error:
                raise ValueError(f"{self.directory / GAMES}:{number}: no game: {error}") from error
        return games


def _merged(found: Settings, wanted: Settings | None, path: Path) -> Settings:
    if wanted is None:
        return found
    for name, value in found.to_dict().items():
        other = wanted.to_dict()[name]
        if name != "groups" and other != value:
            raise ValueError(f"{path} is of a tournament with {name} {value}, not {other}: take another directory")
    return replace(found, groups=max(found.groups, wanted.groups))


def check_directory(directory: Path) -> None:
    """Check that a directory is one of a tournament, or empty, or not there. A lock file does not count.

    Raises:
        ValueError: if it holds something else.
    """
    if (directory / SETTINGS).exists() or not directory.exists():
        return
    if any(path.name != LOCK for path in directory.iterdir()):
        raise ValueError(f"{directory} holds something else than a tournament: give an empty directory")


def _whole_lines(path: Path) -> list[str]:
    """The lines of a file that were written to their ends."""
    if not path.exists():
        return []
    return [line for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]


def _keep_lines(path: Path, count: int) -> None:
    """In place: cut a file off after so many lines."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        for _ in range(count):
            file.readline()
        file.truncate(file.tell())
