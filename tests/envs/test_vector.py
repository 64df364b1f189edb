"""Gymnasium's vector environment: the same games in every vectorization mode, resets, seeds, and what checks it."""

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from genial_env import IllegalAction, Rules
from genial_env.core import kernel
from genial_env.envs.opponents import Pool
from genial_env.envs.vector import GenialVectorEnv
from genial_env.policies.roster import COMPILED
from genial_env.testing import _is_equal as alike
from genial_env.testing import check_encoding, check_policy, check_vector_env
from tests.positions import every

pytestmark = pytest.mark.usefixtures("each_backend")

SMALL = {"side": 4, "colors": 4, "rack": 2}
CASES: list[dict[str, Any]] = [
    {"opponents": "greedy", **SMALL},
    {"players": 3, "edition": "2009", "seat": "random", "opponents": ["greedy", Pool(["random", "greedy"])], **SMALL},
    {"players": 4, "edition": "2004", "mode": "team", "seat": 1, "encoding": "flat", "reward": "margin"},
    {"edition": "2009", "side": 4, "colors": 2, "rack": 3, "tile_sets": 2, "action": "factored", "encoding": "tokens"},
    {"reward": "lowest", "seat": 1},
]
MODES = list(AutoresetMode)


def pick(masks: np.ndarray, env: Any, rng: np.random.Generator) -> np.ndarray:
    """Playable actions; of a game that has ended, action 0."""
    if isinstance(env.single_action_space, gym.spaces.Discrete):
        return np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1) * masks.any(axis=1)
    split = int(env.single_action_space.nvec[0])
    return np.stack(
        [np.where(part, rng.random(part.shape), -1.0).argmax(axis=1) for part in (masks[:, :split], masks[:, split:])],
        axis=1,
    )


def make(mode: str, autoreset: AutoresetMode, arguments: dict[str, Any], name: str = "Genial", n: int = 3) -> Any:
    if mode == "vector_entry_point":
        return gym.make_vec(f"genial_env/{name}-v0", num_envs=n, autoreset_mode=autoreset, **arguments)
    return gym.make_vec(
        f"genial_env/{name}-v0",
        num_envs=n,
        vectorization_mode=mode,
        vector_kwargs={"autoreset_mode": autoreset},
        **arguments,
    )


def compare(native: Any, other: Any, steps: int, illegal_every: int = 0) -> int:
    """Play the same actions in both; how many games ended."""
    autoreset = native.metadata["autoreset_mode"]
    assert isinstance(autoreset, AutoresetMode)
    assert native.observation_space == other.observation_space
    assert native.action_space == other.action_space
    rng, ends = np.random.default_rng(3), 0
    found, expected = native.reset(seed=5), other.reset(seed=5)
    assert alike(found, expected)
    masks = native.action_masks()
    for step in range(1, steps + 1):
        actions = pick(masks, native, rng)
        if illegal_every and step % illegal_every == 0:
            actions[step % len(actions)] = 0
        found, expected = native.step(actions.copy()), other.step(actions.copy())
        reasons, expected_reasons = (env.call("illegal_reason") for env in (native, other))
        told = found[4].get("final_info", found[4])["illegal_action"]
        assert [reason is not None for reason in reasons] == (found[2] & (told >= 0)).tolist()
        for row, (reason, expected_reason) in enumerate(zip(reasons, expected_reasons, strict=True)):
            if autoreset == AutoresetMode.SAME_STEP and found[2][row]:
                assert expected_reason is None, "the single environment has been reset since"
            else:  # which game it is the single environment cannot know
                assert expected_reason == (reason and reason.replace(f"in game {row}:", "in game 0:"))
        assert alike(found, expected), [key for key in found[4] if not alike(found[4][key], expected[4].get(key))]
        assert (found[4]["action_mask"] == native.action_masks()).all()
        done = found[2]
        ends += int(done.sum())
        if autoreset == AutoresetMode.DISABLED and done.any():
            fresh = [env.reset(options={"reset_mask": done.copy()}) for env in (native, other)]
            assert alike(*fresh)
        masks = native.action_masks()
    return ends


@pytest.mark.parametrize("autoreset", MODES, ids=str)
@every("arguments", CASES, CASES[:2])
def test_native_and_sync_play_the_same_games(arguments: dict[str, Any], autoreset: AutoresetMode) -> None:
    native, sync = (make(mode, autoreset, arguments) for mode in ("vector_entry_point", "sync"))
    assert isinstance(native.unwrapped, GenialVectorEnv)
    assert compare(native, sync, steps=60) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("autoreset", MODES, ids=str)
def test_native_and_async_play_the_same_games(autoreset: AutoresetMode) -> None:
    arguments = CASES[0] | {"seat": "random"}
    native, parallel = (make(mode, autoreset, arguments, n=2) for mode in ("vector_entry_point", "async"))
    try:
        assert compare(native, parallel, steps=40) >= 2
    finally:
        parallel.close()


@pytest.mark.parametrize("autoreset", MODES, ids=str)
def test_illegal_actions_end_alike(autoreset: AutoresetMode) -> None:
    native, sync = (make(mode, autoreset, CASES[0]) for mode in ("vector_entry_point", "sync"))
    assert compare(native, sync, steps=40, illegal_every=4) >= 8


def test_solo_and_vector_rewards() -> None:
    small = {"side": 4, "colors": 4}
    native, sync = (make(mode, AutoresetMode.SAME_STEP, small, "GenialSolo") for mode in ("vector_entry_point", "sync"))
    assert compare(native, sync, steps=60) >= 3
    env = gym.make_vec("genial_env/GenialMO-v0", num_envs=4, **SMALL)
    env.reset(seed=0)
    rng, growth = np.random.default_rng(0), np.zeros((4, 4))
    for _ in range(30):
        _, reward, terminated, _, info = env.step(pick(env.unwrapped.action_masks(), env.unwrapped, rng))
        assert reward.shape == (4, 4)
        growth += reward
        for row in np.flatnonzero(terminated):
            assert (growth[row] == info["scores"][row, 0]).all()
            growth[row] = 0


def test_seeds_and_streams() -> None:
    one, other = (gym.make_vec("genial_env/Genial-v0", num_envs=3, **SMALL).unwrapped for _ in range(2))
    one.reset(seed=[4, None, 6])
    other.reset(seed=[4, 5, 6])
    assert one.np_random_seed[::2] == other.np_random_seed[::2] == (4, 6)
    assert one.np_random_seed[1] > 6
    assert len(one.np_random) == 3
    deals = []
    for env in (one, other):
        env.reset(seed=9)
        env.reset()
        deals.append(env._games.state.racks.copy())
    assert (deals[0] == deals[1]).all()
    one.reset(options={"game_seed": 77})
    assert (one._games.state.racks == kernel.deal(one.rules, [77] * 3).racks).all()


def test_what_is_handed_out_is_a_copy() -> None:
    env = GenialVectorEnv(3)
    observation, info = env.reset(seed=0)
    before = env._games.state.copy()
    masks = env.action_masks()
    info["action_mask"][:] = 1
    masks[:] = True
    for array in observation.values():
        array[...] = 1
    assert all(np.array_equal(array, before.arrays()[name]) for name, array in env._games.state.arrays().items())
    assert env.action_masks().sum() < masks.sum()


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"]
)
def test_copies_and_saved_states_go_on_alike_and_apart(copied: Any) -> None:
    env = GenialVectorEnv(4, opponents="greedy", seat="random", **SMALL)
    copied(env).reset(seed=1)
    env.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(25):
        env.step(pick(env.action_masks(), env, rng))
    one, saved = copied(env), env.get_state()
    actions = [pick(env.action_masks(), env, rng)]
    first = [env.step(actions[0])]
    for _ in range(10):
        actions.append(pick(env.action_masks(), env, rng))
        first.append(env.step(actions[-1]))
    assert alike([one.step(action) for action in actions], first)
    env.set_state(saved)
    assert alike([env.step(action) for action in actions], first)


def test_rendering() -> None:
    env = gym.make_vec("genial_env/Genial-v0", num_envs=2, render_mode="ansi", seat=1)
    env.reset(seed=0)
    texts = env.render()
    assert len(texts) == 2
    assert all("rack 0  \x1b" not in text and "??" in text for text in texts)
    assert GenialVectorEnv(2).render() is None


def test_refusals() -> None:
    for arguments, error, said in (
        ({"num_envs": 0}, ValueError, "num_envs must be at least 1, not 0"),
        ({"num_envs": 2.0}, TypeError, "num_envs must be a whole number"),
        ({"render_mode": "rgb"}, ValueError, "unknown render mode 'rgb'"),
        (
            {"autoreset_mode": "never"},
            ValueError,
            "autoreset_mode must be one of NextStep, SameStep, Disabled, not 'never'",
        ),
        ({"opponents": ["random", "random"]}, ValueError, r"2 seats leave 1 opponents.*Pool\(2 policies\)"),
        ({"action": "both"}, ValueError, "unknown action format 'both': the formats are flat, factored"),
        ({"opponents": 3}, TypeError, "opponents must be a policy or its name"),
    ):
        with pytest.raises(error, match=said):
            GenialVectorEnv(**arguments)  # type: ignore[arg-type]
    env = GenialVectorEnv(2, autoreset_mode="Disabled", illegal_action="raise", **SMALL)
    with pytest.raises(RuntimeError, match="call reset"):
        env.step([0, 0])
    with pytest.raises(RuntimeError, match="the first reset must be of all games"):
        env.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(ValueError, match="seeds must be one a game, 2, not 3"):
        env.reset(seed=[1, 2, 3])
    env.reset(seed=0)
    with pytest.raises(gym.error.Error, match="Seed must be"):
        env.reset(seed=[5, -1])
    assert env.np_random_seed == (0, 1)
    for mask, error in (
        (np.zeros(2, dtype=bool), ValueError),
        ([True, True], TypeError),
        (np.ones(3, bool), ValueError),
    ):
        with pytest.raises(error, match="reset_mask"):
            env.reset(options={"reset_mask": mask})
    env.reset(seed=0)
    before = env._games.state.copy()
    with pytest.raises(IllegalAction, match="in game 0"):
        env.step([0, 0])
    for actions, error in (([0.5, 0.5], TypeError), ([0], ValueError), ([[0, 0]], ValueError)):
        with pytest.raises(error, match="actions must"):
            env.step(actions)
    assert all(np.array_equal(array, before.arrays()[name]) for name, array in env._games.state.arrays().items())
    rng = np.random.default_rng(0)
    while not env._ended.any():
        env.step(pick(env.action_masks(), env, rng))
    with pytest.raises(RuntimeError, match="reset the games that have ended first"):
        env.step([0, 0])


# Pools


def test_pools_draw_by_weight() -> None:
    rivals = []
    for weights in (None, [3, 1], [0, 1]):
        env = GenialVectorEnv(2000, opponents=Pool(["random", "greedy"], weights), **SMALL)
        env.reset(seed=0)
        rivals.append(np.mean([env._games.names(row) == ["greedy"] for row in range(2000)]))
    assert rivals == pytest.approx([0.5, 0.25, 1.0], abs=0.04)
    for weights in ([1], [-1, 2], [0, 0], [np.inf, 1], [np.nan, 1]):
        with pytest.raises(ValueError, match="weights must be 2 numbers of at least 0"):
            Pool(["random", "greedy"], weights)
    with pytest.raises(ValueError, match="the pool of opponents is empty"):
        Pool([])


# The checks


@pytest.mark.parametrize("autoreset", MODES, ids=str)
@every("arguments", [*CASES[:3], *CASES[4:]], CASES[:1])
def test_vector_check(arguments: dict[str, Any], autoreset: AutoresetMode) -> None:
    check_vector_env(GenialVectorEnv(3, autoreset_mode=autoreset, **arguments), steps=60)
    check_vector_env(GenialVectorEnv(3, autoreset_mode=autoreset, **SMALL), lambda _, info: np.zeros(3, int), steps=20)


def test_vector_check_of_gymnasiums_own() -> None:
    for autoreset in MODES:
        sync = gym.make_vec(
            "CartPole-v1", num_envs=2, vectorization_mode="sync", vector_kwargs={"autoreset_mode": autoreset}
        )
        check_vector_env(sync, steps=100)


class ReusesBuffers(GenialVectorEnv):
    def step(self, actions: Any) -> Any:
        observation, *rest = super().step(actions)
        if not hasattr(self, "kept"):
            self.kept = observation
        for name, array in observation.items():
            self.kept[name][...] = array
        return self.kept, *rest


class Unseeded(GenialVectorEnv):
    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return super().reset(options=options)


class NoMasks(GenialVectorEnv):
    def step(self, actions: Any) -> Any:
        *rest, info = super().step(actions)
        return *rest, {name: value for name, value in info.items() if name != "_action_mask"}


class Undeclared(GenialVectorEnv):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.metadata = {"autoreset_mode": "NextStep"}


class SaysSameStep(GenialVectorEnv):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}


class SeedForAll(GenialVectorEnv):
    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return super().reset(seed=[seed] * 3 if isinstance(seed, int) else seed, options=options)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (ReusesBuffers, "arrays handed out before have changed"),
        (Unseeded, "the same seed and actions must give the same"),
        (NoMasks, "needs info\\['_action_mask'\\] beside it"),
        (Undeclared, "must be a gymnasium.vector.AutoresetMode, not 'NextStep'"),
        (SaysSameStep, "SAME_STEP: an environment ended and info has no 'final_obs'"),
        (SeedForAll, "seed=7 must be the same as a list"),
    ],
)
def test_vector_check_finds(broken: type[GenialVectorEnv], said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_vector_env(broken(3, **SMALL), steps=60)


def test_encoding_check() -> None:
    for encoding in ("planes", "flat", "tokens", lambda view: view.scores.astype(np.float32)):
        check_encoding(encoding)
    with pytest.raises(AssertionError, match="must give new arrays"):
        check_encoding(lambda view: view.scores)
    with pytest.raises(AssertionError, match="encoded differently alone"):
        check_encoding(lambda view: view.points - view.points.max())


def test_policy_check() -> None:
    for policy in COMPILED:
        check_policy(policy)
        check_policy(policy, Rules(4, "2009", "team", side=5, colors=4, tile_sets=2))

    class First:
        name = "first"

        def __call__(self, view: Any, random: Any) -> Any:
            return view.mask().argmax(axis=1) + self.wrong(view, random)

        def wrong(self, view: Any, random: Any) -> Any:
            return 0

    class TooFar(First):
        def wrong(self, view: Any, random: Any) -> Any:
            return 9000

    class Together(First):
        def wrong(self, view: Any, random: Any) -> Any:
            return int(len(view) > 1)

    check_policy(First())
    with pytest.raises(AssertionError, match="first chose actions that do not exist"):
        check_policy(TooFar())
    with pytest.raises(AssertionError, match=r"first chose.*excludes|first chooses differently alone"):
        check_policy(Together())
