"""Games of the agent "value" as training samples of the network of full states.

A sample is a full state during a draw: the position, all racks, and some of the drawn tiles already in the rack. Its
target is the lambda-return of the seat that draws (:mod:`agents.value.self_play`): a mixture of what the value network
predicts after the seat's later actions, and of the outcome of the game. Such a target is less noisy than the outcome.
"""

import time
from dataclasses import dataclass

import numpy as np

from agents.value.self_play import Samples
from genial_env import view
from genial_env.analysis.draws import Draws, draws_of_actions, draws_of_deals
from genial_env.analysis.full_states import compute_full_features
from genial_env.core import kernel
from genial_env.core.arrays import Floats32, Ints
from genial_env.core.chance import game_seeds
from genial_env.core.rules import Rules
from genial_env.core.state import EMPTY, State
from genial_env.core.tables import tables
from genial_env.policies.afterstates import Features
from genial_env.policies.value import judge
from genial_env.policies.value_net import Outcomes, ValueNet

__all__ = ["FullStateTask", "play_full_states"]


@dataclass(frozen=True)
class FullStateTask:
    """Games to be played, so that another process can play them.

    Attributes:
        rules: the rules.
        weights: those of the value network that plays all seats.
        seed: seed of the games.
        games: number of games.
        candidates: number of placements that are evaluated for a decision.
        noise: standard deviation of the noise that is added to the value of each action, so that games differ more.
        td_lambda: lambda of the returns; 1 uses the outcome of the game alone.
    """

    rules: Rules
    weights: dict[str, Floats32]
    seed: int
    games: int = 512
    candidates: int = 32
    noise: float = 0.01
    td_lambda: float = 0.6


def play_full_states(task: FullStateTask) -> Samples:
    """Play games and return training samples, one for each draw. The same task yields the same samples."""
    rules, began, rng = task.rules, time.process_time(), np.random.default_rng(task.seed)
    net, own_first = ValueNet(rules, task.weights), tables(task.rules).tracks_from
    state = kernel.deal(rules, game_seeds(task.seed, task.games))
    drawn = [(np.arange(task.games), draws) for draws in draws_of_deals(state)]
    decided: list[tuple[Ints, Ints, Floats32]] = []
    for live in kernel.live_games(state):
        seats, before = state.to_play[live], state.select(live)
        judged = judge(view(state, rows=live), net, task.candidates)
        noise = task.noise * rng.standard_normal(len(judged.utility))
        best = judged.best(judged.utility + noise, len(live))
        actions = judged.after.actions[best]
        kernel.apply(state, actions, live)
        drawn.append(_find_draws(before, actions, live, state))
        decided.append((live, seats, judged.chances[best]))
    outcomes = Outcomes(rules)
    returns = np.stack([outcomes.of_scores(state.scores[:, tracks]) for tracks in own_first], axis=1)  # [B, P, H, K]
    features, targets, found = [], [], []
    for games, draws in reversed(drawn):
        if len(games):
            features.append(_reveal_some(draws, rng))
            targets.append(returns[games, draws.seat])
            found.append(games)
        if decided:
            live, seats, predictions = decided.pop()
            returns[live, seats] = task.td_lambda * returns[live, seats] + (1 - task.td_lambda) * predictions
    return Samples(
        features=np.concatenate(features),
        targets=np.concatenate(targets),
        game=np.concatenate(found),
        games=task.games,
        moves=int(state.decisions.sum()),
        cpu_s=time.process_time() - began,
    )


def _find_draws(before: State, actions: Ints, live: Ints, state: State) -> tuple[Ints, Draws]:
    """Return the games in which tiles were drawn after an action, and these draws.

    Args:
        before: the live games before their actions.
        actions: [G] the actions.
        live: [G] the rows of the live games.
        state: all games after the actions.
    """
    seats, every = before.to_play, np.arange(len(live))
    drew = np.flatnonzero(state.drawn[live, seats] > before.drawn[every, seats])
    draws = draws_of_actions(before.select(drew), actions[drew], np.full((len(drew), before.rules.rack), EMPTY))
    new = state.racks[live[drew], draws.seat].astype(np.int64)
    is_new = draws.before.racks[np.arange(len(drew)), draws.seat] == EMPTY
    first = np.argsort(~(is_new & (new != EMPTY)), axis=1, kind="stable")  # in slot order, as they were drawn
    draws.kinds[:] = np.take_along_axis(np.where(is_new, new, EMPTY), first, axis=1)
    return live[drew], draws


def _reveal_some(draws: Draws, rng: np.random.Generator) -> Features:
    """Return the features after a random number of the tiles of each draw: [D, W]."""
    tiles, t = draws.tiles, draws.before.tables
    number = rng.integers(0, (draws.kinds != EMPTY).sum(axis=1) + 1)
    for place, kinds in enumerate(draws.kinds.T):
        rows = np.flatnonzero(place < number)
        tiles.move(rows, draws.seat[rows], kinds[rows])
    every = np.arange(len(draws))
    clockwise = tiles.racks[every[:, None], t.seats_from[draws.seat]]
    return compute_full_features(draws.describe(), every, clockwise, tiles.bag)
