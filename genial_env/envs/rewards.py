"""Reward schemes, computed for all seats of a batch of games.

==========  =========================================================  ==============
scheme      reward                                                     range
==========  =========================================================  ==============
"rank"      at the end: the final rank as zero-sum utility, from +1    -1 to 1
            (first) to -1 (last) in equal steps; ties share the mean
            of their ranks; in a team both seats get their team's
"margin"    at the end: own lowest marker minus the best other's       -top to top
"lowest"    every step: growth of the own lowest marker                0 to top
"vector"    every step: growth of each of the own markers, shape (C,)  0 to top
==========  =========================================================  ==============

An illegal action that ends an episode gets the worst reward: -1 for "rank", else -top (for "vector" in each color).
No growth of the markers in a game can outweigh it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Bools
from genial_env.core.ranking import rank_utility, ranks
from genial_env.core.rules import Rules

__all__ = ["DENSE", "SCHEMES", "check_scheme", "compute_rewards", "worst_reward", "zero_rewards"]

Scores = NDArray[Any]  # [G, T, C]
Rewards = NDArray[np.float64]  # [G, P], "vector": [G, P, C]


def _rank(rules: Rules, before: Scores, after: Scores, over: Bools) -> Rewards:
    return rank_utility(ranks(after)) * over[:, None]


def _margin(rules: Rules, before: Scores, after: Scores, over: Bools) -> Rewards:
    lowest = after.min(axis=2).astype(np.float64)
    others = np.where(np.eye(rules.tracks, dtype=np.bool_), -np.inf, lowest[:, None, :]).max(axis=2)
    margin: Rewards = (lowest - others) * over[:, None]
    return margin


def _lowest(rules: Rules, before: Scores, after: Scores, over: Bools) -> Rewards:
    growth: Rewards = (after.min(axis=2) - before.min(axis=2)).astype(np.float64)
    return growth


def _vector(rules: Rules, before: Scores, after: Scores, over: Bools) -> Rewards:
    return (after - before).astype(np.float64)


SCHEMES: dict[str, Callable[[Rules, Scores, Scores, Bools], Rewards]] = {
    "rank": _rank,
    "margin": _margin,
    "lowest": _lowest,
    "vector": _vector,
}


DENSE = ("lowest", "vector")
"""The schemes with a reward at every step; the others have a reward at the end only."""


def check_scheme(rules: Rules, scheme: str | None) -> str:
    """Return the name of the scheme; None: "rank", in solo "lowest".

    Raises:
        ValueError: for an unknown name, or in solo for a scheme that compares with others.
    """
    if scheme is None:
        return "lowest" if rules.tracks == 1 else "rank"
    if scheme not in SCHEMES:
        raise ValueError(f"unknown reward {scheme!r}: the rewards are {', '.join(SCHEMES)}")
    if rules.tracks == 1 and scheme in ("rank", "margin"):
        raise ValueError(f"reward {scheme!r} compares with others, and solo has none: take 'lowest' or 'vector'")
    return scheme


def compute_rewards(scheme: str, rules: Rules, before: Scores, after: Scores, over: Bools) -> Rewards:
    """Compute each seat's reward for what happened between two moments.

    Args:
        scheme: the name of a scheme.
        rules: the rules.
        before: [G, T, C] the markers at the first moment.
        after: [G, T, C] the markers at the second moment.
        over: [G] whether the game ended in between.

    Returns:
        [G, P] float64; "vector": [G, P, C].
    """
    by_track = SCHEMES[scheme](rules, before, after, over)
    return by_track[:, rules.track_of(np.arange(rules.players))]


def zero_rewards(scheme: str, rules: Rules) -> Rewards:
    """Return a reward of zero for each seat, [P]; "vector": [P, C]."""
    return np.zeros((rules.players, rules.colors) if scheme == "vector" else rules.players)


def worst_reward(scheme: str, rules: Rules) -> float | NDArray[np.float64]:
    """Return the reward of an illegal action that ends an episode."""
    if scheme == "rank":
        return -1.0
    return np.full(rules.colors, -float(rules.top)) if scheme == "vector" else -float(rules.top)
