"""The agents that have a name wherever a policy is named; the package's own always do."""

ROSTER = {
    "points": "agents.points:Points",
    "lexicographic": "agents.lexicographic:Lexicographic",
    "search": "agents.search:Search",
    "ismcts": "agents.ismcts:ISMCTS",
    "value": "agents.value:Value",
    "value_search": "agents.value_search:ValueSearch",
    "ppo": "agents.ppo:PPO",
}
"""Name -> "module:factory"; a factory's settings can be given in brackets: ``search(budget_s=0.1)``."""

LADDER = ["random", "points", "greedy", "lexicographic", "concave", "denial"]
"""The scripted agents, the weaker first."""
