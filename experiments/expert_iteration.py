"""Does a value network get stronger by learning what a search with it finds?

    python -m experiments.expert_iteration --out runs/expert

In each iteration the network plays games with itself. A share of the decisions is searched by "value_search"
(:mod:`agents.value.searched`), and the network learns the values that the search found for all actions it compared, in
this iteration and in those before. It is kept if it is not clearly weaker than the network before; otherwise the run
ends with that one. The decisions of one game in eight are not learned from; they measure what the network's choices
lose.

The file `weights.safetensors` is for ``value(weights="...")``. An interrupted run starts from the beginning.

The answer, with numbers: docs/measurements.md, "Value and value_search".
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from rich.console import Console

from agents.runs.config import Range, check_ranges, parse_options
from agents.runs.evaluation import Measured, compare, format_results, is_weaker, measure
from agents.runs.run import Run, open_run
from agents.value.actors import Actors
from agents.value.searched import Fit, Searched, SearchTask, fit, measure_choices, search_decisions
from agents.value.self_play import Weights
from agents.value.torch_net import TorchValueNet
from genial_env import Policy, Rules, use_backend
from genial_env._util.shutdown import handle_signals
from genial_env.core.arrays import Ints
from genial_env.policies import weight_files
from genial_env.policies.value import KIND, Value
from genial_env.policies.value_net import ValueNet

__all__ = ["WEIGHTS", "Args", "main"]

WEIGHTS = "weights.safetensors"

HELD_OUT = 8
"""One game in so many is not learned from."""

SAMPLE = 100_000
"""The most afterstates by which the network's inputs are standardized."""


@dataclass
class Args:
    """The options of the command line."""

    out: Path = Path("runs/expert")
    """folder of the run"""
    players: int = 1
    """number of seats"""
    mode: str = "solo"
    """"individual", "team" (four seats) or "solo" """
    edition: str = "2009"
    """edition of the rules; team and solo are in "2004" and "2009" """
    start_from: Path | None = None
    """weights to start from; by default the shipped ones"""
    iterations: int = 1
    """number of iterations"""
    games: int = 15_360
    """games of each iteration; 100,000 searched decisions solo take a gigabyte of memory, two while they are joined"""
    games_a_task: int = 64
    """games at a time in an actor"""
    actors: int = 1
    """processes that play"""
    share: float = 0.3
    """share of the decisions that are searched"""
    candidates: int = 12
    """actions that are searched in a decision"""
    deals: int = 5
    """deals in which each of them is played on"""
    turns: int = 4
    """own turn at which the network evaluates, 1: the next"""
    temperature: float = 0.05
    """temperature of choices in these games, in rank utility (solo: markers)"""
    epochs: int = 12
    """passes over all decisions so far in each iteration"""
    batch_size: int = 96
    """decisions of a gradient step"""
    learning_rate: float = 4e-3
    """initial learning rate; it falls to a hundredth by a cosine schedule"""
    difference_coef: float = 4.0
    """weight of the errors of differences within a decision, beside those of the mean of a decision"""
    eval_deals: int = 1_000
    """deals of a comparison with the network before"""
    seed: int = 0
    """seed of the run"""
    threads: int = 1
    """threads of torch"""

    @property
    def rules(self) -> Rules:
        """The rules of the games."""
        return Rules(self.players, self.edition, self.mode)

    def check(self) -> None:
        """Check the options (:class:`agents.runs.config.Checked`)."""
        check_ranges(self, RANGES)
        _read_start(self)

    @property
    def fit(self) -> Fit:
        """How the network learns."""
        return Fit(self.epochs, self.batch_size, self.learning_rate, self.difference_coef)


COUNTS = ("iterations", "games_a_task", "actors", "deals", "turns", "epochs", "batch_size", "threads")
RANGES: dict[str, Range] = {
    "seed": (0, 2**31 - 1),
    "games": (HELD_OUT, None),
    "candidates": (2, None),
    "eval_deals": (2, None),
    "share": (0.0, 1.0),
    **dict.fromkeys(COUNTS, (1, None)),
    **dict.fromkeys(("temperature", "learning_rate", "difference_coef"), (0.0, None)),
}
"""The ranges of the options."""


def _read_start(args: Args) -> Weights:
    """Read the weights to start from."""
    return weight_files.Weights(KIND, ValueNet.layout_of, args.start_from).of(args.rules)


def main(args: Args) -> Measured:
    """Train, and return the last comparison with the network before."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    with use_backend("numba"), open_run(args.out, "expert_iteration", args) as run:
        run.set_state(None)
        return _train(args, run, Console())


def _train(args: Args, run: Run, console: Console) -> Measured:
    rules, weights, rng = args.rules, _read_start(args), np.random.default_rng(args.seed)
    parts = list[Searched]()
    with Actors[SearchTask, Searched](search_decisions, args.actors, "numba") as actors:
        for iteration in range(args.iterations):
            parts += _search(args, weights, iteration, actors, run)
            searched = Searched.join(parts)
            parts = [searched]
            learned, held_out = _split(searched)
            sample = searched.features[:: 1 + len(searched.features) // SAMPLE]
            net = TorchValueNet(rules, ValueNet.widths_of(weights), sample)
            net.load_arrays(weights)
            before, _ = measure_choices(net, searched, held_out)
            fit(net, searched, learned, args.fit, rng)
            regret, explained = measure_choices(net, searched, held_out)
            new = net.arrays()
            gate = compare(Value(new), Value(weights, name="old"), rules, args.eval_deals, _eval_seed(args, iteration))
            console.print(
                f"{run.wall_s:6.0f} s  {len(searched.sizes):9,} decisions  regret {before:.4f}, now {regret:.4f}  "
                f"explained {explained:.3f}  against the network before {gate.mean:+.3f} ± {gate.half:.3f}",
                soft_wrap=True,
            )
            is_rejected = is_weaker(gate, rules)
            weights = weights if is_rejected else new
            _record(args, run, searched, weights, gate, regret)
            if is_rejected:
                break
    run.finish(searched.moves, searched.games)
    return gate


def _search(
    args: Args, weights: Weights, iteration: int, actors: Actors[SearchTask, Searched], run: Run
) -> list[Searched]:
    """Play and search the games of an iteration."""
    for number, first in enumerate(range(0, args.games, args.games_a_task)):
        actors.submit(
            SearchTask(
                args.rules,
                weights,
                seed=(args.seed << 32) + (iteration << 20) + number,
                games=min(args.games_a_task, args.games - first),
                share=args.share,
                candidates=args.candidates,
                deals=args.deals,
                turns=args.turns,
                temperature=args.temperature,
            )
        )
    found = [actors.take_result() for _ in range(len(actors.pending))]
    run.add_cpu(sum(part.cpu_s for part in found))
    return found


def _split(searched: Searched) -> tuple[Ints, Ints]:
    """Return the decisions to learn from, and those that measure.

    Raises:
        ValueError: if there are none of one kind.
    """
    is_held_out = searched.game % HELD_OUT == 0
    if is_held_out.all() or not is_held_out.any():
        raise ValueError(
            f"expected searched decisions to learn from and others to measure by, got {len(searched.sizes)} in all: "
            "raise --games or --share"
        )
    return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


def _eval_seed(args: Args, iteration: int) -> int:
    """Return the seed of a comparison, different from those of all games."""
    return (1 << 63) + (args.seed << 32) + iteration


def _record(args: Args, run: Run, searched: Searched, weights: Weights, gate: Measured, regret: float) -> None:
    """Write the weights, and a line of the learning curve."""
    rules, deals, seed = args.rules, args.eval_deals, _eval_seed(args, args.iterations)
    opponents: list[str | Policy] = [] if rules.tracks == 1 else ["denial", Value(args.start_from, name="start")]
    against = measure(Value(weights), opponents, rules, deals, seed)
    weight_files.write(
        run.folder / WEIGHTS,
        KIND,
        rules,
        weights,
        command=run.command,
        seed=args.seed,
        games=searched.games,
        moves=searched.moves,
        wall_s=round(run.wall_s),
        cpu_s=round(run.cpu_s),
        results=format_results(against),
    )
    run.add_evaluation(searched.moves, searched.games, against, regret=regret, gate=gate.mean)


if __name__ == "__main__":
    with handle_signals("expert_iteration"):
        main(parse_options(Args))
