"""How strong each of many agents is, from the ranks of games of any number of tracks.

Strengths are those of the Plackett-Luce model: the winner of a game is agent a with a chance in proportion to
``10 ** (rating[a] / 400)`` among those who play, the second likewise among the others, and so on. For two tracks that
is Bradley-Terry, and Elo's logistic scale. They are fitted by full rank breaking: a game counts as one comparison of
each pair of its tracks, a tie as half a win to either, which is consistent for Plackett-Luce (H. Azari Soufiani,
W. Chen, D. Parkes, L. Xia, "Generalized method-of-moments for rank aggregation", NeurIPS 2013). choix fits the
comparisons with iterative Luce spectral ranking (L. Maystre, M. Grossglauser, "Fast and accurate inference of
Plackett-Luce models", NeurIPS 2015).

The comparisons of a game are not independent of each other, nor are games of the same deal with the seats rotated. The
intervals therefore weigh whole deals (:mod:`genial_env.arena.intervals`): of mean utilities and of shares of wins
directly, of ratings by the score test. A difference between an agent and the reference is supposed, everything else is
fitted to it, and the slope of the likelihood says by how much each deal exceeds what was supposed. The slope is the
efficient score, so what is uncertain about the agents in between counts too (C. R. Rao, "Large sample tests of
statistical hypotheses", Mathematical Proceedings of the Cambridge Philosophical Society 44, 1948). Two agents have the
interval of their share of wins. The intervals say nothing of what would happen against other opponents.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genial_env.arena.intervals import Floats, Intervals, accepted, accepted_by_student, mean_interval, solve
from genial_env.arena.sprt import ELO_PER_LOGIT
from genial_env.core.bitsets import Ints
from genial_env.core.ranking import rank_utility

MISSING = "ratings need choix: pip install 'genial-env[arena]'"


TINY_PRIOR = 1e-6
"""The prior of :func:`strengths` where intervals are worked out: it only keeps others than the two agents finite."""

MOST_DEALS = 500
"""Where there are more deals, neighbours are taken together for the intervals, which costs time in proportion."""

FAR = 4_000.0
"""Elo beyond the rating where an interval that goes on is taken to have no end."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """What G games tell of N agents.

    Attributes:
        names: N.
        plays: [N] tracks that each agent played on, over all games.
        rating: [N] in Elo. The intervals are of the differences to the reference, which is the anchor; without one, the
            mean of those agents, the most, whose results set limits to each other's ratings (usually all). The high end
            is infinite for who never lost ground to the reference, directly or through others, the low end for who
            never gained any.
        utility: [N] mean rank utility, +1 always first to -1 always last.
        meetings: [N, N] how often row and column were in a game together, on how many pairs of tracks.
        wins: [N, N] how often row ended above column there, ties half.
        win_rate: [N, N] the share of these; NaN for who never met, as on the diagonal.
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
        """For JSON: lists in the order of `names`, None for NaN and for ends that are infinite."""
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

    Raises:
        ValueError: for arrays that do not fit, and agents that no games connect.
        ImportError: without choix.
    """
    played, places = _checked(entrants, ranks, n_agents)
    group = _check_groups(groups, len(played))
    labels = [str(agent) for agent in range(n_agents)] if names is None else list(names)
    _check_options(n_agents, labels, anchor)
    wins_of_deals = _wins(played, places, group, n_agents)
    wins = wins_of_deals.sum(axis=0)
    blocks = _Blocks.of(played, group, n_agents)
    rating = _anchored(strengths(wins, prior, names=labels), anchor)
    return Ratings(
        names=labels,
        plays=np.bincount(played.ravel(), minlength=n_agents),
        rating=_rating_intervals(rating, wins_of_deals, blocks, anchor),
        utility=_utility_intervals(played, places, group, blocks),
        meetings=(wins + wins.T).astype(np.int64),
        wins=wins,
        win_rate=_win_rates(wins_of_deals, blocks),
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
    wins: Floats = _wins(played, places, group, n_agents)[0]
    return wins


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
    return _fit(found + _virtual(found, prior))


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
    """[K, N, N]: the wins of each of K groups."""
    groups, tracks = group.max() + 1, entrants.shape[1]
    found = np.zeros(groups * n_agents * n_agents)
    for one in range(tracks):
        for other in range(tracks):
            if one != other:
                won = (1 + np.sign(ranks[:, other] - ranks[:, one])) / 2 * (entrants[:, one] != entrants[:, other])
                cell = (group * n_agents + entrants[:, one]) * n_agents + entrants[:, other]
                found += np.bincount(cell, won, minlength=found.size)
    return found.reshape(groups, n_agents, n_agents)


@dataclass(frozen=True, eq=False)
class _Blocks:
    """What one more block of games would be, see :mod:`genial_env.arena.intervals`.

    A block is the games of one lineup in one deal: the same agents in every rotation. N agents meet in L lineups.

    Attributes:
        meetings: [L, N, N] how often the agents of a lineup meet in a block.
        agents: [N] in how many blocks each agent was; `deals` in how many deals.
        deals: [N]
        pairs: [N, N] in how many blocks each two agents met; `pair_deals` in how many deals.
        pair_deals: [N, N]
        whole: whether a block is a whole deal.
    """

    meetings: Floats
    agents: Ints
    deals: Ints
    pairs: Ints
    pair_deals: Ints
    whole: bool

    @classmethod
    def of(cls, entrants: Ints, group: Ints, n_agents: int) -> "_Blocks":
        """From entrants [G, T] of groups [G]."""
        lineups, of_game = np.unique(np.sort(entrants, axis=1), axis=0, return_inverse=True)
        blocks = np.unique(np.stack([group, of_game.ravel()], axis=1), axis=0)
        met = _wins(entrants, np.ones_like(entrants), of_game.ravel(), n_agents)  # ties only: half of the meetings
        is_in = (lineups[:, :, None] == np.arange(n_agents)).any(axis=1)[blocks[:, 1]].astype(np.int64)
        in_deal = np.zeros((group.max() + 1, n_agents, n_agents), dtype=np.bool_)
        together = (is_in[:, :, None] * is_in[:, None, :]).astype(np.bool_)
        np.logical_or.at(in_deal, blocks[:, 0], together)
        pairs, pair_deals = is_in.T @ is_in, in_deal.sum(axis=0)
        return cls(
            2 * met / np.bincount(blocks[:, 1])[:, None, None],
            pairs.diagonal(),
            pair_deals.diagonal(),
            pairs,
            pair_deals,
            len(blocks) == group.max() + 1,
        )

    def of_agent(self, agent: int, results: float) -> float | None:
        """How many of so many results of an agent are a block; None for all that a deal has."""
        blocks = self.agents[agent]
        return None if blocks == self.deals[agent] else results / float(blocks)

    def of_pair(self, one: int, other: int, meetings: float) -> float | None:
        """How many of so many meetings of two agents are a block; None for all that a deal has."""
        blocks = self.pairs[one, other]
        return None if blocks == self.pair_deals[one, other] else meetings / float(blocks)


def _utility_intervals(entrants: Ints, ranks: Ints, group: Ints, blocks: _Blocks) -> Intervals:
    """[N]."""
    sums, plays = np.zeros((2, group.max() + 1, len(blocks.agents)))
    np.add.at(sums, (group[:, None], entrants), rank_utility(ranks))
    np.add.at(plays, (group[:, None], entrants), 1)
    many = plays.sum(axis=0)
    ends = [
        mean_interval(sums[:, agent], plays[:, agent], (-1.0, 1.0), block=blocks.of_agent(agent, many[agent]))
        for agent in range(len(many))
    ]
    return _clamped(sums.sum(axis=0) / np.where(many > 0, many, np.nan), np.array(ends))


def _win_rates(wins: Floats, blocks: _Blocks) -> Intervals:
    """[N, N] of the wins [K, N, N]."""
    met = wins + wins.swapaxes(1, 2)
    total = met.sum(axis=0)
    ends = np.full((*total.shape, 2), np.nan)
    for one, other in np.argwhere(np.triu(total > 0)):
        block = blocks.of_pair(one, other, float(total[one, other]))
        ends[one, other] = mean_interval(wins[:, one, other], met[:, one, other], (0.0, 1.0), block=block)
        ends[other, one] = 1 - ends[one, other, ::-1]
    return _clamped(wins.sum(axis=0) / np.where(total > 0, total, np.nan), ends)


def _clamped(value: Floats, ends: Floats) -> Intervals:
    """Intervals of values [...] and ends [..., 2], which hold the values."""
    return Intervals(value, np.minimum(ends[..., 0], value), np.maximum(ends[..., 1], value))


def _rating_intervals(rating: Floats, wins: Floats, blocks: _Blocks, anchor: tuple[int, float] | None) -> Intervals:
    """[N] of the ratings [N] and the wins of deals [K, N, N]."""
    if len(wins) < 2 and not blocks.whole:
        return Intervals(rating, np.full_like(rating, -np.inf), np.full_like(rating, np.inf))
    deals = _Deals.of(wins, blocks)
    gains = _reaches(deals.wins > 0)  # who gained ground on whom, directly or through others
    reference = _reference(gains, rating, anchor)
    ends = np.empty((len(rating), 2))
    for agent in range(len(rating)):
        toward = (np.arange(len(rating)) == agent) - reference
        if not toward.any():
            ends[agent] = rating[agent]
            continue
        origin = float(reference @ rating)
        given = (float(rating[agent]) - origin) / ELO_PER_LOGIT
        low = deals.end(toward, given, 1) if gains[agent, reference > 0].all() else -np.inf
        high = deals.end(toward, given, -1) if gains[reference > 0, agent].all() else np.inf
        ends[agent] = np.array([low, high]) * ELO_PER_LOGIT + origin
    return _clamped(rating, ends)


def _reaches(won: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """[N, N]: whether row beat somebody who beat somebody who ... beat column; itself included."""
    reached: NDArray[np.bool_] = won | np.eye(len(won), dtype=np.bool_)
    for _ in range(len(won).bit_length()):
        reached = reached @ reached
    return reached


def _reference(gains: NDArray[np.bool_], rating: Floats, anchor: tuple[int, float] | None) -> Floats:
    """[N]: how much each agent counts in what the intervals are measured from."""
    if anchor is not None:
        return np.asarray(np.arange(len(rating)) == anchor[0], dtype=np.float64)
    mutual = gains & gains.T
    size, middling = mutual.sum(axis=1), -np.abs(rating - np.median(rating))
    chosen = mutual[np.lexsort([middling, size])[-1]]
    found: Floats = chosen / chosen.sum()
    return found


@dataclass(frozen=True, eq=False)
class _Deals:
    """The deals, and what the score test needs.

    Attributes:
        wins: [N, N] of all deals.
        by_deal: [K, N * N] of each kind of deal.
        times: [K] how many deals of that kind there are.
        blocks: what one more block would be.
    """

    wins: Floats
    by_deal: Floats
    times: Floats
    blocks: _Blocks

    @classmethod
    def of(cls, wins: Floats, blocks: _Blocks) -> "_Deals":
        """From the wins of deals [K, N, N]."""
        total = wins.sum(axis=0)
        table = wins.reshape(len(wins), -1)
        if len(table) > MOST_DEALS:
            table = np.add.reduceat(table, np.linspace(0, len(table), MOST_DEALS, endpoint=False).astype(int), axis=0)
        by_deal, times = np.unique(table, axis=0, return_counts=True)
        return cls(total, by_deal, times.astype(np.float64), blocks)

    def end(self, toward: Floats, value: float, side: int) -> float:
        """The low (side 1) or high (side -1) end of the interval of ``toward @ ratings``, in units of log odds."""
        fitted = np.zeros(len(toward))

        def accepts(supposed: float) -> bool:
            nonlocal fitted
            fitted, slope = _fit_given(self.wins + _virtual(self.wins, TINY_PRIOR), toward, supposed, fitted)
            gain = (slope[:, None] - slope) / (1 + np.exp(fitted[:, None] - fitted))  # of a win of row over column
            excess = side * self.by_deal @ gain.ravel()
            worst = float((self.blocks.meetings * np.minimum(side * gain, side * gain.T)).sum(axis=(1, 2)).min()) / 2
            return accepted(excess, self.times, worst) or (
                not self.blocks.whole and accepted_by_student(excess, self.times)
            )

        inside, step = value, 0.5
        while accepts(value - side * step):
            inside, step = value - side * step, 2 * step
            if step > FAR / ELO_PER_LOGIT:
                return -side * np.inf
        return solve(accepts, inside, value - side * step, 1e-3)


def _fit_given(wins: Floats, toward: Floats, supposed: float, start: Floats) -> tuple[Floats, Floats]:
    """The likeliest ratings [N] in log odds with ``toward @ ratings == supposed``, and the efficient slope [N]: what
    a comparison counts for is its slope's difference.

    Newton's method, steps halved until the likelihood does not fall.

    Args:
        wins: [N, N] that connect all agents in both directions.
        toward: [N] of sum 0.
        supposed: as it says.
        start: [N] ratings to begin with.
    """
    n = len(wins)
    ratings = start + toward * (supposed - toward @ start) / (toward @ toward)
    system = np.zeros((n + 2, n + 2))
    system[n, :n] = system[:n, n] = toward
    system[n + 1, :n] = system[:n, n + 1] = 1
    best = _log_likelihood(wins, ratings)
    for _ in range(100):
        chance = 1 / (1 + np.exp(ratings - ratings[:, None]))  # that row wins against column
        slope = (wins * chance.T - wins.T * chance).sum(axis=1)
        curved = (wins + wins.T) * chance * chance.T
        system[:n, :n] = np.diag(curved.sum(axis=1)) - curved
        step = np.linalg.solve(system, np.append(slope, [0, 0]))[:n]
        size = min(1.0, 4 / max(1e-9, float(np.abs(step).max())))
        while (now := _log_likelihood(wins, ratings + size * step)) < best - 1e-12 * abs(best) and size > 1e-6:
            size /= 2
        ratings, best = ratings + size * step, now
        if np.abs(step).max() < 1e-6:
            break
    information = system[[*range(n), n + 1]][:, [*range(n), n + 1]]
    found = np.linalg.solve(information, np.append(toward, 0))[:n]
    return ratings, found / np.abs(found).max()


def _log_likelihood(wins: Floats, ratings: Floats) -> float:
    return -float((wins * np.logaddexp(0, ratings - ratings[:, None])).sum())


def _virtual(wins: Floats, prior: float) -> Floats:
    """[N, N]: the wins that the prior adds."""
    return np.where(wins + wins.T > 0, prior / (len(wins) - 1), 0.0)


def _fit(wins: Floats) -> Floats:
    """[N]: the likeliest ratings in Elo, their mean 0.

    Raises:
        ImportError: without choix.
    """
    try:
        from choix import ilsr_pairwise_dense
    except ImportError as error:
        raise ImportError(MISSING) from error
    found = ilsr_pairwise_dense(wins, max_iter=10_000)
    ratings: Floats = (found - found.mean()) * ELO_PER_LOGIT
    return ratings


def _anchored(ratings: Floats, anchor: tuple[int, float] | None) -> Floats:
    """[..., N]: moved so that the anchor has its rating."""
    if anchor is None:
        return ratings
    agent, given = anchor
    moved: Floats = ratings - ratings[..., agent, None] + given
    return moved


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


def _check_options(n_agents: int, names: Sequence[str], anchor: tuple[int, float] | None) -> None:
    """Raises: ValueError."""
    if len(names) != n_agents:
        raise ValueError(f"{n_agents} agents need {n_agents} names, not {len(names)}")
    if anchor is not None and not (0 <= anchor[0] < n_agents and np.isfinite(anchor[1])):
        raise ValueError(f"the anchor is an agent 0 to {n_agents - 1} and a finite rating, not {anchor}")


def _check_connected(met: NDArray[np.bool_], names: Sequence[str]) -> None:
    """Whether games connect all agents [N, N].

    Raises:
        ValueError: naming the groups of agents between which there were no games.
    """
    parts = [np.flatnonzero(row).tolist() for row in np.unique(_reaches(met), axis=0)[::-1]]
    if len(parts) > 1:
        told = " | ".join(", ".join(names[agent] for agent in part) for part in parts)
        raise ValueError(f"ratings need games that connect all agents, and these never met: {told}")
