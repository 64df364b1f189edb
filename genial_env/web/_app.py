"""The server as an ASGI application: which function answers requests for which address."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
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
from genial_env.analysis.judge import can_judge
from genial_env.web import _game_requests as game_requests
from genial_env.web._introduction import play_lesson
from genial_env.web._page_files import send_file, send_worker
from genial_env.web._record_requests import ReviewStream, list_steps, parse_record, summarize_file
from genial_env.web._request_checks import Refused, RequestChecks, invalid, read_body
from genial_env.web._serialize import JsonObject, choices_to_json, look_to_json, rules_to_json
from genial_env.web._sessions import Game, Session, Sessions, digest_token
from genial_env.web._work_queue import Task, TaskCancelled, WorkQueue
from genial_env.web.limits import Limits

COOKIE = "genial_session"

MAX_FILE_BYTES = 5_000_000
"""The most bytes of a file of records."""

MAX_BODY_BYTES = 100_000
"""The most bytes of any other request. The record of one game is much shorter."""

SWEEP_S = 600
"""The seconds between two removals of old sessions."""


class App(RequestChecks):
    """The server as an ASGI application.

    Args:
        folder: the folder for games; None to keep them in memory only.
        hosts: the names of the server.
        limits: how much the server takes on.
    """

    def __init__(self, folder: Path | None, hosts: Iterable[str], limits: Limits) -> None:
        self._handlers = RequestHandlers(Sessions(folder, limits), limits)
        errors = {
            Refused: _answer_refusal,
            TaskCancelled: _answer_cancelled,
            HTTPException: _answer_http_error,
            Exception: _answer_internal_error,
        }
        starlette = Starlette(routes=_list_routes(self._handlers), exception_handlers=errors, lifespan=self._lifespan)
        super().__init__(starlette, hosts)

    @property
    def busy(self) -> bool:
        """Whether a thread works, also for a task that was cancelled."""
        return self._handlers.busy

    def close(self) -> None:
        """Cancel all tasks and take no more. Games are saved already. A second call does nothing.

        A server that implements ASGI's lifespan protocol need not call this.
        """
        self._handlers.close()

    @asynccontextmanager
    async def _lifespan(self, starlette: Starlette) -> AsyncIterator[None]:
        sweeping = asyncio.create_task(self._handlers.sweep())
        try:
            yield
        finally:
            sweeping.cancel()
            self.close()


def make_app(folder: Path | None = None, hosts: Iterable[str] = (), limits: Limits | None = None) -> App:
    """Return the server as an ASGI application.

    Args:
        folder: the folder for games, which no other server may use; None to keep games in memory only, so that they end
            with the process.
        hosts: the names of the server, besides "localhost" and numeric addresses.
        limits: how much the server takes on; None for the defaults.

    Raises:
        FolderInUse: if another server uses the folder; the message says which.
        OSError: if the folder cannot be used.
    """
    return App(folder, hosts, limits or Limits())


def _list_routes(handlers: "RequestHandlers") -> list[Route]:
    posts: dict[str, Handler] = {
        "/api/session": handlers.session,
        "/api/rules": handlers.rules,
        "/api/introduction": handlers.introduction,
        "/api/games": handlers.begin,
        "/api/games/{name}/play": handlers.play,
        "/api/games/{name}/advance": handlers.advance,
        "/api/games/{name}/remove": handlers.remove,
        "/api/records": handlers.records,
        "/api/steps": handlers.steps,
        "/api/review": handlers.review,
    }
    gets: dict[str, Handler] = {
        "/": send_file,
        "/static/{name:path}": send_file,
        "/worker.js": send_worker,
        "/api/games": handlers.games,
        "/api/games/{name}": handlers.game,
        "/api/games/{name}/hint": handlers.hint,
        "/api/games/{name}/record": handlers.record,
    }
    routes = [Route(path, handler, methods=["POST"]) for path, handler in posts.items()]
    return routes + [Route(path, handler, methods=["GET"]) for path, handler in gets.items()]


Handler = Callable[[Request], Awaitable[Response]]


class JsonAnswer(JSONResponse):
    """JSON in ASCII, so that every name of an agent can be sent."""

    def render(self, content: Any) -> bytes:
        """Return the bytes of the JSON."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


class RequestHandlers:
    """Answers requests. Short work runs in a thread pool, long work in queues, so no thread waits for it.

    Args:
        sessions: the sessions of all browsers.
        limits: how much the server takes on.
    """

    def __init__(self, sessions: Sessions, limits: Limits) -> None:
        self._sessions, self._limits = sessions, limits
        self._agents = WorkQueue(limits.agent_threads, limits.queued_tasks, "agents")
        self._helpers = WorkQueue(limits.helper_threads, limits.queued_tasks, "helpers")
        self._uploads = 0

    @property
    def busy(self) -> bool:
        """Whether a thread works, also for a task that was cancelled."""
        return self._agents.busy or self._helpers.busy

    def close(self) -> None:
        """Cancel all tasks and save nothing more."""
        self._agents.close()
        self._helpers.close()
        self._sessions.close()

    async def sweep(self) -> None:
        """Remove old sessions from time to time, until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_S)
            await run_in_threadpool(self._sessions.sweep)

    # Sessions, and what can be played

    async def session(self, request: Request) -> Response:
        """Begin a session, or renew the cookie of the browser's session; send how tiles look and what can be played."""
        answer = JsonAnswer({"look": look_to_json(), "choices": choices_to_json()})
        token = request.cookies.get(COOKIE)
        if token is None or await self._find_session(token) is None:
            token = await run_in_threadpool(self._sessions.begin, token)
        answer.set_cookie(COOKIE, token, max_age=int(self._limits.max_age_s), httponly=True, samesite="strict")
        return answer

    async def rules(self, request: Request) -> Response:
        """Check rules; send the agents that can play them, and whether there is a judge for them."""
        rules = game_requests.parse_rules(await _parse_body(request))
        names = await run_in_threadpool(game_requests.list_agents, rules)
        return JsonAnswer({"rules": rules_to_json(rules), "agents": names, "judge": can_judge(rules)})

    async def introduction(self, request: Request) -> Response:
        """Play in a lesson of the introduction; nothing is kept of it."""
        sent = await _parse_body(request)
        return JsonAnswer(await run_in_threadpool(play_lesson, sent))

    # Games

    async def games(self, request: Request) -> Response:
        """Send the list of the session's games."""
        session = await self._session(request)
        return JsonAnswer(await run_in_threadpool(game_requests.list_games, session))

    async def begin(self, request: Request) -> Response:
        """Begin a game."""
        session, sent = await self._session(request), await _parse_body(request)
        return JsonAnswer(await run_in_threadpool(game_requests.begin_game, session, sent), 201)

    async def game(self, request: Request) -> Response:
        """Send a game; with ``?seat=1`` as that seat sees it."""
        _, game = await self._session_and_game(request)
        return JsonAnswer(await run_in_threadpool(game_requests.show_game, game, _parse_seat(request)))

    async def play(self, request: Request) -> Response:
        """Play a person's decision."""
        session, game = await self._session_and_game(request)
        sent = await _parse_body(request)
        return JsonAnswer(await run_in_threadpool(game_requests.play_decision, session, game, sent))

    async def advance(self, request: Request) -> Response:
        """Have the agent whose turn it is decide. The game has the key "thinking" if the decision is not there yet.

        ``"wait"`` says for how many seconds the answer may be held back for the decision; its default is 0.
        """
        session, game = await self._session_and_game(request)
        sent = await _parse_body(request)
        wait = self._parse_wait(sent.get("wait", 0))
        task = await run_in_threadpool(game_requests.request_decision, self._agents, session, game, sent)
        if task is not None:
            await _wait_until_done(task, request, wait)
        return JsonAnswer(await run_in_threadpool(game_requests.show_progress, game, sent, task))

    async def hint(self, request: Request) -> Response:
        """Send what the judge would do.

        ``?seat=1`` says for which of several people, ``turn=3`` for which decision; ``wait=10`` is as for
        :meth:`advance`.
        """
        session, game = await self._session_and_game(request)
        seat, sent = _parse_seat(request), _parse_turn(request)
        wait = self._parse_wait(request.query_params.get("wait", "0"))
        task = await run_in_threadpool(game_requests.request_hint, self._helpers, session, game, seat, sent)
        await _wait_until_done(task, request, wait)
        return JsonAnswer(game_requests.show_hint(task))

    async def record(self, request: Request) -> Response:
        """Send the record of a finished game as a file."""
        _, game = await self._session_and_game(request)
        line = await run_in_threadpool(game_requests.export_record, game)
        headers = {"content-disposition": f'attachment; filename="genial-{game.id}.jsonl"'}
        return Response(line, media_type="application/x-ndjson", headers=headers)

    async def remove(self, request: Request) -> Response:
        """Remove a game, also while an agent thinks."""
        session = await self._session(request)
        await run_in_threadpool(session.remove, _name(request))
        return JsonAnswer({})

    # Records

    async def records(self, request: Request) -> Response:
        """Send the list of the games of a file of records."""
        session = await self._session(request)
        if self._uploads >= self._limits.uploads:
            raise Refused(503, "the server is reading as many files as it can: try again in a moment", "server_busy")
        self._uploads += 1
        try:
            body = await read_body(request, MAX_FILE_BYTES)
            task = self._helpers.submit(session.digest, "file", lambda task: summarize_file(body))
            await _wait_until_done(task, request)
            task.cancel()  # in case the client has left
            return JsonAnswer(task.outcome())
        finally:
            self._uploads -= 1

    async def steps(self, request: Request) -> Response:
        """Send a recorded game step by step."""
        await self._session(request)
        body = await read_body(request, MAX_BODY_BYTES)
        return JsonAnswer(await run_in_threadpool(lambda: list_steps(parse_record(body))))

    async def review(self, request: Request) -> Response:
        """Review a recorded game; send lines as the work goes on.

        ``?level=deep`` names the level of the judge; ``racks=open`` lets it see all racks of a finished game.
        """
        session = await self._session(request)
        record = await run_in_threadpool(parse_record, await read_body(request, MAX_BODY_BYTES))
        if session.review is not None and not session.review.done:
            message = "a game is being reviewed for you already: wait until it is done"
            raise Refused(429, message, "review_in_progress")
        asked = request.query_params
        level, racks = asked.get("level", "normal"), asked.get("racks", "hidden")
        stream = ReviewStream(self._helpers, session.digest, record, level, racks)
        session.review = stream.task
        return ReviewAnswer(stream)

    async def _session(self, request: Request) -> Session:
        """Return the session of a request.

        Raises:
            Refused: if this server did not give out the token.
        """
        session = await self._find_session(request.cookies.get(COOKIE))
        if session is None:
            raise Refused(403, "this page has no session here: load it again", "no_session")
        return session

    async def _session_and_game(self, request: Request) -> tuple[Session, Game]:
        session = await self._session(request)
        return session, session.game(_name(request))

    async def _find_session(self, token: str | None) -> Session | None:
        """Return the session of a token; None if this server did not give out the token."""
        if token is None:
            return None
        digest = digest_token(token)
        session = self._sessions.known(digest)
        if session is not None or not await run_in_threadpool(self._sessions.is_stored, digest):
            return session
        task = self._helpers.submit(digest, "session", lambda task: self._sessions.load(digest))
        await task.wait()
        return task.outcome()

    def _parse_wait(self, sent: Any) -> float:
        """Return for how many seconds an answer may be held back."""
        try:
            seconds = float(sent)
        except (ValueError, TypeError, OverflowError):
            seconds = -1.0
        if not 0 <= seconds <= self._limits.poll_s:
            raise invalid("wait", f"seconds from 0 to {self._limits.poll_s:g}", sent)
        return seconds


class ReviewAnswer(StreamingResponse):
    """The lines of a review. The work is cancelled if the client leaves, also before the first line."""

    def __init__(self, stream: ReviewStream) -> None:
        super().__init__(stream.lines(), media_type="application/x-ndjson")
        self._task = stream.task

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._task.cancel()


async def _wait_until_done(task: Task[Any], request: Request, seconds: float | None = None) -> None:
    """Wait until a task is done, some seconds have passed, or the client has left."""
    if seconds == 0:
        return
    waits = [asyncio.create_task(task.wait()), asyncio.create_task(_wait_for_disconnect(request))]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


async def _wait_for_disconnect(request: Request) -> None:
    """Wait until the client has left; ignore what it sends meanwhile."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


# What is read from a request


async def _parse_body(request: Request) -> JsonObject:
    """Return the JSON object of a request.

    Raises:
        Refused: if the body is anything else.
    """
    body = await read_body(request, MAX_BODY_BYTES)
    try:
        return parse_object(decode_text(body))
    except JSONError as error:
        raise Refused(400, str(error), "invalid_request") from error


def _name(request: Request) -> str:
    name: str = request.path_params["name"]
    return name


def _parse_seat(request: Request) -> int | None:
    sent = request.query_params.get("seat")
    if sent is None:
        return None
    if sent not in ("0", "1", "2", "3"):
        raise invalid("seat", "a number from 0 to 3", sent)
    return int(sent)


def _parse_turn(request: Request) -> JsonObject:
    """Return ``{"turn": 3}`` for ``?turn=3``, else ``{}``."""
    sent = request.query_params.get("turn")
    if sent is None:
        return {}
    if not re.fullmatch("[0-9]{1,9}", sent):
        raise invalid("turn", "a whole number", sent)
    return {"turn": int(sent)}


# Errors


async def _answer_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return JsonAnswer(error.to_dict(), error.status)


async def _answer_cancelled(request: Request, error: Exception) -> Response:
    message = "this was cancelled: the game has gone on, was removed, or the server is ending"
    return Refused(409, message, "cancelled").answer()


async def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = f"{request.method} of this address: {error.detail.lower()}"
    return Refused(error.status_code, message, "no_such_page").answer()


async def _answer_internal_error(request: Request, error: Exception) -> Response:
    return Refused(500, "something went wrong in the server; its log says what", "internal_error").answer()
