"""Rewards, for every seat of a batch of games at once.

==========  =========================================================  ==============
scheme      reward                                                     range
==========  =========================================================  ==============
"rank"      at the end: the final rank as zero-sum utility, +1 first   -1 to 1
            to -1 last in equal steps; ties share the mean of their
            places; in a team both seats get their team's
"margin"    at the end: own lowest marker minus the best other's       -top to top
"lowest"    every turn: growth of the own lowest marker                0 to top
"vector"    every turn: growth of each of the own markers, shape (C,)  0 to top
==========  =========================================================  ==============

An illegal action that ends an episode is paid with the worst reward: -1 for "rank", else -top ("vector": in every
color), which undoes all growth there can have been.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.bitsets import Bools
from genial_env.core.ranking import rank_utility, ranks
from genial_env.core.rules import Rules

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
"""The schemes that reward every turn; the others reward the end."""


def check_scheme(rules: Rules, scheme: str | None) -> str:
    """The scheme's name; left out, "rank", in solo "lowest".

    Raises:
        ValueError: for an unknown name, or one that needs others to compare with, in solo.
    """
    if scheme is None:
        return "lowest" if rules.tracks == 1 else "rank"
    if scheme not in SCHEMES:
        raise ValueError(f"unknown reward {scheme!r}: the rewards are {', '.join(SCHEMES)}")
    if rules.tracks == 1 and scheme in ("rank", "margin"):
        raise ValueError(f"reward {scheme!r} compares with others, and solo has none: take 'lowest' or 'vector'")
    return scheme


def compute_rewards(scheme: str, rules: Rules, before: Scores, after: Scores, over: Bools) -> Rewards:
    """What happened between two moments, for every seat.

    Args:
        scheme: a name of the table above.
        rules: the rules.
        before: [G, T, C] the markers then.
        after: [G, T, C] the markers now.
        over: [G] whether the game ended in between.

    Returns:
        [G, P] float64; "vector": [G, P, C].
    """
    by_track = SCHEMES[scheme](rules, before, after, over)
    return by_track[:, rules.track_of(np.arange(rules.players))]


def zero_rewards(scheme: str, rules: Rules) -> Rewards:
    """[P] zeros; "vector": [P, C]."""
    return np.zeros((rules.players, rules.colors) if scheme == "vector" else rules.players)


def worst_reward(scheme: str, rules: Rules) -> float | NDArray[np.float64]:
    """What an illegal action is paid with."""
    if scheme == "rank":
        return -1.0
    return np.full(rules.colors, -float(rules.top)) if scheme == "vector" else -float(rules.top)
