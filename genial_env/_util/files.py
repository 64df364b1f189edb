"""Files that are never left half-written, and folders with one writer at a time."""

import errno
import json
import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import filelock

AnyPath = str | os.PathLike[str]

LOCK = ".lock"
"""The name of a folder's lock file."""


@contextmanager
def replace_path(path: AnyPath) -> Iterator[Path]:
    """Give the path of a file beside `path`; at the end of the block it takes the place of `path` at once.

    After an error in the block, an interruption included, the old file is as it was and nothing new is left. A
    symbolic link stays one: the file that it points to is replaced.

    Raises:
        OSError: if the folder does not exist or cannot be written, or if `path` is a folder or a device.
    """
    target = Path(os.path.realpath(path))
    check_replaceable(path)
    beside = target.with_name(f".{target.name}.{uuid4().hex[:12]}.part{target.suffix}")
    try:
        with _named(path):
            yield beside
            _sync(beside)  # so that the name never goes to content that is not on the disk yet
            beside.replace(target)
    finally:
        with suppress(FileNotFoundError):
            beside.unlink()


@contextmanager
def replace_file(path: AnyPath, mode: str = "w") -> Iterator[IO[Any]]:
    r"""Give an open file; at the end of the block it takes the place of `path` at once (:func:`replace_path`).

    Args:
        path: the file to write.
        mode: "w" for UTF-8 text with "\n" line ends, "wb" for bytes.

    Raises:
        OSError: see :func:`replace_path`.
    """
    text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    with replace_path(path) as beside, beside.open(mode, **text) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def write_text(path: AnyPath, text: str) -> None:
    """Write a whole text file at once (:func:`replace_path`)."""
    with replace_file(path) as file:
        file.write(text)


def write_bytes(path: AnyPath, content: bytes) -> None:
    """Write a whole file at once (:func:`replace_path`)."""
    with replace_file(path, "wb") as file:
        file.write(content)


def write_json(path: AnyPath, value: Any) -> None:
    """Write a whole JSON file at once (:func:`replace_path`), indented for people."""
    write_text(path, json.dumps(value, indent=2) + "\n")


def append_lines(path: AnyPath, lines: Iterable[str]) -> None:
    """Append lines, each with its line end, and wait until they are on the disk.

    An interruption can leave a part of a line at the end of the file: readers must cut off what has no line end.
    """
    with _named(path), Path(path).open("a", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())


def check_replaceable(path: AnyPath) -> None:
    """Check, before any work is done for it, that a file can be written at `path`. Nothing is changed.

    Raises:
        OSError: if the folder does not exist or cannot be written, or if `path` is a folder or a device; its
            `filename` is `path`.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "Not a file that can be replaced", str(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(target.parent))
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
    """Be the only writer in a folder until the end of the block. The folder is made where there is none.

    The operating system holds the lock (``.lock`` in the folder) and frees it when the process ends, however it ends.
    So a lock file that a killed process left behind does not count.

    Raises:
        FolderInUse: if another process, or another block of this one, holds the lock; says which process.
        OSError: if the folder cannot be written.
    """
    directory = Path(folder)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / LOCK
    lock = filelock.FileLock(path, is_singleton=False, thread_local=False)  # another thread may leave the block
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        raise FolderInUse(errno.EBUSY, f"Another process is writing there{_holder(path)}", str(folder)) from None
    try:
        with suppress(OSError):  # where a locked file cannot be written a second time, the holder has no name
            path.write_text(f"process {os.getpid()} on {socket.gethostname()}\n", encoding="utf-8")
        yield
    finally:
        lock.release()


def _holder(lock_file: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        if text := lock_file.read_text(encoding="utf-8").strip():
            return f" ({text})"
    return ""


@contextmanager
def _named(path: AnyPath) -> Iterator[None]:
    """Give the file's name to errors that have none, as those of writing on a full disk."""
    try:
        yield
    except BrokenPipeError:  # of somebody's output
        raise
    except OSError as error:
        if error.filename is None:
            error.filename = os.fspath(path)
        raise


def _sync(path: Path) -> None:
    """Wait until a file is on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
