"""Drawings of what a game record tells."""

from typing import Any

from genial_env.records import replay
from genial_env.render.svg import Move, position_svg


def drawing(
    record: dict[str, Any], event: int | None = None, seat: int | None = None, width: float | None = None
) -> str:
    """A position of a recorded game, the tile laid last and its lines standing out.

    Args:
        record: the record.
        event: after how many events; left out, at the end.
        seat: the seat that looks on and sees no rack but its own; None sees all.
        width: in pixels; left out, as it comes.

    Raises:
        RecordError, ValueError: as :func:`genial_env.records.replay`.
    """
    state = replay(record, event)
    return position_svg(state, seat=seat, names=record["agents"], move=last_move(record, event), width=width)


def last_move(record: dict[str, Any], event: int | None = None) -> Move | None:
    """The tile laid last of so many events; None where none was."""
    placed = [happened for happened in record["events"][:event] if happened[0] == "place"]
    return Move(tuple(placed[-1][5]), tuple(placed[-1][6])) if placed else None
