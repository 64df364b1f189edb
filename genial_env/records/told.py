"""What a seat may be told of what happens in a game: the events of its record (docs/records.md), less what is hidden.

Everybody sees tiles laid, bonus placements given up, and swaps with the rack that was shown. A seat alone knows which
tiles it draws, from which slot of its rack a tile comes, and that it declined a swap.
"""

from collections.abc import Iterable
from typing import Any

Event = list[Any]
"""A name, a seat, and what belongs to it."""

ONLOOKER = -1
"""A seat that nobody has: who is told as this one hears what everybody knows."""

HIDDEN = "??"
"""A tile that the seat may not know."""

NO_SLOT = -1
"""A rack slot that the seat may not know."""


def tell(events: Iterable[Event], seat: int) -> list[Event]:
    """Return the events that a seat may be told, in their order, newly made; what it may not know is hidden in them.

    Args:
        events: of a game record.
        seat: the seat, or :data:`ONLOOKER`.
    """
    told = []
    for event in events:
        name, mover, *rest = event
        if mover == seat:
            told.append([*event])
        elif name == "place":
            legal, _, *where = rest
            told.append([name, mover, legal, NO_SLOT, *where])
        elif name == "draw":
            told.append([name, mover, _hidden(rest[0])])
        elif name == "swap":
            legal, shown, drawn = rest
            told.append([name, mover, legal, shown, _hidden(drawn)])
        elif name == "pass":
            told.append([*event])
    return told


def _hidden(tiles: list[str]) -> list[str]:
    """As many tiles that nobody knows."""
    return [HIDDEN] * len(tiles)
