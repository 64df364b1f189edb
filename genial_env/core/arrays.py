"""Names for the types of numpy arrays, for use in all modules.

Every module that annotates arrays imports these names from here. Shapes stand in docstrings and comments, in the axis
letters of :mod:`genial_env.core.tables`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["AnyFloats", "Bits", "Bitsets", "Bools", "Floats", "Floats32", "Ints"]

AnyFloats = NDArray[np.floating[Any]]
"""Floating-point numbers of any precision."""

Bits = NDArray[np.uint64]
"""Random bits: 64 to each number (:mod:`genial_env.core.chance`)."""

Bitsets = NDArray[np.uint64]
"""Sets of numbers, one in each row (:mod:`genial_env.core.bitsets`)."""

Bools = NDArray[np.bool_]

Floats = NDArray[np.float64]

Floats32 = NDArray[np.float32]

Ints = NDArray[np.int64]
"""Whole numbers: indices, actions, seats, counts."""
