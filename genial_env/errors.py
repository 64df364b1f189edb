"""Exceptions of the package. Wrong arguments raise Python's ValueError and TypeError."""

__all__ = ["IllegalAction", "RecordError"]


class IllegalAction(ValueError):
    """Raised for an action that is not legal. The state is unchanged."""


class RecordError(ValueError):
    """Raised for a game record that cannot be read or replayed. The message says where, what was expected and found."""
