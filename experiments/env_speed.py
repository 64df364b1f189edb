"""How many steps per second do the environments make, how much memory do they take, and what does a copy cost?

    pip install -e '.[train]'
    python -m experiments.env_speed

measures, for two seats on one core, learner steps per second of CPU time. A step is one decision of the learning seat
and all decisions of the opponents up to its next one, with the full mask of 2,882 actions and a new observation. The
learner plays at random, and the time to choose its actions is not counted. "Memory" is what the environment holds and,
in brackets, the maximum during a step, as Python's allocator reports it. "Written" is the size of observation and mask
per step. "Of memory speed" is the share of the time that copying so many bytes takes.

The answer: docs/measurements.md.
"""

import copy
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import gymnasium as gym
import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

from genial_env import Rules, determinize, genial_v0, use_backend, view
from genial_env._util.files import write_json
from genial_env._util.shutdown import handle_signals
from genial_env.arena.provenance import machine
from genial_env.bench import measured
from genial_env.core import kernel
from genial_env.core.bitsets import choose, pack
from genial_env.envs.sb3 import GenialVecEnv
from genial_env.envs.single import GenialEnv


@dataclass
class Args:
    """The options of the command line."""

    seconds: float = 4.0
    """seconds of CPU time for each measurement"""
    backend: Literal["numpy", "numba"] = "numpy"
    """compute backend"""
    copies: int = 1000
    """number of games to copy"""
    out: Path | None = None
    """JSON file for the results"""


class Steps:
    """Steps a batched environment with random legal actions, and measures.

    Args:
        n_envs: games at a time.
        reset: starts the games and returns the observation.
        step: takes actions [n_envs] and returns the observation.
        masks: returns the masks, bool [n_envs, A], as a user gets them; called once per step.
    """

    def __init__(
        self,
        n_envs: int,
        reset: Callable[[], Any],
        step: Callable[[Any], Any],
        masks: Callable[[], Any],
    ) -> None:
        self.n_envs, self._step, self._masks = n_envs, step, masks
        self._rng = np.random.default_rng(0)
        self.observation = reset()
        self.mask = masks()

    def once(self) -> float:
        """Make a step, with its masks, and return the seconds of CPU time."""
        random = self._rng.integers(2**64, size=self.n_envs, dtype=np.uint64)
        actions = choose(pack(self.mask), random)
        began = time.process_time()
        self.observation = self._step(actions)
        self.mask = self._masks()
        return time.process_time() - began

    def rate(self, seconds: float) -> float:
        """Measure learner steps per second."""
        for _ in range(3):
            self.once()
        steps, took = 0, 0.0
        while took < seconds:
            took += self.once()
            steps += self.n_envs
        return steps / took

    def written(self) -> int:
        """Return the bytes of observation and mask for each game."""
        arrays = self.observation.values() if isinstance(self.observation, dict) else [self.observation]
        return int(sum(array.nbytes for array in arrays) + self.mask.nbytes) // self.n_envs


def gymnasium_steps(n_envs: int, mode: str = "vector_entry_point", **arguments: Any) -> Steps:
    """Create an environment by ``gym.make_vec``."""
    kwargs: dict[str, Any] = {"autoreset_mode": "SameStep"}
    if mode != "vector_entry_point":
        kwargs = {"vectorization_mode": mode, "vector_kwargs": kwargs}
    env = gym.make_vec("genial_env/Genial-v0", num_envs=n_envs, **kwargs, **arguments)
    last: dict[str, Any] = {}

    def reset() -> Any:
        observation, last["info"] = env.reset(seed=0)
        return observation

    def step(actions: Any) -> Any:
        observation, _, _, _, last["info"] = env.step(actions)
        return observation

    return Steps(n_envs, reset, step, lambda: last["info"]["action_mask"].view(np.bool_))


def sb3_steps(n_envs: int, **arguments: Any) -> Steps:
    """Create a ``GenialVecEnv``."""
    env = GenialVecEnv(n_envs, **arguments)
    return Steps(n_envs, env.reset, lambda actions: env.step(actions)[0], lambda: env.env_method("action_masks"))


def memory(make: Callable[[], Steps]) -> tuple[float, float]:
    """Measure the MB held between steps, observation and mask included, and the maximum during a step."""
    make()  # fills the caches of tables
    tracemalloc.start()
    steps = make()
    for _ in range(3):
        steps.once()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    steps.once()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return held / 1e6, most / 1e6


def memory_speed() -> float:
    """Measure the bytes per second that a copy of a large array writes."""
    source = np.ones(64_000_000, dtype=np.uint8)
    target = np.empty_like(source)
    np.copyto(target, source)

    def copy_once(_: int) -> int:
        np.copyto(target, source)
        return source.nbytes

    return measured(copy_once, 0.5)


def measure_ms(work: Callable[[], Any]) -> float:
    """Measure the milliseconds that a function takes."""

    def work_once(_: int) -> int:
        work()
        return 1

    return 1000 / measured(work_once, 0.5)


def copying(games: int) -> dict[str, float]:
    """Measure the milliseconds to copy so many games in different ways."""
    state = kernel.deal(Rules(), range(games))
    seen, rng = view(state), np.random.default_rng(0)
    env = GenialEnv()
    env.reset(seed=0)
    aec = genial_v0.raw_env()
    aec.reset(seed=0)
    saved = env.get_state()
    rows = np.arange(games)

    def set_states() -> None:
        for _ in range(games):
            env.set_state(saved)

    works: dict[str, Callable[[], Any]] = {
        "State.copy, all at once": state.copy,
        "State.select, all at once": lambda: state.select(rows),
        "determinize, all at once": lambda: determinize(seen, rng),
        "State.copy of one game, each by itself": lambda: [one.copy() for _ in range(games)],
        "GenialEnv.get_state, each": lambda: [env.get_state() for _ in range(games)],
        "GenialEnv.set_state, each": set_states,
        "copy.deepcopy(GenialEnv), each": lambda: [copy.deepcopy(env) for _ in range(games)],
        "copy.deepcopy(AEC environment), each": lambda: [copy.deepcopy(aec) for _ in range(games)],
    }
    one = state.select(np.array([0]))
    return {name: measure_ms(work) for name, work in works.items()}


def main(args: Args) -> None:
    """Measure, print and write the results."""
    makers: dict[str, Callable[[], Steps]] = {
        "gym.make_vec, 1 game": lambda: gymnasium_steps(1),
        "gym.make_vec, 64 games": lambda: gymnasium_steps(64),
        "gym.make_vec, 1,024 games": lambda: gymnasium_steps(1024),
        "the same, flat": lambda: gymnasium_steps(1024, encoding="flat"),
        "the same, tokens": lambda: gymnasium_steps(1024, encoding="tokens"),
        "gym.make_vec sync, 1 game": lambda: gymnasium_steps(1, "sync"),
        "gym.make_vec sync, 64 games": lambda: gymnasium_steps(64, "sync"),
        "GenialVecEnv, 1,024 games": lambda: sb3_steps(1024),
        "GenialVecEnv, 1,024 games, greedy": lambda: sb3_steps(1024, opponents="greedy"),
        "GenialVecEnv, 64 games, greedy": lambda: sb3_steps(64, opponents="greedy"),
    }
    speed, found = memory_speed(), {}
    with use_backend(args.backend):
        for name, make in makers.items():
            steps = make()
            held, most = memory(make)
            rate = steps.rate(args.seconds)
            found[name] = {
                "steps_per_s": rate,
                "held_mb": held,
                "most_mb": most,
                "written_bytes": steps.written(),
                "share_of_memory_speed": rate * steps.written() / speed,
            }
        copies = copying(args.copies)
    table = Table(
        f"two seats, one core, {args.backend}",
        "steps/s",
        "memory MB",
        "written B",
        "of memory speed",
        title=f"{machine()}",
    )
    for name, row in found.items():
        table.add_row(
            name,
            f"{row['steps_per_s']:,.0f}",
            f"{row['held_mb']:,.1f} ({row['most_mb']:,.1f})",
            f"{row['written_bytes']:,}",
            f"{row['share_of_memory_speed']:.0%}",
        )
    Console(width=120).print(table)
    table = Table(f"{args.copies:,} games", "ms")
    for name, took in copies.items():
        table.add_row(name, f"{took:,.2f}")
    Console(width=120).print(table)
    print(f"memory speed: {speed / 1e9:.1f} GB/s")
    if args.out is not None:
        write_json(args.out, {"machine": machine(), "steps": found, "copies_ms": copies})


if __name__ == "__main__":
    with handle_signals("env_speed"):
        main(tyro.cli(Args))
