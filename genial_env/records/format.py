"""The format of game records (docs/records.md): its name, version and keys."""

from typing import Any

__all__ = ["FORMAT", "KEYS", "VERSION", "Event", "Record"]

FORMAT, VERSION = "genial-record", 1

KEYS = ("format", "version", "rules", "seed", "agents", "deal", "events", "scores", "ranks", "end")
"""The keys of a record, in the order in which they are written."""

Event = list[Any]
"""One event of a record: its name, the seat, and the event's own data."""


class Record(dict[str, Any]):
    """A game record: a dict with a drawing of the game in notebooks (:mod:`genial_env.render.notebook`)."""
