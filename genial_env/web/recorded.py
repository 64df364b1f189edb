"""Game records that were handed to the server: what a file holds, a game step by step, a game judged."""

import asyncio
import json
from collections.abc import AsyncIterator, Hashable
from contextlib import suppress
from typing import Any

import numpy as np

from genial_env._util.strict_json import JSONError, decode_text, parse_object
from genial_env.analysis.review import review
from genial_env.core.rules import Rules
from genial_env.records import replay, replay_decisions, verify
from genial_env.web.guard import Refused
from genial_env.web.shown import Shown, event_shown, names_of, open_position, rules_shown
from genial_env.web.thinking import Task, WorkQueue

MOST_RECORDS = 2000
"""In a file; what comes after them is not looked at."""

JUDGE = "value"
"""Who reviews games and gives hints."""


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
    rules, found = Rules.from_dict(record["rules"]), replay_decisions(record)
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


class Judging:
    """A review as it is made, in lines of JSON: ``{"done": 3, "of": 42}`` on the way, at last ``{"review": ...}``, or
    ``{"error": ...}``. Who listens drops the task where nobody wants the lines any more.

    Made, and listened to, where an event loop runs.

    Args:
        queue: who does the work.
        owner: whose it is.
        record: a game, checked.

    Raises:
        Refused: where too much is waiting.
    """

    def __init__(self, queue: WorkQueue, owner: Hashable, record: dict[str, Any]) -> None:
        self._record = record
        self._loop = asyncio.get_running_loop()
        self._told: asyncio.Queue[Shown | None] = asyncio.Queue()
        self._told.put_nowait({"done": 0, "of": sum(event[0] != "draw" for event in record["events"])})
        self.task: Task[Shown] = queue.submit(owner, "review", self._work)

    async def lines(self) -> AsyncIterator[bytes]:
        """What is told, until the end."""
        ending = asyncio.create_task(self._end())
        try:
            while (line := await self._told.get()) is not None:
                yield _line(line)
            yield _line(self._outcome())
        finally:
            ending.cancel()

    def _work(self, task: Task[Shown]) -> Shown:
        def tell(finished: int, of: int) -> None:
            task.go_on()
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._told.put_nowait, {"done": finished, "of": of})

        try:
            return review(self._record, JUDGE, tell).to_dict()
        except ValueError as error:
            raise Refused(422, str(error)) from error

    async def _end(self) -> None:
        await self.task.wait()
        self._told.put_nowait(None)

    def _outcome(self) -> Shown:
        try:
            return {"review": self.task.outcome()}
        except Refused as error:
            return {"error": error.message}
        except Exception:  # logged where it happened
            return {"error": "the review broke off; the server's log says why"}


def _line(told: Shown) -> bytes:
    return json.dumps(told, allow_nan=False).encode() + b"\n"


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
