"""Information-set Monte-Carlo tree search (ISMCTS).

    from genial_env.policies.ismcts import ISMCTS
    from genial_env import play

    play([ISMCTS(playouts=1000), "denial"], games=10, backend="numba")

Each iteration deals the hidden tiles anew, descends a tree that all deals share, plays the game out from the leaf, and
backs up the payoff (single-observer ISMCTS: Cowling, Powley and Whitehouse, "Information set Monte Carlo tree search",
2012). At a node the seat to play takes the move with the greatest sum of the seat's mean payoff and a bonus for moves
with few visits::

    mean payoff + exploration * spread * prior * sqrt(times available) / (1 + times taken)

A move is available if the deal allows it and it is considered. By progressive widening only the first
``widening * visits ** exponent`` moves are considered, in the order of the prior, which by default is the value of
"denial". The prior of the i-th move is in proportion to ``i ** -prior_weight``. The spread is twice the standard
deviation of all payoffs so far, so that exploration has the scale of the payoffs. A move without visits has the mean of
its node. In the end the move with the most visits is played.

Iterations run in batches. The descents of a batch go level by level. Each adds a virtual visit to its edges (virtual
loss), so that the batch spreads over the tree.

Measured results: docs/policies.md.
"""

from time import perf_counter

import numpy as np

from genial_env._util.stopping import checkpoint
from genial_env.backends import for_one_game, using
from genial_env.core import ranking
from genial_env.core.arrays import Bits, Floats, Ints
from genial_env.core.chance import bits
from genial_env.core.determinization import determinize
from genial_env.core.ranking import rank_utility
from genial_env.core.state import State
from genial_env.core.views import View
from genial_env.policies.base import Policy
from genial_env.policies.decisions import choice_keys
from genial_env.policies.endgame import exact_action
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.ismcts_tree import Tree, TreeSettings, to_actions
from genial_env.policies.playout import play_out
from genial_env.policies.prior import check_prior
from genial_env.policies.registry import make_policy
from genial_env.policies.settings import check_budget, check_name

__all__ = ["ISMCTS", "compute_payoffs"]


class ISMCTS:
    """Searches a tree for each decision.

    A choice is a function of the view and the random bits. The games of a batch are searched one after the other. The
    last two placements are solved exactly instead (:mod:`genial_env.policies.endgame`).

    Args:
        playouts: iterations for each decision; 1,000 if no budget is given.
        budget_s: seconds for each decision, instead of playouts. A batch that has begun is finished, and the first
            decision of a process also loads compiled code. Without any time, the prior's first move is played.
        exploration: the weight of the bonus for moves with few visits.
        widening: the number of moves considered at a node's first visit.
        exponent: how that number grows with the visits: 0 not at all, 1 in proportion.
        prior_weight: how much the prior's order counts in the bonus; with 0 it does not count.
        prior_visits: the node's mean payoff counts as so many playouts of each of its moves; with 0 a move's mean is
            that of its own playouts.
        depth: the most decisions of a descent in the tree. 1 is flat Monte-Carlo search.
        batch_size: the number of descents at a time.
        margin: the share of the payoff that is not the rank but the lead of the own markers.
        prior: sorts the moves, a heuristic policy or its name.
        playout: plays all seats from the leaf on. The backend numba compiles whole playouts of the built-in policies.
        name: the name in tables and records.

    Raises:
        ValueError: if both playouts and budget_s are given, or a setting is out of range.
        TypeError: for a prior that is no HeuristicPolicy, or a setting of another type.
    """

    def __init__(
        self,
        playouts: int | None = None,
        budget_s: float | None = None,
        *,
        exploration: float = TreeSettings.exploration,
        widening: float = TreeSettings.widening,
        exponent: float = TreeSettings.exponent,
        prior_weight: float = TreeSettings.prior_weight,
        prior_visits: float = TreeSettings.prior_visits,
        depth: int = TreeSettings.depth,
        batch_size: int = TreeSettings.batch_size,
        margin: float = TreeSettings.margin,
        prior: str | HeuristicPolicy = "denial",
        playout: str | Policy = "denial",
        name: str = "ismcts",
    ) -> None:
        self.name = check_name(name)
        self._playouts, self._budget_s = check_budget(playouts, budget_s), budget_s
        self._settings = TreeSettings(
            exploration, widening, exponent, prior_weight, prior_visits, depth, batch_size, margin
        )
        self._prior = check_prior(prior)
        self._playout = make_policy(playout)

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        actions = np.empty(len(view), dtype=np.int64)
        for game in range(len(view)):
            alone = view.select(np.array([game]))
            exact = exact_action(alone)
            if exact is not None:
                actions[game] = exact
                continue
            move = self.search(alone, random[game]).best_move()
            actions[game] = to_actions(view.tables, alone.rack, np.array([move]))[0]
        return actions

    def search(self, view: View, random: np.uint64) -> Tree:
        """Return the tree for the one game of a view, in which it is the seat's turn; empty if one move is legal."""
        started = perf_counter()
        with using(for_one_game()):
            tree = Tree(view, self._prior, self._settings)
            done, size = 0, self._next_batch(0, perf_counter() - started)
            while size > 0 and len(tree.root_moves) > 1:
                checkpoint()
                self._run_batch(tree, view, bits(random, np.arange(done, done + size)))
                done += size
                size = self._next_batch(done, perf_counter() - started)
        return tree

    def _next_batch(self, done: int, spent: float) -> int:
        """Return the size of the next batch. With a time budget it grows, within what the time seems to allow."""
        if self._playouts is not None:
            return min(self._settings.batch_size, self._playouts - done)
        assert self._budget_s is not None
        if done == 0:
            return min(self._settings.batch_size, 8) if spent < self._budget_s else 0
        return min(self._settings.batch_size, 2 * done, int((self._budget_s - spent) * done / spent))

    def _run_batch(self, tree: Tree, view: View, random: Bits) -> None:
        """In place: make one iteration for each of the random bits [W]."""
        states = determinize(view.select(np.zeros(len(random), dtype=np.int64)), random)
        path = tree.descend(states)
        keys = choice_keys(bits(random, 2), view.rules.players)
        play_out(states, [self._playout] * view.rules.players, keys)
        tree.back_up(path, compute_payoffs(states, self._settings.margin))


def compute_payoffs(states: State, margin: float = 0.0) -> Floats:
    """Return the payoff of finished games for each track, from 0 to 1: [B, T].

    It is the rank, scaled so that the first has 1 and the last 0. Solo it is the lowest marker, plus a small share of
    the mean of all markers.

    Args:
        states: games that are over.
        margin: the share that is replaced by the lead of the own sorted markers over the mean of the others'. Each
            marker counts half as much as the next lower one.
    """
    rules, scores = states.rules, states.scores.astype(np.float64)
    if rules.tracks == 1:
        lowest: Floats = scores.min(axis=2) + scores.mean(axis=2) / (rules.top + 1)
        return lowest / (rules.top + 1)
    rank_payoffs: Floats = (1 + rank_utility(ranking.ranks(states.scores))) / 2
    if margin == 0:
        return rank_payoffs
    standing = np.sort(scores, axis=2) @ 0.5 ** np.arange(1, rules.colors + 1)
    others = (standing.sum(axis=1, keepdims=True) - standing) / (rules.tracks - 1)
    lead: Floats = 1 / (1 + np.exp((others - standing) / 2))
    return (1 - margin) * rank_payoffs + margin * lead
