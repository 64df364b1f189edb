"""How much of a game's result do the draws decide, as a network sees it?

    pip install -e '.[fast,arena,train]'
    python -m experiments.train_luck --out runs/luck

trains the network of full states (:mod:`genial_env.analysis.state_value`) on games of the agent "value" against itself,
and writes `weights.safetensors`. Then it plays new games of other deals and prints how much of the variance of their
results luck explains: 1 - variance(result - luck) / variance(result). So much smaller is the variance of a comparison
that is corrected for luck (``genial match --variance-reduction``).

The answer: docs/measurements.md.
"""

import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
import tyro
from rich.console import Console

from agents.runs.run import make_command
from agents.value.actors import Actors
from agents.value.full_states import FullStateTask, play_full_states
from agents.value.self_play import Samples
from agents.value.torch_net import TorchValueNet
from genial_env import Rules, play, use_backend
from genial_env._util.shutdown import handle_signals
from genial_env.analysis.luck import compute_luck, explained_variance
from genial_env.analysis.state_value import KIND, FullStateNet
from genial_env.core.arrays import Floats
from genial_env.core.ranking import rank_utility
from genial_env.policies import weight_files
from genial_env.policies.value import KIND as VALUE_KIND
from genial_env.policies.value_net import ValueNet, Widths

__all__ = ["WEIGHTS", "Args", "main", "measure_explained"]

WEIGHTS = "weights.safetensors"


@dataclass
class Args:
    """The options of the command line."""

    out: Path = Path("runs/luck")
    """folder for the weights"""
    players: int = 2
    """number of seats"""
    mode: str = "individual"
    """"individual", "team" (four seats) or "solo" """
    edition: str = "2025"
    """edition of the rules; team and solo are in "2004" and "2009" """
    games: int = 20_480
    """games to learn from"""
    n_envs: int = 512
    """games at a time in an actor: one task"""
    actors: int = 1
    """processes that play"""
    candidates: int = 32
    """placements that are evaluated for a decision"""
    td_lambda: float = 0.6
    """lambda of the returns"""
    widths: Widths = field(default_factory=lambda: Widths(first=48, kind=32, second=48, third=64, fourth=32))
    """hidden units of the layers"""
    n_epochs: int = 6
    """mean number of times that a sample is trained on"""
    batch_size: int = 1_024
    """samples of a gradient step"""
    learning_rate: float = 4e-3
    """initial learning rate; it falls to a hundredth by a cosine schedule"""
    eval_games: int = 2_000
    """games to measure the explained variance with"""
    seed: int = 0
    """seed of the run"""
    threads: int = 1
    """threads of torch"""

    @property
    def rules(self) -> Rules:
        """The rules of the games."""
        return Rules(self.players, self.edition, self.mode)


def collect(args: Args) -> list[Samples]:
    """Play the games to learn from, in other processes."""
    weights = weight_files.Weights(VALUE_KIND, ValueNet.layout_of).of(args.rules)
    arrays = {name: np.asarray(array) for name, array in weights.items()}
    tasks = [
        FullStateTask(args.rules, arrays, (args.seed << 32) + number, size, args.candidates, td_lambda=args.td_lambda)
        for number, size in enumerate(_portions(args.games, args.n_envs))
    ]
    found = []
    with Actors[FullStateTask, Samples](play_full_states, args.actors, "numba") as actors:
        for task in tasks:
            actors.submit(task)
        while actors.pending:
            found.append(actors.take_result())
    return found


def _portions(total: int, most: int) -> list[int]:
    return [min(most, total - start) for start in range(0, total, most)]


def fit(args: Args, samples: Sequence[Samples]) -> TorchValueNet:
    """Train a network on samples."""
    features = np.concatenate([each.features for each in samples])
    targets = np.concatenate([each.targets for each in samples]).astype(np.float32)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    some = features[rng.integers(len(features), size=min(len(features), 20_000))]
    net = TorchValueNet(args.rules, args.widths, some, kind=FullStateNet)
    optimizer = torch.optim.Adam(net.parameters(), lr=args.learning_rate)
    steps = max(1, args.n_epochs * len(features) // args.batch_size)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = args.learning_rate * (0.01 + 0.99 * (1 + math.cos(math.pi * step / steps)) / 2)
        at = rng.integers(len(features), size=args.batch_size)
        loss = net.loss(torch.from_numpy(features[at]), torch.from_numpy(targets[at]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return net


def measure_explained(net: FullStateNet, agents: Sequence[str], games: int, seed: int) -> tuple[float, float]:
    """Play games and return how much of the variance of the first track's result luck explains, with its error.

    Args:
        net: the network.
        agents: one for each seat.
        games: number of games.
        seed: seed of the games.
    """
    played = play(agents, net.rules, games, seed, record=True)
    luck = compute_luck(played.records or [], net)[:, 0]
    if net.rules.tracks == 1:
        result: Floats = played.scores[:, 0].min(axis=1).astype(np.float64)
    else:
        result = rank_utility(played.ranks)[:, 0]
    share = explained_variance(result, luck)
    rng = np.random.default_rng(seed)
    resampled = [explained_variance(result[at], luck[at]) for at in rng.integers(games, size=(200, games))]
    return share, float(np.std(resampled))


def main(args: Args) -> tuple[float, float]:
    """Train, write the weights, and return the explained variance with its standard error."""
    torch.set_num_threads(args.threads)
    began, cpu = time.perf_counter(), time.process_time()
    with use_backend("numba"):
        samples = collect(args)
        net = FullStateNet(args.rules, fit(args, samples).arrays())
        cpu = time.process_time() - cpu + sum(each.cpu_s for each in samples)
        wall = time.perf_counter() - began
        seats = ["value"] * args.rules.players
        share, error = measure_explained(net, seats, args.eval_games, (1 << 63) + args.seed)
    explained = f"{share:.3f} ± {1.96 * error:.3f} of the variance of results ({args.eval_games:,} games of value)"
    weight_files.write(
        args.out / WEIGHTS,
        KIND,
        args.rules,
        net.arrays,
        command=make_command(sys.orig_argv),
        seed=args.seed,
        games=sum(each.games for each in samples),
        moves=sum(each.moves for each in samples),
        wall_s=round(wall),
        cpu_s=round(cpu),
        results={},
        explains=explained,
    )
    Console().print(f"luck explains {explained}; {args.out / WEIGHTS} written", soft_wrap=True)
    return share, error


if __name__ == "__main__":
    with handle_signals("train_luck"):
        main(tyro.cli(Args))
