"""Choose the compute backend: "numpy", the reference implementation, or "numba", the compiled one.

    genial_env.use_backend("numba")                    # from now on, in the whole process
    with genial_env.use_backend("numba", threads=2):   # until the end of the block, in this thread or task
        ...
    kernel.apply(state, actions, backend="numba")      # for this call

or ``GENIAL_ENV_BACKEND=numba`` (and ``GENIAL_ENV_THREADS=2``) in the environment of the process. The same seeds give
the same games, bit for bit, with every backend and number of threads. numba comes with the extra ``fast`` and is
imported only when it is used. If numba is told to compile nothing (``NUMBA_DISABLE_JIT=1``), the backend "numba"
computes with numpy and warns once.

Functions decorated with :class:`accelerated` have a compiled implementation, chosen by the current backend. It has the
same parameters after the number of threads, and is registered in :mod:`genial_env._compiled`::

    @accelerated
    def deal_racks(state: State, rows: Ints, seeds: Bits) -> None: ...

    @dealing.deal_racks.compiled
    def deal_racks(threads: int, state: State, rows: Ints, seeds: Bits) -> None: ...

    deal_racks(state, rows, seeds)              # on the current backend
    deal_racks.on(backend)(state, rows, seeds)  # on a given backend
    deal_racks.numpy(state, rows, seeds)        # the reference implementation
"""

import importlib
import importlib.util
import os
import threading
import warnings
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, partial, update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from genial_env._util.checks import as_integer
from genial_env._util.extras import install_hint

__all__ = [
    "BACKEND_VARIABLE",
    "NAMES",
    "NUMBA",
    "NUMPY",
    "THREADS_VARIABLE",
    "AnyBackend",
    "Backend",
    "accelerated",
    "chosen",
    "compiled",
    "current",
    "for_one_game",
    "is_chosen",
    "pick",
    "use_backend",
    "using",
]

NUMPY, NUMBA = "numpy", "numba"
NAMES = (NUMPY, NUMBA)

BACKEND_VARIABLE, THREADS_VARIABLE = "GENIAL_ENV_BACKEND", "GENIAL_ENV_THREADS"

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Backend:
    """A compute backend.

    Args:
        name: "numpy" or "numba".
        threads: among how many threads the games of a call are divided; more than one only with numba.

    Raises:
        ValueError: if the name is unknown, or the backend does not accept the number of threads.
        TypeError: if the number of threads is not an integer.
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
"""A backend, the name of a backend with one thread, or None for the current backend."""


class _Block:
    """A ``with`` block that sets the backend for the thread or task that enters it, and for no other.

    The object stores nothing about a block that was entered. So it may be entered again, nested, and by several
    threads.
    """

    __slots__ = ("_backend",)

    _backend: Backend | None

    def _begin(self) -> None:
        _blocks.set((self._backend, _blocks.get()))

    def _end(self) -> None:
        around = _blocks.get()
        assert around is not None, "a block that was not entered here"
        _blocks.set(around[1])


_Blocks = tuple[Backend | None, "_Blocks | None"]

_blocks: ContextVar[_Blocks | None] = ContextVar("backends of the blocks around, the innermost first", default=None)


class use_backend(_Block):  # noqa: N801  called like a function
    """Choose the backend of the whole process from now on; in a ``with`` statement, until the end of its block.

    A block applies to its thread only (in asyncio, to its task); others keep their backend. Python creates the object
    before it enters the block, so entering undoes the choice for the process. An object may be kept and entered again.

    Args:
        backend: "numpy", "numba" or a :class:`Backend`.
        threads: among how many threads the games of a call are divided; None: one, or the number of the given backend.

    Raises:
        ValueError, TypeError: as for :class:`Backend`.
        ImportError: if the backend is "numba" and it cannot be imported; the message says how to install it.
    """

    def __init__(self, backend: Backend | str, threads: int | None = None) -> None:
        chosen = backend if isinstance(backend, Backend) else Backend(backend)
        if threads is not None:
            chosen = Backend(chosen.name, threads)
        if _effective(chosen).name == NUMBA:
            compiled()
        self._backend = chosen
        _choose(self, chosen)

    def __enter__(self) -> Backend:
        _take_back(self)
        self._begin()
        return current()

    def __exit__(self, *_: object) -> None:
        self._end()


_calls: list[tuple["weakref.ref[use_backend]", Backend]] = []
"""The calls outside of ``with`` statements; the last one counts. The list is replaced, never changed, so that it can be
read without a lock."""

_lock = threading.Lock()


def _choose(call: use_backend, backend: Backend) -> None:
    """Record a call. Forget calls before the last one whose object no longer exists, as it can no longer be entered."""
    global _calls
    with _lock:
        last = max((index for index, (ref, _) in enumerate(_calls) if ref() is None), default=0)
        _calls = [*_calls[last:], (weakref.ref(call), backend)]


def _take_back(call: use_backend) -> None:
    """Forget a call, if it has not been forgotten already."""
    global _calls
    with _lock:
        _calls = [each for each in _calls if each[0]() is not call]


def chosen() -> Backend | None:
    """Return the backend that :class:`use_backend` has chosen for the process; None if it has chosen none."""
    calls = _calls
    return calls[-1][1] if calls else None


def current() -> Backend:
    """Return the current backend."""
    return _effective(_requested() or _REFERENCE)


_REFERENCE = Backend()


def _requested() -> Backend | None:
    """Return the backend requested by the block, else by the process, else by environment variables; None: none."""
    block = _blocks.get()
    return (block and block[0]) or chosen() or _from_environment()


def is_chosen() -> bool:
    """Return whether a block, the process or environment variables have chosen a backend."""
    return _requested() is not None


def _effective(backend: Backend) -> Backend:
    """Return the backend itself, or numpy instead of a numba that compiles nothing, with one warning."""
    if backend.name == NUMPY or not _compiles_nothing():
        return backend
    _warn_that_numpy_computes()
    return _REFERENCE


@lru_cache(maxsize=1)
def _compiles_nothing() -> bool:
    """Return whether numba is installed and told to compile nothing."""
    try:
        return bool(importlib.import_module("numba").config.DISABLE_JIT)
    except Exception:  # a broken installation may raise anything; using numba will report it
        return False


@lru_cache(maxsize=1)
def _warn_that_numpy_computes() -> None:
    warnings.warn("numba compiles nothing (NUMBA_DISABLE_JIT=1): numpy computes instead", RuntimeWarning, stacklevel=4)


def pick(backend: AnyBackend) -> Backend:
    """Return the backend that an argument `backend` means.

    Raises:
        ValueError, TypeError: if it is no backend.
    """
    if backend is None:
        return current()
    if isinstance(backend, str):
        return _effective(_by_name(backend))
    if isinstance(backend, Backend):
        return _effective(backend)
    raise TypeError(f"a backend is a name or a Backend, not {backend!r} ({type(backend).__name__})")


@lru_cache(maxsize=8)
def _by_name(name: str) -> Backend:
    return Backend(name)


class using(_Block):  # noqa: N801  called like a function
    """Set the backend until the end of a ``with`` block, in this thread or task only; None changes nothing.

    Raises:
        ValueError, TypeError: if it is no backend.
    """

    __slots__ = ()

    def __init__(self, backend: AnyBackend) -> None:
        if backend is None:
            around = _blocks.get()
            self._backend = around and around[0]
        else:
            self._backend = pick(backend)

    def __enter__(self) -> None:
        self._begin()

    def __exit__(self, *_: object) -> None:
        self._end()


class accelerated(Generic[P, R]):  # noqa: N801  used as a decorator
    """A function with a numpy implementation and a compiled one. Calling it computes on the current backend.

    Args:
        reference: the numpy implementation.
    """

    def __init__(self, reference: Callable[P, R]) -> None:
        self.numpy = reference
        self._compiled: Callable[Concatenate[int, P], R] | None = None
        self._by_threads: dict[int, Callable[P, R]] = {}
        update_wrapper(self, reference)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Compute on the current backend.

        Raises:
            ImportError: if that is numba and it cannot be imported.
        """
        return self.on(None)(*args, **kwargs)

    def on(self, backend: AnyBackend) -> Callable[P, R]:
        """Return the implementation of a backend; None: the current one.

        Raises:
            ValueError, TypeError: as for :func:`pick`.
            ImportError: if it is numba and it cannot be imported.
        """
        chosen = pick(backend)
        if chosen.name == NUMPY:
            return self.numpy
        bound = self._by_threads.get(chosen.threads)
        if bound is None:
            compiled()
            assert self._compiled is not None, f"{self.numpy.__qualname__} has no compiled implementation"
            bound = self._by_threads[chosen.threads] = partial(self._compiled, chosen.threads)
        return bound

    def compiled(self, implementation: Callable[Concatenate[int, P], R]) -> Callable[Concatenate[int, P], R]:
        """Register the compiled implementation, which takes the number of threads first. A decorator."""
        self._compiled = implementation
        self._by_threads.clear()
        return implementation

    def __reduce__(self) -> str:
        """Pickled by name, as a function is."""
        return self.numpy.__qualname__


def for_one_game() -> Backend | None:
    """Return the backend of environments that play one game at a time; None: plain Python.

    It is numba if that was chosen, or if nothing was chosen and numba is installed. A call of numpy takes as long for
    one game as for hundreds, so plain Python (:mod:`genial_env.core.scalar`) plays instead.
    """
    requested = _requested()
    if requested is not None:
        effective = _effective(requested)
        return effective if effective.name == NUMBA else None
    return Backend(NUMBA) if _numba_works() else None


@lru_cache(maxsize=1)
def _numba_works() -> bool:
    """Return whether numba can be imported and compiles; warn once if it is installed and cannot be imported."""
    if importlib.util.find_spec("numba") is None or _compiles_nothing():
        return False
    try:
        compiled()
    except Exception as error:  # a broken installation may raise anything
        warnings.warn(f"single games are played without numba: {error}", RuntimeWarning, stacklevel=2)
        return False
    return True


@lru_cache(maxsize=1)
def _from_environment() -> Backend | None:
    """Return the backend that the environment variables name, read once.

    Raises:
        ValueError: if a value is invalid; the message names the variable.
    """
    name, threads = os.environ.get(BACKEND_VARIABLE, ""), os.environ.get(THREADS_VARIABLE, "")
    if not name and not threads:
        return None
    try:
        return Backend(name or NUMPY, int(threads or 1))
    except ValueError as error:
        raise ValueError(f"{BACKEND_VARIABLE}={name}, {THREADS_VARIABLE}={threads}: {error}") from error


_import_compiled: Callable[[], Any]


def set_compiled_package(importer: Callable[[], Any]) -> None:
    """Set how the package of compiled implementations is imported.

    The package depends on this module, not the other way round. So ``genial_env/__init__.py`` names it.
    """
    global _import_compiled
    _import_compiled = importer


@lru_cache(maxsize=1)
def compiled() -> Any:
    """Import the package of compiled implementations, which registers them (:class:`accelerated`).

    Raises:
        ImportError: if numba cannot be imported (the message says how to install it), or is told to compile nothing.
    """
    if _compiles_nothing():
        raise ImportError("the backend 'numba' compiles, and numba is told not to (NUMBA_DISABLE_JIT=1)")
    try:
        return _import_compiled()
    except ImportError as error:
        raise ImportError(f"the backend 'numba' needs numba: {install_hint('fast')} ({error})") from error
