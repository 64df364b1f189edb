"""Exceptions of the package. Wrong arguments raise Python's ValueError and TypeError."""

__all__ = ["AgentError", "AgentLate", "AgentStopped", "IllegalAction", "RecordError"]


class IllegalAction(ValueError):
    """Raised for an action that is not legal. The state is unchanged."""


class RecordError(ValueError):
    """Raised for a game record that cannot be read or replayed. The message says where, what was expected and found."""


class AgentError(RuntimeError):
    """Raised if an agent in a process of its own fails to choose an action, or answers nonsense."""


class AgentStopped(AgentError):
    """Raised if the process of an agent ends, or gives no answer in time."""


class AgentLate(AgentStopped):
    """Raised if an agent gives no answer in time."""
