"""The package's own exceptions; wrong arguments raise Python's ValueError and TypeError."""


class IllegalAction(ValueError):
    """An action that the rules do not allow now; the state is unchanged."""


class RecordError(ValueError):
    """A game record that cannot be read, or that does not replay; says file, line, event, expected and found."""
