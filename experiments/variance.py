"""What makes the comparison of two agents less noisy: playing each deal twice, or allowing for the luck of the draws?

    pip install -e '.[fast,arena,train]'
    python -m experiments.variance

plays pairs of games, the same deal with the seats swapped, and prints

- the variance of a pair's mean score against that of two games of different deals (1: duplicate deals do not help);
- by how much a regression on the luck of the draws shrinks the variance of a game's score. The luck is what each seat
  drew first, as many tiles as both surely draw: doubles, different colors, how often the rarest color came, and how
  much the colors differ; each as the difference between the seats, whose mean is 0. Fitted on one half of the games,
  measured on the other.

Hardly anything does, so nothing of it is used; the seats are swapped against bias alone. 3,000 pairs each:

                                   score   variance of pairs   explained by draws
    greedy against points          69.7%                0.89                 1.8%
    concave against greedy         60.1%                0.98                 0.3%
    denial against concave         70.8%                1.00                 0.1%
    denial against lexicographic   53.4%                0.98                -0.1%
"""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from genial_env import Results, Rules, play
from genial_env._util.shutdown import handle_signals
from genial_env.arena.report import range_words
from genial_env.arena.sprt import Estimate, pair_counts
from genial_env.core.rules import COLOR_LETTERS

Floats = NDArray[np.float64]

PAIRS = (("greedy", "points"), ("concave", "greedy"), ("denial", "concave"), ("denial", "lexicographic"))

TILES = 14
"""Drawn by every seat in nearly every game."""


@dataclass
class Args:
    """The settings; each is an option of the command line."""

    pairs: int = 4000
    """of games, for each two agents"""
    seed: int = 9
    """of the deals"""


def scores(results: Results, seat: int) -> Floats:
    """[G]: 1 for a win of the seat, 0.5 for a tie, 0 for a loss."""
    won: Floats = (1 + np.sign(results.ranks[:, 1 - seat] - results.ranks[:, seat])) / 2
    return won


def luck(record: dict[str, Any], seat: int) -> Floats:
    """What a seat drew first: doubles, colors, the rarest color, the spread of the colors."""
    drawn = list(record["deal"][seat])
    for event in record["events"]:
        if event[0] == "draw" and event[1] == seat:
            drawn += event[2]
    tiles = drawn[:TILES]
    counts = np.array([sum(tile.count(letter) for tile in tiles) for letter in COLOR_LETTERS])
    first = {letter for tile in tiles[:6] for letter in tile}
    return np.array([sum(tile[0] == tile[1] for tile in tiles), len(first), counts.min(), counts.std()])


def explained(outcome: Floats, causes: Floats) -> float:
    """The share of the variance of outcomes [G] that a regression on causes [G, F] explains, out of sample."""
    fit, check = np.arange(len(outcome)) % 2 == 0, np.arange(len(outcome)) % 2 == 1
    weights, *_ = np.linalg.lstsq(causes[fit], outcome[fit] - outcome[fit].mean(), rcond=None)
    left = outcome[check] - causes[check] @ weights
    return float(1 - left.var() / outcome[check].var())


def compare(one: str, other: str, args: Args, backend: str) -> list[str]:
    """A row of the table."""
    first = play([one, other], Rules(), args.pairs, args.seed, record=True, backend=backend)
    second = play([other, one], Rules(), args.pairs, args.seed, record=True, backend=backend)
    home, away = scores(first, 0), scores(second, 1)
    together = (home + away).var()
    apart = home.var() + away.var()
    games = [(record, 0) for record in first.records or []] + [(record, 1) for record in second.records or []]
    causes = np.array([luck(record, seat) - luck(record, 1 - seat) for record, seat in games])
    shrunk = explained(np.concatenate([home, away]), causes)
    estimate = Estimate.of(pair_counts(home, away))
    elo = f"{estimate.elo:+.0f} ({range_words(estimate.elo_low, estimate.elo_high)})"
    return [f"{one} against {other}", f"{estimate.score:.1%}", elo, f"{together / apart:.2f}", f"{shrunk:.1%}"]


def main(args: Args) -> None:
    """Play and print."""
    backend = "numba" if find_spec("numba") is not None else "numpy"
    table = Table(f"{args.pairs:,} pairs", "score", "Elo", "variance of pairs", "explained by draws")
    for one, other in PAIRS:
        table.add_row(*compare(one, other, args, backend))
    Console(width=120).print(table)


if __name__ == "__main__":
    with handle_signals("variance"):
        main(tyro.cli(Args))
