"""How fast the kernel plays, by whichever backend is in use."""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from genial_env import backends
from genial_env.core import chance, kernel
from genial_env.core.bitsets import Bools, Ints
from genial_env.core.rules import Rules
from genial_env.core.tables import tables
from genial_env.policies.roster import COMPILED
from genial_env.policies.uniform import random_actions
from genial_env.simulation import playouts

__all__ = ["Measurement", "all_measurements", "measured", "one_game", "playout_play", "random_play"]


@dataclass(frozen=True)
class Measurement:
    """Moves and games a second, and of what."""

    play: str
    moves_per_s: float
    games_per_s: float
    players: int
    batch: int
    backend: str
    threads: int

    def to_dict(self) -> dict[str, Any]:
        """As JSON wants it."""
        return asdict(self)


def random_play(rules: Rules, batch: int = 2048, seconds: float = 2.0, *, full_mask: bool = True) -> Measurement:
    """Random games, all games of a batch dealt together and played out, one call of the kernel a step; with the full
    mask [G, A] written for every move, or none.
    """
    mask = np.empty((batch, tables(rules).n_actions), dtype=np.bool_) if full_mask else None
    name = "random, full mask" if full_mask else "random, no mask"
    return _measurement(name, rules, batch, seconds, lambda number: _random_games(rules, batch, number, mask))


def playout_play(name: str, rules: Rules, batch: int = 1024, seconds: float = 2.0) -> Measurement:
    """Playouts by a policy from the deal, as :func:`genial_env.playouts` plays them."""
    state = kernel.deal(rules, [0])

    def games(number: int) -> int:
        return int(playouts(state, name, batch, seed=number, batch=batch).decisions.sum())

    return _measurement(f"{name}, playouts", rules, batch, seconds, games)


def one_game(rules: Rules, seconds: float = 2.0) -> Measurement:
    """One game after the other through :func:`genial_env.core.kernel.apply`, its actions chosen beforehand."""
    games = [_script(rules, seed) for seed in range(50)]
    starts = [kernel.deal(rules, seed) for seed in range(50)]

    def play_one(number: int) -> int:
        state, actions = starts[number % 50].copy(), games[number % 50]
        for action in actions:
            kernel.apply(state, action)
        return len(actions)

    return _measurement("one game, kernel.apply", rules, 1, seconds, play_one)


def all_measurements(rules: Rules, batch: int, seconds: float) -> Iterator[Measurement]:
    """Each of them in turn, `seconds` long."""
    for full_mask in (True, False):
        yield random_play(rules, batch, seconds, full_mask=full_mask)
    for name in COMPILED:
        yield playout_play(name, rules, batch, seconds)
    yield one_game(rules, seconds)


def measured(work: Callable[[int], int], seconds: float, clock: Callable[[], float] = time.process_time) -> float:
    """Units of work per second, of CPU time or by another clock: `work` gets the number of the call, and returns how
    many it did.

    The first call only warms up; then it is called until the time is over.
    """
    work(0)
    done, number, start = 0, 0, clock()
    while clock() - start < seconds:
        number += 1
        done += work(number)
    return done / (clock() - start)


def _measurement(play: str, rules: Rules, batch: int, seconds: float, play_games: Callable[[int], int]) -> Measurement:
    """Of `play_games`, which gets the number of the call, plays a batch and returns how many moves it made.

    One thread is measured by the process's CPU time, several by the clock.
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
    """A batch of random games; how many moves."""
    seeds = chance.game_seeds(seed, batch)
    state = kernel.deal(rules, seeds)
    live = np.arange(batch)
    while live.size:
        if mask is not None:
            kernel.legal(state, live, out=mask[: live.size])
        random = chance.bits(seeds[live], state.decisions[live])
        kernel.apply(state, random_actions(state, live, random), live)
        live = live[~state.over[live]]
    return int(state.decisions.sum())


def _script(rules: Rules, seed: int) -> list[Ints]:
    """The actions of a random game, each as an array [1]."""
    state, row, actions = kernel.deal(rules, seed), np.arange(1), []
    while not state.over[0]:
        actions.append(random_actions(state, row, chance.bits(seed, state.decisions)))
        kernel.apply(state, actions[-1])
    return actions
