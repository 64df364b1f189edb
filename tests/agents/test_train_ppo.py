"""The PPO trainer: league, shaping, checkpoints, and the agent that plays the trained weights."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.ppo.augmented_env import VecSymmetryAugmentation
from agents.ppo.halves_net import HalvesNet
from agents.ppo.league import League, LeagueOptions, compute_results
from agents.ppo.past_self import PastSelf
from agents.ppo.shaping import VecPotentialShaping, potential
from experiments import train_ppo
from genial_env import Rules, play
from genial_env.core.symmetry import random_symmetries
from genial_env.core.tables import tables
from genial_env.envs.sb3 import GenialVecEnv
from genial_env.policies import weight_files
from genial_env.policies.halves import Halves
from genial_env.policies.ppo import KIND, PPO, logits
from genial_env.testing import check_encoding, check_policy
from tests import stopping

SMALL = train_ppo.Args(
    total_timesteps=8 * 64,
    n_envs=8,
    n_steps=8,
    batch_size=32,
    n_epochs=1,
    snapshot_every=2,
    max_past_selves=2,
    eval_every=3,
    eval_deals=2,
    save_every=2,
    backend="numpy",
)


def random_actions(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)


# The trainer


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("uninterrupted")
    train_ppo.main(replace(SMALL, out=out))
    return out


def curve_of(out: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (out / "curve.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name not in ("wall_s", "cpu_s")} for line in lines]


def test_a_run_leaves_what_it_says(uninterrupted: Path) -> None:
    about = json.loads((uninterrupted / "run.json").read_text())
    assert about["totals"]["moves"] == 512
    assert about["finished"] is not None
    curve = curve_of(uninterrupted)
    assert [line["moves"] for line in curve] == [192, 384, 512]
    assert curve[-1]["against"]["denial"]["games"] == 40
    assert len(curve[-1]["win_rates"]) == 4  # two scripted agents, two past selves
    assert np.load(uninterrupted / "evaluations.npz")["timesteps"].tolist() == [192, 384]
    assert (uninterrupted / "best_model.zip").exists()
    assert list((uninterrupted / "tensorboard").iterdir())
    _, metadata = weight_files.read(uninterrupted / "policy.safetensors", KIND)
    assert json.loads(metadata["moves"]) == 512
    assert play([PPO(uninterrupted / "policy.safetensors"), "greedy"], games=2).agents == ["ppo", "greedy"]


@pytest.mark.slow
def test_kill_in_the_middle_loses_nothing(uninterrupted: Path, tmp_path: Path) -> None:
    """A run that was killed after a checkpoint and one more line of the curve ends the same, bit for bit."""
    options = [f"--{name.replace('_', '-')}={value}" for name, value in vars(SMALL).items() if is_number(value)]
    curve = tmp_path / "curve.jsonl"  # has a line more than the checkpoint that was written before it
    child = stopping.start(curve, "experiments.train_ppo", *options, "--backend=numpy", f"--out={tmp_path}")
    child.kill()
    child.wait()
    train_ppo.main(replace(SMALL, out=tmp_path))
    found, expected = (weight_files.read(out / "policy.safetensors", KIND)[0] for out in (tmp_path, uninterrupted))
    assert all(np.array_equal(found[name], expected[name]) for name in expected)
    assert curve_of(tmp_path) == curve_of(uninterrupted)
    evaluations, others = np.load(tmp_path / "evaluations.npz"), np.load(uninterrupted / "evaluations.npz")
    assert all(np.array_equal(evaluations[name], others[name]) for name in others)
    assert len(json.loads((tmp_path / "run.json").read_text())["sittings"]) == 2


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def test_start_from_weights(uninterrupted: Path, tmp_path: Path) -> None:
    args = replace(SMALL, total_timesteps=0, start_from=uninterrupted / "policy.safetensors", out=tmp_path)
    train_ppo.main(args)
    found, expected = (weight_files.read(out / "policy.safetensors", KIND)[0] for out in (tmp_path, uninterrupted))
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


def test_a_finished_run_is_left_as_it_is(uninterrupted: Path) -> None:
    before = {path: path.read_bytes() for path in (uninterrupted / "curve.jsonl", uninterrupted / "policy.safetensors")}
    train_ppo.main(replace(SMALL, out=uninterrupted))
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.slow
@pytest.mark.parametrize(("network", "augment"), [("structured", False), ("plain", True)])
def test_other_networks(network: str, augment: bool, tmp_path: Path) -> None:
    """They train and play against past selves; their weights are not mistaken for those of "ppo"."""
    args = replace(SMALL, network=network, augment=augment, width=8, total_timesteps=5 * 64, out=tmp_path)
    run = train_ppo.main(args)
    assert run.folder == tmp_path
    (line,) = [line for line in curve_of(tmp_path) if line["moves"] == 320]
    assert any(name.startswith("self@") for name in line["win_rates"])
    weight_files.read(tmp_path / "policy.safetensors", f"{KIND}-{network}")
    with pytest.raises(ValueError, match=f"must hold weights of kind 'ppo', not 'ppo-{network}'"):
        PPO(tmp_path / "policy.safetensors")


def test_refused_networks(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be one of halves, structured, plain, not 'deep'"):
        train_ppo.main(replace(SMALL, network="deep", out=tmp_path / "deep"))
    with pytest.raises(ValueError, match="--augment does nothing for the network 'halves'"):
        train_ppo.main(replace(SMALL, augment=True, out=tmp_path / "augmented"))


def test_augmentation_does_not_change_the_games() -> None:
    """Actions chosen for images are mapped back: the images of the same actions play the same games."""
    plain = GenialVecEnv(6, opponents="greedy", encoding="planes", seed=3, illegal_action="raise")
    inner = GenialVecEnv(6, opponents="greedy", encoding="planes", seed=3, illegal_action="raise")
    augmented = VecSymmetryAugmentation(inner, inner.rules, "planes", 5)
    seen, image, rng = plain.reset(), augmented.reset(), np.random.default_rng(0)
    changed = 0
    for step in range(60):
        assert np.array_equal(np.sort(seen["markers"][:, 0], axis=1), np.sort(image["markers"][:, 0], axis=1))
        changed += int((seen["board"] != image["board"]).any())
        masks = augmented.env_method("action_masks")
        assert (masks.sum(axis=1) == plain.action_masks().sum(axis=1)).all()
        if step == 20:
            saved = augmented.get_state()
            augmented.reset()
            augmented.set_state(saved)
        actions = random_actions(masks, rng)
        original = augmented._symmetry.inverse.actions(actions, augmented._rack)
        seen, earned, done, _ = plain.step(original)
        image, earned_too, done_too, _ = augmented.step(actions)
        assert np.array_equal(earned, earned_too)
        assert np.array_equal(done, done_too)
    assert changed > 50


def test_results_by_opponent() -> None:
    info = {"seat": 2, "ranks": np.array([1, 2, 3]), "opponents": ["a", "b"]}
    assert compute_results(info, Rules(3)) == [("a", 0.0), ("b", 0.0)]
    info = {"seat": 1, "ranks": np.array([1, 2, 2]), "opponents": ["a", "b"]}
    assert compute_results(info, Rules(3)) == [("a", 0.5), ("b", 0.0)]
    team = {"seat": 3, "ranks": np.array([2, 1]), "opponents": ["a", "partner", "c"]}
    assert compute_results(team, Rules(4, "2009", "team")) == [("a", 1.0), ("c", 1.0)]


# The league


class Named:
    def __init__(self, moves: int, weights: Any) -> None:
        self.name, self.weights = f"self@{moves}", weights

    def __call__(self, view: Any, random: Any) -> Any:
        raise AssertionError("no games in this test")


def shares_of(league: League) -> dict[str, float]:
    return {name: round(share, 6) for name, share in league.shares.items()}


def test_hard_opponents_are_met_more_often() -> None:
    league = League(LeagueOptions(("greedy", "denial"), 0.4, max_past_selves=2, win_rate_horizon=1), Named)
    assert shares_of(league) == {"greedy": 0.5, "denial": 0.5}
    league.record_result("greedy", 0.7)  # with a horizon of one game the rate is the result
    league.record_result("denial", 0.4)
    league.add_past_self(100, "a")
    assert shares_of(league) == {"greedy": 0.12, "denial": 0.48, "self@100": 0.4}  # 0.3² : 0.6² of 60%
    league.record_result("denial", 1.0)
    league.record_result("self@100", 0.9)
    assert shares_of(league)["denial"] == 0.48, "shares are updated when a past self is added"
    league.add_past_self(200, "b")
    shares = shares_of(league)
    assert shares["denial"] / shares["greedy"] == pytest.approx(0.05 / 0.09, rel=1e-4)  # the floor
    assert shares["self@100"] / shares["self@200"] == pytest.approx(0.05 / 0.25, rel=1e-4)
    league.add_past_self(300, "c")
    assert [opponent.policy.name for opponent in league.past_selves] == ["self@200", "self@300"], (
        "the easiest was removed"
    )


def test_a_league_is_restored() -> None:
    league = League(LeagueOptions(("denial",), past_self_share=0.5), Named)
    league.add_past_self(100, "a")
    league.record_result("self@100", 1.0)
    other = League(LeagueOptions(("denial",), past_self_share=0.5), Named)
    other.set_state(league.get_state())
    assert other.get_state() == league.get_state()
    assert shares_of(other) == shares_of(league)
    assert other.past_selves[0].policy.weights == "a"


def test_refused_options() -> None:
    with pytest.raises(ValueError, match="at least one scripted opponent"):
        League(LeagueOptions(()), Named)
    with pytest.raises(ValueError, match=r"past_self_share must be 0 to 1, not 1\.5"):
        League(LeagueOptions(past_self_share=1.5), Named)
    with pytest.raises(ValueError, match="win_rate_horizon must be at least 1, not 0"):
        League(LeagueOptions(win_rate_horizon=0), Named)
    with pytest.raises(ValueError, match="pfsp_power must be at least 0, not -1"):
        League(LeagueOptions(pfsp_power=-1), Named)


# Shaping


def test_shaping_telescopes() -> None:
    """Over an episode the additions sum to -phi of its first observation, whatever was played."""
    plain = GenialVecEnv(6, opponents="random", encoding=Halves(), seed=3)
    shaped = VecPotentialShaping(GenialVecEnv(6, opponents="random", encoding=Halves(), seed=3), weight=0.7)
    first = shaped.reset()
    assert np.array_equal(plain.reset()["markers"], first["markers"])
    rng, added, ends = np.random.default_rng(0), np.zeros(6), 0
    expected = -0.7 * potential(first["markers"])
    for step in range(60):
        actions = random_actions(plain.action_masks(), rng)
        _, earned, _, _ = plain.step(actions)
        seen, with_shaping, done, _ = shaped.step(actions)
        added += with_shaping - earned
        assert np.allclose(added[done], expected[done], atol=1e-5)
        ends += int(done.sum())
        added[done], expected[done] = 0.0, -0.7 * potential(seen["markers"])[done]
        if step == 20:  # in the middle of games
            saved = shaped.get_state()
            shaped.reset()
            shaped.set_state(saved)
    assert ends >= 6


def test_the_potential_counts_own_markers() -> None:
    markers = np.zeros((3, 2, 6))
    markers[1, 0] = 18
    markers[2, 0, :3] = 18
    markers[:, 1] = 5
    assert potential(markers).tolist() == [0.0, 1.0, 0.25]


# The encoding, the network, the agent


RULES = [Rules(), Rules(3), Rules(4, "2009", "team"), Rules(side=4, colors=4, rack=3)]


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_the_encoding(rules: Rules) -> None:
    check_encoding(Halves(), rules)


def positions(rules: Rules, games: int = 16) -> tuple[GenialVecEnv, dict[str, np.ndarray]]:
    """Return games after some moves, with their observations."""
    sizes = {name: getattr(rules, name) for name in ("side", "colors", "rack")}
    env = GenialVecEnv(games, rules.players, rules.edition, rules.mode, encoding=Halves(), seat="random", **sizes)
    rng, seen = np.random.default_rng(0), env.reset()
    for _ in range(5):
        seen, *_ = env.step(random_actions(env.action_masks(), rng))
    return env, seen


def tensors(arrays: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
    return {name: torch.as_tensor(array).float() for name, array in arrays.items()}


def perturbed_net(rules: Rules) -> HalvesNet:
    """Return a network far from its initialization."""
    torch.manual_seed(0)
    net = HalvesNet(rules, width=5)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return net


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_numpy_plays_what_torch_learned(rules: Rules, tmp_path: Path) -> None:
    net, (_, seen) = perturbed_net(rules), positions(rules)
    with torch.no_grad():
        expected, values = net(tensors(seen))
        assert torch.allclose(values, net.values(tensors(seen)))
    weights = {name: value.numpy() for name, value in net.state_dict().items()}
    found = logits(weights, tables(rules), seen)
    assert found.shape == (16, tables(rules).n_actions)
    assert np.abs(found - expected.numpy()).max() < 1e-4
    weight_files.write(tmp_path / "some.safetensors", KIND, rules, weights)
    agent = PPO(tmp_path / "some.safetensors")
    check_policy(agent, rules)
    check_policy(PPO(tmp_path / "some.safetensors", temperature=2.0), rules)
    check_policy(PastSelf(net, Halves(), "self"), rules)


def test_drawing_by_temperature(tmp_path: Path) -> None:
    """Actions are drawn by the distribution, and never illegal ones."""
    rules = RULES[3]
    net, (env, seen) = perturbed_net(rules), positions(rules, 1)
    weights = {name: value.numpy() for name, value in net.state_dict().items()}
    weight_files.write(tmp_path / "some.safetensors", KIND, rules, weights)
    view = env._games.view().select(np.zeros(20_000, dtype=np.int64))
    random = np.random.default_rng(0).integers(2**64, size=20_000, dtype=np.uint64)
    played = np.bincount(PPO(tmp_path / "some.safetensors", 3.0)(view, random), minlength=tables(rules).n_actions)
    scores = np.where(env.action_masks()[0], logits(weights, tables(rules), seen)[0] / 3, -np.inf)
    expected = np.exp(scores - scores.max())
    assert np.abs(played / 20_000 - expected / expected.sum()).max() < 0.02
    assert not played[~env.action_masks()[0]].any()


def test_a_new_network_plays_as_denial(tmp_path: Path) -> None:
    rules = Rules()
    torch.manual_seed(0)
    weights = {name: value.numpy() for name, value in HalvesNet(rules).state_dict().items()}
    weight_files.write(tmp_path / "new.safetensors", KIND, rules, weights)
    results = play([PPO(tmp_path / "new.safetensors"), "greedy"], rules, 40, seed=1)
    assert (results.ranks[:, 0] == 1).mean() > 0.8


def test_symmetries_are_built_in() -> None:
    """A symmetric position has the same value, and every action has the logit of its image."""
    rules, rng = Rules(), np.random.default_rng(1)
    net, (env, _) = perturbed_net(rules), positions(rules)
    view = env._games.view()
    image = random_symmetries(rules, len(view), rng)
    with torch.no_grad():
        (one, value), (other, other_value) = (net(tensors(Halves().encode(seen))) for seen in (view, image.view(view)))
    assert torch.allclose(value, other_value, atol=1e-4)
    placing = np.flatnonzero(view.slots.any(axis=1))
    for _ in range(20):
        actions = random_actions(view.mask(), rng)
        images = image.actions(actions, view.rack)
        assert torch.allclose(one[placing, actions[placing]], other[placing, images[placing]], atol=1e-3)


def test_refused_weights(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file of weights"):
        PPO("nobody")
    (tmp_path / "broken.safetensors").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="is no file of weights"):
        PPO(tmp_path / "broken.safetensors")
    weights = {name: value.numpy() for name, value in HalvesNet(Rules()).state_dict().items()}
    weight_files.write(tmp_path / "two.safetensors", KIND, Rules(), weights)
    with pytest.raises(ValueError, match="plays mode 'individual' with 2 seats, not mode 'individual' with 3"):
        play([PPO(tmp_path / "two.safetensors")] * 3, Rules(3))
    with pytest.raises(ValueError, match="temperature must be at least 0, not -1"):
        PPO(tmp_path / "two.safetensors", temperature=-1)
    with pytest.raises(ValueError, match="mode 'solo' has none"):
        HalvesNet(Rules(1, "2009", "solo"))
