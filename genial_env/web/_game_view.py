"""What a viewer of a game sees: the JSON object of the game, and which rack it shows."""

from typing import Any

from genial_env.analysis.judge import can_judge
from genial_env.web._game import Game
from genial_env.web._seating import Viewer
from genial_env.web._serialize import JsonObject, game_to_json
from genial_env.web._warm_up import WARM_UP
from genial_env.web._work_queue import Task


def view_game(game: Game, viewer: Viewer, seat: Any) -> JsonObject:
    """Return a game as a viewer may see it. The caller holds the game's lock.

    Args:
        game: the game.
        viewer: who looks at it.
        seat: the seat, of several of the viewer's, whose rack is asked for.
    """
    game.run_clock()
    by_person = game.seating.is_at(viewer, game.table.players)
    data = game_to_json(game.id, game.table, visible_seat(game, viewer, seat), game.names, game.seating, by_person)
    data["judge"] = can_judge(game.table.rules) and not game.seating.is_shared  # people elsewhere have no hints
    data["own"] = own_seats(game, viewer)
    data["role"] = viewer.role
    data["version"] = game.version
    data["stopped"] = game.stopped
    data["seating"] = seating_to_json(game, viewer)
    if game.task is not None and not game.task.done and not game.table.waits:
        data["thinking"] = progress_to_json(game.task)
    return data


def seating_to_json(game: Game, viewer: Viewer) -> JsonObject:
    """Return who has joined and left, the clock, the offer to take back, and for the host the secrets of the links."""
    seating, players = game.seating, game.table.players
    data: JsonObject = {
        "shared": seating.is_shared,
        "absent": seating.absent(players),
        "left": {str(seat): reason for seat, reason in seating.left.items()},
    }
    if viewer.is_host:
        data["links"] = {"seats": list(seating.links), "spectators": seating.spectators}
    if seating.offer is not None:
        others = set(seating.people(players)) - seating.offer.agreed - {seating.offer.seat}
        data["offer"] = {"seat": seating.offer.seat, "waits_for": sorted(others)}
    if seating.clock is not None:
        data["clock"] = {**seating.clock.to_dict(), "running": seating.clock.running}
    return data


def own_seats(game: Game, viewer: Viewer) -> list[int]:
    """Return the seats that a viewer plays and has not left."""
    people = game.seating.people(game.table.players)
    return [seat for seat in viewer.seats if seat in people]


def visible_seat(game: Game, viewer: Viewer, seat: Any) -> int | None:
    """Return the seat whose rack is shown: the only one of the viewer, else the seat asked for if it may be shown."""
    own = own_seats(game, viewer)
    if len(own) == 1:
        return own[0]
    return seat if may_see(game, viewer, seat) else None


def may_see(game: Game, viewer: Viewer, seat: Any) -> bool:
    """Return whether a viewer may see the rack of a seat: of several own seats, that of the one to play."""
    own = own_seats(game, viewer)
    if type(seat) is not int or seat not in own:
        return False
    return len(own) == 1 or (seat == game.table.to_play and not game.ended)


def progress_to_json(task: Task[Any]) -> JsonObject:
    """Return for how many seconds a task has been there, and what it waits for.

    ``waits`` says whether it waits for a thread, ``compiling`` whether code is being compiled, so that it takes longer.
    """
    return {
        "seconds": round(task.seconds, 1),
        "waits": not task.in_progress,
        "compiling": WARM_UP.in_progress,
    }
