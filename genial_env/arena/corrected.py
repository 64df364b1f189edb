"""Mean results of the agents of a tournament, corrected for the luck of the draws.

A corrected result is a game's rank utility, or solo its lowest marker, minus the luck of its draws and choices
(:mod:`genial_env.analysis.corrections`), weighted as the deals before it call for
(:mod:`genial_env.arena.correction`). It has the same mean, and a smaller variance if the network predicts well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import nan, sqrt
from typing import Any

import numpy as np

from genial_env.analysis.corrections import N_TERMS, compute_terms
from genial_env.analysis.luck import explained_variance
from genial_env.analysis.state_value import read_full_state_net
from genial_env.arena.correction import correct_in_order
from genial_env.arena.games import Game
from genial_env.arena.intervals import Intervals, student_95
from genial_env.arena.store import RECORDS, Store
from genial_env.core.arrays import Floats, Ints
from genial_env.core.ranking import rank_utility
from genial_env.core.rules import Rules
from genial_env.policies.probabilities import Tell, find_probabilities
from genial_env.policies.registry import make_known_policy
from genial_env.records import read_records

__all__ = ["CorrectedResults", "check_correction", "correct_results", "find_tells"]


@dataclass(frozen=True, eq=False)
class CorrectedResults:
    """Mean corrected results of N agents.

    Attributes:
        unit: the unit of the results: "rank utility" (+1 first to -1 last), or "lowest marker" (solo).
        mean: [N] the means, with Student's 95% intervals over deals.
        explained: the share of the variance of the games' results that the correction removes.
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


def find_tells(agents: Sequence[str]) -> list[Tell | None]:
    """Return the probabilities of some agents; None for those that do not tell them, or are not of the package.

    Agents by ``module:factory`` and programs run in processes of their own, and are not asked.
    """
    found: list[Tell | None] = []
    for agent in agents:
        try:
            found.append(find_probabilities(make_known_policy(agent)))
        except ValueError:
            found.append(None)
    return found


def correct_results(store: Store) -> CorrectedResults:
    """Compute the corrected results of a tournament whose games have records.

    Raises:
        ValueError: see :func:`check_correction`.
    """
    settings, games = store.settings, store.games
    check_correction(settings.rules, settings.records)
    tracks = settings.rules.tracks
    tells = find_tells(settings.agents)
    terms = compute_terms(
        list(islice(read_records(store.directory / RECORDS), len(games))),  # an interruption leaves more of them
        read_full_state_net(settings.rules),
        [[tells[entrant] for entrant in game.seats] for game in games],
    )
    results = _results(settings.rules, games).ravel()
    entrants = np.array([game.seats[:tracks] for game in games], dtype=np.int64)
    deals = np.repeat([game.group for game in games], tracks)
    corrected = correct_in_order(results, terms.reshape(-1, N_TERMS), deals)
    found = [
        _mean_over_deals(corrected[rows], deals[rows])
        for rows in (np.flatnonzero(entrants.ravel() == agent) for agent in range(len(settings.agents)))
    ]
    value, half = np.array(found).T
    return CorrectedResults(
        unit="lowest marker" if tracks == 1 else "rank utility",
        mean=Intervals(value, value - half, value + half),
        explained=explained_variance(results, results - corrected),
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
