"""How strong are the heuristics against each other, for every number of seats?

    pip install -e '.[train,fast]'
    python -m experiments.ladder

plays one seat's policy (in teams: that of both partners) among seats that all play another policy, in each seat in turn
over the same deals. It prints the mean rank utility, from +1 (first) to -1 (last), with its 95% interval over deals,
and for solo the mean lowest marker of each policy. With the extra `fast` it takes half a minute, without it longer.

The answer: docs/policies.md.
"""

import json
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

from genial_env import Rules, play
from genial_env._util.files import write_text
from genial_env._util.shutdown import handle_signals
from genial_env.arena.provenance import machine
from genial_env.core.ranking import rank_utility
from genial_env.policies.roster import COMPILED

PAIRS = (("greedy", "random"), ("concave", "greedy"), ("denial", "greedy"), ("denial", "concave"))
GAMES = {"2 seats": Rules(2), "3 seats": Rules(3), "4 seats": Rules(4), "teams": Rules(4, "2004", "team")}


@dataclass
class Args:
    """The options of the command line."""

    games: int = 4000
    """games for each seat of a policy"""
    seed: int = 5
    """seed of the deals"""
    out: Path | None = None
    """JSON file for the results"""


def among(policy: str, others: str, rules: Rules, args: Args, backend: str) -> tuple[float, float]:
    """Measure the mean rank utility of a policy among seats of another, and half its 95% interval."""
    utilities = []
    for track in range(rules.tracks):
        roster = [policy if rules.track_of(seat) == track else others for seat in range(rules.players)]
        ranks = play(roster, rules, args.games, args.seed, backend=backend).ranks
        utilities.append(rank_utility(ranks)[:, track])
    mean = np.mean(utilities, axis=0)  # over the seats of each deal
    return float(mean.mean()), float(1.96 * mean.std(ddof=1) / len(mean) ** 0.5)


def main(args: Args) -> None:
    """Play, print and write the results."""
    backend = "numba" if find_spec("numba") is not None else "numpy"
    table = Table(f"{args.games:,} games for each seat", *GAMES)
    found: dict[str, Any] = {}
    for policy, others in PAIRS:
        name = f"{policy} among {others}"
        found[name] = {kind: among(policy, others, rules, args, backend) for kind, rules in GAMES.items()}
        table.add_row(name, *(f"{mean:+.3f} ± {half:.3f}" for mean, half in found[name].values()))
    Console().print(table)
    solo = Rules(1, "2004", "solo")
    for policy in COMPILED:
        scores = play([policy], solo, args.games, args.seed, backend=backend).scores
        found[f"solo {policy}"] = float(scores.min(axis=2).mean())
        print(f"solo {policy}: mean lowest marker {found[f'solo {policy}']:.2f}")
    if args.out is not None:
        kept = {"machine": machine(), "args": asdict(args), "found": found}
        write_text(args.out, json.dumps(kept, default=str, indent=2) + "\n")


if __name__ == "__main__":
    with handle_signals("ladder"):
        main(tyro.cli(Args))
