"""What has happened in an OpenSpiel game, as immutable bytes, which the clones of a state share."""

from functools import lru_cache
from typing import NamedTuple

from genial_env.core.rules import Rules

PLACE, PASS, SWAP, SHOW, KEEP = range(1, 6)
"""Kinds of events: a tile placed; a bonus placement declined; a rack swapped; one of its tiles; a swap declined."""

EVENT_NAMES = ("", "lays", "passes", "swaps", "shows", "keeps")
"""The verb of each kind of event in texts."""

_SIZE = 6
"""Bytes of an event: seat, kind of event, tile kind + 1, placement + 1 (two bytes), slot + 1."""


class Event(NamedTuple):
    """One event; -1 where it has no tile, placement or slot."""

    seat: int
    what: int
    kind: int = -1
    placement: int = -1
    slot: int = -1


def encode_event(event: Event) -> bytes:
    """Return an event as bytes."""
    return bytes([event.seat, event.what, event.kind + 1, *(event.placement + 1).to_bytes(2, "big"), event.slot + 1])


@lru_cache(maxsize=4096)
def decode_events(events: bytes) -> tuple[Event, ...]:
    """Return the events in some bytes, the oldest first."""
    parts = (events[at : at + _SIZE] for at in range(0, len(events), _SIZE))
    return tuple(Event(p[0], p[1], p[2] - 1, int.from_bytes(p[3:5], "big") - 1, p[5] - 1) for p in parts)


def events_known_to(events: bytes, player: int | None) -> list[Event]:
    """Return the events that a seat knows; None: the events that everybody knows.

    Only the seat itself knows which slot a tile came from, and that it declined a swap.
    """
    known = []
    for event in decode_events(events):
        if event.seat == player:
            known.append(event)
        elif event.what != KEEP:
            known.append(event._replace(slot=-1))
    return known


def most_decisions(rules: Rules) -> int:
    """Return an upper bound on the decisions of a game.

    There are at most half as many placements as free cells, a decision on a swap after each, and a declined bonus for
    each stop of each marker.
    """
    swaps = rules.most_placements if rules.has_swap else 0
    bonuses = rules.tracks * rules.colors * len(rules.stops) if rules.bonus_may_be_declined else 0
    return rules.most_placements + swaps + bonuses


def most_events(rules: Rules) -> int:
    """Return an upper bound on the events of a game: its decisions, and each tile that a swap shows."""
    shown = rules.most_placements * rules.rack if rules.has_swap else 0
    return most_decisions(rules) + shown


def most_draws(rules: Rules) -> int:
    """Return an upper bound on a seat's draws: its first rack, and a tile a placement or a rack a swap."""
    return rules.rack + rules.most_placements * (rules.rack if rules.has_swap else 1)
