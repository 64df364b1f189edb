"""Games of a value network against itself and others, as training samples.

Many games are played at once. A sample is an afterstate of a learning seat with its training target, the
lambda-return: a mixture of the network's predictions at the seat's later afterstates and of the game's outcome (R.
Sutton, "Learning to predict by the methods of temporal differences", 1988).

Some decisions are searched: the best actions are played on to a later turn of the seat in several deals of the hidden
tiles, where the network predicts the outcomes. The seat chooses by their means. These means replace the network's own
prediction in the lambda-returns, and the actions that were not chosen are samples, too, with their means as targets.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from agents.value.searching import Search
from genial_env import view
from genial_env.core import kernel
from genial_env.core.arrays import Bits, Bools, Floats, Floats32, Ints
from genial_env.core.chance import bits, game_seeds
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.tables import tables
from genial_env.policies.afterstates import Features, afterstates
from genial_env.policies.decisions import choice_keys, decide
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.value import judge
from genial_env.policies.value_net import Outcomes, ValueNet

__all__ = ["Samples", "SelfPlayTask", "Weights", "self_play"]

Weights = Mapping[str, Floats32]
"""The weights of a network. An empty mapping stands for the policy "denial"."""

SEATING_BITS = 1 << 40
"""The number of a game's random bits that decide whether opponents take part; nothing else draws them."""


@dataclass(frozen=True)
class SelfPlayTask:
    """Games to be played: all arguments of :func:`self_play`, so that another process can play them.

    Attributes:
        rules: the rules.
        learner: weights of the learning network. Empty: "denial" plays, and samples are taken from its games.
        opponents: weights of other networks; an empty mapping is "denial".
        seed: seed of the games.
        games: number of games.
        opponent_share: share of the games with opponents. In these each seat but one, which the learner has, is an
            opponent's with probability 0.5, and at least one is.
        candidates: number of placements that are evaluated for a decision.
        temperature: temperature of the choices, in units of utility.
        td_lambda: lambda of the returns; 1 uses the outcome of the game alone.
        search_share: share of the learner's decisions that are searched.
        search_candidates: number of actions that are searched, those that the network values highest.
        search_deals: deals of the hidden tiles in which each of them is played on.
        search_replies: number of placements that are evaluated for the decisions in between.
        search_turns: the turn of the seat up to which they are played on, 1: the next.
    """

    rules: Rules
    learner: Weights
    opponents: Sequence[Weights] = ()
    seed: int = 0
    games: int = 512
    opponent_share: float = 0.25
    candidates: int = 24
    temperature: float = 0.03
    td_lambda: float = 0.8
    search_share: float = 0.0
    search_candidates: int = 12
    search_deals: int = 8
    search_replies: int = 8
    search_turns: int = 1

    @property
    def search(self) -> Search:
        """How decisions are searched."""
        return Search(
            share=self.search_share,
            candidates=self.search_candidates,
            deals=self.search_deals,
            replies=self.search_replies,
            turns=self.search_turns,
        )


@dataclass(eq=False)
class Samples:
    """Training samples: n afterstates of learning seats and their targets.

    Attributes:
        features: [n, W] the afterstates.
        targets: [n, H, K] the lambda-returns, distributions over outcomes.
        game: [n] the game of each.
        games: number of games played.
        moves: number of decisions of all seats.
        cpu_s: seconds of CPU time that playing took.
    """

    features: Features
    targets: Floats32
    game: Ints
    games: int
    moves: int
    cpu_s: float

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.features)


class _Step(NamedTuple):
    """Decisions in several games at once, or actions that were considered in them: n afterstates."""

    games: Ints  # [n]
    seats: Ints  # [n]
    features: Features  # [n, W]
    predictions: Floats32  # [n, H, K] or the means of a search
    learned: Bools  # [n] whether it is a sample


@dataclass(eq=False)
class _Trajectory:
    """The decisions of the learning seats."""

    chosen: list[_Step] = field(default_factory=list)
    """in the order in which they were made"""
    searched: list[_Step] = field(default_factory=list)
    """the searched actions, with their means as predictions, which are their targets; the chosen ones stand in both"""


def self_play(task: SelfPlayTask) -> Samples:
    """Play games and return training samples. The same task yields the same samples."""
    rules, began = task.rules, time.process_time()
    seeds = game_seeds(task.seed, task.games)
    state, keys = kernel.deal(rules, seeds), choice_keys(seeds, rules.players)
    nets = [ValueNet(rules, weights) if weights else None for weights in (task.learner, *task.opponents)]
    assignment = _assign_seats(task, seeds)
    trajectory = _Trajectory()
    for live in kernel.live_games(state):
        seat = state.to_play[live]
        player = assignment[live, seat]
        actions = np.empty(len(live), dtype=np.int64)
        for number in np.unique(player):
            mine = player == number
            rows = live[mine]
            random = bits(keys[rows, seat[mine]], state.decisions[rows])
            actions[mine] = _choose(state, rows, nets[number], task, random, trajectory if number == 0 else None)
        kernel.apply(state, actions, live)
    return _make_samples(state, trajectory, task, began)


def _assign_seats(task: SelfPlayTask, seeds: Bits) -> Ints:
    """Decide which network plays which seat: [B, P], 0 for the learner, then the opponents."""
    players = task.rules.players
    assignment = np.zeros((task.games, players), dtype=np.int64)
    if task.opponents and players > 1:
        games = np.flatnonzero(bits(seeds, SEATING_BITS) / 2.0**64 < task.opponent_share)
        rng = np.random.default_rng(task.seed)
        is_opponent = rng.random((len(games), players)) < 0.5
        learning = rng.integers(players, size=len(games))  # this seat learns in any case, and the next one is not it
        is_opponent[np.arange(len(games)), learning] = False
        is_opponent[np.arange(len(games)), tables(task.rules).seats_from[learning, 1]] = True
        which = rng.integers(1, len(task.opponents) + 1, size=len(games))
        assignment[games] = np.where(is_opponent, which[:, None], 0)
    return assignment


def _choose(
    state: State, rows: Ints, net: ValueNet | None, task: SelfPlayTask, random: Bits, trajectory: _Trajectory | None
) -> Ints:
    """Choose actions [G] in some games; add the decisions to `trajectory` unless it is None."""
    if net is None:
        return _choose_as_denial(state, rows, random, trajectory)
    judged = judge(view(state, rows=rows), net, task.candidates)
    after, values, searched = judged.after, judged.utility, np.empty(0, dtype=np.int64)
    if trajectory is not None and task.search_share > 0:
        searched, values = task.search.improve(state, rows, net, random, judged)
    noise = task.temperature * _draw_gumbel(random, after.game) if task.temperature > 0 else 0.0
    chosen = judged.best(values + noise, len(rows))
    if trajectory is not None:
        is_searched = np.zeros(len(after.game), dtype=np.bool_)
        is_searched[searched] = True
        for steps, some in ((trajectory.chosen, chosen), (trajectory.searched, searched)):
            at, learned = rows[after.game[some]], ~after.over[some]
            if steps is trajectory.chosen:
                learned &= ~is_searched[some]
            steps.append(_Step(at, state.to_play[at], after.features[some], judged.chances[some], learned))
    return after.actions[chosen]


def _choose_as_denial(state: State, rows: Ints, random: Bits, trajectory: _Trajectory | None) -> Ints:
    """Choose as "denial" does [G]; add the decisions to `trajectory`, with predictions of 0, unless it is None."""
    actions = decide(DenialPolicy(), state, rows, random)
    if trajectory is not None:
        after, outcomes = afterstates(view(state, rows=rows), np.arange(len(rows)), actions), Outcomes(state.rules)
        predictions = np.zeros((len(rows), outcomes.heads, outcomes.classes), dtype=np.float32)
        trajectory.chosen.append(_Step(rows, state.to_play[rows], after.features, predictions, ~after.over))
    return actions


def _draw_gumbel(random: Bits, game: Ints) -> Floats:
    """Draw noise for actions: [n]. The maximum of value / temperature + noise is a sample of the softmax.

    Args:
        random: [G] the random bits of the decisions.
        game: [n] the game of each action, ascending.
    """
    place = np.arange(len(game)) - np.searchsorted(game, game)
    uniform = (bits(random[game], place + 1) >> np.uint64(11)) * 2.0**-53
    noise: Floats = -np.log(-np.log(uniform + 2.0**-54))
    return noise


def _make_samples(state: State, trajectory: _Trajectory, task: SelfPlayTask, began: float) -> Samples:
    """Compute the lambda-returns backwards from the outcomes."""
    outcomes, own_first = Outcomes(task.rules), tables(task.rules).tracks_from
    td_lambda = task.td_lambda if task.learner else 1.0
    returns = np.stack([outcomes.of_scores(state.scores[:, tracks]) for tracks in own_first], axis=1)  # [B, P, H, K]
    samples: list[tuple[_Step, Floats32]] = [(step, step.predictions) for step in reversed(trajectory.searched)]
    for step in reversed(trajectory.chosen):
        targets = returns[step.games, step.seats]
        returns[step.games, step.seats] = td_lambda * targets + (1 - td_lambda) * step.predictions
        samples.append((step, targets))
    samples.reverse()
    kept = [step.learned for step, _ in samples]
    return Samples(
        features=np.concatenate([step.features[some] for (step, _), some in zip(samples, kept, strict=True)]),
        targets=np.concatenate([targets[some] for (_, targets), some in zip(samples, kept, strict=True)]),
        game=np.concatenate([step.games[some] for (step, _), some in zip(samples, kept, strict=True)]),
        games=task.games,
        moves=int(state.decisions.sum()),
        cpu_s=time.process_time() - began,
    )
