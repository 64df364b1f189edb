"""Does PPO get further when its policy imitates a stronger agent first?

    python -m experiments.distill --out runs/distilled                                  # imitates "value"
    python -m experiments.train_ppo --network halves --out runs/ppo --start-from runs/distilled/policy.safetensors

The student is the network of agents/ppo/halves_net.py, which starts as the policy "denial". It learns the choices of
the teacher by DAgger (agents/ppo/imitation.py), with new games in every round. The file `policy.safetensors` is played
by ``ppo(weights="...")``.

The answer, with numbers: docs/training.md, "Imitation".
"""

from dataclasses import dataclass
from pathlib import Path

import torch
import tyro
from rich.console import Console

from agents.ppo.halves_net import HalvesNet
from agents.ppo.imitation import ChoiceTeacher, collect_demonstrations, train_student
from agents.runs.evaluation import Measured, format_results, measure
from agents.runs.run import Run, open_run
from genial_env import Rules, make_policy, use_backend
from genial_env._util.shutdown import handle_signals
from genial_env.policies import weight_files
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
    student, teacher, console = HalvesNet(rules, args.width), ChoiceTeacher(make_policy(args.teacher)), Console()
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
        shown = collect_demonstrations(student, teacher, args.student_share * done, args.games, seed)
        losses = train_student(
            student,
            optimizer,
            shown,
            seed,
            batch_size=args.batch_size,
            n_epochs=args.n_epochs,
            vf_coef=args.vf_coef,
        )
        moves += len(shown.outcome)
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
