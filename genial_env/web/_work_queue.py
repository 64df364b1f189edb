"""Queues for long work: agents' decisions, reviews, uploaded files. Sessions share the threads fairly.

A request hands long work to a :class:`WorkQueue` and awaits the :class:`Task`, or answers that it is not done yet. No
thread waits meanwhile.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar, cast

from genial_env._util.stopping import stoppable
from genial_env.web._request_checks import Refused
from genial_env.web._warm_up import WARM_UP

T = TypeVar("T")

MAX_ASIDE = 16
"""The most threads of a queue that wait for the disk while others work in their place."""

log = logging.getLogger(__name__)


class TaskCancelled(Exception):
    """A task was cancelled. It is raised in the task when the task checks, and for those who wait for its outcome."""


class Task(Generic[T]):
    """Work that waits, is in progress, or is done. Any number of requests can await its outcome.

    Args:
        owner: the owner of the task; owners share the threads fairly.
        kind: the kind of work. A task is expected to take as long as the last one of its kind.
        work: the function that is called with the task; what it returns or raises is the outcome.
        on_idle: is called when the task is cancelled, and when its thread waits for the disk.
    """

    def __init__(self, owner: Hashable, kind: str, work: "Callable[[Task[T]], T]", on_idle: Callable[[], None]) -> None:
        self.owner, self.kind = owner, kind
        self.is_aside = False
        """Whether the work waits for the disk, so that another task may be begun."""
        self.in_progress = False
        """Whether a thread is working on it."""
        self._on_idle = on_idle
        self._work: Callable[[Task[T]], T] | None = work
        self._created = time.monotonic()
        self._lock = threading.Lock()
        self._found: T | None = None
        self._error: BaseException | None = None
        self._done = False
        self._waiting: set[Callable[[], object]] = set()  # called when it is done

    @property
    def seconds(self) -> float:
        """The seconds since the task was made."""
        return time.monotonic() - self._created

    @property
    def done(self) -> bool:
        """Whether there is an outcome."""
        return self._done

    def cancel(self) -> None:
        """Do not begin the task, or discard its outcome. A task that is done does not change."""
        self._finish(None, TaskCancelled())
        self._on_idle()

    def check_cancelled(self) -> None:
        """Raise an error if the task was cancelled. Every checkpoint of the work calls this.

        Raises:
            TaskCancelled: if it was cancelled.
        """
        if self.done:
            raise TaskCancelled

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let another thread work in the block, in which this one waits for the disk."""
        self.is_aside = True
        self._on_idle()
        try:
            yield
        finally:
            self.is_aside = False

    async def wait(self, seconds: float | None = None) -> None:
        """Wait until there is an outcome, or some seconds have passed; None for no limit. No thread waits."""
        loop = asyncio.get_running_loop()
        came = asyncio.Event()
        notify = partial(_notify, loop, came)
        with self._lock:
            if self._done:
                return
            self._waiting.add(notify)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(came.wait(), seconds)
        finally:
            self._waiting.discard(notify)

    def outcome(self) -> T:
        """Return what the work returned. The task must be done.

        Raises:
            TaskCancelled: if the task was cancelled.
            Exception: what the work raised.
        """
        if self._error is not None:
            raise self._error
        return cast(T, self._found)

    def run(self) -> None:
        """Do the work, unless the task was cancelled."""
        work, self._work = self._work, None
        if work is None or self.done:
            return
        self.in_progress = True
        try:
            with stoppable(self.check_cancelled):
                self._finish(work(self), None)
        except BaseException as error:  # an agent's SystemExit ends its own task alone
            if not isinstance(error, TaskCancelled | Refused) and not self.done:
                log.exception("%s failed", self.kind)
            self._finish(None, error if isinstance(error, Exception) else RuntimeError(repr(error)))

    def _finish(self, found: T | None, error: Exception | None) -> None:
        with self._lock:
            if self._done:
                return
            self._found, self._error, self._done = found, error, True
            waiting = list(self._waiting)
        for notify in waiting:
            notify()


def _notify(loop: asyncio.AbstractEventLoop, came: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the loop has ended
        loop.call_soon_threadsafe(came.set)


@dataclass
class _OwnerQueue:
    """The tasks of one owner."""

    served: float  # seconds of work done for the owner, counted from the queue's clock when its first task came
    waiting: deque[Task[Any]] = field(default_factory=deque)
    in_progress: int = 0


class WorkQueue:
    """A few threads that do tasks, by weighted fair queueing.

    The next task is that of the owner who would then have had the least work in all. So an owner with many tasks does
    not delay others, and short tasks wait for long ones only if these are in progress.

    A thread cannot be ended. One whose task was cancelled goes on to the work's next checkpoint
    (:mod:`genial_env._util.stopping`), or without one to its end. Until then it is replaced; at most as many threads as
    the queue has are replaced at a time.

    Args:
        threads: the number of threads. They start with the first tasks and do not keep the process from ending.
        max_waiting: the most tasks that may wait.
        name: the name of the threads.
    """

    def __init__(self, threads: int, max_waiting: int, name: str) -> None:
        self._size, self._max_waiting, self._name = threads, max_waiting, name
        self._changed = threading.Condition()
        self._owners: dict[Hashable, _OwnerQueue] = {}
        self._expected: dict[str, float] = {}
        self._clock = 0.0
        self._threads = 0
        self._in_progress: dict[Task[Any], float] = {}  # seconds charged to their owners in advance
        self._ended = False

    @property
    def busy(self) -> bool:
        """Whether a thread works, also for a task that was cancelled."""
        return bool(self._in_progress)

    def submit(self, owner: Hashable, kind: str, work: Callable[[Task[T]], T]) -> Task[T]:
        """Add a task and return it.

        Raises:
            Refused: if too many tasks wait, or the server is ending.
        """
        task = Task(owner, kind, work, self._replace_threads)
        with self._changed:
            if self._ended:
                raise Refused(503, "the server is ending", "server_ending")
            self._remove_finished()
            if sum(len(share.waiting) for share in self._owners.values()) >= self._max_waiting:
                raise Refused(503, "the server is busy: try again in a moment", "server_busy")
            self._owners.setdefault(owner, _OwnerQueue(self._clock)).waiting.append(task)
            self._start_threads()
            self._changed.notify()
        return task

    def close(self) -> None:
        """Cancel all tasks and take no more."""
        with self._changed:
            self._ended = True
            tasks = [*self._in_progress, *(task for share in self._owners.values() for task in share.waiting)]
            self._changed.notify_all()
        for task in tasks:
            task.cancel()

    @property
    def _allowed(self) -> int:
        """How many threads there may be: more than the queue has while some wait, or work on cancelled tasks."""
        cancelled = sum(task.done for task in self._in_progress)
        aside = sum(task.is_aside for task in self._in_progress)
        return self._size + min(self._size, cancelled) + min(MAX_ASIDE, aside)

    def _replace_threads(self) -> None:
        """Start a thread in the place of one that waits, or is at work on a cancelled task, if there are tasks."""
        with self._changed:
            self._start_threads()

    def _start_threads(self) -> None:
        if not self._ended and self._threads < self._allowed and any(each.waiting for each in self._owners.values()):
            self._threads += 1
            threading.Thread(target=self._serve, name=f"{self._name} {self._threads}", daemon=True).start()

    def _serve(self) -> None:
        while (task := self._next()) is not None:
            start = time.monotonic()
            with WARM_UP.fallback():
                task.run()
            self._note_end(task, time.monotonic() - start)
            del task  # so that nothing is held while there is nothing to do

    def _next(self) -> Task[Any] | None:
        """Return the next task, which is in progress from now on; None when the thread is to end."""
        with self._changed:
            while not self._ended:
                if self._threads > self._allowed:
                    self._threads -= 1
                    return None
                self._remove_finished()
                waiting = [share for share in self._owners.values() if share.waiting]
                if waiting:
                    return self._begin(min(waiting, key=self._priority))
                self._changed.wait()
        return None

    def _priority(self, share: _OwnerQueue) -> tuple[float, float]:
        first = share.waiting[0]
        return share.served + self._expected.get(first.kind, 0.0), -first.seconds

    def _begin(self, share: _OwnerQueue) -> Task[Any]:
        task = share.waiting.popleft()
        self._clock = max(self._clock, share.served)
        self._in_progress[task] = self._expected.get(task.kind, 0.0)
        share.served += self._in_progress[task]
        share.in_progress += 1
        return task

    def _note_end(self, task: Task[Any], took: float) -> None:
        with self._changed:
            share = self._owners[task.owner]
            share.served += took - self._in_progress.pop(task)
            share.in_progress -= 1
            self._expected[task.kind] = took
            self._remove_finished()

    def _remove_finished(self) -> None:
        for owner, share in list(self._owners.items()):
            if any(task.done for task in share.waiting):
                share.waiting = deque(task for task in share.waiting if not task.done)
            if not share.waiting and not share.in_progress:
                del self._owners[owner]
