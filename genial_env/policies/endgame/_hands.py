"""Hands of tiles that are hidden or not drawn yet, and their probabilities."""

from functools import lru_cache
from math import factorial, perm, prod

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Bools, Floats, Ints
from genial_env.core.posterior import Hidden, make_plan
from genial_env.policies.endgame._merging import as_words, find_unique_rows

__all__ = ["HiddenHand", "count_hands", "draw_weights", "enumerate_hands"]


def count_hands(counts: tuple[int, ...], size: int) -> int:
    """Return the number of different hands of `size` tiles that can be drawn from a bag with these counts."""
    ways = [1] + [0] * size
    for count in counts:
        ways = [sum(ways[total - taken] for taken in range(min(count, total) + 1)) for total in range(size + 1)]
    return ways[size]


def enumerate_hands(weights: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Return all hands that may be dealt, as counts [n, M], and their probabilities [n].

    Args:
        weights: [slots, M, D] the weight of each kind for each slot, by how many of the kind earlier slots hold.
    """
    return _enumerate_hands(weights.shape, weights.tobytes())


@lru_cache(maxsize=16)
def _enumerate_hands(shape: tuple[int, int, int], data: bytes) -> tuple[NDArray[np.int8], Floats]:
    """Compute :func:`enumerate_hands`; bytes can be keys of a cache."""
    weights: Floats = np.frombuffer(data).reshape(shape)
    kinds = np.arange(shape[1])
    hands: NDArray[np.int8] = np.zeros((1, shape[1]), dtype=np.int8)
    chances: Floats = np.ones(1)
    for of_slot in weights:
        found = of_slot[kinds, hands]
        index, kind = np.nonzero(found)
        grown = hands[index]
        grown[np.arange(len(index)), kind] += 1
        first, which = find_unique_rows(as_words(grown.view(np.uint8)))
        ways = chances[index] * found[index, kind]
        hands, chances = grown[first], np.bincount(which, weights=ways).astype(np.float64)
    return hands, chances / chances.sum()


def draw_weights(counts: Ints, size: int) -> Floats:
    """Return the weight of each kind after 0, 1, ..., `size` tiles of it have been drawn: [M, size + 1].

    Args:
        counts: [M] tiles of each kind in the bag.
        size: the number of draws.
    """
    left: Floats = np.maximum(counts[:, None] - np.arange(size + 1), 0).astype(np.float64)
    return left


class HiddenHand:
    """The distribution of the tiles of the next seat, from what the mover knows.

    Of most kinds only the number of unseen tiles matters. The kinds about which swaps have revealed something
    (:attr:`revealed`) have weights for each slot (:mod:`genial_env.core.posterior`).

    Args:
        hidden: what is known of the slots of that seat, in one game.
    """

    def __init__(self, hidden: Hidden) -> None:
        plan = make_plan(hidden)
        self.size = int(hidden.filled.sum())
        self.unseen = hidden.unseen[0]
        groups = plan.group[0, : self.size]
        self._weights = plan.weights[groups]
        returned = hidden.returned[0] * hidden.filled[0, :, None]
        self.revealed: Bools = returned.any(axis=0) & (self.unseen > 0)
        self._ages = [(plan.weights[group], int((groups == group).sum())) for group in np.unique(groups)]
        self._known_by_age: dict[tuple[int, ...], Floats] = {}
        self._known_ways: dict[tuple[int, ...], list[tuple[int, float]]] = {}

    def hands(self, group: Ints) -> tuple[NDArray[np.int8], Floats]:
        """Return all hands as counts [n, groups], and their probabilities [n].

        Args:
            group: [M] the group of each kind; kinds of one group are not told apart. A revealed kind is alone in its
                group.
        """
        n_groups = int(group.max(initial=-1)) + 1
        counts = np.bincount(group, weights=self.unseen, minlength=n_groups).astype(np.int64)
        weights = np.tile(draw_weights(counts, self.size), (self.size, 1, 1))
        for kind in np.flatnonzero(self.revealed):
            of_kind = self._weights[:, kind, : self.size + 1]
            weights[:, group[kind]] = 0
            weights[:, group[kind], : of_kind.shape[1]] = of_kind
        return enumerate_hands(weights)

    def none_probabilities(self, order: Ints) -> Floats:
        """Return the probabilities [M + 1] that the hand holds none of the first 0, 1, ..., M kinds of an order."""
        is_revealed = self.revealed[order]
        plain = np.append(self.unseen[order] * ~is_revealed, 0)[::-1].cumsum()[::-1]
        revealed = order[is_revealed].tolist()
        passed = np.append(0, is_revealed.cumsum())
        ways = np.array(
            [self._ways(tuple(sorted(revealed[n:])), int(rest)) for n, rest in zip(passed, plain, strict=True)]
        )
        chances: Floats = ways / ways[0]
        return chances

    def _ways(self, revealed: tuple[int, ...], plain: int) -> float:
        """Return the number of ways to deal the hand from some revealed kinds and from `plain` tiles of other kinds."""
        if revealed not in self._known_ways:
            self._known_ways[revealed] = self._ways_to_fill(revealed)
        return sum(ways * perm(plain, self.size - filled) for filled, ways in self._known_ways[revealed])

    def _ways_to_fill(self, revealed: tuple[int, ...]) -> list[tuple[int, float]]:
        """Return how many slots may be filled with some revealed kinds, each with the number of ways."""
        by_age, ways = self._by_age(revealed), np.zeros(self.size + 1)
        for taken in zip(*by_age.nonzero(), strict=True):
            chosen = prod(perm(n, int(slots)) for slots, (_, n) in zip(taken, self._ages, strict=True))
            ways[sum(map(int, taken))] += by_age[taken] * chosen
        return [(filled, float(ways[filled])) for filled in np.flatnonzero(ways).tolist()]

    def _by_age(self, revealed: tuple[int, ...]) -> Floats:
        """Return the number of ways to fill slots of each age with some revealed kinds, in any order within an age.

        Returns:
            An axis for each age, from the oldest, indexed by the number of slots filled.
        """
        if revealed not in self._known_by_age:
            filled = np.zeros([n + 1 for _, n in self._ages])
            if not revealed:
                filled[(0,) * filled.ndim] = 1
            else:
                fewer, of_kind = self._by_age(revealed[1:]), self._of_kind(revealed[0])
                for taken in zip(*of_kind.nonzero(), strict=True):
                    to = tuple(slice(n, None) for n in taken)
                    rest = tuple(slice(0, size - n) for n, size in zip(taken, filled.shape, strict=True))
                    filled[to] += of_kind[taken] * fewer[rest]
            self._known_by_age[revealed] = filled
        return self._known_by_age[revealed]

    def _of_kind(self, kind: int) -> Floats:
        """Return the array of :meth:`_by_age` for one kind."""
        ways = np.zeros([n + 1 for _, n in self._ages])
        for taken in np.ndindex(*ways.shape):
            dealt, number = 0, 1.0
            for slots, (weights, _) in zip(taken, self._ages, strict=True):
                for _ in range(slots):
                    number *= weights[kind, dealt] if dealt < weights.shape[1] else 0.0
                    dealt += 1
                number /= factorial(slots)
            ways[taken] = number
        return ways
