"""How far are solo agents from the best result with the same tiles?

    python -m experiments.solo --agents value "value_search(budget_s=0.5)"

plays the same deals with each agent and with the clairvoyant (:mod:`genial_env.policies.clairvoyant`), which knows
the tiles to come. It prints the lowest markers and the regrets (the differences to the clairvoyant's lowest marker), as
means over deals with 95% intervals.

The answer: docs/training.md, "Solo".
"""

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from genial_env import Rules, play, use_backend
from genial_env._util.files import write_json
from genial_env._util.shutdown import handle_signals
from genial_env.arena.provenance import provenance
from genial_env.backends import current
from genial_env.core import kernel
from genial_env.core.arrays import Floats, Ints
from genial_env.core.chance import game_seeds
from genial_env.policies.clairvoyant import END, clairvoyant
from genial_env.policies.value import Nets


@dataclass
class Args:
    """The options of the command line."""

    agents: tuple[str, ...] = ("greedy", "lexicographic", "denial", "value")
    """agents to measure"""
    deals: int = 100
    """number of deals"""
    level: int = 1
    """level of the clairvoyant's nested search"""
    candidates: int = 8
    """candidates of the clairvoyant for a decision"""
    seed: int = 0
    """seed of the deals"""
    weights: Path | None = None
    """weights of the clairvoyant's network; by default the shipped ones"""
    out: Path | None = None
    """JSON file for the results"""


RULES = Rules(1, "2009", "solo")


@dataclass(frozen=True)
class Outcome:
    """The results of an agent."""

    mean: float
    """of the lowest marker"""
    half: float
    """half the width of its 95% interval"""
    regret: float
    """the clairvoyant's lowest marker less this one, in the mean"""
    regret_half: float
    perfect: float
    """share of the deals in which every marker came to the end"""
    ms_a_move: float


def mean_and_half(values: Floats) -> tuple[float, float]:
    """Compute the mean and half the width of its 95% interval."""
    return float(values.mean()), float(1.96 * values.std(ddof=1) / np.sqrt(len(values)))


def play_clairvoyant(args: Args) -> tuple[Ints, float]:
    """Return the clairvoyant's lowest markers [deals], found by playing its lines, and the seconds of its search."""
    began = time.perf_counter()
    state = kernel.deal(RULES, game_seeds(args.seed, args.deals))
    lines = clairvoyant(state, Nets(args.weights).of(RULES), args.level, args.candidates)
    took = time.perf_counter() - began
    for step in range(lines.actions.shape[1]):
        rows = np.flatnonzero(lines.actions[:, step] != END)
        kernel.apply(state, lines.actions[rows, step], rows)
    assert state.over.all()
    return state.scores[:, 0].min(axis=1).astype(np.int64), took


def main(args: Args) -> dict[str, Outcome]:
    """Play, print, write, and return the results by agent, the clairvoyant's first."""
    with use_backend("numba"):
        best, took = play_clairvoyant(args)
        moves = args.deals * RULES.most_placements
        found = {"clairvoyant": _outcome(best, best, 1000 * took / moves)}
        for agent in args.agents:
            began = time.perf_counter()
            results = play([agent], RULES, args.deals, args.seed)
            took = time.perf_counter() - began
            found[agent] = _outcome(results.scores[:, 0].min(axis=1), best, 1000 * took / int(results.decisions.sum()))
        about = {"arguments": json.loads(json.dumps(asdict(args), default=str)), **provenance(current())}
    Console().print(_table(found, args))
    if args.out is not None:
        write_json(args.out, {"about": about, "outcomes": {name: asdict(outcome) for name, outcome in found.items()}})
    return found


def _outcome(lowest: NDArray[np.integer], best: Ints, ms_a_move: float) -> Outcome:
    values = lowest.astype(np.float64)
    return Outcome(
        *mean_and_half(values), *mean_and_half(best - values), float((values == RULES.top).mean()), ms_a_move
    )


def _table(found: dict[str, Outcome], args: Args) -> Table:
    title = f"Solo, {args.deals} deals, seed {args.seed}"
    table = Table("agent", "lowest marker", "regret", "perfect", "ms a move", title=title)
    for name, outcome in found.items():
        table.add_row(
            name,
            f"{outcome.mean:.2f} ± {outcome.half:.2f}",
            f"{outcome.regret:.2f} ± {outcome.regret_half:.2f}",
            f"{outcome.perfect:.0%}",
            f"{outcome.ms_a_move:.2f}",
        )
    return table


if __name__ == "__main__":
    with handle_signals("solo"):
        main(tyro.cli(Args))
