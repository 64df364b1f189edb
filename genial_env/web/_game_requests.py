"""Requests about a game: begin it, show it, play a decision, ask an agent for one, ask for a hint, export the record.

The functions get the JSON object that was sent, unchecked, and check it.
"""

from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from secrets import randbelow
from typing import Any

from genial_env.analysis.judge import RolloutJudge, can_judge
from genial_env.core.rules import SIZE_LIMITS, Rules
from genial_env.core.tables import tables
from genial_env.core.views import view
from genial_env.errors import IllegalAction
from genial_env.policies.registry import known_names
from genial_env.policies.roster import FOR_ANALYSIS
from genial_env.records import to_json_line
from genial_env.table import Table
from genial_env.web._game import Game
from genial_env.web._game_view import may_see, own_seats, progress_to_json, view_game, visible_seat
from genial_env.web._record_requests import list_public_steps, list_steps
from genial_env.web._request_checks import Refused, invalid
from genial_env.web._seating import MAX_MAIN_S, MAX_MOVE_S, Clock, Seating, Viewer
from genial_env.web._serialize import JsonObject, game_summary_to_json, hint_to_json, names_to_json
from genial_env.web._sessions import Session
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
            one drawn. The names of people may be left out. ``"links": [false, true]`` says which people join by a
            link, ``"clock": {"main_s": 600, "move_s": 10}`` how much time each has; both may be left out.

    Raises:
        Refused: if the game cannot be played, or there are too many games.
    """
    rules = parse_rules(sent.get("rules"))
    players, seed = _parse_players(sent.get("players"), rules), _parse_seed(sent.get("seed"))
    names = _parse_names(sent.get("names"), players)
    clock = _parse_clock(sent.get("clock"), players)
    seating = Seating.with_links(_parse_links(sent.get("links"), players), clock)
    game = session.add(Table(rules, players, seed, from_data=True), names, seating)
    return show_game(game, game.host, None)


def _parse_links(sent: Any, players: list[str | None]) -> list[bool]:
    """Return for each seat whether its person joins by a link."""
    if sent is None:
        return [False] * len(players)
    if not isinstance(sent, list) or len(sent) != len(players) or not all(type(each) is bool for each in sent):
        raise invalid("links", f"a list of {len(players)} with true or false", sent)
    for seat, (by_link, player) in enumerate(zip(sent, players, strict=True)):
        if by_link and player is not None:
            raise invalid(f"links[{seat}]", "false for an agent", by_link)
    return sent


def _parse_clock(sent: Any, players: list[str | None]) -> Clock | None:
    """Return the clock of a new game, None for a game without one."""
    if sent is None:
        return None
    if not isinstance(sent, dict) or set(sent) != {"main_s", "move_s"} or None not in players:
        raise invalid("clock", "an object with main_s and move_s in a game with people", sent)
    for name, low, high in (("main_s", 1, MAX_MAIN_S), ("move_s", 0, MAX_MOVE_S)):
        if type(sent[name]) not in (int, float) or not low <= sent[name] <= high:
            raise invalid(f"clock.{name}", f"seconds from {low} to {high}", sent[name])
    return Clock(float(sent["main_s"]), float(sent["move_s"]), [float(sent["main_s"])] * len(players))


def _parse_players(sent: Any, rules: Rules) -> list[str | None]:
    if not isinstance(sent, list) or len(sent) != rules.players:
        raise invalid("players", f"a list of {rules.players}", sent)
    known = list_agents(rules)
    for seat, player in enumerate(sent):
        if player is not None and player not in known:
            offered = ", ".join(known)
            raise invalid(f"players[{seat}]", f"a person (null) or one of {offered}", player)
    return sent


def _parse_names(sent: Any, players: list[str | None]) -> tuple[str | None, ...]:
    """Return the names that people have given, by seat; empty if there are none."""
    if sent is None:
        return ()
    if not isinstance(sent, list) or len(sent) != len(players):
        raise invalid("names", f"a list of {len(players)}", sent)
    names = [parse_name(name, player is None) for name, player in zip(sent, players, strict=True)]
    return tuple(names) if any(names) else ()


def parse_name(sent: Any, is_person: bool = True) -> str | None:
    """Return the name that a person has given; None for none.

    Raises:
        Refused: if it is too long or cannot be printed, or an agent is given a name.
    """
    name = sent.strip() if isinstance(sent, str) else sent
    is_name = isinstance(name, str) and name.isprintable() and len(name) <= MAX_NAME and is_person
    if name is not None and not is_name:
        raise invalid("names", f"up to {MAX_NAME} letters for a person", name)
    return name or None


def _parse_seed(sent: Any) -> int:
    seed = randbelow(SEEDS) if sent is None else sent
    if type(seed) is not int or not 0 <= seed < SEEDS:
        raise invalid("seed", f"a whole number from 0 to {SEEDS - 1}", seed)
    return seed


def show_game(game: Game, viewer: Viewer, seat: int | None) -> JsonObject:
    """Return a game as a viewer may see it. An agent may be thinking meanwhile.

    Args:
        game: the game.
        viewer: who looks at it.
        seat: the seat whose rack is asked for; None for the viewer's only seat, or for none.

    Raises:
        Refused: if the rack of the seat may not be shown now.
    """
    with game.locked():
        if seat is not None and not may_see(game, viewer, seat):
            raise Refused(403, f"seat {seat}: expected a person whose turn it is", "rack_hidden", seat=seat)
        return view_game(game, viewer, seat)


def play_decision(session: Session, game: Game, viewer: Viewer, sent: JsonObject) -> JsonObject:
    """Play a person's decision and return the game.

    Args:
        session: the session of the game.
        game: the game.
        viewer: who decides.
        sent: ``{"turn": 3, "slot": 0, "cells": [4, 5]}``, or ``{"turn": 3, "word": "swap"}``.

    Raises:
        Refused: if the turn is another one or another person's, the rules forbid the decision, or it cannot be saved.
            Nothing has changed then.
    """
    with game.locked():
        check_turn(game, sent)
        seat = game.table.to_play
        if not game.waits:
            raise Refused(409, "no person is to play now", "no_person_to_play")
        if seat not in viewer.seats:
            raise Refused(403, "another person is to play now", "turn_of_another", seat=seat)
        action, clock = parse_action(game.table.rules, sent), deepcopy(game.seating.clock)

        def play() -> None:
            game.table.play(action)
            game.end_turn(seat)

        def undo() -> None:
            game.table.take_back()
            game.seating.clock = clock

        try:
            session.change(game, play, undo)
        except IllegalAction as error:
            raise Refused(422, str(error), "illegal_action", reason=str(error)) from error
        game.seating.offer = None
        game.cancel_task()  # a hint that was asked for before
        return view_game(game, viewer, sent.get("seat"))


def request_decision(
    queue: WorkQueue, session: Session, game: Game, viewer: Viewer, sent: JsonObject
) -> Task[None] | None:
    """Start the decision of the agent whose turn it is.

    The task also plays and saves the decision, so the game goes on even if nobody waits for the task.

    Args:
        queue: where the task waits for a thread.
        session: the session of the game.
        game: the game.
        viewer: who asks.
        sent: ``{"turn": 3}``; with ``"resume": true`` an agent whose thinking was cancelled thinks again.

    Returns:
        The task; the one in progress if the agent is thinking already. None if the agent has decided already, or its
        thinking was cancelled.

    Raises:
        Refused: if the turn is another one, no agent is to play, a spectator asks, or too many tasks are waiting.
    """
    with game.locked():
        turn = int(game.table.state.decisions[0])
        if sent.get("turn") in range(turn):
            return None
        check_turn(game, sent)
        if game.ended or game.table.waits:
            raise Refused(409, "no agent is to play now", "no_agent_to_play")
        if game.stopped and sent.get("resume") is not True:
            return None
        check_player(viewer)
        game.stopped = False
        kind = str(game.table.players[game.table.to_play])

        def work(task: Task[None]) -> None:
            with game.locked():
                task.check_cancelled()
                table = game.table.copy()
            action = table.choose()
            with task.aside(), game.locked():
                task.check_cancelled()
                session.change(game, lambda: game.table.advance(action))

        return _start_task(queue, session, game, (turn, None), kind, work)


def show_progress(game: Game, viewer: Viewer, sent: JsonObject, task: Task[None] | None) -> JsonObject:
    """Return the game after an agent's decision. While the agent thinks, the game has the key "thinking".

    Raises:
        Refused: if the game was removed meanwhile, or the decision cannot be saved.
        TaskCancelled: if the server is ending.
        Exception: whatever the agent raised.
    """
    if task is not None and game.is_about(task) and task.done:  # else the game has gone on without it
        task.outcome()
    with game.locked():
        return view_game(game, viewer, sent.get("seat"))


def request_hint(
    queue: WorkQueue, session: Session, game: Game, viewer: Viewer, seat: int | None, sent: JsonObject
) -> Task[JsonObject]:
    """Start a judgement of the decision that a person is to make.

    Args:
        queue: where the task waits for a thread.
        session: the session of the game.
        game: the game.
        viewer: who asks.
        seat: the person's seat; None for the only person.
        sent: ``{"turn": 3}``, the turn that the person sees; ``{}`` for the current one.

    Raises:
        Refused: if the turn is another one, it is not the person's turn, the judge cannot play the game, or too many
            tasks are waiting.
    """
    with game.locked():
        table = game.table
        if sent:
            check_turn(game, sent)
        if not game.waits or visible_seat(game, viewer, seat) != table.to_play:
            raise Refused(409, "a hint is for the person who is to play", "hint_of_another")
        if game.seating.is_shared:
            raise Refused(409, "there are no hints in games with people elsewhere", "no_hints_in_shared_games")
        if not can_judge(table.rules):
            raise Refused(409, "there are no hints for these rules: the judge has no weights for them", "no_judge")
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
    return task.outcome() if task.done else {"thinking": progress_to_json(task)}


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


def export_record(game: Game) -> str:
    """Return the record of a finished game as a line.

    Raises:
        Refused: if the game goes on.
    """
    with game.locked():
        if not game.ended:
            message = "the record names the tiles of every rack: it is available when the game is over"
            raise Refused(409, message, "record_not_yet")
        return to_json_line(game.record())


def list_game_steps(game: Game, viewer: Viewer) -> JsonObject:
    """Return a game step by step, and whether it has ended.

    Of a game in progress it has what the only seat of the viewer may know, or else what everybody may know. Then swaps
    that were declined are no steps. Nothing is hidden if the game has ended, or agents alone play it. Positions of a
    game in progress with people elsewhere have no text, as they cannot be judged.
    """
    with game.locked():
        table = game.table
        record, own, ended, shared = game.record(), own_seats(game, viewer), game.ended, game.seating.is_shared
    people = [seat for seat, player in enumerate(table.players) if player is None]
    names = names_to_json(table.players, game.names, game.seating.is_at(viewer, table.players))
    about = {**names, "people": people, "over": ended}
    if ended or not people:
        return {**list_steps(record), **about}
    return {**list_public_steps(record, own[0] if len(own) == 1 else None, texts=not shared), **about}


def list_games(session: Session) -> list[JsonObject]:
    """Return the session's games, the newest first, then the files that are not valid games, each with its fault."""
    games = []
    for game in session.games():
        with game.locked():
            by_person = game.seating.is_at(game.host, game.table.players)
            about = (game.id, game.started, game.table, game.names, game.seating, by_person)
            games.append(game_summary_to_json(*about))
    faults = [{"id": fault.id, "started": fault.started, "fault": fault.message} for fault in session.faults()]
    return [*games, *faults]


def check_player(viewer: Viewer) -> None:
    """Check that a viewer takes part in the game.

    Raises:
        Refused: if it is a spectator.
    """
    if not viewer.is_host and not viewer.seats:
        raise Refused(403, "spectators only look: this is for those who play", "spectators_only_look")


def check_turn(game: Game, sent: JsonObject) -> None:
    """Check that the page knows the current turn, so that a decision that is sent twice is played once.

    Raises:
        Refused: if it is another one.
    """
    seen = sent.get("turn")
    if type(seen) is not int:
        raise invalid("turn", "a whole number", seen)
    if seen != int(game.table.state.decisions[0]):
        message = "the game has gone on meanwhile, perhaps in another window: this is how it stands now"
        raise Refused(409, message, "game_has_gone_on")


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
        raise invalid("slot", f"a whole number from 0 to {rules.rack - 1}", slot)
    if not isinstance(cells, list) or len(cells) != 2 or not all(type(c) is int and 0 <= c < t.n_cells for c in cells):
        raise invalid("cells", f"two whole numbers from 0 to {t.n_cells - 1}", cells)
    beside = (t.neighbours[cells[0]] == cells[1]).nonzero()[0]
    if not beside.size:
        raise invalid("cells", "two neighbours", cells)
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
        raise invalid("rules", "an object", sent)
    try:
        return Rules.from_dict(sent)
    except (ValueError, TypeError) as error:
        code, values = _fault_of_sizes(sent)
        raise Refused(400, f"rules: {error}", code, reason=str(error), **values) from error


def _fault_of_sizes(sent: JsonObject) -> tuple[str, JsonObject]:
    """Return the code and the values of a refusal of rules. They name the first size that is out of its range."""
    for name, (low, high) in SIZE_LIMITS.items():
        value = sent.get(name, low)
        if type(value) is int and not low <= value <= high:
            return "size_out_of_range", {"size": name, "low": low, "high": high}
    return "invalid_rules", {}
