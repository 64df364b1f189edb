"""Does PPO get further when its policy imitates a stronger agent first?

    python -m experiments.distill --out runs/distilled                                  # imitates "value"
    python -m experiments.train_ppo --out runs/ppo --start-from runs/distilled/policy.safetensors

The student is PPO's network (agents/ppo/halves_net.py), which begins as "denial". In every round games are played in
which each decision is made either by the teacher or by the student as it is, and the student learns what the teacher
would do in all of them, its own mistakes' consequences included (S. Ross, G. Gordon, D. Bagnell, "A reduction of
imitation learning and structured prediction to no-regret online learning", AISTATS 2011); its value head learns how the
games ended. Then the student is measured, and `policy.safetensors` written, which ``ppo(weights="...")`` plays.

What imitating "value" brings, in 12 rounds, 271,000 decisions and 12 minutes beside other work (400 games each):
from 49% to 77% ± 4% against denial, from 8% to 37% ± 5% against value, and 94% against greedy as before; 2,000 games
say 30.5% ± 2.0% against value. A further 147,456 decisions of PPO add nothing to that, over five seeds
(docs/training.md, "Ablations").
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
from agents.runs.evaluation import Measured, measure, results_in_words
from agents.runs.runs import Run, running
from genial_env import Policy, Rules, make_policy, use_backend, view
from genial_env._util.shutdown import handle_signals
from genial_env.core import kernel, ranking
from genial_env.core.bitsets import Bools, Ints
from genial_env.core.chance import bits, game_seeds
from genial_env.core.ranking import rank_utility
from genial_env.policies import weight_files
from genial_env.policies.base import choice_keys
from genial_env.policies.halves import Halves, likeliest
from genial_env.policies.ppo import KIND, PPO

WEIGHTS = "policy.safetensors"


@dataclass
class Args:
    """The settings; each is an option of the command line."""

    out: Path = Path("runs/distilled")
    """the run's folder"""
    teacher: str = "value"
    """who is imitated: any agent by name"""
    players: int = 2
    edition: str = "2025"
    side: int | None = None
    """cells along an edge of the board; left out, as printed"""
    width: int = 16
    """of the network"""
    rounds: int = 12
    games: int = 512
    """of each round"""
    students_share: float = 0.5
    """of the decisions that the student makes in the last round; it grows evenly from none"""
    batch_size: int = 512
    epochs: int = 2
    """over the decisions of a round"""
    learning_rate: float = 2e-3
    """falls linearly to a tenth"""
    value_weight: float = 0.5
    """of the value head's loss"""
    opponents: tuple[str, ...] = ("greedy", "denial")
    """whom the student is measured against, and its teacher"""
    deals: int = 200
    seed: int = 0
    threads: int = 1
    """of torch"""


@dataclass(eq=False)
class Lessons:
    """n decisions, and what the teacher would do."""

    seen: dict[str, NDArray[np.uint8]]  # [n, ...] the encoding "halves"
    mask: Bools  # [n, A]
    actions: Ints  # [n] the teacher's
    outcome: NDArray[np.float32]  # [n] the rank utility in the end


def play_round(student: HalvesNet, teacher: Policy, share: float, args: Args, seed: int) -> Lessons:
    """Games in which the student makes a share of the decisions."""
    rules, encoding = student.rules, Halves()
    seeds = game_seeds(seed, args.games)
    state, keys = kernel.deal(rules, seeds), choice_keys(seeds, rules.players)
    rng, parts, rows, tracks = np.random.default_rng(seed), [], [], []
    live = np.arange(args.games)
    while live.size:
        seat = state.to_play[live]
        views = view(state, rows=live)
        seen, mask = encoding.encode(views), views.mask()
        wanted = teacher(views, bits(keys[live, seat], state.decisions[live]))
        with torch.no_grad():
            logits, _ = student(_floats({name: torch.from_numpy(array) for name, array in seen.items()}))
        played = np.where(rng.random(len(live)) < share, likeliest(logits.numpy(), mask), wanted)
        parts.append((seen, mask, wanted))
        rows.append(live)
        tracks.append(seat % rules.tracks)
        kernel.apply(state, played, live)
        live = live[~state.over[live]]
    utility = rank_utility(ranking.ranks(state.scores))
    return Lessons(
        seen={name: np.concatenate([seen[name] for seen, _, _ in parts]) for name in parts[0][0]},
        mask=np.concatenate([mask for _, mask, _ in parts]),
        actions=np.concatenate([wanted for _, _, wanted in parts]),
        outcome=utility[np.concatenate(rows), np.concatenate(tracks)].astype(np.float32),
    )


def learn(
    student: HalvesNet, optimizer: torch.optim.Optimizer, lessons: Lessons, args: Args, seed: int
) -> dict[str, float]:
    """In place: some epochs over the lessons; the means of the imitation's loss, its hits, and the value's loss."""
    rng, told = np.random.default_rng(seed), []
    for _ in range(args.epochs):
        for at in np.array_split(rng.permutation(len(lessons.actions)), -(-len(lessons.actions) // args.batch_size)):
            logits, values = student(_floats({name: torch.from_numpy(a[at]) for name, a in lessons.seen.items()}))
            logits = logits.masked_fill(~torch.from_numpy(lessons.mask[at]), -1e4)
            wanted = torch.from_numpy(lessons.actions[at])
            imitation = torch.nn.functional.cross_entropy(logits, wanted)
            value = torch.nn.functional.mse_loss(values, torch.from_numpy(lessons.outcome[at]))
            optimizer.zero_grad()
            (imitation + args.value_weight * value).backward()
            torch.nn.utils.clip_grad_norm_(student.parameters(), 0.5)
            optimizer.step()
            told.append((imitation.item(), (logits.argmax(dim=1) == wanted).float().mean().item(), value.item()))
    return dict(zip(("imitation", "hits", "value"), np.mean(told, axis=0).tolist(), strict=True))


def _floats(seen: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: array.float() for name, array in seen.items()}


def main(args: Args) -> dict[str, Measured]:
    """Imitate, measure, write; what the student does against the others."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    with use_backend("numba"), running(args.out, "distill", args) as run:
        run.restore(None)  # short enough to be begun anew
        return _learn(args, run)


def _learn(args: Args, run: Run) -> dict[str, Measured]:
    sizes = {} if args.side is None else {"side": args.side}
    rules = Rules(args.players, args.edition, **sizes)
    student, teacher, console = HalvesNet(rules, args.width), make_policy(args.teacher), Console()
    optimizer = torch.optim.Adam(student.parameters())
    moves, told = 0, dict[str, float]()
    against: dict[str, Measured] = {}
    for number in range(args.rounds + 1):
        if number in (0, args.rounds // 2, args.rounds):
            against = _measure(student, args, run, moves, number * args.games, told)
            figures = ", ".join(f"{name} {found.mean:.3f} ± {found.half:.3f}" for name, found in against.items())
            console.print(f"{run.wall_s:6.0f} s {moves:9,} decisions  {figures}", soft_wrap=True)
        if number == args.rounds:
            break
        done = number / args.rounds
        for group in optimizer.param_groups:
            group["lr"] = args.learning_rate * (1 - 0.9 * done)
        seed = (args.seed << 32) + number
        lessons = play_round(student, teacher, args.students_share * done, args, seed)
        told = learn(student, optimizer, lessons, args, seed)
        moves += len(lessons.actions)
        figures = ", ".join(f"{name} {value:.3f}" for name, value in told.items())
        console.print(f"round {number + 1}: {figures}")
    run.finish(moves, args.rounds * args.games)
    return against


def _measure(
    student: HalvesNet, args: Args, run: Run, moves: int, games: int, told: dict[str, float]
) -> dict[str, Measured]:
    """In place: write the weights, measure them, and keep what was found."""
    path = args.out / WEIGHTS
    arrays = {name: value.numpy(force=True) for name, value in student.state_dict().items()}
    about = {"command": run.command, "teacher": args.teacher, "seed": args.seed, "moves": moves, "games": games}
    weight_files.write(path, KIND, student.rules, arrays, **about)
    opponents = dict.fromkeys([*args.opponents, args.teacher])
    against = measure(PPO(path), list(opponents), student.rules, args.deals, args.seed + 1)
    about |= {"wall_s": round(run.wall_s), "cpu_s": round(run.cpu_s), "results": results_in_words(against)}
    weight_files.write(path, KIND, student.rules, arrays, **about)
    run.add(moves, games, against, **told)
    return against


if __name__ == "__main__":
    with handle_signals("distill"):
        main(tyro.cli(Args))
