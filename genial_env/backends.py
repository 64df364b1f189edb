"""Which backend does the work of the hot functions: "numpy", the reference, or "numba", its compiled twin.

    genial_env.use_backend("numba")                    # from now on, in the whole process
    with genial_env.use_backend("numba", threads=2):   # until the end of the block
        ...
    kernel.apply(state, actions, backend="numba")      # for this call

or ``GENIAL_ENV_BACKEND=numba`` (and with it ``GENIAL_ENV_THREADS=2``) in the environment. Same seeds, same games, bit
for bit, whatever the backend and however many threads. numba comes with the extra ``fast``; nothing of it is imported
before it is wanted.

A hot function is written in numpy where it belongs, and called as ``twin(function)(...)``: that is the function itself,
or the one of the same name in :mod:`genial_env.compiled`. Nothing else knows of backends.
"""

import importlib
import importlib.util
import os
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from genial_env.checks import as_integer

NUMPY, NUMBA = "numpy", "numba"
NAMES = (NUMPY, NUMBA)

BACKEND_VARIABLE, THREADS_VARIABLE = "GENIAL_ENV_BACKEND", "GENIAL_ENV_THREADS"

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Backend:
    """A backend by name.

    Args:
        name: "numpy" or "numba".
        threads: among how many the games of a call are shared; more than one with numba only.

    Raises:
        ValueError: for an unknown name, or a number of threads that it does not take.
        TypeError: for a number of threads that is not whole.
    """

    name: str = NUMPY
    threads: int = 1

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise ValueError(f"unknown backend {self.name!r}: the backends are {', '.join(NAMES)}")
        object.__setattr__(self, "threads", as_integer(self.threads, "threads", 1))
        if self.threads > 1 and self.name == NUMPY:
            raise ValueError(f"the backend 'numpy' works in one thread, not {self.threads}: take 'numba'")


AnyBackend = Backend | str | None
"""A backend, the name of one in one thread, or None for the one in use."""


class use_backend:  # noqa: N801  called like a function
    """Choose the backend of the whole process, from now on; in a ``with`` statement until the end of its block.

    Args:
        backend: "numpy", "numba" or a :class:`Backend`.
        threads: among how many the games of a call are shared; left out, one, or those of the given backend.

    Raises:
        ValueError, TypeError: as for :class:`Backend`.
        ImportError: for "numba" where it cannot be imported, saying how to install it.
    """

    def __init__(self, backend: Backend | str, threads: int | None = None) -> None:
        global _chosen
        chosen = backend if isinstance(backend, Backend) else Backend(backend)
        if threads is not None:
            chosen = Backend(chosen.name, threads)
        if chosen.name == NUMBA:
            compiled()
        self._before, _chosen = _chosen, chosen

    def __enter__(self) -> Backend:
        return current()

    def __exit__(self, *_: object) -> None:
        global _chosen
        _chosen = self._before


_chosen: Backend | None = None
_here: ContextVar[Backend | None] = ContextVar("backend of this call", default=None)


def current() -> Backend:
    """The backend in use."""
    return _here.get() or _chosen or _from_environment() or _REFERENCE


_REFERENCE = Backend()


def pick(backend: AnyBackend) -> Backend:
    """The backend that is meant.

    Raises:
        ValueError, TypeError: for something that is none.
    """
    if backend is None:
        return current()
    if isinstance(backend, str):
        return _by_name(backend)
    if isinstance(backend, Backend):
        return backend
    raise TypeError(f"a backend is a name or a Backend, not {backend!r} ({type(backend).__name__})")


@lru_cache(maxsize=8)
def _by_name(name: str) -> Backend:
    return Backend(name)


class using:  # noqa: N801  called like a function
    """All hot functions by this backend until the end of a ``with`` block, in this thread only; None changes nothing.

    Raises:
        ValueError, TypeError: for something that is no backend.
    """

    __slots__ = ("_backend", "_token")

    def __init__(self, backend: AnyBackend) -> None:
        self._backend = pick(backend) if backend is not None else _here.get()

    def __enter__(self) -> None:
        self._token = _here.set(self._backend)

    def __exit__(self, *_: object) -> None:
        _here.reset(self._token)


def twin(function: F, backend: AnyBackend = None) -> F:
    """A hot function as the backend has it.

    Args:
        function: the numpy one.
        backend: None for the one in use.

    Raises:
        ImportError: where it is numba and cannot be imported.
    """
    chosen = pick(backend)
    if chosen.name == NUMPY:
        return function
    found: F = compiled().twin(function.__name__, chosen.threads)
    return found


def for_one_game() -> Backend | None:
    """What plays the environments for one game at a time: the backend in use where somebody has chosen one, else numba
    where it is installed. None where neither is so, and for "numpy", whose calls cost one game as much as hundreds:
    then it is Python (:mod:`genial_env.scalar`).
    """
    chosen = _here.get() or _chosen or _from_environment()
    if chosen is not None:
        return chosen if chosen.name == NUMBA else None
    return Backend(NUMBA) if _numba_works() else None


@lru_cache(maxsize=1)
def _numba_works() -> bool:
    """Whether numba can be imported; warns once where it is installed and cannot."""
    if importlib.util.find_spec("numba") is None:
        return False
    try:
        compiled()
    except Exception as error:  # whatever a numba that does not fit its surroundings may raise
        warnings.warn(f"single games are played without numba: {error}", RuntimeWarning, stacklevel=2)
        return False
    return True


@lru_cache(maxsize=1)
def _from_environment() -> Backend | None:
    """What the environment variables say when somebody first asks.

    Raises:
        ValueError: for a value that is none, saying of which variable.
    """
    name, threads = os.environ.get(BACKEND_VARIABLE, ""), os.environ.get(THREADS_VARIABLE, "")
    if not name and not threads:
        return None
    try:
        return Backend(name or NUMPY, int(threads or 1))
    except ValueError as error:
        raise ValueError(f"{BACKEND_VARIABLE}={name}, {THREADS_VARIABLE}={threads}: {error}") from error


@lru_cache(maxsize=1)
def compiled() -> Any:
    """The module of compiled twins: the one arrow that points up, and it does so only when numba is wanted.

    Raises:
        ImportError: where numba cannot be imported, saying how to install it.
    """
    try:
        return importlib.import_module("genial_env.compiled")
    except ImportError as error:
        raise ImportError(f"the backend 'numba' needs numba: pip install 'genial-env[fast]' ({error})") from error
