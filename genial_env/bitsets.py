"""Sets of numbers below some n as bits, a row of uint64 words a set: bit e of a set is bit ``e % 64`` of word ``e // 64``.

With 480 to 924 placements a set fits in a cache line or two, and removing, counting and choosing touch whole words.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.chance import below

Bitsets = NDArray[np.uint64]  # [G, words]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


def pack(flags: Bools) -> Bitsets:
    """[G, n] flags as sets [G, ceil(n / 64)]."""
    packed = np.packbits(flags, axis=1, bitorder="little")
    padded = np.zeros((len(flags), -(-flags.shape[1] // 64) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8").astype(np.uint64, copy=False)


def unpack(sets: Bitsets, n: int) -> Bools:
    """The reverse of :func:`pack`: [G, n] flags."""
    as_bytes = np.ascontiguousarray(sets).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(as_bytes, axis=1, count=n, bitorder="little").view(np.bool_)


def contains(sets: Bitsets, rows: Ints, number: Ints) -> Bools:
    """[G]: whether `number` is in the set of its row."""
    word = sets.reshape(-1).take(rows * sets.shape[1] + (number >> 6))
    return (word >> (number & 63).astype(np.uint64) & np.uint64(1)).astype(np.bool_)


def any_left(sets: Bitsets) -> Bools:
    """[G]: whether the set has a member."""
    return fold(np.bitwise_or, sets) != 0


def count(sets: Bitsets) -> Ints:
    """[G]: how many members the set has."""
    return fold(np.add, np.bitwise_count(sets).astype(np.int64))


def choose(sets: Bitsets, random: Bitsets) -> Ints:
    """[G]: one member of each set, which must have one, all equally likely."""
    return nth(sets, below(random, count(sets)))


def nth(sets: Bitsets, n: Ints) -> Ints:
    """[G]: the n-th member (from 0) of each set, which must have more than n; by counting bits, not by scanning."""
    upto = np.bitwise_count(sets).T.astype(np.int64, order="C")  # [words, G]
    for word in range(1, len(upto)):
        upto[word] += upto[word - 1]
    which = fold(np.add, (upto <= n).T.astype(np.int64))
    games = np.arange(len(sets))
    word_bits = sets[games, which]
    left = n - upto[which, games] + np.bitwise_count(word_bits)
    at = which * 64
    for width in (32, 16, 8, 4, 2, 1):
        low = np.bitwise_count(word_bits & np.uint64((1 << width) - 1))
        higher = left >= low
        left -= low * higher
        at += width * higher
        word_bits >>= (width * higher).astype(np.uint64)
    return at


def fold(combine: Callable[[Any, Any], Any], array: NDArray[Any]) -> NDArray[Any]:
    """Combine the columns of [G, few] into [G]: numpy's own reductions take several times as long on a short axis."""
    return reduce(combine, array.T)
