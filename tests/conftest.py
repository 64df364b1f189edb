"""Fixtures."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from genial_env import backends, use_backend

HAS_NUMBA = find_spec("numba") is not None
needs_numba = pytest.mark.skipif(not HAS_NUMBA, reason="numba is not installed (extra 'fast')")


@pytest.fixture(params=["numpy", pytest.param("numba", marks=needs_numba)], scope="module")
def each_backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Every test of the module once by either backend; single games by "numpy" are played in Python."""
    with use_backend(request.param):
        yield request.param


@pytest.fixture(autouse=True)
def nothing_left_chosen() -> Iterator[None]:
    """A test that chose a backend and left it so would choose it for all tests after it."""
    before = backends.chosen(), backends._blocks.get()
    yield
    assert (backends.chosen(), backends._blocks.get()) == before
