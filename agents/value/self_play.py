"""Games of a value network against itself and others, as training samples.

Many games are played at once. A sample is an afterstate of a learning seat with its training target, the
lambda-return: a mixture of the network's predictions at the seat's later afterstates and of the game's outcome (R.
Sutton, "Learning to predict by the methods of temporal differences", 1988).

Some decisions are searched: the best actions are played on to the seat's next turn in several deals of the hidden
tiles, where the network predicts the outcomes. The seat chooses by their means. These means replace the network's own
prediction in the lambda-returns, and the actions that were not chosen are samples, too, with their means as targets.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from genial_env import view
from genial_env.core import kernel
from genial_env.core.arrays import Bits, Bools, Floats32, Ints
from genial_env.core.chance import bits, game_seeds
from genial_env.core.determinization import determinize
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.tables import tables
from genial_env.policies.afterstates import Features, afterstates
from genial_env.policies.decisions import choice_keys, decide
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.value import Judged, judge
from genial_env.policies.value_net import Outcomes, ValueNet
from genial_env.policies.value_search import predict_later

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
        search_deals: deals of the hidden tiles in which each of them is played on to the seat's next turn.
        search_replies: number of placements that are evaluated for the decisions in between.
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


@dataclass(eq=False)
class Samples:
    """Training samples: n afterstates of learning seats and their targets.

    Attributes:
        features: [n, W] the afterstates.
        targets: [n, H, K] the lambda-returns, distributions over outcomes.
        games: number of games played.
        moves: number of decisions of all seats.
        cpu_s: seconds of CPU time that playing took.
    """

    features: Features
    targets: Floats32
    games: int
    moves: int
    cpu_s: float

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.features)


@dataclass(eq=False)
class _Trajectory:
    """The decisions of the learning seats in the order in which they were made; a list entry for each batch."""

    games: list[Ints] = field(default_factory=list)
    seats: list[Ints] = field(default_factory=list)
    features: list[Features] = field(default_factory=list)
    predictions: list[Floats32] = field(default_factory=list)
    over: list[Bools] = field(default_factory=list)
    searched: list[tuple[Features, Floats32]] = field(default_factory=list)
    """features and means of the searched actions that were not chosen"""


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
    seen = view(state, rows=rows)
    if net is None:
        actions = decide(DenialPolicy(), state, rows, random)
        after = afterstates(seen, np.arange(len(rows)), actions) if trajectory is not None else None
        outcomes = Outcomes(state.rules)
        predictions = np.zeros((len(rows), outcomes.heads, outcomes.classes), dtype=np.float32)
        chosen = np.arange(len(rows))
    else:
        judged = judge(seen, net, task.candidates)
        after, predictions, values = judged.after, judged.chances, judged.utility
        searched = np.empty(0, dtype=np.int64)
        if trajectory is not None and task.search_share > 0:
            searched, values = _search(state, rows, net, task, random, judged)
        if task.temperature > 0:
            index = np.arange(len(values)) - np.searchsorted(after.game, after.game)
            uniform = (bits(random[after.game], index + 1) >> np.uint64(11)) * 2.0**-53
            gumbel = -np.log(-np.log(uniform + 2.0**-54))  # the maximum of value + noise is a sample of the softmax
            values = values + task.temperature * gumbel
        chosen = judged.best(values, len(rows))
        actions = after.actions[chosen]
        if trajectory is not None and searched.size:
            others = searched[~after.over[searched] & (chosen[after.game[searched]] != searched)]
            trajectory.searched.append((after.features[others], predictions[others]))
    if trajectory is not None and after is not None:
        trajectory.games.append(rows)
        trajectory.seats.append(state.to_play[rows])
        trajectory.features.append(after.features[chosen])
        trajectory.predictions.append(predictions[chosen])
        trajectory.over.append(after.over[chosen])
    return actions


def _search(
    state: State, rows: Ints, net: ValueNet, task: SelfPlayTask, random: Bits, judged: Judged
) -> tuple[Ints, Floats32]:
    """Search some of the games of a batch, and replace predictions by the means of the search in place.

    Returns:
        The indices of the searched actions [n], ascending, and the values by which to choose, the least possible one
        for actions that were not searched in a searched game.
    """
    after = judged.after
    games = np.flatnonzero(bits(random, SEARCH_BITS) / 2.0**64 < task.search_share)
    best_first = np.lexsort((-judged.utility, after.game))
    place = np.empty(len(after), dtype=np.int64)
    place[best_first] = np.arange(len(after)) - np.searchsorted(after.game, after.game)
    is_searched = np.zeros(len(rows), dtype=np.bool_)
    is_searched[games] = True
    searched = np.flatnonzero(is_searched[after.game] & (place < task.search_candidates))
    values = np.where(is_searched[after.game], np.float32(np.finfo(np.float32).min), judged.utility)
    if searched.size:
        deals = task.search_deals
        seen = view(state, rows=rows[np.repeat(games, deals)])
        random_of_game = np.repeat(bits(random[games], SEARCH_BITS + 1), deals)
        dealt = determinize(seen, bits(random_of_game, np.tile(np.arange(deals), len(games))))
        first = np.zeros(len(rows), dtype=np.int64)
        first[games] = np.arange(len(games)) * deals  # the number of a game's first deal
        played = dealt.select((first[after.game[searched], None] + np.arange(deals)).ravel())
        seats = played.to_play.copy()
        kernel.apply(played, np.repeat(after.actions[searched], deals))
        found = predict_later(played, seats, net, task.search_replies, 1)
        judged.chances[searched] = found.reshape(len(searched), deals, *found.shape[1:]).mean(axis=1)
        values[searched] = net.outcomes.utility(judged.chances[searched])
    return searched, values


SEARCH_BITS = 1 << 41
"""The number of the random bits of a decision that decide whether it is searched; those of the search follow."""


def _make_samples(state: State, trajectory: _Trajectory, task: SelfPlayTask, began: float) -> Samples:
    """Compute the lambda-returns backwards from the outcomes."""
    outcomes, own_first = Outcomes(task.rules), tables(task.rules).tracks_from
    td_lambda = task.td_lambda if task.learner else 1.0
    returns = np.stack([outcomes.of_scores(state.scores[:, tracks]) for tracks in own_first], axis=1)  # [B, P, H, K]
    targets = [np.empty(0, dtype=returns.dtype)] * len(trajectory.games)
    for step in reversed(range(len(trajectory.games))):
        at = trajectory.games[step], trajectory.seats[step]
        targets[step] = returns[at]
        returns[at] = td_lambda * targets[step] + (1 - td_lambda) * trajectory.predictions[step]
    kept = ~np.concatenate(trajectory.over)
    searched = trajectory.searched
    return Samples(
        features=np.concatenate([np.concatenate(trajectory.features)[kept], *(each[0] for each in searched)]),
        targets=np.concatenate([np.concatenate(targets)[kept], *(each[1] for each in searched)]).astype(np.float32),
        games=task.games,
        moves=int(state.decisions.sum()),
        cpu_s=time.process_time() - began,
    )
