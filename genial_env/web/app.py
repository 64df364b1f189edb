"""The server: what is asked for at which address. Positions come from `shown`, records from `recorded`."""

import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import resources
from pathlib import Path
from secrets import randbelow
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from genial_env.errors import IllegalAction
from genial_env.record import to_line
from genial_env.registry import known_names, make_policy
from genial_env.rules import Rules
from genial_env.table import Table
from genial_env.tables import tables
from genial_env.web.guard import Guard, Refused, read_body
from genial_env.web.recorded import JUDGE, contents, judging, readable, steps
from genial_env.web.sessions import Game, Session, Sessions
from genial_env.web.shown import Shown, combinations, game_shown, hint_shown, look, summary

COOKIE = "genial_session"
COOKIE_LIVES = 365 * 24 * 3600

MOST_IN_A_FILE = 5_000_000
"""Bytes of a file of records."""

MOST_IN_A_BODY = 100_000
"""Bytes of everything else that is sent here; no record of one game is nearly as long."""

SEEDS = 2**53
"""Seeds lie below: whole numbers that a browser can hold."""

PATIENCE = 5.0
"""Seconds that looking at a game waits for an agent that is thinking."""

KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

log = logging.getLogger(__name__)


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
        rules = _rules(await _object(request))
        names = await run_in_threadpool(agents_for, rules)
        return Answer({"rules": rules.to_dict(), "agents": names, "judge": JUDGE in names})

    # Games

    async def games(self, request: Request) -> Response:
        """The session's games."""
        session = await self._session(request)
        return Answer([summary(game.id, game.started, game.table) for game in session.games()])

    async def begin(self, request: Request) -> Response:
        """A new game."""
        session, wanted = await self._session(request), await _object(request)
        return Answer(await run_in_threadpool(_begin, session, wanted), 201)

    async def game(self, request: Request) -> Response:
        """A game as it stands; ``?seat=1`` to see that seat's rack."""
        session = await self._session(request)
        return Answer(await run_in_threadpool(_look_at, session.game(_name(request)), _seat(request)))

    async def play(self, request: Request) -> Response:
        """A person's decision."""
        session, wanted = await self._session(request), await _object(request)
        return Answer(await run_in_threadpool(_play, session, session.game(_name(request)), wanted))

    async def advance(self, request: Request) -> Response:
        """One decision of the agent whose turn it is."""
        session, wanted = await self._session(request), await _object(request)
        return Answer(await run_in_threadpool(_advance, session, session.game(_name(request)), wanted))

    async def hint(self, request: Request) -> Response:
        """What the judge would do; ``?seat=1`` for whom, where several people play."""
        session = await self._session(request)
        return Answer(await run_in_threadpool(_hint, session.game(_name(request)), _seat(request)))

    async def record(self, request: Request) -> Response:
        """The record of a finished game, as a file."""
        session = await self._session(request)
        game = session.game(_name(request))
        line = await run_in_threadpool(_record, game)
        named = {"content-disposition": f'attachment; filename="genial-{game.id}.jsonl"'}
        return Response(line, media_type="application/x-ndjson", headers=named)

    async def remove(self, request: Request) -> Response:
        """Forget a game."""
        session = await self._session(request)
        await run_in_threadpool(_remove, session, session.game(_name(request)))
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


@lru_cache(maxsize=64)
def agents_for(rules: Rules) -> tuple[str, ...]:
    """The agents with a name that can play these rules. No others are made for a page: such words import code."""
    return tuple(name for name in known_names() if _can_play(name, rules))


def _can_play(name: str, rules: Rules) -> bool:
    try:
        Table(rules, [name] * rules.players, 0)
    except ValueError:
        return False
    return True


# What is done with a game


def _begin(session: Session, wanted: Shown) -> Shown:
    rules = _rules(wanted.get("rules"))
    players, seed = wanted.get("players"), wanted.get("seed")
    known = agents_for(rules)
    if not isinstance(players, list) or len(players) != rules.players:
        raise Refused(400, f"players: expected a list of {rules.players}, found {_short(players)}")
    for seat, player in enumerate(players):
        if player is not None and player not in known:
            raise Refused(
                400, f"seat {seat}: expected a person (null) or one of {', '.join(known)}, found {_short(player)}"
            )
    if seed is None:
        seed = randbelow(SEEDS)
    if type(seed) is not int or not 0 <= seed < SEEDS:
        raise Refused(400, f"seed: expected a whole number from 0 to {SEEDS - 1}, found {_short(seed)}")
    game = session.add(Table(rules, players, seed))
    return _shown(game, None)


def _look_at(game: Game, seat: int | None) -> Shown:
    with _held(game, PATIENCE):
        if seat is not None and not _may_see(game.table, seat):
            raise Refused(403, f"seat {seat}: expected a person whose turn it is")
        return _shown(game, seat)


def _play(session: Session, game: Game, wanted: Shown) -> Shown:
    with _held(game):
        _check_turn(game, wanted)
        if not game.table.waits:
            raise Refused(409, "no person is to play now")
        try:
            game.table.play(_action(game.table, wanted))
        except IllegalAction as error:
            raise Refused(422, str(error)) from error
        session.keep(game)
        return _shown(game, wanted.get("seat"))


def _advance(session: Session, game: Game, wanted: Shown) -> Shown:
    with _held(game):
        _check_turn(game, wanted)
        if game.table.advance() is None:
            raise Refused(409, "no agent is to play now")
        session.keep(game)
        return _shown(game, wanted.get("seat"))


def _hint(game: Game, seat: int | None) -> Shown:
    with _held(game):
        table = game.table
        if not table.waits or _eyes(table, seat) != table.to_play:
            raise Refused(409, "a hint is for the person who is to play")
        if JUDGE not in agents_for(table.rules):
            raise Refused(409, f"the agent {JUDGE!r}, who gives the hints, cannot play these rules")
        view = table.view(table.to_play)
        return hint_shown(view, _judge().judge(view))


def _record(game: Game) -> str:
    with _held(game, PATIENCE):
        if not game.table.over:
            raise Refused(409, "the record names the tiles of every rack: it is to be had when the game is over")
        return to_line(game.table.record())


def _remove(session: Session, game: Game) -> None:
    with _held(game, PATIENCE):
        session.remove(game)


@contextmanager
def _held(game: Game, patience: float = 0) -> Iterator[None]:
    """The game for this request alone.

    Raises:
        Refused: while an agent is thinking.
    """
    if not game.lock.acquire(timeout=patience):
        raise Refused(503, "an agent is thinking: ask again in a moment")
    try:
        yield
    finally:
        game.lock.release()


def _shown(game: Game, seat: Any) -> Shown:
    shown = game_shown(game.id, game.table, _eyes(game.table, seat))
    shown["judge"] = JUDGE in agents_for(game.table.rules)
    return shown


def _eyes(table: Table, seat: Any) -> int | None:
    """Whose rack the page is shown: that of the seat it asks for, if it may be seen, or else of the only person."""
    people = [at for at, player in enumerate(table.players) if player is None]
    if len(people) == 1:
        return people[0]
    return seat if _may_see(table, seat) else None


def _may_see(table: Table, seat: Any) -> bool:
    """Whether a seat is a person's whose rack the page may show: among several people only whose turn it is."""
    if type(seat) is not int or not 0 <= seat < table.rules.players or table.players[seat] is not None:
        return False
    return table.players.count(None) == 1 or (seat == table.to_play and not table.over)


def _check_turn(game: Game, wanted: Shown) -> None:
    """That the page knows how the game stands: a decision that is sent twice is played once."""
    turn = int(game.table.state.decisions[0])
    if wanted.get("turn") != turn:
        raise Refused(409, f"the game has gone on: expected turn {turn}, found {_short(wanted.get('turn'))}")


def _action(table: Table, wanted: Shown) -> int:
    """The action that a page asks for: a word, or a tile's slot and two cells."""
    t = tables(table.rules)
    word, slot, cells = wanted.get("word"), wanted.get("slot"), wanted.get("cells")
    if table.rules.has_swap and word in ("swap", "decline"):
        return t.swap_action if word == "swap" else t.decline_action
    if type(slot) is not int or not 0 <= slot < table.rules.rack:
        raise Refused(400, f"slot: expected a whole number from 0 to {table.rules.rack - 1}, found {_short(slot)}")
    if not isinstance(cells, list) or len(cells) != 2 or not all(type(c) is int and 0 <= c < t.n_cells for c in cells):
        raise Refused(400, f"cells: expected two whole numbers from 0 to {t.n_cells - 1}, found {_short(cells)}")
    beside = (t.neighbours[cells[0]] == cells[1]).nonzero()[0]
    if not beside.size:
        raise Refused(400, f"cells: expected two neighbours, found {cells}")
    return slot * t.n_placements + int(t.placement_of[cells[0], beside[0]])


@lru_cache(maxsize=1)
def _judge() -> Any:
    return make_policy(JUDGE)


# What comes with a request


async def _object(request: Request) -> Shown:
    """The JSON object that was sent.

    Raises:
        Refused: for anything else.
    """
    body = await read_body(request, MOST_IN_A_BODY)
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"expected a JSON object, found something unreadable ({error})") from error
    if not isinstance(sent, dict):
        raise Refused(400, f"expected a JSON object, found {_short(sent)}")
    return sent


def _rules(named: Any) -> Rules:
    if not isinstance(named, dict):
        raise Refused(400, f"rules: expected an object, found {_short(named)}")
    try:
        return Rules.from_dict(named)
    except (ValueError, TypeError) as error:
        raise Refused(400, f"rules: {error}") from error


def _name(request: Request) -> str:
    name: str = request.path_params["name"]
    return name


def _seat(request: Request) -> int | None:
    words = request.query_params.get("seat")
    if words is None:
        return None
    if words not in ("0", "1", "2", "3"):
        raise Refused(400, f"seat: expected a number from 0 to 3, found {_short(words)}")
    return int(words)


def _short(value: Any) -> str:
    text = json.dumps(value, default=repr)
    return text if len(text) <= 80 else f"{text[:77]}..."


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
