"""Whose games are whose, in memory and on the disk.

A browser has a token, a random number that nobody can guess, and sees the games of this token. It comes as a cookie:
no script can read it, no other site can have it sent, and downloads carry it as well. On the disk every session has a
folder and every game a file; folders are named by a digest of the token, so that who reads the folder has no token.
What is there is found again after a restart.
"""

import contextlib
import hashlib
import json
import logging
import re
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from genial_env.stored import ANY_OBJECT, a_number, an_object
from genial_env.strict_json import read_object
from genial_env.table import Table
from genial_env.web.guard import Refused

MOST_GAMES = 50
"""Of a session; more are refused until one is removed."""

MOST_SESSIONS = 1000
"""In memory; beyond it those are forgotten first that were not used for longest."""

_TOKEN = re.compile(r"[\w-]{43}", re.ASCII)

log = logging.getLogger(__name__)


@dataclass(eq=False)
class Game:
    """A table, and what the server knows of it. Whoever uses the table holds the lock."""

    id: str
    table: Table
    started: float  # seconds since 1970
    lock: threading.Lock = field(default_factory=threading.Lock)
    removed: bool = False


class Session:
    """The games of one browser.

    Args:
        folder: where they are kept; None for in memory only.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self.reviewing = threading.Lock()
        """Held while a game is judged for this session: one at a time."""
        self._games = {} if folder is None else _read_games(folder)

    def games(self) -> list[Game]:
        """The newest first."""
        return sorted(self._games.values(), key=lambda game: -game.started)

    def game(self, name: str) -> Game:
        """A game by its id.

        Raises:
            Refused: for an id that this session has not.
        """
        try:
            return self._games[name]
        except KeyError:
            raise Refused(404, "there is no such game here: it was removed, or is another browser's") from None

    def add(self, table: Table) -> Game:
        """Begin a game.

        Raises:
            Refused: when there are too many.
        """
        with self._lock:
            if len(self._games) >= MOST_GAMES:
                raise Refused(409, f"you have {MOST_GAMES} games: remove one before you begin another")
            game = Game(secrets.token_hex(8), table, time.time())
            self.keep(game)
            self._games[game.id] = game
        return game

    def remove(self, game: Game) -> None:
        """Forget a game, on the disk too. The caller holds its lock."""
        game.removed = True
        self._games.pop(game.id, None)
        if self._folder is not None:
            (self._folder / f"{game.id}.json").unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # not empty
                self._folder.rmdir()

    def keep(self, game: Game) -> None:
        """Write a game as it stands; a crash on the way leaves what was there. The caller holds its lock.

        Raises:
            Refused: where it cannot be written.
        """
        if self._folder is None or game.removed:
            return
        words = json.dumps({"started": game.started, "table": game.table.saved()})
        beside = self._folder / f".{game.id}.part"
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            beside.write_text(words, encoding="utf-8")
            beside.replace(self._folder / f"{game.id}.json")
        except OSError as error:
            log.error("a game cannot be kept: %s", error)
            raise Refused(507, f"the server cannot keep the game: {error.strerror}") from error


class Sessions:
    """All sessions by their tokens.

    Args:
        folder: where games are kept; None for in memory only.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Session] = OrderedDict()

    def begin(self, token: str | None) -> str:
        """The token of a session that begins here.

        Args:
            token: what the browser has. If a server like this one made it, it stays: a browser sends the same cookie to
                all ports of a machine, and would lose the games of one server to another.
        """
        if token is None or not _TOKEN.fullmatch(token):
            token = secrets.token_urlsafe(32)
        with self._lock:
            self._remember(_digest(token), Session(self._folder_of(_digest(token))))
        return token

    def find(self, token: str | None) -> Session | None:
        """The session of a token; None for one that was not given out here."""
        if token is None:
            return None
        digest = _digest(token)
        with self._lock:
            session = self._known.get(digest)
            if session is not None:
                self._known.move_to_end(digest)
                return session
        folder = self._folder_of(digest)
        if folder is None or not folder.is_dir():
            return None
        session = Session(folder)  # which takes its time: others need not wait
        with self._lock:
            return self._known.get(digest) or self._remember(digest, session)

    def _remember(self, digest: str, session: Session) -> Session:
        self._known[digest] = session
        while len(self._known) > MOST_SESSIONS:
            self._known.popitem(last=False)
        return session

    def _folder_of(self, digest: str) -> Path | None:
        return None if self._folder is None else self._folder / digest


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


_KEPT = an_object(started=a_number(), table=ANY_OBJECT)
"""What a game's file holds; the table is for :meth:`Table.restored` to check."""


def _read_games(folder: Path) -> dict[str, Game]:
    """The games in a folder; a file that is none is left alone, and logged."""
    games = {}
    for path in sorted(folder.glob("*.json")):
        try:
            kept = _KEPT(read_object(path), "the game")
            game = Game(path.stem, Table.restored(kept["table"]), kept["started"])
        except (OSError, ValueError) as error:
            log.warning("%s is no game that can go on: %s", path, error)
        else:
            games[game.id] = game
    return games
