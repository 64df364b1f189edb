"""Counter-based random numbers: each a pure function of a key and a counter, so nothing is ever "used up".

The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014),
whose n-th output needs no earlier one. Keys are derived by chaining it: a game's seed gives a key to every purpose, a
purpose's key one to every seat. So a game is the same alone or in a batch of any size, every seat meets the same luck
whoever plays it, and no two purposes share a stream.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.checks import as_integer

Bits = NDArray[np.uint64]

STEP = np.uint64(0x9E3779B97F4A7C15)
MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3, _ONE, _HALF = (np.uint64(n) for n in (30, 27, 31, 1, 32))


class Purpose(IntEnum):
    """What a stream of a game is for."""

    DRAWS = 0
    CHOICES = 1
    SEATING = 2


def bits(key: Any, counter: Any) -> Bits:
    """The outputs number `counter` (0, 1, ...) of the generators with these keys: uint64, broadcast together."""
    x = np.asarray(key, dtype=np.uint64) + (np.atleast_1d(counter).astype(np.uint64) + _ONE) * STEP
    x ^= x >> _SHIFT_1
    x *= MULTIPLIER_1
    x ^= x >> _SHIFT_2
    x *= MULTIPLIER_2
    x ^= x >> _SHIFT_3
    return x


def below(random: Bits, limit: NDArray[Any]) -> NDArray[np.int64]:
    """Whole numbers from 0 to limit - 1, from the upper 32 bits of `random`.

    `limit` must lie between 1 and 2**31; the chance of each number is off by less than limit / 2**32.
    """
    return ((random >> _HALF) * limit.astype(np.uint64) >> _HALF).astype(np.int64)


def seat_keys(seeds: Bits, purpose: Purpose, players: int) -> Bits:  # [B, P]
    """A key for each seat of each game."""
    return bits(bits(seeds, int(purpose))[:, None], np.arange(players)[None, :])


def game_seeds(seed: int, games: int, start: int = 0) -> Bits:  # [games]
    """The seeds of games `start`, `start + 1`, ... of a run.

    They are below 2**53, so that JSON readers of any language keep them exactly.
    """
    first, count = as_integer(start, "start", 0), as_integer(games, "games", 0)
    return bits(as_seeds(seed), np.arange(first, first + count)) >> np.uint64(11)


def as_seeds(seeds: int | Sequence[int] | NDArray[Any]) -> Bits:  # [B]
    """Seeds as an array.

    Raises:
        TypeError: for something other than whole numbers.
        ValueError: for a number below 0 or from 2**64 on.
    """
    if isinstance(seeds, np.ndarray) and seeds.dtype == np.uint64:
        return np.atleast_1d(seeds)
    values = np.atleast_1d(np.asarray(seeds, dtype=object)).tolist()
    return np.array([as_integer(value, "a seed", 0, 2**64 - 1) for value in values], dtype=np.uint64)
