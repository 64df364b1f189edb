"""Fixtures."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from genial_env import use_backend

HAS_NUMBA = find_spec("numba") is not None
needs_numba = pytest.mark.skipif(not HAS_NUMBA, reason="numba is not installed (extra 'fast')")


@pytest.fixture(params=["numpy", pytest.param("numba", marks=needs_numba)], scope="module")
def each_backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Every test of the module once by either backend; single games by "numpy" are played in Python."""
    with use_backend(request.param):
        yield request.param
