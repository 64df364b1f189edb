"""The board game Génial!/Ingenious as a reinforcement-learning environment for 1 to 4 seats."""

from genial_env import envs as _envs  # registers the Gymnasium ids
from genial_env.errors import IllegalAction, RecordError
from genial_env.kernel import ranks
from genial_env.play import Results, play
from genial_env.policies import Policy, make_policy
from genial_env.rules import Rules
from genial_env.state import State
from genial_env.views import View, view

__all__ = [
    "IllegalAction",
    "Policy",
    "RecordError",
    "Results",
    "Rules",
    "State",
    "View",
    "make_policy",
    "play",
    "ranks",
    "view",
]
