"""Removal of hidden information from a record's events.

Placements, declined bonus placements, and swaps with the rack that is shown are public. Only the seat itself knows
which tiles it draws, from which rack slot it places a tile, and that it declined a swap.
"""

from collections.abc import Iterable

from genial_env.records.format import Event

__all__ = ["HIDDEN_SLOT", "HIDDEN_TILE", "SPECTATOR", "events_for_seat"]

SPECTATOR = -1
"""The seat number of a spectator, who knows only what is public."""

HIDDEN_TILE = "??"
"""The name that replaces a hidden tile."""

HIDDEN_SLOT = -1
"""The number that replaces a hidden rack slot."""


def events_for_seat(events: Iterable[Event], seat: int) -> list[Event]:
    """Return the events as one seat may know them, in their order. The events given are not changed.

    Hidden tiles and slots are replaced. Events that the seat may not know of are omitted.

    Args:
        events: Events of a game record.
        seat: The seat, or :data:`SPECTATOR`.
    """
    visible = []
    for event in events:
        name, mover, *rest = event
        if mover == seat:
            visible.append([*event])
        elif name == "place":
            legal, _, *public = rest
            visible.append([name, mover, legal, HIDDEN_SLOT, *public])
        elif name == "draw":
            visible.append([name, mover, _hide(rest[0])])
        elif name == "swap":
            legal, shown, drawn = rest
            visible.append([name, mover, legal, shown, _hide(drawn)])
        elif name == "pass":
            visible.append([*event])
    return visible


def _hide(tiles: list[str]) -> list[str]:
    """Return as many hidden tiles."""
    return [HIDDEN_TILE] * len(tiles)
