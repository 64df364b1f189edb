"""Does PPO get further when its policy imitates a stronger agent first?

    python -m experiments.distill --out runs/distilled                                  # imitates "value"
    python -m experiments.train_ppo --network halves --out runs/ppo --start-from runs/distilled/policy.safetensors

The method is DAgger (S. Ross, G. Gordon, D. Bagnell, "A reduction of imitation learning and structured prediction to
no-regret online learning", AISTATS 2011). The student is the network of agents/ppo/halves_net.py, which starts as the
policy "denial". In every round games are played in which each decision is made by the teacher or by the current
student. The student learns the teacher's choice in all of them, so also in positions that its own mistakes lead to. Its
value head learns the outcomes of the games. The file `policy.safetensors` is played by ``ppo(weights="...")``.

The answer, with numbers: docs/training.md, "Imitation".
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from rich.console import Console
from torch import Tensor

from agents.ppo.halves_net import HalvesNet
from agents.runs.evaluation import Measured, format_results, measure
from agents.runs.run import Run, open_run
from genial_env import Policy, Rules, make_policy, use_backend, view
from genial_env._util.shutdown import handle_signals
from genial_env.core import kernel, ranking
from genial_env.core.arrays import Bools, Floats32, Ints
from genial_env.core.chance import bits, game_seeds
from genial_env.core.ranking import rank_utility
from genial_env.policies import weight_files
from genial_env.policies.decisions import choice_keys
from genial_env.policies.halves import Halves, choose_likeliest
from genial_env.policies.ppo import KIND, PPO

WEIGHTS = "policy.safetensors"


@dataclass
class Args:
    """The options of the command line."""

    out: Path = Path("runs/distilled")
    """folder of the run"""
    teacher: str = "value"
    """the agent to imitate"""
    players: int = 2
    """number of seats"""
    edition: str = "2025"
    """edition of the rules"""
    side: int | None = None
    """variant: cells along an edge of the board; by default as printed"""
    width: int = 16
    """hidden units of the network"""
    rounds: int = 12
    """number of rounds"""
    games: int = 512
    """games of each round"""
    student_share: float = 0.5
    """share of the decisions that the student makes in the last round; it grows linearly from 0"""
    batch_size: int = 512
    """decisions in a minibatch"""
    n_epochs: int = 2
    """passes over the decisions of a round"""
    learning_rate: float = 2e-3
    """initial learning rate; it falls linearly to a tenth"""
    vf_coef: float = 0.5
    """coefficient of the value head's loss"""
    eval_opponents: tuple[str, ...] = ("greedy", "denial")
    """opponents of evaluations, besides the teacher"""
    eval_deals: int = 200
    """deals of an evaluation against each opponent"""
    seed: int = 0
    """seed of the run"""
    threads: int = 1
    """threads of torch"""


@dataclass(eq=False)
class Demonstrations:
    """n decisions with the teacher's choices.

    Attributes:
        observations: [n, ...] for each field of the encoding "halves".
        mask: [n, A] legal actions.
        actions: [n] the teacher's choices.
        outcome: [n] the rank utility at the end of the game.
    """

    observations: dict[str, NDArray[np.uint8]]
    mask: Bools
    actions: Ints
    outcome: Floats32


def collect_demonstrations(
    student: HalvesNet, teacher: Policy, student_share: float, args: Args, seed: int
) -> Demonstrations:
    """Play games in which the student makes a share of the decisions, and record the teacher's choices in all."""
    rules, encoding = student.rules, Halves()
    seeds = game_seeds(seed, args.games)
    state, keys = kernel.deal(rules, seeds), choice_keys(seeds, rules.players)
    rng, parts, rows, tracks = np.random.default_rng(seed), [], [], []
    for live in kernel.live_games(state):
        seat = state.to_play[live]
        views = view(state, rows=live)
        arrays, mask = encoding.encode(views), views.mask()
        wanted = teacher(views, bits(keys[live, seat], state.decisions[live]))
        with torch.no_grad():
            logits, _ = student(_to_float({name: torch.from_numpy(array) for name, array in arrays.items()}))
        played = np.where(rng.random(len(live)) < student_share, choose_likeliest(logits.numpy(), mask), wanted)
        parts.append((arrays, mask, wanted))
        rows.append(live)
        tracks.append(rules.track_of(seat))
        kernel.apply(state, played, live)
    utility = rank_utility(ranking.ranks(state.scores))
    return Demonstrations(
        observations={name: np.concatenate([arrays[name] for arrays, _, _ in parts]) for name in parts[0][0]},
        mask=np.concatenate([mask for _, mask, _ in parts]),
        actions=np.concatenate([wanted for _, _, wanted in parts]),
        outcome=utility[np.concatenate(rows), np.concatenate(tracks)].astype(np.float32),
    )


def train_student(
    student: HalvesNet, optimizer: torch.optim.Optimizer, shown: Demonstrations, args: Args, seed: int
) -> dict[str, float]:
    """Train the student in place for some epochs.

    Returns:
        Means over minibatches: the loss of imitation, the share of the teacher's choices that are the student's most
        likely actions ("hits"), and the loss of values.
    """
    rng, figures = np.random.default_rng(seed), []
    n = len(shown.actions)
    for _ in range(args.n_epochs):
        for at in np.array_split(rng.permutation(n), -(-n // args.batch_size)):
            batch = {name: torch.from_numpy(array[at]) for name, array in shown.observations.items()}
            logits, values = student(_to_float(batch))
            logits = logits.masked_fill(~torch.from_numpy(shown.mask[at]), -1e4)
            wanted = torch.from_numpy(shown.actions[at])
            imitation = torch.nn.functional.cross_entropy(logits, wanted)
            value = torch.nn.functional.mse_loss(values, torch.from_numpy(shown.outcome[at]))
            optimizer.zero_grad()
            (imitation + args.vf_coef * value).backward()
            torch.nn.utils.clip_grad_norm_(student.parameters(), 0.5)
            optimizer.step()
            figures.append((imitation.item(), (logits.argmax(dim=1) == wanted).float().mean().item(), value.item()))
    return dict(zip(("imitation", "hits", "value"), np.mean(figures, axis=0).tolist(), strict=True))


def _to_float(observation: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: array.float() for name, array in observation.items()}


def main(args: Args) -> dict[str, Measured]:
    """Train the student, evaluate it, and return its results by opponent."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    with use_backend("numba"), open_run(args.out, "distill", args) as run:
        run.set_state(None)  # a run is short, so an interrupted one starts from the beginning
        return _train(args, run)


def _train(args: Args, run: Run) -> dict[str, Measured]:
    rules = (
        Rules(args.players, args.edition) if args.side is None else Rules(args.players, args.edition, side=args.side)
    )
    student, teacher, console = HalvesNet(rules, args.width), make_policy(args.teacher), Console()
    optimizer = torch.optim.Adam(student.parameters())
    moves, losses = 0, dict[str, float]()
    against: dict[str, Measured] = {}
    for number in range(args.rounds + 1):
        if number in (0, args.rounds // 2, args.rounds):
            against = _evaluate(student, args, run, moves, number * args.games, losses)
            figures = ", ".join(f"{name} {found.mean:.3f} ± {found.half:.3f}" for name, found in against.items())
            console.print(f"{run.wall_s:6.0f} s {moves:9,} decisions  {figures}", soft_wrap=True)
        if number == args.rounds:
            break
        done = number / args.rounds
        for group in optimizer.param_groups:
            group["lr"] = args.learning_rate * (1 - 0.9 * done)
        seed = (args.seed << 32) + number
        shown = collect_demonstrations(student, teacher, args.student_share * done, args, seed)
        losses = train_student(student, optimizer, shown, args, seed)
        moves += len(shown.actions)
        figures = ", ".join(f"{name} {value:.3f}" for name, value in losses.items())
        console.print(f"round {number + 1}: {figures}")
    run.finish(moves, args.rounds * args.games)
    return against


def _evaluate(
    student: HalvesNet, args: Args, run: Run, moves: int, games: int, losses: dict[str, float]
) -> dict[str, Measured]:
    """Write the weights, evaluate them, and add a line to the learning curve."""
    path = args.out / WEIGHTS
    arrays = {name: value.numpy(force=True) for name, value in student.state_dict().items()}
    about = {"command": run.command, "teacher": args.teacher, "seed": args.seed, "moves": moves, "games": games}
    weight_files.write(path, KIND, student.rules, arrays, **about)
    opponents = dict.fromkeys([*args.eval_opponents, args.teacher])
    against = measure(PPO(path), list(opponents), student.rules, args.eval_deals, args.seed + 1)
    about |= {"wall_s": round(run.wall_s), "cpu_s": round(run.cpu_s), "results": format_results(against)}
    weight_files.write(path, KIND, student.rules, arrays, **about)
    run.add_evaluation(moves, games, against, **losses)
    return against


if __name__ == "__main__":
    with handle_signals("distill"):
        main(tyro.cli(Args))
