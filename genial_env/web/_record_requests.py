"""Requests about game records: list the games of a file, list the steps of a game, review a game."""

import asyncio
import json
from collections.abc import AsyncIterator, Hashable
from contextlib import suppress
from typing import Any

import numpy as np

from genial_env._util.stopping import checkpoint
from genial_env._util.strict_json import JSONError, decode_text, parse_object
from genial_env.analysis.judge import LEVELS
from genial_env.analysis.review import RACKS, Review, review
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.tables import tables
from genial_env.core.views import view
from genial_env.records import format_position, replay_decisions, verify
from genial_env.table import PERSON
from genial_env.web._request_checks import Refused, invalid
from genial_env.web._serialize import (
    JsonObject,
    event_to_json,
    names_to_json,
    position_to_json,
    public_events_to_json,
    rules_to_json,
    view_to_json,
    word_of,
)
from genial_env.web._work_queue import Task, WorkQueue

MAX_RECORDS = 2000
"""The number of records of a file that are read; later ones are only counted."""


def summarize_file(body: bytes) -> JsonObject:
    """Return for each game of a file of records its line and a summary, or its line and its first fault.

    Raises:
        Refused: if the file has no games or is not text.
    """
    lines = [(number, line) for number, line in enumerate(_decode(body).split("\n"), 1) if line.strip()]
    if not lines:
        raise Refused(422, "expected game records, a JSON object a line; found an empty file", "empty_file")
    parsed = [_parse_line(line) for _, line in lines[:MAX_RECORDS]]
    faults = verify(record for record in parsed if not isinstance(record, JSONError))
    games: list[JsonObject] = []
    for (number, _), record in zip(lines, parsed, strict=False):
        checkpoint()
        if isinstance(record, JSONError):
            games.append({"line": number, "fault": str(record)})
        else:
            fault = next(faults)
            games.append({"line": number, **(_summarize_record(record) if fault is None else {"fault": fault})})
    return {"games": games, "more": len(lines) - len(games)}


def list_steps(record: dict[str, Any]) -> JsonObject:
    """Return the events of a recorded game, the position before each decision, and the last position."""
    rules, found = Rules.from_dict(record["rules"]), replay_decisions(record)
    frames = [_frame(event, found.states.select(np.array([row]))) for row, event in enumerate(found.events.tolist())]
    frames.append(_frame(len(record["events"]), found.final))
    return {
        **_summarize_record(record),
        "rules": rules_to_json(rules),
        "events": [event_to_json(number, event, rules) for number, event in enumerate(record["events"])],
        "frames": frames,
    }


def _frame(event: int, state: State) -> JsonObject:
    """Return a position of a recorded game: the number of events before it, its text, and that of the seat to play."""
    texts = {
        "text": format_position(state, draws=False),
        "seen": format_position(state, seat=int(state.to_play[0])),
    }
    return {"event": event, "position": position_to_json(state), **texts}


def list_public_steps(record: dict[str, Any], seat: int | None, *, texts: bool) -> JsonObject:
    """Return the steps of a game in progress as a seat may know them; None: as everybody may know them.

    Draws and declined swaps are left out. If `texts` is true, a seat's positions have a text, in which other racks are
    hidden.
    """
    rules, found = Rules.from_dict(record["rules"]), replay_decisions(record)
    shown = [row for row, event in enumerate(found.events.tolist()) if record["events"][event][0] != "keep"]
    states = [found.states.select(np.array([row])) for row in shown] + [found.final]
    frames = []
    for number, state in enumerate(states):
        text = {} if seat is None or not texts else {"text": format_position(state, seat=seat, draws=False)}
        known = view(state, int(state.to_play[0]) if seat is None else seat)
        frames.append({"event": number, "position": view_to_json(known, seat is not None), **text})
    return {
        **_summarize_record(record),
        "rules": rules_to_json(rules),
        "events": public_events_to_json(record["events"], rules),
        "frames": frames,
    }


def parse_record(body: bytes) -> dict[str, Any]:
    """Return the record that a body holds, checked.

    Raises:
        Refused: if the body is not a valid record; the message names the first fault.
    """
    record = _parse_line(_decode(body))
    if isinstance(record, JSONError):
        raise Refused(422, str(record), "invalid_record", reason=str(record))
    fault = next(verify([record]))
    if fault is not None:
        raise Refused(422, fault, "invalid_record", reason=fault)
    return record


def review_to_json(found: Review) -> JsonObject:
    """Return a review; each alternative that is a placement also has the `slot` of its tile, others a `word`.

    The word is "swap" or "decline"; the slot of such an alternative is None.
    """
    data, t = found.to_dict(), tables(found.rules)
    for decision in data["decisions"]:
        for other in decision["alternatives"]:
            action = other["action"]
            other["slot"] = t.split_action(action)[0] if t.is_placing(action) else None
            if other["slot"] is None:
                other["word"] = word_of(t, action)
    return data


class ReviewStream:
    """A review that is sent line by line as the work goes on.

    The lines are JSON: ``{"done": 3, "of": 42}`` several times, then ``{"review": ...}`` or ``{"error": ...}``. Whoever
    reads the lines cancels the task if nobody wants them any more. An event loop must be running.

    Args:
        queue: where the task waits for a thread.
        owner: the digest of the session.
        record: a game, checked.
        level: a name of :data:`genial_env.analysis.judge.LEVELS`.
        racks: a word of :data:`genial_env.analysis.review.RACKS`: whether the judge sees all racks.

    Raises:
        Refused: if too many tasks are waiting, or the level or the word is unknown.
    """

    def __init__(self, queue: WorkQueue, owner: Hashable, record: dict[str, Any], level: str, racks: str) -> None:
        if level not in LEVELS:
            raise invalid("level", f"one of {', '.join(LEVELS)}", level)
        if racks not in RACKS:
            raise invalid("racks", f"one of {', '.join(RACKS)}", racks)
        self._record, self._level, self._open_racks = record, level, bool(RACKS.index(racks))
        self._loop = asyncio.get_running_loop()
        self._progress: asyncio.Queue[JsonObject | None] = asyncio.Queue()
        self._progress.put_nowait({"done": 0, "of": sum(event[0] != "draw" for event in record["events"])})
        self.task: Task[JsonObject] = queue.submit(owner, "review", self._work)

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the lines as they come."""
        ending = asyncio.create_task(self._end())
        try:
            while (line := await self._progress.get()) is not None:
                yield _to_line(line)
            yield _to_line(self._result())
        finally:
            ending.cancel()

    def _work(self, task: Task[JsonObject]) -> JsonObject:
        def report(done: int, of: int) -> None:
            task.check_cancelled()
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._progress.put_nowait, {"done": done, "of": of})

        try:
            return review_to_json(review(self._record, self._level, report, open_racks=self._open_racks))
        except ValueError as error:
            raise Refused(422, str(error), "cannot_review", reason=str(error)) from error

    async def _end(self) -> None:
        await self.task.wait()
        self._progress.put_nowait(None)

    def _result(self) -> JsonObject:
        try:
            return {"review": self.task.outcome()}
        except Refused as error:
            return error.to_dict()
        except Exception:  # it was logged where it happened
            return Refused(500, "the review failed; the server's log says why", "review_failed").to_dict()


def _to_line(data: JsonObject) -> bytes:
    return json.dumps(data, allow_nan=False).encode() + b"\n"


def _summarize_record(record: dict[str, Any]) -> JsonObject:
    """Return who played which game, and how it ended."""
    kept = {name: record[name] for name in ("rules", "seed", "scores", "ranks", "end")}
    people = [seat for seat, agent in enumerate(record["agents"]) if agent == PERSON]
    return {**kept, **names_to_json(record["agents"]), "people": people}


def _parse_line(line: str) -> dict[str, Any] | JSONError:
    try:
        return parse_object(line)
    except JSONError as error:
        return error


def _decode(body: bytes) -> str:
    try:
        return decode_text(body)
    except JSONError as error:
        raise Refused(422, str(error), "invalid_record", reason=str(error)) from error
