"""Can an agent learn this game in two minutes on a laptop's CPU?

    python -m experiments.quickstart

trains a MaskablePPO agent with the structured policy (agents/ppo/structured.py) for two seats against greedy and
random, saves it, plays it against both over seat-swapped games, prints how it ranks, and saves a game record and the
learning curve, all in runs/quickstart.

The answer: yes. First ranks over 1,000 seat-swapped games with 95% intervals, seeds 0, 1, 2, one thread of torch:

    against greedy   60.8% ± 3.0%   61.5% ± 2.9%   65.5% ± 2.9%
    against random   100.0%         100.0%         100.0%
    training, CPU    163 s          170 s          171 s         beside other work, by the clock 346 to 398 s

Untrained (--total-steps 0) the policy is a soft greedy player: 44.9% ± 3.1% against greedy, 99.3% ± 0.5% against
random. Against greedy only, with twice the learning rate, half the rollout and no such beginning it fell to 21% in
100,000 decisions.
"""

import time
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
import torch
import tyro
from rich.console import Console
from rich.table import Table
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from agents.ppo.masked import SavedAtOnce
from agents.ppo.sb3_agent import SB3Agent
from agents.ppo.structured import StructuredPolicy
from agents.runs.evaluation import Measured, measured, play_rotations, values_of_games
from genial_env import Results, Rules, play
from genial_env._util.files import lock_folder, replace_path
from genial_env._util.shutdown import handle_signals
from genial_env.envs.opponents import Pool
from genial_env.envs.sb3 import GenialVecEnv
from genial_env.records import write_records

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # after the choice of a backend that needs no display


@dataclass
class Args:
    """The settings; each is an option of the command line."""

    total_steps: int = 150_000
    """decisions of the learning seat"""
    num_envs: int = 64
    """games at a time"""
    opponents: tuple[str, ...] = ("greedy", "greedy", "greedy", "random")
    """the pool from which each game draws its opponent"""
    num_steps: int = 64
    """decisions of each game between two updates"""
    batch_size: int = 512
    epochs: int = 4
    learning_rate: float = 2e-3
    gae_lambda: float = 0.95
    entropy_weight: float = 0.001
    width: int = 24
    """hidden units of the shared networks"""
    pairs: int = 500
    """pairs of evaluation games, seats swapped over the same deal, against each opponent"""
    seed: int = 0
    threads: int = 2
    """of torch"""
    out: Path = Path("runs/quickstart")


class WinCurve(BaseCallback):
    """Keeps for every training game when it ended, against whom, and the result: 1 won, 0.5 shared, 0 lost."""

    def __init__(self) -> None:
        super().__init__()
        self.games: list[tuple[int, str, float]] = []

    def _on_step(self) -> bool:
        names = self.training_env.opponent_names
        for info, done in zip(self.locals["infos"], self.locals["dones"], strict=True):
            if done:
                own, other = info["ranks"][info["seat"]], info["ranks"][1 - info["seat"]]
                opponent = names[info["opponents"][0]]
                self.games.append((self.num_timesteps, opponent, 0.5 + 0.5 * np.sign(other - own)))
        return True


def train(args: Args, rules: Rules) -> tuple[MaskablePPO, WinCurve]:
    """Train an agent; the progress bar is SB3's."""
    torch.set_num_threads(args.threads)
    env = GenialVecEnv(args.num_envs, opponents=Pool(args.opponents), seat="random", seed=args.seed)
    model = SavedAtOnce(
        StructuredPolicy,
        env,
        n_steps=args.num_steps,
        batch_size=args.batch_size,
        n_epochs=args.epochs,
        learning_rate=args.learning_rate,
        gamma=1.0,
        gae_lambda=args.gae_lambda,
        ent_coef=args.entropy_weight,
        policy_kwargs={"rules_arguments": rules.to_dict(), "width": args.width},
        seed=args.seed,
        device="cpu",
    )
    curve = WinCurve()
    model.learn(args.total_steps, callback=curve, progress_bar=True)
    return model, curve


def ranking_table(games: dict[str, list[Results]]) -> Table:
    """How the agent ranks against each opponent by the min-score tie-break, with 95% intervals over pairs."""
    table = Table(
        "against", "games", "first rank", "shared", "mean sorted markers", title="Who has the higher lowest marker?"
    )
    for opponent, rotations in games.items():
        found = measured(rotations)
        shared = np.mean([values_of_games(results, seat) == 0.5 for seat, results in enumerate(rotations)])
        own = np.concatenate([results.scores[:, seat] for seat, results in enumerate(rotations)])
        other = np.concatenate([results.scores[:, 1 - seat] for seat, results in enumerate(rotations)])
        figures = [str(found.games), f"{found.mean:.1%} ± {found.half:.1%}", f"{shared:.1%}"]
        table.add_row(opponent, *figures, f"ppo {mean_sorted(own)}\n{opponent} {mean_sorted(other)}")
    return table


def mean_sorted(scores: np.ndarray) -> str:
    """The markers [games, C] sorted from the lowest up, in the mean."""
    return " ".join(f"{marker:.1f}" for marker in np.sort(scores, axis=1).mean(axis=0))


def draw_curve(curve: WinCurve, path: Path, window: int = 300) -> None:
    """The share of training games won, over a sliding window of the games against each opponent."""
    figure, axes = plt.subplots(figsize=(7, 4), dpi=110, layout="constrained")
    for opponent, color in (("greedy", "#2d74da"), ("random", "#d63031")):
        games = [(step, result) for step, name, result in curve.games if name == opponent]
        if len(games) < 2:
            continue
        steps, results = np.array(games).T
        span = min(window, len(results))
        upto = np.concatenate([[0.0], np.cumsum(results)])
        axes.plot(steps[span - 1 :], (upto[span:] - upto[:-span]) / span, color=color, label=f"against {opponent}")
        axes.legend(loc="lower right")
    axes.axhline(0.5, color="#888888", linewidth=0.8, linestyle="--")
    axes.set(
        xlabel="decisions of the learning seat",
        ylabel=f"share won, last {window} games",
        ylim=(0, 1.02),
        title="MaskablePPO with the structured policy, while it explores",
    )
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:.0f}k")
    axes.grid(alpha=0.25)
    with replace_path(path) as beside:
        figure.savefig(beside)
    plt.close(figure)


def main(args: Args) -> dict[str, Measured]:
    """Train, save, evaluate, draw; returns the shares won by opponent."""
    rules = Rules()
    with lock_folder(args.out):
        return _learn(args, rules)


def _learn(args: Args, rules: Rules) -> dict[str, Measured]:
    began, cpu_began = time.perf_counter(), time.process_time()
    model, curve = train(args, rules)
    took, cpu_took = time.perf_counter() - began, time.process_time() - cpu_began
    model.save(args.out / "model.zip")
    games = {
        opponent: play_rotations(SB3Agent(model), opponent, rules, args.pairs, args.seed + 1)
        for opponent in ("random", "greedy")
    }
    console = Console()
    console.print(
        f"{model.num_timesteps:,} decisions in {took:.0f} s ({cpu_took:.0f} s of CPU): "
        f"{model.num_timesteps / took:,.0f} a second"
    )
    console.print(ranking_table(games))
    shown = play([SB3Agent(model), "greedy"], rules, 1, args.seed + 1, record=True)  # the first of those games again
    write_records(args.out / "game.jsonl", shown.records or [])
    draw_curve(curve, args.out / "learning_curve.png")
    console.print(f"In {args.out}: model.zip, game.jsonl (see: genial show), learning_curve.png")
    return {opponent: measured(rotations) for opponent, rotations in games.items()}


if __name__ == "__main__":
    with handle_signals("quickstart"):
        main(tyro.cli(Args))
