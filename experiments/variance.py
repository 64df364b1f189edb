"""How much narrower does the correction for luck make the intervals of a comparison, and does it keep the mean?

    pip install -e '.[fast,arena]'
    python -m experiments.variance
    python -m experiments.variance --matches "greedy greedy" --deals 10000

plays two agents against each other: each deal twice with the seats swapped, or once if the agents are equal, where both
games would be the same. A's score in a game is 1, 0.5 or 0. Printed are

- the mean score, and the mean of the corrected scores (:mod:`genial_env.arena.correction`), with Student's 95%
  intervals over deals: both means estimate the same, so they differ by chance only;
- the corrected interval's width divided by the other's; also with the draws alone, and with the draws alone and a
  weight of 1, as ``result - luck`` has it;
- the mean luck of A's draws and of A's choices in percent of a game, with 95% intervals, which should contain 0;
- the variance of a deal's mean score relative to two games of different deals (1: playing deals twice does not help).

Games and terms are kept in a folder, block by block, so the program can be ended and started again at any time.

The answer: docs/luck.md.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

from genial_env import Rules, make_policy, play
from genial_env._util.files import replace_path
from genial_env._util.shutdown import handle_signals
from genial_env.analysis.corrections import QUARTERS, compute_terms
from genial_env.analysis.state_value import read_full_state_net
from genial_env.arena.correction import correct_in_order
from genial_env.arena.intervals import student_95
from genial_env.core.arrays import Floats
from genial_env.policies.probabilities import find_probabilities

BLOCK = 250
"""Deals that are played, and kept, together."""


@dataclass
class Args:
    """The options of the command line."""

    matches: tuple[str, ...] = (
        "greedy greedy",
        "greedy points",
        "greedy random",
        "denial denial",
        "denial concave",
        "value denial",
    )
    """two agents each, separated by a space"""
    deals: int = 5000
    """deals of each two agents"""
    seed: int = 9
    """seed of the deals"""
    folder: Path = Path("runs/variance")
    """where blocks of games are kept"""


@dataclass
class Games:
    """The games of A against B in D deals, G games each, and their terms in A's score."""

    scores: Floats  # [D, G]
    terms: Floats  # [D, G, F]


def play_games(one: str, other: str, args: Args, backend: str) -> Games:
    """Play, or read, the games of a match."""
    blocks = []
    for block in range(-(-args.deals // BLOCK)):
        deals = min(BLOCK, args.deals - block * BLOCK)
        path = args.folder / f"{one}-{other}-{args.seed}-{block}{'' if deals == BLOCK else f'-{deals}'}.npz"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            made = play_block(one, other, deals, args.seed * 100_000 + block, backend)
            with replace_path(path) as beside:
                np.savez(beside, scores=made.scores, terms=made.terms)
        blocks.append(path)
    return _join(blocks)


def read_games(one: str, other: str, folder: Path) -> Games:
    """Read the whole blocks of a match that a folder has.

    Raises:
        FileNotFoundError: if it has none.
    """
    name = f"{one}-{other}"
    paths = [path for path in sorted(folder.glob(f"{name}-*.npz")) if path.stem.removeprefix(name).count("-") == 2]
    if not paths:
        raise FileNotFoundError(f"{folder} has no games of {one} against {other}: python -m experiments.variance first")
    return _join(paths)


def _join(paths: list[Path]) -> Games:
    """Return the games of some files."""
    scores, terms = [], []
    for path in paths:
        with np.load(path) as kept:
            scores.append(kept["scores"])
            terms.append(kept["terms"])
    return Games(np.concatenate(scores), np.concatenate(terms))


def play_block(one: str, other: str, deals: int, seed: int, backend: str) -> Games:
    """Play some deals."""
    net, tell = read_full_state_net(Rules()), {name: find_probabilities(make_policy(name)) for name in (one, other)}
    scores, terms = [], []
    for seat, names in enumerate([(one, other)] if one == other else [(one, other), (other, one)]):
        played = play(names, net.rules, deals, seed, record=True, backend=backend)
        scores.append((1 + np.sign(played.ranks[:, 1 - seat] - played.ranks[:, seat])) / 2)
        of_tracks = compute_terms(played.records or [], net, [[tell[name] for name in names]] * deals)
        terms.append(of_tracks[:, seat] / 2)
    return Games(np.stack(scores, axis=1), np.stack(terms, axis=1))


def mean_and_half(values: Floats) -> tuple[float, float]:
    """Return the mean of values [n], and half the width of its 95% interval."""
    return float(values.mean()), float(student_95(len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))


def compare(one: str, other: str, games: Games) -> list[str]:
    """Return the row of a match."""
    scores, terms = games.scores.mean(axis=1), games.terms.mean(axis=1)  # [D] and [D, F]
    deals = np.arange(len(scores))
    draws_only = terms * (np.arange(terms.shape[1]) < QUARTERS)
    corrected = correct_in_order(scores, terms, deals)
    (mean, half), (corrected_mean, corrected_half) = mean_and_half(scores), mean_and_half(corrected)
    others = (correct_in_order(scores, draws_only, deals), scores - draws_only.sum(axis=1))
    luck = terms[:, :QUARTERS].sum(axis=1), terms[:, QUARTERS:].sum(axis=1)
    singly = games.scores.var(axis=0).sum()
    return [
        f"{one} against {other}",
        f"{games.scores.size:,}",
        f"{mean:.2%} ± {half:.2%}",
        f"{corrected_mean:.2%} ± {corrected_half:.2%}",
        *(_divide(width, half) for width in (corrected_half, *(mean_and_half(each)[1] for each in others))),
        *("{:+.2%} ± {:.2%}".format(*mean_and_half(each)) for each in luck),
        _divide(games.scores.sum(axis=1).var(), singly if games.scores.shape[1] > 1 else 0.0),
    ]


def _divide(one: float, other: float) -> str:
    """Return a ratio as text; a dash where all games ended alike, or there is nothing to compare."""
    return f"{one / other:.3f}" if other else "–"


COLUMNS = (
    "match",
    "games",
    "mean score",
    "corrected",
    "width",
    "draws only",
    "with weight 1",
    "luck of draws",
    "luck of choices",
    "variance of pairs",
)


def main(args: Args) -> None:
    """Play and print the table."""
    backend = "numba" if find_spec("numba") is not None else "numpy"
    table = Table(*COLUMNS)
    for match in args.matches:
        one, other = match.split()
        table.add_row(*compare(one, other, play_games(one, other, args, backend)))
    Console(width=200).print(table)


if __name__ == "__main__":
    with handle_signals("variance"):
        main(tyro.cli(Args))
