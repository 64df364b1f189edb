"""The server: what is asked for at which address. What is done then is in `playing` and `recorded`."""

import json
from collections.abc import Awaitable, Callable, Iterable
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from genial_env.strict_json import JSONError, decode_text, parse_object
from genial_env.web import playing
from genial_env.web.guard import Guard, Refused, read_body, shortened
from genial_env.web.recorded import JUDGE, contents, judging, readable, steps
from genial_env.web.sessions import Session, Sessions
from genial_env.web.shown import Shown, combinations, look, summary

COOKIE = "genial_session"
COOKIE_LIVES = 365 * 24 * 3600

MOST_IN_A_FILE = 5_000_000
"""Bytes of a file of records."""

MOST_IN_A_BODY = 100_000
"""Bytes of everything else that is sent here; no record of one game is nearly as long."""

KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def make_app(folder: Path | None = None, hosts: Iterable[str] = ()) -> ASGIApp:
    """The server as an ASGI application.

    Args:
        folder: where games are kept; None for in memory only, so that they end with the process.
        hosts: names by which the server is known, besides "localhost" and addresses in numbers.
    """
    desk = Desk(Sessions(folder))
    posts: dict[str, Handler] = {
        "/api/session": desk.session,
        "/api/rules": desk.rules,
        "/api/games": desk.begin,
        "/api/games/{name}/play": desk.play,
        "/api/games/{name}/advance": desk.advance,
        "/api/games/{name}/remove": desk.remove,
        "/api/records": desk.records,
        "/api/steps": desk.steps,
        "/api/review": desk.review,
    }
    gets: dict[str, Handler] = {
        "/": _page,
        "/static/{name}": _page,
        "/api/games": desk.games,
        "/api/games/{name}": desk.game,
        "/api/games/{name}/hint": desk.hint,
        "/api/games/{name}/record": desk.record,
    }
    routes = [Route(path, handler, methods=["POST"]) for path, handler in posts.items()]
    routes += [Route(path, handler, methods=["GET"]) for path, handler in gets.items()]
    return Guard(
        Starlette(routes=routes, exception_handlers={Refused: _refused, HTTPException: _no_such, Exception: _broken}),
        hosts,
    )


Handler = Callable[[Request], Awaitable[Response]]


class Answer(JSONResponse):
    """JSON in plain ASCII, so that no agent can have a name that cannot be sent."""

    def render(self, content: Any) -> bytes:
        """As bytes."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


class Desk:
    """Answers requests. What takes its time is done in threads, so that others need not wait for it.

    Args:
        sessions: who may see what.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    # A session, and what can be played

    async def session(self, request: Request) -> Response:
        """Begin a session where the browser has none; how everything looks."""
        answer = Answer({"look": look(), "combinations": combinations()})
        token = request.cookies.get(COOKIE)
        if await run_in_threadpool(self._sessions.find, token) is None:
            token = self._sessions.begin(token)
            answer.set_cookie(COOKIE, token, max_age=COOKIE_LIVES, httponly=True, samesite="strict")
        return answer

    async def rules(self, request: Request) -> Response:
        """Whether some rules can be played, by which agents, and whether there is a judge for them."""
        rules = playing.rules_from(await _object(request))
        names = await run_in_threadpool(playing.agents_for, rules)
        return Answer({"rules": rules.to_dict(), "agents": names, "judge": JUDGE in names})

    # Games

    async def games(self, request: Request) -> Response:
        """The session's games."""
        session = await self._session(request)
        return Answer([summary(game.id, game.started, game.table) for game in session.games()])

    async def begin(self, request: Request) -> Response:
        """A new game."""
        session, wanted = await self._session(request), await _object(request)
        return Answer(await run_in_threadpool(playing.begin, session, wanted), 201)

    async def game(self, request: Request) -> Response:
        """A game as it stands; ``?seat=1`` to see that seat's rack."""
        session = await self._session(request)
        return Answer(await run_in_threadpool(playing.look_at, session.game(_name(request)), _seat(request)))

    async def play(self, request: Request) -> Response:
        """A person's decision."""
        session, wanted = await self._session(request), await _object(request)
        return Answer(await run_in_threadpool(playing.play, session, session.game(_name(request)), wanted))

    async def advance(self, request: Request) -> Response:
        """One decision of the agent whose turn it is."""
        session, wanted = await self._session(request), await _object(request)
        return Answer(await run_in_threadpool(playing.advance, session, session.game(_name(request)), wanted))

    async def hint(self, request: Request) -> Response:
        """What the judge would do; ``?seat=1`` for whom, where several people play."""
        session = await self._session(request)
        return Answer(await run_in_threadpool(playing.hint, session.game(_name(request)), _seat(request)))

    async def record(self, request: Request) -> Response:
        """The record of a finished game, as a file."""
        session = await self._session(request)
        game = session.game(_name(request))
        line = await run_in_threadpool(playing.record_line, game)
        named = {"content-disposition": f'attachment; filename="genial-{game.id}.jsonl"'}
        return Response(line, media_type="application/x-ndjson", headers=named)

    async def remove(self, request: Request) -> Response:
        """Forget a game."""
        session = await self._session(request)
        await run_in_threadpool(playing.remove, session, session.game(_name(request)))
        return Answer({})

    # Records

    async def records(self, request: Request) -> Response:
        """What a file of records holds."""
        await self._session(request)
        return Answer(await run_in_threadpool(contents, await read_body(request, MOST_IN_A_FILE)))

    async def steps(self, request: Request) -> Response:
        """A recorded game step by step."""
        await self._session(request)
        body = await read_body(request, MOST_IN_A_BODY)
        return Answer(await run_in_threadpool(lambda: steps(readable(body))))

    async def review(self, request: Request) -> Response:
        """A recorded game judged, in lines that come as the work goes on."""
        session = await self._session(request)
        record = await run_in_threadpool(readable, await read_body(request, MOST_IN_A_BODY))
        if not session.reviewing.acquire(blocking=False):
            raise Refused(429, "a game is being reviewed for you already: wait until it is done")
        return StreamingResponse(judging(record, session.reviewing.release), media_type="application/x-ndjson")

    async def _session(self, request: Request) -> Session:
        """Whose request it is.

        Raises:
            Refused: for a token that was not given out here.
        """
        session = await run_in_threadpool(self._sessions.find, request.cookies.get(COOKIE))
        if session is None:
            raise Refused(403, "this page has no session here: load it again")
        return session


# What comes with a request


async def _object(request: Request) -> Shown:
    """The JSON object that was sent.

    Raises:
        Refused: for anything else.
    """
    body = await read_body(request, MOST_IN_A_BODY)
    try:
        return parse_object(decode_text(body))
    except JSONError as error:
        raise Refused(400, str(error)) from error


def _name(request: Request) -> str:
    name: str = request.path_params["name"]
    return name


def _seat(request: Request) -> int | None:
    words = request.query_params.get("seat")
    if words is None:
        return None
    if words not in ("0", "1", "2", "3"):
        raise Refused(400, f"seat: expected a number from 0 to 3, found {shortened(words)}")
    return int(words)


# The page, and errors


@lru_cache(maxsize=1)
def _files() -> dict[str, bytes]:
    """The files of the page by name: nothing else can be asked for."""
    folder = resources.files("genial_env.web") / "static"
    return {file.name: file.read_bytes() for file in folder.iterdir() if Path(file.name).suffix in KINDS}


async def _page(request: Request) -> Response:
    name = request.path_params.get("name", "index.html")
    if name not in _files():
        raise Refused(404, "there is no such page here")
    return Response(_files()[name], media_type=KINDS[Path(name).suffix])


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return Answer({"error": error.message}, error.status)


async def _no_such(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return Answer({"error": f"{request.method} of this address: {error.detail.lower()}"}, error.status_code)


async def _broken(request: Request, error: Exception) -> Response:
    return Answer({"error": "something went wrong in the server; its log says what"}, 500)
