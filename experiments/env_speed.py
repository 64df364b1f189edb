"""How many steps a second do the environments make, what do they weigh, and what does a copy cost?

    pip install -e '.[train]'
    python -m experiments.env_speed

measures, for two seats and on one core, learner steps per second of CPU time: a step is one decision of the learning
seat, the opponents' decisions up to its next one included, with the full mask of 2,882 actions and the observation
newly written. The learner plays at random, and choosing its actions is not counted. "Memory" is what the environment
holds and, in brackets, the most that is held during a step, as Python's allocator sees it. "Written" is observation and
mask a step; the share of this machine's memory speed is what writing them takes if nothing else is done.

A machine with two cores of an Intel Xeon, Python 3.11.7, numpy 2.4.6, numba 0.68.1, that writes 8.5 GB/s; without and
with ``--backend numba``:

                                       steps/s      numba    memory MB    written B
    gym.make_vec, 1 game                 1,193      4,486    1.0 (1.0)        4,944
    gym.make_vec, 64 games              25,094     93,100    1.0 (1.5)        4,944
    gym.make_vec, 1,024 games          125,262    286,124  15.6 (22.3)        4,944
    the same, flat                      98,832    174,455  34.6 (48.9)       11,130
    the same, tokens                   115,832    216,474  15.9 (22.6)        5,010
    gym.make_vec sync, 1 game            2,707      6,966    0.1 (0.1)        4,944
    gym.make_vec sync, 64 games          3,164     13,709    3.5 (3.8)        4,944
    GenialVecEnv, 1,024 games          112,268    250,905   7.3 (11.8)        4,944
    GenialVecEnv, 1,024, greedy         56,535    177,375   7.3 (19.0)        4,944
    GenialVecEnv, 64, greedy            14,656     61,397    0.5 (1.2)        4,944

Writing observation and mask takes 3 to 23% of the memory's speed. By profile of a step of 1,024 games in numpy, a few
hundred calls, 29% of it is playing (the learner's decision and the opponent's), 13% the opponent's choice, 17% views,
13% the planes, 6% masks, 10% dealing anew, 9% legality and rewards. Copying 1,000 games takes 0.1 ms as one State and
8 ms one by one; saving as many GenialEnv 114 ms, deepcopy 368 ms; determinizing 1,000 views 4.8 ms.
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
    """The settings; each is an option of the command line."""

    seconds: float = 4.0
    """of CPU time for each measurement"""
    backend: Literal["numpy", "numba"] = "numpy"
    """who does the work"""
    copies: int = 1000
    """games to copy"""
    out: Path | None = None
    """write the figures there, as JSON"""


class Steps:
    """Steps a batched environment under random playable actions, and measures.

    Args:
        n_envs: games at a time.
        reset: to begin, giving the observation.
        step: takes actions [n_envs], gives the observation.
        masks: bool [n_envs, A] of now, as a user gets them; asked for once a step.
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
        """Seconds of CPU time that a step took, and its masks."""
        luck = self._rng.integers(2**64, size=self.n_envs, dtype=np.uint64)
        actions = choose(pack(self.mask), luck)
        began = time.process_time()
        self.observation = self._step(actions)
        self.mask = self._masks()
        return time.process_time() - began

    def rate(self, seconds: float) -> float:
        """Learner steps a second."""
        for _ in range(3):
            self.once()
        steps, took = 0, 0.0
        while took < seconds:
            took += self.once()
            steps += self.n_envs
        return steps / took

    def written(self) -> int:
        """Bytes of observation and mask a game."""
        arrays = self.observation.values() if isinstance(self.observation, dict) else [self.observation]
        return (sum(array.nbytes for array in arrays) + self.mask.nbytes) // self.n_envs


def gymnasium_steps(n_envs: int, mode: str = "vector_entry_point", **arguments: Any) -> Steps:
    """``gym.make_vec``."""
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
    """``GenialVecEnv``."""
    env = GenialVecEnv(n_envs, **arguments)
    return Steps(n_envs, env.reset, lambda actions: env.step(actions)[0], lambda: env.env_method("action_masks"))


def memory(make: Callable[[], Steps]) -> tuple[float, float]:
    """MB held between steps, observation and mask included, and the most during a step."""
    make()  # tables are made once for all
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
    """Bytes a second that a copy of a large array writes."""
    source = np.ones(64_000_000, dtype=np.uint8)
    target = np.empty_like(source)
    np.copyto(target, source)
    return measured(lambda _: int(np.copyto(target, source) is None) * source.nbytes, 0.5)


def copying(games: int) -> dict[str, float]:
    """Milliseconds for so many games."""
    state = kernel.deal(Rules(), range(games))
    seen, rng = view(state), np.random.default_rng(0)
    env = GenialEnv()
    env.reset(seed=0)
    aec = genial_v0.raw_env()
    aec.reset(seed=0)
    saved = env.get_state()
    rows = np.arange(games)
    works: dict[str, Callable[[], Any]] = {
        "State.copy, all at once": state.copy,
        "State.select, all at once": lambda: state.select(rows),
        "determinize, all at once": lambda: determinize(seen, rng),
        "State.copy of one game, each by itself": lambda: [one.copy() for _ in range(games)],
        "GenialEnv.get_state, each": lambda: [env.get_state() for _ in range(games)],
        "GenialEnv.set_state, each": lambda: [env.set_state(saved) for _ in range(games)],
        "copy.deepcopy(GenialEnv), each": lambda: [copy.deepcopy(env) for _ in range(games)],
        "copy.deepcopy(AEC environment), each": lambda: [copy.deepcopy(aec) for _ in range(games)],
    }
    one = state.select(np.array([0]))
    return {
        name: 1000 / measured(lambda _, work=work: int(work() is not None) or 1, 0.5) for name, work in works.items()
    }


def main(args: Args) -> None:
    """Measure, print, and keep."""
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
