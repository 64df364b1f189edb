"""Handling states: copies, parts and arrays of State; saving, copying and pickling every environment at any time."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genial_env import Rules, State, genial_v0, view
from genial_env.core import kernel
from genial_env.envs.sb3 import GenialVecEnv
from genial_env.testing import _is_equal as alike
from tests.positions import every_rules, random_actions, random_play, same

pytestmark = pytest.mark.usefixtures("each_backend")

ALL = every_rules


# State


@ALL
def test_parts_are_copies_that_go_on_alike(rules: Rules) -> None:
    state = random_play(rules, games=8, seed=0, steps=9)
    before, rng = state.copy(), np.random.default_rng(0)
    rows = np.array([5, 2, 2, 7])
    part = state.select(rows)
    assert len(part) == 4
    live = np.flatnonzero(~part.over)
    actions = random_actions(part, live, rng)
    other = before.select(rows)
    kernel.apply(part, actions, live)
    assert same(state, before)
    kernel.apply(other, actions, live)
    assert same(part, other)
    assert same(state.select(state.over), before.select(np.flatnonzero(before.over)))


@ALL
def test_concat_undoes_select(rules: Rules) -> None:
    state = random_play(rules, games=6, seed=1, steps=5)
    parts = [state.select(np.arange(start, end)) for start, end in ((0, 2), (2, 2), (2, 6))]
    joined = State.concat(parts)
    assert same(joined, state)
    joined.board[:] = 0
    assert all((part.board < 0).any() or len(part) == 0 for part in parts)


@ALL
def test_arrays_there_and_back(rules: Rules) -> None:
    state = random_play(rules, games=3, seed=2, steps=12)
    arrays = dict(state.arrays())
    again = State.from_arrays(rules, arrays)
    assert same(again, state)
    assert not any(np.shares_memory(array, arrays[name]) for name, array in again.arrays().items())
    stored = {name: np.array(array.tolist(), dtype=array.dtype) for name, array in arrays.items()}
    assert same(State.from_arrays(rules, stored), state)
    assert same(pickle.loads(pickle.dumps(state)), state)
    assert same(copy.deepcopy(state), state)


def test_arrays_that_do_not_fit() -> None:
    state = kernel.deal(Rules(), [1, 2])
    arrays = state.arrays()
    for changed, said in (
        ({name: array for name, array in arrays.items() if name != "racks"}, "the array 'racks' is missing"),
        (arrays | {"rack": arrays["racks"]}, "the array 'rack' is none of board, points"),
        (arrays | {"board": arrays["board"].astype(int)}, "'board' must be int8 of shape .2, 91., not int64"),
        (arrays | {"bag": arrays["bag"][:1]}, "'bag' must be uint8 of shape .2, 21., not uint8 of shape .1, 21."),
        (arrays | {"racks": arrays["racks"] + np.int8(30)}, "'racks' must lie between -1 and 20, not between"),
        (arrays | {"phase": arrays["phase"] + np.int8(4)}, "'phase' must lie between 0 and 3, not between 4 and 4"),
    ):
        with pytest.raises(ValueError, match=said):
            State.from_arrays(Rules(), changed)
    with pytest.raises(ValueError, match=r"'board' must be int8 of shape \(2, 127\)"):
        State.from_arrays(Rules(3), arrays)
    with pytest.raises(ValueError, match="at least one state"):
        State.concat([])
    with pytest.raises(ValueError, match="under the same rules"):
        State.concat([state, kernel.deal(Rules(3), 0)])


# Environments

SMALL = {"side": 3, "colors": 3, "rack": 2}


class Player:
    """One way to play each kind of environment, at random but repeatable."""

    def __init__(self, env: Any, reset: Callable[[Any], Any], step: Callable[[Any, np.random.Generator], Any]) -> None:
        self.env, self.reset, self.step = env, reset, step


def single_step(env: Any, rng: np.random.Generator) -> Any:
    mask = env.unwrapped.action_masks()
    return env.step(int(rng.choice(np.flatnonzero(mask)))) if mask.any() else env.reset()


def many_step(env: Any, rng: np.random.Generator) -> Any:
    masks = env.unwrapped.action_masks() if isinstance(env, gym.vector.VectorEnv) else env.action_masks()
    step = env.step(np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1) * masks.any(axis=1))
    if isinstance(env, GenialVecEnv):  # without the time that episodes took
        for info in step[3]:
            info.get("episode", {}).pop("t", None)
    return step


def aec_step(env: Any, rng: np.random.Generator) -> Any:
    if not env.agents:
        env.reset()
    observation, *rest = env.last()
    mask = observation["action_mask"]
    env.step(None if rest[1] else int(rng.choice(np.flatnonzero(mask))))
    return observation, rest


def parallel_step(env: Any, rng: np.random.Generator) -> Any:
    if not env.agents:
        return env.reset()
    mover = env.agents[env.unwrapped._game.to_play]
    mask = env.unwrapped.observe(mover)["action_mask"]
    return env.step({mover: int(rng.choice(np.flatnonzero(mask)))})


def seeded(env: Any) -> Any:
    return env.reset(seed=3)


MAKERS: dict[str, Callable[[], Player]] = {
    "single": lambda: Player(
        gym.make("genial_env/Genial-v0", opponents="greedy", seat="random", disable_env_checker=True, **SMALL),
        seeded,
        single_step,
    ),
    "solo": lambda: Player(
        gym.make("genial_env/GenialSolo-v0", side=3, disable_env_checker=True),
        seeded,
        single_step,
    ),
    "vector": lambda: Player(gym.make_vec("genial_env/Genial-v0", num_envs=3, **SMALL), seeded, many_step),
    "sb3": lambda: Player(GenialVecEnv(3, seed=3, **SMALL), lambda env: env.reset(), many_step),
    "aec": lambda: Player(genial_v0.env(players=3, **SMALL), seeded, aec_step),
    "parallel": lambda: Player(genial_v0.parallel_env(players=3, **SMALL), seeded, parallel_step),
}

COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "state": None,  # type: ignore[dict-item]  # by get_state and set_state, below
}


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 40), st.integers(1, 25), st.integers(0, 9))
@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("kind", MAKERS)
def test_saved_at_any_time_exactly_and_apart(kind: str, how: str, before: int, after: int, seed: int) -> None:
    """What a copy does does not touch the original, and both go on alike, ends and resets included."""
    player = MAKERS[kind]()
    env = player.env
    player.reset(env)
    rng = np.random.default_rng(seed)
    for _ in range(before):
        player.step(env, rng)
    inner = env.unwrapped if hasattr(env, "unwrapped") else env
    if how == "state":
        saved = inner.get_state()
        kept = copy.deepcopy(saved)
        other = MAKERS[kind]()
        player.reset(other.env)
        twin = other.env
        (twin.unwrapped if hasattr(twin, "unwrapped") else twin).set_state(saved)
    else:
        twin = COPIES[how](env)
    one = np.random.default_rng(seed + 1)
    first = [copy.deepcopy(player.step(twin, one)) for _ in range(after)]
    other_rng = np.random.default_rng(seed + 1)
    assert alike([player.step(env, other_rng) for _ in range(after)], first)
    if how == "state":
        inner.set_state(saved)
        third = np.random.default_rng(seed + 1)
        assert alike([player.step(env, third) for _ in range(after)], first)
        assert pickle.dumps(kept) == pickle.dumps(saved)


@pytest.mark.parametrize("kind", MAKERS)
def test_saved_before_the_first_reset(kind: str) -> None:
    """Back before it, an environment is as new."""
    player, fresh = MAKERS[kind](), MAKERS[kind]()
    env = player.env.unwrapped if hasattr(player.env, "unwrapped") else player.env
    saved = env.get_state()
    player.reset(player.env)
    rng = np.random.default_rng(0)
    for _ in range(4):
        player.step(player.env, rng)
    env.set_state(saved)
    assert alike(player.reset(player.env), fresh.reset(fresh.env))
    one, other = np.random.default_rng(1), np.random.default_rng(1)
    assert alike([player.step(player.env, one) for _ in range(6)], [fresh.step(fresh.env, other) for _ in range(6)])


@pytest.mark.parametrize("how", ["deepcopy", "pickle"])
@pytest.mark.parametrize("kind", MAKERS)
def test_copied_before_the_first_reset(kind: str, how: str) -> None:
    player = MAKERS[kind]()
    twin = COPIES[how](player.env)
    assert alike(player.reset(twin), player.reset(player.env))
    one, other = np.random.default_rng(0), np.random.default_rng(0)
    for _ in range(10):
        assert alike(player.step(twin, one), player.step(player.env, other))


def test_a_state_and_a_view_are_shown_in_one_line() -> None:
    state = kernel.deal(Rules(), [0, 1])
    assert repr(state) == f"<State of 2 games, {Rules()!r}>"
    assert repr(view(state)) == f"<View of 2 games, {Rules()!r}>"
