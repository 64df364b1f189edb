"""A game on the server: its table, its people, and the task about it."""

import asyncio
import json
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from genial_env.policies.registry import known_names
from genial_env.table import PERSON, Table
from genial_env.web._request_checks import Refused
from genial_env.web._seating import OUT_OF_TIME, SUBSTITUTE, Seating, Viewer
from genial_env.web._work_queue import Task

NO_SUCH_GAME = "there is no such game here: it was removed, or is another browser's"


class Changes:
    """Wakes the requests that wait for a game to change. No thread waits meanwhile."""

    def __init__(self) -> None:
        self._version = ""
        self._waiting: set[Callable[[], object]] = set()

    def note(self, version: str) -> None:
        """Note the version of the game, and wake all who wait if it is a new one."""
        if version != self._version:
            self._version = version
            for wake in list(self._waiting):
                wake()

    async def wait(self, seen: str) -> None:
        """Wait until the version is another one than the one that was seen."""
        loop, came = asyncio.get_running_loop(), asyncio.Event()
        wake = partial(_wake, loop, came)
        self._waiting.add(wake)
        try:
            if self._version == seen:
                await came.wait()
        finally:
            self._waiting.discard(wake)


def _wake(loop: asyncio.AbstractEventLoop, came: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the loop has ended
        loop.call_soon_threadsafe(came.set)


@dataclass(eq=False)
class Game:
    """A table, and what the server knows about it.

    Whoever uses the table holds the lock, for a short time only. Agents think about a copy, without the lock.
    """

    id: str
    table: Table
    started: float  # seconds since 1970
    names: tuple[str | None, ...] = ()
    """The name that the person of each seat has given, None for none; empty if nobody has given one."""
    seating: Seating = field(default_factory=Seating)
    """Who sits where."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    removed: bool = False
    task: Task[Any] | None = None
    """The last task about the game: an agent's decision, or a hint. It is cancelled when the game goes on."""
    about: tuple[int, int | None] = (-1, None)
    """The turn that the task is about, and for a hint the seat."""
    stopped: bool = False
    """Whether a person has cancelled the thinking of the agent to play. It thinks again when a person says so."""
    changes: Changes = field(default_factory=Changes)
    save: Callable[[], None] = field(default=lambda: None)
    """Saves the game; the session sets it."""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the game's lock in the block; look at the clock before, and note changes after it.

        Raises:
            Refused: if the game was removed.
        """
        with self.lock:
            if self.removed:
                raise Refused(404, NO_SUCH_GAME, "no_such_game")
            self._check_clock()
            try:
                yield
            finally:
                self.run_clock()
                self.changes.note(self.version)

    @property
    def ended(self) -> bool:
        """Whether the game is over, or so many people have left that it is decided."""
        return self.table.over or self.seating.is_decided(self.table.rules, self.table.players)

    @property
    def waits(self) -> bool:
        """Whether a person is to play."""
        return self.table.waits and not self.ended

    @property
    def host(self) -> Viewer:
        """The owner of the game."""
        return Viewer(self.seating.own_seats(self.table.players), is_host=True)

    @property
    def version(self) -> str:
        """A text that is another one whenever what viewers see has changed. A thinking agent does not change it."""
        seen = (self.table.actions, self.stopped, self.names, self.removed, *self.seating.fingerprint())
        return f"{zlib.crc32(repr(seen).encode(errors='replace')):08x}"

    def leave(self, seat: int, reason: str) -> None:
        """In place: a person leaves; an agent plays the seat on, if the game goes on. The caller holds the lock."""
        self.seating.left[seat], self.seating.offer = reason, None
        self.cancel_task()
        if not self.ended:
            self.give_seat(seat, SUBSTITUTE)

    def give_seat(self, seat: int, agent: str) -> None:
        """In place: an agent takes a seat from another player. The caller holds the lock.

        Raises:
            ValueError: if the agent cannot play these rules.
        """
        before = self._name(seat)
        self.table.replace(seat, agent, from_data=True)
        self.seating.former.setdefault(seat, []).append(before)

    def end_turn(self, seat: int) -> None:
        """In place: add the seconds for a turn if the turn of a person is over. The caller holds the lock."""
        if self.seating.clock is not None and (self.table.over or self.table.to_play != seat):
            self.seating.clock.end_turn(seat)

    def run_clock(self) -> None:
        """In place: let the time of the person to play run, if all have joined. The caller holds the lock."""
        if self.seating.clock is not None:
            absent = self.seating.absent(self.table.players)
            self.seating.clock.switch(self.table.to_play if self.waits and not absent else None)

    def snapshot(self) -> Callable[[], None]:
        """Return a function that undoes, in place, everything that was changed meanwhile."""
        table, names, seating, stopped = self.table.copy(), self.names, deepcopy(self.seating), self.stopped

        def restore() -> None:
            self.table, self.names, self.seating, self.stopped = table, names, seating, stopped

        return restore

    def record(self) -> dict[str, Any]:
        """Return the record of the game, with the names that people have given."""
        agents = []
        for seat in range(self.table.rules.players):
            agents.append(", then ".join([*self.seating.former.get(seat, ()), self._name(seat)]))
        return {**self.table.record(), "agents": agents}

    def to_json(self) -> str:
        """Return the text of the game's file."""
        data: dict[str, Any] = {"started": self.started, "table": self.table.to_dict()}
        if self.names:
            data["names"] = list(self.names)
        if seating := self.seating.to_dict():
            data["seating"] = seating
        return json.dumps(data)

    def is_about(self, task: Task[Any]) -> bool:
        """Return whether a task is the last one about the game, and was not cancelled because the game went on."""
        return task is self.task

    def cancel_task(self) -> None:
        """Cancel the task about the game, if there is one."""
        if self.task is not None:
            self.task.cancel()
            self.task = None

    def _name(self, seat: int) -> str:
        player = self.table.players[seat]
        if player is not None:
            return player
        name = (self.names[seat] if self.names else None) or PERSON
        return f"{name} ({PERSON})" if name in known_names() else name

    def _check_clock(self) -> None:
        clock = self.seating.clock
        if clock is not None and clock.running is not None and clock.remaining(clock.running) <= 0 and self.waits:
            self.leave(clock.running, OUT_OF_TIME)
            with suppress(Refused):  # it is logged, and saved with the next change
                self.save()
