"""Solve the last placements of a game exactly.

:func:`solve` takes a game whose racks are known and returns the value of every action if everybody plays perfectly.
:func:`value_over_all_deals` takes a view and returns the mean over everything that the others may hold.

A value is the mover's final rank as a zero-sum utility (:func:`genial_env.core.ranking.rank_utility`). Solo it is the
lowest marker, plus a fraction by which the other markers break ties. With two tracks both sides play minimax. With
more, every seat maximizes its own utility, and breaks ties against the seat that asks (max^n, worst case for ties).

Equivalent actions and positions are visited once: duplicate tiles, doubles in both directions, transpositions. Racks of
seats that get no further turn are ignored. Draws are random only if their seat may still place the tile. A seat that
ends its turn has its next turn after all others have placed a tile each.

Axis letters as in :mod:`genial_env.core.tables`.
"""

from genial_env.policies.endgame._matching import most_placements_left
from genial_env.policies.endgame._outcomes import SAME
from genial_env.policies.endgame._solution import Solution
from genial_env.policies.endgame.all_deals import exact_action, exact_solutions, value_over_all_deals
from genial_env.policies.endgame.known_racks import BUDGET, OutOfBudget, solve, solve_all

__all__ = [
    "BUDGET",
    "SAME",
    "OutOfBudget",
    "Solution",
    "exact_action",
    "exact_solutions",
    "most_placements_left",
    "solve",
    "solve_all",
    "value_over_all_deals",
]
