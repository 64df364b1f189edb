"""The time that an agent has used in each of its games."""

from collections import defaultdict

from genial_env.core.arrays import Ints

__all__ = ["GameClock"]


class GameClock:
    """Counts the seconds of an agent in each of its games.

    Args:
        limit_s: the most seconds for all decisions of a game; None for no limit.
    """

    def __init__(self, limit_s: float | None) -> None:
        self.limit_s = limit_s
        self._used: defaultdict[int, float] = defaultdict(float)

    def left_s(self, games: Ints) -> float | None:
        """Return the least time that is left in one of the games, which may be below 0; None for no limit.

        Args:
            games: [G] the numbers of the games.
        """
        if self.limit_s is None:
            return None
        return self.limit_s - max((self._used[game] for game in games.tolist()), default=0.0)

    def add(self, games: Ints, seconds: float) -> None:
        """In place: divide the time of a batch of decisions evenly among its games [G]."""
        if self.limit_s is not None:
            for game in games.tolist():
                self._used[game] += seconds / len(games)
