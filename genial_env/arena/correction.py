"""Correct results by terms with a mean of zero, each with the weight that the games before call for.

A corrected result is the result minus the weighted sum of its terms (:mod:`genial_env.analysis.corrections`). Its mean
is that of the result whatever the weights are, as long as they do not depend on the game itself. So the weights for a
deal are those that would have left the least variance in the deals *before* it: linear regression, drawn towards
:data:`FIRST_WEIGHTS` while there are few of them.

A weight below 1 is needed where the network takes a tile or a choice for more decisive than it is for these agents.

Axis letters: F terms; m results of one deal.
"""

import numpy as np

from genial_env.analysis.corrections import N_TERMS, QUARTERS
from genial_env.core.arrays import Floats, Ints

__all__ = ["FIRST_WEIGHTS", "LIMITS", "Correction", "correct_in_order"]

FIRST_WEIGHTS = np.repeat([1.0, 0.3], [QUARTERS, N_TERMS - QUARTERS])
"""[F] the weights before the first deal."""

LIMITS = (0.0, 1.5)
"""The least and the greatest weight. Without limits, terms that hardly vary would get any weight."""

WORTH = 50
"""The number of results that the first weights count as."""


class Correction:
    """Weights that are fitted to the deals so far."""

    def __init__(self) -> None:
        self._n, self._sum = 0, 0.0
        self._terms: Floats = np.zeros(N_TERMS)
        self._products: Floats = np.zeros((N_TERMS, N_TERMS))
        self._with_results: Floats = np.zeros(N_TERMS)

    @property
    def weights(self) -> Floats:
        """The weights [F] for the next deal."""
        if not self._n:
            return FIRST_WEIGHTS.copy()
        drawn = WORTH / self._n * np.diag(self._products) + 1e-12
        target = self._with_results - self._sum / self._n * self._terms
        found: Floats = np.linalg.solve(self._products + np.diag(drawn), target + drawn * FIRST_WEIGHTS)
        return np.clip(found, *LIMITS)

    def add(self, results: Floats, terms: Floats) -> Floats:
        """Correct the results [m] of a deal by their terms [m, F], then fit the weights to them too: [m]."""
        corrected: Floats = results - terms @ self.weights
        self._n += len(results)
        self._sum += float(results.sum())
        self._terms += terms.sum(axis=0)
        self._products += terms.T @ terms
        self._with_results += results @ terms
        return corrected


def correct_in_order(results: Floats, terms: Floats, deals: Ints) -> Floats:
    """Correct results [n] by their terms [n, F], deal by deal in ascending order: [n].

    Args:
        results: the results.
        terms: their terms.
        deals: [n] the number of the deal of each.
    """
    correction, corrected = Correction(), np.empty_like(results)
    order = np.argsort(deals, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(deals[order])) + 1):
        corrected[rows] = correction.add(results[rows], terms[rows])
    return corrected
