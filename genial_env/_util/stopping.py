"""Long computations that another thread can stop: they call :func:`checkpoint` wherever they can be left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["checkpoint", "stoppable"]

_check: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)


@contextmanager
def stoppable(check: Callable[[], None]) -> Iterator[None]:
    """Have every checkpoint in the block call a function; an exception that it raises ends the computation."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def checkpoint() -> None:
    """Go on, unless the computation is to be stopped.

    Raises:
        Exception: what the function of :func:`stoppable` raises.
    """
    check = _check.get()
    if check is not None:
        check()
