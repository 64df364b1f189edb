"""The Stable-Baselines3 side: the VecEnv, the lean distribution, the structured policy, the quickstart."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategorical
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

from agents.masked import LeanMaskedCategorical
from agents.sb3_agent import SB3Agent
from agents.structured import StructuredPolicy
from experiments import quickstart
from genial_env import IllegalAction, Rules, play, ranks
from genial_env.envs.rewards import rank_utility
from genial_env.envs.sb3 import GenialVecEnv
from genial_env.envs.single import GenialEnv
from genial_env.record import read_records, verify


def random_actions(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)


@pytest.mark.parametrize(
    "arguments", [{}, {"players": 3, "edition": "2009", "seat": 2}, {"opponents": "greedy"}], ids=str
)
def test_a_batch_goes_as_its_games_do_alone(arguments: dict[str, object]) -> None:
    """Observations, masks, rewards and ends, against an environment for one game that is dealt the same games."""
    env, n = GenialVecEnv(4, seed=11, **arguments), 4
    singles = [GenialEnv(**arguments) for _ in range(n)]
    observation = env.reset()

    def deal(row: int) -> dict[str, np.ndarray]:
        return singles[row].reset(options={"game_seed": int(env._seeds_dealt[row])})[0]

    alone = [deal(row) for row in range(n)]
    rng = np.random.default_rng(0)
    for _ in range(70):
        masks = env.env_method("action_masks")
        for row, single in enumerate(singles):
            assert (masks[row] == single.action_masks()).all()
            assert all(np.array_equal(observation[name][row], alone[row][name]) for name in observation)
        actions = random_actions(masks, rng)
        observation, earned, done, infos = env.step(actions)
        for row, single in enumerate(singles):
            alone[row], reward, terminated, _, info = single.step(int(actions[row]))
            assert (earned[row], done[row]) == (reward, terminated)
            if terminated:
                assert infos[row]["ranks"] == info["ranks"]
                last = infos[row]["terminal_observation"]
                assert all(np.array_equal(last[name], alone[row][name]) for name in last)
                alone[row] = deal(row)


def test_every_seat_is_paid_for_its_own_game() -> None:
    env = GenialVecEnv(32, players=3, seat="random", opponents=["greedy", "random"], seed=2)
    env.reset()
    rng, seats, rivals = np.random.default_rng(1), set(), set()
    for _ in range(60):
        _, earned, done, infos = env.step(random_actions(env.env_method("action_masks"), rng))
        for row in np.flatnonzero(done):
            info = infos[row]
            assert info["ranks"] == ranks(info["scores"]).tolist()
            assert earned[row] == pytest.approx(rank_utility(np.array(info["ranks"]))[info["seat"]])
            assert info["episode"]["r"] == pytest.approx(earned[row])
            assert info["TimeLimit.truncated"] is False
            seats.add(info["seat"])
            rivals.add(tuple(info["opponents"]))
    assert seats == {0, 1, 2}
    assert rivals == {(a, b) for a in ("greedy", "random") for b in ("greedy", "random")}


def test_seeds() -> None:
    one, other, third = GenialVecEnv(3, seed=5), GenialVecEnv(3, seed=5), GenialVecEnv(3, seed=6)
    for env in (one, other, third):
        env.reset()
    assert (one._state.racks == other._state.racks).all()
    assert (one._state.racks != third._state.racks).any()
    third.seed(5)
    third.reset()
    assert (one._state.racks == third._state.racks).all()
    deals = {rack.tobytes() for rack in one._state.racks}
    one.reset()
    assert len(deals | {rack.tobytes() for rack in one._state.racks}) == 6


def test_illegal_actions() -> None:
    env = GenialVecEnv(2, seed=1)
    env.reset()
    actions = random_actions(env.env_method("action_masks"), np.random.default_rng(0))
    actions[1] = 0
    _, earned, done, infos = env.step(actions)
    assert (earned[1], bool(done[1]), bool(done[0])) == (-1.0, True, False)
    assert "illegal action 0" in infos[1]["illegal_action"]
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
    assert env.env_is_wrapped(VecMonitor) == [False] * 3  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match="the method 'action_masks' only"):
        env.env_method("jump")
    with pytest.raises(AttributeError):
        env.set_attr("seat", 1)
    wrapped = VecNormalize(VecMonitor(env), norm_obs=False)
    wrapped.reset()
    masks = wrapped.env_method("action_masks")
    observation, *_ = wrapped.step(random_actions(np.asarray(masks), np.random.default_rng(0)))
    observation["board"][:] = 7
    assert env._state.board.max() < 6
    env.close()


def test_refusals() -> None:
    for arguments, said in (
        ({"num_envs": 0}, "num_envs must be at least 1"),
        ({"num_envs": 1, "opponents": []}, "the pool of opponents is empty"),
        ({"num_envs": 1, "opponents": "x"}, "unknown agent 'x'"),
        ({"num_envs": 1, "reward": "vector"}, "one number a step"),
        ({"num_envs": 1, "seat": 5}, "seat must be 0 to 1"),
    ):
        with pytest.raises(ValueError, match=said):
            GenialVecEnv(**arguments)  # type: ignore[arg-type]


def test_opponents_may_be_changed() -> None:
    env = GenialVecEnv(2)
    env.reset()
    env.set_opponents("greedy")
    infos: list[dict[str, object]] = [{}]
    while not any(infos):
        *_, infos = env.step(random_actions(env.env_method("action_masks"), np.random.default_rng(0)))
    assert next(info for info in infos if info)["opponents"] == ["greedy"]


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


# The distribution


def test_lean_distribution_equals_torchs() -> None:
    generator = torch.Generator().manual_seed(0)
    logits = (3 * torch.randn(40, 300, generator=generator)).requires_grad_()
    masks = torch.rand(40, 300, generator=generator) < 0.2
    masks[:, 7] = True
    lean = LeanMaskedCategorical().proba_distribution(logits)
    lean.apply_masking(masks)
    reference = MaskableCategorical(logits=logits, masks=masks)
    actions = reference.sample()
    assert torch.allclose(lean.log_prob(actions), reference.log_prob(actions), atol=1e-5)
    assert torch.allclose(lean.entropy(), reference.entropy(), atol=1e-4)
    assert (lean.mode() == reference.probs.argmax(dim=1)).all()
    grads = [
        torch.autograd.grad((d.log_prob(actions) + 0.1 * d.entropy()).sum(), logits, retain_graph=True)[0]
        for d in (lean, reference)
    ]
    assert torch.allclose(*grads, atol=1e-5)


def test_lean_distribution_samples_what_it_says() -> None:
    torch.manual_seed(0)
    logits = torch.tensor([[0.0, 1.0, 2.0, 3.0, 9.0]]).repeat(60_000, 1)
    masks = np.tile([True, False, True, True, False], (60_000, 1))
    lean = LeanMaskedCategorical().proba_distribution(logits)
    lean.apply_masking(masks)
    found = torch.bincount(lean.sample(), minlength=5) / 60_000
    weights = torch.tensor([1.0, 0.0, 7.389, 20.086, 0.0])
    assert torch.allclose(found, weights / weights.sum(), atol=0.01)
    assert found[1] == found[4] == 0


def test_lean_distribution_with_extreme_logits() -> None:
    logits = torch.tensor([[-1e30, 1e30, 0.0], [1e6, -1e6, 5.0]], requires_grad=True)
    lean = LeanMaskedCategorical().proba_distribution(logits)
    lean.apply_masking(torch.tensor([[True, False, True], [False, True, True]]))
    assert lean.sample().tolist() == [2, 2]
    (lean.log_prob(torch.tensor([2, 2])) + lean.entropy()).sum().backward()
    assert torch.isfinite(logits.grad).all()


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
    with pytest.raises(ValueError, match="single tracks only, not mode 'team'"):
        MaskablePPO(StructuredPolicy, env, policy_kwargs=arguments, device="cpu")


def test_quickstart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = quickstart.Args(total_steps=512, num_envs=16, num_steps=16, batch_size=128, epochs=1, pairs=6, out=tmp_path)
    found = quickstart.main(args)
    assert set(found) == {"random", "greedy"}
    shown = capsys.readouterr().out
    assert "first rank" in shown
    assert "greedy" in shown
    assert list(verify(read_records(tmp_path / "game.jsonl"))) == [None]
    assert json.loads((tmp_path / "game.jsonl").read_text())["agents"] == ["ppo", "greedy"]
    assert (tmp_path / "learning_curve.png").read_bytes().startswith(b"\x89PNG")
    assert SB3Agent(tmp_path / "model.zip").name == "ppo"
