"""Mean results of the agents of a tournament, corrected for the luck of the draws.

A corrected result is a game's rank utility, or solo its lowest marker, minus the luck of the track
(:mod:`genial_env.analysis.luck`). It has the same mean, and a smaller variance if the
network predicts well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import numpy as np

from genial_env.analysis.luck import compute_luck, explained_variance
from genial_env.analysis.state_value import read_full_state_net
from genial_env.arena.games import Game
from genial_env.arena.intervals import Intervals, student_95
from genial_env.arena.store import RECORDS, Store
from genial_env.core.arrays import Floats, Ints
from genial_env.core.ranking import rank_utility
from genial_env.core.rules import Rules
from genial_env.records import read_records

__all__ = ["CorrectedResults", "check_correction", "correct_results"]


@dataclass(frozen=True, eq=False)
class CorrectedResults:
    """Mean corrected results of N agents.

    Attributes:
        unit: the unit of the results: "rank utility" (+1 first to -1 last), or "lowest marker" (solo).
        mean: [N] the means, with Student's 95% intervals over deals.
        explained: the share of the variance of the games' results that luck explains.
    """

    unit: str
    mean: Intervals
    explained: float

    def to_dict(self) -> dict[str, Any]:
        """Return the values as JSON values."""
        return {"unit": self.unit, "mean": self.mean.to_dict(), "explained": self.explained}


def check_correction(rules: Rules, records: bool) -> None:
    """Check that the games of a tournament can be corrected for luck.

    Raises:
        ValueError: if no records are kept, or there are no weights for the rules.
    """
    if not records:
        raise ValueError("the correction for luck replays the games: it needs their records")
    read_full_state_net(rules)


def correct_results(store: Store) -> CorrectedResults:
    """Compute the corrected results of a tournament whose games have records.

    Raises:
        ValueError: see :func:`check_correction`.
    """
    settings, games = store.settings, store.games
    check_correction(settings.rules, settings.records)
    tracks = settings.rules.tracks
    luck = compute_luck(list(read_records(store.directory / RECORDS)), read_full_state_net(settings.rules))
    results = _results(settings.rules, games)
    entrants = np.array([game.seats[:tracks] for game in games], dtype=np.int64)
    deals = np.repeat([game.group for game in games], tracks)
    found = [
        _mean_over_deals((results - luck).ravel()[rows], deals[rows])
        for rows in (np.flatnonzero(entrants.ravel() == agent) for agent in range(len(settings.agents)))
    ]
    value, half = np.array(found).T
    return CorrectedResults(
        unit="lowest marker" if tracks == 1 else "rank utility",
        mean=Intervals(value, value - half, value + half),
        explained=explained_variance(results.ravel(), luck.ravel()),
    )


def _results(rules: Rules, games: Sequence[Game]) -> Floats:
    """Return the results of games: [G, T]. A forfeited solo game has the result 0."""
    if rules.tracks > 1:
        return np.asarray(rank_utility(np.array([game.ranks for game in games], dtype=np.int64)), dtype=np.float64)
    return np.array([[0.0 if game.forfeit is not None else float(min(game.scores[0]))] for game in games])


def _mean_over_deals(values: Floats, deals: Ints) -> tuple[float, float]:
    """Return the mean of values [n], and half the width of its interval; nan for fewer than two deals."""
    which = np.unique(deals, return_inverse=True)[1]
    if not len(values) or which.max() == 0:
        return (float(values.mean()), nan) if len(values) else (nan, nan)
    mean, n = float(values.mean()), int(which.max()) + 1
    away = np.bincount(which, values - mean)
    return mean, student_95(n - 1) * sqrt(float(away @ away) * n / (n - 1)) / len(values)
