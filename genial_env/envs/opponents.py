"""The policies that play the seats of an environment that do not learn."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from genial_env._util.checks import as_integer
from genial_env.core import chance
from genial_env.core.arrays import Bits, Ints
from genial_env.core.rules import Rules
from genial_env.core.tables import tables
from genial_env.policies.base import Policy
from genial_env.policies.registry import make_policies

__all__ = [
    "AnyOpponents",
    "OneOpponent",
    "Opponents",
    "Pool",
    "check_seat",
    "draw_learner_seats",
    "seating_bits",
]


class Pool:
    """A set of policies from which one is drawn for each game, and for each seat that the pool is given for.

    Args:
        policies: names, or objects of :class:`~genial_env.policies.base.Policy`.
        weights: the relative probability of each policy; None: all are equally likely.

    Raises:
        ValueError: for an empty pool, an unknown name, or weights that do not fit.
        TypeError: for one name instead of several.
    """

    def __init__(self, policies: Sequence[str | Policy], weights: Sequence[float] | None = None) -> None:
        self.policies = make_policies(policies)
        if not self.policies:
            raise ValueError("the pool of opponents is empty")
        shares = np.ones(len(self.policies)) if weights is None else np.asarray(weights, dtype=np.float64)
        if shares.shape != (len(self.policies),) or not (shares >= 0).all() or not 0 < shares.sum() < np.inf:
            raise ValueError(
                f"weights must be {len(self.policies)} numbers of at least 0, not all 0, one a policy, not {weights!r}"
            )
        self._cumulative = shares.cumsum() / shares.sum()

    def __repr__(self) -> str:
        shares = np.diff(self._cumulative, prepend=0.0).round(3).tolist()
        return f"Pool({[policy.name for policy in self.policies]}, weights={shares})"

    def draw(self, random: Bits) -> Ints:
        """Draw policies by random bits [G]. Return their indices in :attr:`policies`, [G]."""
        drawn = np.searchsorted(self._cumulative, random / 2.0**64, side="right")
        return np.minimum(drawn, len(self.policies) - 1)


OneOpponent = str | Policy | Pool | Mapping[str, float]
AnyOpponents = OneOpponent | Sequence[OneOpponent]
"""The type of the argument `opponents`: one for all other seats, or one for each, clockwise from the learner.

A mapping of policy names to weights is a pool that can be written as JSON.
"""


class Opponents:
    """The policies of all seats except the learner's.

    Args:
        opponents: one for all other seats, or one for each, clockwise from the learner.
        rules: the rules.

    Raises:
        ValueError: for an unknown name or a wrong number of opponents.
        TypeError: for something that cannot be a policy.
    """

    def __init__(self, opponents: AnyOpponents, rules: Rules) -> None:
        n_others = rules.players - 1
        if isinstance(opponents, str | Pool | Mapping) or callable(opponents):
            pools = [_as_pool(opponents)] * n_others
        elif isinstance(opponents, Iterable):
            pools = [_as_pool(policy) for policy in opponents]
        else:
            raise TypeError(
                "opponents must be a policy or its name, a Pool, a dict of names and weights, or a list of these, one "
                f"for each seat, not {opponents!r}"
            )
        if len(pools) != n_others:
            raise ValueError(
                f"{rules.players} seats leave {n_others} opponents, one a seat, not {len(pools)} "
                f"(to draw them for every game give Pool({len(pools)} policies))"
            )
        self._t, self._pools = tables(rules), pools
        self.roster: list[Policy] = []
        """All policies that may play, each once."""
        self._indices = [np.array([self._enroll(policy) for policy in pool.policies]) for pool in pools]

    def assign(self, seeds: Bits, learner: Ints) -> Ints:
        """Draw who plays each seat: [G, P] indices of :attr:`roster`, -1 on the learner's seat.

        Args:
            seeds: [G] the seeds of the games.
            learner: [G] the learning seats.
        """
        players = self._t.rules.players
        if any(len(indices) > 1 for indices in self._indices):
            random = seating_bits(seeds, players)
        else:  # nothing is drawn
            random = np.zeros((len(seeds), players + 1), dtype=np.uint64)
        assignment = np.full((len(learner), players), -1)
        games, seats = np.arange(len(learner)), self._t.seats_from[learner]
        for other, (pool, indices) in enumerate(zip(self._pools, self._indices, strict=True), 1):
            assignment[games, seats[:, other]] = indices[pool.draw(random[:, other])]
        return assignment

    def _enroll(self, policy: Policy) -> int:
        """In place: add a policy to the roster if it is new. Return its index."""
        for index, other in enumerate(self.roster):
            if other is policy:
                return index
        self.roster.append(policy)
        return len(self.roster) - 1


def seating_bits(seeds: Bits, players: int) -> Bits:
    """Return the random bits that draw the learner's seat and then each opponent, clockwise from it: [G, P + 1]."""
    return chance.seat_keys(seeds, chance.Purpose.SEATING, players + 1)


def draw_learner_seats(fixed: int | None, seeds: Bits, players: int) -> Ints:
    """Return the learning seats, [G].

    Args:
        fixed: the seat for all games; None: one is drawn for each game.
        seeds: [G] the seeds of the games.
        players: P.
    """
    if fixed is not None:
        return np.full(len(seeds), fixed)
    return chance.below(seating_bits(seeds, players)[:, 0], np.full(1, players))


def check_seat(seat: int | str, rules: Rules) -> int | None:
    """Return the argument `seat` as a number, None for "random".

    Raises:
        ValueError: for a seat that does not exist.
    """
    if seat == "random":
        return None
    try:
        return as_integer(seat, "seat", 0, rules.players - 1)
    except (TypeError, ValueError) as error:
        raise ValueError(f"seat must be 0 to {rules.players - 1} or 'random', not {seat!r}") from error


def _as_pool(policy: Any) -> Pool:
    if isinstance(policy, Mapping):
        return Pool(list(policy), list(policy.values()))
    return policy if isinstance(policy, Pool) else Pool([policy])
