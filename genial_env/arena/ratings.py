"""Ratings of N agents from the ranks of games with any number of tracks.

The Plackett-Luce model: the probability that agent a wins a game is proportional to ``10 ** (rating[a] / 400)`` among
the agents in it; the second place is decided likewise among the others, and so on. With two tracks this is the
Bradley-Terry model on Elo's logistic scale. The model is fitted by full rank breaking: a game counts as one comparison
for each pair of its tracks, and a tie as half a win to either. This estimator is consistent (H. Azari Soufiani,
W. Chen, D. Parkes, L. Xia, "Generalized method-of-moments for rank aggregation", NeurIPS 2013). choix fits the
comparisons by iterative Luce spectral ranking (L. Maystre, M. Grossglauser, "Fast and accurate inference of
Plackett-Luce models", NeurIPS 2015).

The comparisons in a game are dependent, and so are games of the same deal with rotated seats. Therefore the deal is the
unit of all intervals (:mod:`genial_env.arena.intervals`). Intervals of mean utilities and of win rates are computed
directly. Intervals of ratings are inverted score tests: for each hypothetical difference between an agent and the
reference, all other ratings are fitted under this constraint, and the efficient score of each deal is tested. So the
uncertainty about all other agents is included (C. R. Rao, "Large sample tests of statistical hypotheses", Mathematical
Proceedings of the Cambridge Philosophical Society 44, 1948). With two agents the interval is that of their win rate.
The intervals do not cover play against other opponents.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genial_env._util.extras import install_hint
from genial_env.arena._rating_intervals import (
    Blocks,
    count_wins,
    prior_wins,
    rating_intervals,
    reachable,
    utility_intervals,
    win_rate_intervals,
)
from genial_env.arena.intervals import Intervals
from genial_env.arena.sprt import ELO_PER_LOGIT
from genial_env.core.arrays import Floats, Ints

__all__ = ["Ratings", "rate", "sorted_markers", "strengths"]

MISSING = f"ratings need choix: {install_hint('arena')}"


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings and other statistics of N agents from G games.

    Attributes:
        names: The names of the N agents.
        plays: [N] The number of tracks that each agent played, over all games.
        rating: [N] Ratings in Elo. The intervals are those of the difference to the reference: the anchor, or without
            one the mean of the largest set of agents that limit each other's ratings (usually all). The high end is
            infinite for an agent against which the reference has no wins, directly or through others. The low end is
            infinite for an agent without such wins against the reference.
        utility: [N] Mean rank utility: +1 if always first, -1 if always last.
        meetings: [N, N] The number of comparisons between row and column.
        wins: [N, N] How many of them row won; a tie counts half.
        win_rate: [N, N] The fraction of them; NaN without comparisons, as on the diagonal.
        markers: [N, C] Mean final markers in ascending order; None if no scores were given.
        anchor: An agent and its fixed rating; None if the mean rating is 0.
    """

    names: list[str]
    plays: Ints
    rating: Intervals
    utility: Intervals
    meetings: Ints
    wins: Floats
    win_rate: Intervals
    markers: Floats | None
    anchor: tuple[int, float] | None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values: lists in the order of `names`, None for NaN and infinite ends."""
        found: dict[str, Any] = {"names": list(self.names), "plays": self.plays.tolist()}
        for name in ("rating", "utility", "win_rate"):
            found[name] = getattr(self, name).to_dict()
        found |= {"meetings": self.meetings.tolist(), "wins": self.wins.tolist()}
        found["markers"] = None if self.markers is None else self.markers.tolist()
        found["anchor"] = None if self.anchor is None else list(self.anchor)
        return found


def rate(
    entrants: ArrayLike,
    ranks: ArrayLike,
    groups: ArrayLike,
    n_agents: int,
    *,
    scores: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    anchor: tuple[int, float] | None = None,
    prior: float = 0.5,
) -> Ratings:
    """Compute the ratings and statistics of a tournament.

    Two tracks with the same agent are not compared.

    Args:
        entrants: [G, T] the agents on the tracks, 0 to n_agents - 1.
        ranks: [G, T] 1 = best, equal tracks share a rank: 1, 2, 2, 4.
        groups: [G] integers, the same for all games of a deal.
        n_agents: N.
        scores: [G, T, C] the final markers; None: mean markers are not computed.
        names: the names of the N agents; None: their numbers.
        anchor: an agent and its fixed rating; None: the mean rating is 0.
        prior: see :func:`strengths`.

    Raises:
        ValueError: if the arrays have other shapes or values, or if games do not connect all agents.
        ImportError: if choix is not installed.
    """
    played, places = _checked(entrants, ranks, n_agents)
    group = _check_groups(groups, len(played))
    labels = [str(agent) for agent in range(n_agents)] if names is None else list(names)
    _check_options(n_agents, labels, anchor)
    wins_of_deals = count_wins(played, places, group, n_agents)
    wins = wins_of_deals.sum(axis=0)
    blocks = Blocks.of(played, group, n_agents)
    rating = _anchored(strengths(wins, prior, names=labels), anchor)
    return Ratings(
        names=labels,
        plays=np.bincount(played.ravel(), minlength=n_agents),
        rating=rating_intervals(rating, wins_of_deals, blocks, anchor),
        utility=utility_intervals(played, places, group, blocks),
        meetings=(wins + wins.T).astype(np.int64),
        wins=wins,
        win_rate=win_rate_intervals(wins_of_deals, blocks),
        markers=None if scores is None else sorted_markers(played, scores, n_agents),
        anchor=anchor,
    )


def strengths(wins: ArrayLike, prior: float = 0.5, *, names: Sequence[str] | None = None) -> Floats:
    """Fit Bradley-Terry ratings of N agents.

    Args:
        wins: [N, N] the number of wins of row against column; a tie counts half for both.
        prior: the number of wins, and of losses, that are added for each agent, above 0. Each pair of agents that met
            gets ``prior / (N - 1)`` of them. So agents without wins or without losses have finite ratings. The effect
            on other agents is small.
        names: the names of the N agents, for messages.

    Returns:
        [N] ratings in Elo with mean 0.

    Raises:
        ValueError: if the matrix or the prior is invalid, or if games do not connect all agents.
        ImportError: if choix is not installed.
    """
    found = np.asarray(wins, dtype=np.float64)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or len(found) < 2:
        raise ValueError(f"wins are [N, N] of N >= 2 agents, not {list(found.shape)}")
    if not (np.isfinite(found) & (found >= 0)).all() or found.diagonal().any():
        raise ValueError("wins are finite, at least 0, and 0 on the diagonal")
    if not 0 < prior < np.inf:
        raise ValueError(f"prior must be above 0, not {prior}")
    _check_connected(found + found.T > 0, names or [str(agent) for agent in range(len(found))])
    return _fit(found + prior_wins(found, prior))


def sorted_markers(entrants: ArrayLike, scores: ArrayLike, n_agents: int) -> Floats:
    """Return each agent's mean lowest marker, mean second lowest marker, and so on.

    Args:
        entrants: [G, T] the agents on the tracks, 0 to n_agents - 1.
        scores: [G, T, C] the final markers.
        n_agents: N.

    Returns:
        [N, C] means over games; NaN for an agent without games.

    Raises:
        ValueError: if the arrays have other shapes or values.
    """
    played, markers = _check_entrants(entrants, n_agents), np.asarray(scores)
    if markers.ndim != 3 or markers.shape[:2] != played.shape:
        raise ValueError(f"scores of entrants {list(played.shape)} are [G, T, C], not {list(markers.shape)}")
    sums = np.zeros((n_agents, markers.shape[2]))
    np.add.at(sums, played, np.sort(markers, axis=2))
    plays = np.bincount(played.ravel(), minlength=n_agents)[:, None]
    return sums / np.where(plays > 0, plays, np.nan)


def _fit(wins: Floats) -> Floats:
    """Return the maximum-likelihood ratings [N] in Elo, with mean 0.

    Raises:
        ImportError: if choix is not installed.
    """
    try:
        from choix import ilsr_pairwise_dense
    except ImportError as error:
        raise ImportError(MISSING) from error
    found = ilsr_pairwise_dense(wins, max_iter=10_000)
    ratings: Floats = (found - found.mean()) * ELO_PER_LOGIT
    return ratings


def _anchored(ratings: Floats, anchor: tuple[int, float] | None) -> Floats:
    """Return the ratings [..., N], shifted so that the anchor has its rating."""
    if anchor is None:
        return ratings
    agent, given = anchor
    moved: Floats = ratings - ratings[..., agent, None] + given
    return moved


def _check_entrants(entrants: ArrayLike, n_agents: int) -> Ints:
    """Return the entrants as integers [G, T].

    Raises:
        ValueError: if the shape differs, if there are no games or fewer than two tracks, or if a number is no agent.
    """
    played = np.asarray(entrants)
    if played.ndim != 2 or len(played) < 1 or played.shape[1] < 2:
        raise ValueError(f"entrants are [G, T] with G >= 1 games and T >= 2 tracks, not {list(played.shape)}")
    if not np.issubdtype(played.dtype, np.integer):
        raise ValueError(f"entrants are integers, not {played.dtype}")
    if played.min() < 0 or played.max() >= n_agents:
        wrong = played.min() if played.min() < 0 else played.max()
        raise ValueError(f"entrants are agents 0 to {n_agents - 1}, not {wrong}")
    return played.astype(np.int64)


def _checked(entrants: ArrayLike, ranks: ArrayLike, n_agents: int) -> tuple[Ints, Ints]:
    """Return entrants and ranks as integers, both [G, T].

    Raises:
        ValueError: if the shapes differ, or if a number is not an agent or not a rank.
    """
    played, places = _check_entrants(entrants, n_agents), np.asarray(ranks)
    if places.shape != played.shape:
        raise ValueError(f"ranks are of the shape of entrants, {list(played.shape)}, not {list(places.shape)}")
    expected = 1 + (places[:, None, :] < places[:, :, None]).sum(axis=-1)
    wrong = np.flatnonzero((places != expected).any(axis=1))
    if wrong.size:
        told = f"{places[wrong[0]].tolist()} in game {wrong[0]}"
        raise ValueError(f"a rank is 1 + the number of better tracks, as in 1, 2, 2, 4, which does not fit {told}")
    return played, places.astype(np.int64)


def _check_groups(groups: ArrayLike, games: int) -> Ints:
    """Return the groups [G] numbered from 0 to K - 1.

    Raises:
        ValueError: if the shape differs, or if the groups are not integers.
    """
    found = np.asarray(groups)
    if found.shape != (games,) or not np.issubdtype(found.dtype, np.integer):
        raise ValueError(f"groups are integers [{games}], one a game, not {found.dtype} {list(found.shape)}")
    numbers: Ints = np.unique(found, return_inverse=True)[1].astype(np.int64)
    return numbers


def _check_options(n_agents: int, names: Sequence[str], anchor: tuple[int, float] | None) -> None:
    """Check that every agent has a name, and that the anchor is one of the agents.

    Raises:
        ValueError: if not.
    """
    if len(names) != n_agents:
        raise ValueError(f"{n_agents} agents need {n_agents} names, not {len(names)}")
    if anchor is not None and not (0 <= anchor[0] < n_agents and np.isfinite(anchor[1])):
        raise ValueError(f"the anchor is an agent 0 to {n_agents - 1} and a finite rating, not {anchor}")


def _check_connected(met: NDArray[np.bool_], names: Sequence[str]) -> None:
    """Check that games connect all agents.

    Raises:
        ValueError: if not. The message names the groups of agents between which there were no games.
    """
    parts = [np.flatnonzero(row).tolist() for row in np.unique(reachable(met), axis=0)[::-1]]
    if len(parts) > 1:
        told = " | ".join(", ".join(names[agent] for agent in part) for part in parts)
        raise ValueError(f"ratings need games that connect all agents, and these never met: {told}")
