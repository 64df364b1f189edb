"""The functions of :mod:`genial_env.core.scalar`, compiled by numba under the same names."""

from typing import TYPE_CHECKING

from genial_env._compiled.jit import compiled_functions
from genial_env._compiled.primitives import random_32
from genial_env.core import scalar

if TYPE_CHECKING:
    from genial_env.core.scalar import *  # noqa: F403
else:
    globals().update(compiled_functions(scalar, random_32=random_32))
