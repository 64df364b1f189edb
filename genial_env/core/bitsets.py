"""Sets of numbers below n as bits, a row of uint64 words a set: number e is bit ``e % 64`` of word ``e // 64``.

With 480 to 924 placements a set fits in a cache line or two, and removing, counting and choosing touch whole words.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.chance import below

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
    """The reverse of :func:`pack`: [G, n] flags, newly made."""
    as_bytes = np.ascontiguousarray(sets).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(as_bytes, axis=1, count=n, bitorder="little").astype(np.bool_)


def contains(sets: Bitsets, rows: Ints, number: Ints) -> Bools:
    """[G]: whether `number` is in the set of its row."""
    word = sets.reshape(-1).take(rows * sets.shape[1] + (number >> 6))
    held: Bools = (word >> (number & 63).astype(np.uint64) & np.uint64(1)).astype(np.bool_)
    return held


def any_left(sets: Bitsets) -> Bools:
    """[G]: whether the set has a member."""
    left: Bools = fold(np.bitwise_or, sets) != 0
    return left


def count(sets: Bitsets) -> Ints:
    """[G]: how many members the set has."""
    return fold(np.add, np.bitwise_count(sets).astype(np.int64))


def choose(sets: Bitsets, random: Bitsets) -> Ints:
    """[G]: one member of each set, which must have one, all equally likely."""
    return nth(sets, below(random, count(sets)))


def nth(sets: Bitsets, n: Ints) -> Ints:
    """[G]: the n-th member (from 0) of each set, which must have more than n; by counting bits, not by scanning."""
    upto = running_total(np.bitwise_count(sets), np.int64)  # [words, G]
    which = np.add.reduce(upto <= n, axis=0, dtype=np.int64)
    games = np.arange(len(sets))
    word_bits = sets[games, which]
    left = n - upto[which, games] + np.bitwise_count(word_bits)
    at = which * 64
    for width in (32, 16, 8):  # halve until a byte is left, which a table knows
        low = np.bitwise_count(word_bits & np.uint64((1 << width) - 1))
        higher = (left >= low) * width
        left -= low * (higher != 0)
        at += higher
        word_bits >>= higher.astype(np.uint64)
    number: Ints = at + _NTH_IN_BYTE.take((word_bits & np.uint64(255)).astype(np.int64) * 8 + left)
    return number


def _nth_in_byte() -> Ints:
    """[256 * 8]: entry ``8 * byte + n`` is the place of the n-th 1 in the byte."""
    places = [[bit for bit in range(8) if byte >> bit & 1] for byte in range(256)]
    return np.array([found + [0] * (8 - len(found)) for found in places]).ravel()


_NTH_IN_BYTE = _nth_in_byte()


_FEW = 64
"""Rows up to which numpy's cumulative sum is the faster one."""


def running_total(array: NDArray[Any], dtype: type[np.integer[Any]]) -> NDArray[Any]:
    """[few, G]: the cumulative sums along the columns of [G, few], transposed; fast for the same reason as `fold`."""
    if len(array) < _FEW:
        return array.T.cumsum(axis=0, dtype=dtype)
    total = array.T.astype(dtype, order="C")
    for column in range(1, len(total)):
        total[column] += total[column - 1]
    return total


def fold(combine: Callable[[Any, Any], Any], array: NDArray[Any]) -> NDArray[Any]:
    """Combine the columns of [G, few] into [G]: numpy's own reductions take several times as long on a short axis."""
    return reduce(combine, array.T)
