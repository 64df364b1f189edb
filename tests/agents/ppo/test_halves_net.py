"""The encoding "halves", its network, and the agent that plays its weights."""

from pathlib import Path

import numpy as np
import pytest
import torch

from agents.ppo.halves_net import HalvesNet
from agents.ppo.past_self import PastSelf
from genial_env import Rules, play
from genial_env.core.symmetry import random_symmetries
from genial_env.core.tables import tables
from genial_env.envs.sb3 import GenialVecEnv
from genial_env.policies import weight_files
from genial_env.policies.halves import Halves
from genial_env.policies.halves_net import logits
from genial_env.policies.ppo import KIND, PPO
from genial_env.testing import check_encoding, check_policy
from tests.agents.helpers import random_actions

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


def test_sharper_logits_keep_their_order() -> None:
    rules = Rules()
    net, (_, seen) = perturbed_net(rules), positions(rules, games=4)
    with torch.no_grad():
        before, values = net(tensors(seen))
        net.sharpen(3.0)
        after, same_values = net(tensors(seen))
    assert torch.allclose(after, 3 * before, rtol=1e-4, atol=1e-3)
    assert torch.equal(values, same_values)


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
