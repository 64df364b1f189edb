"""Counter-based random numbers: each a pure function of a key and a counter, so nothing is ever "used up".

The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014),
whose n-th output needs no earlier one. A game's seed gives a key to every seat for every purpose. So a game is the same
alone or in a batch of any size, every seat meets the same luck whoever plays it, and no two purposes share a stream.

SplitMix64 can be inverted: its output and the number of it give the key. The keys of what policies and callers see
therefore come from the seed by BLAKE2b, one way, and the bits given to a seat lead to its own key and no further.
"""

import hashlib
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_integer
from genial_env.core.arrays import Bits

__all__ = [
    "MULTIPLIER_1",
    "MULTIPLIER_2",
    "STEP",
    "Bits",
    "Purpose",
    "as_seeds",
    "below",
    "bits",
    "game_seeds",
    "seat_keys",
]

STEP = np.uint64(0x9E3779B97F4A7C15)
MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3, _ONE, _HALF = (np.uint64(n) for n in (30, 27, 31, 1, 32))


class Purpose(IntEnum):
    """What a stream of a game is for."""

    DRAWS = 0
    """The tiles to come, which nobody is shown."""
    CHOICES = 1
    """The random bits that policies get."""
    SEATING = 2
    """The learner's seat and its opponents."""


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
    """Derive a key for each seat of each game.

    The keys of the draws come from the seed by SplitMix64 and give it away, so they stay in the state. From all others
    neither the seed nor the key of another seat or purpose can be computed.

    Args:
        seeds: [B] of the games.
        purpose: of the streams.
        players: P, at most 8.
    """
    if purpose is Purpose.DRAWS:
        return bits(bits(seeds, int(purpose))[:, None], np.arange(players)[None, :])
    start = hashlib.blake2b(digest_size=8 * players, person=f"genial {purpose.name}".lower().encode())
    whole = np.ascontiguousarray(seeds, dtype="<u8").tobytes()
    digests = [_digest(start, whole[at : at + 8]) for at in range(0, len(whole), 8)]
    return np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, players).astype(np.uint64)


def _digest(start: "hashlib.blake2b", message: bytes) -> bytes:
    """Hash a message with parameters that were set once, which takes two thirds of the time of setting them anew."""
    hasher = start.copy()
    hasher.update(message)
    return hasher.digest()


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
