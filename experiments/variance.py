"""What reduces the variance of a comparison of two agents: playing each deal twice, or a correction for luck?

    pip install -e '.[fast,arena]'
    python -m experiments.variance

plays pairs of games, the same deal with the seats swapped, and prints

- the variance of a pair's mean score relative to two games of different deals (1: duplicate deals do not help);
- how much of the variance of a game's score luck explains (:mod:`genial_env.analysis.luck`), and of a pair's;
- the mean luck of the first agent in the games in which it is seat 0, with its 95% interval: the correction is
  unbiased, so it is about 0 in any match.

The answer: docs/measurements.md.
"""

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

from genial_env import Results, Rules, play
from genial_env._util.shutdown import handle_signals
from genial_env.analysis.luck import compute_luck, explained_variance
from genial_env.analysis.state_value import FullStateNet, read_full_state_net
from genial_env.arena.report import format_interval
from genial_env.arena.sprt import Estimate, pair_counts
from genial_env.core.arrays import Floats


@dataclass
class Args:
    """The options of the command line."""

    matches: tuple[str, ...] = ("greedy points", "concave greedy", "denial concave", "denial denial", "value denial")
    """two agents each, separated by a space; equal ones are a match of an agent against itself"""
    pairs: int = 5000
    """pairs of games of each two agents"""
    seed: int = 9
    """seed of the deals"""


def compute_scores(results: Results, seat: int) -> Floats:
    """Compute the scores [G] of a seat: 1 for a win, 0.5 for a tie, 0 for a loss."""
    won: Floats = (1 + np.sign(results.ranks[:, 1 - seat] - results.ranks[:, seat])) / 2
    return won


def compare(one: str, other: str, net: FullStateNet, args: Args, backend: str) -> list[str]:
    """Compare two agents and return a row of the table."""
    first = play([one, other], net.rules, args.pairs, args.seed, record=True, backend=backend)
    second = play([other, one], net.rules, args.pairs, args.seed, record=True, backend=backend)
    home, away = compute_scores(first, 0), compute_scores(second, 1)
    luck = [compute_luck(each.records or [], net)[:, seat] / 2 for seat, each in enumerate((first, second))]
    games, pairs = np.concatenate([home, away]), home + away
    luck_of_games, luck_of_pairs = np.concatenate(luck), luck[0] + luck[1]
    estimate = Estimate.of(pair_counts(home, away))
    half = 1.96 * luck[0].std() / np.sqrt(args.pairs)
    return [
        f"{one} against {other}",
        f"{estimate.score:.1%}",
        f"{estimate.elo:+.0f} ({format_interval(estimate.elo_low, estimate.elo_high)})",
        f"{pairs.var() / max(home.var() + away.var(), 1e-9):.2f}",
        f"{explained_variance(games, luck_of_games):.1%}",
        f"{explained_variance(pairs, luck_of_pairs):.1%}",
        f"{luck[0].mean():+.2%} ± {half:.2%}",
    ]


def main(args: Args) -> None:
    """Play and print the table."""
    backend = "numba" if find_spec("numba") is not None else "numpy"
    net = read_full_state_net(Rules())
    columns = "score", "Elo", "variance of pairs", "explained: a game", "a pair", "mean luck"
    table = Table(f"{args.pairs:,} pairs", *columns)
    for match in args.matches:
        one, other = match.split()
        table.add_row(*compare(one, other, net, args, backend))
    Console(width=140).print(table)


if __name__ == "__main__":
    with handle_signals("variance"):
        main(tyro.cli(Args))
