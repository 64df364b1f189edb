"""How much a server takes on: of a session, of all together, of a connection. docs/play.md names the numbers."""

import os
from dataclasses import dataclass

HOUR = 3600.0
DAY = 24 * HOUR


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Limits:
    """What a server refuses, or forgets, beyond."""

    games: int = 50
    """Games of a session."""

    all_games: int = 10_000
    """Games of all sessions together, on the disk or, where nothing is kept there, in memory."""

    kept_bytes: int = 200_000_000
    """Bytes of all games on the disk: none is begun beyond. Those that are there go on; they grow by some kilobytes."""

    sessions: int = 1000
    """Sessions in memory; those go first that have no game, then those that were not used for longest."""

    idle_s: float = HOUR
    """After how long without a request a session on the disk leaves memory."""

    age_s: float = 365 * DAY
    """After how long without a request a session is removed with its games: as long as its cookie lives."""

    thinkers: int = cores()
    """Threads for agents' decisions."""

    clerks: int = max(1, cores() // 2)
    """Threads for hints, reviews, uploaded files and sessions that are read from the disk."""

    waiting: int = 500
    """Tasks in all that wait for a thread, of either kind."""

    uploads: int = 8
    """Files of records in memory at a time."""

    poll_s: float = 30
    """The longest that an answer is held back for an agent."""
