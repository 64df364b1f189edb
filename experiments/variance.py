"""What reduces the variance of a comparison of two agents: playing each deal twice, or a correction for the draws?

    pip install -e '.[fast,arena,train]'
    python -m experiments.variance

plays pairs of games, the same deal with the seats swapped, and prints

- the variance of a pair's mean score relative to two games of different deals (1: duplicate deals do not help);
- how much of the variance of a game's score a regression on the drawn tiles explains. Its variables are computed from
  each seat's first tiles, as many as both seats surely draw: doubles, number of colors, count of the rarest color, and
  spread of the colors; each as the difference between the seats. It is fitted on one half of the games and evaluated on
  the other half.

The answer: hardly anything, so neither is used (docs/measurements.md).
"""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

from genial_env import Results, Rules, play
from genial_env._util.shutdown import handle_signals
from genial_env.arena.report import format_interval
from genial_env.arena.sprt import Estimate, pair_counts
from genial_env.core.arrays import Floats
from genial_env.core.rules import COLOR_LETTERS

PAIRS = (("greedy", "points"), ("concave", "greedy"), ("denial", "concave"), ("denial", "lexicographic"))

TILES = 14
"""Number of tiles that every seat draws in nearly every game."""


@dataclass
class Args:
    """The options of the command line."""

    pairs: int = 4000
    """pairs of games of each two agents"""
    seed: int = 9
    """seed of the deals"""


def scores(results: Results, seat: int) -> Floats:
    """Compute the scores [G] of a seat: 1 for a win, 0.5 for a tie, 0 for a loss."""
    won: Floats = (1 + np.sign(results.ranks[:, 1 - seat] - results.ranks[:, seat])) / 2
    return won


def describe_draws(record: dict[str, Any], seat: int) -> Floats:
    """Describe a seat's first tiles: doubles, number of colors, count of the rarest color, spread of the colors."""
    drawn = list(record["deal"][seat])
    for event in record["events"]:
        if event[0] == "draw" and event[1] == seat:
            drawn += event[2]
    tiles = drawn[:TILES]
    counts = np.array([sum(tile.count(letter) for tile in tiles) for letter in COLOR_LETTERS])
    first = {letter for tile in tiles[:6] for letter in tile}
    return np.array([sum(tile[0] == tile[1] for tile in tiles), len(first), counts.min(), counts.std()])


def explain(outcome: Floats, causes: Floats) -> float:
    """Compute the share of the variance of outcomes [G] that a regression on causes [G, F] explains, out of sample."""
    fit, check = np.arange(len(outcome)) % 2 == 0, np.arange(len(outcome)) % 2 == 1
    weights, *_ = np.linalg.lstsq(causes[fit], outcome[fit] - outcome[fit].mean(), rcond=None)
    left = outcome[check] - causes[check] @ weights
    return float(1 - left.var() / outcome[check].var())


def compare(one: str, other: str, args: Args, backend: str) -> list[str]:
    """Compare two agents and return a row of the table."""
    first = play([one, other], Rules(), args.pairs, args.seed, record=True, backend=backend)
    second = play([other, one], Rules(), args.pairs, args.seed, record=True, backend=backend)
    home, away = scores(first, 0), scores(second, 1)
    together = (home + away).var()
    apart = home.var() + away.var()
    games = [(record, 0) for record in first.records or []] + [(record, 1) for record in second.records or []]
    causes = np.array([describe_draws(record, seat) - describe_draws(record, 1 - seat) for record, seat in games])
    shrunk = explain(np.concatenate([home, away]), causes)
    estimate = Estimate.of(pair_counts(home, away))
    elo = f"{estimate.elo:+.0f} ({format_interval(estimate.elo_low, estimate.elo_high)})"
    return [f"{one} against {other}", f"{estimate.score:.1%}", elo, f"{together / apart:.2f}", f"{shrunk:.1%}"]


def main(args: Args) -> None:
    """Play and print the table."""
    backend = "numba" if find_spec("numba") is not None else "numpy"
    table = Table(f"{args.pairs:,} pairs", "score", "Elo", "variance of pairs", "explained by draws")
    for one, other in PAIRS:
        table.add_row(*compare(one, other, args, backend))
    Console(width=120).print(table)


if __name__ == "__main__":
    with handle_signals("variance"):
        main(tyro.cli(Args))
