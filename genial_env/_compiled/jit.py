"""Compiling with numba: what is compiled, where it is kept, and what is said about it.

numba keeps compiled code on disk and knows it by the file of the function it was asked for, not by the files of the
functions that this one calls. So the code is kept in a directory named by a hash of all of them, under
``GENIAL_ENV_CACHE_DIR``, else numba's own ``NUMBA_CACHE_DIR``, else the user's cache directory. Where none of these can
be written, code is compiled anew by every process.
"""

import hashlib
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
import platformdirs
from numba.core import config as numba_config
from numba.core import event
from numba.core.options import DefaultOptions

config: Any = numba_config  # its settings are made at run time
PACKAGE = Path(__file__).parents[1]
CACHE_VARIABLE = "GENIAL_ENV_CACHE_DIR"
CONSTANTS_FROM = (
    "core/scalar.py",
    "core/chance.py",
    "core/rules.py",
    "core/state.py",
    "policies/heuristic.py",
    "policies/afterstates.py",
    "policies/prior.py",
)
"""The modules outside this package that are compiled, or whose constants are compiled into its functions."""


def compiled_functions(module: types.ModuleType, **others: Any) -> dict[str, Any]:
    """Every function of a module for numba, by name, and calling each other so.

    Args:
        module: of plain functions; it stays as it is.
        others: what stands in for names of the module: functions that numba and Python must be told differently.
    """
    names = {**vars(module), **others}
    plain = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, types.FunctionType) and value.__module__ == module.__name__ and name not in others
    }
    for name, function in plain.items():
        twin = types.FunctionType(function.__code__, names, name, function.__defaults__, function.__closure__)
        names[name] = helper(twin)
    return names


def helper(function: Callable[..., Any]) -> Any:
    """Compile a function for compiled functions that call it.

    Everything is put into its caller, as handing over the dozens of arrays of a state at each call costs more than most
    functions do. And nothing counts references to arrays, which numba would do at every look into one (a tenth of the
    speed was left); so compiled code cannot make arrays, and its callers hand it all that it writes to.
    """
    return numba.njit(function, forceinline=True, **_OPTIONS)


_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
if hasattr(DefaultOptions, "_nrt"):  # numba's own name for it, which it may change: without it all is only slower
    _OPTIONS["_nrt"] = False


ENTRIES: list["Entry"] = []
"""All there are."""


def entries() -> list[str]:
    """The names of all compiled functions."""
    return [entry.name for entry in ENTRIES]


class Entry:
    """A compiled function that Python calls: kept on disk, loaded or compiled at its first call.

    Args:
        function: to be compiled.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name, self.__doc__ = function.__name__, function.__doc__
        ENTRIES.append(self)
        self._function = function
        self._compiled: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Call it; compile it before, where that has not been done."""
        compiled = self._compiled
        if compiled is None:
            with _lock, _told():
                compiled = self._compiled = self._compiled or self._ready(arguments)
        return compiled(*arguments)

    def _ready(self, arguments: tuple[Any, ...]) -> Any:
        """The function compiled for arguments of these types, loaded from the disk where it was kept there."""
        kept_at, types = cache_directory(), tuple(numba.typeof(argument) for argument in arguments)  # type: ignore[no-untyped-call]
        if kept_at is not None:
            try:
                return self._load_or_compile(types, kept_at)
            except OSError as error:
                _tell(f"cannot keep compiled code in {kept_at}: {error}")
        dispatcher = self._dispatcher()
        dispatcher.compile(types)
        return dispatcher

    def _load_or_compile(self, types: tuple[Any, ...], kept_at: Path) -> Any:
        """As :meth:`_ready`. Files of this function that cannot be read are removed, and made anew.

        Raises:
            OSError: where files cannot be read or written at all.
        """
        for is_last in (False, True):
            dispatcher = self._dispatcher()
            with _numba_keeps_at(kept_at):
                dispatcher.enable_caching()
            begun = _Begun()
            try:
                with event.install_listener("numba:compile", begun):
                    dispatcher.compile(types)
                return dispatcher
            except OSError:
                raise
            except Exception as error:  # whatever reading a damaged file may raise
                if begun.is_true or is_last:  # it was no damaged file
                    raise
                _tell(f"compiled code in {kept_at} cannot be read, and is made anew: {error}")
                for path in self._files(dispatcher):
                    path.unlink(missing_ok=True)
        raise AssertionError("the last try returns or raises")

    def _dispatcher(self) -> Any:
        """What numba compiles, or loads, with nothing compiled yet."""
        return numba.njit(self._function, **_OPTIONS)

    def _files(self, dispatcher: Any) -> list[Path]:
        """Where numba keeps this function: an index and the code for each set of types."""
        code = self._function.__code__
        name = f"*.{self._function.__qualname__}-{code.co_firstlineno}.py*.nb?"
        return list(Path(dispatcher.stats.cache_path).glob(name))


class _Begun(event.Listener):
    """Hears whether numba has begun to compile, and so is done with reading from the disk."""

    is_true = False

    def on_start(self, event: Any) -> None:
        """It has."""
        self.is_true = True

    def on_end(self, event: Any) -> None:
        """Nothing to hear."""


_lock = threading.RLock()


@contextmanager
def _numba_keeps_at(path: Path) -> Iterator[None]:
    """What numba reads where a function's caching is switched on."""
    before, config.CACHE_DIR = config.CACHE_DIR, str(path)
    try:
        yield
    finally:
        config.CACHE_DIR = before


# What is said


@contextmanager
def _told() -> Iterator[None]:
    """Say once, on a terminal, that something is compiled."""
    with event.install_listener("numba:compile", _Teller()):
        yield


class _Teller(event.Listener):
    """Hears of everything that numba compiles, and not of what it loads from the disk."""

    has_told = False

    def on_start(self, event: Any) -> None:
        """The first time, say so."""
        if not _Teller.has_told:
            _Teller.has_told = True
            kept_at = cache_directory()
            where = "not kept, as no cache directory can be written" if kept_at is None else f"kept in {kept_at}"
            _tell(f"compiling for this machine, once, a few seconds for each function ({where})")

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


def _tell(message: str) -> None:
    """On a terminal only: a program that reads the output wants none of it."""
    if sys.stderr.isatty():
        print(f"genial_env: {message}", file=sys.stderr, flush=True)


# Where


def cache_directory() -> Path | None:
    """Where compiled code is kept, made if it is not there; None where nothing can be written."""
    for base in _bases():
        path = base / f"genial_env-{_fingerprint()}"
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        if os.access(path, os.W_OK | os.X_OK):
            return path
    return None


def _bases() -> Iterator[Path]:
    for variable in (CACHE_VARIABLE, "NUMBA_CACHE_DIR"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    yield platformdirs.user_cache_path("genial_env", appauthor=False)


def _fingerprint() -> str:
    """Of everything that is compiled, and of the modules whose constants are compiled into it."""
    sources = [*(PACKAGE / name for name in CONSTANTS_FROM), *sorted((PACKAGE / "_compiled").glob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
