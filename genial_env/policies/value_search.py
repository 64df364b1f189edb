"""Search with a value network: deals of the hidden tiles are played on for a few turns, then evaluated.

    from genial_env.policies.value_search import ValueSearch
    from genial_env import play

    play([ValueSearch(budget_s=0.2), "value"], games=2, backend="numba")

It is the search of :mod:`genial_env.policies.search` with four differences. The candidates are the actions that the
network values highest. All seats play on as the network tells. At a later own turn the network evaluates the position,
instead of a playout to the end. The network's own value of an action may count as that of some deals. Solo the next
tiles of the deals are in proportion to the tiles in the bag.

Measured results: docs/policies.md.
"""

import numpy as np

from genial_env._util.checks import as_integer
from genial_env._util.stopping import checkpoint
from genial_env.backends import accelerated
from genial_env.core import kernel
from genial_env.core.arrays import Floats, Floats32, Ints
from genial_env.core.rules import Rules
from genial_env.core.state import Phase, State
from genial_env.core.views import View
from genial_env.core.views import view as view_of
from genial_env.policies import weight_files
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.prior import check_prior
from genial_env.policies.search import Deals, Halving
from genial_env.policies.seat_counts import SearchSettings, search_settings
from genial_env.policies.settings import check_count
from genial_env.policies.value import Nets, judge, judge_actions
from genial_env.policies.value_net import ValueNet

__all__ = ["ValueSearch", "predict_later"]

MOST_TRUST = 10_000


class ValueSearch(Halving):
    """Plays the action with the best mean value a few turns later.

    Args:
        playouts: continuations for each decision; 1,000 if no budget is given.
        budget_s: seconds for each decision, instead of playouts.
        candidates: the number of actions compared, those that the network values highest.
        width: the number of placements that the network evaluates to find them.
        replies: the number of placements among which each later decision is made; None, as for `turns` and `trust`: the
            number for the game's seats and mode (:func:`~genial_env.policies.seat_counts.search_settings`).
        turns: the own turn at which the network evaluates, 1: the next. A game that ends before counts by its result.
        trust: the number of deals for which the network's value of an action counts in its mean, from 0 on.
        prior: sorts the placements, a heuristic policy or its name; None:
            :class:`~genial_env.policies.prior.PlacementPrior`.
        weights: a file of weights, or the arrays; None: the shipped file for the game's seats and mode.
        name: the name in tables and records.

    Raises:
        FileNotFoundError, TypeError, ValueError: if the file does not hold weights, both playouts and budget_s are
            given, or a setting has another type or is out of range.
    """

    def __init__(
        self,
        playouts: int | None = None,
        budget_s: float | None = None,
        *,
        candidates: int = 12,
        width: int = 256,
        replies: int | None = None,
        turns: int | None = None,
        trust: int | None = None,
        prior: str | HeuristicPolicy | None = None,
        weights: weight_files.Source = None,
        name: str = "value_search",
    ) -> None:
        super().__init__(playouts, budget_s, candidates=candidates, name=name)
        self._width = check_count("width", width)
        given = {"replies": replies, "turns": turns}
        self._given = {name: check_count(name, number) for name, number in given.items() if number is not None}
        if trust is not None:
            self._given["trust"] = as_integer(trust, "trust", 0, MOST_TRUST)
        self._prior = check_prior(prior)
        self._nets = Nets(weights)

    def prepare(self, rules: Rules) -> None:
        """Read the weights for a game.

        Raises:
            ValueError, OSError: if there are none, or they cannot be used.
        """
        self._nets.of(rules)

    def moves(self, view: View) -> Ints:
        """Return the actions of one game that the network values highest, the best first: [n]."""
        judged = judge(view, self._nets.of(view.rules), self._width, self._prior)
        best_first = np.argsort(-judged.utility, kind="stable")[: self.candidates]
        return judged.after.actions[best_first]

    def first_totals(self, view: View, actions: Ints) -> Floats:
        """Return the network's value of each action times the number of deals for which it counts: [moves]."""
        trust = self._settings(view.rules).trust
        if trust == 0:
            return super().first_totals(view, actions)
        return trust * judge_actions(view, self._nets.of(view.rules), actions[None]).utility.astype(np.float64)

    def outcomes(self, view: View, actions: Ints, deals: Deals) -> Floats:
        """Return the value a few turns after each action, in some deals of one game: [deals, moves]."""
        utility = self._nets.of(view.rules).outcomes.utility(self.predict(view, actions, deals))
        return utility.astype(np.float64).reshape(len(deals), len(actions))

    def predict(self, view: View, actions: Ints, deals: Deals) -> Floats32:
        """Predict the outcomes a few turns after each action, in some deals of the hidden tiles of one game.

        Args:
            view: one game, seen by the seat to play.
            actions: [n] legal actions, which are played in each deal.
            deals: D deals (:func:`~genial_env.policies.search.deal`).

        Returns:
            [D * n, H, K] the probabilities of the outcomes: those of the actions in the first deal, then in the next
            deal, ...
        """
        draws = _spread_draws(deals)
        state = deals.play(actions, None if draws is None else np.repeat(draws, len(actions))[:, None])
        seats = np.broadcast_to(view.seat, len(state))
        settings, net = self._settings(view.rules), self._nets.of(view.rules)
        return predict_later(state, seats, net, settings.replies, settings.turns, self._prior)

    def _settings(self, rules: Rules) -> SearchSettings:
        """Return the settings for a game, those that were given among them."""
        return search_settings(rules)._replace(**self._given)


def _spread_draws(deals: Deals) -> Ints | None:
    """Return the tile kinds to draw solo: [D], in proportion to the tiles in the bag.

    So few deals are enough for the expectation over the next tile. With several seats they are drawn at random: None.
    """
    state = deals.states
    if state.rules.players > 1 or not state.bag[0].any():
        return None
    upto = state.bag[0].cumsum(dtype=np.int64)
    place = (np.arange(len(deals)) + float(deals.random[0]) / 2.0**64) / len(deals) * upto[-1]
    kinds: Ints = np.searchsorted(upto, place, side="right").clip(max=len(upto) - 1)
    return kinds


@accelerated
def predict_later(
    state: State, seats: Ints, net: ValueNet, replies: int, turns: int, prior: HeuristicPolicy | None = None
) -> Floats32:
    """Play games on as "value" does, in place, and predict the outcomes of each at a later turn of a seat.

    Args:
        state: B games.
        seats: [B] the seats.
        net: the network that all seats play with.
        replies: the number of placements among which they choose.
        turns: the turn of the seat at which a game is evaluated, 1: the next. A game that is over before counts by its
            result.
        prior: selects the placements; None: the default one.

    Returns:
        [B, H, K] the probabilities of the outcomes for the seat, after its best action at that turn.
    """
    outcomes = net.outcomes
    chances = np.empty((len(state), outcomes.heads, outcomes.classes), dtype=np.float32)
    reached = np.zeros(len(state), dtype=np.int64)
    live = np.flatnonzero(~state.over)
    while live.size:
        checkpoint()
        judged = judge(view_of(state, rows=live), net, replies, prior)
        best = judged.best(judged.utility, len(live))
        reached[live] += (state.to_play[live] == seats[live]) & (state.phase[live] == Phase.PLACE)
        arrived = reached[live] == turns
        chances[live[arrived]] = judged.chances[best[arrived]]
        live, best = live[~arrived], best[~arrived]
        kernel.apply(state, judged.after.actions[best], live)
        live = live[~state.over[live]]
    done = np.flatnonzero(state.over)
    own_first = state.scores[done[:, None], state.tables.tracks_from[seats[done]]]
    chances[done] = outcomes.of_scores(own_first)
    return chances
