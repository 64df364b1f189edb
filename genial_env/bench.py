"""Measure how fast the current backend plays."""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from genial_env import backends
from genial_env.core import chance, kernel
from genial_env.core.arrays import Bools, Ints
from genial_env.core.rules import Rules
from genial_env.core.tables import tables
from genial_env.policies.roster import COMPILED
from genial_env.policies.uniform import random_actions
from genial_env.simulation import playouts

__all__ = ["Measurement", "all_measurements", "measured", "one_game", "playout_play", "random_play"]


@dataclass(frozen=True)
class Measurement:
    """Moves and games per second, and what was measured."""

    play: str
    moves_per_s: float
    games_per_s: float
    players: int
    batch: int
    backend: str
    threads: int

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict for JSON."""
        return asdict(self)


def random_play(rules: Rules, batch: int = 2048, seconds: float = 2.0, *, full_mask: bool = True) -> Measurement:
    """Measure batches of random games, with one call of the kernel for each step.

    Args:
        rules: the rules.
        batch: how many games a batch has.
        seconds: how long to measure.
        full_mask: whether the mask [G, A] is written for every move.
    """
    mask = np.empty((batch, tables(rules).n_actions), dtype=np.bool_) if full_mask else None
    name = "random, full mask" if full_mask else "random, no mask"
    return _measurement(name, rules, batch, seconds, lambda number: _random_games(rules, batch, number, mask))


def playout_play(name: str, rules: Rules, batch: int = 1024, seconds: float = 2.0) -> Measurement:
    """Measure :func:`genial_env.playouts` by a policy from newly dealt games."""
    state = kernel.deal(rules, [0])

    def games(number: int) -> int:
        return int(playouts(state, name, batch, seed=number, batch=batch).decisions.sum())

    return _measurement(f"{name}, playouts", rules, batch, seconds, games)


def one_game(rules: Rules, seconds: float = 2.0) -> Measurement:
    """Measure :func:`genial_env.core.kernel.apply` with one game at a time, its actions chosen beforehand."""
    games = [_script(rules, seed) for seed in range(50)]
    starts = [kernel.deal(rules, seed) for seed in range(50)]

    def play_one(number: int) -> int:
        state, actions = starts[number % 50].copy(), games[number % 50]
        for action in actions:
            kernel.apply(state, action)
        return len(actions)

    return _measurement("one game, kernel.apply", rules, 1, seconds, play_one)


def all_measurements(rules: Rules, batch: int, seconds: float) -> Iterator[Measurement]:
    """Yield each measurement in turn, each `seconds` long."""
    for full_mask in (True, False):
        yield random_play(rules, batch, seconds, full_mask=full_mask)
    for name in COMPILED:
        yield playout_play(name, rules, batch, seconds)
    yield one_game(rules, seconds)


def measured(work: Callable[[int], int], seconds: float, clock: Callable[[], float] = time.process_time) -> float:
    """Measure units of work per second.

    Args:
        work: does some work and returns how many units; its argument is the number of the call. Call 0 warms up.
        seconds: how long to measure.
        clock: returns the time, by default the CPU time.
    """
    work(0)
    done, number, start = 0, 0, clock()
    while clock() - start < seconds:
        number += 1
        done += work(number)
    return done / (clock() - start)


def _measurement(play: str, rules: Rules, batch: int, seconds: float, play_games: Callable[[int], int]) -> Measurement:
    """Measure `play_games`, which plays a batch and returns the number of moves.

    One thread is measured by the CPU time of the process, several threads by the clock.
    """
    backend, moves = backends.current(), []

    def count(number: int) -> int:
        moves.append(play_games(number))
        return moves[-1]

    clock = time.process_time if backend.threads == 1 else time.perf_counter
    moves_per_s = measured(count, seconds, clock)
    return Measurement(
        play=play,
        moves_per_s=moves_per_s,
        games_per_s=moves_per_s * batch * len(moves) / sum(moves),
        players=rules.players,
        batch=int(batch),
        backend=backend.name,
        threads=backend.threads,
    )


def _random_games(rules: Rules, batch: int, seed: int, mask: Bools | None) -> int:
    """Play a batch of random games; return the number of moves."""
    seeds = chance.game_seeds(seed, batch)
    state = kernel.deal(rules, seeds)
    for live in kernel.live_games(state):
        if mask is not None:
            kernel.legal(state, live, out=mask[: live.size])
        random = chance.bits(seeds[live], state.decisions[live])
        kernel.apply(state, random_actions(state, live, random), live)
    return int(state.decisions.sum())


def _script(rules: Rules, seed: int) -> list[Ints]:
    """Return the actions of a random game, each as an array [1]."""
    state, row, actions = kernel.deal(rules, seed), np.arange(1), []
    while not state.over[0]:
        actions.append(random_actions(state, row, chance.bits(seed, state.decisions)))
        kernel.apply(state, actions[-1])
    return actions
