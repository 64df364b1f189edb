"""Do the error rates of sequential tests hold, also if the scores are corrected for luck?

    pip install -e '.[fast,arena]'
    python -m experiments.variance --matches "greedy greedy" --deals 1500
    python -m experiments.sequential

simulates matches with pairs of games drawn from those that `experiments/variance.py` has kept, of an agent against
itself. In a pair A has either seat once. For a true difference in strength, defeats of A become wins with a fixed
probability, so the luck of the games stays what it was. Each match is tested with the scores (the pentanomial counts)
and with the corrected scores, by the code of ``genial match``.

Printed are the share of wrong verdicts at the two hypotheses, 5% if the test is exact, with 95% intervals, and the mean
number of pairs. The answer: docs/luck.md.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

from experiments.variance import Games, read_games
from genial_env._util.shutdown import handle_signals
from genial_env.arena.correction import Correction
from genial_env.arena.intervals import student_95
from genial_env.arena.sprt import Sprt, Verdict, expected_score, pair_counts
from genial_env.core.arrays import Floats


@dataclass
class Args:
    """The options of the command line."""

    agents: tuple[str, ...] = ("greedy",)
    """agents that have played against themselves"""
    elo1: float = 60
    """hypothesis 1, against 0"""
    matches: int = 500
    """simulated matches for each number"""
    most_pairs: int = 2000
    """pairs after which a match ends without a verdict, which counts as a wrong one"""
    seed: int = 0
    """seed of the simulation"""
    folder: Path = Path("runs/variance")
    """where the games are"""


def draw_pair(games: Games, flipped: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw two games, in the second of which A has the other seat: A's scores [2], and the terms of the pair [F]."""
    rows = rng.integers(len(games.scores), size=2)
    scores, terms = games.scores[rows, 0].copy(), games.terms[rows, 0]
    scores[1] = 1 - scores[1]
    scores[(scores == 0) & (rng.random(2) < flipped)] = 1.0
    return scores, (terms[0] - terms[1]) / 2


def simulate(games: Games, test: Sprt, elo: float, args: Args, rng: np.random.Generator) -> dict[str, Floats]:
    """Simulate matches at a true difference in Elo.

    Returns:
        For each kind of test the verdicts (1 for H1, 0 for H0, -1 for none) and the numbers of pairs: [2, matches].
    """
    flipped = 2 * (expected_score(elo) - 0.5)
    found: dict[str, list[tuple[float, int]]] = {"scores": [], "corrected": []}
    for _ in range(args.matches):
        counts, correction = np.zeros(5, dtype=np.int64), Correction()
        corrected: list[float] = []
        open_tests = {*found}
        while open_tests:
            scores, terms = draw_pair(games, flipped, rng)
            counts += pair_counts(scores[:1], scores[1:])
            corrected.append(float(correction.add(scores.mean(keepdims=True), terms[None])[0]))
            n = len(corrected)
            verdicts: dict[str, Verdict | None] = {}
            if "scores" in open_tests:
                verdicts["scores"] = test.verdict(counts)
            if "corrected" in open_tests:
                verdicts["corrected"] = test.verdict_of_mean(n, float(np.mean(corrected)), float(np.var(corrected)))
            for kind, verdict in verdicts.items():
                if verdict is not None or n == args.most_pairs:
                    found[kind].append(({"H0": 0.0, "H1": 1.0, None: -1.0}[verdict], n))
                    open_tests.discard(kind)
    return {kind: np.array(each, dtype=np.float64).T for kind, each in found.items()}


def main(args: Args) -> None:
    """Simulate, and print the table."""
    test, rng = Sprt(0, args.elo1), np.random.default_rng(args.seed)
    table = Table("games of", "test of", "true Elo", "wrong verdicts", "pairs")
    for agent in args.agents:
        games = read_games(agent, agent, args.folder)
        for elo, right in ((test.elo0, 0.0), (test.elo1, 1.0)):
            for kind, (verdicts, pairs) in simulate(games, test, elo, args, rng).items():
                wrong, n = float((verdicts != right).mean()), len(pairs)
                half = 1.96 * np.sqrt(wrong * (1 - wrong) / n)
                half_pairs = student_95(n - 1) * pairs.std(ddof=1) / np.sqrt(n)
                row = (agent, kind, f"{elo:g}", f"{wrong:.1%} ± {half:.1%}", f"{pairs.mean():.0f} ± {half_pairs:.0f}")
                table.add_row(*row)
    Console(width=120).print(table)


if __name__ == "__main__":
    with handle_signals("sequential"):
        main(tyro.cli(Args))
