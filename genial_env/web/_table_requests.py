"""Requests about who plays: join a game, resign, take a decision back, stop an agent's thinking, let another play on.

The functions get the JSON object that was sent, unchecked, check it, and return the game as the viewer sees it.
"""

from collections.abc import Callable

from genial_env.web._game import Game
from genial_env.web._game_requests import check_player, check_turn, list_agents, parse_name
from genial_env.web._game_view import own_seats, view_game
from genial_env.web._request_checks import Refused, invalid
from genial_env.web._seating import RESIGNED, Offer, Viewer
from genial_env.web._serialize import JsonObject
from genial_env.web._sessions import Session


def join_game(session: Session, game: Game, viewer: Viewer, sent: JsonObject) -> JsonObject:
    """Take the seat of a link. A clock begins to run when all have joined. Joining again changes the name.

    Args:
        session: the session of the game.
        game: the game.
        viewer: who has the link.
        sent: ``{"name": "Ann"}``; null for no name.

    Raises:
        Refused: if the viewer has no link of a seat, or the name is not valid.
    """
    with game.locked():
        if viewer.is_host or not viewer.seats:
            raise Refused(409, "this is for those who have the link of a seat", "no_seat_to_join")
        (seat,), name = viewer.seats, parse_name(sent.get("name"))

        def join() -> None:
            names = list(game.names or [None] * game.table.rules.players)
            names[seat] = name
            game.names = tuple(names) if any(names) else ()
            game.seating.joined.add(seat)

        session.change(game, join, game.snapshot())
        return view_game(game, viewer, None)


def renew_link(session: Session, game: Game, viewer: Viewer, sent: JsonObject) -> JsonObject:
    """Make a new link for a seat or for spectators. Who has the old one sees the game no more.

    Args:
        session: the session of the game.
        game: the game.
        viewer: who asks.
        sent: ``{"link_of": 1}`` for a seat that has a link, ``{"link_of": null}`` for spectators.

    Raises:
        Refused: if the viewer is not the host, or the seat has no link.
    """
    with game.locked():
        if not viewer.is_host:
            raise Refused(403, "only who began the game makes its links", "links_are_the_hosts")
        seat, links = sent.get("link_of"), game.seating.links
        linked = [at for at, link in enumerate(links) if link is not None]
        if seat is not None and (type(seat) is not int or seat not in linked):
            raise invalid("link_of", "null, or a seat that has a link", seat)
        session.change(game, lambda: game.seating.renew_link(seat), game.snapshot())
        return view_game(game, viewer, sent.get("seat"))


def resign(session: Session, game: Game, viewer: Viewer, sent: JsonObject) -> JsonObject:
    """Give the game up for a seat. An agent plays the seat on if the others go on.

    Args:
        session: the session of the game.
        game: the game.
        viewer: who resigns.
        sent: ``{"seat": 1}``, a seat of the viewer's.

    Raises:
        Refused: if the game has ended, or the seat is not the viewer's.
    """
    with game.locked():
        _check_goes_on(game)
        seat = sent.get("seat")
        if type(seat) is not int or seat not in own_seats(game, viewer):
            raise invalid("seat", "one that you play", seat)
        session.change(game, lambda: game.leave(seat, RESIGNED), game.snapshot())
        return view_game(game, viewer, None)


def take_back(session: Session, game: Game, viewer: Viewer, sent: JsonObject) -> JsonObject:
    """Ask to take the own last decision back, or answer who has asked. It is done when all other people agree.

    Args:
        session: the session of the game.
        game: the game.
        viewer: who asks or answers.
        sent: ``{"turn": 5}`` to ask, or to agree; with ``"refuse": true`` to refuse, or to ask no more.

    Raises:
        Refused: if the turn is another one, the game has ended, nothing was decided yet, or nobody else plays who could
            agree.
    """
    with game.locked():
        check_turn(game, sent)
        check_player(viewer)
        _check_goes_on(game)
        seating, own = game.seating, own_seats(game, viewer)
        people = set(seating.people(game.table.players))
        if sent.get("refuse") is True:
            seating.offer = None
            return view_game(game, viewer, sent.get("seat"))
        if seating.offer is None:
            if len(people) < 2:
                raise Refused(409, "nobody else plays who could agree to take it back", "nobody_to_agree")
            seating.offer = Offer(_last_mover(game, own))
        seating.offer.agreed.update(own)
        if people <= seating.offer.agreed | {seating.offer.seat}:
            asker, restore = seating.offer.seat, game.snapshot()
            session.change(game, lambda: _take_back_to(game, asker), restore)
        return view_game(game, viewer, sent.get("seat"))


def _last_mover(game: Game, own: list[int]) -> int:
    """Return the one of some seats that has decided last.

    Raises:
        Refused: if none of them has decided anything.
    """
    for seat in reversed(game.table.movers()):
        if seat in own:
            return seat
    raise Refused(409, "you have decided nothing yet that could be taken back", "nothing_to_take_back")


def _take_back_to(game: Game, seat: int) -> None:
    """In place: take back the last decision of a seat, and all decisions after it."""
    movers = game.table.movers()
    game.table.take_back(movers[::-1].index(seat) + 1)
    game.seating.offer, game.stopped = None, False
    game.cancel_task()


def stop_thinking(game: Game, viewer: Viewer, sent: JsonObject) -> JsonObject:
    """Cancel the thinking of the agent to play. It stays the agent's turn; it thinks again when somebody says so.

    Args:
        game: the game.
        viewer: who cancels.
        sent: ``{"turn": 5}``.

    Raises:
        Refused: if the turn is another one, or no agent is to play.
    """
    with game.locked():
        _check_agent_to_play(game, viewer, sent)
        game.cancel_task()
        game.stopped = True
        game.table.replace(game.table.to_play, game.table.players[game.table.to_play], from_data=True)
        return view_game(game, viewer, sent.get("seat"))


def replace_agent(session: Session, game: Game, viewer: Viewer, sent: JsonObject) -> JsonObject:
    """Let another agent play the seat of the agent to play from here on.

    Args:
        session: the session of the game.
        game: the game.
        viewer: who replaces it.
        sent: ``{"turn": 5, "agent": "greedy"}``.

    Raises:
        Refused: if the turn is another one, no agent is to play, or the new one is not offered for these rules.
    """
    agent, offered = sent.get("agent"), list_agents(game.table.rules)
    with game.locked():
        _check_agent_to_play(game, viewer, sent)
        seat = game.table.to_play
        if agent not in offered:
            raise invalid("agent", f"one of {', '.join(offered)}", agent)

        def replace() -> None:
            game.give_seat(seat, str(agent))
            game.stopped = False

        session.change(game, replace, game.snapshot())
        game.cancel_task()
        return view_game(game, viewer, sent.get("seat"))


def _check_agent_to_play(game: Game, viewer: Viewer, sent: JsonObject) -> None:
    check_turn(game, sent)
    check_player(viewer)
    if game.ended or game.table.waits:
        raise Refused(409, "no agent is to play now", "no_agent_to_play")


def _check_goes_on(game: Game) -> None:
    if game.ended:
        raise Refused(409, "the game is over", "game_over")


Change = Callable[[Session, Game, Viewer, JsonObject], JsonObject]
"""A function of this module: it changes a game and returns it."""

CHANGES: dict[str, Change] = {
    "join": join_game,
    "link": renew_link,
    "resign": resign,
    "take_back": take_back,
    "stop": lambda session, game, viewer, sent: stop_thinking(game, viewer, sent),
    "replace": replace_agent,
}
"""The functions of this module by the last part of their address."""
