"""Determinized Monte-Carlo search: play the best candidates out many times, and choose the best mean payoff.

    from genial_env.policies.search import Search
    from genial_env import play

    play([Search(playouts=300), "denial"], games=10, backend="numba")

The hidden tiles are dealt anew for each playout; all deals that the view allows are equally likely. All candidates are
compared on the same deals, with the same draws and the same random bits of the policies, which reduces the variance of
their differences. Sequential halving distributes the budget (Z. Karnin, T. Koren, O. Somekh, "Almost optimal
exploration in multi-armed bandits", ICML 2013): each round drops the worse half of the candidates. All playouts of a
round are one batch.

Measured results: docs/policies.md.
"""

import math
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from genial_env._util.checks import as_number
from genial_env._util.stopping import checkpoint
from genial_env.backends import for_one_game, using
from genial_env.core import chance, kernel, ranking
from genial_env.core.arrays import Bits, Floats, Ints
from genial_env.core.determinization import determinize
from genial_env.core.ranking import rank_utility
from genial_env.core.state import State
from genial_env.core.views import View
from genial_env.policies.afterstates import candidates
from genial_env.policies.base import NONE, Policy
from genial_env.policies.decisions import choice_keys
from genial_env.policies.endgame import exact_action
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.playout import play_out
from genial_env.policies.prior import check_prior
from genial_env.policies.registry import make_policy
from genial_env.policies.settings import check_budget, check_count, check_name

__all__ = ["Deals", "Halving", "Search", "deal"]

AT_ONCE = 128
"""Playouts in a batch, if the number of playouts depends on time."""


class Halving:
    """Searches by sequential halving. A subclass defines :meth:`moves` and :meth:`outcomes`.

    A choice is a function of the view and the random bits. The games of a batch are searched one after the other. The
    last two placements are solved exactly instead (:mod:`genial_env.policies.endgame`).

    Args:
        playouts: playouts for each decision; 1,000 if no budget is given.
        budget_s: seconds for each decision, instead of playouts.
        candidates: the number of actions compared.
        name: the name in tables and records.

    Raises:
        TypeError, ValueError: if both playouts and budget_s are given, or a setting is invalid.
    """

    def __init__(self, playouts: int | None, budget_s: float | None, *, candidates: int, name: str) -> None:
        self.name = check_name(name)
        self.candidates = check_count("candidates", candidates)
        self._playouts, self._budget_s = check_budget(playouts, budget_s), budget_s

    def moves(self, view: View) -> Ints:
        """Return the actions of one game to compare, the best by the prior first: [n]."""
        raise NotImplementedError

    def outcomes(self, view: View, actions: Ints, deals: "Deals") -> Floats:
        """Return the payoff of each action in some deals of the hidden tiles of one game: [deals, moves]."""
        raise NotImplementedError

    def first_totals(self, view: View, actions: Ints) -> Floats:
        """Return what is added to the sum of each action's payoffs before any deal of one game is played: [moves]."""
        return np.zeros(len(actions))

    def solve(self, view: View) -> int | None:
        """Return the best action of one game if it is solved exactly, else None."""
        return exact_action(view)

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        with using(for_one_game()):
            chosen = [self._choose(view.select(np.array([game])), random[game : game + 1]) for game in range(len(view))]
        return np.array(chosen, dtype=np.int64)

    def _choose(self, view: View, random: Bits) -> int:
        """Choose the action in one game."""
        exact = self.solve(view)
        if exact is not None:
            return exact
        moves = self.moves(view)
        totals, left = self.first_totals(view, moves), np.arange(len(moves))
        total, used = self._count_deals(len(moves)), 0
        known = deal(view, random, 0, total) if total else None
        for batches in self._rounds(len(moves)):
            for size in batches:
                checkpoint()
                deals = deal(view, random, used, size) if known is None else known.select(used, size)
                totals[left] += self.outcomes(view, moves[left], deals).sum(axis=0)
                used += size
            best_first = left[np.argsort(-totals[left], kind="stable")]
            left = best_first[: (len(left) + 1) // 2]
        return int(moves[left[0]])

    def _count_deals(self, moves: int) -> int:
        """Return the number of deals of all rounds; 0 if it depends on time."""
        return sum(size for sizes in self._rounds(moves) for size in sizes) if self._budget_s is None else 0

    def _rounds(self, moves: int) -> Iterator[Iterator[int]]:
        """Yield for each round of sequential halving the sizes of its batches, in deals."""
        rounds, start = math.ceil(math.log2(moves)), time.perf_counter()
        for number in range(rounds):
            if self._budget_s is None:
                assert self._playouts is not None
                yield iter([max(1, self._playouts // (rounds * moves))])
            else:
                yield _until(start + self._budget_s * (number + 1) / rounds, max(1, AT_ONCE // moves))
            moves = (moves + 1) // 2


class Deals(NamedTuple):
    """Deals of the hidden tiles of one game."""

    states: State
    """D games"""
    random: Bits
    """[D] random bits for what is drawn and chosen in each"""

    def __len__(self) -> int:
        """Return D."""
        return len(self.random)

    def select(self, first: int, size: int) -> "Deals":
        """Return some deals in a row."""
        return Deals(self.states.select(np.arange(first, first + size)), self.random[first : first + size])

    def play(self, actions: Ints, draws: Ints | None = None) -> State:
        """Return games in which each action [n] was played in each deal: those of the first deal, then the next, ...

        Args:
            actions: [n] legal actions.
            draws: [D * n, 1] the tiles that are drawn then; None: at random.
        """
        state = self.states.select(np.repeat(np.arange(len(self)), len(actions)))
        kernel.apply(state, np.tile(actions, len(self)), draws=draws)
        return state


def deal(view: View, random: Bits, first: int, size: int) -> Deals:
    """Deal the hidden tiles of one game anew.

    Args:
        view: one game.
        random: [1] random bits.
        first: the number of deals before these ones.
        size: the number of deals.
    """
    random_of_deal = chance.bits(np.repeat(random, size), np.arange(first, first + size))
    return Deals(determinize(view.select(np.zeros(size, dtype=np.int64)), random_of_deal), random_of_deal)


class Search(Halving):
    """Plays the candidate with the best mean payoff in playouts to the end.

    Args:
        playouts: playouts for each decision; 1,000 if no budget is given.
        budget_s: seconds for each decision, instead of playouts.
        candidates: the number of placements compared, those with the highest prior values.
        margin: the weight of a point of the lowest marker beside the rank utility, which runs from -1 to 1. Each higher
            marker has half the weight of the one below. Solo only markers count.
        prior: sorts the placements, a heuristic policy or its name.
        playout: plays all seats to the end. The backend numba compiles whole playouts of the built-in policies.
        name: the name in tables and records.

    Raises:
        ValueError: if both playouts and budget_s are given, or a number is out of range.
        TypeError: for a prior that is no HeuristicPolicy and no name of one, or a setting of another type.
    """

    def __init__(
        self,
        playouts: int | None = None,
        budget_s: float | None = None,
        *,
        candidates: int = 12,
        margin: float = 0.03,
        prior: str | HeuristicPolicy = "denial",
        playout: str | Policy = "denial",
        name: str = "search",
    ) -> None:
        super().__init__(playouts, budget_s, candidates=candidates, name=name)
        self._margin = as_number(margin, "margin", 0, 0.5)
        self._playout = make_policy(playout)
        self._prior = check_prior(prior)

    def moves(self, view: View) -> Ints:
        """Return the actions of one game with the highest prior values: [n]."""
        actions = candidates(view, self.candidates, self._prior)[0]
        result: Ints = actions[actions != NONE]
        return result

    def outcomes(self, view: View, actions: Ints, deals: Deals) -> Floats:
        """Return the payoff of each action in some deals of the hidden tiles of one game: [deals, moves]."""
        state = deals.play(actions)
        keys = np.repeat(choice_keys(deals.random, view.rules.players), len(actions), axis=0)
        play_out(state, [self._playout] * view.rules.players, keys)
        return self._payoffs(state, view.rules.track_of(int(view.seat[0]))).reshape(len(deals), len(actions))

    def _payoffs(self, state: State, track: int) -> Floats:
        """Return the payoff of finished games for a track: [B]."""
        markers = np.sort(state.scores[:, track], axis=1)
        points: Floats = markers @ (0.5 ** np.arange(markers.shape[1]))
        if state.rules.tracks == 1:
            return points
        return rank_utility(ranking.ranks(state.scores))[:, track] + self._margin * points


def _until(end: float, size: int) -> Iterator[int]:
    """Yield batches of one size, at least one, until the time `end`."""
    while True:
        started = time.perf_counter()
        yield size
        now = time.perf_counter()
        if now + (now - started) / 2 > end:
            return
