"""What should a program that trains an agent reach on the small board, and after how many steps?

    pip install -e '.[train,fast]'
    python -m experiments.reference_curves

trains MaskablePPO of sb3-contrib with a plain perceptron, two layers of 64 units over the encoding "flat", on the small
board of the examples (side 4, 4 colors, 3 tiles). The policy computes what sb3-contrib's "MlpPolicy" does, but faster
(agents/ppo/masked.py). The opponent of each game is "greedy" or "random". After some
numbers of steps (decisions of the learning seat) the agent plays against the scripted agents. The scripted agents
"random" and "greedy" play against the same opponents. Steps are rounded up to whole updates of `n_envs * n_steps`.

The program prints the mean share of games won over seeds (ties count half) and the lowest and highest seed. After each
seed it writes all results to `--out`; the same command goes on with the seeds that are missing there.

The answer: docs/measurements.md, "A small board".
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from rich.console import Console
from rich.table import Table
from sb3_contrib import MaskablePPO

from agents.ppo.masked import LeanPolicy, PackedMaskRolloutBuffer
from agents.ppo.sb3_agent import SB3Agent
from agents.runs.evaluation import measure
from genial_env import Rules
from genial_env._util.files import check_replaceable, write_json
from genial_env._util.shutdown import handle_signals
from genial_env._util.strict_json import read_object
from genial_env.arena.provenance import provenance
from genial_env.backends import current, for_one_game, using
from genial_env.envs.opponents import Pool
from genial_env.envs.sb3 import GenialVecEnv

RULES = Rules(side=4, colors=4, rack=3)

SCRIPTED = ("random", "greedy")
"""Agents that play against the same opponents, for comparison."""

Shares = dict[str, float]
"""The share of games won, by opponent."""


@dataclass
class Args:
    """The options of the command line. Names are those of Stable-Baselines3."""

    steps: tuple[int, ...] = (10_000, 50_000, 200_000)
    """decisions of the learning seat after which the agent is evaluated, ascending"""
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    """seeds of the runs"""
    opponents: tuple[str, ...] = ("random", "greedy", "denial")
    """opponents of the evaluations"""
    training_opponents: tuple[str, ...] = ("greedy", "random")
    """each training game draws its opponent from these at random"""
    deals: int = 100
    """deals of an evaluation against each opponent; each is played from both seats"""
    n_envs: int = 16
    """games at a time"""
    n_steps: int = 64
    """decisions in each game between two updates"""
    batch_size: int = 256
    """decisions in a minibatch"""
    n_epochs: int = 4
    """passes over the decisions of an update"""
    learning_rate: float = 1e-3
    """learning rate"""
    ent_coef: float = 0.01
    """coefficient of the entropy bonus"""
    threads: int = 1
    """threads of torch"""
    out: Path = Path("runs/reference_curves.json")
    """JSON file of the results"""


def train(args: Args, seed: int) -> dict[int, Shares]:
    """Train one agent, and return its results by number of steps."""
    env = GenialVecEnv(
        args.n_envs,
        encoding="flat",
        opponents=Pool(args.training_opponents),
        seat="random",
        seed=seed,
        side=RULES.side,
        colors=RULES.colors,
        rack=RULES.rack,
    )
    model = MaskablePPO(
        LeanPolicy,
        env,
        rollout_buffer_class=PackedMaskRolloutBuffer,
        n_steps=args.n_steps,
        batch_size=args.batch_size,
        n_epochs=args.n_epochs,
        learning_rate=args.learning_rate,
        gamma=1.0,
        ent_coef=args.ent_coef,
        seed=seed,
        device="cpu",
    )
    found = {}
    for steps in args.steps:
        model.learn(steps - model.num_timesteps, reset_num_timesteps=False)
        found[steps] = evaluate(SB3Agent(model, encoding="flat"), args)
        print(f"seed {seed}, {model.num_timesteps:,} steps: {_format_shares(found[steps])}", flush=True)
    return found


def evaluate(agent: Any, args: Args) -> Shares:
    """Measure the share of games that an agent wins against each opponent."""
    return {name: each.mean for name, each in measure(agent, args.opponents, RULES, args.deals, seed=1).items()}


def _format_shares(shares: Shares) -> str:
    return ", ".join(f"{share:.1%} against {name}" for name, share in shares.items())


def _make_table(scripted: dict[str, Shares], runs: dict[str, dict[str, Shares]], args: Args) -> Table:
    table = Table("agent", *(f"against {name}" for name in args.opponents))
    for name, shares in scripted.items():
        table.add_row(name, *(f"{share:.1%}" for share in shares.values()))
    for steps in args.steps:
        cells = []
        for opponent in args.opponents:
            by_seed = np.array([run[str(steps)][opponent] for run in runs.values()])
            cells.append(f"{by_seed.mean():.1%} ({by_seed.min():.1%} to {by_seed.max():.1%})")
        table.add_row(f"MLP, {steps:,} steps", *cells)
    return table


def main(args: Args) -> dict[str, dict[str, Shares]]:
    """Train, evaluate, write and print; return the results by seed and number of steps."""
    args.out.parent.mkdir(parents=True, exist_ok=True)
    check_replaceable(args.out)
    torch.set_num_threads(args.threads)
    arguments = json.loads(json.dumps(asdict(args), default=str))
    compared = {name: value for name, value in arguments.items() if name not in ("seeds", "out", "threads")}
    kept = _read_results(args.out, compared)
    runs: dict[str, dict[str, Shares]] = kept.get("runs", {})
    with using(for_one_game()):
        scripted = {name: evaluate(name, args) for name in SCRIPTED}
        for seed in args.seeds:
            if str(seed) not in runs:
                runs[str(seed)] = {str(steps): shares for steps, shares in train(args, seed).items()}
                about = {"arguments": compared, **provenance(current())}
                write_json(args.out, {"about": about, "scripted": scripted, "runs": runs})
    chosen = {str(seed): runs[str(seed)] for seed in args.seeds}
    Console(width=120).print(_make_table(scripted, chosen, args))
    print(f"Results: {args.out}")
    return chosen


def _read_results(path: Path, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the results of an earlier call with the same arguments; {} if there is none.

    Raises:
        ValueError: if the file holds results of other arguments.
    """
    if not path.exists():
        return {}
    kept = read_object(path)
    if kept.get("about", {}).get("arguments") != arguments:
        raise ValueError(f"{path} holds results of other options: name another file with --out")
    return kept


if __name__ == "__main__":
    with handle_signals("reference_curves"):
        main(tyro.cli(Args))
