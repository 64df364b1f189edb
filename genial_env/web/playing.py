"""What is done with a game for the page that asks: begin it, look at it, play, let agents play, hint, give the record.

What is asked for comes as it was sent, and is checked here.
"""

from collections.abc import Callable
from functools import lru_cache
from secrets import randbelow
from typing import Any

from genial_env.core.rules import Rules
from genial_env.core.tables import tables
from genial_env.core.views import view
from genial_env.errors import IllegalAction
from genial_env.policies.registry import known_names, make_policy
from genial_env.records import to_json_line
from genial_env.table import Table
from genial_env.web.guard import Refused, shortened
from genial_env.web.recorded import JUDGE
from genial_env.web.sessions import Game, Session
from genial_env.web.shown import Shown, game_shown, hint_shown, summary
from genial_env.web.thinking import Task, WorkQueue

SEEDS = 2**53
"""Seeds lie below: whole numbers that a browser can hold."""


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


def begin(session: Session, wanted: Shown) -> Shown:
    """A new game: ``{"rules": ..., "players": [null, "value"], "seed": 1}``, the seed null for one that is drawn.

    Raises:
        Refused: for what cannot be played, and for a game too many.
    """
    rules = rules_from(wanted.get("rules"))
    players, seed = _players(wanted.get("players"), rules), _seed(wanted.get("seed"))
    return _shown(session.add(Table(rules, players, seed, from_data=True)), None)


def _players(sent: Any, rules: Rules) -> list[str | None]:
    if not isinstance(sent, list) or len(sent) != rules.players:
        raise Refused(400, f"players: expected a list of {rules.players}, found {shortened(sent)}")
    known = agents_for(rules)
    for seat, player in enumerate(sent):
        if player is not None and player not in known:
            offered = ", ".join(known)
            raise Refused(400, f"seat {seat}: expected a person (null) or one of {offered}, found {shortened(player)}")
    return sent


def _seed(sent: Any) -> int:
    seed = randbelow(SEEDS) if sent is None else sent
    if type(seed) is not int or not 0 <= seed < SEEDS:
        raise Refused(400, f"seed: expected a whole number from 0 to {SEEDS - 1}, found {shortened(seed)}")
    return seed


def look_at(game: Game, seat: int | None) -> Shown:
    """A game as a seat sees it, or as everybody does, while an agent thinks too.

    Raises:
        Refused: for a seat that is not to be seen now.
    """
    with game.held():
        if seat is not None and not _may_see(game.table, seat):
            raise Refused(403, f"seat {seat}: expected a person whose turn it is")
        return _shown(game, seat)


def play(session: Session, game: Game, wanted: Shown) -> Shown:
    """A person's decision: ``{"turn": 3, "slot": 0, "cells": [4, 5]}`` or, in place of both, ``{"word": "swap"}``.

    Raises:
        Refused: for another turn, what the rules do not allow, or what cannot be kept; nothing has changed then.
    """
    with game.held():
        _check_turn(game, wanted)
        if not game.table.waits:
            raise Refused(409, "no person is to play now")
        action = _action(game.table, wanted)
        try:
            session.change(game, lambda: game.table.play(action))
        except IllegalAction as error:
            raise Refused(422, str(error)) from error
        game.drop_task()  # a hint that nobody waited for
        return _shown(game, wanted.get("seat"))


def thinking(queue: WorkQueue, session: Session, game: Game, wanted: Shown) -> Task[None] | None:
    """Have the agent whose turn it is decide: ``{"turn": 3}``. Who asks again while it thinks gets the same task, who
    asks after it has decided None.

    The decision is played and written by the task, so that the game goes on also where nobody waits for it.

    Raises:
        Refused: for another turn, where no agent is to play, and where too much is waiting.
    """
    with game.held():
        turn = int(game.table.state.decisions[0])
        if wanted.get("turn") in range(turn):
            return None
        _check_turn(game, wanted)
        if game.table.over or game.table.waits:
            raise Refused(409, "no agent is to play now")

        def work(task: Task[None]) -> None:
            action = game.table.choose()
            with game.held():
                task.go_on()
                session.change(game, lambda: game.table.advance(action))

        return _task(queue, session, game, (turn, None), str(game.table.players[game.table.to_play]), work)


def advanced(game: Game, wanted: Shown, task: Task[None] | None) -> Shown:
    """The game after an agent's decision, or as it stands while the agent thinks: then with the key "thinking".

    Raises:
        Refused: where the game was removed meanwhile, or the decision cannot be kept.
        Exception: what went wrong in the agent.
    """
    if task is not None and task.done:
        task.outcome()
    with game.held():
        return _shown(game, wanted.get("seat"))


def hinting(queue: WorkQueue, session: Session, game: Game, seat: int | None) -> Task[Shown]:
    """Have the judge say what it would do in a person's place, and what it is worth.

    Raises:
        Refused: for somebody who is not to play, for a game that the judge does not know, and where too much is
            waiting.
    """
    with game.held():
        table = game.table
        if not table.waits or _eyes(table, seat) != table.to_play:
            raise Refused(409, "a hint is for the person who is to play")
        if JUDGE not in agents_for(table.rules):
            raise Refused(409, f"the agent {JUDGE!r}, who gives the hints, cannot play these rules")
        known = view(table.state.copy(), table.to_play)
        turn = int(table.state.decisions[0])
        return _task(queue, session, game, (turn, seat), "hint", lambda task: hint_shown(known, _judge().judge(known)))


def hinted(task: Task[Shown]) -> Shown:
    """The hint, or ``{"thinking": ...}``.

    Raises:
        Exception: what went wrong in the judge.
    """
    return task.outcome() if task.done else {"thinking": _state_of(task)}


def _task(
    queue: WorkQueue,
    session: Session,
    game: Game,
    about: tuple[int, int | None],
    kind: str,
    work: Callable[[Task[Any]], Any],
) -> Task[Any]:
    """The game's task about this turn, begun where there is none. The caller holds the game's lock."""
    if game.task is None or game.task.done or game.about != about:
        game.drop_task()
        game.task, game.about = queue.submit(session.digest, kind, work), about
    return game.task


def _state_of(task: Task[Any]) -> Shown:
    """How long a task takes already, and whether it still waits for its turn."""
    return {"seconds": round(task.seconds, 1), "waits": not task.in_progress}


def record_line(game: Game) -> str:
    """The record of a finished game.

    Raises:
        Refused: for a game that goes on.
    """
    with game.held():
        if not game.table.over:
            raise Refused(409, "the record names the tiles of every rack: it is to be had when the game is over")
        return to_json_line(game.table.record())


def listed(session: Session) -> list[Shown]:
    """The session's games, the newest first; then the files that are no games, with what is wrong with them."""
    games = []
    for game in session.games():
        with game.held():
            games.append(summary(game.id, game.started, game.table))
    faults = [{"id": fault.id, "started": fault.started, "fault": fault.words} for fault in session.faults()]
    return [*games, *faults]


def _shown(game: Game, seat: Any) -> Shown:
    shown = game_shown(game.id, game.table, _eyes(game.table, seat))
    shown["judge"] = JUDGE in agents_for(game.table.rules)
    if game.task is not None and not game.task.done and not game.table.waits:
        shown["thinking"] = _state_of(game.task)
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
        raise Refused(409, f"the game has gone on: expected turn {turn}, found {shortened(wanted.get('turn'))}")


def _action(table: Table, wanted: Shown) -> int:
    """The action that a page asks for: a word, or a tile's slot and two cells."""
    t = tables(table.rules)
    word, slot, cells = wanted.get("word"), wanted.get("slot"), wanted.get("cells")
    if table.rules.has_swap and word in ("swap", "decline"):
        return t.swap_action if word == "swap" else t.decline_action
    if type(slot) is not int or not 0 <= slot < table.rules.rack:
        raise Refused(400, f"slot: expected a whole number from 0 to {table.rules.rack - 1}, found {shortened(slot)}")
    if not isinstance(cells, list) or len(cells) != 2 or not all(type(c) is int and 0 <= c < t.n_cells for c in cells):
        raise Refused(400, f"cells: expected two whole numbers from 0 to {t.n_cells - 1}, found {shortened(cells)}")
    beside = (t.neighbours[cells[0]] == cells[1]).nonzero()[0]
    if not beside.size:
        raise Refused(400, f"cells: expected two neighbours, found {cells}")
    return slot * t.n_placements + int(t.placement_of[cells[0], beside[0]])


@lru_cache(maxsize=1)
def _judge() -> Any:
    return make_policy(JUDGE)


def rules_from(named: Any) -> Rules:
    """Rules by their names, as :meth:`genial_env.core.rules.Rules.from_dict` has them.

    Raises:
        Refused: for what is none.
    """
    if not isinstance(named, dict):
        raise Refused(400, f"rules: expected an object, found {shortened(named)}")
    try:
        return Rules.from_dict(named)
    except (ValueError, TypeError) as error:
        raise Refused(400, f"rules: {error}") from error
