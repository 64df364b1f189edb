"""How far are solo agents from the best that can be made of the same tiles?

    python -m experiments.solo --agents value "value_search(budget_s=0.5)"

plays the same deals with each agent and with the clairvoyant (:mod:`genial_env.policies.clairvoyant`), who knows the
coming tiles, and prints lowest markers and regrets: how much lower the agent's lowest marker is, in the mean of the
deals, with 95% intervals.

The answer, with 40 deals: the clairvoyant's lowest marker is 23.2 ± 0.8; value_search(playouts=300) stays 3.8 ± 0.6
behind, search(playouts=300) 4.5 ± 0.7, value 5.3 ± 0.9, denial 7.9 ± 1.0, greedy 13.3 ± 1.1. With a second level it
comes to 27.0 ± 1.1 on three deals. More in docs/training.md.
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
from genial_env.core.chance import game_seeds
from genial_env.policies.clairvoyant import END, clairvoyant
from genial_env.policies.value import Nets


@dataclass
class Args:
    """The settings; each is an option of the command line."""

    agents: tuple[str, ...] = ("greedy", "lexicographic", "denial", "value")
    """who is measured"""
    deals: int = 100
    level: int = 1
    """of the clairvoyant's nested search"""
    candidates: int = 8
    """of the clairvoyant, for a decision"""
    seed: int = 0
    weights: Path | None = None
    """the network that the clairvoyant thinks with; left out, the shipped one"""
    out: Path | None = None
    """a file for the results, as JSON"""


RULES = Rules(1, "2009", "solo")


@dataclass(frozen=True)
class Outcome:
    """What an agent made of the deals."""

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


def mean_and_half(values: NDArray[np.float64]) -> tuple[float, float]:
    """The mean and half the width of its 95% interval."""
    return float(values.mean()), float(1.96 * values.std(ddof=1) / np.sqrt(len(values)))


def lowest_with_foresight(args: Args) -> tuple[NDArray[np.int64], float]:
    """The clairvoyant's lowest markers [deals], and the seconds they took; its lines are played to be sure of them."""
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
    """Play, print, write; the outcomes by agent, the clairvoyant's first."""
    with use_backend("numba"):
        best, took = lowest_with_foresight(args)
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


def _outcome(lowest: NDArray[np.integer], best: NDArray[np.int64], ms_a_move: float) -> Outcome:
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
