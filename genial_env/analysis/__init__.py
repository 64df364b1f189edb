"""Judgements of recorded games and positions: reviews and puzzles."""
