"""Write files atomically, and lock folders so that they have one writer at a time."""

import errno
import json
import os
import socket
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import filelock

AnyPath = str | os.PathLike[str]

LOCK = ".lock"
"""The name of a folder's lock file."""

HOLDER = ".lock-holder"
"""The name of the file that says who holds the lock. Some systems and libraries let nobody read a locked file."""

LOCK_FILES = frozenset((LOCK, HOLDER))
"""The names of the files of a lock."""


@contextmanager
def replace_path(path: AnyPath) -> Iterator[Path]:
    """Yield the path of a temporary file beside `path`; at the end of the block, rename it to `path` atomically.

    After an error or an interruption in the block, `path` is unchanged and the temporary file is deleted. If `path`
    is a symbolic link, the file that it points to is replaced.

    Raises:
        OSError: if the folder does not exist or cannot be written, or if `path` is a folder or a device.
    """
    with _replacing(path) as beside:
        yield beside
        with beside.open("rb+") as file:
            os.fsync(file.fileno())


@contextmanager
def replace_file(path: AnyPath, mode: str = "w") -> Iterator[IO[Any]]:
    r"""Yield an open temporary file; at the end of the block, rename it to `path` atomically (:func:`replace_path`).

    Args:
        path: the file to write.
        mode: "w" for UTF-8 text with "\n" line ends, "wb" for bytes.

    Raises:
        OSError: see :func:`replace_path`.
    """
    text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    with _replacing(path) as beside, beside.open(mode, **text) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def write_text(path: AnyPath, text: str) -> None:
    """Write a text file atomically (:func:`replace_path`)."""
    with replace_file(path) as file:
        file.write(text)


def write_bytes(path: AnyPath, content: bytes) -> None:
    """Write a binary file atomically (:func:`replace_path`)."""
    with replace_file(path, "wb") as file:
        file.write(content)


def write_json(path: AnyPath, value: Any) -> None:
    """Write a JSON file atomically (:func:`replace_path`), with indentation."""
    write_text(path, json.dumps(value, indent=2) + "\n")


def append_lines(path: AnyPath, lines: Iterable[str]) -> None:
    """Append lines, each with its line end, and wait until they are on the disk.

    An interruption can leave an incomplete line at the end of the file. Readers must ignore a last line without its
    line end.
    """
    with _named(path), Path(path).open("a", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())


def check_replaceable(path: AnyPath) -> None:
    """Check that a file can be written at `path`, without changing it. Call this before long work.

    Raises:
        OSError: if the folder does not exist or cannot be written, or if `path` is a folder or a device; its
            `filename` is `path`.
    """
    target = _find_target(path)
    probe = target.with_name(f".{target.name}.{uuid4().hex[:12]}.part")
    try:
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError as error:
        raise OSError(error.errno, os.strerror(error.errno or errno.EIO), str(path)) from error


class FolderInUse(OSError):
    """Another process is writing in the folder."""


@contextmanager
def lock_folder(folder: AnyPath) -> Iterator[None]:
    """Hold the lock of a folder until the end of the block. A missing folder is created.

    The operating system holds the lock (``.lock`` in the folder) and releases it when the process ends, even if it is
    killed. So a lock file that a killed process left behind has no effect.

    Raises:
        FolderInUse: if another process, or another block of this one, holds the lock. The message names the process.
        OSError: if the folder cannot be written.
    """
    directory = Path(folder)
    directory.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(directory / LOCK, is_singleton=False, thread_local=False)  # any thread may release it
    holder = directory / HOLDER
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        found = _read_holder(holder)
        raise FolderInUse(errno.EBUSY, f"Another process is writing there{found}", str(folder)) from None
    try:
        with suppress(OSError):  # the lock holds without its holder's name
            holder.write_text(f"process {os.getpid()} on {socket.gethostname()}\n", encoding="utf-8")
        yield
    finally:
        with suppress(OSError):
            holder.unlink()
        lock.release()


def _read_holder(path: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        if text := path.read_text(encoding="utf-8").strip():
            return f" ({text})"
    return ""


@contextmanager
def _replacing(path: AnyPath) -> Iterator[Path]:
    """Yield the path of a temporary file; at the end of the block, whose content is on the disk then, rename it."""
    target = _find_target(path)
    beside = target.with_name(f".{target.name}.{uuid4().hex[:12]}.part{target.suffix}")
    try:
        with _named(path, beside):
            yield beside
            beside.replace(target)
    except BaseException:
        with suppress(OSError):  # the error that is raised already says more
            beside.unlink()
        raise


def _find_target(path: AnyPath) -> Path:
    """Return the file that is to be replaced: `path`, or the file that it links to.

    Raises:
        OSError: if its folder does not exist, or it is a folder or a device.
    """
    target = Path(os.path.realpath(path) if os.path.islink(path) else os.path.abspath(path))
    try:
        mode = target.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "No such folder", str(target.parent)) from None
    else:
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "Not a file that can be replaced", str(path))
    return target


@contextmanager
def _named(path: AnyPath, beside: Path | None = None) -> Iterator[None]:
    """Name `path` in errors without a file's name, as of a full disk, and in errors of its temporary file."""
    try:
        yield
    except BrokenPipeError:  # belongs to another file, the standard output
        raise
    except OSError as error:
        if error.filename in (None, None if beside is None else str(beside)):
            error.filename = os.fspath(path)
        raise
