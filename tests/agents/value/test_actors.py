"""Actors return results in order, from processes of this machine and from Ray, and pass on errors."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from agents.value.actors import Actors
from agents.value.self_play import Samples, SelfPlayTask, self_play
from genial_env import Rules
from tests.conftest import GUARD


def doubled(number: int) -> int:
    """Double a number; the first task takes longest."""
    time.sleep(0.3 if number == 0 else 0)
    return 2 * number


def meeting(place: Path) -> int:
    """Wait until two processes run this function at the same time."""
    (place / str(os.getpid())).touch()
    deadline = time.monotonic() + GUARD
    while len(list(place.iterdir())) < 2:
        if time.monotonic() > deadline:
            raise TimeoutError(f"process {os.getpid()} has been alone")
        time.sleep(0.01)
    return os.getpid()


def failing(number: int) -> int:
    raise ValueError(f"number {number} is bad")


@pytest.fixture(params=[None, "local"], ids=["processes", "ray"])
def where(request: pytest.FixtureRequest) -> str | None:
    """Return the option `ray`: None, and "local" where Ray is installed."""
    if request.param is not None:
        pytest.importorskip("ray")
    address: str | None = request.param
    return address


def test_results_come_in_the_order_of_the_tasks(where: str | None) -> None:
    with Actors(doubled, 2, "numpy", where) as actors:
        for number in range(4):
            actors.submit(number)
        assert actors.pending == [0, 1, 2, 3]
        assert [actors.take_result() for _ in range(4)] == [0, 2, 4, 6]
        assert actors.pending == []


def test_no_actors_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 actor, not 0"):
        Actors(doubled, 0, "numpy")


def test_errors_of_actors_are_raised_in_the_learner() -> None:
    with Actors(failing, 1, "numpy") as actors:
        actors.submit(3)
        with pytest.raises(ValueError, match="number 3 is bad"):
            actors.take_result()


def test_two_actors_work_at_a_time(where: str | None, tmp_path: Path) -> None:
    with Actors(meeting, 2, "numpy", where) as actors:
        for _ in range(2):
            actors.submit(tmp_path)
        assert len({actors.take_result(), actors.take_result(), os.getpid()}) == 3


def test_self_play_in_actors_is_self_play(where: str | None) -> None:
    tasks = [SelfPlayTask(Rules(side=4, colors=4, rack=3), {}, seed=seed, games=4) for seed in range(3)]
    with Actors[SelfPlayTask, Samples](self_play, 2, "numpy", where) as actors:
        for task in tasks:
            actors.submit(task)
        for task in tasks:
            assert np.array_equal(actors.take_result().features, self_play(task).features)
