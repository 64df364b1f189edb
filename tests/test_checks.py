"""Whole numbers as arguments."""

from typing import Any

import numpy as np
import pytest

from genial_env.checks import as_integer


@pytest.mark.parametrize("value", [2, np.int64(2), np.uint8(2)])
def test_python_and_numpy_integers_pass(value: Any) -> None:
    assert as_integer(value, "players", 1, 4) == 2
    assert type(as_integer(value, "players")) is int


@pytest.mark.parametrize("value", [True, np.True_, 2.0, np.float64(2), "2", None, np.array([2]), np.array(2)])
def test_everything_else_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="players must be a whole number, not"):
        as_integer(value, "players")


def test_ranges() -> None:
    with pytest.raises(ValueError, match="players must be 1 to 4, not 5"):
        as_integer(5, "players", 1, 4)
    with pytest.raises(ValueError, match="games must be at least 1, not 0"):
        as_integer(0, "games", low=1)
    with pytest.raises(ValueError, match="port must be at most 9, not 10"):
        as_integer(10, "port", high=9)
