"""Whole numbers as arguments."""

import json
from typing import Any

import numpy as np
import pytest

from genial_env import Backend, Rules, play, playouts
from genial_env._util.checks import as_integer
from genial_env.arena.match import play_match
from genial_env.arena.sprt import Sprt
from genial_env.arena.store import Settings
from genial_env.core import kernel
from genial_env.envs.opponents import check_seat
from genial_env.envs.vector import GenialVectorEnv
from genial_env.envs.zoo import check_max_cycles
from genial_env.table import Table


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


def test_numpy_integers_are_taken_wherever_integers_are() -> None:
    two = np.int64(2)
    rules = Rules(players=two, side=np.int8(4), colors=np.uint8(4), rack=np.int16(2), tile_sets=np.int32(1))
    plain = Rules(players=2, side=4, colors=4, rack=2)
    assert rules == plain
    assert hash(rules) == hash(plain)
    assert json.loads(json.dumps(rules.to_dict())) == plain.to_dict()
    assert all(type(value) in (int, str) for value in rules.to_dict().values())
    assert type(Backend("numpy", np.int64(1)).threads) is int
    assert check_max_cycles(np.int64(3)) == 3
    assert check_seat(np.int64(1), rules) == 1
    assert GenialVectorEnv(two, two, seat=two - 1, side=np.int8(4), rack=np.int16(2)).num_envs == 2
    results = play(["random", "greedy"], rules, games=two, seed=np.uint32(7), batch=two)
    assert results.seeds.tolist() == play(["random", "greedy"], plain, games=2, seed=7).seeds.tolist()
    assert len(playouts(kernel.deal(rules, two), "random", two, np.int64(1)).scores) == 1
    table = Table(rules, [None, "random"], seed=two)
    assert json.loads(json.dumps(table.to_dict()))["seed"] == 2
    settings = Settings(("random", "greedy"), rules, two, np.int64(3))
    assert json.loads(json.dumps(settings.to_dict()))["groups"] == 2
    assert type(Sprt(0, 30, min_pairs=np.int64(20)).min_pairs) is int


@pytest.mark.parametrize("value", [True, np.bool_(True), 2.0, np.float64(2), "2", None, np.array([2])])
def test_what_is_no_integer_is_refused_wherever_integers_are_taken(value: Any) -> None:
    rules = Rules(side=4, colors=4, rack=2)
    for name, call in {
        "players": lambda: Rules(players=value),
        "colors": lambda: Rules(colors=value),
        "threads": lambda: Backend("numpy", value),
        "num_envs": lambda: GenialVectorEnv(value, side=4, colors=4, rack=2),
        "games": lambda: play(["random", "greedy"], rules, games=value),
        "batch": lambda: play(["random", "greedy"], rules, batch=value),
        "n": lambda: playouts(kernel.deal(rules, 1), "random", value),
        "groups": lambda: Settings(("random", "greedy"), rules, value),
        "pairs": lambda: play_match("random", "greedy", rules, pairs=value),
        "min_pairs": lambda: Sprt(0, 30, min_pairs=value),
        "workers": lambda: play_match("random", "greedy", rules, pairs=1, workers=value),
    }.items():
        with pytest.raises(TypeError, match=f"{name} must be a whole number, not"):
            call()
