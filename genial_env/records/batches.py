"""Replay of any number of records in batches, for programs that compute something from every decision.

For example::

    for played in replay_batches(located_records("games.jsonl")):
        print(played.decisions.actions, played.agents)
"""

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from genial_env._util.strict_json import JSONError, numbered_lines, parse_object
from genial_env.errors import RecordError
from genial_env.records._parse import ParsedRecord, parse_record
from genial_env.records.replay import Decisions, replay_parsed

__all__ = ["AnyRecord", "Located", "Played", "located_records", "replay_batches"]

GAMES_AT_ONCE = 512
"""The number of games that are replayed together."""


class Located(NamedTuple):
    """A parsed record and where it stands, for messages."""

    where: str
    parsed: ParsedRecord
    agents: list[str]
    seed: int | None


AnyRecord = dict[str, Any] | Located
"""A record, as it is or parsed."""


@dataclass(eq=False)
class Played:
    """B replayed games with the same rules."""

    decisions: Decisions
    agents: list[list[str]]  # [B][P] the names of the agents by seat
    seeds: list[int | None]  # [B] None where the seed is unknown


def replay_batches(records: Iterable[AnyRecord]) -> Iterator[Played]:
    """Replay records, and yield games with the same rules together, in order.

    Raises:
        RecordError: if a record does not replay. The message names its place: file and line for records of
            :func:`located_records`, else its number from 0.
    """
    for part in _split(_locate_all(records)):
        try:
            decisions = replay_parsed([each.parsed for each in part])
        except RecordError:
            _raise_first_fault(part)
            raise
        yield Played(decisions, [each.agents for each in part], [each.seed for each in part])


def located_records(path: str | os.PathLike[str]) -> Generator[Located, None, None]:
    """Yield the records of a file with their places. Whether they follow the rules is checked when they are replayed.

    Raises:
        OSError: if the file cannot be opened.
        RecordError: if the form of a line is wrong. The message names file and line.
    """
    try:
        for number, text in numbered_lines(path):
            where = f"{path}:{number}"
            yield _locate(where, parse_object(text, where))
    except JSONError as error:
        raise RecordError(str(error)) from error


def _locate_all(records: Iterable[AnyRecord]) -> Iterator[Located]:
    for number, record in enumerate(records):
        yield record if isinstance(record, Located) else _locate(f"game {number}", record)


def _locate(where: str, record: dict[str, Any]) -> Located:
    """Parse a record. What was parsed is kept, and not the much larger record."""
    try:
        return Located(where, parse_record(record), record["agents"], record["seed"])
    except RecordError as error:
        raise RecordError(f"{where}: {error}") from error


def _split(records: Iterable[Located]) -> Iterator[list[Located]]:
    """Yield the records in lists of at most GAMES_AT_ONCE with the same rules, in order."""
    rest = iter(records)
    while part := list(islice(rest, GAMES_AT_ONCE)):
        start = 0
        for end in range(1, len(part) + 1):
            if end == len(part) or part[end].parsed.rules != part[start].parsed.rules:
                yield part[start:end]
                start = end


def _raise_first_fault(part: Sequence[Located]) -> None:
    """Raise the error of the first record that does not replay, with its place."""
    for each in part:
        try:
            replay_parsed([each.parsed])
        except RecordError as error:
            raise RecordError(f"{each.where}: {error}") from error
