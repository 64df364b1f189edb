"""The encoding AfterstateChoices, its network, and the hidden tiles that its critic reads."""

from pathlib import Path

import numpy as np
import pytest
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO

from agents.ppo.afterstates_net import AfterstatesNet
from agents.ppo.afterstates_policy import AfterstatesPolicy
from agents.ppo.central_env import TILES, VecCentralTiles
from genial_env import Rules
from genial_env.core import kernel
from genial_env.core.tables import tables
from genial_env.core.views import View, view
from genial_env.envs.sb3 import GenialVecEnv
from genial_env.policies.afterstate_choices import AfterstateChoices
from genial_env.policies.halves import choose_likeliest
from genial_env.policies.ppo import PPO, TEMPERATURE, afterstate_logits
from genial_env.policies.value import Value
from genial_env.policies.value_net import ValueNet, Widths
from genial_env.testing import check_encoding
from tests.agents.helpers import random_actions

RULES = [Rules(), Rules(3), Rules(4, "2009", "team"), Rules(side=4, colors=4, rack=3)]

WIDTHS = Widths(6, 5, 4, 7, 3)


def make_net(rules: Rules) -> AfterstatesNet:
    """Return a network far from its initialization."""
    torch.manual_seed(0)
    net = AfterstatesNet(rules, 5, WIDTHS)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return net


def make_env(rules: Rules, encoding: AfterstateChoices, games: int = 12, moves: int = 6) -> VecCentralTiles:
    """Return games after some random moves of the learner."""
    sizes = {name: getattr(rules, name) for name in ("side", "colors", "rack")}
    inner = GenialVecEnv(games, rules.players, rules.edition, rules.mode, encoding=encoding, seat="random", **sizes)
    env, rng = VecCentralTiles(inner), np.random.default_rng(0)
    env.reset()
    for _ in range(moves):
        env.step(random_actions(inner.action_masks(), rng))
    return env


def observe(env: VecCentralTiles) -> dict[str, np.ndarray]:
    return {**env.venv._observe(), TILES: env.venv.count_tiles()}


def tensors(arrays: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
    return {name: torch.as_tensor(array).float() for name, array in arrays.items()}


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_the_encoding(rules: Rules) -> None:
    check_encoding(AfterstateChoices(5), rules)
    check_encoding(AfterstateChoices(5, ValueNet(rules, make_net(rules).get_arrays()), 9), rules)


def test_the_best_candidates_of_the_reference_come_first() -> None:
    rules = Rules()
    net = ValueNet(rules, make_net(rules).get_arrays())
    seen = make_env(rules, AfterstateChoices(2)).venv._games.view()
    logits = afterstate_logits(seen, net, 20)
    best = np.sort(logits, axis=1)[:, ::-1]
    found = AfterstateChoices(4, net, 20).encode(seen)
    assert np.array_equal(np.take_along_axis(logits, found["actions"].astype(int), axis=1), best[:, :4])
    assert np.allclose(found["reference"][:, 0], best[:, 0] * TEMPERATURE)


def test_without_a_decision_there_are_no_candidates() -> None:
    rules = RULES[3]
    state = kernel.deal(rules, np.arange(3, dtype=np.uint64))
    waiting = AfterstateChoices(5).encode(view(state, 1 - state.to_play))
    assert (waiting["actions"] == -1).all()
    for live in kernel.live_games(state):
        kernel.apply(state, random_actions(view(state, rows=live).mask(), np.random.default_rng(0)), live)
    over = AfterstateChoices(5).encode(view(state, np.zeros(3, dtype=np.int64)))
    assert (over["actions"] == -1).all()
    assert not over["features"].any()


def play_to_the_end(rules: Rules, games: int = 4) -> list[View]:
    """Return the positions of all decisions of some random games."""
    state, rng, seen = kernel.deal(rules, np.arange(games, dtype=np.uint64)), np.random.default_rng(1), []
    for live in kernel.live_games(state):
        seen.append(view(state, rows=live))
        kernel.apply(state, random_actions(seen[-1].mask(), rng), live)
    return seen


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_numpy_plays_what_torch_learned(rules: Rules) -> None:
    """The same logits and the same choices, up to those that rounding decides, to the end of the games."""
    net = make_net(rules)
    arrays, most = net.get_arrays(), 6
    agent = PPO(arrays, candidates=most, solve=False)
    decisions, same, ends = 0, 0, 0
    for seen in play_to_the_end(rules):
        observation = AfterstateChoices(most + 2, ValueNet(rules, arrays), most).encode(seen)
        observation[TILES] = np.zeros((len(seen), rules.players + 1, tables(rules).n_kinds), dtype=np.uint8)
        ends += int(observation["over"].sum())
        with torch.no_grad():
            found, values = net(tensors(observation))
            assert torch.allclose(values, net.values(tensors(observation)))
        logits = afterstate_logits(seen, ValueNet(rules, arrays), most)
        candidate = np.isfinite(logits)
        assert (found.numpy()[~candidate] < -1e5).all()
        assert np.abs(found.numpy() - logits)[candidate].max() < 0.1
        assert seen.mask()[candidate].all()
        played = agent(seen, np.zeros(len(seen), dtype=np.uint64))
        wanted = choose_likeliest(found.numpy(), seen.mask())
        assert (found.numpy()[np.arange(len(seen)), wanted] - found.numpy()[np.arange(len(seen)), played]).max() < 0.1
        decisions, same = decisions + len(seen), same + int((played == wanted).sum())
    assert same > 0.97 * decisions
    assert ends > 0


def test_it_starts_as_the_agent_value() -> None:
    """With the arrays of the agent "value", torch and numpy play as that agent does."""
    rules = Rules()
    shipped = Value()._nets.of(rules)
    net = AfterstatesNet(rules, 5, ValueNet.widths_of(shipped.arrays))
    net.load_arrays(shipped.arrays)
    encoding = AfterstateChoices(6, shipped, 32)
    env = make_env(rules, encoding)
    seen, observation = env.venv._games.view(), tensors(observe(env))
    none = np.zeros(len(seen), dtype=np.uint64)
    expected = Value(candidates=32)(seen, none)
    logits, values = net(observation)
    assert np.array_equal(logits.detach().numpy().argmax(axis=1), expected)
    assert np.array_equal(PPO(shipped.arrays, candidates=32)(seen, none), expected)
    assert torch.allclose(values, observation["reference"][:, 0])


def test_only_the_critic_sees_the_hidden_tiles() -> None:
    rules = Rules(3)
    net, env = make_net(rules), make_env(rules, AfterstateChoices(5))
    observation = tensors(observe(env))
    logits, values = net(observation)
    observation[TILES] = observation[TILES].flip(1)
    other_logits, other_values = net(observation)
    assert torch.equal(logits, other_logits)
    assert not torch.allclose(values, other_values)


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_the_hidden_tiles(rules: Rules) -> None:
    env = make_env(rules, AfterstateChoices(4))
    seen, counts = env.venv._games.view(), env.venv.count_tiles()
    assert counts.shape == (12, rules.players + 1, tables(rules).n_kinds)
    own = (seen.rack[..., None] == np.arange(tables(rules).n_kinds)).sum(axis=1)
    assert np.array_equal(counts[:, 0], own)
    assert np.array_equal(counts[:, 1:].sum(axis=1), seen.unseen)
    assert np.array_equal(counts[:, :-1].sum(axis=2), seen.rack_sizes)


def test_the_wrapper_goes_on_where_it_was_saved() -> None:
    env = make_env(RULES[3], AfterstateChoices(4), moves=2)
    space, rng = env.observation_space, np.random.default_rng(2)
    assert isinstance(space, spaces.Dict)
    saved, actions, ends = env.get_state(), random_actions(env.venv.action_masks(), rng), 0
    first, *_ = env.step(actions)
    env.set_state(saved)
    again, *_ = env.step(actions)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    for _ in range(20):
        observation, _, dones, infos = env.step(random_actions(env.venv.action_masks(), rng))
        assert space.contains({name: array[0] for name, array in observation.items()})
        for row in np.flatnonzero(dones):
            ends += 1
            assert space.contains(infos[row]["terminal_observation"])
    assert ends > 0


def test_the_policy_is_saved_with_its_widths(tmp_path: Path) -> None:
    rules = RULES[3]
    env = make_env(rules, AfterstateChoices(4))
    arguments = {"rules_arguments": rules.to_dict(), "width": 5, "widths": tuple(WIDTHS)}
    model = MaskablePPO(AfterstatesPolicy, env, n_steps=4, batch_size=16, policy_kwargs=arguments, device="cpu")
    model.learn(48)
    model.save(tmp_path / "model.zip")
    read, observation = MaskablePPO.load(tmp_path / "model.zip", device="cpu"), observe(env)
    masks = env.venv.action_masks()
    actions = [each.predict(observation, deterministic=True, action_masks=masks)[0] for each in (model, read)]
    assert np.array_equal(*actions)
    tensors = {name: torch.as_tensor(array) for name, array in observation.items()}
    chances = model.policy.get_distribution(tensors, masks)._softmax.probs
    candidate = np.zeros(masks.shape, dtype=bool)
    for row, some in enumerate(observation["actions"]):
        candidate[row, some[some >= 0]] = True
    assert not chances[torch.as_tensor(~candidate)].any()
    assert (chances[torch.as_tensor(candidate)] > 0).any()


def test_refused_networks() -> None:
    with pytest.raises(ValueError, match="mode 'solo' has none"):
        AfterstatesNet(Rules(1, "2009", "solo"))
