"""How hard puzzles are, as ratings on the scale of the agents' ratings, and the names by which they are found.

A puzzle counts as an opponent: who has its rating solves it in one of two tries. The rating is estimated from which
agents solve it. `experiments/rate_puzzles.py` writes the ratings; a puzzle that has none yet gets the mean of its kind.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from genial_env._util.strict_json import numbered_lines, parse_object, read_object
from genial_env._util.validators import integer, mapping_of
from genial_env.analysis.puzzles import LESSONS, SHIPPED

__all__ = ["RATINGS_FILE", "estimate_rating", "name_puzzle", "rated_puzzles"]

RATINGS_FILE = Path(__file__).with_name("puzzle_ratings.json")
"""The ratings of the puzzles that are part of the package, by name."""

USUAL_RATING = 300
"""The rating of a puzzle if no puzzle of its kind has one."""

SPREAD = 500.0
"""The standard deviation of puzzles' ratings, before any agent has tried them."""

LEAST, MOST = -1500, 2000
"""The range of ratings."""


def name_puzzle(found: Mapping[str, Any]) -> str:
    """Return the name of a puzzle, 12 hexadecimal digits that depend on its kind and its game alone.

    Args:
        found: the puzzle as read from a file.
    """
    text = json.dumps([found["kind"], found["record"]["deal"], found["record"]["events"]], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def estimate_rating(tries: Sequence[tuple[float, float]]) -> int:
    """Return the rating of a puzzle, rounded to tens: the most probable one.

    Args:
        tries: for each agent its rating, and the share of tries in which it solves the puzzle.
    """
    low, high = float(LEAST), float(MOST)
    while high - low > 1:
        middle = (low + high) / 2
        expected = sum(1 / (1 + 10 ** ((middle - rating) / 400)) for rating, _ in tries)
        pull = (middle - USUAL_RATING) * 400 / (2.302585 * SPREAD**2)
        if expected - pull > sum(share for _, share in tries):
            low = middle
        else:
            high = middle
    return 10 * round((low + high) / 20)


@lru_cache(maxsize=1)
def rated_puzzles() -> dict[str, dict[str, Any]]:
    """Return the puzzles of the package by name, as read from their file, each with the key "rating".

    Their games are not replayed (:func:`genial_env.analysis.puzzles.parse_puzzle` does so). Do not change them.

    Raises:
        OSError, ValueError: if a file cannot be read.
    """
    files = [path for path in (SHIPPED, LESSONS) if path.exists()]
    lines = (parse_object(text) for path in files for _, text in numbered_lines(path))
    found = {name_puzzle(each): each for each in lines}
    ratings = mapping_of(integer(LEAST, MOST))(read_object(RATINGS_FILE), "") if RATINGS_FILE.exists() else {}
    by_kind: dict[str, list[int]] = {}
    for name in found.keys() & ratings.keys():
        by_kind.setdefault(found[name]["kind"], []).append(ratings[name])
    usual = {kind: round(sum(each) / len(each)) for kind, each in by_kind.items()}
    return {
        name: {**each, "rating": ratings.get(name, usual.get(each["kind"], USUAL_RATING))}
        for name, each in found.items()
    }
