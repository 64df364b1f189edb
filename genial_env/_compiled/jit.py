"""Compile functions with numba, and cache the compiled code on disk.

numba's cache is keyed by the path and the content of the source file of the function that is called. It does not look
at the files of the functions that this one calls, and another copy of the package would compile everything again. So
the cache directory is named by a hash of all these files, and holds copies of the source files, whose paths numba is
given. It stands under ``GENIAL_ENV_CACHE_DIR``, else numba's own ``NUMBA_CACHE_DIR``, else the user's cache directory.
If none of these is writable, every process compiles for itself.
"""

import hashlib
import logging
import os
import shutil
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

from genial_env._util.files import replace_path

config: Any = numba_config  # its attributes are set at run time
PACKAGE = Path(__file__).parents[1]
CACHE_VARIABLE = "GENIAL_ENV_CACHE_DIR"
CONSTANTS_FROM = (
    "core/scalar.py",
    "core/specs.py",
    "core/chance.py",
    "core/rules.py",
    "core/state.py",
    "policies/heuristic.py",
    "policies/afterstates/features.py",
    "policies/afterstates/gains.py",
    "policies/afterstates/layout.py",
    "policies/portable_exp.py",
    "policies/prior.py",
)
"""The modules outside of this package that are compiled, or whose constants are compiled into its functions."""


def compiled_functions(module: types.ModuleType, **others: Any) -> dict[str, Any]:
    """Compile all functions of a module so that they call each other's compiled version.

    Args:
        module: a module of plain functions, which is not changed.
        others: compiled functions that replace functions of the module which numba cannot compile.

    Returns:
        The compiled functions by name, `others` included.
    """
    names = {**vars(module), **others}
    plain = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, types.FunctionType) and value.__module__ == module.__name__ and name not in others
    }
    for name, function in plain.items():
        same = types.FunctionType(function.__code__, names, name, function.__defaults__, function.__closure__)
        names[name] = helper(same)
    return {name: names[name] for name in (*plain, *others)}


def helper(function: Callable[..., Any]) -> Any:
    """Compile a function for other compiled functions that call it.

    It is always inlined, because passing the dozens of arrays of a state costs more than most functions take. Reference
    counting of arrays is switched off, because numba would do it at every access, which is several times as slow. So
    compiled code cannot allocate arrays, and callers pass everything that it writes to.
    """
    return numba.njit(function, forceinline=True, **_OPTIONS)


_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
if hasattr(DefaultOptions, "_nrt"):  # a private option of numba; without it everything works, but more slowly
    _OPTIONS["_nrt"] = False


ENTRIES: list["Entry"] = []
"""All compiled functions that Python calls."""


def entries() -> list[str]:
    """Return the names of all compiled functions that Python calls."""
    return [entry.name for entry in ENTRIES]


class Entry:
    """A compiled function that Python calls. It is loaded from disk or compiled at its first call. A decorator.

    Args:
        function: the function to compile.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name, self.__doc__ = function.__name__, function.__doc__
        ENTRIES.append(self)
        self._function = function
        self._compiled: Any = None

    @property
    def needs_compiling(self) -> bool:
        """Whether the first call will compile: the function has not been called, and its code is not on disk."""
        kept_at = cache_directory()
        return self._compiled is None and not (kept_at and any(kept_at.glob(f"*/{self._file_pattern}")))

    def __call__(self, *arguments: Any) -> Any:
        """Call the function, compiled or loaded before if that has not been done."""
        compiled = self._compiled
        if compiled is None:
            with lock, _announce():
                compiled = self._compiled = self._compiled or self._prepare(arguments)
        return compiled(*arguments)

    def _prepare(self, arguments: tuple[Any, ...]) -> Any:
        """Return the function compiled for arguments of these types, loaded from disk if possible."""
        kept_at, types = cache_directory(), tuple(numba.typeof(argument) for argument in arguments)  # type: ignore[no-untyped-call]
        if kept_at is not None:
            try:
                return self._load_or_compile(types, kept_at)
            except OSError as error:
                _log.warning("genial_env: cannot keep compiled code in %s: %s", kept_at, error)
        dispatcher = numba.njit(self._function, **_OPTIONS)
        dispatcher.compile(types)
        return dispatcher

    def _load_or_compile(self, types: tuple[Any, ...], kept_at: Path) -> Any:
        """Load or compile the function; cached files of it that cannot be read are replaced.

        Raises:
            OSError: if files cannot be read or written at all.
        """
        for is_last in (False, True):
            dispatcher = numba.njit(_with_source_in(self._function, kept_at), **_OPTIONS)
            with _numba_cache_at(kept_at):
                dispatcher.enable_caching()
            begun = _Begun()
            try:
                with event.install_listener("numba:compile", begun):
                    dispatcher.compile(types)
                return dispatcher
            except OSError:
                raise
            except Exception as error:  # reading a damaged file may raise anything
                if begun.is_true or is_last:  # not the fault of a damaged file
                    raise
                _log.warning("genial_env: compiled code in %s cannot be read, and is made anew: %s", kept_at, error)
                for path in self._files(dispatcher):
                    path.unlink(missing_ok=True)
        raise AssertionError("the last try returns or raises")

    def _files(self, dispatcher: Any) -> list[Path]:
        """Return the cache files of this function: an index, and the code for each set of types."""
        return list(Path(dispatcher.stats.cache_path).glob(self._file_pattern))

    @property
    def _file_pattern(self) -> str:
        """The names of the cache files of this function."""
        module = self._function.__module__.rpartition(".")[2]
        return f"{module}.{self._function.__qualname__}-{self._function.__code__.co_firstlineno}.py*.nb?"


class _Begun(event.Listener):
    """Listens whether numba has begun to compile, so that reading from disk is over."""

    is_true = False

    def on_start(self, event: Any) -> None:
        """Record it."""
        self.is_true = True

    def on_end(self, event: Any) -> None:
        """Ignore the end."""


def _with_source_in(function: Callable[..., Any], kept_at: Path) -> Callable[..., Any]:
    """Return the function as if it stood in a copy of its source file in the directory of cached code.

    Raises:
        OSError: if the copy cannot be written.
    """
    source = Path(function.__code__.co_filename)
    copy = kept_at / source.name
    if not copy.exists():
        with replace_path(copy) as being_written:
            shutil.copyfile(source, being_written)
            os.utime(being_written, (0, 0))  # older versions of numba compare times; two processes may copy one file
    same = types.FunctionType(
        function.__code__.replace(co_filename=str(copy)),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    same.__qualname__, same.__module__ = function.__qualname__, function.__module__
    return same


lock = threading.RLock()
"""Held while a function is compiled or loaded."""


@contextmanager
def _numba_cache_at(path: Path) -> Iterator[None]:
    """Set the cache directory that numba reads when a function's caching is switched on."""
    before, config.CACHE_DIR = config.CACHE_DIR, str(path)
    try:
        yield
    finally:
        config.CACHE_DIR = before


# Messages

_log = logging.getLogger("genial_env")


@contextmanager
def _announce() -> Iterator[None]:
    """Log once that functions are compiled."""
    with event.install_listener("numba:compile", _Announcer()):
        yield


class _Announcer(event.Listener):
    """Listens to numba compiling; loading from disk is no such event."""

    has_announced = False

    def on_start(self, event: Any) -> None:
        """Log a message the first time. Without handlers of their own, programs print it to the error stream."""
        if not _Announcer.has_announced:
            _Announcer.has_announced = True
            kept_at = cache_directory()
            where = "not kept, as no cache directory can be written" if kept_at is None else f"kept in {kept_at}"
            _log.warning("genial_env: compiling for this machine, once, a few seconds for each function (%s)", where)

    def on_end(self, event: Any) -> None:
        """Ignore the end."""


# The cache directory


def cache_directory() -> Path | None:
    """Return the directory of cached code, creating it if necessary; None if no directory is writable."""
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
    """Hash the sources of everything that is compiled or whose constants are compiled."""
    sources = [*(PACKAGE / name for name in CONSTANTS_FROM), *sorted((PACKAGE / "_compiled").glob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
