"""How fast is each backend, and how fast are others on the same machine in the same run?

    pip install -e '.[bench,fast]'
    python -m experiments.speed

plays the two-seat game with all rules: random play by the kernel, with or without writing the full mask for every move;
whole playouts by each heuristic; one game at a time by ``kernel.apply`` and by PettingZoo's AEC environment; and
MOMAland's `moingenious_v0` in its AEC loop. The results are moves per second of the process's CPU time on one core; for
two threads, per second of wall time. All cases are measured in each of three rounds, and the median is taken. Ratios
count more than the numbers, which depend on the machine.

The answer: docs/measurements.md.
"""

import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

from genial_env import Backend, Rules, bench, genial_v0, use_backend
from genial_env._util.files import write_text
from genial_env._util.shutdown import handle_signals
from genial_env.arena.provenance import machine
from genial_env.policies.roster import COMPILED


@dataclass
class Args:
    """The options of the command line."""

    batch: int = 1024
    """games at a time in the kernel"""
    seconds: float = 6.0
    """seconds for each measurement, a third of them in each of three rounds"""
    out: Path | None = None
    """JSON file for the results"""


def play_aec_game(env: Any, seed: int, rng: np.random.Generator) -> int:
    """Play a game in an AEC environment at random by the masks of the observations, and return the number of moves."""
    moves = 0
    env.reset(seed=seed)
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        moves += 1
    return moves


def measure_aec(env: Any, seconds: float) -> float:
    """Measure moves per second of one game after the other."""
    rng = np.random.default_rng(0)
    return bench.measured(lambda number: play_aec_game(env, number, rng), seconds)


def momaland_env() -> Any:
    """Create MOMAland's environment for two seats."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it imports deprecated parts of its dependencies
        from momaland.envs.ingenious import moingenious_v0

        return moingenious_v0.env(num_agents=2)


@dataclass(frozen=True)
class Found:
    """The result of one case."""

    play: str
    by: str
    moves_per_s: float


def list_cases(batch: int) -> Iterator[tuple[str, str, Backend, Callable[[float], float]]]:
    """Yield all cases: name, player, backend, and a function that measures moves per second for some seconds.

    Two threads get larger batches only, because a small batch is not shared among threads.
    """
    rules, theirs = Rules(), momaland_env()
    yield "AEC loop, observation and mask", "MOMAland", Backend(), lambda s: measure_aec(theirs, s)
    one_core = Backend(), Backend("numba")
    for by, backend in zip(("Python", "numba"), one_core, strict=True):  # numpy alone plays single games in Python
        yield "AEC loop, observation and mask", by, backend, lambda s: measure_aec(genial_v0.env(), s)
    for backend in one_core:
        yield "one game, kernel.apply", backend.name, backend, lambda s: bench.one_game(rules, s).moves_per_s
    for games, backends in ((batch, one_core), (16 * batch, (*one_core, Backend("numba", 2)))):
        for full_mask in (True, False):
            for backend in backends:
                name = f"random, {'full mask' if full_mask else 'no mask'}, batch {games:,}"
                yield name, _format_backend(backend), backend, partial(_random, rules, games, full_mask)
    for policy in COMPILED:
        for backend in (*one_core, Backend("numba", 2)):
            yield f"playouts, {policy}", _format_backend(backend), backend, partial(_playouts, policy, rules, batch)


def _random(rules: Rules, batch: int, full_mask: bool, seconds: float) -> float:
    return bench.random_play(rules, batch, seconds, full_mask=full_mask).moves_per_s


def _playouts(policy: str, rules: Rules, batch: int, seconds: float) -> float:
    return bench.playout_play(policy, rules, batch, seconds).moves_per_s


def _format_backend(backend: Backend) -> str:
    return backend.name if backend.threads == 1 else f"{backend.name}, {backend.threads} threads"


def measure(args: Args) -> list[Found]:
    """Measure all cases in each of three rounds, so that noise affects all alike, and return the medians."""
    rounds: list[list[Found]] = []
    for _ in range(3):
        rounds.append([])
        for name, by, backend, work in list_cases(args.batch):
            with use_backend(backend):
                rounds[-1].append(Found(name, by, work(args.seconds / 3)))
    return [
        replace(same[0], moves_per_s=float(np.median([f.moves_per_s for f in same])))
        for same in zip(*rounds, strict=True)
    ]


def main(args: Args) -> None:
    """Measure, print and write the results."""
    found = measure(args)
    base = found[0].moves_per_s
    reference = {one.play: one.moves_per_s for one in found if one.by in ("numpy", "Python")}
    table = Table(
        "two seats",
        "by",
        "moves/s",
        "x numba-less",
        "x MOMAland",
        title=", ".join(f"{k} {v}" for k, v in machine().items()),
    )
    for one in found:
        times = one.moves_per_s / reference[one.play]
        table.add_row(one.play, one.by, f"{one.moves_per_s:,.0f}", f"{times:,.1f}", f"{one.moves_per_s / base:,.1f}")
    Console().print(table)
    if args.out is not None:
        kept = {"machine": machine(), "found": [asdict(one) for one in found], "args": asdict(args)}
        write_text(args.out, json.dumps(kept, default=str, indent=2) + "\n")


if __name__ == "__main__":
    with handle_signals("speed"):
        main(tyro.cli(Args))
