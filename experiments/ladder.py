"""How do the built-in policies fare against each other, for every number of seats?

    pip install -e '.[train,fast]'
    python -m experiments.ladder

plays one seat's policy (in teams: both partners') among seats that all play another, in each seat in turn over the same
deals, and prints the mean rank utility, +1 first to -1 last, with its 95% interval over games; and solo each policy's
mean lowest marker. With the extra `fast` it takes half a minute, without it many times that.

    4,000 games for each seat      2 seats  3 seats  4 seats    teams
    greedy among random             +1.00    +1.00    +1.00    +1.00
    concave among greedy            +0.17    +0.11    +0.04    +0.10
    denial among greedy             +0.87    +0.29    +0.08    +0.88
    denial among concave            +0.51    +0.17    +0.05    +0.60

all ± 0.02 or less; solo random 1.4, greedy 10.4, concave 13.3, denial 15.1.
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
    """The settings; each is an option of the command line."""

    games: int = 4000
    """for each seat that a policy takes"""
    seed: int = 5
    """of the deals"""
    out: Path | None = None
    """write the figures there, as JSON"""


def among(policy: str, others: str, rules: Rules, args: Args, backend: str) -> tuple[float, float]:
    """The mean rank utility of a policy among seats of another, and half its 95% interval."""
    utilities = []
    for track in range(rules.tracks):
        roster = [policy if seat % rules.tracks == track else others for seat in range(rules.players)]
        ranks = play(roster, rules, args.games, args.seed, backend=backend).ranks
        utilities.append(rank_utility(ranks)[:, track])
    mean = np.mean(utilities, axis=0)  # of each deal, over the seats
    return float(mean.mean()), float(1.96 * mean.std(ddof=1) / len(mean) ** 0.5)


def main(args: Args) -> None:
    """Play, print, and keep."""
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
