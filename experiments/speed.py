"""How fast is it, and how fast are others on the same machine in the same run?

    pip install -e '.[bench]'
    python -m experiments.speed

plays the two-seat game on one core: random play by the kernel with the full mask written for every move, greedy play,
one game at a time through PettingZoo's AEC environment; and, beside it, MOMAland's `moingenious_v0` in its AEC loop.
Every figure is moves per second of the process's CPU time; the machine is named, and what counts are the ratios.

A machine with two cores of an Intel Xeon, Python 3.11.7, numpy 2.4.6:

    MOMAland 0.2.0, AEC loop                 5,655      1.0
    AEC, observation and mask                11,531      2.0
    greedy, batch 2048                     114,210     20
    random with full mask, batch 2048      950,051    168
"""

import json
import os
import platform
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

import genial_env
from genial_env import Rules, genial_v0
from genial_env.bench import greedy_play, measured, random_play


@dataclass
class Args:
    """The settings; each is an option of the command line."""

    batch: int = 2048
    """games at a time in the kernel"""
    seconds: float = 8.0
    """of CPU time for each measurement, a third of it in each of three rounds"""
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
    return measured(lambda number: aec_game(env, number, rng), seconds)


def momaland_env() -> Any:
    """MOMAland's environment for two seats."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it imports what its own dependencies deprecate
        from momaland.envs.ingenious import moingenious_v0

        return moingenious_v0.env(num_agents=2)


def measure(args: Args) -> dict[str, float]:
    """The median of three rounds, all measurements side by side in each, so that a noisy minute hits all alike."""
    ours, theirs = genial_v0.env(), momaland_env()
    works: dict[str, Callable[[float], float]] = {
        "MOMAland, AEC": lambda s: aec_play(theirs, s),
        "AEC, observation and mask": lambda s: aec_play(ours, s),
        f"greedy, batch {args.batch}": lambda s: greedy_play(Rules(), args.batch, s).moves_per_s,
        f"random with full mask, batch {args.batch}": lambda s: random_play(Rules(), args.batch, s).moves_per_s,
    }
    rounds = [{name: work(args.seconds / 3) for name, work in works.items()} for _ in range(3)]
    return {name: float(np.median([found[name] for found in rounds])) for name in works}


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "genial_env": genial_env.__version__,
    }


def main(args: Args) -> None:
    """Measure, print, and keep."""
    found = measure(args)
    base = found["MOMAland, AEC"]
    table = Table(
        "two seats, one core", "moves/s", "times MOMAland", title=", ".join(f"{k} {v}" for k, v in machine().items())
    )
    for name, moves in found.items():
        table.add_row(name, f"{moves:,.0f}", f"{moves / base:,.1f}")
    Console().print(table)
    if args.out is not None:
        args.out.write_text(
            json.dumps({"machine": machine(), "moves_per_s": found, "args": asdict(args)}, default=str, indent=2)
        )


if __name__ == "__main__":
    main(tyro.cli(Args))
