"""Decisions of self-play that a search has judged, and a network that learns to judge as the search does.

This is expert iteration (T. Anthony, Z. Tian, D. Barber, "Thinking fast and slow with deep learning and tree search",
2017): the expert is the agent "value_search" with the network that learns.
"""

import time
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.value.self_play import Weights
from agents.value.torch_net import TorchValueNet
from genial_env import view
from genial_env.core import kernel
from genial_env.core.arrays import Floats, Floats32, Ints
from genial_env.core.chance import game_seeds
from genial_env.core.rules import Rules
from genial_env.core.views import View
from genial_env.policies.afterstates import Features, width
from genial_env.policies.search import deal
from genial_env.policies.seat_counts import value_candidates
from genial_env.policies.value import judge
from genial_env.policies.value_net import ValueNet
from genial_env.policies.value_search import ValueSearch

__all__ = ["Fit", "SearchTask", "Searched", "fit", "measure_choices", "search_decisions"]


@dataclass(frozen=True)
class SearchTask:
    """Games to be played: all arguments of :func:`search_decisions`, so that another process can play them.

    Attributes:
        rules: the rules.
        weights: weights of the network.
        seed: seed of the games.
        games: number of games.
        share: share of the decisions that are searched.
        candidates: number of actions that are searched, those that the network values highest.
        deals: deals of the hidden tiles in which each of them is played on.
        turns: the own turn at which the network evaluates, 1: the next.
        temperature: temperature of the choices, in units of utility.
    """

    rules: Rules
    weights: Weights
    seed: int
    games: int
    share: float
    candidates: int
    deals: int
    turns: int
    temperature: float


@dataclass(eq=False)
class Searched:
    """Searched actions: n afterstates of D decisions, those of a decision in a row.

    Attributes:
        features: [n, W] the afterstates.
        utility: [n] the means of the search.
        sizes: [D] the number of actions of each decision, at least 2.
        game: [D] the number of the game among those that were searched together.
        games: number of games played.
        moves: number of decisions of all seats.
        cpu_s: seconds of CPU time that it took.
    """

    features: Features
    utility: Floats32
    sizes: Ints
    game: Ints
    games: int
    moves: int
    cpu_s: float

    @cached_property
    def starts(self) -> Ints:
        """[D] the first action of each decision."""
        starts: Ints = np.cumsum(self.sizes) - self.sizes
        return starts

    def rows(self, decisions: Ints) -> Ints:
        """Return the actions of some decisions, in their order."""
        sizes = self.sizes[decisions]
        first = np.repeat(self.starts[decisions] - np.cumsum(sizes) + sizes, sizes)
        rows: Ints = first + np.arange(len(first))
        return rows

    @staticmethod
    def join(parts: "list[Searched]") -> "Searched":
        """Join the decisions of several tasks; no two of them share a game."""
        before = np.cumsum([0, *(part.games for part in parts[:-1])])
        return Searched(
            features=np.concatenate([part.features for part in parts]),
            utility=np.concatenate([part.utility for part in parts]),
            sizes=np.concatenate([part.sizes for part in parts]),
            game=np.concatenate([part.game + first for part, first in zip(parts, before, strict=True)]),
            games=sum(part.games for part in parts),
            moves=sum(part.moves for part in parts),
            cpu_s=sum(part.cpu_s for part in parts),
        )


def search_decisions(task: SearchTask) -> Searched:
    """Play games of the network with itself, and search some of their decisions. The same task finds the same.

    Decisions that leave no choice are not searched, nor those that "value_search" solves exactly.
    """
    rules, began, rng = task.rules, time.process_time(), np.random.default_rng(task.seed)
    net = ValueNet(rules, task.weights)
    search = ValueSearch(playouts=1, turns=task.turns, weights=task.weights)
    state = kernel.deal(rules, game_seeds(task.seed, task.games))
    features, utility, sizes, game = list[Features](), list[Floats32](), list[int](), list[int]()
    for live in kernel.live_games(state):
        seen = view(state, rows=live)
        judged = judge(seen, net, value_candidates(rules))
        for one in np.flatnonzero(rng.random(len(live)) < task.share):
            at = np.flatnonzero((judged.after.game == one) & ~judged.after.over)
            at = at[np.argsort(-judged.utility[at], kind="stable")[: task.candidates]]
            alone = seen.select(np.array([one]))
            if len(at) < 2 or search.solve(alone) is not None:
                continue
            features.append(judged.after.features[at])
            utility.append(_search(search, alone, judged.after.actions[at], task.deals, rng))
            sizes.append(len(at))
            game.append(int(live[one]))
        noise = task.temperature * rng.gumbel(size=len(judged.utility)).astype(np.float32)
        kernel.apply(state, judged.after.actions[judged.best(judged.utility + noise, len(live))], live)
    return Searched(
        np.concatenate([np.empty((0, width(rules)), dtype=np.int16), *features]),
        np.concatenate([np.empty(0, dtype=np.float32), *utility]),
        np.array(sizes, dtype=np.int64),
        np.array(game, dtype=np.int64),
        task.games,
        int(state.decisions.sum()),
        time.process_time() - began,
    )


def _search(search: ValueSearch, seen: View, actions: Ints, deals: int, rng: np.random.Generator) -> Floats32:
    """Return the mean utility of each action of one game in some deals: [n]."""
    random = rng.integers(2**64, size=1, dtype=np.uint64)
    means: Floats32 = search.outcomes(seen, actions, deal(seen, random, 0, deals)).mean(axis=0).astype(np.float32)
    return means


class Fit(NamedTuple):
    """How a network learns from searched decisions."""

    epochs: int
    """passes over the decisions"""
    batch_size: int
    """decisions of a gradient step"""
    learning_rate: float
    """initial learning rate; it falls to a hundredth by a cosine schedule"""
    difference_coef: float
    """weight of the squared errors of the differences within a decision, beside those of the mean of a decision"""


def fit(net: TorchValueNet, searched: Searched, decisions: Ints, how: Fit, rng: np.random.Generator) -> None:
    """Train a network in place to predict the utilities of the search.

    A choice depends on the differences between the actions of a decision only, and these are much smaller than those
    between positions. So both have a loss of their own.

    Args:
        net: the network.
        searched: searched decisions.
        decisions: the numbers of those to learn from.
        how: the settings.
        rng: draws the order of the decisions.
    """
    optimizer = torch.optim.Adam(net.parameters(), lr=how.learning_rate)
    batches = max(1, len(decisions) // how.batch_size)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
        optimizer, how.epochs * batches, eta_min=how.learning_rate / 100
    )
    for _ in range(how.epochs):
        for batch in np.array_split(rng.permutation(decisions), batches):
            rows, sizes = searched.rows(batch), torch.as_tensor(searched.sizes[batch])
            of_row = torch.repeat_interleave(torch.arange(len(batch)), sizes)
            errors = predict_utility(net, searched.features[rows]) - torch.as_tensor(searched.utility[rows])
            means = torch.zeros(len(batch)).index_add(0, of_row, errors) / sizes
            differences = errors - means[of_row]
            loss = (means**2).mean() + how.difference_coef * (differences**2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()


def predict_utility(net: TorchValueNet, features: Features) -> Tensor:
    """Predict the utility of afterstates [n, W] as the network that plays does: [n]."""
    weights, heads = (torch.as_tensor(numbers) for numbers in net.outcomes.weights)
    chances = net(torch.as_tensor(features)).softmax(dim=2)
    utility: Tensor = (chances[:, : len(heads)] @ weights) @ heads
    return utility


def measure_choices(net: TorchValueNet, searched: Searched, decisions: Ints) -> tuple[float, float]:
    """Compare the choices of a network with those of the search, in decisions that it has not learned from.

    Returns:
        The mean utility that its choices lose by the search, and the share of the variance within decisions that its
        utilities explain.
    """
    rows = searched.rows(decisions)
    with torch.no_grad():
        parts = [predict_utility(net, searched.features[part]) for part in np.array_split(rows, len(rows) // 4096 + 1)]
    predicted, found = torch.cat(parts).numpy().astype(np.float64), searched.utility[rows].astype(np.float64)
    sizes = searched.sizes[decisions]
    starts = np.cumsum(sizes) - sizes
    best = np.maximum.reduceat(predicted, starts)
    is_best = predicted == np.repeat(best, sizes)
    choices = np.minimum.reduceat(np.where(is_best, np.arange(len(rows)), len(rows)), starts)
    regret = float((np.maximum.reduceat(found, starts) - found[choices]).mean())
    errors, spread = (_center(numbers, starts, sizes) for numbers in (predicted - found, found))
    return regret, float(1 - (errors**2).sum() / (spread**2).sum())


def _center(numbers: NDArray[np.float64], starts: Ints, sizes: Ints) -> Floats:
    """Subtract the mean of each decision."""
    centered: Floats = numbers - np.repeat(np.add.reduceat(numbers, starts) / sizes, sizes)
    return centered
