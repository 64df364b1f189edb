"""Draw the positions of a game record."""

from typing import Any

from genial_env.records.replay import replay
from genial_env.render.svg import Move, position_svg

__all__ = ["draw_record", "last_move"]


def draw_record(
    record: dict[str, Any], event: int | None = None, seat: int | None = None, width: float | None = None
) -> str:
    """Return the drawing of a position of a recorded game as SVG. The last tile and its lines are highlighted.

    Args:
        record: the record.
        event: the number of events before the position; None for the last position.
        seat: the seat whose rack is shown; None for all racks.
        width: the width in pixels; None for that of the drawing.

    Raises:
        RecordError: if the record does not replay.
        ValueError: if there are fewer events.
    """
    state = replay(record, event)
    return position_svg(state, seat=seat, names=record["agents"], move=last_move(record, event), width=width)


def last_move(record: dict[str, Any], event: int | None = None) -> Move | None:
    """Return the last tile laid in the first `event` events (None: in all events); None if there is none."""
    placed = [happened for happened in record["events"][:event] if happened[0] == "place"]
    return Move(tuple(placed[-1][5]), tuple(placed[-1][6])) if placed else None
