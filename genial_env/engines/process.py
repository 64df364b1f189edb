"""A child process that answers requests line by line. No call waits without a limit, whatever the child does."""

import atexit
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from weakref import WeakSet

from genial_env._util.shutdown import sigint_blocked
from genial_env.errors import AgentLate, AgentStopped

__all__ = ["LIMITS_MEMORY", "ChildProcess"]

LIMITS_MEMORY = sys.platform == "linux"
"""Whether this system can limit the memory of a child process."""

MOST_LINES = 1000
"""The number of lines that wait to be read. Then the child has to wait until it can write more."""

POLL_S = 1.0
"""The interval at which it is checked that a process without an answer still runs."""


class ChildProcess:
    """A child process and its pipes. Threads write to and read from them.

    SIGINT is blocked in the child, since a terminal sends it to all processes of a program.

    Args:
        command: the program and its arguments.
        longest_line: the largest size of a line in bytes; a longer one is handed out in parts.
        memory_mib: the largest amount of private writable memory (RLIMIT_DATA) of the process, and of each process
            that it starts, in MiB; None for no limit. Only if :data:`LIMITS_MEMORY`.

    Raises:
        OSError: if the program cannot be started, or its memory cannot be limited.
    """

    def __init__(self, command: Sequence[str], longest_line: int, memory_mib: int | None = None) -> None:
        self._longest_line, self._memory_mib = longest_line, memory_mib
        self._requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._lines: queue.Queue[bytes] = queue.Queue(MOST_LINES)
        self._ending = False
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._write, self._read)]
        with sigint_blocked():
            self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            if memory_mib is not None:
                _limit_memory(self._child.pid, memory_mib)
            for thread in self._threads:
                thread.start()
        except BaseException:
            self.end()
            raise
        _running.add(self)

    def send(self, request: bytes) -> None:
        """Send bytes."""
        self._requests.put(request)

    def read_line(self, limit_s: float | None) -> bytes:
        """Wait for the next line, line end included.

        Args:
            limit_s: the time limit in seconds; None for no limit.

        Raises:
            AgentLate: if there is none within the limit.
            AgentStopped: if the process ends.
        """
        left = float("inf") if limit_s is None else limit_s
        line: bytes | None = None
        while line is None:
            try:
                line = self._lines.get(timeout=max(0.0, min(left, POLL_S)))
            except queue.Empty:
                left -= POLL_S
                if self._child.poll() is not None:  # and something that it has started holds the pipe
                    line = b""
                elif left <= 0:
                    raise AgentLate(f"no answer within {limit_s:g} s") from None
        if not line:
            raise AgentStopped(self._describe_end())
        return line

    def end(self, patience_s: float = 0.0) -> None:
        """Close the pipes and end the process.

        Args:
            patience_s: how long it may take to end by itself, when its input is closed; then it is killed.
        """
        _running.discard(self)
        self._ending = True
        self._requests.put(b"")
        if patience_s:
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(patience_s)
        self._child.kill()
        self._child.wait()
        self._drain()
        for thread, pipe in zip(self._threads, (self._child.stdin, self._child.stdout), strict=True):
            if thread.is_alive():  # or it was never started
                thread.join(POLL_S)
            if pipe is not None and not thread.is_alive():
                with suppress(OSError):  # of what could not be sent any more
                    pipe.close()

    def _drain(self) -> None:
        """Take the lines that wait, so that the thread that reads can end."""
        with suppress(queue.Empty):
            while True:
                self._lines.get_nowait()

    def _write(self) -> None:
        assert self._child.stdin is not None
        with suppress(OSError):  # the process has ended: what waits for its answer notices
            while request := self._requests.get():
                self._child.stdin.write(request)
                self._child.stdin.flush()
            self._child.stdin.close()

    def _read(self) -> None:
        assert self._child.stdout is not None
        while (line := self._child.stdout.readline(self._longest_line)) and not self._ending:
            self._lines.put(line)
        with suppress(queue.Full):
            self._lines.put(b"", timeout=0 if self._ending else None)

    def _describe_end(self) -> str:
        try:
            status = self._child.wait(POLL_S)
        except subprocess.TimeoutExpired:
            return "its process closed its pipes"
        limit = "" if self._memory_mib is None else f", with a memory limit of {self._memory_mib} MiB"
        if status >= 0:
            return f"its process ended with exit status {status}{limit}"
        with suppress(ValueError):
            return f"its process was ended by {signal.Signals(-status).name}{limit}"
        return f"its process was ended by signal {-status}{limit}"


def _limit_memory(pid: int, mib: int) -> None:
    """Limit the memory of a child process that has just begun.

    Raises:
        OSError: if the limit cannot be set: it is above the limit of this process, or not allowed here.
    """
    if sys.platform == "linux":  # the type checker knows what this name of a system has
        import resource

        try:
            resource.prlimit(pid, resource.RLIMIT_DATA, (mib << 20, mib << 20))
        except ProcessLookupError:  # it has ended already
            pass
        except (OSError, ValueError, OverflowError) as error:
            raise OSError(f"the memory limit of {mib} MiB could not be set: {error}") from error


_running: WeakSet[ChildProcess] = WeakSet()


@atexit.register
def _end_all() -> None:
    for process in list(_running):
        process.end()
