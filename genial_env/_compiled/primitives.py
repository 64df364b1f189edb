"""Primitives for compiled functions: random bits, copies of arrays, sets of bits."""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from genial_env._compiled.jit import helper
from genial_env.core import chance

Array = Any
"""A numpy array in compiled code."""

Arrays = tuple[Any, ...]
"""The arrays and numbers of a named tuple, as a plain tuple."""

populate: Any = populate_array

STEP, MULTIPLIER_1, MULTIPLIER_2 = chance.STEP, chance.MULTIPLIER_1, chance.MULTIPLIER_2
U1, U27, U30, U31, U32 = (np.uint64(n) for n in (1, 27, 30, 31, 32))


@helper
def random_bits(key: int, counter: int) -> Any:
    """Return the random bits of :func:`genial_env.core.chance.bits` as a uint64."""
    x = np.uint64(key) + (np.uint64(counter) + U1) * STEP
    x ^= x >> U30
    x *= MULTIPLIER_1
    x ^= x >> U27
    x *= MULTIPLIER_2
    x ^= x >> U31
    return x


@helper
def below(random: Any, limit: int) -> Any:
    """Return the number that :func:`genial_env.core.chance.below` returns."""
    return (np.int64(random >> U32) * limit) >> 32


@helper
def random_32(key: int, counter: int) -> Any:
    """Compute :func:`genial_env.core.scalar.random_32` without a cache."""
    return np.int64(random_bits(key, counter) >> U32)


@helper
def copy(source: Array, out: Array) -> None:
    """Copy the first n numbers of `source` to `out` [n], one by one.

    numba's own assignment of arrays may allocate a temporary array, which is not possible here
    (:func:`genial_env._compiled.jit.helper`).
    """
    for i in range(len(out)):
        out[i] = source[i]


@helper
def fill(row: Array, number: Any) -> None:
    """Write a number to all of a row."""
    for index in range(len(row)):
        row[index] = number


@helper
def sort(numbers: Array, out: Array) -> None:
    """Write a few numbers, sorted upwards, to out."""
    for count in range(len(numbers)):
        number, at = numbers[count], count
        while at > 0 and out[at - 1] > number:
            out[at] = out[at - 1]
            at -= 1
        out[at] = number


def _flat(typing: Any, array: Any) -> Any:
    """Return the numbers of a contiguous array as an array of one axis, not copied."""
    row = types.Array(array.dtype, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source = context.make_array(array)(context, builder, arguments[0])
        out = context.make_array(row)(context, builder)
        populate(
            out,
            data=source.data,
            shape=[source.nitems],
            strides=[source.itemsize],
            itemsize=source.itemsize,
            meminfo=source.meminfo,
        )
        return out._getvalue()

    return row(array), generate


flat: Any = intrinsic(_flat)


def _table(typing: Any, row: Any, start: Any, columns: Any) -> Any:
    """Return the numbers of a row from `start` as an array [..., columns], not copied."""
    cells = types.Array(row.dtype, 2, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source = context.make_array(row)(context, builder, arguments[0])
        out = context.make_array(cells)(context, builder)
        populate(
            out,
            data=builder.gep(source.data, [arguments[1]]),
            shape=[source.nitems, arguments[2]],
            strides=[builder.mul(source.itemsize, arguments[2]), source.itemsize],
            itemsize=source.itemsize,
            meminfo=source.meminfo,
        )
        return out._getvalue()

    return cells(row, types.int64, types.int64), generate


table: Any = intrinsic(_table)


def _popcount(typing: Any, word: Any) -> Any:
    """Count the ones in an int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


popcount: Any = intrinsic(_popcount)


@helper
def spread(sets: Array, flags: Array) -> None:
    """Write the bits of a set [W] as bytes to flags [64 W]."""
    for word in range(len(sets)):
        bits, part = sets[word], flags[word << 6 : (word + 1) << 6]
        for bit in range(64):
            part[bit] = (bits >> bit) & 1


@helper
def nth_member(sets: Array, n: int) -> Any:
    """Return the n-th member (from 0) of a set [W] that has more than n members."""
    word, held = 0, popcount(sets[0])
    while n >= held:
        n -= held
        word += 1
        held = popcount(sets[word])
    bits, at, width = sets[word], np.int64(word << 6), 32
    while width > 0:
        low = popcount(bits & ((np.int64(1) << width) - 1))
        if n >= low:
            n -= low
            bits >>= width
            at += width
        width >>= 1
    return at
