"""The server as an ASGI application: which function answers requests for which address."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from anyio import to_thread
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from genial_env.analysis.judge import can_judge
from genial_env.web import _game_requests as game_requests
from genial_env.web._access import COOKIE, INVITATION_COOKIE, AccessControl
from genial_env.web._answers import ERRORS, JsonAnswer, ReviewAnswer, as_response, wait_for
from genial_env.web._game import Game
from genial_env.web._introduction import play_lesson
from genial_env.web._page_files import send_file, send_replay_page, send_worker
from genial_env.web._record_requests import ReviewStream, list_steps, parse_record, summarize_file
from genial_env.web._request_checks import FRAMED, Refused, RequestChecks, invalid, read_body
from genial_env.web._request_parts import MAX_BODY_BYTES, game_name, parse_body, parse_seat, parse_turn
from genial_env.web._serialize import choices_to_json, look_to_json, rules_to_json
from genial_env.web._sessions import Sessions
from genial_env.web._study_routes import LONG, QUICK, Work
from genial_env.web._table_requests import CHANGES
from genial_env.web._warm_up import WARM_UP
from genial_env.web._work_queue import WorkQueue
from genial_env.web.limits import Limits

P = ParamSpec("P")
T = TypeVar("T")

AFTER_TIME_S = 0.05
"""How long after a clock has run down a request looks at it, in seconds."""

MAX_FILE_BYTES = 5_000_000
"""The most bytes of a file of records."""

SWEEP_S = 600
"""The seconds between two removals of old sessions."""


class App(RequestChecks):
    """The server as an ASGI application.

    Args:
        folder: the folder for games; None to keep them in memory only.
        hosts: the names of the server.
        limits: how much the server takes on.
        invitation: the code that browsers must know to begin games; None if everybody may.
        warm_up: whether the game's code is compiled when the server starts.
    """

    def __init__(
        self, folder: Path | None, hosts: Iterable[str], limits: Limits, invitation: str | None, warm_up: bool
    ) -> None:
        self._handlers = RequestHandlers(Sessions(folder, limits), limits, invitation)
        self._warm_up = warm_up
        starlette = Starlette(routes=_list_routes(self._handlers), exception_handlers=ERRORS, lifespan=self._lifespan)
        super().__init__(starlette, hosts)

    @property
    def busy(self) -> bool:
        """Whether a thread works, also for a task that was cancelled."""
        return self._handlers.busy

    def close(self) -> None:
        """Cancel all tasks and take no more. Games are saved already. A second call does nothing.

        A server that implements ASGI's lifespan protocol need not call this.
        """
        if self._warm_up:
            WARM_UP.stop()
        self._handlers.close()

    @asynccontextmanager
    async def _lifespan(self, starlette: Starlette) -> AsyncIterator[None]:
        if self._warm_up:
            await run_in_threadpool(WARM_UP.start)
        to_thread.current_default_thread_limiter().total_tokens = self._handlers.limits.short_threads
        sweeping = asyncio.create_task(self._handlers.sweep())
        try:
            yield
        finally:
            sweeping.cancel()
            self.close()


def make_app(
    folder: Path | None = None,
    hosts: Iterable[str] = (),
    limits: Limits | None = None,
    *,
    invitation: str | None = None,
    warm_up: bool = False,
) -> App:
    """Return the server as an ASGI application.

    Args:
        folder: the folder for games, which no other server may use; None to keep games in memory only, so that they end
            with the process.
        hosts: the names of the server, besides "localhost" and numeric addresses.
        limits: how much the server takes on; None for the defaults.
        invitation: the code that a browser must know to begin or list games; None if everybody may. A person with the
            link of a seat needs no code.
        warm_up: whether the game's code is compiled when the server starts, in another process. Until that is done,
            agents play by numpy.

    Raises:
        FolderInUse: if another server uses the folder; the message says which.
        OSError: if the folder cannot be used.
        ValueError: if the invitation code is too short, or has other characters than letters and digits.
    """
    return App(folder, hosts, limits or Limits(), invitation, warm_up)


def _list_routes(handlers: "RequestHandlers") -> list[Route]:
    posts: dict[str, Handler] = {
        "/api/session": handlers.session,
        "/api/invitation": handlers.accept_invitation,
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
    posts |= {f"/api/games/{{name}}/{what}": handlers.change for what in CHANGES}
    gets: dict[str, Handler] = {
        "/": send_file,
        "/static/{name:path}": send_file,
        "/worker.js": send_worker,
        FRAMED: send_replay_page,
        "/api/games": handlers.games,
        "/api/games/{name}": handlers.game,
        "/api/games/{name}/hint": handlers.hint,
        "/api/games/{name}/record": handlers.record,
        "/api/games/{name}/steps": handlers.game_steps,
    }
    posts |= {path: handlers.answer_quickly(work) for path, work in QUICK.items()}
    posts |= {path: handlers.answer_in_queue(work) for path, work in LONG.items()}
    routes = [Route(path, handler, methods=["POST"]) for path, handler in posts.items()]
    return routes + [Route(path, handler, methods=["GET"]) for path, handler in gets.items()]


Handler = Callable[[Request], Awaitable[Response]]


class RequestHandlers:
    """Answers requests. Short work runs in a thread pool, long work in queues, so no thread waits for it.

    Args:
        sessions: the sessions of all browsers.
        limits: how much the server takes on.
        invitation: the code that browsers must know to begin games; None if everybody may.
    """

    def __init__(self, sessions: Sessions, limits: Limits, invitation: str | None) -> None:
        self._sessions, self.limits = sessions, limits
        self._access = AccessControl(sessions, limits, invitation)
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
        self._access.close()
        self._sessions.close()

    async def sweep(self) -> None:
        """Remove old sessions from time to time, until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_S)
            await run_in_threadpool(self._sessions.sweep)

    # Sessions, and what can be played

    async def session(self, request: Request) -> Response:
        """Begin a session, or renew the cookie of the browser's session; send how tiles look and what can be played.

        The key "invited" says whether the browser has given the invitation code, if one is needed.
        """
        invited = self._access.is_invited(request)
        answer = JsonAnswer({"look": look_to_json(), "choices": choices_to_json(), "invited": invited})
        token = request.cookies.get(COOKIE)
        if token is None or await self._access.find_session(token) is None:
            token = await run_in_threadpool(self._sessions.begin, token)
        self._set_cookie(answer, COOKIE, token)
        return answer

    async def accept_invitation(self, request: Request) -> Response:
        """Take the invitation code of a browser: ``{"code": ...}``. A cookie keeps it."""
        code = self._access.check_invitation((await parse_body(request)).get("code"))
        answer = JsonAnswer({})
        self._set_cookie(answer, INVITATION_COOKIE, code)
        return answer

    async def rules(self, request: Request) -> Response:
        """Check rules; send the agents that can play them, and whether there is a judge for them."""
        rules = game_requests.parse_rules(await parse_body(request))
        names = await run_in_threadpool(game_requests.list_agents, rules)
        return JsonAnswer({"rules": rules_to_json(rules), "agents": names, "judge": can_judge(rules)})

    async def introduction(self, request: Request) -> Response:
        """Play in a lesson of the introduction; nothing is kept of it."""
        sent = await parse_body(request)
        return JsonAnswer(await run_in_threadpool(play_lesson, sent))

    # Games

    async def games(self, request: Request) -> Response:
        """Send the list of the session's games."""
        session = await self._access.session(request)
        return JsonAnswer(await run_in_threadpool(game_requests.list_games, session))

    async def begin(self, request: Request) -> Response:
        """Begin a game."""
        session, sent = await self._access.session(request), await parse_body(request)
        return JsonAnswer(await run_in_threadpool(game_requests.begin_game, session, sent), 201)

    async def game(self, request: Request) -> Response:
        """Send a game; with ``?seat=1`` as that seat sees it.

        With ``?after=0f1e&wait=25`` the answer is held back until the game has another version than this, for at most
        so many seconds.
        """
        access = await self._access.game(request)
        if "after" in request.query_params:
            wait = self._parse_wait(request.query_params.get("wait", "0"))
            clock = access.game.seating.clock
            if clock is not None and clock.running is not None:  # then the game may end
                wait = min(wait, clock.remaining(clock.running) + AFTER_TIME_S)
            await wait_for(access.game.changes.wait(request.query_params["after"]), request, wait)
            access = await self._access.game(request)  # the link may have been replaced meanwhile
        seat = parse_seat(request)
        return JsonAnswer(await _call(access.game, game_requests.show_game, access.game, access.viewer, seat))

    async def play(self, request: Request) -> Response:
        """Play a person's decision."""
        access, sent = await self._access.game(request), await parse_body(request)
        return JsonAnswer(await run_in_threadpool(game_requests.play_decision, *access, sent))

    async def change(self, request: Request) -> Response:
        """Answer a request of :data:`genial_env.web._table_requests.CHANGES`."""
        access, sent = await self._access.game(request), await parse_body(request)
        act = CHANGES[request.url.path.rpartition("/")[2]]
        return JsonAnswer(await run_in_threadpool(act, *access, sent))

    async def advance(self, request: Request) -> Response:
        """Have the agent whose turn it is decide. The game has the key "thinking" if the decision is not there yet.

        ``"wait"`` says for how many seconds the answer may be held back for the decision; its default is 0.
        """
        access, sent = await self._access.game(request), await parse_body(request)
        wait = self._parse_wait(sent.get("wait", 0))
        task = await _call(access.game, game_requests.request_decision, self._agents, *access, sent)
        if task is not None:
            await wait_for(task.wait(), request, wait)
            access = await self._access.game(request)  # the link may have been replaced meanwhile
        show = game_requests.show_progress
        return JsonAnswer(await _call(access.game, show, access.game, access.viewer, sent, task))

    async def hint(self, request: Request) -> Response:
        """Send what the judge would do.

        ``?seat=1`` says for which of several people, ``turn=3`` for which decision; ``wait=10`` is as for
        :meth:`advance`.
        """
        access = await self._access.game(request)
        seat, sent = parse_seat(request), parse_turn(request)
        wait = self._parse_wait(request.query_params.get("wait", "0"))
        task = await _call(access.game, game_requests.request_hint, self._helpers, *access, seat, sent)
        await wait_for(task.wait(), request, wait)
        return JsonAnswer(game_requests.show_hint(task))

    async def record(self, request: Request) -> Response:
        """Send the record of a finished game as a file."""
        game = (await self._access.game(request)).game
        line = await run_in_threadpool(game_requests.export_record, game)
        headers = {"content-disposition": f'attachment; filename="genial-{game.id}.jsonl"'}
        return Response(line, media_type="application/x-ndjson", headers=headers)

    async def game_steps(self, request: Request) -> Response:
        """Send a game step by step; of a game in progress what the viewer may know."""
        access = await self._access.game(request)
        return JsonAnswer(await run_in_threadpool(game_requests.list_game_steps, access.game, access.viewer))

    async def remove(self, request: Request) -> Response:
        """Remove a game, also while an agent thinks."""
        session = await self._access.session(request)
        await run_in_threadpool(session.remove, game_name(request))
        return JsonAnswer({})

    # Records

    async def records(self, request: Request) -> Response:
        """Send the list of the games of a file of records."""
        session = await self._access.session(request)
        if self._uploads >= self.limits.uploads:
            raise Refused(503, "the server is reading as many files as it can: try again in a moment", "server_busy")
        self._uploads += 1
        try:
            body = await read_body(request, MAX_FILE_BYTES)
            task = self._helpers.submit(session.digest, "file", lambda task: summarize_file(body))
            await wait_for(task.wait(), request)
            task.cancel()  # in case the client has left
            return JsonAnswer(task.outcome())
        finally:
            self._uploads -= 1

    async def steps(self, request: Request) -> Response:
        """Send a recorded game step by step."""
        await self._access.session(request, guests=True)
        body = await read_body(request, MAX_BODY_BYTES)
        return JsonAnswer(await run_in_threadpool(lambda: list_steps(parse_record(body))))

    async def review(self, request: Request) -> Response:
        """Review a recorded game; send lines as the work goes on.

        ``?level=deep`` names the level of the judge; ``racks=open`` lets it see all racks of a finished game.
        """
        session = await self._access.session(request, guests=True)
        record = await run_in_threadpool(parse_record, await read_body(request, MAX_BODY_BYTES))
        if session.review is not None and not session.review.done:
            message = "a game is being reviewed for you already: wait until it is done"
            raise Refused(429, message, "review_in_progress")
        asked = request.query_params
        level, racks = asked.get("level", "normal"), asked.get("racks", "hidden")
        stream = ReviewStream(self._helpers, session.digest, record, level, racks)
        session.review = stream.task
        return ReviewAnswer(stream)

    # The analysis board, lessons, pictures

    def answer_quickly(self, work: Work) -> Handler:
        """Return a handler that does short work with the JSON object that was sent."""

        async def handler(request: Request) -> Response:
            await self._access.session(request, guests=True)
            return as_response(await run_in_threadpool(work, await parse_body(request)))

        return handler

    def answer_in_queue(self, work: Work) -> Handler:
        """Return a handler that does long work with the JSON object that was sent, until the client leaves."""

        async def handler(request: Request) -> Response:
            session, sent = await self._access.session(request, guests=True), await parse_body(request)
            task = self._helpers.submit(session.digest, request.url.path, lambda task: work(sent))
            await wait_for(task.wait(), request)
            task.cancel()  # in case the client has left
            return as_response(task.outcome())

        return handler

    def _set_cookie(self, answer: Response, name: str, value: str) -> None:
        answer.set_cookie(name, value, max_age=int(self.limits.max_age_s), httponly=True, samesite="strict")

    def _parse_wait(self, sent: Any) -> float:
        """Return for how many seconds an answer may be held back."""
        try:
            seconds = float(sent)
        except (ValueError, TypeError, OverflowError):
            seconds = -1.0
        if not 0 <= seconds <= self.limits.poll_s:
            raise invalid("wait", f"seconds from 0 to {self.limits.poll_s:g}", sent)
        return seconds


async def _call(game: Game, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function that takes a millisecond once it has a game's lock.

    It is called here if nobody holds the lock, because another thread would take as long again to begin and to answer.
    A game with a clock may have to be saved.
    """
    if game.lock.locked() or game.seating.clock is not None:
        return await run_in_threadpool(function, *args, **kwargs)
    return function(*args, **kwargs)
