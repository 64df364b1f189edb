"""Work that takes its time, in a few threads of its own, fairly shared between sessions: thinking, reviewing, reading.

Requests never do such work and never occupy a thread while they wait for it: they hand it to a :class:`WorkQueue` and
await the :class:`Task`, or answer that it is not done yet.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar, cast

from genial_env.web.guard import Refused

T = TypeVar("T")

log = logging.getLogger(__name__)


class Dropped(Exception):
    """Nobody wants the outcome of a task any more; raised in the task where it asks, and for those who wait for it."""


class Task(Generic[T]):
    """A piece of work: waiting, in progress, or done; its outcome can be awaited by any number of requests.

    Args:
        owner: whose it is: owners share the threads fairly.
        kind: what kind of work it is; how long the last of a kind took is what the next is expected to take.
        work: does it, given the task; what it returns or raises is the outcome.
    """

    def __init__(self, owner: Hashable, kind: str, work: "Callable[[Task[T]], T]") -> None:
        self.owner, self.kind = owner, kind
        self.in_progress = False
        """Whether a thread does it."""
        self._work: Callable[[Task[T]], T] | None = work
        self._asked = time.monotonic()
        self._settling = threading.Lock()
        self._found: T | None = None
        self._error: BaseException | None = None
        self._done = False
        self._waiting: set[Callable[[], object]] = set()  # told when it is done

    @property
    def seconds(self) -> float:
        """Since it was asked for."""
        return time.monotonic() - self._asked

    @property
    def done(self) -> bool:
        """Whether there is an outcome."""
        return self._done

    def drop(self) -> None:
        """Do not begin it any more, or let it have no outcome but :class:`Dropped`. Changes nothing once it is done."""
        self._settle(None, Dropped())

    def go_on(self) -> None:
        """Called by the work where it can break off.

        Raises:
            Dropped: where nobody wants the outcome.
        """
        if self.done:
            raise Dropped

    async def wait(self, seconds: float | None = None) -> None:
        """Wait until there is an outcome, or some seconds have gone by; None for however long. No thread waits."""
        loop = asyncio.get_running_loop()
        came = asyncio.Event()
        tell = partial(_tell, loop, came)
        with self._settling:
            if self._done:
                return
            self._waiting.add(tell)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(came.wait(), seconds)
        finally:
            self._waiting.discard(tell)

    def outcome(self) -> T:
        """What the work returned, once it is done.

        Raises:
            Dropped: where it was dropped.
            Exception: what the work raised.
        """
        if self._error is not None:
            raise self._error
        return cast(T, self._found)

    def run(self) -> None:
        """Do the work, unless it was dropped."""
        work, self._work = self._work, None
        if work is None or self.done:
            return
        self.in_progress = True
        try:
            self._settle(work(self), None)
        except BaseException as error:  # an agent's SystemExit ends its own task alone
            if not isinstance(error, Dropped | Refused) and not self.done:
                log.exception("%s broke off", self.kind)
            self._settle(None, error if isinstance(error, Exception) else RuntimeError(repr(error)))

    def _settle(self, found: T | None, error: Exception | None) -> None:
        with self._settling:
            if self._done:
                return
            self._found, self._error, self._done = found, error, True
            waiting = list(self._waiting)
        for tell in waiting:
            tell()


def _tell(loop: asyncio.AbstractEventLoop, came: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the loop has ended
        loop.call_soon_threadsafe(came.set)


@dataclass
class _Share:
    """What one owner has in a queue."""

    served: float  # seconds of work that it had, counted from the queue's clock when it came
    waiting: deque[Task[Any]] = field(default_factory=deque)
    in_progress: int = 0


class WorkQueue:
    """A few threads that do tasks, by weighted fair queueing.

    The owner comes next whose next task would bring it to the least work in all. So nobody is served less for others'
    having many tasks, and short tasks are not kept waiting by long ones beyond those in progress.

    Args:
        threads: how many; they start with the first task and never keep the process from ending.
        most: tasks that may wait.
        name: of the threads.
    """

    def __init__(self, threads: int, most: int, name: str) -> None:
        self._size, self._most, self._name = threads, most, name
        self._changed = threading.Condition()
        self._shares: dict[Hashable, _Share] = {}
        self._expected: dict[str, float] = {}
        self._clock = 0.0
        self._threads: list[threading.Thread] = []
        self._in_progress: dict[Task[Any], float] = {}  # what their owners were charged ahead
        self._ended = False

    @property
    def busy(self) -> bool:
        """Whether a thread works, for anybody or for nobody any more."""
        return bool(self._in_progress)

    def submit(self, owner: Hashable, kind: str, work: Callable[[Task[T]], T]) -> Task[T]:
        """Have a task done.

        Raises:
            Refused: where too many wait, or the server is ending.
        """
        task = Task(owner, kind, work)
        with self._changed:
            if self._ended:
                raise Refused(503, "the server is ending")
            self._forget_dropped()
            if sum(len(share.waiting) for share in self._shares.values()) >= self._most:
                raise Refused(503, "too much is waiting for this server's processors: ask again in a moment")
            self._shares.setdefault(owner, _Share(self._clock)).waiting.append(task)
            if len(self._threads) < self._size:
                name = f"{self._name} {len(self._threads)}"
                self._threads.append(threading.Thread(target=self._serve, name=name, daemon=True))
                self._threads[-1].start()
            self._changed.notify()
        return task

    def close(self) -> None:
        """Drop all tasks and take no more; work in progress has no outcome."""
        with self._changed:
            self._ended = True
            tasks = [*self._in_progress, *(task for share in self._shares.values() for task in share.waiting)]
            self._changed.notify_all()
        for task in tasks:
            task.drop()

    def _serve(self) -> None:
        while (task := self._next()) is not None:
            start = time.monotonic()
            task.run()
            self._finished(task, time.monotonic() - start)
            del task  # what it holds is not held while there is nothing to do

    def _next(self) -> Task[Any] | None:
        """The next task, in progress from now on; None when the queue has ended."""
        with self._changed:
            while not self._ended:
                self._forget_dropped()
                waiting = [share for share in self._shares.values() if share.waiting]
                if waiting:
                    return self._begin(min(waiting, key=self._turn))
                self._changed.wait()
        return None

    def _turn(self, share: _Share) -> tuple[float, float]:
        first = share.waiting[0]
        return share.served + self._expected.get(first.kind, 0.0), -first.seconds

    def _begin(self, share: _Share) -> Task[Any]:
        task = share.waiting.popleft()
        self._clock = max(self._clock, share.served)
        self._in_progress[task] = self._expected.get(task.kind, 0.0)
        share.served += self._in_progress[task]
        share.in_progress += 1
        return task

    def _finished(self, task: Task[Any], took: float) -> None:
        with self._changed:
            share = self._shares[task.owner]
            share.served += took - self._in_progress.pop(task)
            share.in_progress -= 1
            self._expected[task.kind] = took
            self._forget_dropped()

    def _forget_dropped(self) -> None:
        for owner, share in list(self._shares.items()):
            if any(task.done for task in share.waiting):
                share.waiting = deque(task for task in share.waiting if not task.done)
            if not share.waiting and not share.in_progress:
                del self._shares[owner]
