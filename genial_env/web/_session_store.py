"""The folder in which games are saved. It belongs to one server, has limits, and old sessions are removed from it."""

import logging
import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from genial_env._util.files import lock_folder, write_bytes
from genial_env.web._request_checks import Refused, format_size
from genial_env.web.limits import Limits

MAX_GAME_BYTES = 1_000_000
"""The most bytes of a file that is read as a game. A game has some thousands."""

ENDING_S = 5.0
"""How many seconds the end waits for files that are being written."""

_FOLDER = re.compile(r"[0-9a-f]{64}")  # a digest

log = logging.getLogger(__name__)


class SessionStore:
    """Saves each game in a file, in the folder of its session; without a folder it only counts the games.

    Args:
        folder: the folder; None to save nothing.
        limits: the limits of the server.

    Raises:
        FolderInUse: if another server uses the folder; the message says which.
        OSError: if the folder cannot be used.
    """

    def __init__(self, folder: Path | None, limits: Limits) -> None:
        self._folder, self._limits = folder, limits
        self._changed = threading.Condition()
        self._games = self._writing = 0
        self._sizes: dict[Path, int] = {}  # the bytes of each file
        self._bytes = 0  # of all files together
        self._owners: dict[str, str] = {}  # the digest of the session of each game, by the id of the game
        self._closed = False
        self._open = ExitStack()
        if folder is not None:
            self._open.enter_context(lock_folder(folder))
            self._count()

    @property
    def saves(self) -> bool:
        """Whether games are saved."""
        return self._folder is not None

    def folder_of(self, digest: str) -> Path | None:
        """Return the folder of a session, which need not exist; None if nothing is saved."""
        return None if self._folder is None else self._folder / digest

    def owner_of(self, game: str) -> str | None:
        """Return the digest of the session of a game; None if there is no such game."""
        with self._changed:
            return self._owners.get(game)

    def note_owner(self, game: str, digest: str) -> None:
        """Note the session of a game by its digest."""
        with self._changed:
            self._owners[game] = digest

    def forget_owner(self, game: str) -> None:
        """Note that a game is gone."""
        with self._changed:
            self._owners.pop(game, None)

    @contextmanager
    def reserve_game(self) -> Iterator[None]:
        """Count one more game, which is begun in the block. If the block raises an error, the game is not counted.

        Raises:
            Refused: if the server has as many games or bytes as it may have.
        """
        with self._changed:
            if self._games >= self._limits.all_games:
                message = f"the server has {self._games} games, as many as it takes: try again another day"
                raise Refused(507, message, "server_full")
            if self._bytes >= self._limits.stored_bytes:
                full = format_size(self._limits.stored_bytes)
                message = f"the server's games take {full}, as much as it has: try again another day"
                raise Refused(507, message, "server_full")
            self._games += 1
        try:
            yield
        except BaseException:
            self.release_games(1)
            raise

    def release_games(self, games: int) -> None:
        """Reduce the number of games."""
        with self._changed:
            self._games -= games

    def write(self, path: Path, text: str) -> None:
        """Write the file of a game. After an error or a crash the old file is unchanged.

        Raises:
            Refused: if the file cannot be written.
        """
        with self._changed:
            if self._closed:
                raise Refused(503, "the server is ending", "server_ending")
            self._writing += 1
        content = text.encode()
        try:
            try:
                write_bytes(path, content)
            except FileNotFoundError:  # the session's first game
                path.parent.mkdir(exist_ok=True, mode=0o700)
                write_bytes(path, content)
        except OSError as error:
            log.error("a game cannot be saved: %s", error)
            message = f"the server cannot save the game: {error.strerror}"
            raise Refused(507, message, "not_saved", reason=error.strerror) from error
        else:
            with self._changed:
                self._bytes += len(content) - self._sizes.get(path, 0)
                self._sizes[path] = len(content)
        finally:
            with self._changed:
                self._writing -= 1
                self._changed.notify_all()

    def remove(self, path: Path) -> None:
        """Remove the file of a game, and the folder of its session if it was the last game.

        Raises:
            Refused: if the file cannot be removed.
        """
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            message = f"the server cannot remove the game: {error.strerror}"
            raise Refused(507, message, "not_removed", reason=error.strerror) from error
        with self._changed:
            self._bytes -= self._sizes.pop(path, 0)
            self._games -= 1
        with suppress(OSError):  # not empty
            path.parent.rmdir()

    def remove_expired(self, in_use: frozenset[str]) -> None:
        """Remove the sessions that were not used for too long.

        Args:
            in_use: the digests of sessions that are in use; these stay.
        """
        if self._folder is None:
            return
        oldest, gone = time.time() - self._limits.max_age_s, 0
        for folder in _sessions_in(self._folder):
            with suppress(OSError):
                if folder.name not in in_use and folder.stat().st_mtime < oldest:
                    shutil.rmtree(folder)
                    gone += 1
        if gone:
            log.info("removed %d sessions that were not used any more", gone)
            self._count()

    def close(self) -> None:
        """Finish the files that are being written, write no more, unlock the folder. A second call does nothing."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._writing, ENDING_S)
        self._open.close()

    def _count(self) -> None:
        """Count the games and bytes on the disk, and note whose they are."""
        assert self._folder is not None
        with self._changed:
            files = [path for folder in _sessions_in(self._folder) for path in list_game_files(folder)]
            self._games, self._sizes = len(files), {path: _size(path) for path in files}
            self._bytes = sum(self._sizes.values())
            self._owners = {path.stem: path.parent.name for path in files}


def mark_used(folder: Path | None) -> None:
    """Note on the disk that a session is used."""
    if folder is not None:
        with suppress(OSError):
            os.utime(folder)


def list_game_files(folder: Path) -> list[Path]:
    """Return the files of a session's games. Hidden files are partly written and left out."""
    with suppress(OSError):
        return sorted(path for path in folder.glob("*.json") if not path.name.startswith("."))
    return []


def remove_partial_files(folder: Path) -> None:
    """Remove the partly written files that a killed server left in a session's folder. Nobody may be writing there."""
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
