"""Can the game be trained on a cluster? PPO self-play with RLlib, env runners on Ray.

    python3 -m venv .venv-rllib && .venv-rllib/bin/pip install -e '.[rllib]'
    .venv-rllib/bin/python -m experiments.train_rllib --num-env-runners 2

One module plays all seats, so every game teaches it from each of them. Every iteration is checkpointed to runs/rllib,
and at the end the module plays random and greedy, on the same deals from every seat. On a Ray cluster the same script
runs with ``--address auto`` (docs/rllib.md).

The answer, on two busy cores in 305 s and 246,000 decisions: it runs, and learns slowly. Mean rank utility (+1 first,
-1 last) over 200 deals from both seats: +0.23 ± 0.09 against random, -1.00 against greedy. RLlib's plain network must
learn every placement by itself; the structured policy of experiments/quickstart.py is far ahead in a third of the time.
On a small board (--side 4 --colors 4 --rack 3 --iterations 40 --batch 4096 --learning-rate 1e-3) 164,000 decisions in
91 s bring +0.86 ± 0.05 against random and -0.72 ± 0.07 against greedy.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import ray
import tyro
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from rich.console import Console
from rich.table import Table

from agents.rllib_agent import MODULE, RLlibAgent
from genial_env import Rules, play
from genial_env.envs import rllib
from genial_env.envs.rewards import rank_utility


@dataclass
class Args:
    """The settings; each is an option of the command line."""

    players: int = 2
    edition: str = "2025"
    mode: str = "individual"
    side: int | None = None
    """variant: cells along an edge of the board"""
    colors: int = 6
    """variant: colors in play"""
    rack: int | None = None
    """variant: tiles on a rack"""
    iterations: int = 30
    num_env_runners: int = 2
    """processes that play, on whatever machines Ray has"""
    num_envs: int = 8
    """games at a time in each of them"""
    batch: int = 8192
    """decisions between two updates"""
    minibatch: int = 512
    epochs: int = 4
    learning_rate: float = 3e-4
    entropy_weight: float = 0.003
    hidden: tuple[int, ...] = (256, 256)
    """units of the network's layers"""
    games: int = 200
    """evaluation games from each seat against each opponent"""
    seed: int = 0
    address: str | None = None
    """of a Ray cluster, "auto" for the one that this machine belongs to; none starts Ray here"""
    out: Path = Path("runs/rllib")


def make_config(args: Args, rules: Rules) -> PPOConfig:
    """PPO with one masked module for all seats."""
    rllib.register()
    spec = RLModuleSpec(
        module_class=rllib.MaskedPPOModule, model_config=DefaultModelConfig(fcnet_hiddens=list(args.hidden))
    )
    return (
        PPOConfig()
        .environment("genial_env", env_config=rules.to_dict())
        .env_runners(num_env_runners=args.num_env_runners, num_envs_per_env_runner=args.num_envs)
        .multi_agent(policies={MODULE}, policy_mapping_fn=lambda agent, episode, **_: MODULE)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={MODULE: spec}))
        .training(
            lr=args.learning_rate,
            gamma=1.0,
            lambda_=0.95,
            train_batch_size_per_learner=args.batch,
            minibatch_size=args.minibatch,
            num_epochs=args.epochs,
            entropy_coeff=args.entropy_weight,
            grad_clip=0.5,
        )
        .debugging(seed=args.seed, log_level="ERROR")
    )


def evaluate(agent: RLlibAgent, opponent: str, rules: Rules, games: int, seed: int) -> tuple[float, float]:
    """Mean rank utility against an opponent on all other seats (in a team with itself) over the same deals from every
    seat, and half the width of its 95% interval over deals.
    """
    by_deal = np.zeros(games)
    for seat in range(rules.tracks):
        seats = [agent if other % rules.tracks == seat else opponent for other in range(rules.players)]
        results = play(seats, rules, games, seed)
        by_deal += rank_utility(results.ranks)[:, seat] / rules.tracks
    return float(by_deal.mean()), float(1.96 * by_deal.std(ddof=1) / np.sqrt(games))


def main(args: Args) -> dict[str, Any]:
    """Train, checkpoint, evaluate; the last iteration's losses and the results by opponent."""
    rules = Rules(
        args.players,
        args.edition,
        args.mode,
        side=args.side,  # type: ignore[arg-type]  # None is as printed
        colors=args.colors,
        rack=args.rack,  # type: ignore[arg-type]
    )
    ray.init(address=args.address, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    console, checkpoint = Console(), (args.out / "checkpoint").absolute()
    algorithm = make_config(args, rules).build_algo()
    began = time.perf_counter()
    for iteration in range(1, args.iterations + 1):
        found = algorithm.train()
        losses = {name: float(found["learners"][MODULE][name]) for name in ("policy_loss", "vf_loss", "entropy")}
        sampled = int(found["env_runners"]["num_env_steps_sampled_lifetime"])
        algorithm.save_to_path(str(checkpoint))
        shown = ", ".join(f"{name} {value:.3f}" for name, value in losses.items())
        console.print(f"{iteration:4d}  {sampled:,} decisions  {time.perf_counter() - began:,.0f} s  {shown}")
    algorithm.stop()
    agent = RLlibAgent(checkpoint)
    results = {name: evaluate(agent, name, rules, args.games, args.seed + 1) for name in ("random", "greedy")}
    table = Table("against", "rank utility, +1 first to -1 last", title=f"{args.games} deals, from every seat")
    for name, (mean, half) in results.items():
        table.add_row(name, f"{mean:+.3f} ± {half:.3f}")
    console.print(table)
    console.print(f"In {checkpoint}: the last checkpoint")
    return {"losses": losses, "sampled": sampled, "results": results}


if __name__ == "__main__":
    main(tyro.cli(Args))
