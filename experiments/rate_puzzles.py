"""How hard is each puzzle? Rates the puzzles of the package by which agents solve them.

    python -m experiments.rate_puzzles

Each agent tries each puzzle; of `random` the exact share of the best actions is taken. An agent that cannot play the
rules of a puzzle is left out. The ratings of the agents are those of the leaderboard for the number of seats. A rating
is the most probable one (:func:`genial_env.analysis.puzzle_ratings.estimate_rating`). Written to
`genial_env/analysis/puzzle_ratings.json`; to be run again when puzzles are added or the leaderboard changes.

The answer: docs/measurements.md.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from genial_env._util.files import write_text
from genial_env._util.shutdown import handle_signals
from genial_env._util.strict_json import numbered_lines, parse_object
from genial_env.analysis.puzzle_ratings import RATINGS_FILE, estimate_rating, name_puzzle
from genial_env.analysis.puzzles import LESSONS, SHIPPED, Puzzle, find_refused, parse_puzzle, score
from genial_env.web._opponents import RATINGS

AGENTS = ("points", "greedy", "lexicographic", "concave", "denial", "value")
"""The agents that try the puzzles, besides `random`."""


def rate(puzzles: Sequence[Puzzle], agents: Sequence[str] = AGENTS) -> list[int]:
    """Return the rating of each puzzle."""
    tries: list[list[tuple[float, float]]] = [[] for _ in puzzles]
    for puzzle, found in zip(puzzles, tries, strict=True):
        found.append((_rating("random", puzzle), len(puzzle.best) / len(puzzle.actions)))
    for agent in agents:
        refused = find_refused(agent, puzzles)
        able = [index for index, puzzle in enumerate(puzzles) if puzzle.rules not in refused]
        for index, answer in zip(able, score(agent, [puzzles[index] for index in able]), strict=True):
            tries[index].append((_rating(agent, puzzles[index]), float(answer.solved)))
    return [estimate_rating(found) for found in tries]


def _rating(agent: str, puzzle: Puzzle) -> float:
    """Return the rating of an agent for the number of seats; without one, that for two seats."""
    by_seats = RATINGS[agent]
    return by_seats.get(puzzle.rules.players, by_seats.get(2, 0))


def main(arguments: Sequence[str] | None = None) -> None:
    """Rate the puzzles of a file and write the ratings."""
    parser = argparse.ArgumentParser(description="Rate puzzles by which agents solve them.")
    known = [path for path in (SHIPPED, LESSONS) if path.exists()]
    parser.add_argument("--puzzles", type=Path, nargs="+", default=known, help="files of puzzles")
    parser.add_argument("--out", type=Path, default=RATINGS_FILE, help="the file of ratings to write")
    asked = parser.parse_args(arguments)
    lines = [parse_object(text) for path in asked.puzzles for _, text in numbered_lines(path)]
    ratings = rate([parse_puzzle(line) for line in lines])
    named = {name_puzzle(line): rating for line, rating in zip(lines, ratings, strict=True)}
    write_text(asked.out, json.dumps(dict(sorted(named.items())), indent=0) + "\n")
    print(f"{asked.out}: {len(named)} puzzles, ratings from {min(ratings)} to {max(ratings)}")


if __name__ == "__main__":
    with handle_signals("rate_puzzles"):
        main()
