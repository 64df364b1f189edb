"""Counter-based random numbers: each is a pure function of a key and a counter.

The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014),
whose n-th output does not depend on earlier ones. Every seat gets a key for every purpose, derived from the seed of the
game. So a game is the same alone or in a batch of any size, the draws of a seat do not depend on the policy that plays
it, and no two purposes share a stream.

SplitMix64 is invertible: from an output and its number follows the key. The keys of the bits that policies and callers
see are therefore derived from the seed by BLAKE2b, which is one-way. The bits given to a seat reveal only its own key.
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
    """The purpose of a stream of random bits of a game."""

    DRAWS = 0
    """The draws of tiles, which nobody may see."""
    CHOICES = 1
    """The random bits that policies get to break ties and sample."""
    SEATING = 2
    """The learner's seat and its opponents."""


def bits(key: Any, counter: Any) -> Bits:
    """Return the outputs number `counter` (0, 1, ...) of the generators with these keys, broadcast together."""
    x = np.asarray(key, dtype=np.uint64) + (np.atleast_1d(counter).astype(np.uint64) + _ONE) * STEP
    x ^= x >> _SHIFT_1
    x *= MULTIPLIER_1
    x ^= x >> _SHIFT_2
    x *= MULTIPLIER_2
    x ^= x >> _SHIFT_3
    return x


def below(random: Bits, limit: NDArray[Any]) -> NDArray[np.int64]:
    """Return whole numbers from 0 to limit - 1, from the upper 32 bits of `random`.

    `limit` must lie between 1 and 2**31. The probability of each number is off by less than limit / 2**32.
    """
    return ((random >> _HALF) * limit.astype(np.uint64) >> _HALF).astype(np.int64)


def seat_keys(seeds: Bits, purpose: Purpose, players: int) -> Bits:  # [B, P]
    """Derive a key for each seat of each game.

    The keys of the draws are derived by SplitMix64 and reveal the seed, so they stay in the state. From all other keys
    neither the seed nor the key of another seat or purpose can be computed.

    Args:
        seeds: [B] seeds of the games.
        purpose: the purpose of the streams.
        players: P, at most 8.
    """
    if purpose is Purpose.DRAWS:
        return bits(bits(seeds, int(purpose))[:, None], np.arange(players)[None, :])
    start = hashlib.blake2b(digest_size=8 * players, person=f"genial {purpose.name}".lower().encode())
    whole = np.ascontiguousarray(seeds, dtype="<u8").tobytes()
    digests = [_digest(start, whole[at : at + 8]) for at in range(0, len(whole), 8)]
    return np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, players).astype(np.uint64)


def _digest(start: "hashlib.blake2b", message: bytes) -> bytes:
    """Hash a message with a copy of a hash object, which is faster than to set its parameters anew."""
    hasher = start.copy()
    hasher.update(message)
    return hasher.digest()


def game_seeds(seed: int, games: int, start: int = 0) -> Bits:  # [games]
    """Return the seeds of games `start`, `start + 1`, ... of a run.

    They are below 2**53, so that JSON readers of any language represent them exactly.
    """
    first, count = as_integer(start, "start", 0), as_integer(games, "games", 0)
    return bits(as_seeds(seed), np.arange(first, first + count)) >> np.uint64(11)


def as_seeds(seeds: int | Sequence[int] | NDArray[Any]) -> Bits:  # [B]
    """Return seeds as an array.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if one is not between 0 and 2**64 - 1.
    """
    if isinstance(seeds, np.ndarray) and seeds.dtype == np.uint64:
        return np.atleast_1d(seeds)
    values = np.atleast_1d(np.asarray(seeds, dtype=object)).tolist()
    return np.array([as_integer(value, "a seed", 0, 2**64 - 1) for value in values], dtype=np.uint64)
