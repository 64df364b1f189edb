"""A tournament's directory: what was asked for, and every finished game, safe from the moment it is finished.

=====================  ==============================================================================================
`tournament.json`      agents, rules, seed, groups, and what it was played by and on (:mod:`.provenance`)
`games.jsonl`          a line a game (:class:`~genial_env.arena.games.Game`)
`records.jsonl`        the same games as records, line by line
=====================  ==============================================================================================

Records are written before the games' lines. What an interruption leaves behind, half a line or records without their
games, is cut off when the tournament goes on. All else that cannot be so is refused when the directory is read: lines
that are no games of this tournament, games twice, records that are missing or of other games.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from genial_env._util.checks import as_integer
from genial_env._util.files import LOCK, append_lines, write_json
from genial_env._util.strict_json import JSONError, numbered_lines, parse_object, read_object
from genial_env._util.validators import (
    BOOLEAN,
    OBJECT,
    STRING,
    Validator,
    any_value,
    finite_number,
    integer,
    json_object,
    list_of,
    optional,
    shorten,
    validation_error,
)
from genial_env.arena.games import Game, forfeited_ranks
from genial_env.arena.provenance import PROVENANCE, provenance
from genial_env.arena.schedule import Unit, is_scheduled
from genial_env.backends import Backend
from genial_env.core import ranking
from genial_env.core.chance import game_seeds
from genial_env.core.rules import Rules
from genial_env.policies.base import Policy
from genial_env.policies.registry import make_known_policy, make_policy
from genial_env.records import to_json_line

SETTINGS, GAMES, RECORDS = "tournament.json", "games.jsonl", "records.jsonl"


@dataclass(frozen=True)
class Settings:
    """What is to be played.

    Attributes:
        agents: as :func:`genial_env.make_policy` reads them.
        rules: the rules.
        groups: how many deals, 1 to 1,000,000; in each every lineup meets in every rotation.
        seed: of the deals, 0 to 2**64 - 1.
        records: whether game records are kept.
        from_data: whether they were read from a file, and not typed by the user or given in code: then only agents as
            :func:`genial_env.policies.registry.make_known_policy` reads them may play.

    Raises:
        TypeError, ValueError: for agents that are named twice, or numbers out of their ranges.
    """

    agents: tuple[str, ...]
    rules: Rules
    groups: int = 100
    seed: int = 0
    records: bool = True
    from_data: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        twice = sorted({agent for agent in self.agents if self.agents.count(agent) > 1})
        if twice:
            raise ValueError(f"every agent is named once, and {', '.join(twice)} is named more often")
        object.__setattr__(self, "groups", as_integer(self.groups, "groups", 1, MOST_GROUPS))
        object.__setattr__(self, "seed", as_integer(self.seed, "seed", 0, 2**64 - 1))

    def make(self, agent: str) -> Policy:
        """Make one of the agents.

        Raises:
            ValueError, TypeError: as :func:`genial_env.policies.registry.make_policy`, or, for settings that were read,
                :func:`genial_env.policies.registry.make_known_policy`.
        """
        return make_known_policy(agent) if self.from_data else make_policy(agent)

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
    def from_dict(cls, words: dict[str, Any], where: str = "settings") -> "Settings":
        """Read what :meth:`to_dict` gave.

        Raises:
            ValueError: for something else, saying where, what was expected and what was found.
        """
        found = _SETTINGS(words, where)
        try:
            rules = Rules.from_dict(found["rules"])
            return cls(tuple(found["agents"]), rules, found["groups"], found["seed"], found["records"], from_data=True)
        except ValueError as error:
            raise JSONError(f"{where}: {error}") from error


MOST_GROUPS = 1_000_000

_SETTINGS = json_object(
    agents=list_of(STRING, min_length=1),
    rules=OBJECT,
    groups=integer(1, MOST_GROUPS),
    seed=integer(0, 2**64 - 1),
    records=BOOLEAN,
)

_TOURNAMENT = json_object(settings=OBJECT, sittings=list_of(PROVENANCE))


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
        self._check_records()

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
            append_lines(self.directory / RECORDS, (to_json_line(record) for record in records))
        append_lines(self.directory / GAMES, (json.dumps(game.to_dict()) + "\n" for game in games))
        self.games += games

    def _read_settings(self, path: Path) -> tuple[Settings, list[dict[str, Any]]]:
        found = _TOURNAMENT(read_object(path), str(path))
        return Settings.from_dict(found["settings"], f"{path}: settings"), found["sittings"]

    def _read_games(self) -> list[Game]:
        """The games whose lines are whole, checked."""
        games: list[Game] = []
        path, check = self.directory / GAMES, _game_check(self.settings)
        seen: set[Unit] = set()
        for number, text in _whole_lines(path):
            where = f"{path}:{number}"
            if number != len(games) + 1:
                raise JSONError(f"{where}: expected a game, found an empty line before it")
            game = Game(**check(parse_object(text, where), where))
            unit = Unit(game.group, tuple(game.seats))
            if unit in seen:
                raise JSONError(
                    f"{where}: expected every game once, found group {unit.group}, seats {unit.seats} again"
                )
            seen.add(unit)
            games.append(game)
        _check_against_rules(path, self.settings, games)
        return games

    def _check_records(self) -> None:
        """See that there is the record of every game, line by line, and then at most those of games to come.

        Raises:
            ValueError: where it is not so.
        """
        path = self.directory / RECORDS
        if not self.settings.records:
            if path.exists():
                raise JSONError(f"{path}: expected no records, as {SETTINGS} says, found the file")
            return
        due = [_heading_due(self.settings, game) for game in self.games]
        count, extra = 0, set()
        for number, text in _whole_lines(path):
            found = _heading(parse_object(text, f"{path}:{number}"), f"{path}:{number}")
            count += 1
            if count <= len(due):
                if number != count or found != due[count - 1]:
                    raise JSONError(f"{path}:{number}: expected the record of game {count} of {GAMES}, found another")
            elif found[:2] in extra:
                raise JSONError(f"{path}:{number}: expected every record once, found that of seed {found[0]} again")
            else:
                extra.add(found[:2])
        if count < len(due):
            raise JSONError(f"{path}: expected a record for each of {len(due)} games, found {count}")
        again = extra & {heading[:2] for heading in due}
        if again:
            raise JSONError(f"{path}: expected every record once, found that of seed {min(again)[0]} again")


def _game_check(settings: Settings) -> Validator:
    """What a line of `games.jsonl` must be, but for what follows from other values in it."""
    rules = settings.rules
    track = list_of(integer(0, rules.top), rules.colors)
    seat = integer(0, rules.players - 1)
    return json_object(
        group=integer(0, settings.groups - 1),
        seats=list_of(integer(0, len(settings.agents) - 1), rules.players),
        seed=integer(0, 2**64 - 1),
        scores=list_of(track, rules.tracks),
        ranks=list_of(integer(1, rules.tracks), rules.tracks),
        moves=list_of(integer(0, 2**31), rules.players),
        seconds=list_of(finite_number(0), rules.players),
        forfeit=optional(json_object(seat=seat, reason=STRING)),
    )


def _check_against_rules(path: Path, settings: Settings, games: list[Game]) -> None:
    """See that games are of the schedule, have the seeds of their deals, and ranks that follow from their scores.

    Raises:
        ValueError: where it is not so.
    """
    ranks = ranking.ranks(np.array([game.scores for game in games], dtype=np.int8)).tolist() if games else []
    seeds: dict[int, int] = {}
    for number, (game, due) in enumerate(zip(games, ranks, strict=True), 1):
        if game.group not in seeds:
            seeds[game.group] = int(game_seeds(settings.seed, 1, game.group)[0])
        if game.forfeit is not None:
            due = forfeited_ranks(len(due), game.forfeit["seat"])
        if not is_scheduled(Unit(game.group, tuple(game.seats)), len(settings.agents), settings.rules, settings.groups):
            raise validation_error(f"{path}:{number}: seats", f"a lineup of group {game.group}", game.seats)
        for name, expected, found in (("seed", seeds[game.group], game.seed), ("ranks", due, game.ranks)):
            if found != expected:
                raise validation_error(f"{path}:{number}: {name}", shorten(expected), found)


_Heading = tuple[Any, ...]
"""The seed, the agents and the scores of a game: enough to tell whose record it is."""


def _heading_due(settings: Settings, game: Game) -> _Heading:
    return game.seed, tuple(settings.agents[entrant] for entrant in game.seats), str(game.scores)


def _heading(record: dict[str, Any], where: str) -> _Heading:
    found = _RECORD(record, where)
    return found["seed"], tuple(found["agents"]), str(found["scores"])


_RECORD = json_object(
    seed=integer(),
    agents=list_of(STRING),
    scores=list_of(list_of(integer())),
    others=any_value,
)
"""What this module reads of a record; the rest is for ``genial verify``."""


def _merged(found: Settings, wanted: Settings | None, path: Path) -> Settings:
    """What the directory says, with more groups where more are wanted; by the user's words where there are some."""
    if wanted is None:
        return found
    for name, value in found.to_dict().items():
        other = wanted.to_dict()[name]
        if name != "groups" and other != value:
            raise ValueError(f"{path} is of a tournament with {name} {value}, not {other}: take another directory")
    return replace(wanted, groups=max(found.groups, wanted.groups))


def check_directory(directory: Path) -> None:
    """Check that a directory is one of a tournament, or empty, or not there. A lock file does not count.

    Raises:
        ValueError: if it holds something else.
    """
    if (directory / SETTINGS).exists() or not directory.exists():
        return
    if any(path.name != LOCK for path in directory.iterdir()):
        raise ValueError(f"{directory} holds something else than a tournament: give an empty directory")


def _whole_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that were written to their ends, with their numbers; none where there is no file."""
    return numbered_lines(path, whole=True) if path.exists() else iter(())


def _keep_lines(path: Path, count: int) -> None:
    """In place: cut a file off after so many lines."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        for _ in range(count):
            file.readline()
        file.truncate(file.tell())
