"""Game records that were handed to the server: what a file holds, a game step by step, a game judged."""

import json
import logging
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from genial_env.record import decisions, replay, verify
from genial_env.review import review
from genial_env.rules import Rules
from genial_env.strict_json import JSONError, decode_text, parse_object
from genial_env.web.guard import Refused
from genial_env.web.shown import Shown, event_shown, names_of, open_position, rules_shown

MOST_RECORDS = 2000
"""In a file; what comes after them is not looked at."""

JUDGE = "value"
"""Who reviews games and gives hints."""

log = logging.getLogger(__name__)


def contents(body: bytes) -> Shown:
    """The games of a file of records: for each its line, who played and how it ended, or its first fault.

    Raises:
        Refused: for a file without games, or that is no text.
    """
    lines = [(number, line) for number, line in enumerate(_text(body).split("\n"), 1) if line.strip()]
    if not lines:
        raise Refused(422, "expected game records, a JSON object a line; found an empty file")
    read = [_read(line) for _, line in lines[:MOST_RECORDS]]
    faults = verify(record for record in read if not isinstance(record, JSONError))
    games: list[Shown] = []
    for (number, _), record in zip(lines, read, strict=False):
        if isinstance(record, JSONError):
            games.append({"line": number, "fault": str(record)})
        else:
            fault = next(faults)
            games.append({"line": number, **(_heading(record) if fault is None else {"fault": fault})})
    return {"games": games, "more": len(lines) - len(games)}


def steps(record: dict[str, Any]) -> Shown:
    """A recorded game step by step: all events; the position before each decision, and the last one."""
    rules, found = Rules.from_dict(record["rules"]), decisions(record)
    frames = [
        {"event": event, "position": open_position(found.states.select(np.array([row])))}
        for row, event in enumerate(found.events.tolist())
    ]
    frames.append({"event": len(record["events"]), "position": open_position(replay(record))})
    return {
        **_heading(record),
        "rules": rules_shown(rules),
        "events": [event_shown(number, event, rules) for number, event in enumerate(record["events"])],
        "frames": frames,
    }


def readable(body: bytes) -> dict[str, Any]:
    """The record that a body holds, checked.

    Raises:
        Refused: for anything else: the first fault.
    """
    record = _read(_text(body))
    if isinstance(record, JSONError):
        raise Refused(422, str(record))
    fault = next(verify([record]))
    if fault is not None:
        raise Refused(422, fault)
    return record


def judging(record: dict[str, Any], done: Callable[[], None]) -> Iterator[bytes]:
    """A review as it is made, in lines of JSON: ``{"done": 3, "of": 42}`` on the way, at last ``{"review": ...}``, or
    ``{"error": ...}``. It begins at once, in a thread, and breaks off where nobody wants the lines any more.

    Args:
        record: a game, checked.
        done: called when the work has ended, however it does.
    """
    work = _Judging(record, done)
    threading.Thread(target=work.run, daemon=True).start()
    return work.lines()


class _Judging:
    """The work of :func:`judging`: one thread runs it, another takes the lines."""

    def __init__(self, record: dict[str, Any], done: Callable[[], None]) -> None:
        self._record, self._done = record, done
        self._told: queue.SimpleQueue[Shown | None] = queue.SimpleQueue()
        self._left = threading.Event()

    def run(self) -> None:
        """Judge the game."""
        try:
            self._told.put({"review": review(self._record, JUDGE, self._tell).to_dict()})
        except _Left:
            pass
        except ValueError as error:
            self._told.put({"error": str(error)})
        except Exception:
            log.exception("a review broke off")
            self._told.put({"error": "the review broke off; the server's log says why"})
        finally:
            self._done()
            self._told.put(None)

    def lines(self) -> Iterator[bytes]:
        """What is told, until the end."""
        try:
            while (line := self._told.get()) is not None:
                yield json.dumps(line, allow_nan=False).encode() + b"\n"
        finally:
            self._left.set()

    def _tell(self, finished: int, of: int) -> None:
        if self._left.is_set():
            raise _Left
        self._told.put({"done": finished, "of": of})


class _Left(Exception):
    """Nobody waits for the review any more."""


def _heading(record: dict[str, Any]) -> Shown:
    """Who played what, and how it ended."""
    kept = {name: record[name] for name in ("rules", "seed", "scores", "ranks", "end")}
    return {**kept, "names": names_of(record["agents"])}


def _read(line: str) -> dict[str, Any] | JSONError:
    try:
        return parse_object(line)
    except JSONError as error:
        return error


def _text(body: bytes) -> str:
    try:
        return decode_text(body)
    except JSONError as error:
        raise Refused(422, str(error)) from error
