"""The folder that games are kept in: one server's alone, limited in games and bytes, rid of what is too old."""

import logging
import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from genial_env._util.files import lock_folder, write_text
from genial_env.web.guard import Refused, in_words
from genial_env.web.limits import Limits

MOST_IN_A_GAME = 1_000_000
"""Bytes of a file that is read as a game; the longest has some thousands."""

ENDING_S = 5.0
"""How long the end waits for files that are being written."""

_FOLDER = re.compile(r"[0-9a-f]{64}")  # a digest

log = logging.getLogger(__name__)


class Shelf:
    """Keeps a file a game, in a folder a session; or nothing, and counts the games.

    Args:
        folder: where; None for in memory only.
        limits: games and bytes in all, and the age.

    Raises:
        FolderInUse: where another server uses the folder; says which.
        OSError: where the folder cannot be used.
    """

    def __init__(self, folder: Path | None, limits: Limits) -> None:
        self._folder, self._limits = folder, limits
        self._changed = threading.Condition()
        self._games = self._bytes = self._writing = 0
        self._closed = False
        self._open = ExitStack()
        if folder is not None:
            self._open.enter_context(lock_folder(folder))
            self._count()

    @property
    def keeps(self) -> bool:
        """Whether games are written."""
        return self._folder is not None

    def folder_of(self, digest: str) -> Path | None:
        """The folder of a session; it need not exist."""
        return None if self._folder is None else self._folder / digest

    @contextmanager
    def room(self) -> Iterator[None]:
        """Room for one more game, which is begun in the block.

        Raises:
            Refused: where there is none.
        """
        with self._changed:
            if self._games >= self._limits.all_games:
                raise Refused(507, f"the server has {self._games} games, as many as it takes: try again another day")
            if self._bytes >= self._limits.kept_bytes:
                full = in_words(self._limits.kept_bytes)
                raise Refused(507, f"the server's games take {full}, as much as it has: try again another day")
            self._games += 1
        try:
            yield
        except BaseException:
            self.forget(1)
            raise

    def forget(self, games: int) -> None:
        """Count some games less."""
        with self._changed:
            self._games -= games

    def write(self, path: Path, words: str) -> None:
        """Write a game at once: after an error or a crash on the way the old file is as it was.

        Raises:
            Refused: where it cannot be written.
        """
        with self._changed:
            if self._closed:
                raise Refused(503, "the server is ending")
            self._writing += 1
        before = _size(path)
        try:
            path.parent.mkdir(exist_ok=True, mode=0o700)
            write_text(path, words)
        except OSError as error:
            log.error("a game cannot be kept: %s", error)
            raise Refused(507, f"the server cannot keep the game: {error.strerror}") from error
        finally:
            with self._changed:
                self._bytes += _size(path) - before
                self._writing -= 1
                self._changed.notify_all()

    def remove(self, path: Path) -> None:
        """Remove a game's file, and its folder where it was the last one.

        Raises:
            Refused: where it cannot be removed.
        """
        before = _size(path)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise Refused(507, f"the server cannot remove the game: {error.strerror}") from error
        with self._changed:
            self._bytes -= before
            self._games -= 1
        with suppress(OSError):  # not empty
            path.parent.rmdir()

    def expire(self, spared: frozenset[str]) -> None:
        """Remove the sessions that were not used for too long.

        Args:
            spared: digests of sessions that are in use.
        """
        if self._folder is None:
            return
        oldest, gone = time.time() - self._limits.age_s, 0
        for folder in _sessions_in(self._folder):
            with suppress(OSError):
                if folder.name not in spared and folder.stat().st_mtime < oldest:
                    shutil.rmtree(folder)
                    gone += 1
        if gone:
            log.info("%d sessions were removed that nobody used any more", gone)
            self._count()

    def close(self) -> None:
        """Write nothing more; what is being written is written, and the folder is others' to use. Idempotent."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._writing, ENDING_S)
        self._open.close()

    def _count(self) -> None:
        """Count what is on the disk."""
        assert self._folder is not None
        with self._changed:
            sizes = [_size(path) for folder in _sessions_in(self._folder) for path in game_files(folder)]
            self._games, self._bytes = len(sizes), sum(sizes)


def touch(folder: Path | None) -> None:
    """Note that a session is used."""
    if folder is not None:
        with suppress(OSError):
            os.utime(folder)


def game_files(folder: Path) -> list[Path]:
    """The files of a session's games; what is hidden is half-written."""
    with suppress(OSError):
        return sorted(path for path in folder.glob("*.json") if not path.name.startswith("."))
    return []


def tidy(folder: Path) -> None:
    """Remove what a killed server left half-written in a session's folder. Nobody may be writing there."""
    for path in folder.glob(".*.part*"):
        with suppress(OSError):
            path.unlink()


def _sessions_in(folder: Path) -> list[Path]:
    with suppress(OSError):
        return [path for path in folder.iterdir() if _FOLDER.fullmatch(path.name) and path.is_dir()]
    return []


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
