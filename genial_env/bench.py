"""How fast the kernel plays, in moves per second of the process's CPU time."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from genial_env import chance, kernel
from genial_env.bitsets import Bools
from genial_env.play import play
from genial_env.policies import pick_uniformly
from genial_env.rules import Rules
from genial_env.tables import tables


@dataclass(frozen=True)
class Measurement:
    """Moves a second, and of what."""

    moves_per_s: float
    players: int
    batch: int
    full_mask: bool

    def to_dict(self) -> dict[str, Any]:
        """As JSON wants it."""
        return asdict(self)


def random_play(rules: Rules, batch: int = 2048, seconds: float = 2.0) -> Measurement:
    """Random games, the full mask [G, A] written for every move, all games of a batch dealt together and played out."""
    mask = np.empty((batch, tables(rules).n_actions), dtype=np.bool_)
    return Measurement(
        measured(lambda number: _random_games(rules, batch, number, mask), seconds),
        rules.players,
        batch,
        full_mask=True,
    )


def greedy_play(rules: Rules, batch: int = 2048, seconds: float = 2.0) -> Measurement:
    """Games between greedy policies on views, as :func:`genial_env.play` plays them; they need no mask."""

    def games(number: int) -> int:
        return int(play(["greedy"] * rules.players, rules, batch, seed=number, batch=batch).decisions.sum())

    return Measurement(measured(games, seconds), rules.players, batch, full_mask=False)


def measured(work: Callable[[int], int], seconds: float) -> float:
    """Units of work per second of CPU time: `work` gets the number of the call and returns how many it did.

    The first call only warms up; then it is called until the time is over.
    """
    work(0)
    done, number, start = 0, 0, time.process_time()
    while time.process_time() - start < seconds:
        number += 1
        done += work(number)
    return done / (time.process_time() - start)


def _random_games(rules: Rules, batch: int, seed: int, mask: Bools) -> int:
    seeds = chance.game_seeds(seed, batch)
    state = kernel.deal(rules, seeds)
    live = np.arange(batch)
    while live.size:
        rows = None if live.size == batch else live
        kernel.legal(state, rows, out=mask[: live.size])
        actions = pick_uniformly(
            state.tables,
            kernel.legal_slots(state, rows),
            kernel.placement_sets(state, rows),
            kernel.may_swap(state, rows),
            kernel.may_decline(state, rows),
            chance.bits(seeds[live], state.decisions[live]),
        )
        kernel.apply(state, actions, rows)
        live = live[~state.over[live]]
    return int(state.decisions.sum())
