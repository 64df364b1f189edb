"""How strong each of many agents is, from the ranks of games of any number of tracks.

Strengths are those of the Plackett-Luce model: the winner of a game is agent a with a chance in proportion to
``10 ** (rating[a] / 400)`` among those who play, the second likewise among the others, and so on. For two tracks that
is Bradley-Terry, and Elo's logistic scale. They are fitted by full rank breaking: a game counts as one comparison of
each pair of its tracks, a tie as half a win to either, which is consistent for Plackett-Luce (H. Azari Soufiani,
W. Chen, D. Parkes, L. Xia, "Generalized method-of-moments for rank aggregation", NeurIPS 2013). choix fits the
comparisons with iterative Luce spectral ranking (L. Maystre, M. Grossglauser, "Fast and accurate inference of
Plackett-Luce models", NeurIPS 2015).

The comparisons of a game are not independent of each other, nor are games of the same deal with the seats rotated.
Intervals therefore come from resampling whole groups of such games: the percentile bootstrap (B. Efron, "Bootstrap
methods: another look at the jackknife", Annals of Statistics 7, 1979), its percentiles moved outwards for few groups
(T. Hesterberg, "What teachers should know about the bootstrap", The American Statistician 69, 2015). They say nothing
of what would happen against other opponents.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genial_env.arena.sprt import ELO_PER_LOGIT, NORMAL_95
from genial_env.bitsets import Ints
from genial_env.envs.rewards import rank_utility

Floats = NDArray[np.float64]

MISSING = "ratings need choix: pip install 'genial-env[arena]'"


class Intervals(NamedTuple):
    """Values with 95% intervals, arrays of one shape; NaN where there is nothing to tell from."""

    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Ratings:
    """What G games tell of N agents.

    Attributes:
        names: N.
        plays: [N] tracks that each agent played on, over all games.
        rating: [N] in Elo, bootstrap intervals over groups.
        utility: [N] mean rank utility, +1 always first to -1 always last; bootstrap intervals over groups.
        meetings: [N, N] how often row and column were in a game together, on how many pairs of tracks.
        wins: [N, N] how often row ended above column there, ties half.
        win_rate: [N, N] the share of these, with Wilson intervals, which take meetings as independent; NaN for who
            never met, as on the diagonal.
        markers: [N, C] mean final markers, the lowest first; None: not asked for.
        anchor: an agent and the rating that it was given; None: the mean rating is 0.
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
        """For JSON: lists in the order of `names`, None for NaN."""
        found: dict[str, Any] = {"names": list(self.names), "plays": self.plays.tolist()}
        for name in ("rating", "utility", "win_rate"):
            found[name] = {end: _plain(values) for end, values in getattr(self, name)._asdict().items()}
        found |= {"meetings": self.meetings.tolist(), "wins": self.wins.tolist()}
        found["markers"] = None if self.markers is None else self.markers.tolist()
        found["anchor"] = None if self.anchor is None else list(self.anchor)
        return found


def _plain(values: Floats) -> list[Any]:
    """As lists, None for NaN."""
    found = values.astype(object)
    found[np.isnan(values)] = None
    listed: list[Any] = found.tolist()
    return listed


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
    resamples: int = 500,
    seed: int = 0,
) -> Ratings:
    """Everything there is to tell of the agents of a tournament.

    An agent may play against copies of itself: such a pair of tracks compares nothing.

    Args:
        entrants: [G, T] the agents on the tracks, 0 to n_agents - 1.
        ranks: [G, T] 1 = best, equal tracks share a rank: 1, 2, 2, 4.
        groups: [G] integers that games of one deal share.
        n_agents: N.
        scores: [G, T, C] the final markers; left out, there are no mean markers.
        names: N; left out, the numbers.
        anchor: an agent and the rating that it gets; left out, the mean rating is 0.
        prior: as in :func:`strengths`.
        resamples: of the groups, for the intervals. With 0, or a single group, they are NaN.
        seed: of the resamples.

    Raises:
        ValueError: for arrays that do not fit, and agents that no games connect.
        ImportError: without choix.
    """
    played, places = _checked(entrants, ranks, n_agents)
    group = _check_groups(groups, len(played))
    labels = [str(agent) for agent in range(n_agents)] if names is None else list(names)
    _check_options(n_agents, labels, anchor, resamples)
    square = n_agents * n_agents
    table = np.hstack([_wins(played, places, group, n_agents), *_utilities(played, places, group, n_agents)])
    total = table.sum(axis=0)
    wins = total[:square].reshape(n_agents, n_agents)
    rating = strengths(wins, prior, names=labels)
    utility = total[square : square + n_agents] / total[square + n_agents :]

    drawn = _resampled(table, resamples, seed)
    fitted = _refitted(drawn[:, :square].reshape(-1, n_agents, n_agents), wins, prior, rating)
    sums, plays = np.split(drawn[:, square:], 2, axis=1)
    utilities = np.where(plays > 0, sums / np.maximum(plays, 1), utility)
    return Ratings(
        names=labels,
        plays=total[square + n_agents :].astype(np.int64),
        rating=_percentiles(_anchored(rating, anchor), _anchored(fitted, anchor), len(table)),
        utility=_percentiles(utility, utilities, len(table)),
        meetings=(wins + wins.T).astype(np.int64),
        wins=wins,
        win_rate=win_rates(wins),
        markers=None if scores is None else sorted_markers(played, scores, n_agents),
        anchor=anchor,
    )


def pairwise_wins(entrants: ArrayLike, ranks: ArrayLike, n_agents: int) -> Floats:
    """Full rank breaking: how often each agent ended above each other.

    Args:
        entrants: [G, T] the agents on the tracks, 0 to n_agents - 1.
        ranks: [G, T] 1 = best, equal tracks share a rank.
        n_agents: N.

    Returns:
        [N, N] how often row ended above column, ties half to either; 0 on the diagonal.

    Raises:
        ValueError: for arrays that do not fit.
    """
    played, places = _checked(entrants, ranks, n_agents)
    group = np.zeros(len(played), dtype=np.int64)
    return _wins(played, places, group, n_agents).reshape(n_agents, n_agents)


def strengths(wins: ArrayLike, prior: float = 0.5, *, names: Sequence[str] | None = None) -> Floats:
    """Bradley-Terry ratings of N agents.

    Args:
        wins: [N, N] how often row won against column, ties half to either.
        prior: games that each agent is taken to have won, and lost, against the others in addition, shared out evenly
            to those it met (``prior / (N - 1)`` each). It keeps the unbeaten and the winless finite, and hardly
            matters to others. Above 0.
        names: N, for errors.

    Returns:
        [N] in Elo, their mean 0.

    Raises:
        ValueError: for a matrix that is none, and agents that no games connect.
        ImportError: without choix.
    """
    found = np.asarray(wins, dtype=np.float64)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or len(found) < 2:
        raise ValueError(f"wins are [N, N] of N >= 2 agents, not {list(found.shape)}")
    if not (np.isfinite(found) & (found >= 0)).all() or found.diagonal().any():
        raise ValueError("wins are finite, at least 0, and 0 on the diagonal")
    if not 0 < prior < np.inf:
        raise ValueError(f"prior must be above 0, not {prior}")
    _check_connected(found + found.T > 0, names or [str(agent) for agent in range(len(found))])
    return _fit(found + _virtual(found, prior), None)


def win_rates(wins: Floats) -> Intervals:
    """Shares of wins, ties half, with Wilson intervals (E. Wilson, "Probable inference", JASA 22, 1927).

    Args:
        wins: [N, N] how often row won against column.

    Returns:
        [N, N], NaN for who never met.
    """
    met = wins + wins.T
    many = np.where(met > 0, met, np.nan)
    share = wins / many
    middle = (wins + NORMAL_95**2 / 2) / (many + NORMAL_95**2)
    reach = NORMAL_95 * np.sqrt(many * share * (1 - share) + NORMAL_95**2 / 4) / (many + NORMAL_95**2)
    return Intervals(share, np.clip(middle - reach, 0, share), np.clip(middle + reach, share, 1))


def sorted_markers(entrants: ArrayLike, scores: ArrayLike, n_agents: int) -> Floats:
    """What an agent's lowest marker is on average, its second lowest, and so on.

    Args:
        entrants: [G, T] the agents on the tracks, 0 to n_agents - 1.
        scores: [G, T, C] the final markers.
        n_agents: N.

    Returns:
        [N, C] means over games, NaN for an agent that played none.

    Raises:
        ValueError: for arrays that do not fit.
    """
    played, markers = _check_entrants(entrants, n_agents), np.asarray(scores)
    if markers.ndim != 3 or markers.shape[:2] != played.shape:
        raise ValueError(f"scores of entrants {list(played.shape)} are [G, T, C], not {list(markers.shape)}")
    sums = np.zeros((n_agents, markers.shape[2]))
    np.add.at(sums, played, np.sort(markers, axis=2))
    plays = np.bincount(played.ravel(), minlength=n_agents)[:, None]
    return sums / np.where(plays > 0, plays, np.nan)


def _wins(entrants: Ints, ranks: Ints, group: Ints, n_agents: int) -> Floats:
    """[K, N * N]: the wins of each of K groups."""
    groups, tracks = group.max() + 1, entrants.shape[1]
    found = np.zeros(groups * n_agents * n_agents)
    for one in range(tracks):
        for other in range(tracks):
            if one != other:
                won = (1 + np.sign(ranks[:, other] - ranks[:, one])) / 2 * (entrants[:, one] != entrants[:, other])
                cell = (group * n_agents + entrants[:, one]) * n_agents + entrants[:, other]
                found += np.bincount(cell, won, minlength=found.size)
    return found.reshape(groups, n_agents * n_agents)


def _utilities(entrants: Ints, ranks: Ints, group: Ints, n_agents: int) -> tuple[Floats, Floats]:
    """Two [K, N]: the sums of the utilities in each of K groups, and of how many."""
    sums, plays = np.zeros((2, group.max() + 1, n_agents))
    np.add.at(sums, (group[:, None], entrants), rank_utility(ranks))
    np.add.at(plays, (group[:, None], entrants), 1)
    return sums, plays


def _resampled(table: Floats, resamples: int, seed: int) -> Floats:
    """[B, M]: sums over the rows of a table [K, M], drawn K times with replacement; B = 0 for a single row."""
    groups = len(table)
    rng = np.random.default_rng(seed)
    found = np.empty((resamples if groups > 1 else 0, table.shape[1]))
    for row in found:
        row[:] = np.bincount(rng.integers(groups, size=groups), minlength=groups) @ table
    return found


def _refitted(drawn: Floats, wins: Floats, prior: float, start: Floats) -> Floats:
    """[B, N]: the ratings for each of the matrices [B, N, N]; who met is taken from all games."""
    virtual = _virtual(wins, prior)
    found = np.empty((len(drawn), len(start)))
    for row, each in zip(found, drawn, strict=True):
        row[:] = _fit(each + virtual, start)
    return found


def _virtual(wins: Floats, prior: float) -> Floats:
    """[N, N]: the wins that the prior adds."""
    return np.where(wins + wins.T > 0, prior / (len(wins) - 1), 0.0)


def _fit(wins: Floats, start: Floats | None) -> Floats:
    """[N]: the likeliest ratings in Elo, their mean 0.

    Raises:
        ImportError: without choix.
    """
    try:
        from choix import ilsr_pairwise_dense
    except ImportError as error:
        raise ImportError(MISSING) from error
    found = ilsr_pairwise_dense(wins, initial_params=None if start is None else start / ELO_PER_LOGIT, max_iter=10_000)
    ratings: Floats = (found - found.mean()) * ELO_PER_LOGIT
    return ratings


def _anchored(ratings: Floats, anchor: tuple[int, float] | None) -> Floats:
    """[..., N]: moved so that the anchor has its rating."""
    if anchor is None:
        return ratings
    agent, given = anchor
    moved: Floats = ratings - ratings[..., agent, None] + given
    return moved


def _percentiles(value: Floats, drawn: Floats, groups: int) -> Intervals:
    """Of values [N] and ones [B, N] from resamples of `groups` groups; NaN for B = 0.

    As wide as Student's interval for a mean would be, which the plain percentiles are not (Hesterberg 2015).
    """
    if not len(drawn):
        return Intervals(value, np.full_like(value, np.nan), np.full_like(value, np.nan))
    beyond = NormalDist().cdf(-sqrt(groups / (groups - 1)) * _student_95(groups - 1))
    low, high = np.quantile(drawn, (beyond, 1 - beyond), axis=0)
    return Intervals(value, low, high)


def _student_95(degrees: int) -> float:
    """The 97.5% quantile of Student's t, by its expansion in 1 / degrees (Abramowitz and Stegun 26.7.5)."""
    z = NORMAL_95
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def _check_entrants(entrants: ArrayLike, n_agents: int) -> Ints:
    """[G, T].

    Raises:
        ValueError: for another shape, no games, fewer than two tracks, or numbers that are no agents.
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
    """Two [G, T].

    Raises:
        ValueError: for shapes that differ, and for numbers that are no agents or no ranks.
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
    """[G] as numbers 0 to K - 1.

    Raises:
        ValueError: for another shape, or what are no integers.
    """
    found = np.asarray(groups)
    if found.shape != (games,) or not np.issubdtype(found.dtype, np.integer):
        raise ValueError(f"groups are integers [{games}], one a game, not {found.dtype} {list(found.shape)}")
    numbers: Ints = np.unique(found, return_inverse=True)[1].astype(np.int64)
    return numbers


def _check_options(n_agents: int, names: Sequence[str], anchor: tuple[int, float] | None, resamples: int) -> None:
    """Raises: ValueError."""
    if len(names) != n_agents:
        raise ValueError(f"{n_agents} agents need {n_agents} names, not {len(names)}")
    if anchor is not None and not (0 <= anchor[0] < n_agents and np.isfinite(anchor[1])):
        raise ValueError(f"the anchor is an agent 0 to {n_agents - 1} and a finite rating, not {anchor}")
    if resamples < 0:
        raise ValueError(f"resamples must be at least 0, not {resamples}")


def _check_connected(met: NDArray[np.bool_], names: Sequence[str]) -> None:
    """Whether games connect all agents [N, N].

    Raises:
        ValueError: naming the groups of agents between which there were no games.
    """
    reached = met | np.eye(len(met), dtype=np.bool_)
    for _ in range(len(met).bit_length()):
        reached = reached @ reached
    parts = [np.flatnonzero(row).tolist() for row in np.unique(reached, axis=0)[::-1]]
    if len(parts) > 1:
        told = " | ".join(", ".join(names[agent] for agent in part) for part in parts)
        raise ValueError(f"ratings need games that connect all agents, and these never met: {told}")
