"""Who plays the seats that do not learn."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from genial_env._util.checks import as_integer
from genial_env.core import chance
from genial_env.core.arrays import Bits, Ints
from genial_env.core.rules import Rules
from genial_env.policies.base import Policy
from genial_env.policies.registry import make_policy


class Pool:
    """Policies of which one is drawn for every game, for every seat that the pool is given for.

    Args:
        policies: by name or as a :class:`~genial_env.policies.base.Policy`.
        weights: how often each is drawn, in proportion; left out, all alike.

    Raises:
        ValueError: for an empty pool, an unknown name, or weights that do not fit.
    """

    def __init__(self, policies: Sequence[str | Policy], weights: Sequence[float] | None = None) -> None:
        if not policies:
            raise ValueError("the pool of opponents is empty")
        self.policies = [make_policy(policy) for policy in policies]
        shares = np.ones(len(self.policies)) if weights is None else np.asarray(weights, dtype=np.float64)
        if shares.shape != (len(self.policies),) or not (shares >= 0).all() or not 0 < shares.sum() < np.inf:
            raise ValueError(
                f"weights must be {len(self.policies)} numbers of at least 0, not all 0, one a policy, not {weights!r}"
            )
        self.upto = shares.cumsum() / shares.sum()

    def __repr__(self) -> str:
        shares = np.diff(self.upto, prepend=0.0).round(3).tolist()
        return f"Pool({[policy.name for policy in self.policies]}, weights={shares})"

    def draw(self, luck: Bits) -> Ints:
        """[G]: the number of the policy in the pool, by random bits."""
        drawn = np.searchsorted(self.upto, luck / 2.0**64, side="right")
        return np.minimum(drawn, len(self.policies) - 1)


OneOpponent = str | Policy | Pool | Mapping[str, float]
AnyOpponents = OneOpponent | Sequence[OneOpponent]
"""What environments take: one for all other seats, or one for each, clockwise from the learner.

A mapping is a pool, too: names of policies, each with its weight. It is JSON, which a :class:`Pool` is not.
"""


class Opponents:
    """The policies of all seats but the learner's.

    Args:
        opponents: one for all other seats, or one for each, clockwise from the learner.
        rules: the rules.

    Raises:
        ValueError: for an unknown name or a wrong number of them.
        TypeError: for something that can be no policy.
    """

    def __init__(self, opponents: AnyOpponents, rules: Rules) -> None:
        others = rules.players - 1
        if isinstance(opponents, str | Pool | Mapping) or callable(opponents):
            pools = [_as_pool(opponents)] * others
        else:
            pools = [_as_pool(policy) for policy in opponents]
        if len(pools) != others:
            raise ValueError(
                f"{rules.players} seats leave {others} opponents, one a seat, not {len(pools)} "
                f"(to draw them for every game give Pool({len(pools)} policies))"
            )
        self._players, self._pools = rules.players, pools
        self.roster: list[Policy] = []
        self._numbers = [np.array([self._number(policy) for policy in pool.policies]) for pool in pools]

    def seated(self, seeds: Bits, learner: Ints) -> Ints:
        """[G, P]: who of the roster plays each seat; -1 on the learner's.

        Args:
            seeds: [G] of the games.
            learner: [G] the learning seats.
        """
        is_drawn = any(len(numbers) > 1 for numbers in self._numbers)
        luck = (
            seating_bits(seeds, self._players)
            if is_drawn
            else np.zeros((len(seeds), self._players + 1), dtype=np.uint64)
        )
        assignment = np.full((len(learner), self._players), -1)
        games = np.arange(len(learner))
        for other, (pool, numbers) in enumerate(zip(self._pools, self._numbers, strict=True), 1):
            assignment[games, (learner + other) % self._players] = numbers[pool.draw(luck[:, other])]
        return assignment

    def _number(self, policy: Policy) -> int:
        """In place: the place of a policy in the roster, to which it is added if it is new."""
        for number, other in enumerate(self.roster):
            if other is policy:
                return number
        self.roster.append(policy)
        return len(self.roster) - 1


def seating_bits(seeds: Bits, players: int) -> Bits:
    """[G, P + 1]: random bits of each game for the learner's seat and then each other seat, clockwise from it."""
    return chance.seat_keys(seeds, chance.Purpose.SEATING, players + 1)


def learner_seats(wanted: int | None, seeds: Bits, players: int) -> Ints:
    """[G]: the learning seats, drawn for each game where none is wanted."""
    if wanted is not None:
        return np.full(len(seeds), wanted)
    return chance.below(seating_bits(seeds, players)[:, 0], np.full(1, players))


def check_seat(seat: int | str, rules: Rules) -> int | None:
    """The learning seat, None for "random".

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
