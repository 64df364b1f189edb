"""Who asks: the session of a browser, the invitation code that it has given, and the link of a game that it uses."""

import hmac
import re
from typing import Any, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from genial_env.web._game import Game
from genial_env.web._request_checks import Refused
from genial_env.web._request_parts import game_name
from genial_env.web._seating import Viewer
from genial_env.web._sessions import Session, Sessions, digest_token
from genial_env.web._work_queue import WorkQueue
from genial_env.web.limits import Limits

COOKIE = "genial_session"
"""The cookie with the token of a session."""

INVITATION_COOKIE = "genial_invitation"
"""The cookie with the invitation code that a browser has given."""


_CODE = re.compile("[A-Z0-9]{6,100}")


class Access(NamedTuple):
    """The game of a request: whose it is, and who looks at it."""

    session: Session
    game: Game
    viewer: Viewer


class AccessControl:
    """Finds sessions and games for requests, and refuses those that may not have them.

    Args:
        sessions: the sessions of all browsers.
        limits: how much the server takes on.
        invitation: the code that browsers must know to begin or list games; None if everybody may.

    Raises:
        ValueError: if the code is too short, or has characters that cannot stand in an address.
    """

    def __init__(self, sessions: Sessions, limits: Limits, invitation: str | None) -> None:
        if invitation is not None and not _CODE.fullmatch(_normalize(invitation)):
            raise ValueError(f"the invitation code: expected at least 6 letters and digits, not {invitation!r}")
        self._sessions = sessions
        self._invitation = None if invitation is None else _normalize(invitation)
        self._readers = WorkQueue(1, limits.sessions, "readers")  # apart: nobody waits for reviews to see a game

    def close(self) -> None:
        """Read no more sessions from the disk."""
        self._readers.close()

    def check_invitation(self, code: Any) -> str:
        """Return an invitation code as the cookie keeps it.

        Raises:
            Refused: if it is not that of the server.
        """
        if not isinstance(code, str) or not self._is_invitation(code):
            raise Refused(403, "this is not the invitation code of this server", "wrong_invitation")
        return _normalize(code)

    async def session(self, request: Request, guests: bool = False) -> Session:
        """Return the session of a request.

        Args:
            request: the request.
            guests: whether people who have joined a game by a link may ask this, too.

        Raises:
            Refused: if this server did not give out the token, or the browser has not given the invitation code.
        """
        session = await self.find_session(request.cookies.get(COOKIE))
        if session is None:
            raise Refused(403, "this page has no session here: load it again", "no_session")
        if not self.is_invited(request) and not (guests and session.is_guest):
            message = "this server is for invited people: enter the invitation code that it printed when it started"
            raise Refused(403, message, "not_invited")
        return session

    async def game(self, request: Request) -> Access:
        """Return the game of a request and who asks: the owner, or who has a link, whose secret is ``?link=...``.

        Raises:
            Refused: if there is no such game for the browser, or the link is not valid.
        """
        name, secret = game_name(request), request.query_params.get("link")
        if secret is None:
            session = await self.session(request)
            game = session.game(name)
            return Access(session, game, game.host)
        digest = self._sessions.owner_of(name)
        owner = None if digest is None else await self._load_session(digest)
        found = None if owner is None else owner.find(name)
        viewer = None if found is None else found.seating.find_viewer(secret, found.table.players)
        if owner is None or found is None or viewer is None:
            message = "this link leads to no game: the game was removed, a new link has replaced it, or it is not whole"
            raise Refused(404, message, "no_such_link")
        guest = await self.find_session(request.cookies.get(COOKIE))
        if guest is not None:
            guest.is_guest = True
        return Access(owner, found, viewer)

    async def find_session(self, token: str | None) -> Session | None:
        """Return the session of a token; None if this server did not give out the token."""
        if token is None:
            return None
        digest = digest_token(token)
        session = self._sessions.known(digest)
        if session is not None or not await run_in_threadpool(self._sessions.is_stored, digest):
            return session
        return await self._load_session(digest)

    async def _load_session(self, digest: str) -> Session:
        """Return a session by its digest; read it from the disk if it is not in memory."""
        session = self._sessions.known(digest)
        if session is not None:
            return session
        task = self._readers.submit(digest, "session", lambda task: self._sessions.load(digest))
        await task.wait()
        return task.outcome()

    def is_invited(self, request: Request) -> bool:
        """Return whether no invitation code is needed, or the browser has given it."""
        return self._invitation is None or self._is_invitation(request.cookies.get(INVITATION_COOKIE, ""))

    def _is_invitation(self, code: str) -> bool:
        return self._invitation is None or hmac.compare_digest(_bytes(code), _bytes(self._invitation))


def _bytes(code: str) -> bytes:
    return _normalize(code).encode(errors="replace")


def _normalize(code: str) -> str:
    """Return an invitation code as it is compared: case, spaces and dashes do not matter."""
    return re.sub(r"[\s-]", "", code).upper()
