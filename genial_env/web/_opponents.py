"""How strong the agents of the package are, for the form of a new game. `static/languages/` has the words.

The ratings are those of docs/leaderboard, which is not installed, rounded to tens. A test compares them.
"""

RATINGS: dict[str, dict[int, int]] = {
    "random": {1: -1110, 2: -1160},
    "points": {1: -50, 2: -150},
    "greedy": {1: 0, 2: 0, 3: 0, 4: 0},
    "lexicographic": {1: 250, 2: 20},
    "concave": {1: 220, 2: 180},
    "denial": {1: 300, 2: 320, 3: 140, 4: 100},
    "search": {1: 630, 2: 510},
    "ppo": {2: 1030, 3: 480, 4: 340},
    "value": {1: 740, 2: 1110, 3: 480, 4: 350},
    "value_search": {1: 810, 2: 1260, 3: 550, 4: 400},
}
"""Elo ratings by agent and number of seats; greedy has 0. Not of teams. The edition is 2025, solo 2009."""

RATED_AS = {"search": "search(playouts=300)", "value_search": "value_search(playouts=100)"}
"""The settings with which an agent was rated, if not with its defaults, with which it searches longer."""
