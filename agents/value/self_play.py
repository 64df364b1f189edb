"""Games of a value network against itself and others, as samples to learn from.

Many games are played at once. A sample is an afterstate of a learning seat with what came of it: the lambda-return, a
mean of what the network said of the seat's later afterstates and of how the game ended, the later the less
(R. Sutton, "Learning to predict by the methods of temporal differences", 1988).
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from genial_env import view
from genial_env.core import kernel
from genial_env.core.bitsets import Bools, Ints
from genial_env.core.chance import Bits, bits, game_seeds
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.policies.afterstates import Features, afterstates
from genial_env.policies.decisions import choice_keys, decide
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.value import Floats, Outcomes, ValueNet, judge

Arrays = Mapping[str, NDArray[np.float32]]
"""The weights of a network; of no arrays, the policy "denial"."""


@dataclass(frozen=True)
class Order:
    """What games are to be played: everything that :func:`self_play` needs, for a process of its own.

    Args:
        rules: the rules.
        learner: the weights of the learning network; none: "denial" plays, and its games are learned from.
        rivals: the weights of others, none for "denial".
        seed: of the games.
        games: how many.
        rival_share: the share of the games in which rivals have seats, every seat but one with even chance.
        candidates: placements looked at for a decision.
        temperature: of the choices: an action worth so much less is chosen 1/e as often.
        trace: lambda; 1 takes the end of the game alone.
    """

    rules: Rules
    learner: Arrays
    rivals: Sequence[Arrays] = ()
    seed: int = 0
    games: int = 512
    rival_share: float = 0.25
    candidates: int = 24
    temperature: float = 0.03
    trace: float = 0.8


@dataclass(eq=False)
class Samples:
    """n afterstates of learning seats, and what came of them."""

    features: Features  # [n, W]
    targets: Floats  # [n, H, K]
    games: int
    moves: int
    """Decisions of all seats."""
    cpu_s: float
    """Seconds of CPU that playing took."""

    def __len__(self) -> int:
        """How many samples."""
        return len(self.features)


@dataclass(eq=False)
class _Steps:
    """The learning seats' decisions in the order in which they were made."""

    games: list[Ints] = field(default_factory=list)
    seats: list[Ints] = field(default_factory=list)
    features: list[Features] = field(default_factory=list)
    chances: list[Floats] = field(default_factory=list)
    over: list[Bools] = field(default_factory=list)


def self_play(order: Order) -> Samples:
    """Play games and learn what came of each afterstate; the same order, the same samples."""
    rules, began = order.rules, time.process_time()
    seeds = game_seeds(order.seed, order.games)
    state, keys = kernel.deal(rules, seeds), choice_keys(seeds, rules.players)
    nets = [ValueNet(rules, arrays) if arrays else None for arrays in (order.learner, *order.rivals)]
    assignment = _assignment(order, seeds)
    steps = _Steps()
    live = np.arange(order.games)
    while live.size:
        seat = state.to_play[live]
        player = assignment[live, seat]
        actions = np.empty(len(live), dtype=np.int64)
        for number in np.unique(player):
            mine = player == number
            rows = live[mine]
            random = bits(keys[rows, seat[mine]], state.decisions[rows])
            actions[mine] = _choose(state, rows, nets[number], order, random, steps if number == 0 else None)
        kernel.apply(state, actions, live)
        live = live[~state.over[live]]
    return _samples(state, steps, order, began)


def _assignment(order: Order, seeds: Bits) -> Ints:
    """[B, P]: which network plays which seat, 0 the learner."""
    players, luck = order.rules.players, bits(seeds, LUCK)
    assignment = np.zeros((order.games, players), dtype=np.int64)
    if order.rivals and players > 1:
        games = np.flatnonzero(luck / 2.0**64 < order.rival_share)
        rng = np.random.default_rng(order.seed)
        taken = rng.random((len(games), players)) < 0.5
        alone = rng.integers(players, size=len(games))  # one learns in any case, and the next one is a rival
        taken[np.arange(len(games)), alone] = False
        taken[np.arange(len(games)), (alone + 1) % players] = True
        which = rng.integers(1, len(order.rivals) + 1, size=len(games))
        assignment[games] = np.where(taken, which[:, None], 0)
    return assignment


LUCK = 1 << 40
"""A number of a game's stream that nothing else draws."""


def _choose(state: State, rows: Ints, net: ValueNet | None, order: Order, random: Bits, steps: _Steps | None) -> Ints:
    """[G]: the actions in some games; kept in `steps`, where they are to be learned from."""
    seen = view(state, rows=rows)
    if net is None:
        actions = decide(DenialPolicy(), state, rows, random)
        after = afterstates(seen, np.arange(len(rows)), actions) if steps is not None else None
        outcomes = Outcomes(state.rules)
        chances = np.zeros((len(rows), outcomes.heads, outcomes.classes), dtype=np.float32)
        chosen = np.arange(len(rows))
    else:
        judged = judge(seen, net, order.candidates)
        after, chances = judged.after, judged.chances
        values = judged.utility
        if order.temperature > 0:
            place = np.arange(len(values)) - np.searchsorted(after.game, after.game)
            luck = (bits(random[after.game], place + 1) >> np.uint64(11)) * 2.0**-53
            values = values - order.temperature * np.log(-np.log(luck + 2.0**-54))  # Gumbel: a softmax's choice
        chosen = judged.best(values, len(rows))
        actions = after.actions[chosen]
    if steps is not None and after is not None:
        steps.games.append(rows)
        steps.seats.append(state.to_play[rows])
        steps.features.append(after.features[chosen])
        steps.chances.append(chances[chosen])
        steps.over.append(after.over[chosen])
    return actions


def _samples(state: State, steps: _Steps, order: Order, began: float) -> Samples:
    rules, outcomes = order.rules, Outcomes(order.rules)
    trace = order.trace if order.learner else 1.0
    by_seat = np.stack(
        [outcomes.of_scores(np.roll(state.scores, -(seat % rules.tracks), axis=1)) for seat in range(rules.players)],
        axis=1,
    )  # [B, P, H, K]: first how it ended, then what the afterstate before is to be told
    targets = [np.empty(0)] * len(steps.games)
    for step in reversed(range(len(steps.games))):
        at = steps.games[step], steps.seats[step]
        targets[step] = by_seat[at]
        by_seat[at] = trace * targets[step] + (1 - trace) * steps.chances[step]
    kept = ~np.concatenate(steps.over)
    return Samples(
        features=np.concatenate(steps.features)[kept],
        targets=np.concatenate(targets)[kept].astype(np.float32),
        games=order.games,
        moves=int(state.decisions.sum()),
        cpu_s=time.process_time() - began,
    )
