"""What environments of many games answer to, against Stable-Baselines3's and Gymnasium's vectors of single ones."""

import inspect
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from genial_env import genial_v0
from genial_env.envs.single import GenialEnv
from genial_env.envs.vector import GenialVectorEnv
from genial_env.testing import _is_equal as alike

SMALL: dict[str, Any] = {"side": 3, "colors": 3, "rack": 2}
ARGUMENTS: dict[str, Any] = {"players": 3, "seat": "random", "opponents": ["greedy", "random"], **SMALL}
N = 3

sb3 = pytest.importorskip("stable_baselines3", reason="needs stable-baselines3: pip install -e '.[train]'")
from stable_baselines3.common.monitor import Monitor  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv  # noqa: E402

from genial_env.envs.sb3 import GenialVecEnv  # noqa: E402


def both(**arguments: Any) -> tuple[GenialVecEnv, DummyVecEnv]:
    """Ours, and Stable-Baselines3's of single environments in Monitors, with the same seeds."""
    arguments = {**ARGUMENTS, **arguments}
    native, dummy = GenialVecEnv(N, seed=3, **arguments), DummyVecEnv([lambda: Monitor(GenialEnv(**arguments))] * N)
    dummy.seed(3)
    return native, dummy


def play_on(envs: tuple[VecEnv, VecEnv], steps: int) -> None:
    """Play the same actions in both, and compare all that they say."""
    for _ in range(steps):
        masks = np.stack(envs[0].env_method("action_masks"))
        assert np.array_equal(masks, np.stack(envs[1].env_method("action_masks")))
        found, expected = (env.step(masks.argmax(axis=1)) for env in envs)
        assert alike(found[:3], expected[:3])
        for info, other in zip(found[3], expected[3], strict=True):
            info.get("episode", {}).pop("t", None), other.get("episode", {}).pop("t", None)
            other.pop("action_mask")
            assert all(alike(info[name], other[name]) for name in other), other
        compare_reset_infos(envs)


def compare_reset_infos(envs: tuple[VecEnv, VecEnv]) -> None:
    for info, other in zip(*(env.reset_infos for env in envs), strict=True):
        assert all(alike(info[name], other[name]) for name in other if name != "action_mask")


def test_every_method_of_sb3s_vec_env_is_compared_here() -> None:
    """A method that SB3 adds is to be looked at."""
    named = {name for name, _ in inspect.getmembers(VecEnv) if not name.startswith("_")}
    assert named == {
        "close", "env_is_wrapped", "env_method", "get_attr", "get_images", "getattr_depth_check", "has_attr", "render",
        "reset", "seed", "set_attr", "set_options", "step", "step_async", "step_wait", "unwrapped",
    }  # fmt: skip


@pytest.mark.parametrize(
    "options", [{"game_seed": 7}, [{"game_seed": 7}, {}, {"game_seed": np.uint64(9)}], None, {"other": 1}], ids=str
)
def test_options_hold_for_one_reset(options: Any) -> None:
    envs = both()
    for env in envs:
        env.set_options(options)
    for _ in range(3):
        assert alike(*(env.reset() for env in envs))
        compare_reset_infos(envs)
        play_on(envs, 4)


def test_seeds_hold_from_the_next_reset_on() -> None:
    envs = both()
    assert alike(*(env.reset() for env in envs))
    for seed in (11, np.int64(12)):
        assert envs[0].seed(seed) == [seed, seed + 1, seed + 2]
        envs[1].seed(int(seed))
        play_on(envs, 25)  # games that end meanwhile go by the streams that were there
        assert alike(*(env.reset() for env in envs))
        compare_reset_infos(envs)
        play_on(envs, 25)
    assert len(envs[0].seed()) == N
    assert alike(envs[0].get_attr("np_random_seed"), envs[1].get_attr("np_random_seed"))


@pytest.mark.parametrize("indices", [None, 1, [0, 2], range(2)], ids=str)
@pytest.mark.parametrize(
    "name",
    ["seat", "rules", "render_mode", "metadata", "action_space", "observation_space", "np_random_seed", "spec"],
)
def test_attributes(name: str, indices: Any) -> None:
    envs = both()
    for env in envs:
        env.reset()
    assert envs[0].has_attr(name)
    assert alike_or_equal(*(env.get_attr(name, indices) for env in envs))


def alike_or_equal(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(a == b for a, b in zip(one, other, strict=True))


def test_attributes_set_are_kept() -> None:
    for env in both():
        env.reset()
        assert not env.has_attr("level")
        env.set_attr("level", 2)
        env.set_attr("level", 3, indices=[1])
        assert env.get_attr("level") == [2, 3, 2]
        assert env.get_attr("level", indices=1) == [3]
        assert env.has_attr("level")
        assert env.metadata == GenialEnv.metadata
        assert env.unwrapped is env
        assert env.getattr_depth_check("num_envs", already_found=True) is not None
        assert env.getattr_depth_check("num_envs", already_found=False) is None
        env.close()
    with pytest.raises(AttributeError, match="has no attribute 'jump': it has action_masks, "):
        both()[0].get_attr("jump")


@pytest.mark.parametrize("indices", [None, 1, [0, 2]], ids=str)
def test_methods(indices: Any) -> None:
    envs = both(render_mode="ansi")
    for env in envs:
        env.reset()
    play_on(envs, 3)
    for name in ("action_masks", "render"):
        found, expected = (list(env.env_method(name, indices=indices)) for env in envs)
        assert alike(found, expected)


@pytest.mark.parametrize("wrapper", [Monitor, gym.Wrapper, gym.wrappers.TimeLimit, type("Mine", (Monitor,), {})])
def test_wrappers(wrapper: Any) -> None:
    native, dummy = both()
    for indices in (None, [0, 1]):
        assert native.env_is_wrapped(wrapper, indices) == dummy.env_is_wrapped(wrapper, indices)


@pytest.mark.parametrize("mode", [None, "ansi", "rgb_array"])
def test_pictures(mode: str | None) -> None:
    if mode == "rgb_array":
        pytest.importorskip("resvg_py", reason="needs resvg: pip install -e '.[render]'")
    envs = both(render_mode=mode)
    for env in envs:
        env.reset()
        assert env.render_mode == mode
    play_on(envs, 3)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        images = [env.get_images() for env in envs]
        whole = [env.render() for env in envs]
    assert len(said) == {None: 4, "ansi": 2, "rgb_array": 0}[mode]
    assert all(np.array_equal(one, other) for one, other in zip(*images, strict=True))
    assert np.array_equal(*whole) or whole == [None, None]
    assert (whole[0] is not None) == (mode == "rgb_array")


# Gymnasium's


def vectors(**arguments: Any) -> list[Any]:
    """The native environment, and Gymnasium's of single ones, in one process and in several."""
    made = [
        gym.make_vec("genial_env/Genial-v0", num_envs=2, vectorization_mode=mode, **{**ARGUMENTS, **arguments})
        for mode in ("vector_entry_point", "sync", "async")
    ]
    for env in made:
        env.reset(seed=4)
    return made


def test_calls_are_those_of_gymnasiums_vectors() -> None:
    envs = vectors(render_mode="ansi")
    try:
        for name in ("action_masks", "seat", "render", "illegal_reason", "render_mode"):
            found, *others = (env.call(name) for env in envs)
            assert isinstance(found, tuple)
            assert all(alike(list(found), list(other)) for other in others), name
        assert [env.get_attr("seat") for env in envs[:2]] == [envs[2].get_attr("seat")] * 2
        for env in envs:
            env.set_attr("level", 2)
            assert env.get_attr("level") == (2, 2)
            env.set_attr("level", [3, 4])
            assert env.get_attr("level") == (3, 4)
            with pytest.raises(ValueError, match=r"[Vv]alues must be"):
                env.set_attr("level", [3])
    finally:
        envs[2].close()
    with pytest.raises(AttributeError, match="has no attribute 'jump': it has action_masks, "):
        GenialVectorEnv(2).call("jump")


def test_numpys_seeds_are_taken() -> None:
    for env in (GenialEnv(**SMALL), GenialVectorEnv(2, **SMALL), genial_v0.env(**SMALL)):
        env.reset(seed=np.int64(5))
        one = env.unwrapped.get_state()
        env.reset(seed=5)
        assert np.array_equal(racks(one), racks(env.unwrapped.get_state()))


def racks(saved: dict[str, Any]) -> Any:
    return saved["games"]["state"].racks if "games" in saved else saved["game"]["engine"].state.racks


def test_pictures_of_many_show_what_those_of_single_ones_show() -> None:
    native, sync = (
        gym.make_vec("genial_env/Genial-v0", num_envs=2, vectorization_mode=mode, render_mode="svg", **ARGUMENTS)
        for mode in ("vector_entry_point", "sync")
    )
    _, infos = native.reset(seed=1)
    sync.reset(seed=1)
    for _ in range(12):
        assert native.render() == sync.render()
        actions = infos["action_mask"].argmax(axis=1)
        _, infos = native.step(actions)[3:]
        sync.step(actions)


def test_the_number_of_objectives() -> None:
    small = {"side": 3, "colors": 3, "rack": 2}
    env = gym.make("genial_env/GenialMO-v0", disable_env_checker=True, **small).unwrapped
    many = gym.make_vec("genial_env/GenialMO-v0", num_envs=2, **small)
    assert env.reward_dim == many.reward_dim == 3
    assert env.reward_dim == env.reward_space.shape[0]
    assert many.get_attr("reward_dim") == (3, 3)
    assert not hasattr(GenialEnv(**small), "reward_dim")
