"""How fast is MaskablePPO at thousands of actions, and what takes the time?

    python -m experiments.ppo_speed

measures moves per second of CPU time on one thread, collecting rollouts alone and training included: sb3-contrib's own
distribution and buffer against those of agents/ppo/masked.py, in an environment of 2,882 actions that costs nothing,
and in the game.

The answer, moves per second of CPU time (a busy machine with two cores of an Intel Xeon, torch 2.13, sb3-contrib 2.9.2;
``MALLOC_TRIM_THRESHOLD_`` and ``MALLOC_MMAP_THRESHOLD_`` set to 4000000000, see docs/training.md):

    batch size x epochs                    collecting   with training   masks
    free, sb3-contrib, 64 x 10                  5,693             364   47 MB
    free, sb3-contrib, 512 x 4                  5,962           1,103   47 MB
    free, lean and packed, 64 x 10             28,483             984   1.5 MB
    free, lean and packed, 512 x 4             28,535           4,414   1.5 MB
    free, lean and packed, 1024 x 3            27,889           5,820   1.5 MB
    game, flat, sb3-contrib, 512 x 4            4,806           1,055   47 MB
    game, flat, lean and packed, 512 x 4       11,390           2,768   1.5 MB
    game, halves, as train_ppo, 512 x 3         4,586           1,147   1.5 MB

By profile (cProfile by CPU time), in the free environment the distribution now takes two fifths, a dozen passes over
2,882 numbers a move; the network's layers, above all the last one's 64 x 2,882 weights, a quarter, Adam a twentieth,
and Stable-Baselines3's own bookkeeping most of the rest. In the game with the policy that train_ppo trains, its network
over 546 halves takes two thirds (forward 40%, backward 27%), the distribution a tenth, the encoding a twentieth. Packed
masks cost nothing beside bool ones: 0.21 and 0.26 microseconds a row to fetch, 0.14 and 0.10 to keep; float32 0.93.
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
    """What is measured; each is an option of the command line."""

    num_envs: int = 64
    num_steps: int = 64
    """decisions of each game between two updates"""
    updates: int = 3
    """of each case, after one that is not counted"""
    backend: str = "numba"
    """of the game"""
    out: Path = Path("runs/ppo_speed.json")


class Free(VecEnv):
    """Costs nothing: always the same observations, and masks of the game in its middle; no episode ends."""

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
        """The same as ever."""
        return self._seen

    def step_async(self, actions: np.ndarray) -> None:
        """Whatever."""

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """The same as ever."""
        return self._seen, self._rewards, self._done, self._infos

    def close(self) -> None:
        """Nothing to release."""

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        """The masks."""
        return self._masks

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the whole."""
        return [getattr(self, attr_name)] * self.num_envs

    def has_attr(self, attr_name: str) -> bool:
        """It has masks."""
        return attr_name == "action_masks"

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Nothing to set."""
        raise AttributeError(f"nothing to set here, {attr_name!r} neither")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """It is as fast as can be."""
        return [False] * self.num_envs


class Clock(BaseCallback):
    """CPU time of collecting and of training, from the second rollout on."""

    def __init__(self) -> None:
        super().__init__()
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
            self.moves += self.model.n_steps * self.model.n_envs

    def _on_training_end(self) -> None:
        self.training += self._lap()


def measured(env: VecEnv, args: Args, policy: Any, batch_size: int, epochs: int, **more: Any) -> dict[str, float]:
    """Moves per second of CPU time, and the megabytes of the masks that are kept."""
    model = MaskablePPO(
        policy, env, n_steps=args.num_steps, batch_size=batch_size, n_epochs=epochs, seed=0, device="cpu", **more
    )
    clock = Clock()
    model.learn((1 + args.updates) * args.num_steps * args.num_envs, clock)
    return {
        "collecting": clock.moves / clock.collecting,
        "with_training": clock.moves / (clock.collecting + clock.training),
        "masks_mb": model.rollout_buffer.action_masks.nbytes / 1e6,
    }


def cases(args: Args) -> dict[str, dict[str, float]]:
    """All that is measured, by what is said of it."""
    packed, packed_dict = (
        {"rollout_buffer_class": kind} for kind in (PackedMaskRolloutBuffer, PackedMaskDictRolloutBuffer)
    )

    def game(encoding: Any) -> GenialVecEnv:
        return GenialVecEnv(args.num_envs, opponents=Pool(["greedy", "denial"]), seat="random", encoding=encoding)

    halves = packed_dict | {"policy_kwargs": {"rules_arguments": Rules().to_dict()}}
    found = {}
    for what, env, policy, batch_size, epochs, more in [
        ("free, sb3-contrib", Free, "MlpPolicy", 64, 10, {}),
        ("free, sb3-contrib", Free, "MlpPolicy", 512, 4, {}),
        ("free, lean and packed", Free, LeanPolicy, 64, 10, packed),
        ("free, lean and packed", Free, LeanPolicy, 512, 4, packed),
        ("free, lean and packed", Free, LeanPolicy, 1024, 3, packed),
        ("game, flat, sb3-contrib", "flat", "MlpPolicy", 512, 4, {}),
        ("game, flat, lean and packed", "flat", LeanPolicy, 512, 4, packed),
        ("game, halves, as train_ppo", Halves(), HalvesPolicy, 512, 3, halves),
    ]:
        made = env(args.num_envs) if env is Free else game(env)
        found[f"{what}, {batch_size} x {epochs}"] = measured(made, args, policy, batch_size, epochs, **more)
    return found


def main(args: Args) -> dict[str, dict[str, float]]:
    """Measure, print, keep."""
    torch.set_num_threads(1)
    with use_backend(args.backend):
        found = cases(args)
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
