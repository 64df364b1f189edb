"""How do four agents of one kind score at a table, beside what is known of people?

    pip install -e '.[fast,arena]'
    python -m experiments.tables_of_four

plays games of four seats with the same agent on every seat, and prints for each agent

- the share of games that end because a seat has all markers at 18;
- the mean of the winner's lowest marker, and its least and greatest value;
- the mean lowest marker of all seats.

The answer, beside results of people: docs/measurements.md.
"""

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

from genial_env import Rules, play
from genial_env._util.shutdown import handle_signals


@dataclass
class Args:
    """The options of the command line."""

    agents: tuple[str, ...] = ("greedy", "concave", "denial", "value")
    """agents; each plays all four seats of its games"""
    games: int = 1000
    """games of each agent"""
    edition: str = "2025"
    """edition of the rules"""
    seed: int = 4
    """seed of the deals"""


def describe_table(agent: str, args: Args) -> list[str]:
    """Play the games of an agent and return a row of the table."""
    rules = Rules(4, args.edition)
    backend = "numba" if find_spec("numba") is not None else "numpy"
    played = play([agent] * rules.players, rules, args.games, args.seed, backend=backend)
    lowest = played.scores.min(axis=2)  # [G, T]
    winner = lowest[played.ranks == 1]
    at_top = (lowest == rules.top).any(axis=1)
    share = float(at_top.mean())
    error = 1.96 * float(np.sqrt(share * (1 - share) / len(at_top)))
    return [
        agent,
        f"{share:.1%} ± {error:.1%}",
        f"{winner.mean():.2f}",
        f"{winner.min()} to {winner.max()}",
        f"{lowest.mean():.2f}",
    ]


def main(args: Args) -> None:
    """Play and print the table."""
    columns = "agent", "all six at 18", "winner's lowest marker", "range", "mean lowest marker"
    table = Table(f"{args.games:,} games of four seats", *columns[1:])
    for agent in args.agents:
        table.add_row(*describe_table(agent, args))
    Console(width=120).print(table)


if __name__ == "__main__":
    with handle_signals("tables_of_four"):
        main(tyro.cli(Args))
