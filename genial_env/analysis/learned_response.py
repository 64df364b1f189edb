"""Learn a response to a fixed strategy of a small game, from sampled games, as one would in a game without a solver.

    from genial_env.analysis.learned_response import learn_response

    learned = learn_response(tree, strategy, seat=0, games=100_000, seed=1)
    print(game_value(tree, learned), best_response(tree, strategy, 0)[0])

It is tabular Q-learning (C. Watkins, 1989): the table has a value for each decision of the seat at each of its
information sets. The learner sees what it plays and how the games end, not the tree, and not the strategy. The tree
only plays the games, thousands at a time, and tells afterwards how good the result is, exactly.

Axis letters as in :mod:`genial_env.analysis.game_tree`; also B games that are played at once.
"""

from dataclasses import dataclass

import numpy as np

from genial_env._util.checks import as_integer
from genial_env.analysis.game_tree import GameTree
from genial_env.core.arrays import Bools, Floats, Ints

__all__ = ["learn_response"]

AT_ONCE = 2_000
"""Games that are played between two updates of the table."""

EXPLORATION = 0.2
"""The share of the learner's decisions that are random."""

STEP_POWER = 0.8
"""The step of a decision's n-th update is ``1 / n ** STEP_POWER``."""


def learn_response(tree: GameTree, strategy: Floats, seat: int, *, games: int = 100_000, seed: int = 0) -> Floats:
    """Learn what a seat plays against the other's strategy.

    Args:
        tree: the game.
        strategy: [D] of which only the other seat's part is played.
        seat: the seat that learns, 0 or 1.
        games: the number of games, from 1 on.
        seed: of the draws, the other seat's decisions and the exploration.

    Returns:
        The strategy [D] in which the seat plays the decision of the greatest value in its table, the first of equals.

    Raises:
        ValueError: if the seat is not 0 or 1, or there are no games.
    """
    seat, games = as_integer(seat, "seat", 0, 1), as_integer(games, "games", 1)
    rng, sampler = np.random.default_rng(seed), _Sampler.of(tree, strategy)
    own_decision = tree.seat[tree.infoset_of_decision] == seat
    table, visits = np.zeros(tree.n_decisions), np.zeros(tree.n_decisions)
    for start in range(0, games, AT_ONCE):
        played = sampler.play(tree, seat, _first_best(tree, table), rng, min(AT_ONCE, games - start))
        for decisions, targets in _targets(tree, table, *played):
            times = np.bincount(decisions, minlength=tree.n_decisions)
            seen = np.flatnonzero(times)
            means = np.bincount(decisions, targets, tree.n_decisions)[seen] / times[seen]
            visits[seen] += times[seen]
            table[seen] += np.minimum(1.0, times[seen] / visits[seen] ** STEP_POWER) * (means - table[seen])
    learned = np.zeros(tree.n_decisions)
    learned[_first_best(tree, table)] = 1.0
    return np.where(own_decision, learned, strategy)


def _first_best(tree: GameTree, table: Floats) -> Ints:
    """Return the first decision of the greatest value at each information set: [I]."""
    greatest = np.maximum.reduceat(table, tree.first[:-1])
    best = np.flatnonzero(table == greatest[tree.infoset_of_decision])
    found: Ints = best[np.unique(tree.infoset_of_decision[best], return_index=True)[1]]
    return found


def _targets(tree: GameTree, table: Floats, decisions: Ints, utility: Floats) -> list[tuple[Ints, Floats]]:
    """Return the learner's decisions and what they led to: the result, or the value of its next information set.

    Args:
        tree: the game.
        table: [D].
        decisions: [K, B] the learner's decisions in each game, in order, -1 after the last.
        utility: [B] the results for the learner.
    """
    greatest = np.maximum.reduceat(table, tree.first[:-1])
    found = []
    for place in reversed(range(len(decisions))):
        made = decisions[place] >= 0
        target = utility.copy()
        if place + 1 < len(decisions):
            later = decisions[place + 1]
            goes_on = later >= 0
            target[goes_on] = greatest[tree.infoset_of_decision[later[goes_on]]]
        found.append((decisions[place][made], target[made]))
    return found


@dataclass(frozen=True, eq=False)
class _Sampler:
    """Plays games of a tree at random."""

    child: Ints  # [edges] sorted by parent, then decision
    key: Ints  # [groups] the parent and the decision of the edges that belong together
    begin: Ints  # [groups + 1] the first edge of each
    upto: Floats  # [edges + 1] running totals of the edges' probabilities
    roots: Floats  # running totals of the first nodes' probabilities
    played_upto: Floats  # [D + 1] running totals of the strategy

    @classmethod
    def of(cls, tree: GameTree, strategy: Floats) -> "_Sampler":
        edges = [each for level in tree.edges for each in level]
        parent = np.concatenate([each.parent for each in edges])
        decision = np.concatenate([each.decision for each in edges])
        child = np.concatenate([np.arange(each.children.start, each.children.stop) for each in edges])
        chance = np.concatenate([each.chance for each in edges])
        keys = parent * tree.n_decisions + decision
        order = np.argsort(keys, kind="stable")
        key, begin = np.unique(keys[order], return_index=True)
        return cls(
            child=child[order],
            key=key,
            begin=np.append(begin, len(order)),
            upto=np.concatenate([[0.0], np.cumsum(chance[order])]),
            roots=np.cumsum(tree.chance[tree.levels[0]]),
            played_upto=np.concatenate([[0.0], np.cumsum(strategy)]),
        )

    def play(self, tree: GameTree, seat: int, best: Ints, rng: np.random.Generator, games: int) -> tuple[Ints, Floats]:
        """Play games; the learner plays its best decisions, and explores.

        Returns:
            The learner's decisions [K, B] in order, -1 after the last, and its results [B].
        """
        node = np.minimum(np.searchsorted(self.roots, rng.random(games) * self.roots[-1]), len(self.roots) - 1)
        made: list[Ints] = [np.full(games, -1)]
        number = np.zeros(games, dtype=np.int64)
        live = np.arange(games)
        while live.size:
            sets = tree.infoset[node[live]]
            own = tree.seat[sets] == seat
            decision = np.where(own, self._explore(tree, sets, best, rng), self._draw(tree, sets, rng))
            mine = live[own]
            while mine.size and number[mine].max() >= len(made):
                made.append(np.full(games, -1))
            for place in range(len(made)):
                here = number[mine] == place
                made[place][mine[here]] = decision[own][here]
            number[mine] += 1
            node[live] = self._follow(node[live] * tree.n_decisions + decision, rng)
            live = live[tree.infoset[node[live]] >= 0]
        result: Floats = tree.utility[node] * (1 if seat == 0 else -1)
        return np.array(made), result

    def _explore(self, tree: GameTree, sets: Ints, best: Ints, rng: np.random.Generator) -> Ints:
        """Return the best decisions of information sets [B], some of them random ones."""
        width = tree.first[sets + 1] - tree.first[sets]
        at_random = tree.first[sets] + (rng.random(len(sets)) * width).astype(np.int64)
        explores: Bools = rng.random(len(sets)) < EXPLORATION
        return np.where(explores, at_random, best[sets])

    def _draw(self, tree: GameTree, sets: Ints, rng: np.random.Generator) -> Ints:
        """Return decisions of information sets [B] with the probabilities of the strategy."""
        low, high = tree.first[sets], tree.first[sets + 1] - 1
        begin, total = self.played_upto[low], self.played_upto[high + 1] - self.played_upto[low]
        found = np.searchsorted(self.played_upto, begin + rng.random(len(sets)) * total, side="right") - 1
        return np.clip(found, low, high)

    def _follow(self, keys: Ints, rng: np.random.Generator) -> Ints:
        """Return the nodes [B] to which parents and decisions lead."""
        group = np.searchsorted(self.key, keys)
        low, high = self.begin[group], self.begin[group + 1] - 1
        total = self.upto[high + 1] - self.upto[low]
        found = np.searchsorted(self.upto, self.upto[low] + rng.random(len(keys)) * total, side="right") - 1
        return self.child[np.clip(found, low, high)]
