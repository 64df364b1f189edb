"""Which backend does the work of the hot functions: "numpy", the reference, or "numba", its compiled twin.

    genial_env.use_backend("numba")                    # from now on, in the whole process
    with genial_env.use_backend("numba", threads=2):   # until the end of the block, in this thread or task
        ...
    kernel.apply(state, actions, backend="numba")      # for this call

or ``GENIAL_ENV_BACKEND=numba`` (and with it ``GENIAL_ENV_THREADS=2``) in the environment. Same seeds, same games, bit
for bit, whatever the backend and however many threads. numba comes with the extra ``fast``; nothing of it is imported
before it is wanted. Where numba is told to compile nothing (``NUMBA_DISABLE_JIT=1``), "numba" works by numpy, and a
warning says so once.

A function that both backends have is written in numpy, decorated with :func:`accelerated`; its compiled implementation,
with the same parameters and the number of threads before them, is registered in :mod:`genial_env._compiled`::

    @accelerated
    def deal_racks(state: State, rows: Ints, seeds: Bits) -> None: ...             # the module that it belongs to

    @kernel.deal_racks.compiled
    def deal_racks(threads: int, state: State, rows: Ints, seeds: Bits) -> None: ...   # in genial_env._compiled

    deal_racks(state, rows, seeds)              # on the current backend
    deal_racks.on(backend)(state, rows, seeds)  # on a given one
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


class _Block:
    """A ``with`` block of the thread or task that enters it; others see nothing of it.

    Nothing of the block is kept in the object, so it may be entered again, within itself and by several threads.
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
    """Choose the backend of the whole process, from now on; in a ``with`` statement until the end of its block.

    A block is its thread's (its task's in asyncio): others go on with what they had. Python makes the object before it
    enters the block, so entering takes back what making it has chosen for the process. An object may be kept and
    entered again.

    Args:
        backend: "numpy", "numba" or a :class:`Backend`.
        threads: among how many the games of a call are shared; left out, one, or those of the given backend.

    Raises:
        ValueError, TypeError: as for :class:`Backend`.
        ImportError: for "numba" where it cannot be imported, saying how to install it.
    """

    def __init__(self, backend: Backend | str, threads: int | None = None) -> None:
        chosen = backend if isinstance(backend, Backend) else Backend(backend)
        if threads is not None:
            chosen = Backend(chosen.name, threads)
        if _as_it_works(chosen).name == NUMBA:
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
"""The plain calls, the last of which counts. The list is never changed but replaced, so it is read without a lock."""

_lock = threading.Lock()


def _choose(call: use_backend, backend: Backend) -> None:
    """Add a plain call; forget those before the last one whose object is gone, and with it the chance to enter it."""
    global _calls
    with _lock:
        last = max((place for place, (ref, _) in enumerate(_calls) if ref() is None), default=0)
        _calls = [*_calls[last:], (weakref.ref(call), backend)]


def _take_back(call: use_backend) -> None:
    """Forget a plain call, where it has not been forgotten."""
    global _calls
    with _lock:
        _calls = [each for each in _calls if each[0]() is not call]


def chosen() -> Backend | None:
    """What plain calls of :class:`use_backend` have chosen for the process; None where there was none."""
    calls = _calls
    return calls[-1][1] if calls else None


def current() -> Backend:
    """The backend in use."""
    return _as_it_works(_asked_for() or _REFERENCE)


_REFERENCE = Backend()


def _asked_for() -> Backend | None:
    """What somebody has asked for: the block, else the process, else its environment."""
    block = _blocks.get()
    return (block and block[0]) or chosen() or _from_environment()


def _as_it_works(backend: Backend) -> Backend:
    """The same, or numpy for a numba that compiles nothing, which is said once."""
    if backend.name == NUMPY or not _compiles_nothing():
        return backend
    _tell_that_numpy_works()
    return _REFERENCE


@lru_cache(maxsize=1)
def _compiles_nothing() -> bool:
    """Whether numba is there and told to compile nothing."""
    try:
        return bool(importlib.import_module("numba").config.DISABLE_JIT)
    except Exception:  # whatever a numba that does not fit its surroundings may raise: who wants it will hear of it
        return False


@lru_cache(maxsize=1)
def _tell_that_numpy_works() -> None:
    warnings.warn("numba compiles nothing (NUMBA_DISABLE_JIT=1): numpy does its work", RuntimeWarning, stacklevel=4)


def pick(backend: AnyBackend) -> Backend:
    """The backend that is meant.

    Raises:
        ValueError, TypeError: for something that is none.
    """
    if backend is None:
        return current()
    if isinstance(backend, str):
        return _as_it_works(_by_name(backend))
    if isinstance(backend, Backend):
        return _as_it_works(backend)
    raise TypeError(f"a backend is a name or a Backend, not {backend!r} ({type(backend).__name__})")


@lru_cache(maxsize=8)
def _by_name(name: str) -> Backend:
    return Backend(name)


class using(_Block):  # noqa: N801  called like a function
    """All hot functions by this backend until the end of a ``with`` block, in this thread or task only; None changes
    nothing.

    Raises:
        ValueError, TypeError: for something that is no backend.
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
        compiled()
        assert self._compiled is not None, f"{self.numpy.__qualname__} has no compiled implementation"
        return partial(self._compiled, chosen.threads)

    def compiled(self, implementation: Callable[Concatenate[int, P], R]) -> Callable[Concatenate[int, P], R]:
        """Register the compiled implementation, which takes the number of threads first. A decorator."""
        self._compiled = implementation
        return implementation

    def __reduce__(self) -> str:
        """Pickled by name, as a function is."""
        return self.numpy.__qualname__


def for_one_game() -> Backend | None:
    """What plays the environments for one game at a time: the backend in use where somebody has chosen one, else numba
    where it is installed. None where neither is so, and for "numpy", whose calls cost one game as much as hundreds:
    then it is Python (:mod:`genial_env.core.scalar`).
    """
    asked_for = _asked_for()
    if asked_for is not None:
        works = _as_it_works(asked_for)
        return works if works.name == NUMBA else None
    return Backend(NUMBA) if _numba_works() else None


@lru_cache(maxsize=1)
def _numba_works() -> bool:
    """Whether numba can be imported and compiles; warns once where it is installed and cannot be imported."""
    if importlib.util.find_spec("numba") is None or _compiles_nothing():
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
    """Import the package of compiled implementations, which registers them (:class:`accelerated`).

    Raises:
        ImportError: where numba cannot be imported, saying how to install it; where it is told to compile nothing.
    """
    if _compiles_nothing():
        raise ImportError("the backend 'numba' compiles, and numba is told not to (NUMBA_DISABLE_JIT=1)")
    try:
        return importlib.import_module("genial_env._compiled")
    except ImportError as error:
        raise ImportError(f"the backend 'numba' needs numba: pip install 'genial-env[fast]' ({error})") from error
