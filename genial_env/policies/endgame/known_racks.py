"""Solve games whose racks are known."""

import numpy as np

from genial_env._util.stopping import checkpoint
from genial_env.core import kernel
from genial_env.core.arrays import Floats, Ints
from genial_env.core.rules import Rules
from genial_env.core.state import Phase, State
from genial_env.policies.endgame._hands import count_hands, draw_weights, enumerate_hands
from genial_env.policies.endgame._matching import most_placements_left
from genial_env.policies.endgame._merging import find_unique_rows
from genial_env.policies.endgame._outcomes import choose_best, find_ends, list_distinct_actions
from genial_env.policies.endgame._positions import compute_keys, decline_useless_swaps, forget_irrelevant
from genial_env.policies.endgame._solution import Solution, check_unfinished, extend_to_all_actions

__all__ = ["BUDGET", "OutOfBudget", "solve", "solve_all"]

BUDGET = 200_000
"""The default number of positions that :func:`solve` visits before it gives up."""

_CHUNK = 4096
"""Positions expanded together, so that they fit in the cache."""


class OutOfBudget(Exception):
    """The game has more continuations than the budget allows."""


def solve(state: State, budget: int = BUDGET) -> Solution:
    """Compute the exact value of every legal action for the seat to play, if all seats know all racks.

    If tiles may still be drawn that can be placed, a value is the mean over the draws; all seats see what is drawn.

    Args:
        state: one game that is not over.
        budget: the most positions to visit.

    Raises:
        ValueError: if there is not exactly one game, or it is over.
        OutOfBudget: if the budget is too small.
    """
    if len(state) != 1:
        raise ValueError(f"there must be one game to solve, not {len(state)}: solve_all takes many")
    return solve_all(state, budget)[0]


def solve_all(states: State, budget: int = BUDGET) -> list[Solution]:
    """Solve B games at once, such as many deals of one view. Positions that they have in common are visited once.

    Args:
        states: B games that are not over.
        budget: the most positions to visit, for all games together.

    Raises:
        ValueError: if a game is over.
        OutOfBudget: if the budget is too small.
    """
    check_unfinished(states.over)
    games = forget_irrelevant(states.copy())
    asking = games.rules.track_of(games.to_play) if games.rules.tracks > 2 else np.zeros(len(games), dtype=np.int64)
    first, inverse = find_unique_rows(compute_keys(games, asking))
    merged = games.select(first)
    rows, actions, utilities = _Search(games.rules, budget).action_values(merged, asking[first])
    values = utilities[np.arange(len(rows)), merged.rules.track_of(merged.to_play[rows])]
    starts = np.searchsorted(rows, np.arange(len(first) + 1))
    parts = [slice(starts[row], starts[row + 1]) for row in inverse]
    return [
        extend_to_all_actions(states, game, merged, int(row), actions[part], values[part])
        for game, (row, part) in enumerate(zip(inverse, parts, strict=True))
    ]


class _Search:
    """Backward induction over batches of positions."""

    def __init__(self, rules: Rules, budget: int) -> None:
        self.rules = rules
        self.budget = budget
        self.left = budget

    def spend(self, positions: int) -> None:
        """Subtract positions from the budget.

        Raises:
            OutOfBudget: if nothing is left.
        """
        self.left -= positions
        if self.left < 0:
            raise OutOfBudget(f"more than {self.budget} positions")

    def values(self, state: State, asking: Ints) -> Floats:
        """Return the utilities of unfinished positions: [G, T]. Changes the state."""
        self.spend(len(state))
        state = forget_irrelevant(decline_useless_swaps(state))
        first, inverse = find_unique_rows(compute_keys(state, asking))
        merged, asking = state.select(first), asking[first]
        found = np.empty((len(first), self.rules.tracks))
        for start in range(0, len(first), _CHUNK):
            checkpoint()
            part = np.arange(start, min(start + _CHUNK, len(first)))
            games = merged.select(part)
            rows, _, utilities = self.action_values(games, asking[part])
            found[part] = choose_best(rows, utilities, games.rules.track_of(games.to_play), asking[part])
        return found[inverse]

    def action_values(self, state: State, asking: Ints) -> tuple[Ints, Ints, Floats]:
        """Return the distinct actions: games [n], ascending, action ids [n] and utilities [n, T]."""
        rows, actions = list_distinct_actions(state)
        ends, utilities = find_ends(state, rows, actions)
        going = np.flatnonzero(~ends)
        children = state.select(rows[going])
        kernel.apply(children, actions[going])
        random = (children.phase == Phase.PLACE) & (most_placements_left(children) >= self.rules.players)
        sure = np.flatnonzero(~random)
        if sure.size:
            utilities[going[sure]] = self.values(children.select(sure), asking[rows[going[sure]]])
        for index in np.flatnonzero(random).tolist():
            edge = int(going[index])
            drawn = int(children.drawn[index].sum() - state.drawn[rows[edge]].sum())
            utilities[edge] = self._mean_over_draws(state, int(rows[edge]), int(actions[edge]), drawn, asking)
        return rows, actions, utilities

    def _mean_over_draws(self, state: State, row: int, action: int, drawn: int, asking: Ints) -> Floats:
        """Return the mean utilities [T] of an action after which `drawn` tiles are drawn."""
        bag = state.bag[row]
        self.spend(count_hands(tuple(bag.tolist()), drawn))
        hands, chances = enumerate_hands(np.tile(draw_weights(bag, drawn), (drawn, 1, 1)))
        kinds = np.repeat(np.tile(np.arange(hands.shape[1]), len(hands)), hands.ravel()).reshape(len(hands), drawn)
        script = np.full((len(hands), self.rules.rack), -1)
        script[:, :drawn] = kinds
        found = np.zeros(self.rules.tracks)
        for start in range(0, len(hands), _CHUNK):
            part = slice(start, min(start + _CHUNK, len(hands)))
            some = len(script[part])
            children = state.select(np.full(some, row))
            kernel.apply(children, np.full(some, action), draws=script[part])
            found += chances[part] @ self.values(children, np.full(some, asking[row]))
        return found
