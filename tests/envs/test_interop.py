"""Other libraries' own wrappers around ours, as their users call them; each skips where its library is missing."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from genial_env import genial_v0
from genial_env.core.ranking import rank_utility

SMALL = {"side": 4, "colors": 4, "rack": 3}

# Both libraries warn of what they themselves import, and TorchRL of every PettingZoo but one of 2023.
pytestmark = [
    pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:tensordict.*"),
]


# TorchRL


@pytest.mark.parametrize(("players", "encoding"), [(2, "flat"), (3, "planes"), (2, "tokens")])
def test_torchrl(players: int, encoding: str) -> None:
    """Its own checks, and whole games under the masks: the agents' rewards are the ranks'."""
    pytest.importorskip("torchrl", reason="needs torchrl: pip install -e '.[interop]'")
    import torch
    from torchrl.envs.libs.pettingzoo import PettingZooWrapper
    from torchrl.envs.utils import MarlGroupMapType, check_env_specs

    torch.manual_seed(0)
    env = PettingZooWrapper(
        genial_v0.env(players=players, encoding=encoding, **SMALL),
        use_mask=True,
        categorical_actions=True,
        group_map=MarlGroupMapType.ALL_IN_ONE_GROUP,
    )
    check_env_specs(env)
    for seed in range(3):
        env.set_seed(seed)
        game = env.rollout(200)
        ends, info = game["next", "done"][:, 0], game["next", "agents", "info"][-1]
        assert ends[-1]
        assert not ends[:-1].any()
        assert (game["agents", "mask"].sum(dim=1) == 1).all()  # the one to move
        earned = game["next", "agents", "reward"].sum(dim=0)[:, 0]
        utility = rank_utility(info["ranks"][0].long().numpy())
        assert np.allclose(earned.numpy(), utility)


def test_torchrl_after_an_illegal_action() -> None:
    """The infos of a game that an illegal action ended are tensors as those of any other."""
    pytest.importorskip("torchrl", reason="needs torchrl: pip install -e '.[interop]'")
    from torchrl.envs.libs.pettingzoo import PettingZooWrapper
    from torchrl.envs.utils import MarlGroupMapType

    for make in (genial_v0.env, genial_v0.parallel_env):
        env = PettingZooWrapper(
            make(encoding="flat", **SMALL),
            use_mask=make is genial_v0.env,
            categorical_actions=True,
            group_map=MarlGroupMapType.ALL_IN_ONE_GROUP,
        )
        start = env.reset(seed=0)
        assert (start["agents", "info", "illegal_action"] == -1).all()
        start["agents", "action"] = env.action_spec["agents", "action"].zero()  # the board's edge: never legal at first
        end = env.step(start)["next"]
        assert end["done"].all()
        assert end["agents", "info", "illegal_action"].tolist() == [0, -1]
        assert not end["agents", "info", "ranks"].any()


@pytest.mark.parametrize("illegal", [False, True])
def test_torchrl_reads_gymnasiums_infos(illegal: bool) -> None:
    """Its own reader of infos, which wants the same numbers in every step, through a whole game."""
    pytest.importorskip("torchrl", reason="needs torchrl: pip install -e '.[interop]'")
    from torchrl.envs.libs.gym import GymWrapper

    env = GymWrapper(gym.make("genial_env/Genial-v0", encoding="flat", **SMALL), categorical_action_encoding=True)
    env = env.auto_register_info_dict()
    now, steps = env.reset(seed=0), 0
    assert {"action_mask", "ranks", "scores", "illegal_action"} <= set(now.keys())
    while not now["done"].any():
        now["action"] = now["action_mask"].argmin() if illegal and steps == 2 else now["action_mask"].argmax()
        now, steps = env.step(now)["next"], steps + 1
    assert (now["illegal_action"] >= 0) == illegal
    assert now["ranks"].any() != illegal


# Tianshou


def test_tianshou() -> None:
    """Its random policy plays both seats through its vectorized PettingZoo environment."""
    pytest.importorskip("tianshou", reason="needs tianshou: pip install -e '.[interop]'")
    from tianshou.env import DummyVectorEnv, PettingZooEnv

    envs = DummyVectorEnv([lambda: PettingZooEnv(genial_v0.env(encoding="flat", **SMALL))] * 3)
    observations, _ = envs.reset(seed=0)
    rng, ends = np.random.default_rng(0), 0
    earned = np.zeros((3, 2))
    for _ in range(80):
        masks = np.stack([observation["mask"] for observation in observations])
        assert masks.dtype == np.bool_
        assert masks.any(axis=1).all()
        actions = np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)
        observations, rewards, terminated, _, infos = envs.step(actions)
        earned += rewards
        done = np.flatnonzero(terminated)
        ends += len(done)
        for row in done:
            assert np.allclose(earned[row], rank_utility(np.array(infos[row]["ranks"])))
            earned[row] = 0
        if done.size:
            fresh, _ = envs.reset(done)
            observations[done] = fresh
    assert ends >= 6


# MO-Gymnasium


def test_mo_gymnasium() -> None:
    """Its make and its wrappers on the vector of rewards, alone and as many."""
    mo = pytest.importorskip("mo_gymnasium", reason="needs mo-gymnasium: pip install -e '.[interop]'")
    from mo_gymnasium.wrappers import LinearReward, MONormalizeReward, MORecordEpisodeStatistics

    env = mo.make("genial_env/GenialMO-v0", **SMALL)
    assert env.unwrapped.reward_space.shape == (4,)
    weight = np.array([0.5, 0.5, 0, 0])
    weighed = LinearReward(mo.make("genial_env/GenialMO-v0", **SMALL), weight=weight)
    normalized = MONormalizeReward(mo.make("genial_env/GenialMO-v0", **SMALL), idx=1)
    counted = MORecordEpisodeStatistics(mo.make("genial_env/GenialMO-v0", **SMALL))
    infos = [each.reset(seed=3)[1] for each in (env, weighed, normalized, counted)]
    terminated, growth, last = False, np.zeros(4), infos[-1]
    while not terminated:
        action = int(infos[0]["action_mask"].argmax())
        steps = [each.step(action) for each in (env, weighed, normalized, counted)]
        reward, terminated, infos = steps[0][1], steps[0][2], [step[4] for step in steps]
        assert env.unwrapped.reward_space.contains(reward)
        assert steps[1][1] == pytest.approx(reward @ weight)
        assert np.array_equal(steps[2][1][[0, 2, 3]], reward[[0, 2, 3]])
        growth, last = growth + reward, infos[-1]
    assert np.array_equal(last["episode"]["r"], growth)
    assert np.array_equal(growth, last["scores"][0])


def test_mo_gymnasium_vector() -> None:
    """Its vector of single environments and our native one pay the same."""
    mo = pytest.importorskip("mo_gymnasium", reason="needs mo-gymnasium: pip install -e '.[interop]'")
    from mo_gymnasium.wrappers.vector import MOSyncVectorEnv

    single: list[Any] = [lambda: mo.make("genial_env/GenialMO-v0", **SMALL)] * 3
    sync, native = MOSyncVectorEnv(single), gym.make_vec("genial_env/GenialMO-v0", num_envs=3, **SMALL)
    for env in (sync, native):
        env.reset(seed=5)
    for _ in range(30):
        actions = native.unwrapped.action_masks().argmax(axis=1)
        one, other = sync.step(actions), native.step(actions)
        assert np.array_equal(one[1], other[1])
        assert np.array_equal(one[2], other[2])
