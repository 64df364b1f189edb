"""Does sb3-contrib's own MaskablePPO survive a long run with the widest masks?

Users of other games with thousands of actions report runs that end with ``The parameter probs has invalid values ...
Simplex()``: with masked logits of -1e8, rounding takes the sum of probabilities too far from 1. This experiment uses an
MlpPolicy with sb3-contrib's distribution and torch's validation, in the four-seat game with its 5,546 actions. The
environment checks every action (``illegal_action="raise"``).

    pip install -e '.[train]'
    python -m experiments.long_masks

The answer: yes. 200,704 decisions among 5,546 actions in 312 s without an error (two busy cores of an Intel Xeon, torch
2.13, sb3-contrib 2.9.2).
"""

import time
from dataclasses import dataclass

import numpy as np
import torch
import tyro
from sb3_contrib import MaskablePPO

from agents.ppo.masked import count_actions
from genial_env._util.shutdown import handle_signals
from genial_env.envs.opponents import Pool
from genial_env.envs.sb3 import GenialVecEnv


@dataclass
class Args:
    """The options of the command line. Names are those of Stable-Baselines3."""

    total_timesteps: int = 200_000
    """decisions of the learning seat"""
    players: int = 4
    """number of seats"""
    n_envs: int = 64
    """games at a time"""
    n_steps: int = 64
    """decisions in each game between two updates"""
    batch_size: int = 512
    """decisions in a minibatch"""
    n_epochs: int = 4
    """passes over the decisions of an update"""
    learning_rate: float = 3e-4
    """learning rate"""
    seed: int = 0
    """seed of the run"""


def main(args: Args) -> int:
    """Train and return the number of decisions. An error means that the answer is no."""
    torch.manual_seed(args.seed)
    env = GenialVecEnv(
        args.n_envs,
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
        n_steps=args.n_steps,
        batch_size=args.batch_size,
        n_epochs=args.n_epochs,
        learning_rate=args.learning_rate,
        seed=args.seed,
        device="cpu",
    )
    began = time.perf_counter()
    model.learn(args.total_timesteps)
    parameters = np.concatenate([p.detach().numpy().ravel() for p in model.policy.parameters()])
    if not np.isfinite(parameters).all():
        raise FloatingPointError("the network's weights are not finite")
    took = time.perf_counter() - began
    steps = int(model.num_timesteps)
    print(f"{steps:,} decisions among {count_actions(env.action_space):,} actions in {took:,.0f} s, no error")
    return steps


if __name__ == "__main__":
    with handle_signals("long_masks"):
        main(tyro.cli(Args))
