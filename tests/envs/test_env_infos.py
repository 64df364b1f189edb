"""Infos of all environments: numbers, with the same names, shapes and types in every step of whole games."""

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import genial_env
from genial_env import genial_v0
from genial_env.envs.sb3 import GenialVecEnv
from genial_env.envs.single import GenialEnv
from genial_env.envs.vector import GenialVectorEnv

SMALL: dict[str, Any] = {"side": 3, "colors": 3, "rack": 2}
COMMON = {"ranks", "scores", "illegal_action"}
ENDS = [False, True]
"""Whether games are ended by an illegal action."""


def check_stackable(infos: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Stack the infos of a whole game by name: the same names and types in each, all of them numbers."""
    for info in infos:
        assert list(info) == list(infos[0])
        for name, value in info.items():
            assert type(value) is type(infos[0][name]), name
    stacked = {name: np.stack([info[name] for info in infos]) for name in infos[0]}
    for name, values in stacked.items():
        assert values.dtype.kind in "iub", name
        assert values.dtype == np.asarray(infos[0][name]).dtype, name
    return stacked


def random_actions(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A playable action of each game."""
    actions: np.ndarray = np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)
    return actions


def pick(mask: np.ndarray, rng: np.random.Generator, illegal: bool) -> int:
    """An action that the mask allows, or one that it does not."""
    return int(rng.choice(np.flatnonzero(mask == (0 if illegal else 1))))


@pytest.mark.parametrize("illegal", ENDS, ids=["over", "illegal"])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Genial", {"players": 3, "seat": "random", "opponents": ["random", "greedy"], **SMALL}),
        ("GenialMO", SMALL),
        ("GenialSolo", {"side": 3, "colors": 3}),
    ],
)
def test_single(name: str, arguments: dict[str, Any], illegal: bool) -> None:
    env, rng = gym.make(f"genial_env/{name}-v0", disable_env_checker=True, **arguments), np.random.default_rng(0)
    infos: list[dict[str, Any]] = []
    for seed in range(2):
        infos.append(env.reset(seed=seed)[1])
        assert not infos[-1]["ranks"].any()
        terminated, steps = False, 0
        while not terminated:
            action = pick(infos[-1]["action_mask"], rng, illegal and steps == 1)
            _, _, terminated, _, info = env.step(action)
            infos.append(info)
            steps += 1
        assert infos[-1]["illegal_action"] == (action if illegal else -1)
        assert (env.unwrapped.illegal_reason is not None) == illegal
        assert infos[-1]["ranks"].any() != illegal
    stacked = check_stackable(infos)
    assert set(stacked) == {"action_mask", *COMMON}
    tracks = env.unwrapped.rules.tracks
    assert stacked["scores"].shape[1:] == (tracks, 3)
    assert stacked["ranks"].shape[1:] == (tracks,)


def test_a_reset_clears_the_reason() -> None:
    env = GenialEnv(**SMALL)
    env.reset(seed=0)
    env.step(-1)
    with pytest.raises(TypeError, match="options"):
        env.reset(options={"start": 7})
    assert env.illegal_reason is not None, "there is no new game"
    env.reset()
    assert env.illegal_reason is None
    for make in (genial_v0.env, genial_v0.parallel_env):
        zoo = make(**SMALL)
        zoo.reset(seed=0)
        zoo.step(-1 if make is genial_v0.env else {"player_0": -1})
        assert zoo.unwrapped.illegal_reason is not None
        zoo.reset()
        assert zoo.unwrapped.illegal_reason is None


@pytest.mark.parametrize("autoreset", list(AutoresetMode), ids=str)
def test_a_new_game_among_many_clears_the_reason(autoreset: AutoresetMode) -> None:
    """But for the reason of the step that has just been played, where it deals the new game."""
    many = GenialVectorEnv(2, autoreset_mode=autoreset, **SMALL)

    def step(*, legal: bool) -> list[bool]:
        actions = many.action_masks().argmax(axis=1)
        many.step(actions if legal else np.array([actions[0], -1]))
        return [reason is not None for reason in many.get_attr("illegal_reason")]

    many.reset(seed=0)
    assert step(legal=False) == [False, True]
    if autoreset == AutoresetMode.DISABLED:
        many.reset(options={"reset_mask": np.array([True, False])})
        assert many.get_attr("illegal_reason")[1] is not None
        many.reset(options={"reset_mask": np.array([False, True])})
        assert many.get_attr("illegal_reason") == (None, None)
    assert step(legal=True) == [False, False]
    assert step(legal=False) == [False, True]
    many.reset()
    assert many.get_attr("illegal_reason") == (None, None)


def test_a_reset_of_stable_baselines3s_environment_clears_the_reasons() -> None:
    many = GenialVecEnv(2, **SMALL)
    many.reset()
    many.step(np.array([-1, -1]))
    assert all(many.get_attr("illegal_reason"))
    many.reset()
    assert many.get_attr("illegal_reason") == [None, None]


def test_an_action_outside_of_the_space_is_illegal_and_numbered_as_none() -> None:
    for action in (-5, 10**6, np.int64(-1)):
        env = GenialEnv(**SMALL)
        n_actions = int(env.action_space.n)
        env.reset(seed=0)
        _, reward, terminated, _, info = env.step(action)
        assert (reward, terminated) == (-1, True)
        assert info["illegal_action"] == n_actions
        assert f"actions run from 0 to {n_actions - 1}" in env.illegal_reason
        many = GenialVectorEnv(2, **SMALL)
        many.reset(seed=0)
        _, rewards, ends, _, infos = many.step(np.array([int(action)] * 2))
        assert rewards.tolist() == [-1, -1]
        assert ends.all()
        assert infos["illegal_action"].tolist() == [n_actions] * 2
        for make in (genial_v0.env, genial_v0.parallel_env):
            zoo = make(**SMALL)
            zoo.reset(seed=0)
            step = zoo.step(action if make is genial_v0.env else {"player_0": action})
            told = zoo.infos if step is None else step[4]
            assert [told[agent]["illegal_action"] for agent in ("player_0", "player_1")] == [n_actions, -1]
            assert "actions run from 0" in zoo.unwrapped.illegal_reason


@pytest.mark.parametrize("action", [-5, 10**6])
def test_an_action_outside_of_the_space_raises_where_illegal_actions_do(action: int) -> None:
    envs: list[tuple[Any, Callable[[Any], Any]]] = [
        (GenialEnv(illegal_action="raise", **SMALL), lambda env: env.step(action)),
        (GenialVectorEnv(2, illegal_action="raise", **SMALL), lambda env: env.step(np.array([action] * 2))),
        (GenialVecEnv(2, illegal_action="raise", **SMALL), lambda env: env.step(np.array([action] * 2))),
        (genial_v0.raw_env(**SMALL), lambda env: env.step(action)),
        (genial_v0.raw_parallel_env(**SMALL), lambda env: env.step({"player_0": action})),
    ]
    for env, step in envs:
        env.reset()
        with pytest.raises(genial_env.IllegalAction, match="actions run from 0 to"):
            step(env)


@pytest.mark.parametrize("autoreset", list(AutoresetMode), ids=str)
def test_vector(autoreset: AutoresetMode) -> None:
    env, rng = GenialVectorEnv(3, autoreset_mode=autoreset, opponents="greedy", **SMALL), np.random.default_rng(0)
    found = [env.reset(seed=0)[1]]
    finals = []
    for step in range(30):
        masks = env.action_masks()
        actions = random_actions(np.where(masks.any(axis=1, keepdims=True), masks, True), rng)
        actions[step % 3] = 0 if step % 5 == 0 else actions[step % 3]
        *_, ends, _, infos = env.step(actions)
        if "final_info" in infos:
            finals.append(infos.pop("final_info"))
            assert infos.pop("_final_info").any()
            infos.pop("final_obs"), infos.pop("_final_obs")
        found.append(infos)
        if autoreset == AutoresetMode.DISABLED and ends.any():
            found.append(env.reset(options={"reset_mask": ends})[1])
    for several in (found, finals):
        if several:
            stacked = check_stackable(several)
            assert set(stacked) == {prefix + name for name in ("action_mask", *COMMON) for prefix in ("", "_")}
    ended = finals if finals else found
    assert any((infos["illegal_action"][infos["_illegal_action"]] >= 0).any() for infos in ended)
    assert any(infos["ranks"].any() for infos in ended)


def test_sb3() -> None:
    env, rng = (
        GenialVecEnv(3, players=3, seat="random", opponents=["greedy", "random"], **SMALL),
        np.random.default_rng(0),
    )
    env.reset()
    found = [*env.reset_infos]
    ends = 0
    for step in range(30):
        actions = random_actions(env.action_masks(), rng)
        actions[1] = 0 if step == 3 else actions[1]
        *_, done, infos = env.step(actions)
        for row, info in enumerate(infos):
            assert ("terminal_observation" in info) == ("episode" in info) == done[row]
            assert (info["game_seed"] != 0) == done[row]
            assert info["ranks"].any() == (done[row] and info["illegal_action"] < 0)
            found.append(
                {name: value for name, value in info.items() if name not in ("terminal_observation", "episode")}
            )
        found += [env.reset_infos[row] for row in np.flatnonzero(done)]
        ends += int(done.sum())
    assert ends > 3
    stacked = check_stackable(found)
    assert set(stacked) == {*COMMON, "seat", "opponents", "game_seed", "TimeLimit.truncated"}
    assert stacked["opponents"].shape[1:] == (2,)


def aec_infos(env: Any, rng: np.random.Generator, illegal: bool) -> Iterator[dict[str, dict[str, Any]]]:
    """The infos of all agents in each step of a game."""
    env.reset(seed=0)
    yield env.infos
    steps = 0
    while not any(env.terminations.values()):
        env.step(pick(env.observe(env.agent_selection)["action_mask"], rng, illegal and steps == 1))
        steps += 1
        yield env.infos


def parallel_infos(env: Any, rng: np.random.Generator, illegal: bool) -> Iterator[dict[str, dict[str, Any]]]:
    """The infos of all agents in each step of a game."""
    observations, infos = env.reset(seed=0)
    yield infos
    steps = 0
    while env.agents:
        mover = env.possible_agents[infos["player_0"]["to_play"]]
        action = pick(observations[mover]["action_mask"], rng, illegal and steps == 1)
        observations, _, _, _, infos = env.step({mover: action})
        steps += 1
        yield infos


@pytest.mark.parametrize("illegal", ENDS, ids=["over", "illegal"])
@pytest.mark.parametrize(
    ("make", "played"), [(genial_v0.env, aec_infos), (genial_v0.parallel_env, parallel_infos)], ids=["aec", "parallel"]
)
def test_pettingzoo(make: Any, played: Any, illegal: bool) -> None:
    env = make(players=3, **SMALL)
    found = list(played(env, np.random.default_rng(0), illegal))
    stacked = check_stackable([info for infos in found for info in infos.values()])
    assert set(stacked) == {"to_play", *COMMON}
    ends = list(found[-1].values())
    assert sorted(info["illegal_action"] >= 0 for info in ends) == [False, False, illegal]
    assert all(info["to_play"] == -1 and info["ranks"].any() != illegal for info in ends)
    assert (env.unwrapped.illegal_reason is not None) == illegal
