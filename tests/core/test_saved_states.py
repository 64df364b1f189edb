"""What environments refuse to go back to, and that nothing has changed then."""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import genial_env  # noqa: F401  registers the environments
from genial_env import State, genial_v0
from genial_env.core import kernel
from genial_env.core.engine import Engine
from genial_env.core.rules import Rules
from genial_env.envs.sb3 import GenialVecEnv

SMALL = {"side": 3, "colors": 3, "rack": 2}
OTHER = {"side": 4, "colors": 3, "rack": 2}

MAKERS: dict[str, Callable[..., Any]] = {
    "single": lambda **sizes: gym.make("genial_env/Genial-v0", disable_env_checker=True, **sizes).unwrapped,
    "vector": lambda n=3, **sizes: gym.make_vec("genial_env/Genial-v0", num_envs=n, **sizes),
    "sb3": lambda n=3, **sizes: GenialVecEnv(n, seed=3, **sizes),
    "aec": lambda **sizes: genial_v0.env(players=3, **sizes).unwrapped,
    "parallel": lambda **sizes: genial_v0.parallel_env(players=3, **sizes).unwrapped,
}
MANY = ("vector", "sb3")


def begun(kind: str, **sizes: Any) -> Any:
    env = MAKERS[kind](**sizes)
    env.reset() if kind == "sb3" else env.reset(seed=1)
    return env


PARTS = {"single": ("game", "own"), "vector": ("games",), "sb3": ("games", "own"), "aec": ("game", "kept")}


@pytest.mark.parametrize("kind", PARTS)
def test_other_names_and_other_types(kind: str) -> None:
    env = begun(kind, **SMALL)
    before = env.get_state()
    wrong: list[Any] = [None, [], {}, 3, "saved", before | {"more": 1}]
    for part in PARTS[kind]:
        names = before[part]
        wrong += [before | {part: {name: names[name] for name in names if name != left_out}} for left_out in names]
        wrong += [before | {part: names | {"__class__": "attribute"}}, before | {part: None}, {part: names}]
        wrong += [before | {part: names | {name: object()}} for name in names]
    for broken in wrong:
        with pytest.raises((TypeError, ValueError), match="saved"):
            env.set_state(broken)
    env.set_state(before)


@pytest.mark.parametrize("kind", MAKERS)
def test_games_of_other_rules_or_in_other_numbers(kind: str) -> None:
    env, other = begun(kind, **SMALL), begun(kind, **OTHER)
    with pytest.raises(
        ValueError, match=r"must be under the rules of the environment, Rules.*side=3.*not Rules.*side=4"
    ):
        env.set_state(other.get_state())
    if kind in MANY:
        with pytest.raises(ValueError, match="must"):
            env.set_state(begun(kind, n=4, **SMALL).get_state())


def states_in(saved: Any) -> list[State]:
    if isinstance(saved, State):
        return [saved]
    if isinstance(saved, dict):
        return [state for value in saved.values() for state in states_in(value)]
    return [saved.state] if isinstance(saved, Engine) else []


@pytest.mark.parametrize("kind", MAKERS)
def test_half_a_game(kind: str) -> None:
    env = begun(kind, **SMALL)
    for name, array in states_in(env.get_state())[0].arrays().items():
        for wrong in (None, array[:0], array.astype(np.float32), array.tolist()):
            broken = env.get_state()
            setattr(states_in(broken)[0], name, wrong)
            with pytest.raises(ValueError, match="the array '"):
                env.set_state(broken)
        broken = env.get_state()
        delattr(states_in(broken)[0], name)
        with pytest.raises(ValueError, match="the array"):
            env.set_state(broken)


def test_nothing_has_changed_when_it_is_refused() -> None:
    env = begun("single", **SMALL)
    saved, broken = env.get_state(), begun("single", **SMALL).get_state()
    broken["own"]["_seat"] = 5
    with pytest.raises(ValueError, match="the saved seat must be 0 to 1, not 5"):
        env.set_state(broken)
    broken["own"] |= {"_seat": 0, "_players": [7, 7]}
    with pytest.raises(ValueError, match="the saved opponents must be -1 to 0, not 7"):
        env.set_state(broken)
    now = env.get_state()
    assert now["own"].keys() == saved["own"].keys()
    assert all(
        np.array_equal(a, b) for a, b in zip(*(states_in(s)[0].arrays().values() for s in (now, saved)), strict=True)
    )


def test_a_record_is_kept_or_not() -> None:
    plain, kept = begun("single", **SMALL), begun("single", record=True, **SMALL)
    with pytest.raises(ValueError, match="must have its record"):
        kept.set_state(plain.get_state())
    with pytest.raises(ValueError, match="must have no record"):
        plain.set_state(kept.get_state())


def test_arrays_of_games() -> None:
    arrays = kernel.deal(Rules(), [1, 2]).arrays()
    for name, wrong in (
        ("pending_bonus", 13),
        ("pending_bonus", -1),
        ("drawn", -1),
        ("decisions", -1),
        ("returned", 200),
    ):
        changed = arrays | {name: np.full_like(arrays[name], wrong)}
        with pytest.raises(ValueError, match=f"the array '{name}' must lie between 0 and"):
            State.from_arrays(Rules(), changed)
    with pytest.raises(ValueError, match="rules must be Rules"):
        State.from_arrays({}, arrays)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the array '"):
        State.from_arrays(Rules(), arrays | {"to_play": np.int64(0)})
