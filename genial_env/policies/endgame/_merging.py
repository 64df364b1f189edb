"""Find equal rows of bytes quickly."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Bits, Ints

__all__ = ["as_words", "find_unique_rows"]


def as_words(rows: NDArray[np.uint8]) -> Bits:
    """Return bytes [G, n] as words [G, ceil(n / 8)], padded with zeros."""
    padded = np.zeros((len(rows), -(-rows.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : rows.shape[1]] = rows
    return padded.view(np.uint64)


def find_unique_rows(rows: Bits) -> tuple[Ints, Ints]:
    """Return the index of the first of each set of equal rows [n], and for each row [G] the set it belongs to.

    Rows are compared by a hash. If two different rows have the same hash, they are sorted instead.

    Args:
        rows: [G, words].
    """
    factors = _factors(rows.shape[1])
    mixed = rows ^ (rows >> np.uint64(31))
    hashes = (mixed * factors).sum(axis=1, dtype=np.uint64)
    hashes ^= hashes >> np.uint64(29)
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    if not np.array_equal(rows[first[inverse]], rows):
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1)


@lru_cache(maxsize=64)
def _factors(words: int) -> Bits:
    return np.random.default_rng(words).integers(2**64, size=words, dtype=np.uint64) | np.uint64(1)
