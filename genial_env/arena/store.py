"""The directory of a tournament: its settings and all finished games. Every game is saved as soon as it is finished.

=====================  ==============================================================================================
`tournament.json`      settings and, for each session, commit, versions and machine (:mod:`.provenance`), and what the
                       agents depended on (:mod:`.fingerprints`)
`games.jsonl`          one line for each game (:class:`~genial_env.arena.games.Game`)
`records.jsonl`        the records of the same games in the same order
=====================  ==============================================================================================

Records are written before the lines of their games. After an interruption, partial lines and records without games are
removed when the tournament continues. All other inconsistencies are errors when the directory is read: lines that are
not games of this tournament, duplicate games, and missing or different records.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from genial_env._util.checks import as_integer
from genial_env._util.files import LOCK_FILES, append_lines, write_json
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
    mapping_of,
    optional,
    shorten,
    validation_error,
)
from genial_env.arena.fingerprints import FINGERPRINT, Fingerprint, describe_change
from genial_env.arena.games import Game, forfeited_ranks
from genial_env.arena.provenance import provenance, provenance_check
from genial_env.arena.schedule import ScheduledGame, is_scheduled
from genial_env.backends import Backend
from genial_env.core import ranking
from genial_env.core.chance import game_seeds
from genial_env.core.rules import Rules
from genial_env.policies.base import Policy
from genial_env.policies.registry import make_known_policy, make_policy
from genial_env.records import to_json_line

__all__ = [
    "GAMES",
    "RECORDS",
    "SESSION",
    "SETTINGS",
    "Settings",
    "Store",
    "check_directory",
]

SETTINGS, GAMES, RECORDS = "tournament.json", "games.jsonl", "records.jsonl"


@dataclass(frozen=True)
class Settings:
    """The settings of a tournament.

    Attributes:
        agents: as :func:`genial_env.make_policy` reads them.
        rules: the rules.
        groups: the number of deals, 1 to 1,000,000. In each deal every lineup plays in every rotation.
        seed: the seed of the deals, 0 to 2**64 - 1.
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
        object.__setattr__(self, "groups", as_integer(self.groups, "groups", 1, MAX_GROUPS))
        object.__setattr__(self, "seed", as_integer(self.seed, "seed", 0, 2**64 - 1))

    def make(self, agent: str) -> Policy:
        """Make one of the agents.

        Raises:
            ValueError, TypeError: as :func:`genial_env.policies.registry.make_policy`, or, for settings that were read,
                :func:`genial_env.policies.registry.make_known_policy`.
        """
        return make_known_policy(agent) if self.from_data else make_policy(agent)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return {
            "agents": list(self.agents),
            "rules": self.rules.to_dict(),
            "groups": self.groups,
            "seed": self.seed,
            "records": self.records,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], where: str = "settings") -> "Settings":
        """Return the settings from the result of :meth:`to_dict`.

        Raises:
            ValueError: If the data are invalid. The message says where, what was expected and what was found.
        """
        found = _SETTINGS(data, where)
        try:
            rules = Rules.from_dict(found["rules"])
            return cls(tuple(found["agents"]), rules, found["groups"], found["seed"], found["records"], from_data=True)
        except ValueError as error:
            raise JSONError(f"{where}: {error}") from error


SESSION = provenance_check(agents=mapping_of(FINGERPRINT))
"""The validator of a stored session; sessions of former versions have no fingerprints of agents."""

MAX_GROUPS = 1_000_000

_SETTINGS = json_object(
    agents=list_of(STRING, min_length=1),
    rules=OBJECT,
    groups=integer(1, MAX_GROUPS),
    seed=integer(0, 2**64 - 1),
    records=BOOLEAN,
)

_TOURNAMENT = json_object(settings=OBJECT, sessions=list_of(SESSION))


class Store:
    """The directory of one tournament.

    Args:
        directory: the directory. :meth:`begin` creates it if it does not exist.
        settings: the settings; None for those in the directory. A larger number of deals extends the tournament.

    Raises:
        ValueError: If the settings differ from those in the directory, or if it holds something else.
        OSError: If the directory cannot be read.
    """

    def __init__(self, directory: Path, settings: Settings | None = None) -> None:
        self.directory = directory
        path = directory / SETTINGS
        if path.exists():
            found = self._read_settings(path)
            self.settings, self._sessions = _merged(found[0], settings, path), found[1]
        elif settings is None:
            raise ValueError(f"{directory} holds no tournament: there is no {SETTINGS}")
        else:
            check_directory(directory)
            self.settings, self._sessions = settings, []
        self.games = self._read_games()
        self._check_records()

    def begin(self, backend: Backend, agents: Mapping[str, Fingerprint]) -> None:
        """In place: begin a session. Write the settings, and remove what an interruption has left behind.

        Args:
            backend: the compute backend.
            agents: the fingerprint of each agent that will play; none if no games are left.

        Raises:
            ValueError: If an agent has games here and has changed since; nothing is written then.
        """
        self._check_agents(agents)
        self.directory.mkdir(parents=True, exist_ok=True)
        self._sessions.append({**provenance(backend), "agents": {name: dict(each) for name, each in agents.items()}})
        write_json(self.directory / SETTINGS, {"settings": self.settings.to_dict(), "sessions": self._sessions})
        _keep_lines(self.directory / GAMES, len(self.games))
        _keep_lines(self.directory / RECORDS, len(self.games))

    def _check_agents(self, agents: Mapping[str, Fingerprint]) -> None:
        """Check that agents are those that have played here.

        Raises:
            ValueError: If one is not.
        """
        for session in self._sessions if self.games else ():
            for agent, before in session.get("agents", {}).items():
                change = describe_change(before, agents[agent]) if agent in agents else None
                if change is not None:
                    raise ValueError(
                        f"agent {agent!r} is not the one that has played in {self.directory} on {session['date']}: "
                        f"{change}. Its games would be merged with those of another agent: take another directory, or "
                        f"undo the change"
                    )

    @property
    def sessions(self) -> list[dict[str, Any]]:
        """Commit, versions, machine and fingerprints of the agents of each session."""
        return self._sessions

    @property
    def done(self) -> set[ScheduledGame]:
        """The finished games of the schedule."""
        return {ScheduledGame(game.group, tuple(game.seats)) for game in self.games}

    def add(self, games: Sequence[Game], records: Sequence[dict[str, Any]]) -> None:
        """In place: add and save finished games."""
        if self.settings.records:
            append_lines(self.directory / RECORDS, (to_json_line(record) for record in records))
        append_lines(self.directory / GAMES, (json.dumps(game.to_dict()) + "\n" for game in games))
        self.games += games

    def _read_settings(self, path: Path) -> tuple[Settings, list[dict[str, Any]]]:
        found = _TOURNAMENT(read_object(path), str(path))
        return Settings.from_dict(found["settings"], f"{path}: settings"), found["sessions"]

    def _read_games(self) -> list[Game]:
        """Read and check the games whose lines are complete."""
        games: list[Game] = []
        path, check = self.directory / GAMES, _game_check(self.settings)
        seen: set[ScheduledGame] = set()
        for number, text in _whole_lines(path):
            where = f"{path}:{number}"
            if number != len(games) + 1:
                raise JSONError(f"{where}: expected a game, found an empty line before it")
            game = Game(**check(parse_object(text, where), where))
            scheduled = ScheduledGame(game.group, tuple(game.seats))
            if scheduled in seen:
                raise JSONError(
                    f"{where}: expected every game once, found group {scheduled.group}, seats {scheduled.seats} again"
                )
            seen.add(scheduled)
            games.append(game)
        _check_against_rules(path, self.settings, games)
        return games

    def _check_records(self) -> None:
        """Check that each game has its record, in the same order. Records of later games may follow.

        Raises:
            ValueError: If this is not so.
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
    """Return the validator of a line of `games.jsonl`."""
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
    """Check that games are of the schedule and have the right seeds, and ranks that follow from their scores.

    Raises:
        ValueError: If this is not so.
    """
    ranks = ranking.ranks(np.array([game.scores for game in games], dtype=np.int8)).tolist() if games else []
    seeds: dict[int, int] = {}
    for number, (game, due) in enumerate(zip(games, ranks, strict=True), 1):
        if game.group not in seeds:
            seeds[game.group] = int(game_seeds(settings.seed, 1, game.group)[0])
        if game.forfeit is not None:
            due = forfeited_ranks(settings.rules, game.forfeit["seat"])
        if not is_scheduled(
            ScheduledGame(game.group, tuple(game.seats)), len(settings.agents), settings.rules, settings.groups
        ):
            raise validation_error(f"{path}:{number}: seats", f"a lineup of group {game.group}", game.seats)
        for name, expected, found in (("seed", seeds[game.group], game.seed), ("ranks", due, game.ranks)):
            if found != expected:
                raise validation_error(f"{path}:{number}: {name}", shorten(expected), found)


_Heading = tuple[Any, ...]
"""The seed, the agents and the scores of a game, which identify its record."""


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
"""The validator of the keys that identify a record. ``genial verify`` checks everything else."""


def _merged(found: Settings, wanted: Settings | None, path: Path) -> Settings:
    """Return the settings of the directory, with the larger number of deals."""
    if wanted is None:
        return found
    for name, value in found.to_dict().items():
        other = wanted.to_dict()[name]
        if name != "groups" and other != value:
            raise ValueError(f"{path} is of a tournament with {name} {value}, not {other}: take another directory")
    return replace(wanted, groups=max(found.groups, wanted.groups))


def check_directory(directory: Path) -> None:
    """Check that a directory holds a tournament, is empty or does not exist. A lock file is ignored.

    Raises:
        ValueError: If it holds something else.
    """
    if (directory / SETTINGS).exists() or not directory.exists():
        return
    if any(path.name not in LOCK_FILES for path in directory.iterdir()):
        raise ValueError(f"{directory} holds something else than a tournament: give an empty directory")


def _whole_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the complete lines of a file with their numbers; none if the file does not exist."""
    return numbered_lines(path, whole=True) if path.exists() else iter(())


def _keep_lines(path: Path, count: int) -> None:
    """In place: truncate a file after so many lines."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        for _ in range(count):
            file.readline()
        file.truncate(file.tell())
