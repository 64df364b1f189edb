"""Requests about a game: begin it, show it, play a decision, ask an agent for one, ask for a hint, export the record.

The functions get the JSON object that was sent, unchecked, and check it.
"""

from collections.abc import Callable
from functools import lru_cache
from secrets import randbelow
from typing import Any

from genial_env.analysis.judge import RolloutJudge, can_judge
from genial_env.core.rules import Rules
from genial_env.core.state import End
from genial_env.core.tables import tables
from genial_env.core.views import view
from genial_env.errors import IllegalAction
from genial_env.policies.registry import known_names
from genial_env.policies.roster import FOR_ANALYSIS
from genial_env.records import to_json_line
from genial_env.table import Table
from genial_env.web._record_requests import list_public_steps, list_steps
from genial_env.web._request_checks import Refused, shorten
from genial_env.web._serialize import JsonObject, game_summary_to_json, game_to_json, hint_to_json, name_seats
from genial_env.web._sessions import Game, Session
from genial_env.web._work_queue import Task, WorkQueue

SEEDS = 2**53
"""Seeds are smaller than this, so that JavaScript holds them exactly."""

MAX_NAME = 24
"""The most characters of a person's name."""


@lru_cache(maxsize=64)
def list_agents(rules: Rules) -> tuple[str, ...]:
    """Return the named agents that can play these rules, without those for analysis.

    The page can choose these only: a name of the form module:factory would import code.
    """
    return tuple(name for name in known_names() if name not in FOR_ANALYSIS and _can_play(name, rules))


def _can_play(name: str, rules: Rules) -> bool:
    try:
        Table(rules, [name] * rules.players, 0)
    except ValueError:
        return False
    return True


def begin_game(session: Session, sent: JsonObject) -> JsonObject:
    """Begin a game and return it.

    Args:
        session: the session that gets the game.
        sent: ``{"rules": ..., "players": [null, "value"], "names": ["Ann", null], "seed": 1}``; null as the seed has
            one drawn. The names of people may be left out.

    Raises:
        Refused: if the game cannot be played, or there are too many games.
    """
    rules = parse_rules(sent.get("rules"))
    players, seed = _parse_players(sent.get("players"), rules), _parse_seed(sent.get("seed"))
    names = _parse_names(sent.get("names"), players)
    return _to_json(session.add(Table(rules, players, seed, from_data=True), names), None)


def _parse_players(sent: Any, rules: Rules) -> list[str | None]:
    if not isinstance(sent, list) or len(sent) != rules.players:
        raise Refused(400, f"players: expected a list of {rules.players}, found {shorten(sent)}")
    known = list_agents(rules)
    for seat, player in enumerate(sent):
        if player is not None and player not in known:
            offered = ", ".join(known)
            expected = f"expected a person (null) or one of {offered}"
            raise Refused(400, f"players[{seat}]: {expected}, found {shorten(player)}")
    return sent


def _parse_names(sent: Any, players: list[str | None]) -> tuple[str | None, ...]:
    """Return the names that people have given, by seat; empty if there are none."""
    if sent is None:
        return ()
    if not isinstance(sent, list) or len(sent) != len(players):
        raise Refused(400, f"names: expected a list of {len(players)}, found {shorten(sent)}")
    names = [name.strip() if isinstance(name, str) else name for name in sent]
    for name, player in zip(names, players, strict=True):
        is_name = isinstance(name, str) and name.isprintable() and len(name) <= MAX_NAME and player is None
        if name is not None and not is_name:
            raise Refused(400, f"names: expected up to {MAX_NAME} letters for a person, found {shorten(name)}")
    return tuple(name or None for name in names) if any(names) else ()


def _parse_seed(sent: Any) -> int:
    seed = randbelow(SEEDS) if sent is None else sent
    if type(seed) is not int or not 0 <= seed < SEEDS:
        raise Refused(400, f"seed: expected a whole number from 0 to {SEEDS - 1}, found {shorten(seed)}")
    return seed


def show_game(game: Game, seat: int | None) -> JsonObject:
    """Return a game as a seat sees it, or without any rack. An agent may be thinking meanwhile.

    Raises:
        Refused: if the rack of the seat may not be shown now.
    """
    with game.locked():
        if seat is not None and not _may_see(game.table, seat):
            raise Refused(403, f"seat {seat}: expected a person whose turn it is")
        return _to_json(game, seat)


def play_decision(session: Session, game: Game, sent: JsonObject) -> JsonObject:
    """Play a person's decision and return the game.

    Args:
        session: the session of the game.
        game: the game.
        sent: ``{"turn": 3, "slot": 0, "cells": [4, 5]}``, or ``{"turn": 3, "word": "swap"}``.

    Raises:
        Refused: if the turn is another one, the rules forbid the decision, or it cannot be saved. Nothing has changed
            then.
    """
    with game.locked():
        _check_turn(game, sent)
        if not game.table.waits:
            raise Refused(409, "no person is to play now")
        action = parse_action(game.table.rules, sent)
        try:
            session.change(game, lambda: game.table.play(action))
        except IllegalAction as error:
            raise Refused(422, str(error)) from error
        game.cancel_task()  # a hint that was asked for before
        return _to_json(game, sent.get("seat"))


def request_decision(queue: WorkQueue, session: Session, game: Game, sent: JsonObject) -> Task[None] | None:
    """Start the decision of the agent whose turn it is.

    The task also plays and saves the decision, so the game goes on even if nobody waits for the task.

    Args:
        queue: where the task waits for a thread.
        session: the session of the game.
        game: the game.
        sent: ``{"turn": 3}``.

    Returns:
        The task; the one in progress if the agent is thinking already. None if the agent has decided already.

    Raises:
        Refused: if the turn is another one, no agent is to play, or too many tasks are waiting.
    """
    with game.locked():
        turn = int(game.table.state.decisions[0])
        if sent.get("turn") in range(turn):
            return None
        _check_turn(game, sent)
        if game.table.over or game.table.waits:
            raise Refused(409, "no agent is to play now")

        def work(task: Task[None]) -> None:
            action = game.table.choose()
            with game.locked():
                task.check_cancelled()
                session.change(game, lambda: game.table.advance(action))

        return _start_task(queue, session, game, (turn, None), str(game.table.players[game.table.to_play]), work)


def show_progress(game: Game, sent: JsonObject, task: Task[None] | None) -> JsonObject:
    """Return the game after an agent's decision. While the agent thinks, the game has the key "thinking".

    Raises:
        Refused: if the game was removed meanwhile, or the decision cannot be saved.
        Exception: whatever the agent raised.
    """
    if task is not None and task.done:
        task.outcome()
    with game.locked():
        return _to_json(game, sent.get("seat"))


def request_hint(
    queue: WorkQueue, session: Session, game: Game, seat: int | None, sent: JsonObject
) -> Task[JsonObject]:
    """Start a judgement of the decision that a person is to make.

    Args:
        queue: where the task waits for a thread.
        session: the session of the game.
        game: the game.
        seat: the person's seat; None for the only person.
        sent: ``{"turn": 3}``, the turn that the person sees; ``{}`` for the current one.

    Raises:
        Refused: if the turn is another one, it is not the person's turn, the judge cannot play the game, or too many
            tasks are waiting.
    """
    with game.locked():
        table = game.table
        if sent:
            _check_turn(game, sent)
        if not table.waits or _visible_seat(table, seat) != table.to_play:
            raise Refused(409, "a hint is for the person who is to play")
        if not can_judge(table.rules):
            raise Refused(409, "there are no hints for these rules: the judge has no weights for them")
        known = view(table.state.copy(), table.to_play)
        turn = int(table.state.decisions[0])

        def work(task: Task[JsonObject]) -> JsonObject:
            return hint_to_json(known, _make_judge().judge(known))

        return _start_task(queue, session, game, (turn, seat), "hint", work)


def show_hint(task: Task[JsonObject]) -> JsonObject:
    """Return the hint, or ``{"thinking": ...}`` if it is not there yet.

    Raises:
        Exception: whatever the judge raised.
    """
    return task.outcome() if task.done else {"thinking": _progress_to_json(task)}


def _start_task(
    queue: WorkQueue,
    session: Session,
    game: Game,
    about: tuple[int, int | None],
    kind: str,
    work: Callable[[Task[Any]], Any],
) -> Task[Any]:
    """Return the game's task about this turn; start it if there is none. The caller holds the game's lock."""
    if game.task is None or game.task.done or game.about != about:
        game.cancel_task()
        game.task, game.about = queue.submit(session.digest, kind, work), about
    return game.task


def _progress_to_json(task: Task[Any]) -> JsonObject:
    """Return for how many seconds a task has been there, and whether it still waits for a thread."""
    return {"seconds": round(task.seconds, 1), "waits": not task.in_progress}


def export_record(game: Game) -> str:
    """Return the record of a finished game as a line.

    Raises:
        Refused: if the game goes on.
    """
    with game.locked():
        if not game.table.over:
            raise Refused(409, "the record names the tiles of every rack: it is available when the game is over")
        return to_json_line(game.table.record())


def list_game_steps(game: Game) -> JsonObject:
    """Return a game step by step, with the person's names.

    Of a game in progress it has what its only person may know, or else what everybody may know. Then swaps that were
    declined are no steps, and there is no record.
    """
    with game.locked():
        table = game.table
        record, seats = table.record(), [seat for seat, player in enumerate(table.players) if player is None]
    named = {"names": name_seats(table.players, game.names), "people": seats}
    if record["end"] != End.UNFINISHED.words or not seats:
        return {**list_steps(record), **named}
    return {**list_public_steps(record, seats[0] if len(seats) == 1 else None), **named}


def list_games(session: Session) -> list[JsonObject]:
    """Return the session's games, the newest first, then the files that are not valid games, each with its fault."""
    games = []
    for game in session.games():
        with game.locked():
            games.append(game_summary_to_json(game.id, game.started, game.table, game.names))
    faults = [{"id": fault.id, "started": fault.started, "fault": fault.message} for fault in session.faults()]
    return [*games, *faults]


def _to_json(game: Game, seat: Any) -> JsonObject:
    data = game_to_json(game.id, game.table, _visible_seat(game.table, seat), game.names)
    data["judge"] = can_judge(game.table.rules)
    if game.task is not None and not game.task.done and not game.table.waits:
        data["thinking"] = _progress_to_json(game.task)
    return data


def _visible_seat(table: Table, seat: Any) -> int | None:
    """Return the seat whose rack is shown: the only person's, else the seat asked for if its rack may be shown."""
    people = [at for at, player in enumerate(table.players) if player is None]
    if len(people) == 1:
        return people[0]
    return seat if _may_see(table, seat) else None


def _may_see(table: Table, seat: Any) -> bool:
    """Return whether the rack of a seat may be shown: a person's; of several people, that of the one to play."""
    if type(seat) is not int or not 0 <= seat < table.rules.players or table.players[seat] is not None:
        return False
    return table.players.count(None) == 1 or (seat == table.to_play and not table.over)


def _check_turn(game: Game, sent: JsonObject) -> None:
    """Check that the page knows the current turn, so that a decision that is sent twice is played once."""
    seen = sent.get("turn")
    if type(seen) is not int:
        raise Refused(400, f"turn: expected a whole number, found {shorten(seen)}")
    if seen != int(game.table.state.decisions[0]):
        raise Refused(409, "the game has gone on meanwhile, perhaps in another window: this is how it stands now")


def parse_action(rules: Rules, sent: JsonObject) -> int:
    """Return the action for a word, or for the slot of a tile and two cells.

    Raises:
        Refused: if it is no action of the game. Whether it is legal is not checked.
    """
    t = tables(rules)
    word, slot, cells = sent.get("word"), sent.get("slot"), sent.get("cells")
    if rules.has_swap and word in ("swap", "decline"):
        return t.swap_action if word == "swap" else t.decline_action
    if type(slot) is not int or not 0 <= slot < rules.rack:
        raise Refused(400, f"slot: expected a whole number from 0 to {rules.rack - 1}, found {shorten(slot)}")
    if not isinstance(cells, list) or len(cells) != 2 or not all(type(c) is int and 0 <= c < t.n_cells for c in cells):
        raise Refused(400, f"cells: expected two whole numbers from 0 to {t.n_cells - 1}, found {shorten(cells)}")
    beside = (t.neighbours[cells[0]] == cells[1]).nonzero()[0]
    if not beside.size:
        raise Refused(400, f"cells: expected two neighbours, found {cells}")
    return t.join_action(slot, int(t.placement_of[cells[0], beside[0]]))


@lru_cache(maxsize=1)
def _make_judge() -> RolloutJudge:
    return RolloutJudge()


def parse_rules(sent: Any) -> Rules:
    """Return the rules that an object describes, as :meth:`genial_env.core.rules.Rules.from_dict` reads it.

    Raises:
        Refused: if it does not describe rules.
    """
    if not isinstance(sent, dict):
        raise Refused(400, f"rules: expected an object, found {shorten(sent)}")
    try:
        return Rules.from_dict(sent)
    except (ValueError, TypeError) as error:
        raise Refused(400, f"rules: {error}") from error
