"""Shutdown of programs: one line of output, the signal's exit status, and no child process left running.

Programs with several processes end early in three ways. Ctrl-C and SIGTERM raise :class:`Terminated` in the main
thread, so ``finally`` blocks remove partial files and release locks. :func:`handle_signals` then kills the child
processes. SIGKILL gives a program no time to do so. Therefore each child process watches its parent
(:func:`exit_with_parent`).
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

CLEANUP_LIMIT_S = 5.0
"""The time for cleaning up. A second signal after this time ends the process at once."""

REPEAT_S = 0.1
"""The interval at which a signal is repeated that comes while the program blocks."""

PARENT_POLL_S = 0.5
"""The interval at which a child process checks that its parent still runs."""


class Terminated(BaseException):
    """Raised when a signal asks this process to end. Not an Exception, so ``except Exception`` does not catch it.

    Attributes:
        number: The signal's number.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    def __str__(self) -> str:
        return f"ended by {signal.Signals(self.number).name}"


@contextmanager
def handle_signals(name: str) -> Iterator[None]:
    """Run the block as a program's main function: end with one line and SystemExit on signals and OSErrors.

    =======================  ==========================================================================
    Ctrl-C, SIGTERM, SIGHUP  kill the child processes, print one line, exit with 128 + the signal's number
    OSError                  print one line with the file (or the locked folder and its holder), exit with 1
    =======================  ==========================================================================

    Signals that were ignored before (``nohup``) stay ignored. Outside the main thread signals are not handled.

    Args:
        name: The program's name, with which the line begins.
    """
    with signals_raise(Terminated):
        try:
            yield
            return
        except (Terminated, KeyboardInterrupt) as error:
            ending = error if isinstance(error, Terminated) else Terminated(signal.SIGINT)
            traceback.clear_frames(error.__traceback__)  # generators that stand still clean up now
            kill_children()
            status, said = 128 + ending.number, str(ending)
        except BrokenPipeError:
            raise  # the reader of the output has gone
        except OSError as error:
            status, said = 1, describe_os_error(error)
        with suppress(OSError, ValueError):  # standard error may be closed
            print(f"{name}: {said}", file=sys.stderr, flush=True)
        sys.exit(status)


def describe_os_error(error: OSError) -> str:
    """Return one line that names the file and the error."""
    what = error.strerror or str(error) or type(error).__name__
    return what if error.filename is None else f"{error.filename}: {what}"


def kill_children() -> None:
    """Kill all child processes of multiprocessing and joblib, and wait until they have ended."""
    children = multiprocessing.active_children()
    for child in children:
        if child.pid is not None:
            with suppress(ProcessLookupError):  # not child.kill(), which joblib's have not
                os.kill(child.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    deadline = time.monotonic() + CLEANUP_LIMIT_S
    for child in children:
        child.join(max(0.0, deadline - time.monotonic()))


@contextmanager
def sigint_blocked() -> Iterator[None]:
    """Block SIGINT in child processes that are started in the block. Ctrl-C then reaches the parent only.

    On systems without signal masks (Windows) this does nothing; :func:`exit_with_parent` ignores SIGINT later.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # children inherit it
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def exit_with_parent(parent: int) -> None:
    """Make this child process exit within a second of its parent's end, and ignore Ctrl-C.

    On Windows it exits with its parent if multiprocessing started it; others end when their input is closed.

    Args:
        parent: The parent's process id, sent by the parent, since the parent may have ended already.
    """
    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_wait_for_end, args=(parent,), daemon=True).start()


def _wait_for_end(parent: int) -> None:
    """Wait until the parent has ended, then exit."""
    if os.name == "posix":
        while os.getppid() == parent:
            time.sleep(PARENT_POLL_S)
    elif (known := multiprocessing.parent_process()) is not None:
        known.join()
    else:
        return
    os._exit(1)


@contextmanager
def signals_raise(error: Callable[[int], BaseException]) -> Iterator[None]:
    """Raise an error in the main thread on the first SIGINT, SIGTERM or SIGHUP in the block.

    Later signals are ignored for :data:`CLEANUP_LIMIT_S`; after that they end the process. Signals that were ignored
    before (``nohup``) stay ignored. Outside the main thread signals are not handled.

    Args:
        error: makes the error from the signal's number.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    began: list[float] = []
    handled = threading.Event()

    def end(number: int, frame: Any) -> None:
        handled.set()
        if not began:
            began.append(time.monotonic())
            raise error(number)
        if time.monotonic() > began[0] + CLEANUP_LIMIT_S:
            os._exit(128 + number)

    before = {
        number: signal.signal(number, end)
        for number in (getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP"))
        if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None)
    }
    try:
        with _repeated(set(before), handled):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _repeated(numbers: set[signal.Signals], handled: threading.Event) -> Iterator[None]:
    """Repeat a signal until its handler has run.

    Python calls handlers between two instructions. If a signal comes after the last instruction before a call that
    blocks, such as reading from a terminal, the handler would have to wait for the end of the call. Only another signal
    interrupts it.

    Args:
        numbers: the signals.
        handled: is set by their handler.
    """
    if not hasattr(signal, "pthread_kill"):  # Windows
        yield
        return
    main = threading.get_ident()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)

    def repeat() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, numbers)  # else a signal that the main thread blocks would come here
        while number := os.read(reading, 1)[0]:
            while number in numbers and not handled.wait(REPEAT_S):
                signal.pthread_kill(main, number)

    thread = threading.Thread(target=repeat, name="genial_env repeats signals", daemon=True)
    thread.start()
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)  # the numbers of signals are written to it
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        handled.set()
        os.write(writing, bytes(1))
        thread.join()
        os.close(reading)
        os.close(writing)
