"""Sessions and their games, in memory and on the disk.

A browser has a token, which is a random number that nobody can guess, and sees the games of this token. The token is a
cookie: scripts cannot read it, other sites cannot have it sent, and downloads carry it too. On the disk each session
has a folder and each game a file. A folder is named by a digest of the token, so the folder does not give the token
away. After a restart the sessions are found again.
"""

import hashlib
import logging
import re
import secrets
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from genial_env._util.strict_json import read_object
from genial_env._util.validators import OBJECT, STRING, finite_number, json_object, list_of, optional
from genial_env.table import Table
from genial_env.web._game import NO_SUCH_GAME, Game
from genial_env.web._request_checks import Refused
from genial_env.web._seating import Seating
from genial_env.web._session_store import MAX_GAME_BYTES, SessionStore, list_game_files, mark_used, remove_partial_files
from genial_env.web._work_queue import Task
from genial_env.web.limits import DAY, Limits

_TOKEN = re.compile(r"[\w-]{43}", re.ASCII)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Fault:
    """A file that is not a valid game. It stays unchanged, and in the list of games, until it is removed."""

    id: str
    started: float
    message: str
    """The reason why it is not valid."""


class Session:
    """The games of one browser. Those on the disk are read when the session is made.

    Args:
        digest: the digest of the token.
        store: where games are saved.
        limits: the limits of the server.
    """

    def __init__(self, digest: str, store: SessionStore, limits: Limits) -> None:
        self.digest = digest
        self.used = self._marked = time.time()
        """The time of the last request, in seconds since 1970."""
        self.review: Task[Any] | None = None
        """The last review; there is one at a time."""
        self.is_guest = False
        """Whether the browser has used the link of a game."""
        self._store, self._limits = store, limits
        self._folder = store.folder_of(digest)
        self._lock = threading.Lock()
        self._games: dict[str, Game] = {}
        self._faults: dict[str, Fault] = {}
        if self._folder is not None and self._folder.is_dir():
            mark_used(self._folder)
            remove_partial_files(self._folder)
            self._read(self._folder)

    def __len__(self) -> int:
        return len(self._games)

    def use(self) -> None:
        """Note the time of a request."""
        self.used = time.time()
        if self.used - self._marked > DAY:
            self._marked = self.used
            mark_used(self._folder)

    def games(self) -> list[Game]:
        """Return the games, the newest first."""
        return sorted(self._games.values(), key=lambda game: -game.started)

    def faults(self) -> list[Fault]:
        """Return the files that are not valid games."""
        return list(self._faults.values())

    def game(self, name: str) -> Game:
        """Return a game by its id.

        Raises:
            Refused: if the session has no such game, or its file is not valid.
        """
        if name in self._faults:
            fault = self._faults[name].message
            raise Refused(410, f"this game cannot go on: {fault}", "broken_game", reason=fault)
        try:
            return self._games[name]
        except KeyError:
            raise Refused(404, NO_SUCH_GAME, "no_such_game") from None

    def find(self, name: str) -> Game | None:
        """Return a game by its id; None if the session has no such game that can go on."""
        return self._games.get(name)

    def add(self, table: Table, names: tuple[str | None, ...] = (), seating: Seating | None = None) -> Game:
        """Begin a game and save it.

        Args:
            table: the game.
            names: the names that people have given, by seat; empty for none.
            seating: who sits where; None if all people are at the page of the session.

        Raises:
            Refused: if there are too many games, or it cannot be saved.
        """
        with self._lock:
            if len(self._games) + len(self._faults) >= self._limits.games:
                message = f"you have {self._limits.games} games: remove one before you begin another"
                raise Refused(409, message, "too_many_games", most=self._limits.games)
            with self._store.reserve_game():
                game = Game(secrets.token_hex(8), table, time.time(), names, seating or Seating())
                self._save(game)
                self._hold(game)
        return game

    def remove(self, name: str) -> None:
        """Remove a game, also from the disk, and cancel the task about it.

        Raises:
            Refused: if the session has no such game, or the file cannot be removed.
        """
        if name in self._faults:
            self._remove(name)
            return
        game = self.game(name)
        with game.locked():
            self._remove(name)
            game.removed = True
            game.cancel_task()

    def change(self, game: Game, act: Callable[[], Any], undo: Callable[[], Any] | None = None) -> None:
        """Change a game and save it. If it cannot be saved, the change is undone.

        Args:
            game: the game, whose lock the caller holds.
            act: makes the change. If it raises an error, it must have changed nothing.
            undo: undoes the change; None for a decision, which is taken back.

        Raises:
            Refused: if the game cannot be saved.
            Exception: what `act` raises.
        """
        act()
        try:
            self._save(game)
        except Refused:
            (undo or game.table.take_back)()
            raise

    def _remove(self, name: str) -> None:
        with self._lock:
            if name not in self._games and name not in self._faults:
                return  # another request has removed it meanwhile
            if self._folder is None:
                self._store.release_games(1)
            else:
                self._store.remove(self._path(name))
            self._games.pop(name, None)
            self._faults.pop(name, None)
            self._store.forget_owner(name)

    def _hold(self, game: Game) -> None:
        game.save = partial(self._save, game)
        self._games[game.id] = game
        self._store.note_owner(game.id, self.digest)

    def _save(self, game: Game) -> None:
        if self._folder is not None and not game.removed:
            self._store.write(self._path(game.id), game.to_json())

    def _path(self, name: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{name}.json"

    def _read(self, folder: Path) -> None:
        """Read the games of the session's folder."""
        for path in list_game_files(folder):
            try:
                game = _read_game(path)
            except Exception as error:  # whatever one file holds, the other games can be played
                message = _describe_error(error).removeprefix(f"{path}: ")
                log.warning("%s is not a valid game: %s", path, message)
                self._faults[path.stem] = Fault(path.stem, _modified_at(path), message)
            else:
                self._hold(game)


class Sessions:
    """All sessions by the digests of their tokens.

    Args:
        folder: the folder for games; None to keep them in memory only.
        limits: the limits of the server.

    Raises:
        FolderInUse: if another server uses the folder; the message says which.
        OSError: if the folder cannot be used.
    """

    def __init__(self, folder: Path | None, limits: Limits) -> None:
        self._limits = limits
        self._store = SessionStore(folder, limits)
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Session] = OrderedDict()  # the one used last comes last
        self._alive: weakref.WeakValueDictionary[str, Session] = weakref.WeakValueDictionary()
        self.sweep()

    def begin(self, token: str | None) -> str:
        """Begin a session and return its token.

        Args:
            token: the browser's token, None if it has none. A token of the right form is used again: a browser sends
                the same cookie to all ports of a machine, so a new one would replace another server's.
        """
        if token is None or not _TOKEN.fullmatch(token):
            token = secrets.token_urlsafe(32)
        self.load(digest_token(token))
        return token

    def known(self, digest: str) -> Session | None:
        """Return a session that is in memory, None if it is not there."""
        with self._lock:
            session = self._alive.get(digest)
            if session is not None:
                session.use()
                self._remember(session)
            return session

    def is_stored(self, digest: str) -> bool:
        """Return whether a session is on the disk."""
        folder = self._store.folder_of(digest)
        return folder is not None and folder.is_dir()

    def owner_of(self, game: str) -> str | None:
        """Return the digest of the session that has a game; None if there is no such game."""
        return self._store.owner_of(game)

    def load(self, digest: str) -> Session:
        """Return a session; read it from the disk if it is not in memory. This may take long."""
        session = self.known(digest)
        if session is not None:
            return session
        session = Session(digest, self._store, self._limits)
        with self._lock:
            return self._remember(self._alive.get(digest, session))

    def sweep(self) -> None:
        """Remove sessions that were not used for too long from the disk and from memory."""
        now = time.time()
        with self._lock:
            idle = self._limits.idle_s if self._store.saves else self._limits.max_age_s
            for session in [each for each in self._known.values() if each.used < now - idle]:
                self._forget(session)
            in_use = frozenset(self._alive)
        self._store.remove_expired(in_use)

    def close(self) -> None:
        """Save nothing more, answer the requests that wait for a change, and let another server use the folder."""
        self._store.close()
        with self._lock:
            sessions = list(self._alive.values())
        for session in sessions:
            for game in session.games():
                game.changes.note("the server is ending")

    def _remember(self, session: Session) -> Session:
        self._alive[session.digest] = self._known[session.digest] = session
        self._known.move_to_end(session.digest)
        while len(self._known) > self._limits.sessions:
            others = [each for each in self._known.values() if each is not session]
            self._forget(next((each for each in others if not len(each)), others[0]))
        return session

    def _forget(self, session: Session) -> None:
        """Remove a session from memory. While a request or a task uses it, :meth:`known` still finds it."""
        del self._known[session.digest]
        if not self._store.saves:
            self._store.release_games(len(session))
            for game in session.games():
                self._store.forget_owner(game.id)
            del self._alive[session.digest]


def digest_token(token: str) -> str:
    """Return the digest by which a session is found. The token cannot be computed from it."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


_FILE = json_object(
    started=finite_number(), table=OBJECT, optional_keys={"names": list_of(optional(STRING)), "seating": OBJECT}
)
"""The format of a game's file. :meth:`Table.from_dict` and :meth:`Seating.from_dict` check their parts."""


def _read_game(path: Path) -> Game:
    """Return the game in a file.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is not a valid game; the message says why.
    """
    if not path.is_file():
        raise ValueError("expected a file")
    if path.stat().st_size > MAX_GAME_BYTES:
        raise ValueError(f"expected at most {MAX_GAME_BYTES} bytes")
    saved = _FILE(read_object(path), "the game")
    table, names = Table.from_dict(saved["table"]), tuple(saved.get("names", ()))
    if len(names) not in (0, table.rules.players):
        raise ValueError(f"names: expected one for each of {table.rules.players} seats, found {len(names)}")
    seating = Seating.from_dict(saved.get("seating", {}), table.rules)
    return Game(path.stem, table, float(saved["started"]), names, seating)


def _describe_error(error: Exception) -> str:
    """Return what is wrong with a file, without its path on the server."""
    if isinstance(error, OSError):
        return error.strerror or "it cannot be read"
    return str(error) if isinstance(error, ValueError) else f"something unexpected ({type(error).__name__})"


def _modified_at(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0
