"""Whose games are whose, in memory and on the disk.

A browser has a token, a random number that nobody can guess, and sees the games of this token. It comes as a cookie:
no script can read it, no other site can have it sent, and downloads carry it as well. On the disk every session has a
folder and every game a file; folders are named by a digest of the token, so that who reads the folder has no token.
What is there is found again after a restart.
"""

import hashlib
import json
import logging
import re
import secrets
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from genial_env._util.strict_json import read_object
from genial_env._util.validators import OBJECT, finite_number, json_object
from genial_env.table import Table
from genial_env.web.guard import Refused
from genial_env.web.limits import DAY, Limits
from genial_env.web.shelf import MOST_IN_A_GAME, Shelf, game_files, tidy, touch
from genial_env.web.thinking import Task

_TOKEN = re.compile(r"[\w-]{43}", re.ASCII)

REMOVED = "there is no such game here: it was removed, or is another browser's"

log = logging.getLogger(__name__)


@dataclass(eq=False)
class Game:
    """A table, and what the server knows of it. Whoever uses the table holds the lock, never for long: agents think
    about a copy, without it.
    """

    id: str
    table: Table
    started: float  # seconds since 1970
    lock: threading.Lock = field(default_factory=threading.Lock)
    removed: bool = False
    task: Task[Any] | None = None
    """The last that was asked about the game: what an agent plays, or a hint. It is dropped when the game goes on."""
    about: tuple[int, int | None] = (-1, None)
    """What the task is about: the turn, and for a hint the seat."""

    @contextmanager
    def held(self) -> Iterator[None]:
        """The game for one thread alone, in the block.

        Raises:
            Refused: where it was removed.
        """
        with self.lock:
            if self.removed:
                raise Refused(404, REMOVED)
            yield

    def saved(self) -> str:
        """As it is written."""
        return json.dumps({"started": self.started, "table": self.table.saved()})

    def drop_task(self) -> None:
        """Nobody wants the task's outcome any more."""
        if self.task is not None:
            self.task.drop()
            self.task = None


@dataclass(frozen=True)
class Fault:
    """A file that is no game that can go on: it stays as it is, and in the list of games, until it is removed."""

    id: str
    started: float
    words: str
    """What is wrong with it."""


class Session:
    """The games of one browser; what is on the disk is read now.

    Args:
        digest: of its token.
        shelf: where games are kept.
        limits: of its games.
    """

    def __init__(self, digest: str, shelf: Shelf, limits: Limits) -> None:
        self.digest = digest
        self.used = self._touched = time.time()
        """When it was last asked for."""
        self.review: Task[Any] | None = None
        """The last review that was asked for: one at a time."""
        self._shelf, self._limits = shelf, limits
        self._folder = shelf.folder_of(digest)
        self._lock = threading.Lock()
        self._games: dict[str, Game] = {}
        self._faults: dict[str, Fault] = {}
        if self._folder is not None and self._folder.is_dir():
            touch(self._folder)
            tidy(self._folder)
            self._read(self._folder)

    def __len__(self) -> int:
        return len(self._games)

    def use(self) -> None:
        """Note that it is asked for."""
        self.used = time.time()
        if self.used - self._touched > DAY:
            self._touched = self.used
            touch(self._folder)

    def games(self) -> list[Game]:
        """The newest first."""
        return sorted(self._games.values(), key=lambda game: -game.started)

    def faults(self) -> list[Fault]:
        """The files that are no games."""
        return list(self._faults.values())

    def game(self, name: str) -> Game:
        """A game by its id.

        Raises:
            Refused: for an id that this session has not, and for a file that is no game.
        """
        if name in self._faults:
            raise Refused(410, f"this game cannot go on: {self._faults[name].words}")
        try:
            return self._games[name]
        except KeyError:
            raise Refused(404, REMOVED) from None

    def add(self, table: Table) -> Game:
        """Begin a game.

        Raises:
            Refused: when there are too many, or where it cannot be kept.
        """
        with self._lock:
            if len(self._games) + len(self._faults) >= self._limits.games:
                raise Refused(409, f"you have {self._limits.games} games: remove one before you begin another")
            with self._shelf.room():
                game = Game(secrets.token_hex(8), table, time.time())
                self._keep(game)
                self._games[game.id] = game
        return game

    def remove(self, name: str) -> None:
        """Forget a game, on the disk too; what an agent thinks about it is dropped.

        Raises:
            Refused: for an id that this session has not, and where the file cannot be removed.
        """
        if name in self._faults:
            self._take_out(name)
            return
        game = self.game(name)
        with game.held():
            self._take_out(name)
            game.removed = True
            game.drop_task()

    def change(self, game: Game, act: Callable[[], Any]) -> None:
        """Play a decision and write the game; what cannot be written is not played. The caller holds the game's lock.

        Raises:
            Refused: where it cannot be written.
            Exception: what `act` raises; it must have changed nothing then.
        """
        act()
        try:
            self._keep(game)
        except Refused:
            game.table.take_back()
            raise

    def _take_out(self, name: str) -> None:
        with self._lock:
            if name not in self._games and name not in self._faults:
                return  # taken out by another request meanwhile
            if self._folder is None:
                self._shelf.forget(1)
            else:
                self._shelf.remove(self._path(name))
            self._games.pop(name, None)
            self._faults.pop(name, None)

    def _keep(self, game: Game) -> None:
        if self._folder is not None and not game.removed:
            self._shelf.write(self._path(game.id), game.saved())

    def _path(self, name: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{name}.json"

    def _read(self, folder: Path) -> None:
        """Read the games of a folder."""
        for path in game_files(folder):
            try:
                game = _game_in(path)
            except Exception as error:  # whatever is in a file, the others are games
                words = _words_of(error).removeprefix(f"{path}: ")
                log.warning("%s is no game that can go on: %s", path, words)
                self._faults[path.stem] = Fault(path.stem, _changed_at(path), words)
            else:
                self._games[game.id] = game


class Sessions:
    """All sessions by their tokens.

    Args:
        folder: where games are kept; None for in memory only.
        limits: how much is kept.

    Raises:
        FolderInUse: where another server uses the folder; says which.
        OSError: where the folder cannot be used.
    """

    def __init__(self, folder: Path | None, limits: Limits) -> None:
        self._limits = limits
        self._shelf = Shelf(folder, limits)
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Session] = OrderedDict()  # the one used last is the last
        self._alive: weakref.WeakValueDictionary[str, Session] = weakref.WeakValueDictionary()
        self.sweep()

    def begin(self, token: str | None) -> str:
        """The token of a session that begins here.

        Args:
            token: what the browser has. If a server like this one made it, it stays: a browser sends the same cookie to
                all ports of a machine, and would lose the games of one server to another.
        """
        if token is None or not _TOKEN.fullmatch(token):
            token = secrets.token_urlsafe(32)
        self.load(digest_of(token))
        return token

    def known(self, digest: str) -> Session | None:
        """A session that is in memory, by its token's digest; reads nothing."""
        with self._lock:
            session = self._alive.get(digest)
            if session is not None:
                session.use()
                self._remember(session)
            return session

    def is_kept(self, digest: str) -> bool:
        """Whether a session is on the disk."""
        folder = self._shelf.folder_of(digest)
        return folder is not None and folder.is_dir()

    def load(self, digest: str) -> Session:
        """A session, read from the disk where it is there, which takes its time."""
        session = self.known(digest)
        if session is not None:
            return session
        session = Session(digest, self._shelf, self._limits)
        with self._lock:
            return self._remember(self._alive.get(digest, session))

    def sweep(self) -> None:
        """Remove sessions that were not used for too long, from the disk and from memory."""
        now = time.time()
        with self._lock:
            idle = self._limits.idle_s if self._shelf.keeps else self._limits.age_s
            for session in [each for each in self._known.values() if each.used < now - idle]:
                self._forget(session)
            spared = frozenset(self._alive)
        self._shelf.expire(spared)

    def close(self) -> None:
        """Write nothing more; another server may use the folder."""
        self._shelf.close()

    def _remember(self, session: Session) -> Session:
        self._alive[session.digest] = self._known[session.digest] = session
        self._known.move_to_end(session.digest)
        while len(self._known) > self._limits.sessions:
            others = [each for each in self._known.values() if each is not session]
            self._forget(next((each for each in others if not len(each)), others[0]))
        return session

    def _forget(self, session: Session) -> None:
        """Out of memory; while a request or a task uses it, it is found again."""
        del self._known[session.digest]
        if not self._shelf.keeps:
            self._shelf.forget(len(session))
            del self._alive[session.digest]


def digest_of(token: str) -> str:
    """By what a session is found; nobody finds the token by it."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


_KEPT = json_object(started=finite_number(), table=OBJECT)
"""What a game's file holds; the table is for :meth:`Table.restored` to check."""


def _game_in(path: Path) -> Game:
    """The game in a file.

    Raises:
        OSError: where it cannot be read.
        ValueError: for what is no game, saying why.
    """
    if not path.is_file():
        raise ValueError("expected a file")
    if path.stat().st_size > MOST_IN_A_GAME:
        raise ValueError(f"expected at most {MOST_IN_A_GAME} bytes")
    kept = _KEPT(read_object(path), "the game")
    return Game(path.stem, Table.restored(kept["table"]), float(kept["started"]))


def _words_of(error: Exception) -> str:
    """What is wrong with a file, without its place on the server."""
    if isinstance(error, OSError):
        return error.strerror or "it cannot be read"
    return str(error) if isinstance(error, ValueError) else f"something unexpected ({type(error).__name__})"


def _changed_at(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0
