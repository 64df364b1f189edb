"""How programs end: with one line, the exit status of the signal, and no process left behind.

A program of several processes has three ways to end early. Ctrl-C and SIGTERM raise :class:`Ending` in the main thread,
so that blocks clean up (part files go, locks are freed), and :func:`orderly` then ends the child processes. SIGKILL
leaves the program no time: each child watches its parent (:func:`end_with_parent`).
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

PATIENCE_S = 5.0
"""How long cleaning up may take; a signal that comes after that ends the process at once."""

WATCH_S = 0.5
"""How often a child process looks whether its parent is still there."""


class Ending(BaseException):
    """A signal asks this process to end. Not an Exception, so that nobody takes it for a fault.

    Attributes:
        number: the signal's number.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    def __str__(self) -> str:
        return f"ended by {signal.Signals(self.number).name}"


@contextmanager
def orderly(name: str) -> Iterator[None]:
    """Let the block be a whole program that ends in order; leaves the process by SystemExit where it is broken off.

    =======================  ====================================================================
    Ctrl-C, SIGTERM, SIGHUP  child processes are ended; one line; status 128 + the signal's number
    OSError                  one line, with the file (or the locked folder and its holder); status 1
    =======================  ====================================================================

    Signals that are ignored, as after ``nohup``, stay so. In other threads than the main one signals are left alone.

    Args:
        name: of the program, begins the line.
    """
    with _signals_raise():
        try:
            yield
            return
        except (Ending, KeyboardInterrupt) as error:
            ending = error if isinstance(error, Ending) else Ending(signal.SIGINT)
            traceback.clear_frames(error.__traceback__)  # generators that stand still clean up now
            end_children()
            status, said = 128 + ending.number, str(ending)
        except BrokenPipeError:
            raise  # nobody reads any more
        except OSError as error:
            status, said = 1, about_os_error(error)
        with suppress(OSError, ValueError):  # nobody may be there to read it
            print(f"{name}: {said}", file=sys.stderr, flush=True)
        sys.exit(status)


def about_os_error(error: OSError) -> str:
    """Say what is wrong with which file, in one line."""
    what = error.strerror or str(error) or type(error).__name__
    return what if error.filename is None else f"{error.filename}: {what}"


def end_children() -> None:
    """Kill the processes that multiprocessing or joblib started for this one, and wait for their ends."""
    children = multiprocessing.active_children()
    for child in children:
        if child.pid is not None:
            with suppress(ProcessLookupError):  # not child.kill(), which joblib's have not
                os.kill(child.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    deadline = time.monotonic() + PATIENCE_S
    for child in children:
        child.join(max(0.0, deadline - time.monotonic()))


@contextmanager
def starting_children() -> Iterator[None]:
    """Start child processes that Ctrl-C in a terminal does not reach, from their first moment: their parent ends them.

    Where the system has no signal masks (Windows), :func:`end_with_parent` sees to it once the child has begun.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # children inherit it
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent(parent: int) -> None:
    """Let this process end within a second of its parent, however that ends, and leave Ctrl-C to the parent.

    Args:
        parent: the parent's process id, as the parent says: it may have ended already.
    """
    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_wait_for_end, args=(parent,), daemon=True).start()


def _wait_for_end(parent: int) -> None:
    """Wait until the parent has ended, then end this process."""
    if os.name == "posix":
        while os.getppid() == parent:
            time.sleep(WATCH_S)
    elif (known := multiprocessing.parent_process()) is not None:
        known.join()
    os._exit(1)


@contextmanager
def _signals_raise() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP raise :class:`Ending` in the block. Later ones do nothing until patience ends."""
    began: list[float] = []

    def end(number: int, frame: Any) -> None:
        if not began:
            began.append(time.monotonic())
            raise Ending(number)
        if time.monotonic() > began[0] + PATIENCE_S:
            os._exit(128 + number)

    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP")):
            if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
