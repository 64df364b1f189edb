"""The agent "value": it plays the action whose afterstate a learned value network values highest.

    from genial_env.policies.value import Value
    from genial_env import play

    play([Value(), "denial"], games=10)

The network (:class:`~genial_env.policies.value_net.ValueNet`) predicts the probabilities of the final ranks from the
features of afterstates (:mod:`genial_env.policies.afterstates`). The utility of the ranks is applied afterwards.
`experiments/train_value.py` trains it by self-play. Playing needs only numpy and the file of weights.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Bits, Bools, Floats32, Ints
from genial_env.core.rules import Rules
from genial_env.core.views import View
from genial_env.policies import weight_files
from genial_env.policies.afterstates import Afterstates, afterstates, candidates
from genial_env.policies.base import NONE
from genial_env.policies.endgame import Solution, exact_solutions
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.prior import check_prior
from genial_env.policies.seat_counts import value_candidates
from genial_env.policies.settings import check_count, check_name
from genial_env.policies.value_net import ValueNet

__all__ = [
    "KIND",
    "Judged",
    "Nets",
    "Value",
    "judge",
    "judge_actions",
]


@dataclass(eq=False)
class Judged:
    """The candidates of G games and the network's predictions."""

    after: Afterstates
    chances: Floats32  # [n, H, K]
    utility: Floats32  # [n]

    def best(self, values: NDArray[Any], games: int) -> Ints:
        """Return the index of the greatest of the values [n] of each game, the first of equal ones: [games]."""
        start = np.searchsorted(self.after.game, np.arange(games))
        order = np.lexsort((np.arange(len(values)), -values, self.after.game))
        best: Ints = order[start]
        return best


def judge(view: View, net: ValueNet, most: int, prior: HeuristicPolicy | None = None) -> Judged:
    """Evaluate the candidate actions.

    Args:
        view: G games in which it is the seat's turn.
        net: the network.
        most: the most placements (:func:`~genial_env.policies.afterstates.candidates`).
        prior: selects the placements.
    """
    return judge_actions(view, net, candidates(view, most, prior))


def judge_actions(view: View, net: ValueNet, actions: Ints) -> Judged:
    """Evaluate some actions.

    Args:
        view: G games in which it is the seat's turn.
        net: the network.
        actions: [G, K] legal actions, NONE after the last.
    """
    game, place = np.nonzero(actions != NONE)
    after = afterstates(view, game, actions[game, place])
    chances = net(after.features)
    over: Bools = after.over
    if over.any():
        chances[over] = net.outcomes.of_scores(after.scores[over])
    return Judged(after, chances, net.outcomes.utility(chances))


class Value:
    """Plays the action whose afterstate the network values highest, and the last two placements exactly.

    Args:
        weights: a file of weights, or the arrays; None: the shipped file for the game's seats and mode.
        candidates: the number of placements that the network evaluates, those with the highest prior values; None: the
            number for the game's seats and mode (:func:`~genial_env.policies.seat_counts.value_candidates`).
        prior: sorts the placements, a heuristic policy or its name; None:
            :class:`~genial_env.policies.prior.PlacementPrior`.
        name: the name in tables and records.

    Raises:
        FileNotFoundError, TypeError, ValueError: if the file does not hold weights, or a setting has another type or
            is out of range.
    """

    def __init__(
        self,
        weights: weight_files.Source = None,
        *,
        candidates: int | None = None,
        prior: str | HeuristicPolicy | None = None,
        name: str = "value",
    ) -> None:
        self.name = check_name(name)
        self._candidates = None if candidates is None else check_count("candidates", candidates)
        self._prior = check_prior(prior)
        self._nets = Nets(weights)

    def prepare(self, rules: Rules) -> None:
        """Read the weights for a game.

        Raises:
            ValueError, OSError: if there are none, or they cannot be used.
        """
        self._nets.of(rules)

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        actions = _best_actions(exact_solutions(view), len(view))
        others = np.flatnonzero(actions == NONE)
        judged = judge(view.select(others), self._nets.of(view.rules), self._most(view.rules), self._prior)
        actions[others] = judged.after.actions[judged.best(judged.utility, len(others))]
        return actions

    def _most(self, rules: Rules) -> int:
        """Return the number of placements that the network evaluates."""
        return value_candidates(rules) if self._candidates is None else self._candidates


def _best_actions(solutions: dict[int, Solution], games: int) -> Ints:
    """Return the best actions of the games that have a solution, NONE for the others: [games]."""
    actions = np.full(games, NONE, dtype=np.int64)
    for game, solution in solutions.items():
        actions[game] = solution.first_best
    return actions


class Nets:
    """The value networks of one source of weights, made once for each game.

    Args:
        source: a file of weights, or the arrays; None: the shipped files.

    Raises:
        FileNotFoundError, ValueError: if the file does not hold weights.
    """

    def __init__(self, source: weight_files.Source = None) -> None:
        self._weights = weight_files.Weights(KIND, ValueNet.layout_of, source)
        self._by_rules: dict[Rules, ValueNet] = {}

    def of(self, rules: Rules) -> ValueNet:
        """Return the network for a game.

        Raises:
            ValueError: if there is none.
        """
        if rules not in self._by_rules:
            self._by_rules[rules] = ValueNet(rules, self._weights.of(rules))
        return self._by_rules[rules]


KIND = "value"
"""The kind of network in files of weights."""
