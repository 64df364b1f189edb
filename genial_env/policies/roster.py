"""The names of the agents of the package."""

from collections.abc import Callable
from typing import Any

__all__ = ["COMPILED", "FOR_ANALYSIS", "LADDER", "ROSTER"]

ROSTER: dict[str, str | Callable[..., Any]] = {
    "random": "genial_env.policies.uniform:RandomPolicy",
    "greedy": "genial_env.policies.greedy:GreedyPolicy",
    "concave": "genial_env.policies.concave:ConcavePolicy",
    "denial": "genial_env.policies.denial:DenialPolicy",
    "points": "genial_env.policies.points:PointsPolicy",
    "lexicographic": "genial_env.policies.lexicographic:Lexicographic",
    "search": "genial_env.policies.search:Search",
    "ismcts": "genial_env.policies.ismcts:ISMCTS",
    "value": "genial_env.policies.value:Value",
    "value_search": "genial_env.policies.value_search:ValueSearch",
    "exploit_search": "genial_env.policies.exploit_search:ExploitSearch",
    "ppo": "genial_env.policies.ppo:PPO",
}
"""The factory of each name, or "module:factory", which is imported when the name is first used.

Settings are keyword arguments of the factory.
"""

COMPILED = ["random", "greedy", "concave", "denial"]
"""The policies whose decisions and playouts the backend "numba" computes without a view."""

LADDER = ["random", "points", "greedy", "lexicographic", "concave", "denial"]
"""The scripted policies, weaker ones first."""

FOR_ANALYSIS = ["exploit_search"]
"""The agents that measure others, and are not offered to people as opponents."""
