"""Does sb3-contrib's own MaskablePPO live through a long run with the widest masks?

Users of other games with thousands of actions report runs that die of ``The parameter probs has invalid values ...
Simplex()``: masked logits of -1e8 leave probabilities whose sum rounding takes too far from 1. Nothing of this project
stands in between here: a plain MlpPolicy, sb3-contrib's distribution with torch's validation on, the four-seat game
with its 5,546 actions, every action checked by the environment (``illegal_action="raise"``).

    pip install -e '.[train]'
    python -m experiments.long_masks

Answer: yes. 200,704 decisions among 5,546 actions in 312 s without an error (two busy cores of an Intel Xeon, torch
2.13, sb3-contrib 2.9.2).
"""

import time
from dataclasses import dataclass

import numpy as np
import torch
import tyro
from sb3_contrib import MaskablePPO

from genial_env._util.shutdown import handle_signals
from genial_env.envs.opponents import Pool
from genial_env.envs.sb3 import GenialVecEnv


@dataclass
class Args:
    """The run; the defaults are the answer's."""

    total_steps: int = 200_000
    players: int = 4
    num_envs: int = 64
    num_steps: int = 64
    """Decisions per game and rollout."""
    batch_size: int = 512
    epochs: int = 4
    learning_rate: float = 3e-4
    seed: int = 0


def main(args: Args) -> int:
    """Train; the number of decisions made. An error is the answer no."""
    torch.manual_seed(args.seed)
    env = GenialVecEnv(
        args.num_envs,
        args.players,
        opponents=Pool(["greedy", "random"]),
        seat="random",
        encoding="flat",
        illegal_action="raise",
        seed=args.seed,
    )
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=args.num_steps,
        batch_size=args.batch_size,
        n_epochs=args.epochs,
        learning_rate=args.learning_rate,
        seed=args.seed,
        device="cpu",
    )
    began = time.perf_counter()
    model.learn(args.total_steps)
    parameters = np.concatenate([p.detach().numpy().ravel() for p in model.policy.parameters()])
    if not np.isfinite(parameters).all():
        raise FloatingPointError("the network's weights are not finite")
    took = time.perf_counter() - began
    steps = int(model.num_timesteps)
    print(f"{steps:,} decisions among {env.action_space.n:,} actions in {took:,.0f} s, no error")
    return steps


if __name__ == "__main__":
    with handle_signals("long_masks"):
        main(tyro.cli(Args))
