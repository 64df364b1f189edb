"""How fast is it by either backend, and how fast are others on the same machine in the same run?

    pip install -e '.[bench,fast]'
    python -m experiments.speed

plays the two-seat game, all rules: by the kernel at random, the full mask written for every move or none; whole
playouts by each built-in policy; one game at a time through ``kernel.apply`` and through PettingZoo's AEC environment;
and, beside it, MOMAland's `moingenious_v0` in its AEC loop. Figures are moves per second of the process's CPU time on
one core, those of two threads per second of the clock. Everything is measured side by side in each of three rounds, and
the median is taken; the machine is named, and what counts are the ratios.

A machine with two cores of an Intel Xeon, Python 3.11.7, numpy 2.4.6, numba 0.68.1, moves/s (times MOMAland):

                                          numpy             numba    numba, 2 threads
    AEC loop (MOMAland: 3,890)     7,630 (2.0)*      21,581 (5.5)
    one game, kernel.apply         4,977 (1.3)      165,596  (43)
    random, full mask, 1,024       561,318 (144)  1,730,492 (445)
    random, no mask, 1,024         752,568 (193)  3,448,801 (887)
    random, full mask, 16,384      754,923 (194)  1,751,294 (450)    3,285,614   (845)
    random, no mask, 16,384      1,241,511 (319)  3,899,611 (1,002)  6,001,861 (1,543)
    playouts, random               730,043 (188)  4,402,095 (1,132)  8,156,159 (2,096)
    playouts, greedy               128,702  (33)    660,100 (170)    1,275,107   (328)
    playouts, concave               47,897  (12)    698,498 (180)    1,304,942   (335)
    playouts, denial                23,348 (6.0)    278,828  (72)      557,804   (143)

* in Python, as the environments for one game are played without numba. A whole game is 39 moves at random and 42 by
"concave". Python was a third slower in this run than at other times, compiled code a tenth.
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
    """The settings; each is an option of the command line."""

    batch: int = 1024
    """games at a time in the kernel"""
    seconds: float = 6.0
    """for each measurement, a third of it in each of three rounds"""
    out: Path | None = None
    """write the figures there, as JSON"""


def aec_game(env: Any, seed: int, rng: np.random.Generator) -> int:
    """One game through an AEC environment, a legal action drawn from the mask of every observation; how many moves."""
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


def aec_play(env: Any, seconds: float) -> float:
    """Moves a second of one game after the other."""
    rng = np.random.default_rng(0)
    return bench.measured(lambda number: aec_game(env, number, rng), seconds)


def momaland_env() -> Any:
    """MOMAland's environment for two seats."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it imports what its own dependencies deprecate
        from momaland.envs.ingenious import moingenious_v0

        return moingenious_v0.env(num_agents=2)


@dataclass(frozen=True)
class Found:
    """What was measured of one way to play."""

    play: str
    by: str
    moves_per_s: float


def ways(batch: int) -> Iterator[tuple[str, str, Backend, Callable[[float], float]]]:
    """Every way to play: its name, who plays, the backend, and what measures moves per second in so many seconds.

    Two threads share the steps of a larger batch, as they leave a small one to one of them.
    """
    rules, theirs = Rules(), momaland_env()
    yield "AEC loop, observation and mask", "MOMAland", Backend(), lambda s: aec_play(theirs, s)
    one_core = Backend(), Backend("numba")
    for by, backend in zip(("Python", "numba"), one_core, strict=True):  # numpy alone plays single games in Python
        yield "AEC loop, observation and mask", by, backend, lambda s: aec_play(genial_v0.env(), s)
    for backend in one_core:
        yield "one game, kernel.apply", backend.name, backend, lambda s: bench.one_game(rules, s).moves_per_s
    for games, backends in ((batch, one_core), (16 * batch, (*one_core, Backend("numba", 2)))):
        for full_mask in (True, False):
            for backend in backends:
                name = f"random, {'full mask' if full_mask else 'no mask'}, batch {games:,}"
                yield name, _words(backend), backend, partial(_random, rules, games, full_mask)
    for policy in COMPILED:
        for backend in (*one_core, Backend("numba", 2)):
            yield f"playouts, {policy}", _words(backend), backend, partial(_playouts, policy, rules, batch)


def _random(rules: Rules, batch: int, full_mask: bool, seconds: float) -> float:
    return bench.random_play(rules, batch, seconds, full_mask=full_mask).moves_per_s


def _playouts(policy: str, rules: Rules, batch: int, seconds: float) -> float:
    return bench.playout_play(policy, rules, batch, seconds).moves_per_s


def _words(backend: Backend) -> str:
    return backend.name if backend.threads == 1 else f"{backend.name}, {backend.threads} threads"


def measure(args: Args) -> list[Found]:
    """The median of three rounds, all measurements side by side in each, so that a noisy minute hits all alike."""
    rounds: list[list[Found]] = []
    for _ in range(3):
        rounds.append([])
        for name, by, backend, work in ways(args.batch):
            with use_backend(backend):
                rounds[-1].append(Found(name, by, work(args.seconds / 3)))
    return [
        replace(same[0], moves_per_s=float(np.median([f.moves_per_s for f in same])))
        for same in zip(*rounds, strict=True)
    ]


def main(args: Args) -> None:
    """Measure, print, and keep."""
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
