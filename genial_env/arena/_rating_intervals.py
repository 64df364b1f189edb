"""Confidence intervals of ratings, mean utilities and win rates. See :mod:`genial_env.arena.ratings` for the method."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from genial_env.arena.intervals import Intervals, accepted, accepted_by_student, mean_interval, solve
from genial_env.arena.sprt import ELO_PER_LOGIT
from genial_env.core.arrays import Floats, Ints
from genial_env.core.ranking import rank_utility

TINY_PRIOR = 1e-6
"""The prior of :func:`genial_env.arena.ratings.strengths` for the score test. It only keeps nuisance ratings finite."""

MAX_DEALS = 500
"""The most deals for the score test, whose time is linear in them. If there are more, neighbouring deals are merged."""

MAX_DISTANCE_ELO = 4_000.0
"""The distance from a rating, in Elo, beyond which the end of an interval counts as infinite."""


def count_wins(entrants: Ints, ranks: Ints, group: Ints, n_agents: int) -> Floats:
    """Count the pairwise wins [K, N, N] in each of K deals. A tie is half a win to either."""
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
class Blocks:
    """The blocks of a tournament, to which the intervals add a pseudo-block (:mod:`genial_env.arena.intervals`).

    A block holds the games of one lineup in one deal: the same agents in every rotation. N agents form L lineups.

    Attributes:
        meetings: [L, N, N] Comparisons of each two agents in a block of each lineup.
        agents: [N] The number of blocks with each agent.
        deals: [N] The number of deals with each agent.
        pairs: [N, N] The number of blocks with each two agents.
        pair_deals: [N, N] The number of deals with each two agents.
        whole: Whether every block is a whole deal.
    """

    meetings: Floats
    agents: Ints
    deals: Ints
    pairs: Ints
    pair_deals: Ints
    whole: bool

    @classmethod
    def of(cls, entrants: Ints, group: Ints, n_agents: int) -> "Blocks":
        """Return the blocks of games with entrants [G, T] and deals [G]."""
        lineups, of_game = np.unique(np.sort(entrants, axis=1), axis=0, return_inverse=True)
        blocks = np.unique(np.stack([group, of_game.ravel()], axis=1), axis=0)
        met = count_wins(entrants, np.ones_like(entrants), of_game.ravel(), n_agents)  # ties only: half of the meetings
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

    def block_of_agent(self, agent: int, results: float) -> float | None:
        """Return how many of an agent's results a block has; None if a block is a whole deal for the agent."""
        blocks = self.agents[agent]
        return None if blocks == self.deals[agent] else results / float(blocks)

    def block_of_pair(self, one: int, other: int, meetings: float) -> float | None:
        """Return how many of two agents' meetings a block has; None if a block is a whole deal for them."""
        blocks = self.pairs[one, other]
        return None if blocks == self.pair_deals[one, other] else meetings / float(blocks)


def utility_intervals(entrants: Ints, ranks: Ints, group: Ints, blocks: Blocks) -> Intervals:
    """Return the mean rank utilities [N] with intervals."""
    sums, plays = np.zeros((2, group.max() + 1, len(blocks.agents)))
    np.add.at(sums, (group[:, None], entrants), rank_utility(ranks))
    np.add.at(plays, (group[:, None], entrants), 1)
    many = plays.sum(axis=0)
    ends = [
        mean_interval(sums[:, agent], plays[:, agent], (-1.0, 1.0), block=blocks.block_of_agent(agent, many[agent]))
        for agent in range(len(many))
    ]
    return _intervals_with_ends(sums.sum(axis=0) / np.where(many > 0, many, np.nan), np.array(ends))


def win_rate_intervals(wins: Floats, blocks: Blocks) -> Intervals:
    """Return the win rates [N, N] with intervals from the wins [K, N, N] of K deals."""
    met = wins + wins.swapaxes(1, 2)
    total = met.sum(axis=0)
    ends = np.full((*total.shape, 2), np.nan)
    for one, other in np.argwhere(np.triu(total > 0)):
        block = blocks.block_of_pair(one, other, float(total[one, other]))
        ends[one, other] = mean_interval(wins[:, one, other], met[:, one, other], (0.0, 1.0), block=block)
        ends[other, one] = 1 - ends[one, other, ::-1]
    return _intervals_with_ends(wins.sum(axis=0) / np.where(total > 0, total, np.nan), ends)


def _intervals_with_ends(value: Floats, ends: Floats) -> Intervals:
    """Return intervals of values [...] with ends [..., 2], widened to include the values."""
    return Intervals(value, np.minimum(ends[..., 0], value), np.maximum(ends[..., 1], value))


def rating_intervals(rating: Floats, wins: Floats, blocks: Blocks, anchor: tuple[int, float] | None) -> Intervals:
    """Return ratings [N] with intervals by the score test from the wins [K, N, N] of K deals."""
    if len(wins) < 2 and not blocks.whole:
        return Intervals(rating, np.full_like(rating, -np.inf), np.full_like(rating, np.inf))
    deals = _Deals.of(wins, blocks)
    gains = reachable(deals.wins > 0)  # row has wins against column, directly or through others
    reference = _reference(gains, rating, anchor)
    ends = np.empty((len(rating), 2))
    for agent in range(len(rating)):
        contrast = (np.arange(len(rating)) == agent) - reference
        if not contrast.any():
            ends[agent] = rating[agent]
            continue
        origin = float(reference @ rating)
        given = (float(rating[agent]) - origin) / ELO_PER_LOGIT
        low = deals.end(contrast, given, 1) if gains[agent, reference > 0].all() else -np.inf
        high = deals.end(contrast, given, -1) if gains[reference > 0, agent].all() else np.inf
        ends[agent] = np.array([low, high]) * ELO_PER_LOGIT + origin
    return _intervals_with_ends(rating, ends)


def reachable(won: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the reflexive transitive closure [N, N] of a relation: whether column can be reached from row."""
    reached: NDArray[np.bool_] = won | np.eye(len(won), dtype=np.bool_)
    for _ in range(len(won).bit_length()):
        reached = reached @ reached
    return reached


def _reference(gains: NDArray[np.bool_], rating: Floats, anchor: tuple[int, float] | None) -> Floats:
    """Return the weights [N] of the agents in the reference rating, relative to which the intervals are."""
    if anchor is not None:
        return np.asarray(np.arange(len(rating)) == anchor[0], dtype=np.float64)
    mutual = gains & gains.T
    size, middling = mutual.sum(axis=1), -np.abs(rating - np.median(rating))
    chosen = mutual[np.lexsort([middling, size])[-1]]
    found: Floats = chosen / chosen.sum()
    return found


@dataclass(frozen=True, eq=False)
class _Deals:
    """The data of the score test.

    Attributes:
        wins: [N, N] Pairwise wins in all deals.
        by_deal: [K, N * N] Pairwise wins in a deal, for K distinct deals.
        times: [K] How many deals have these wins.
        blocks: The blocks, of which one is added.
    """

    wins: Floats
    by_deal: Floats
    times: Floats
    blocks: Blocks

    @classmethod
    def of(cls, wins: Floats, blocks: Blocks) -> "_Deals":
        """Return the data for the wins [K, N, N] of K deals."""
        total = wins.sum(axis=0)
        table = wins.reshape(len(wins), -1)
        if len(table) > MAX_DEALS:
            table = np.add.reduceat(table, np.linspace(0, len(table), MAX_DEALS, endpoint=False).astype(int), axis=0)
        by_deal, times = np.unique(table, axis=0, return_counts=True)
        return cls(total, by_deal, times.astype(np.float64), blocks)

    def end(self, contrast: Floats, value: float, side: int) -> float:
        """Return the low (side 1) or high (side -1) end of the interval of ``contrast @ ratings``, in log odds."""
        fitted = np.zeros(len(contrast))

        def accepts(hypothesis: float) -> bool:
            nonlocal fitted
            fitted, slope = _fit_constrained(
                self.wins + prior_wins(self.wins, TINY_PRIOR), contrast, hypothesis, fitted
            )
            gain = (slope[:, None] - slope) / (1 + np.exp(fitted[:, None] - fitted))  # of a win of row over column
            excess = side * self.by_deal @ gain.ravel()
            worst = float((self.blocks.meetings * np.minimum(side * gain, side * gain.T)).sum(axis=(1, 2)).min()) / 2
            return accepted(excess, self.times, worst) or (
                not self.blocks.whole and accepted_by_student(excess, self.times)
            )

        inside, step = value, 0.5
        while accepts(value - side * step):
            inside, step = value - side * step, 2 * step
            if step > MAX_DISTANCE_ELO / ELO_PER_LOGIT:
                return -side * np.inf
        return solve(accepts, inside, value - side * step, 1e-3)


def _fit_constrained(wins: Floats, contrast: Floats, hypothesis: float, start: Floats) -> tuple[Floats, Floats]:
    """Fit ratings by maximum likelihood under the constraint ``contrast @ ratings == hypothesis``.

    Newton's method with step halving.

    Args:
        wins: [N, N] Wins that connect all agents in both directions.
        contrast: [N] Weights with sum 0.
        hypothesis: The value of the constraint, in log odds.
        start: [N] Initial ratings in log odds.

    Returns:
        The ratings [N] in log odds, and the efficient direction [N]: a comparison's efficient score is proportional to
        the difference of its entries.
    """
    n = len(wins)
    ratings = start + contrast * (hypothesis - contrast @ start) / (contrast @ contrast)
    system = np.zeros((n + 2, n + 2))
    system[n, :n] = system[:n, n] = contrast
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
    found = np.linalg.solve(information, np.append(contrast, 0))[:n]
    return ratings, found / np.abs(found).max()


def _log_likelihood(wins: Floats, ratings: Floats) -> float:
    return -float((wins * np.logaddexp(0, ratings - ratings[:, None])).sum())


def prior_wins(wins: Floats, prior: float) -> Floats:
    """Return the pseudo-wins [N, N] that the prior adds."""
    return np.where(wins + wins.T > 0, prior / (len(wins) - 1), 0.0)
