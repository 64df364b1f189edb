"""How much a server takes on, for one session and in all. docs/play.md lists the numbers."""

from dataclasses import dataclass

from genial_env._util.cores import count_cores

__all__ = ["DAY", "HOUR", "Limits"]

HOUR = 3600.0
DAY = 24 * HOUR


@dataclass(frozen=True)
class Limits:
    """Limits of a server. What goes beyond is refused or removed."""

    games: int = 50
    """The most games of a session."""

    all_games: int = 10_000
    """The most games of all sessions together."""

    stored_bytes: int = 200_000_000
    """The most bytes of all games on the disk. Above it no game is begun; games in progress go on."""

    sessions: int = 1000
    """The most sessions in memory. Those without games are removed first, then those that were not used for longest."""

    idle_s: float = HOUR
    """The seconds without a request after which a session that is on the disk is removed from memory."""

    max_age_s: float = 365 * DAY
    """The seconds without a request after which a session is removed with its games. Its cookie lives as long."""

    agent_threads: int = count_cores()
    """Threads for the decisions of agents."""

    helper_threads: int = max(1, count_cores() // 2)
    """Threads for hints, reviews, uploaded files, and reading sessions from the disk."""

    short_threads: int = max(2, count_cores())
    """Threads for work of milliseconds, such as saving a game. More threads than cores spend much time on passing
    Python's lock from one to the next."""

    queued_tasks: int = 500
    """The most tasks that wait for either kind of thread."""

    uploads: int = 8
    """The most uploaded files in memory at a time."""

    poll_s: float = 30
    """The most seconds for which an answer is held back for an agent's decision."""
