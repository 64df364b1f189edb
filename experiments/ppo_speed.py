"""How fast is MaskablePPO with thousands of actions, and what takes the time?

    python -m experiments.ppo_speed

measures decisions per second of CPU time on one thread: collecting rollouts only, and with training. It compares
sb3-contrib's own distribution and buffer with those of agents/ppo/masked.py, in an environment of 2,882 actions that
costs nothing and in the game.

The answer: docs/training.md, "Speed".
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from gymnasium import spaces
from rich.console import Console
from rich.table import Table
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

from agents.ppo.halves_policy import HalvesPolicy
from agents.ppo.masked import LeanPolicy, PackedMaskDictRolloutBuffer, PackedMaskRolloutBuffer
from genial_env import Rules, use_backend
from genial_env._util.files import write_json
from genial_env._util.shutdown import handle_signals
from genial_env.arena.provenance import provenance
from genial_env.backends import current
from genial_env.envs.opponents import Pool
from genial_env.envs.sb3 import GenialVecEnv
from genial_env.policies.halves import Halves


@dataclass
class Args:
    """The options of the command line."""

    n_envs: int = 64
    """games at a time"""
    n_steps: int = 64
    """decisions in each game between two updates"""
    updates: int = 3
    """updates of each case, after one that is not counted"""
    backend: str = "numba"
    """backend of the game"""
    out: Path = Path("runs/ppo_speed.json")
    """file for the results"""


class FreeVecEnv(VecEnv):
    """An environment that costs nothing: constant observations, masks of the middle of a game, endless episodes."""

    def __init__(self, num_envs: int) -> None:
        game = GenialVecEnv(num_envs, opponents="random", seat="random")
        game.reset()
        rng = np.random.default_rng(0)
        for _ in range(8):
            masks = game.action_masks()
            game.step(np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1))
        self._masks = game.action_masks()
        self._seen = rng.random((num_envs, 32), dtype=np.float32)
        self._rewards, self._done = np.zeros(num_envs, dtype=np.float32), np.zeros(num_envs, dtype=np.bool_)
        self._infos: list[dict[str, Any]] = [{} for _ in range(num_envs)]
        self.render_mode = None
        super().__init__(num_envs, spaces.Box(0, 1, (32,), np.float32), game.action_space)

    def reset(self) -> np.ndarray:
        """Return the constant results."""
        return self._seen

    def step_async(self, actions: np.ndarray) -> None:
        """Ignore the actions."""

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Return the constant results."""
        return self._seen, self._rewards, self._done, self._infos

    def close(self) -> None:
        """Release nothing."""

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        """Return the masks."""
        return self._masks

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute for each game."""
        return [getattr(self, attr_name)] * self.num_envs

    def has_attr(self, attr_name: str) -> bool:
        """Return whether it is the one for masks."""
        return attr_name == "action_masks"

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse to set anything."""
        raise AttributeError(f"{attr_name!r} cannot be set")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Return that there are no wrappers."""
        return [False] * self.num_envs


class Clock(BaseCallback):
    """Measures the CPU time of collecting and of training, from the second rollout on.

    Args:
        moves_per_rollout: number of decisions of a rollout.
    """

    def __init__(self, moves_per_rollout: int) -> None:
        super().__init__()
        self._moves_per_rollout = moves_per_rollout
        self.collecting, self.training, self.moves = 0.0, 0.0, 0
        self._rollouts, self._since = 0, 0.0

    def _on_step(self) -> bool:
        return True

    def _lap(self) -> float:
        before, self._since = self._since, time.process_time()
        return self._since - before

    def _on_rollout_start(self) -> None:
        took = self._lap()
        self.training += took if self._rollouts > 1 else 0.0
        self._rollouts += 1

    def _on_rollout_end(self) -> None:
        took = self._lap()
        if self._rollouts > 1:
            self.collecting += took
            self.moves += self._moves_per_rollout

    def _on_training_end(self) -> None:
        self.training += self._lap()


def measure(env: VecEnv, args: Args, policy: Any, batch_size: int, epochs: int, **more: Any) -> dict[str, float]:
    """Measure moves per second of CPU time, and the megabytes of masks in the buffer."""
    model = MaskablePPO(
        policy, env, n_steps=args.n_steps, batch_size=batch_size, n_epochs=epochs, seed=0, device="cpu", **more
    )
    clock = Clock(args.n_steps * args.n_envs)
    model.learn((1 + args.updates) * args.n_steps * args.n_envs, clock)
    return {
        "collecting": clock.moves / clock.collecting,
        "with_training": clock.moves / (clock.collecting + clock.training),
        "masks_mb": model.rollout_buffer.action_masks.nbytes / 1e6,
    }


def measure_all(args: Args) -> dict[str, dict[str, float]]:
    """Measure all cases, by description."""
    packed: dict[str, Any] = {"rollout_buffer_class": PackedMaskRolloutBuffer}
    packed_dict: dict[str, Any] = {"rollout_buffer_class": PackedMaskDictRolloutBuffer}

    def game(encoding: Any) -> GenialVecEnv:
        return GenialVecEnv(args.n_envs, opponents=Pool(["greedy", "denial"]), seat="random", encoding=encoding)

    halves: dict[str, Any] = packed_dict | {"policy_kwargs": {"rules_arguments": Rules().to_dict()}}
    found = {}
    cases: list[tuple[str, Any, Any, int, int, dict[str, Any]]] = [
        ("free, sb3-contrib", FreeVecEnv, "MlpPolicy", 64, 10, {}),
        ("free, sb3-contrib", FreeVecEnv, "MlpPolicy", 512, 4, {}),
        ("free, lean and packed", FreeVecEnv, LeanPolicy, 64, 10, packed),
        ("free, lean and packed", FreeVecEnv, LeanPolicy, 512, 4, packed),
        ("free, lean and packed", FreeVecEnv, LeanPolicy, 1024, 3, packed),
        ("game, flat, sb3-contrib", "flat", "MlpPolicy", 512, 4, {}),
        ("game, flat, lean and packed", "flat", LeanPolicy, 512, 4, packed),
        ("game, halves, lean and packed", Halves(), HalvesPolicy, 512, 3, halves),
    ]
    for what, env, policy, batch_size, epochs, more in cases:
        made = env(args.n_envs) if env is FreeVecEnv else game(env)
        found[f"{what}, {batch_size} x {epochs}"] = measure(made, args, policy, batch_size, epochs, **more)
    return found


def main(args: Args) -> dict[str, dict[str, float]]:
    """Measure, print and write the results."""
    torch.set_num_threads(1)
    with use_backend(args.backend):
        found = measure_all(args)
        about = provenance(current())
    table = Table(
        "batch size x epochs", "collecting", "with training", "masks, MB", title="moves per second of CPU time"
    )
    for what, rates in found.items():
        table.add_row(what, f"{rates['collecting']:,.0f}", f"{rates['with_training']:,.0f}", f"{rates['masks_mb']:.1f}")
    Console().print(table)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    write_json(args.out, {"found": found, "made_by": about})
    return found


if __name__ == "__main__":
    with handle_signals("ppo_speed"):
        main(tyro.cli(Args))
