"""Analysis of recorded games and positions: reviews and puzzles."""

__all__: list[str] = []
