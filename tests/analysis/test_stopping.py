"""Judgements, solutions and searches stop at their next checkpoint, in the thread that is told to stop."""

from collections.abc import Callable

import numpy as np
import pytest

from genial_env import Rules, play, view
from genial_env._util.stopping import checkpoint, stoppable
from genial_env.analysis.judge import Level, RolloutJudge
from genial_env.analysis.luck import measure_luck
from genial_env.analysis.puzzle_ratings import rated_puzzles
from genial_env.analysis.puzzles import parse_puzzle
from genial_env.backends import NUMPY, using
from genial_env.core import kernel
from genial_env.policies.endgame import value_over_all_deals
from genial_env.policies.registry import make_policy


class Stopped(Exception):
    pass


def judge() -> None:
    RolloutJudge(Level(2, 2)).judge(view(kernel.deal(Rules(), 1)))


def solve() -> None:
    found = next(each for each in rated_puzzles().values() if each["kind"] == "swap")
    value_over_all_deals(view(parse_puzzle({key: found[key] for key in found if key != "rating"}).state))


def search(agent: str) -> None:
    make_policy(agent)(view(kernel.deal(Rules(side=4), 1)), np.zeros(1, dtype=np.uint64))


def find_luck() -> None:
    records = play(["greedy", "random"], Rules(), seed=1, record=True).records
    assert records is not None
    measure_luck(records[0])


@pytest.mark.parametrize(
    "work",
    [judge, solve, find_luck, lambda: search("search(playouts=20)"), lambda: search("ismcts(playouts=20)")],
    ids=["judge", "solver", "luck", "search", "ismcts"],
)
def test_work_stops_at_a_checkpoint(work: Callable[[], None]) -> None:
    passed = 0

    def check() -> None:
        nonlocal passed
        passed += 1
        raise Stopped

    with using(NUMPY), stoppable(check), pytest.raises(Stopped):
        work()
    assert passed == 1
    checkpoint()  # outside of the block nothing stops
    assert passed == 1
