"""Bitsets: sets of numbers below n as rows of uint64 words. Number e is bit ``e % 64`` of word ``e // 64``.

A set of the 480 to 924 placements fits in one or two cache lines. Intersecting, counting and choosing work on words.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Bits, Bitsets, Bools, Ints
from genial_env.core.chance import below

__all__ = [
    "any_left",
    "choose",
    "contains",
    "count",
    "fold",
    "nth",
    "pack",
    "running_total",
    "unpack",
]


def pack(flags: Bools) -> Bitsets:
    """Pack flags [G, n] into sets [G, ceil(n / 64)]."""
    packed = np.packbits(flags, axis=1, bitorder="little")
    padded = np.zeros((len(flags), -(-flags.shape[1] // 64) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8").astype(np.uint64, copy=False)


def unpack(sets: Bitsets, n: int) -> Bools:
    """Unpack sets into new flags [G, n], the reverse of :func:`pack`."""
    as_bytes = np.ascontiguousarray(sets).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(as_bytes, axis=1, count=n, bitorder="little").astype(np.bool_)


def contains(sets: Bitsets, rows: Ints, number: Ints) -> Bools:
    """Return whether each number [G] is in the set of its row: [G].

    Args:
        sets: [B, W].
        rows: [G] row indices.
        number: [G].
    """
    word = sets.reshape(-1).take(rows * sets.shape[1] + (number >> 6))
    held: Bools = (word >> (number & 63).astype(np.uint64) & np.uint64(1)).astype(np.bool_)
    return held


def any_left(sets: Bitsets) -> Bools:
    """Return whether each set has a member: [G]."""
    left: Bools = fold(np.bitwise_or, sets) != 0
    return left


def count(sets: Bitsets) -> Ints:
    """Count the members of each set: [G]."""
    return fold(np.add, np.bitwise_count(sets).astype(np.int64))


def choose(sets: Bitsets, random: Bits) -> Ints:
    """Choose one member of each set, all with equal probability: [G].

    Args:
        sets: [G, W], none of them empty.
        random: [G] random bits.
    """
    return nth(sets, below(random, count(sets)))


def nth(sets: Bitsets, n: Ints) -> Ints:
    """Return the n-th member (from 0) of each set, which must have more than n members: [G].

    It counts bits instead of scanning them.
    """
    upto = running_total(np.bitwise_count(sets), np.int64)  # [words, G]
    which = np.add.reduce(upto <= n, axis=0, dtype=np.int64)
    games = np.arange(len(sets))
    word_bits = sets[games, which]
    left = n - upto[which, games] + np.bitwise_count(word_bits)
    at = which * 64
    for width in (32, 16, 8):  # halve until a byte is left, for which there is a table
        low = np.bitwise_count(word_bits & np.uint64((1 << width) - 1))
        higher = (left >= low) * width
        left -= low * (higher != 0)
        at += higher
        word_bits >>= higher.astype(np.uint64)
    number: Ints = at + _NTH_IN_BYTE.take((word_bits & np.uint64(255)).astype(np.int64) * 8 + left)
    return number


def _nth_in_byte() -> Ints:
    """Make a table [256 * 8] whose entry ``8 * byte + n`` is the position of the n-th 1 in the byte."""
    positions = [[bit for bit in range(8) if byte >> bit & 1] for byte in range(256)]
    return np.array([found + [0] * (8 - len(found)) for found in positions]).ravel()


_NTH_IN_BYTE = _nth_in_byte()


_FEW = 64
"""Up to this number of rows numpy's cumulative sum is faster."""


def running_total(array: NDArray[Any], dtype: type[np.integer[Any]]) -> NDArray[Any]:
    """Compute the cumulative sums along the columns of [G, few], transposed: [few, G].

    Like :func:`fold` it avoids numpy's reductions of a short axis.
    """
    if len(array) < _FEW:
        return array.T.cumsum(axis=0, dtype=dtype)
    total = array.T.astype(dtype, order="C")
    for column in range(1, len(total)):
        total[column] += total[column - 1]
    return total


def fold(combine: Callable[[Any, Any], Any], array: NDArray[Any]) -> NDArray[Any]:
    """Combine the columns of [G, few] into [G]; numpy's own reductions take several times as long on a short axis."""
    return reduce(combine, array.T)
