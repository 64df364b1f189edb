"""The Stable-Baselines3 side: the VecEnv, the structured policy, the quickstart."""

import copy
import csv
import json
import pickle
from collections.abc import Callable
from multiprocessing import get_all_start_methods
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.logger import configure
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecMonitor, VecNormalize

from agents.ppo.ladder_callback import LadderCallback, compute_games_won
from agents.ppo.sb3_agent import SB3Agent
from agents.ppo.structured_net import StructuredPolicy
from experiments import quickstart
from genial_env import IllegalAction, Rules, play, ranks, view
from genial_env.core.ranking import rank_utility
from genial_env.core.tables import tables
from genial_env.envs.action_formats import make_action_format
from genial_env.envs.opponents import Pool
from genial_env.envs.sb3 import GenialVecEnv
from genial_env.envs.single import GenialEnv
from genial_env.records import read_records, verify
from genial_env.testing import _is_equal as alike
from genial_env.testing import check_policy
from tests.positions import random_play

torch.set_num_threads(1)  # two test processes on two cores are several times as slow with more


def random_actions(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)


CASES: list[dict[str, Any]] = [
    {},
    {"players": 3, "edition": "2009", "seat": "random", "opponents": ["greedy", Pool(["random", "greedy"])]},
    {"opponents": "greedy", "action": "factored", "encoding": "tokens"},
    {"players": 4, "edition": "2004", "mode": "team", "seat": 2, "reward": "lowest", "encoding": "flat"},
]


@pytest.mark.parametrize("arguments", CASES, ids=str)
def test_a_batch_goes_as_its_games_do_alone(arguments: dict[str, Any]) -> None:
    """Observations, masks, rewards, ends and infos, against single environments in SB3's DummyVecEnv."""
    native = GenialVecEnv(4, seed=11, **arguments)
    dummy = DummyVecEnv([lambda: GenialEnv(**arguments)] * 4)
    dummy.seed(11)
    found, expected = native.reset(), dummy.reset()
    rng, ends = np.random.default_rng(0), 0
    for step in range(70):
        assert alike(found, expected)
        masks = native.env_method("action_masks")
        assert (masks == np.stack(dummy.env_method("action_masks"))).all()
        actions = pick(masks, native.action_space, rng)
        if step == 3:
            actions[1] = 0
        found, *rest = native.step(actions)
        expected, *others = dummy.step(actions)
        assert alike(rest[:2], others[:2])
        for row in np.flatnonzero(rest[1]).tolist():
            ends += 1
            info, other = rest[2][row], others[2][row]
            for name in set(other) - {"action_mask"}:
                assert alike(info[name], other[name]), name
            assert (info["illegal_action"] >= 0) == (step == 3 and row == 1)
    assert ends >= 5


def pick(masks: np.ndarray, space: gym.Space[Any], rng: np.random.Generator) -> np.ndarray:
    """Playable actions of either form."""
    if isinstance(space, gym.spaces.Discrete):
        return random_actions(masks, rng)
    split = int(space.nvec[0])
    return np.stack([random_actions(part, rng) for part in (masks[:, :split], masks[:, split:])], axis=1)


def test_every_seat_is_paid_for_its_own_game() -> None:
    env = GenialVecEnv(32, players=3, seat="random", opponents=Pool(["greedy", "random"]), seed=2)
    env.reset()
    rng, seats, rivals = np.random.default_rng(1), set(), set()
    for _ in range(60):
        _, earned, done, infos = env.step(random_actions(env.env_method("action_masks"), rng))
        for row in np.flatnonzero(done):
            info = infos[row]
            assert info["ranks"].tolist() == ranks(info["scores"]).tolist()
            assert earned[row] == pytest.approx(rank_utility(info["ranks"])[info["seat"]])
            assert info["episode"]["r"] == pytest.approx(earned[row])
            assert info["TimeLimit.truncated"] is False
            seats.add(info["seat"])
            rivals.add(tuple(env.opponent_names[number] for number in info["opponents"]))
    assert seats == {0, 1, 2}
    assert rivals == {(a, b) for a in ("greedy", "random") for b in ("greedy", "random")}


def test_seeds() -> None:
    one, other, third = GenialVecEnv(3, seed=5), GenialVecEnv(3, seed=5), GenialVecEnv(3, seed=6)
    for env in (one, other, third):
        env.reset()
    assert (one._games.state.racks == other._games.state.racks).all()
    assert (one._games.state.racks != third._games.state.racks).any()
    third.seed(5)
    third.reset()
    assert (one._games.state.racks == third._games.state.racks).all()
    deals = {rack.tobytes() for rack in one._games.state.racks}
    one.reset()
    assert len(deals | {rack.tobytes() for rack in one._games.state.racks}) == 6


def test_illegal_actions() -> None:
    env = GenialVecEnv(2, seed=1)
    env.reset()
    actions = random_actions(env.env_method("action_masks"), np.random.default_rng(0))
    actions[1] = 0
    _, earned, done, infos = env.step(actions)
    assert (earned[1], bool(done[1]), bool(done[0])) == (-1.0, True, False)
    assert [info["illegal_action"] for info in infos] == [-1, 0]
    assert "illegal action 0" in env.get_attr("illegal_reason")[1]
    strict = GenialVecEnv(2, illegal_action="raise")
    strict.reset()
    with pytest.raises(IllegalAction):
        strict.step(np.array([0, 0]))
    with pytest.raises(TypeError, match="whole numbers"):
        strict.step(np.array([0.5, 0.5]))


def test_what_sb3_asks_of_a_vec_env() -> None:
    env = GenialVecEnv(3)
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(np.zeros(3, dtype=np.int64))
    env.reset()
    assert is_masking_supported(env)
    assert get_action_masks(env).shape == (3, 2882)
    assert env.env_method("action_masks", indices=[1]).shape == (1, 2882)
    assert env.env_is_wrapped(gym.wrappers.TimeLimit) == [False] * 3
    assert env.env_is_wrapped(Monitor) == [True] * 3
    with pytest.raises(AttributeError, match="has no attribute 'jump': it has action_masks,"):
        env.env_method("jump")
    with pytest.raises(AttributeError):
        env.set_attr("seat", 1)
    with pytest.warns(UserWarning, match="already wrapped with a `Monitor`"):  # its infos have all that Monitor gives
        monitored = VecMonitor(env)
    wrapped = VecNormalize(monitored, norm_obs=False)
    wrapped.reset()
    masks = wrapped.env_method("action_masks")
    observation, *_ = wrapped.step(random_actions(np.asarray(masks), np.random.default_rng(0)))
    observation["board"][:] = 7
    assert env._games.state.board.max() < 6
    env.close()


def test_refusals() -> None:
    for arguments, said in (
        ({"num_envs": 0}, "num_envs must be at least 1, not 0"),
        ({"num_envs": 1, "opponents": []}, "2 seats leave 1 opponents, one a seat, not 0"),
        ({"num_envs": 1, "opponents": "x"}, "unknown agent 'x'"),
        ({"num_envs": 1, "reward": "vector"}, r"one number a step.*give a reward function that returns \[G\]"),
        ({"num_envs": 1, "seat": 5}, "seat must be 0 to 1"),
    ):
        with pytest.raises(ValueError, match=said):
            GenialVecEnv(**arguments)  # type: ignore[arg-type]


def test_opponents_may_be_changed() -> None:
    env = GenialVecEnv(2)
    env.reset()
    env.set_opponents("greedy")
    *_, infos = env.step(random_actions(env.env_method("action_masks"), np.random.default_rng(0)))
    assert [[env.opponent_names[number] for number in info["opponents"]] for info in infos] == [["greedy"], ["greedy"]]


@pytest.mark.parametrize("encoding", ["planes", "flat"])
def test_maskable_ppo_with_its_own_policies(encoding: str) -> None:
    """Natively batched, and on the environment for one game."""
    policy = "MultiInputPolicy" if encoding == "planes" else "MlpPolicy"
    small = {"side": 3, "colors": 3, "rack": 2}
    for env in (
        GenialVecEnv(4, encoding=encoding, **small),
        DummyVecEnv([lambda: GenialEnv(encoding=encoding, **small)]),
    ):
        MaskablePPO(policy, env, n_steps=16, batch_size=16, n_epochs=1, device="cpu").learn(64)


@pytest.mark.parametrize("native", [True, False], ids=["native", "single"])
def test_maskable_ppo_with_factored_actions(native: bool) -> None:
    """Every action it plays is playable: the factored mask is exact."""
    small = {"side": 4, "colors": 4, "rack": 3, "action": "factored", "illegal_action": "raise", "edition": "2009"}
    env = GenialVecEnv(4, **small) if native else DummyVecEnv([lambda: GenialEnv(**small)] * 2)
    env.reset()
    assert get_action_masks(env).shape[1] == sum(env.action_space.nvec)
    MaskablePPO("MultiInputPolicy", env, n_steps=64, batch_size=64, n_epochs=1, device="cpu", seed=0).learn(256)


def test_factored_masks_are_the_flat_ones() -> None:
    """Every pair that both factors allow is a playable action, and every playable action is such a pair."""
    rules = Rules(2, "2009", side=4, colors=2, rack=3, tile_sets=2)
    t, form = tables(rules), make_action_format("factored", rules)
    phases = set()
    for steps in range(30):
        state = random_play(rules, games=6, seed=steps, steps=steps)
        for seat in (0, 1):
            seen = view(state, seat)
            phases |= set(seen.phase.tolist())
            both = form.mask(seen)
            pairs = both[:, : rules.rack + 2, None] & both[:, None, rules.rack + 2 :]
            for row in range(6):
                ids = form.ids(np.argwhere(pairs[row]), int(pairs[row].sum()))
                assert set(ids.tolist()) == set(np.flatnonzero(seen.mask()[row]).tolist())
    assert phases == {0, 1, 2, 3}
    assert form.id([rules.rack, 5]) == t.swap_action
    assert form.id(np.array([rules.rack + 1, 0])) == t.decline_action
    for action, error, said in (
        ([0.0, 1.0], TypeError, "two whole numbers"),
        (3, ValueError, r"shape \(2,\)"),
    ):
        with pytest.raises(error, match=said):
            form.id(action)
    with pytest.raises(ValueError, match=r"shape \(2, 2\), not \(2,\)"):
        form.ids(np.array([0, 0]), 2)


def test_factored_actions_out_of_range_are_illegal() -> None:
    env = GenialVecEnv(3, action="factored", seed=1)
    env.reset()
    _, earned, done, infos = env.step(np.array([[9, 0], [-1, 0], [0, 9999]]))
    assert done.all()
    assert (earned == -1).all()
    assert [info["illegal_action"] for info in infos] == [2882] * 3
    reasons = env.get_attr("illegal_reason")
    assert "[9, 0] by seat 0 in game 0: the choice runs from 0 to 7, not 9" in reasons[0]
    assert "the choice runs from 0 to 7, not -1" in reasons[1]
    assert "the placement runs from 0 to 479, not 9999" in reasons[2]


# What SB3 wraps around single environments


SMALL = {"side": 3, "colors": 3, "rack": 2}


def limited() -> gym.Env[Any, Any]:
    return Monitor(gym.wrappers.TimeLimit(gym.make("genial_env/Genial-v0", opponents="greedy", **SMALL), 4))


@pytest.mark.slow
@pytest.mark.parametrize("start_method", sorted({"spawn", "forkserver"} & set(get_all_start_methods())))
def test_subprocesses(start_method: str) -> None:
    """Masks come through, and the games are those of a DummyVecEnv."""
    apart, dummy = SubprocVecEnv([limited] * 2, start_method=start_method), DummyVecEnv([limited] * 2)
    try:
        for env in (apart, dummy):
            env.seed(4)
        assert is_masking_supported(apart)
        assert alike(apart.reset(), dummy.reset())
        rng = np.random.default_rng(0)
        for _ in range(12):
            masks = get_action_masks(apart)
            assert (masks == get_action_masks(dummy)).all()
            actions = random_actions(masks, rng)
            found, expected = apart.step(actions), dummy.step(actions)
            assert alike(found[0], expected[0])
            assert all(np.array_equal(one, other) for one, other in zip(found[1:3], expected[1:3], strict=True))
    finally:
        apart.close()


def test_time_limits_and_monitors() -> None:
    env = DummyVecEnv([limited])
    env.seed(1)
    env.reset()
    infos: list[dict[str, Any]] = [{}]
    for _ in range(4):
        assert "terminal_observation" not in infos[0]
        *_, infos = env.step(random_actions(get_action_masks(env), np.random.default_rng(0)))
    assert infos[0]["TimeLimit.truncated"] != infos[0]["ranks"].any()
    assert infos[0]["episode"]["l"] == 4


@pytest.mark.parametrize("native", [True, False], ids=["native", "single"])
def test_normalized_and_evaluated_training(native: bool, tmp_path: Path) -> None:
    """VecNormalize around either, MaskableEvalCallback on the other."""
    flat = {"encoding": "flat", **SMALL}
    batched, single = GenialVecEnv(4, **flat), DummyVecEnv([lambda: Monitor(GenialEnv(**flat))] * 2)
    env, other = (batched, single) if native else (single, batched)
    training, evaluation = (VecNormalize(e, norm_obs=True, norm_reward=True) for e in (env, other))
    callback = MaskableEvalCallback(
        evaluation,
        n_eval_episodes=4,
        eval_freq=32,
        log_path=str(tmp_path),
        best_model_save_path=str(tmp_path),
        verbose=0,
    )
    model = MaskablePPO("MlpPolicy", training, n_steps=32, batch_size=32, n_epochs=1, device="cpu", seed=0)
    model.learn(128, callback=callback)
    results = np.load(tmp_path / "evaluations.npz")["results"]
    assert results.shape[1] == 4
    assert (np.abs(results) <= 1).all()
    assert (tmp_path / "best_model.zip").exists()


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"]
)
def test_copies_and_saved_states(copied: Callable[[Any], Any]) -> None:
    env = GenialVecEnv(3, opponents="greedy", seat="random", seed=2, **SMALL)
    copied(env).reset()
    env.reset()
    rng = np.random.default_rng(0)
    for _ in range(7):
        env.step(random_actions(env.action_masks(), rng))
    saved, other = env.get_state(), copied(env)
    actions, first = [], []
    for _ in range(9):
        actions.append(random_actions(env.action_masks(), rng))
        first.append(env.step(actions[-1])[:3])
    assert alike([other.step(action)[:3] for action in actions], first)
    env.set_state(saved)
    assert alike([env.step(action)[:3] for action in actions], first)


# The structured policy


@pytest.fixture(scope="module")
def model() -> MaskablePPO:
    env = GenialVecEnv(8, seat="random", seed=1)
    arguments = {"rules_arguments": Rules().to_dict(), "width": 8}
    return MaskablePPO(
        StructuredPolicy, env, n_steps=8, batch_size=32, n_epochs=1, policy_kwargs=arguments, seed=0, device="cpu"
    ).learn(128)


def test_saved_models_play_the_same(model: MaskablePPO, tmp_path: Path) -> None:
    model.save(tmp_path / "model.zip")
    one = play([SB3Agent(model), "random"], games=5, seed=3, record=True)
    other = play([SB3Agent(tmp_path / "model.zip"), "random"], games=5, seed=3, record=True)
    assert one.records == other.records
    assert list(verify(one.records or [])) == [None] * 5


def test_a_frozen_agent_plays_what_was_learned_until_then() -> None:
    small = Rules(side=4, colors=4, rack=3)
    env = GenialVecEnv(4, encoding="flat", side=4, colors=4, rack=3)
    learner = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=16, learning_rate=0.05, seed=0, device="cpu")
    learner.learn(64)
    drawn = torch.get_rng_state()
    both = [SB3Agent(learner, "past", "flat", frozen=True, deterministic=fixed) for fixed in (True, False)]
    assert torch.equal(torch.get_rng_state(), drawn)  # training goes on as without copies
    for agent in both:
        check_policy(agent, small)

    def scores(agent: SB3Agent) -> list[Any]:
        found: list[Any] = play([agent, "random"], small, 4, seed=1).scores.tolist()
        return found

    first, other = map(scores, both)
    now = SB3Agent(learner, encoding="flat")
    assert scores(now) == first
    env.set_opponents(Pool(["random", *both]))
    learner.learn(128, reset_num_timesteps=False)
    assert [scores(agent) for agent in both] == [first, other]
    assert scores(now) != first
    with pytest.raises(ValueError, match=r"single actions \(action='flat'\), not MultiDiscrete"):
        SB3Agent(MaskablePPO("MultiInputPolicy", GenialVecEnv(1, action="factored"), device="cpu"))


def test_the_ladder_is_logged(tmp_path: Path) -> None:
    env = GenialVecEnv(4, encoding="flat", side=4, colors=4, rack=3)
    learner = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=16, n_epochs=1, device="cpu")
    learner.set_logger(configure(str(tmp_path), ["csv"]))
    callback = LadderCallback(env.rules, every=64, opponents=["random", "greedy"], deals=4, encoding="flat")
    learner.learn(128, callback=callback)
    assert [steps for steps, _ in callback.games_won] == [64, 128]
    learner.logger.close()
    lines = list(csv.DictReader((tmp_path / "progress.csv").read_text().splitlines()))
    for steps, shares in callback.games_won:
        line = next(line for line in lines if line["ladder/mean"] and int(line["time/total_timesteps"]) == steps)
        assert {name: float(line[f"ladder/{name}"]) for name in shares} == shares
        assert all(share in np.arange(17) / 16 for share in shares.values())
    with pytest.raises(ValueError, match="every and deals must be at least 1, not 0 and 50"):
        LadderCallback(env.rules, every=0)
    with pytest.raises(ValueError, match="a solo game has no opponents"):
        LadderCallback(Rules(1, "2004", "solo"), every=1)
    same = play(["greedy"] * 3, Rules(3), 1)
    same.ranks[:] = [[1, 1, 3]]
    assert compute_games_won([same] * 3) == pytest.approx(1 / 3)


def test_the_logit_of_a_placement_is_the_sum_of_its_halves(model: MaskablePPO) -> None:
    """Two tiles that share a half differ, between two placements on the same cell, by the other half only."""
    env = GenialVecEnv(1, seed=4)
    observation = {name: torch.as_tensor(value).float() for name, value in env.reset().items()}
    observation["rack"][0, 0] = observation["rack"][0, 1]  # twin tiles in two slots
    logits, values = model.policy.net(observation)
    assert logits.shape == (1, 2882)
    assert values.shape == (1,)
    assert torch.allclose(logits[0, :480], logits[0, 480:960], atol=1e-5)


def test_the_structured_policy_knows_single_tracks_only() -> None:
    env = GenialVecEnv(1, 4, "2004", "team")
    arguments = {"rules_arguments": Rules(4, "2004", "team").to_dict()}
    with pytest.raises(ValueError, match="for mode 'individual', not 'team'"):
        MaskablePPO(StructuredPolicy, env, policy_kwargs=arguments, device="cpu")


@pytest.mark.slow
def test_quickstart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = quickstart.Args(
        imitation_rounds=2,
        imitation_games=2,
        imitation_epochs=1,
        total_timesteps=512,
        n_envs=16,
        n_steps=16,
        batch_size=128,
        n_epochs=1,
        pairs=4,
        curve_pairs=2,
        threads=1,
        out=tmp_path,
    )
    found = quickstart.main(args)
    assert set(found) == {"random", "greedy", "denial"}
    shown = capsys.readouterr().out
    assert "first rank" in shown
    assert "greedy" in shown
    assert list(verify(read_records(tmp_path / "game.jsonl"))) == [None]
    assert json.loads((tmp_path / "game.jsonl").read_text())["agents"] == ["ppo", "denial"]
    assert (tmp_path / "learning_curve.png").read_bytes().startswith(b"\x89PNG")
    assert SB3Agent(tmp_path / "model.zip").name == "ppo"
