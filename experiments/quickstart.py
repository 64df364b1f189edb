"""Can an agent learn this game in a few minutes on a laptop's CPU?

    python -m experiments.quickstart

trains the network of halves (agents/ppo/halves_net.py) for two seats. The network starts as a soft version of the
policy "denial". It first imitates the agent "value" (agents/ppo/imitation.py); then MaskablePPO trains it against
"denial". The agent is evaluated against "random", "greedy" and "denial" over seat-swapped games, and the results are
printed. The model, a game record and the learning curve are in runs/quickstart. A line every ten seconds says how far
it is; on a terminal a progress bar does during PPO.

The answer: yes. README.md has the results of five seeds, docs/training.md those of other settings.
"""

import time
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import LinearSchedule

from agents.ppo.halves_net import HalvesNet
from agents.ppo.halves_policy import HalvesPolicy
from agents.ppo.imitation import Demonstrations, ValueTeacher, collect_demonstrations, train_student
from agents.ppo.masked import AtomicSaveMaskablePPO, PackedMaskDictRolloutBuffer
from agents.ppo.options import MOST_SEED
from agents.ppo.progress_callback import ProgressCallback
from agents.ppo.sb3_agent import SB3Agent
from agents.runs.config import Range, check_ranges, parse_options
from agents.runs.evaluation import Measured, compute_game_values, play_rotations, summarize
from agents.runs.progress import Progress, list_files
from genial_env import Results, Rules, play
from genial_env._util.files import lock_folder, replace_path
from genial_env._util.shutdown import handle_signals
from genial_env.envs.opponents import Pool
from genial_env.envs.sb3 import GenialVecEnv
from genial_env.policies.halves import Halves
from genial_env.policies.registry import prepare
from genial_env.records import write_records

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # after the choice of a backend that needs no display

EVALUATION = ("random", "greedy", "denial")
"""The opponents of the evaluation, the weakest first."""


@dataclass
class Args:
    """The options of the command line. Names are those of Stable-Baselines3."""

    imitation_rounds: int = 4
    """rounds of imitation; 0: PPO starts at once"""
    imitation_games: int = 112
    """games of each round, with some 44 decisions each"""
    imitation_epochs: int = 2
    """passes in each round over the decisions of all rounds so far"""
    imitation_learning_rate: float = 3e-3
    """initial learning rate of imitation; it falls linearly to a tenth"""
    student_share: float = 0.5
    """share of the decisions that the learner makes in the last round of imitation; it grows linearly from 0"""
    sharpness: float = 3.0
    """factor of the logits between imitation and PPO: most probability then lies on the best actions"""
    total_timesteps: int = 16_384
    """decisions of the learning seat in PPO"""
    n_envs: int = 64
    """games at a time"""
    opponents: tuple[str, ...] = ("denial",)
    """opponents of PPO; each game draws its opponent from these at random"""
    n_steps: int = 32
    """decisions in each game between two updates"""
    batch_size: int = 512
    """decisions in a minibatch"""
    n_epochs: int = 2
    """passes over the decisions of an update"""
    learning_rate: float = 3e-4
    """initial learning rate of PPO; it falls linearly to 0"""
    gae_lambda: float = 0.9
    """lambda of generalized advantage estimation"""
    clip_range: float = 0.05
    """clipping range of PPO's loss"""
    ent_coef: float = 0.0
    """coefficient of the entropy bonus"""
    width: int = 16
    """hidden units of the network over cells"""
    pairs: int = 500
    """pairs of evaluation games against each opponent: the same deal with the seats swapped"""
    curve_pairs: int = 100
    """pairs of games against "denial" for each point of the learning curve"""
    seed: int = 0
    """seed of the run"""
    threads: int = 2
    """threads of torch"""
    out: Path = Path("runs/quickstart")
    """folder of the results"""

    def check(self) -> None:
        """Check the options (:class:`agents.runs.config.Checked`)."""
        check_ranges(self, RANGES)
        for policy in Pool(self.opponents).policies:
            prepare(policy, Rules())


COUNTS = (
    "imitation_games",
    "imitation_epochs",
    "n_envs",
    "n_steps",
    "n_epochs",
    "width",
    "pairs",
    "curve_pairs",
    "threads",
)

RANGES: dict[str, Range] = {
    "seed": (0, MOST_SEED),
    "batch_size": (2, None),  # advantages are divided by their standard deviation
    **dict.fromkeys(("imitation_rounds", "total_timesteps"), (0, None)),
    **dict.fromkeys(COUNTS, (1, None)),
    **dict.fromkeys(("student_share", "gae_lambda"), (0.0, 1.0)),
    **dict.fromkeys(("imitation_learning_rate", "sharpness", "learning_rate", "clip_range"), (0.0, None)),
    "ent_coef": (None, None),
}
"""The ranges of the options."""


class Curve:
    """The agent's strength during training.

    Args:
        agent: plays the most likely actions of the network as it is at the time.
        rules: the rules.
        args: the options.

    Attributes:
        points: decisions so far, and the result against :attr:`opponent`.
    """

    opponent = EVALUATION[-1]

    def __init__(self, agent: SB3Agent, rules: Rules, args: Args) -> None:
        self.points: list[tuple[int, Measured]] = []
        self._agent, self._rules, self._args = agent, rules, args

    def add(self, decisions: int) -> None:
        """Evaluate the agent in place, on the same deals every time."""
        args = self._args
        games = play_rotations(self._agent, self.opponent, self._rules, args.curve_pairs, args.seed + 2)
        self.points.append((decisions, summarize(games)))


def imitate(args: Args, net: HalvesNet, curve: Curve, progress: Progress) -> int:
    """Let the network imitate "value" in place, and return the number of decisions that it has learned from."""
    teacher, optimizer = ValueTeacher(), torch.optim.Adam(net.parameters())
    rounds: list[Demonstrations] = []
    for number in range(args.imitation_rounds):
        progress.phase = f"imitation, round {number + 1} of {args.imitation_rounds}"
        done, seed = number / args.imitation_rounds, (args.seed << 32) + number
        for group in optimizer.param_groups:
            group["lr"] = args.imitation_learning_rate * (1 - 0.9 * done)
        rounds.append(collect_demonstrations(net, teacher, args.student_share * done, args.imitation_games, seed))
        shown = Demonstrations.join(rounds)
        train_student(net, optimizer, shown, seed, batch_size=args.batch_size, n_epochs=args.imitation_epochs)
        curve.add(len(shown.outcome))
    progress.phase = ""
    return sum(len(shown.outcome) for shown in rounds)


def train(args: Args, rules: Rules, progress: Progress) -> tuple[MaskablePPO, Curve, int]:
    """Train an agent; return it with its learning curve and the number of decisions of the imitation."""
    torch.set_num_threads(args.threads)
    env = GenialVecEnv(args.n_envs, opponents=Pool(args.opponents), seat="random", encoding=Halves(), seed=args.seed)
    model = AtomicSaveMaskablePPO(
        HalvesPolicy,
        env,
        n_steps=args.n_steps,
        batch_size=args.batch_size,
        n_epochs=args.n_epochs,
        learning_rate=LinearSchedule(args.learning_rate, 0.0, 1.0),
        gamma=1.0,
        gae_lambda=args.gae_lambda,
        clip_range=args.clip_range,
        ent_coef=args.ent_coef,
        rollout_buffer_class=PackedMaskDictRolloutBuffer,
        policy_kwargs={"rules_arguments": rules.to_dict(), "width": args.width},
        seed=args.seed,
        device="cpu",
    )
    net = model.policy.net
    assert isinstance(net, HalvesNet)
    curve = Curve(SB3Agent(model, encoding=Halves()), rules, args)
    curve.add(0)
    imitated = imitate(args, net, curve, progress)
    if imitated:
        net.sharpen(args.sharpness)
    model.learn(args.total_timesteps, callback=ProgressCallback(progress))
    curve.add(imitated + model.num_timesteps)
    return model, curve, imitated


def make_table(games: dict[str, list[Results]]) -> Table:
    """Make a table of the agent's results against each opponent, with 95% intervals over pairs of games."""
    table = Table(
        "against", "games", "first rank", "shared", "mean sorted markers", title="Who has the higher lowest marker?"
    )
    for opponent, rotations in games.items():
        found = summarize(rotations)
        shared = np.mean([compute_game_values(results, seat) == 0.5 for seat, results in enumerate(rotations)])
        own = np.concatenate([results.scores[:, seat] for seat, results in enumerate(rotations)])
        other = np.concatenate([results.scores[:, 1 - seat] for seat, results in enumerate(rotations)])
        figures = [str(found.games), f"{found.mean:.1%} ± {found.half:.1%}", f"{shared:.1%}"]
        table.add_row(opponent, *figures, f"ppo {format_mean_markers(own)}\n{opponent} {format_mean_markers(other)}")
    return table


def format_mean_markers(scores: np.ndarray) -> str:
    """Format the means of the sorted markers of games [games, C], the lowest first."""
    return " ".join(f"{marker:.1f}" for marker in np.sort(scores, axis=1).mean(axis=0))


def draw_curve(curve: Curve, imitated: int, path: Path) -> None:
    """Draw the strength over the decisions that the agent has learned from."""
    figure, axes = plt.subplots(figsize=(7, 4), dpi=110, layout="constrained")
    decisions = [at for at, _ in curve.points]
    shares, halves = ([getattr(found, name) for _, found in curve.points] for name in ("mean", "half"))
    axes.errorbar(decisions, shares, yerr=halves, color="#2d74da", marker="o", capsize=3)
    axes.axvline(imitated, color="#888888", linewidth=0.8, linestyle="--")
    axes.annotate(" PPO from here", (imitated, 0.03), color="#555555")
    axes.set(
        xlabel="decisions learned from",
        ylabel=f"share won against {curve.opponent}",
        ylim=(0, 1.02),
        title=f"Imitation, then MaskablePPO: {curve.points[0][1].games} games each, 95% intervals",
    )
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:.0f}k")
    axes.grid(alpha=0.25)
    with replace_path(path) as beside:
        figure.savefig(beside)
    plt.close(figure)


def main(args: Args) -> dict[str, Measured]:
    """Train, save, evaluate and draw; return the results by opponent."""
    rules = Rules()
    with lock_folder(args.out):
        return _run(args, rules)


def _run(args: Args, rules: Rules) -> dict[str, Measured]:
    console = Console()
    began, cpu_began = time.perf_counter(), time.process_time()
    with Progress(args.total_timesteps, "decisions") as progress:
        model, curve, imitated = train(args, rules, progress)
        took, cpu_took = time.perf_counter() - began, time.process_time() - cpu_began
        model.save(args.out / "model.zip")
        games = {}
        agent = SB3Agent(model, encoding=Halves())
        for opponent in EVALUATION:
            progress.phase = f"evaluation against {opponent}"
            games[opponent] = play_rotations(agent, opponent, rules, args.pairs, args.seed + 1)
    console.print(
        f"{imitated:,} decisions imitated and {model.num_timesteps:,} decisions of PPO "
        f"in {took:.0f} s ({cpu_took:.0f} s of CPU)"
    )
    console.print(make_table(games))
    shown = play([agent, "denial"], rules, 1, args.seed + 1, record=True)  # the first of them again
    write_records(args.out / "game.jsonl", shown.records or [])
    draw_curve(curve, imitated, args.out / "learning_curve.png")
    print(list_files(args.out))
    print(f"See the game: genial show {args.out / 'game.jsonl'}")
    return {opponent: summarize(rotations) for opponent, rotations in games.items()}


if __name__ == "__main__":
    with handle_signals("quickstart"):
        main(parse_options(Args))
