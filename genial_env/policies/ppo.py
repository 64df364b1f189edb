"""The agent "ppo": a policy network trained by PPO, evaluated without torch.

A file of weights (:mod:`genial_env.policies.weight_files`) holds one of two networks, told apart by their arrays:

- of afterstates, that of the shipped files: a value network (:class:`~genial_env.policies.value_net.ValueNet`) scores
  the afterstates of the candidate actions. A logit is the rank utility that it predicts, divided by
  :data:`TEMPERATURE`. Other actions are never played;
- of halves (:mod:`genial_env.policies.halves_net`): it scores the halves of tiles, and so all actions.

`experiments/train_ppo.py` trains both, `experiments/train_rllib.py` the second.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_number
from genial_env.core.arrays import Bits, Bools, Floats, Floats32, Ints
from genial_env.core.rules import Rules
from genial_env.core.views import View
from genial_env.policies import halves_net, weight_files
from genial_env.policies.endgame import exact_solutions
from genial_env.policies.halves import Halves, choose_likeliest, draw_by_weights
from genial_env.policies.seat_counts import value_candidates
from genial_env.policies.settings import check_count, check_name
from genial_env.policies.value import judge
from genial_env.policies.value_net import ValueNet

__all__ = ["KIND", "PPO", "TEMPERATURE", "afterstate_logits", "layout"]

KIND = "ppo"
"""The kind of network in files of weights."""

TEMPERATURE = 0.015
"""The rank utility by which a logit rises by 1, with the network of afterstates. With several tracks only."""


class PPO:
    """Plays the action with the greatest logit, or samples by the logits.

    With the network of afterstates it plays the last two placements exactly, as the agent "value" does.

    Args:
        weights: a file of weights, or the arrays; None: the shipped file for the game's seats and mode.
        temperature: with 0, the best action is played. Else the probability of an action is in proportion to
            ``exp(logit / temperature)``; 1 is the policy as it was trained.
        candidates: for the network of afterstates: the number of placements that it evaluates, those with the highest
            prior values; None: as many as the agent "value"
            (:func:`~genial_env.policies.seat_counts.value_candidates`).
        solve: for the network of afterstates: whether the last two placements are solved.
        name: the name in tables and records.

    Raises:
        FileNotFoundError, TypeError, ValueError: if the file does not hold weights, the temperature is below 0, or
            there are no candidates; when it plays, if the weights are for another number of seats or mode.
    """

    def __init__(
        self,
        weights: weight_files.Source = None,
        temperature: float = 0.0,
        *,
        candidates: int | None = None,
        solve: bool = True,
        name: str = "ppo",
    ) -> None:
        self.name = check_name(name)
        self._weights = weight_files.Weights(KIND, layout, weights)
        self._temperature, self._solve = as_number(temperature, "temperature", 0), solve
        self._candidates = None if candidates is None else check_count("candidates", candidates)
        self._nets: dict[Rules, ValueNet] = {}

    def prepare(self, rules: Rules) -> None:
        """Read the weights for a game.

        Raises:
            ValueError, OSError: if there are none, or they cannot be used.
        """
        self._weights.of(rules)

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        solved, actions = self._solve_last(view)
        others = np.flatnonzero(~solved)
        logits = self._logits(view.select(others))
        if self._temperature == 0:
            actions[others] = choose_likeliest(logits, np.isfinite(logits))
        else:
            actions[others] = draw_by_weights(self._weigh(logits), random[others])
        return actions

    def probabilities(self, view: View) -> Floats:
        """Return the probability of each action: [G, A]."""
        solved, actions = self._solve_last(view)
        others = np.flatnonzero(~solved)
        logits = self._logits(view.select(others))
        found = np.zeros((len(view), view.tables.n_actions))
        if self._temperature == 0:
            actions[others] = choose_likeliest(logits, np.isfinite(logits))
            found[np.arange(len(view)), actions] = 1.0
            return found
        found[solved, actions[solved]] = 1.0
        weights = self._weigh(logits)
        found[others] = weights / weights.sum(axis=1, keepdims=True)
        return found

    def _solve_last(self, view: View) -> tuple[Bools, Ints]:
        """Return which of G games the endgame solver plays, and its actions there: [G] each."""
        solves = self._solve and not _scores_halves(self._weights.of(view.rules))
        solutions = exact_solutions(view) if solves else {}
        solved, actions = np.zeros(len(view), dtype=np.bool_), np.zeros(len(view), dtype=np.int64)
        for game, solution in solutions.items():
            solved[game], actions[game] = True, solution.first_best
        return solved, actions

    def _logits(self, view: View) -> NDArray[Any]:
        """Return the logits [G, A], -inf for actions that must not be played."""
        arrays = self._weights.of(view.rules)
        if _scores_halves(arrays):
            found = halves_net.logits(arrays, view.tables, Halves().encode(view))
            return np.where(view.mask(), found, -np.inf)
        return afterstate_logits(view, self._net(view.rules, arrays), self._most(view.rules))

    def _weigh(self, logits: NDArray[Any]) -> Floats:
        """Return relative probabilities [G, A] of actions by their logits; the temperature is above 0."""
        weights: Floats = np.exp((logits - logits.max(axis=1, keepdims=True)).astype(np.float64) / self._temperature)
        return weights

    def _net(self, rules: Rules, arrays: weight_files.Arrays) -> ValueNet:
        """Return the network of afterstates for a game."""
        if rules not in self._nets:
            self._nets[rules] = ValueNet(rules, arrays)
        return self._nets[rules]

    def _most(self, rules: Rules) -> int:
        """Return the number of placements that the network evaluates."""
        return value_candidates(rules) if self._candidates is None else self._candidates


def afterstate_logits(view: View, net: ValueNet, most: int) -> Floats32:
    """Compute the logits of all actions by a network of afterstates: [G, A], -inf for actions that are no candidates.

    Args:
        view: G games in which it is the seat's turn.
        net: the network.
        most: the most placements (:func:`~genial_env.policies.afterstates.candidates`).
    """
    judged = judge(view, net, most)
    found = np.full((len(view), view.tables.n_actions), -np.inf, dtype=np.float32)
    found[judged.after.game, judged.after.actions] = judged.utility / np.float32(TEMPERATURE)
    return found


def layout(rules: Rules, arrays: weight_files.Arrays) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the parameters of the network that the arrays are of.

    Raises:
        ValueError: if the rules are solo, which no network of this agent can play.
    """
    if rules.tracks < 2:
        raise ValueError(f"the policy needs opponents, and mode {rules.mode!r} has none")
    return halves_net.layout(rules, arrays) if _scores_halves(arrays) else ValueNet.layout_of(rules, arrays)


def _scores_halves(arrays: weight_files.Arrays) -> bool:
    """Return whether the arrays are of the network of halves."""
    return any("_net." in name for name in arrays)
