"""Actors give their results in order, in processes here and on Ray, and tell what went wrong."""

import time
from typing import Any

import numpy as np
import pytest

from agents.self_play import Order, Samples, self_play
from experiments.actors import Actors
from genial_env import Rules


def doubled(number: int) -> int:
    """Work for actors: the first takes longest."""
    time.sleep(0.3 if number == 0 else 0)
    return 2 * number


def failing(number: int) -> int:
    raise ValueError(f"number {number} is no good")


def test_actors_give_their_results_in_order() -> None:
    with Actors(doubled, 2, "numpy") as actors:
        for number in range(4):
            actors.give(number)
        assert actors.given == [0, 1, 2, 3]
        assert [actors.take() for _ in range(4)] == [0, 2, 4, 6]
        assert actors.given == []
    with pytest.raises(ValueError, match="at least 1 actor, not 0"):
        Actors(doubled, 0, "numpy")


def test_what_goes_wrong_in_an_actor_is_told() -> None:
    with Actors(failing, 1, "numpy") as actors:
        actors.give(3)
        with pytest.raises(ValueError, match="number 3 is no good"):
            actors.take()


def test_actors_on_ray() -> None:
    """Only where Ray is installed, as in RLlib's environment."""
    pytest.importorskip("ray")
    with Actors(doubled, 2, "numpy", ray="local") as actors:
        for number in range(3):
            actors.give(number)
        assert [actors.take() for _ in range(3)] == [0, 2, 4]


@pytest.mark.parametrize("how", [{}, {"ray": "local"}], ids=["processes", "ray"])
def test_self_play_in_actors_is_self_play(how: dict[str, Any]) -> None:
    if how:
        pytest.importorskip("ray")
    orders = [Order(Rules(side=4, colors=4, rack=3), {}, seed=seed, games=4) for seed in range(3)]
    with Actors[Order, Samples](self_play, 2, "numpy", **how) as actors:
        for order in orders:
            actors.give(order)
        for order in orders:
            assert np.array_equal(actors.take().features, self_play(order).features)
