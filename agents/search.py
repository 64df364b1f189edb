"""Determinized Monte-Carlo search: the moves that look best are played out many times, the best on average is played.

The hidden tiles are dealt anew for every playout, any deal that the view allows being equally likely; all moves that are
compared meet the same deals, the same luck and the same choices, which takes most of the noise out of their differences.
Sequential halving (Karnin, Koren and Somekh 2013) shares the budget out: every round the worse half of the moves drops
out. Near the end of a game the deals are solved instead of played out.
"""

import math
import time

import numpy as np
from numpy.typing import NDArray

from genial_env import chance, determinize, kernel, make_policy
from genial_env.backends import for_one_game, twin, using
from genial_env.chance import Bits
from genial_env.envs.rewards import rank_utility
from genial_env.play import play_out
from genial_env.policies import DenialPolicy, Policy, WorthPolicy, choice_keys
from genial_env.state import Phase, State
from genial_env.views import View

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MARGIN = 0.01
"""What a point more of the own lowest marker counts beside the rank, whose utility runs from -1 to 1."""


class Search:
    """Plays the move that did best in playouts.

    Args:
        playouts: for every decision.
        budget_s: seconds for every decision of every game, instead of a number of playouts.
        candidates: how many placements are compared: those of the most worth to `prior`.
        policy: who plays the playouts.
        prior: says which placements are looked at.

    Raises:
        ValueError: for numbers out of range, or both budgets.
    """

    def __init__(
        self,
        playouts: int | None = None,
        budget_s: float | None = None,
        *,
        candidates: int = 24,
        policy: str | Policy = "concave",
        prior: WorthPolicy | None = None,
    ) -> None:
        if playouts is not None and budget_s is not None:
            raise ValueError(f"give playouts or budget_s, not both: {playouts} and {budget_s}")
        if playouts is None and budget_s is None:
            playouts = 1000
        if playouts is not None and playouts < 1:
            raise ValueError(f"playouts must be at least 1, not {playouts}")
        if budget_s is not None and not 0 < budget_s < math.inf:
            raise ValueError(f"budget_s must be above 0, not {budget_s}")
        if candidates < 1:
            raise ValueError(f"candidates must be at least 1, not {candidates}")
        self.name = f"search({playouts})" if playouts is not None else f"search({budget_s:g}s)"
        self.playouts, self.budget_s, self.candidates = playouts, budget_s, candidates
        self.policy = make_policy(policy)
        self.prior = prior if prior is not None else DenialPolicy()

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game, one after the other."""
        with using(for_one_game()):
            games = range(len(view))
            return np.array(
                [self._choose(view.select(np.array([g])), random[g : g + 1]) for g in games], dtype=np.int64
            )

    def _choose(self, view: View, random: Bits) -> int:
        moves = candidate_actions(view, self.prior, self.candidates)
        if len(moves) == 1:
            return int(moves[0])
        totals, counts = np.zeros(len(moves)), 0
        left = np.arange(len(moves))
        rounds = math.ceil(math.log2(len(moves)))
        budget = Budget(self.playouts, self.budget_s, rounds)
        for number in range(rounds):
            sums, n = np.zeros(len(left)), 0
            for size in budget.batches(len(left)):
                sums += self.outcomes(view, moves[left], size, chance.bits(random, 1 + counts + n)).sum(axis=0)
                n += size
            totals[left] += sums
            counts += n
            order = np.argsort(-totals[left], kind="stable")
            left = left[order[: (len(left) + 1) // 2]]
        return int(moves[left[0]])

    def outcomes(self, view: View, actions: Ints, deals: int, random: Bits) -> Floats:
        """[deals, moves]: what comes of each action in as many deals of the hidden tiles.

        Args:
            view: one game.
            actions: [moves] to be compared.
            deals: how many.
            random: [1] random bits.
        """
        rules = view.rules
        luck = chance.bits(np.repeat(random, deals), np.arange(deals))
        dealt = determinize(view.select(np.zeros(deals, dtype=np.int64)), luck)
        each = np.repeat(np.arange(deals), len(actions))
        state = dealt.select(each)
        kernel.apply(state, np.tile(actions, deals))
        twin(play_out)(state, [self.policy] * rules.players, choice_keys(luck, rules.players)[each])
        track = int(view.seat[0]) % rules.tracks
        return outcome_values(state, track).reshape(deals, len(actions))


class Budget:
    """Shares playouts or seconds out to rounds."""

    def __init__(self, playouts: int | None, budget_s: float | None, rounds: int) -> None:
        self._start, self._rounds, self._round = time.perf_counter(), rounds, 0
        self._playouts, self._budget_s = playouts, budget_s

    def batches(self, moves: int):
        """The numbers of deals of one round, for so many moves."""
        self._round += 1
        if self._playouts is not None:
            yield max(1, self._playouts // (self._rounds * moves))
            return
        until = self._start + self._budget_s * self._round / self._rounds
        size = max(1, 256 // moves)
        while True:
            begun = time.perf_counter()
            yield size
            now = time.perf_counter()
            if now + 0.5 * (now - begun) > until:
                return


def outcome_values(state: State, track: int) -> Floats:
    """[B]: what finished games are worth to a track: the utility of its rank, and a little for its lowest markers."""
    markers = np.sort(state.scores[:, track], axis=1).astype(np.float64)
    share = markers @ (0.5 ** np.arange(markers.shape[1]))
    if state.rules.tracks == 1:
        return share
    return rank_utility(kernel.ranks(state.scores))[:, track] + MARGIN * share


def candidate_actions(view: View, prior: WorthPolicy, most: int) -> Ints:
    """The actions of one game that are worth a look, the likeliest first: the placements of the most worth, of equal
    ones one, and every other choice.
    """
    t = view.tables
    others = [t.swap_action] * bool(view.may_swap[0]) + [t.decline_action] * bool(view.may_decline[0])
    if view.phase[0] == Phase.SWAP:
        return np.array(others)
    different = np.zeros((view.rules.rack, t.n_placements), dtype=np.bool_)
    for slot in np.flatnonzero(view.slots[0]):
        kind = view.rack[0, slot]
        if kind in view.rack[0, :slot]:
            continue
        different[slot] = view.placements[0]
        if t.kinds[kind, 0] == t.kinds[kind, 1]:
            different[slot] &= t.placements[:, 0] < t.placements[:, 1]
    actions = np.flatnonzero(different)
    values = prior.values(view)[0].reshape(-1)[actions]
    best = actions[np.argsort(-values.astype(np.int64), kind="stable")[:most]]
    return np.concatenate([best, np.array(others, dtype=np.int64)])
