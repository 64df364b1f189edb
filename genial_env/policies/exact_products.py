"""Matrix products that come out the same, bit for bit, whatever the batch, the BLAS library and the processor.

A BLAS library adds up a row of a product in an order that depends on the number of rows, on the row's position among
them, on the number of threads and on the processor, and so rounds it differently. With float32 alone a network would
value a position differently in another batch, and a policy would sometimes choose another action.

The order makes no difference if no sum is rounded. So both factors are first rounded to whole multiples of powers of
two, such that every product and every partial sum is exact in float64, which has 53 bits. The numbers of an item of the
batch keep 23 bits, relative to the item's largest; integers of 16 bits stay as they are. The matrix keeps the remaining
bits, relative to the largest entry of each column: with 64 rows those are 24, or 32 for integers. The sums are about as
accurate as in float32, in which a number has 24 bits.
"""

import math
import threading

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Floats, Floats32

__all__ = ["multiply", "round_columns"]

Integers = NDArray[np.int16]

_ITEM_BITS = {np.dtype(np.float32): 23, np.dtype(np.int16): 15}
"""The bits of an item's numbers, without the sign."""

_SUM_BITS = np.finfo(np.float64).nmant + 1


def round_columns(matrix: Floats32, items: type[np.float32] | type[np.int16] = np.float32) -> Floats:
    """Return a matrix [k, m] rounded for :func:`multiply`.

    Args:
        matrix: [k, m], finite.
        items: the type of the numbers that it will be multiplied with.
    """
    doubles = matrix.astype(np.float64)
    bits = _SUM_BITS - _ITEM_BITS[np.dtype(items)] - (len(matrix) - 1).bit_length()
    _, exponent = np.frexp(np.abs(doubles).max(axis=0, initial=0))
    step = np.ldexp(1.0, exponent - bits)
    return np.asarray(np.rint(doubles / step) * step)


def multiply(items: Integers | Floats32, matrix: Floats) -> Floats32:
    """Return items @ matrix. The result of each item depends on that item alone.

    Args:
        items: [n, ..., k] n items of a batch. Numbers in float32 must be finite and not negative; they are rounded in
            place.
        matrix: [k, m] from :func:`round_columns` for items of this type.

    Returns:
        [n, ..., m].
    """
    rows = items.reshape(len(items), math.prod(items.shape[1:]))
    if rows.dtype == np.float32:
        _round_rows(rows)
    rows = rows.reshape(-1, len(matrix))
    doubles = _scratch.reserve("doubles", rows.shape)
    product = _scratch.reserve("product", (len(rows), matrix.shape[1]))
    np.copyto(doubles, rows)
    np.matmul(doubles, matrix, out=product)
    return product.astype(np.float32).reshape(*items.shape[:-1], matrix.shape[1])


def _round_rows(rows: NDArray[np.number]) -> None:
    """In place: round float32 numbers [n, m] that are not negative to 23 bits of the largest in their row."""
    _, exponent = np.frexp(rows.max(axis=1, keepdims=True, initial=0))
    shift = np.ldexp(np.float32(1), exponent)  # from here to its double, float32 has steps of shift / 2**23
    rows += shift
    rows -= shift


class _Scratch(threading.local):
    """Arrays of float64 that are used again by the next product, one set for each thread.

    With new arrays for each product, the C library would return their memory to the operating system and ask for it
    again all the time, and the page faults would take as long as the products.
    """

    def __init__(self) -> None:
        self._buffers: dict[str, Floats] = {}

    def reserve(self, name: str, shape: tuple[int, int]) -> Floats:
        """Return an array of a shape, with undefined numbers. It is valid until the next call with the same name."""
        size = shape[0] * shape[1]
        if size > _MOST_SCRATCH:
            return np.empty(shape)
        if name not in self._buffers:
            self._buffers[name] = np.empty(_MOST_SCRATCH)
        return self._buffers[name][:size].reshape(shape)


_MOST_SCRATCH = 1 << 17
"""The numbers of a scratch array, 1 MB. The operating system provides only the pages that are written."""

_scratch = _Scratch()
