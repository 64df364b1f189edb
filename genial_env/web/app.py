"""The server: what is asked for at which address. What is done then is in `playing` and `recorded`."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
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
from starlette.types import Receive, Scope, Send

from genial_env._util.strict_json import JSONError, decode_text, parse_object
from genial_env.web import playing
from genial_env.web.guard import Guard, Refused, read_body, shortened
from genial_env.web.limits import Limits
from genial_env.web.recorded import JUDGE, Judging, contents, readable, steps
from genial_env.web.sessions import Session, Sessions, digest_of
from genial_env.web.shown import Shown, combinations, look
from genial_env.web.thinking import Dropped, Task, WorkQueue

COOKIE = "genial_session"

MOST_IN_A_FILE = 5_000_000
"""Bytes of a file of records."""

MOST_IN_A_BODY = 100_000
"""Bytes of everything else that is sent here; no record of one game is nearly as long."""

KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


SWEEP_S = 600
"""Between two looks for sessions that are too old."""


class App(Guard):
    """The server as an ASGI application.

    Args:
        folder: where games are kept; None for in memory only.
        hosts: names by which the server is known.
        limits: how much the server takes on.
    """

    def __init__(self, folder: Path | None, hosts: Iterable[str], limits: Limits) -> None:
        self._desk = Desk(Sessions(folder, limits), limits)
        refusals = {Refused: _refused, Dropped: _dropped, HTTPException: _no_such, Exception: _broken}
        super().__init__(
            Starlette(routes=_routes(self._desk), exception_handlers=refusals, lifespan=self._living), hosts
        )

    @property
    def busy(self) -> bool:
        """Whether a thread thinks, also after the end, for nobody."""
        return self._desk.busy

    def close(self) -> None:
        """Break off what agents think; what was played is written. Nothing more is taken on. A second time changes
        nothing. Servers that know ASGI's lifespan protocol need not call it.
        """
        self._desk.close()

    @asynccontextmanager
    async def _living(self, starlette: Starlette) -> AsyncIterator[None]:
        sweeping = asyncio.create_task(self._desk.sweep())
        try:
            yield
        finally:
            sweeping.cancel()
            self.close()


def make_app(folder: Path | None = None, hosts: Iterable[str] = (), limits: Limits | None = None) -> App:
    """The server as an ASGI application.

    Args:
        folder: where games are kept, this server's alone; None for in memory only, so that they end with the process.
        hosts: names by which the server is known, besides "localhost" and addresses in numbers.
        limits: how much the server takes on; None for the usual.

    Raises:
        FolderInUse: where another server uses the folder; says which.
        OSError: where the folder cannot be used.
    """
    return App(folder, hosts, limits or Limits())


def _routes(desk: "Desk") -> list[Route]:
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
    return routes + [Route(path, handler, methods=["GET"]) for path, handler in gets.items()]


Handler = Callable[[Request], Awaitable[Response]]


class Answer(JSONResponse):
    """JSON in plain ASCII, so that no agent can have a name that cannot be sent."""

    def render(self, content: Any) -> bytes:
        """As bytes."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


class Desk:
    """Answers requests. What is short is done in the pool of threads, what takes its time in queues: nobody waits in a
    thread.

    Args:
        sessions: who may see what.
        limits: how much is taken on.
    """

    def __init__(self, sessions: Sessions, limits: Limits) -> None:
        self._sessions, self._limits = sessions, limits
        self._agents = WorkQueue(limits.thinkers, limits.waiting, "agents")
        self._clerks = WorkQueue(limits.clerks, limits.waiting, "clerks")
        self._uploads = 0

    @property
    def busy(self) -> bool:
        """Whether a thread thinks, for anybody or for nobody any more."""
        return self._agents.busy or self._clerks.busy

    def close(self) -> None:
        """Break off what is thought about, keep what was played."""
        self._agents.close()
        self._clerks.close()
        self._sessions.close()

    async def sweep(self) -> None:
        """Look for sessions that are too old, from time to time, until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_S)
            await run_in_threadpool(self._sessions.sweep)

    # A session, and what can be played

    async def session(self, request: Request) -> Response:
        """Begin a session where the browser has none, or let its cookie live on; how everything looks."""
        answer = Answer({"look": look(), "combinations": combinations()})
        token = request.cookies.get(COOKIE)
        if token is None or await self._found(token) is None:
            token = await run_in_threadpool(self._sessions.begin, token)
        answer.set_cookie(COOKIE, token, max_age=int(self._limits.age_s), httponly=True, samesite="strict")
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
        return Answer(await run_in_threadpool(playing.listed, session))

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
        """A decision of the agent whose turn it is, or, with the key "thinking", the game without it: it comes later.

        How long the answer may be held back for it, says ``"wait"`` in seconds; 0 where left out.
        """
        session, wanted = await self._session(request), await _object(request)
        game, wait = session.game(_name(request)), self._wait(wanted.get("wait", 0))
        task = await run_in_threadpool(playing.thinking, self._agents, session, game, wanted)
        if task is not None:
            await _until_done(task, request, wait)
        return Answer(await run_in_threadpool(playing.advanced, game, wanted, task))

    async def hint(self, request: Request) -> Response:
        """What the judge would do; ``?seat=1`` for whom, where several people play, ``wait=10`` as for
        :meth:`advance`.
        """
        session, seat = await self._session(request), _seat(request)
        wait = self._wait(request.query_params.get("wait", "0"))
        task = await run_in_threadpool(playing.hinting, self._clerks, session, session.game(_name(request)), seat)
        await _until_done(task, request, wait)
        return Answer(playing.hinted(task))

    async def record(self, request: Request) -> Response:
        """The record of a finished game, as a file."""
        session = await self._session(request)
        game = session.game(_name(request))
        line = await run_in_threadpool(playing.record_line, game)
        named = {"content-disposition": f'attachment; filename="genial-{game.id}.jsonl"'}
        return Response(line, media_type="application/x-ndjson", headers=named)

    async def remove(self, request: Request) -> Response:
        """Forget a game, also while an agent thinks."""
        session = await self._session(request)
        await run_in_threadpool(session.remove, _name(request))
        return Answer({})

    # Records

    async def records(self, request: Request) -> Response:
        """What a file of records holds."""
        session = await self._session(request)
        if self._uploads >= self._limits.uploads:
            raise Refused(503, "the server has as many files as it reads at a time: try again in a moment")
        self._uploads += 1
        try:
            body = await read_body(request, MOST_IN_A_FILE)
            task = self._clerks.submit(session.digest, "file", lambda task: contents(body))
            await _until_done(task, request)
            task.drop()  # where the client has left
            return Answer(task.outcome())
        finally:
            self._uploads -= 1

    async def steps(self, request: Request) -> Response:
        """A recorded game step by step."""
        await self._session(request)
        body = await read_body(request, MOST_IN_A_BODY)
        return Answer(await run_in_threadpool(lambda: steps(readable(body))))

    async def review(self, request: Request) -> Response:
        """A recorded game judged, in lines that come as the work goes on."""
        session = await self._session(request)
        record = await run_in_threadpool(readable, await read_body(request, MOST_IN_A_BODY))
        if session.review is not None and not session.review.done:
            raise Refused(429, "a game is being reviewed for you already: wait until it is done")
        judging = Judging(self._clerks, session.digest, record)
        session.review = judging.task
        return Lines(judging)

    async def _session(self, request: Request) -> Session:
        """Whose request it is.

        Raises:
            Refused: for a token that was not given out here.
        """
        session = await self._found(request.cookies.get(COOKIE))
        if session is None:
            raise Refused(403, "this page has no session here: load it again")
        return session

    async def _found(self, token: str | None) -> Session | None:
        """The session of a token; None for one that was not given out here."""
        if token is None:
            return None
        digest = digest_of(token)
        session = self._sessions.known(digest)
        if session is not None or not await run_in_threadpool(self._sessions.is_kept, digest):
            return session
        task = self._clerks.submit(digest, "session", lambda task: self._sessions.load(digest))
        await task.wait()
        return task.outcome()

    def _wait(self, sent: Any) -> float:
        """For how long an answer may be held back."""
        try:
            seconds = float(sent)
        except (ValueError, TypeError, OverflowError):
            seconds = -1.0
        if not 0 <= seconds <= self._limits.poll_s:
            raise Refused(400, f"wait: expected seconds from 0 to {self._limits.poll_s:g}, found {shortened(sent)}")
        return seconds


class Lines(StreamingResponse):
    """The lines of a review. Its work breaks off where the client leaves, also before the first of them."""

    def __init__(self, judging: Judging) -> None:
        super().__init__(judging.lines(), media_type="application/x-ndjson")
        self._task = judging.task

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._task.drop()


async def _until_done(task: Task[Any], request: Request, seconds: float | None = None) -> None:
    """Wait until a task is done, some seconds have gone by, or the client has left."""
    if seconds == 0:
        return
    waits = [asyncio.create_task(task.wait()), asyncio.create_task(_left(request))]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


async def _left(request: Request) -> None:
    """Wait until the client has left; what it sends meanwhile is not looked at."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


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


async def _dropped(request: Request, error: Exception) -> Response:
    words = "this is not wanted any more: the game has gone on, was removed, or the server is ending"
    return Answer({"error": words}, 409)


async def _no_such(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return Answer({"error": f"{request.method} of this address: {error.detail.lower()}"}, error.status_code)


async def _broken(request: Request, error: Exception) -> Response:
    return Answer({"error": "something went wrong in the server; its log says what"}, 500)
