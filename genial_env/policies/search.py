"""Determinized Monte-Carlo search: the moves that look best are played out many times, the best on average is played.

    from genial_env.policies.search import Search
    from genial_env import play

    play([Search(playouts=300), "denial"], games=10, backend="numba")

The hidden tiles are dealt anew for every playout, any deal that the view allows being equally likely. All moves that
are compared meet the same deals, the same luck and the same choices, which takes noise out of their differences.
Sequential halving shares the budget out (Z. Karnin, T. Koren, O. Somekh, "Almost optimal exploration in multi-armed
bandits", ICML 2013): in every round the worse half of the moves drops out. All playouts of a round are one batch.

How it plays the standard game with 300 playouts, 120 games against each (`python -m experiments.leaderboard`): it wins
93% against "denial", 84% against "concave", 86% against "lexicographic", 94% against "greedy". It solves 103 of the 106
puzzles. With a second a decision it won all of 24 games against "denial" (`genial match "search(budget_s=1)" denial
--fixed --pairs 12 --seed 77`). Solo its lowest marker is 18.5 on the average of 500 deals with 300 playouts, and 19.4 ±
1.3 of 25 deals with 0.1 s.

Its settings come from 160 games each against an earlier "denial" and "concave": playouts by "concave" won 59% against
"denial" where playouts by "denial" won 86% with less than half as many; 6, 12, 20 candidates won 94, 98, 95% against
"denial" and 81, 83, 79% against "concave"; a margin of 0, 0.03, 0.1 won 96, 98, 96% and 84, 83, 74%.

On one core with numba it plays 5,600 ("concave": 15,800) playouts a second at the first decision of a game, 8,700
(24,400) at the tenth, 34,000 (68,000) at the thirtieth.
"""

import math
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_number
from genial_env.backends import for_one_game, using
from genial_env.core import chance, kernel, ranking
from genial_env.core.bitsets import Ints
from genial_env.core.chance import Bits
from genial_env.core.determinization import determinize
from genial_env.core.ranking import rank_utility
from genial_env.core.state import State
from genial_env.core.views import View
from genial_env.policies.afterstates import NONE, candidates
from genial_env.policies.base import Policy
from genial_env.policies.decisions import choice_keys
from genial_env.policies.endgame import exact_action
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.playout import play_out
from genial_env.policies.prior import check_prior
from genial_env.policies.registry import make_policy
from genial_env.policies.settings import check_budget, check_count, check_name

Floats = NDArray[np.float64]

AT_ONCE = 128
"""Playouts in a batch, where the clock decides how many there will be."""


class Halving:
    """Searches by sequential halving; what it compares, and how, say :meth:`moves` and :meth:`outcomes`.

    A game's choice follows from its view and its random bits; games of a batch are searched one after the other. The
    last two placements are solved instead (:mod:`genial_env.policies.endgame`).

    Args:
        playouts: for every decision; 1,000 where no budget is given.
        budget_s: or else seconds for every decision.
        candidates: how many actions are compared.
        name: how tables and records call it.

    Raises:
        TypeError, ValueError: for both playouts and budget_s, or a setting of another type or out of its range.
    """

    def __init__(self, playouts: int | None, budget_s: float | None, *, candidates: int, name: str) -> None:
        self.name = check_name(name)
        self.candidates = check_count("candidates", candidates)
        self._playouts, self._budget_s = check_budget(playouts, budget_s), budget_s

    def moves(self, view: View) -> Ints:
        """[n]: the actions of one game that are compared, the likeliest first."""
        raise NotImplementedError

    def outcomes(self, view: View, actions: Ints, deals: int, random: Bits) -> Floats:
        """[deals, moves]: what comes of each action in as many deals of the hidden tiles, for one game."""
        raise NotImplementedError

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        with using(for_one_game()):
            chosen = [self._choose(view.select(np.array([game])), random[game : game + 1]) for game in range(len(view))]
        return np.array(chosen, dtype=np.int64)

    def _choose(self, view: View, random: Bits) -> int:
        """The action in one game."""
        exact = exact_action(view)
        if exact is not None:
            return exact
        moves = self.moves(view)
        left, totals, deals = np.arange(len(moves)), np.zeros(len(moves)), 0
        for batches in self._rounds(len(moves)):
            for size in batches:
                totals[left] += self.outcomes(view, moves[left], size, chance.bits(random, deals)).sum(axis=0)
                deals += size
            best_first = left[np.argsort(-totals[left], kind="stable")]
            left = best_first[: (len(left) + 1) // 2]
        return int(moves[left[0]])

    def _rounds(self, moves: int) -> Iterator[Iterator[int]]:
        """For each round of sequential halving the sizes of its batches, in deals."""
        rounds, start = math.ceil(math.log2(moves)), time.perf_counter()
        for number in range(rounds):
            if self._budget_s is None:
                assert self._playouts is not None
                yield iter([max(1, self._playouts // (rounds * moves))])
            else:
                yield _until(start + self._budget_s * (number + 1) / rounds, max(1, AT_ONCE // moves))
            moves = (moves + 1) // 2


class Search(Halving):
    """Plays the move that did best in playouts to the end.

    Args:
        playouts: for every decision; 1,000 where no budget is given.
        budget_s: or else seconds for every decision.
        candidates: how many placements are compared: those that the prior thinks worth most.
        margin: what a point more of the lowest marker counts beside the rank, whose utility runs from -1 to 1; the next
            marker half of it, and so on. In solo only markers count.
        prior: puts the placements in order; left out, :class:`~genial_env.policies.denial.DenialPolicy`.
        playout: plays all seats to the end; the built-in policies are compiled whole by the backend numba.
        name: how tables and records call it.

    Raises:
        ValueError: for both playouts and budget_s, or a number out of its range.
        TypeError: for a prior that is no WorthPolicy, or a setting of another type.
    """

    def __init__(
        self,
        playouts: int | None = None,
        budget_s: float | None = None,
        *,
        candidates: int = 12,
        margin: float = 0.03,
        prior: HeuristicPolicy | None = None,
        playout: str | Policy = "denial",
        name: str = "search",
    ) -> None:
        super().__init__(playouts, budget_s, candidates=candidates, name=name)
        self._margin = as_number(margin, "margin", 0, 0.5)
        self._playout = make_policy(playout)
        self._prior = check_prior(prior)

    def moves(self, view: View) -> Ints:
        """[n]: the actions of one game that the prior thinks worth most."""
        actions = candidates(view, self.candidates, self._prior)[0]
        result: Ints = actions[actions != NONE]
        return result

    def outcomes(self, view: View, actions: Ints, deals: int, random: Bits) -> Floats:
        """[deals, moves]: what comes of each action in as many deals of the hidden tiles, for one game."""
        luck = chance.bits(np.repeat(random, deals), np.arange(deals))
        dealt = determinize(view.select(np.zeros(deals, dtype=np.int64)), luck)
        each = np.repeat(np.arange(deals), len(actions))
        state = dealt.select(each)
        kernel.apply(state, np.tile(actions, deals))
        play_out(state, [self._playout] * view.rules.players, choice_keys(luck, view.rules.players)[each])
        return self._payoffs(state, int(view.seat[0]) % view.rules.tracks).reshape(deals, len(actions))

    def _payoffs(self, state: State, track: int) -> Floats:
        """[B]: what finished games are worth to a track."""
        markers = np.sort(state.scores[:, track], axis=1)
        points: Floats = markers @ (0.5 ** np.arange(markers.shape[1]))
        if state.rules.tracks == 1:
            return points
        return rank_utility(ranking.ranks(state.scores))[:, track] + self._margin * points


def _until(end: float, size: int) -> Iterator[int]:
    """Batches of one size, at least one, until the clock says so."""
    while True:
        begun = time.perf_counter()
        yield size
        now = time.perf_counter()
        if now + (now - begun) / 2 > end:
            return
