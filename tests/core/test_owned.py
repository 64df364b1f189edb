"""Every array that is handed out owns its data: nothing leads from what a seat may know to what it may not.

An array that is a part of another one has that one as its ``base``, and with it what lies beside: other seats' racks.
"""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import genial_env  # noqa: F401  registers the environments
from genial_env import Rules, determinize, genial_v0, view
from genial_env.backends import using
from genial_env.core import kernel
from genial_env.core.engine import make_engine
from genial_env.core.views import View
from genial_env.encodings import ENCODINGS, make_encoding
from genial_env.envs.single import GenialEnv
from genial_env.envs.vector import GenialVectorEnv
from genial_env.table import Table
from tests.positions import random_play

pytestmark = pytest.mark.usefixtures("each_backend")

RULES = [Rules(2, side=4, colors=4, rack=3), Rules(4, "2009", "team", side=5, colors=3, tile_sets=2)]
SOLO = Rules(1, "2004", "solo", side=4, colors=5)


def part_of_others(view: View) -> dict[str, np.ndarray]:
    """An encoding of somebody who hands over parts of larger arrays."""
    sizes = view.rack_sizes.astype(np.int8)
    return {"own": view.scores[:, 0], "rack": view.rack[:, ::-1], "sizes": np.broadcast_to(sizes, (2, *sizes.shape))[0]}


ALL_ENCODINGS = [*ENCODINGS, part_of_others]


def arrays_in(what: Any, name: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """All arrays in nested dicts and sequences, with the way to each."""
    if isinstance(what, np.ndarray):
        yield name, what
        if what.dtype == object:
            yield from arrays_in(what.tolist(), name)
    elif isinstance(what, View):
        yield from ((f"{name}.{f.name}", getattr(what, f.name)) for f in fields(what) if f.name != "rules")
    elif isinstance(what, dict):
        for key, value in what.items():
            yield from arrays_in(value, f"{name}[{key!r}]")
    elif isinstance(what, list | tuple):
        for place, value in enumerate(what):
            yield from arrays_in(value, f"{name}[{place}]")


def assert_owned(what: Any, door: str) -> None:
    found = list(arrays_in(what, door))
    assert found, door
    for name, array in found:
        assert array.base is None, f"{name} {array.dtype} {array.shape} is a part of {type(array.base)}"


def sizes_of(rules: Rules) -> dict[str, Any]:
    return {name: value for name, value in rules.to_dict().items() if name != "players"}


@pytest.mark.parametrize("rules", [*RULES, SOLO], ids=str)
def test_views_and_what_is_made_of_them(rules: Rules) -> None:
    for steps in (0, 5, 14, 30):
        state = random_play(rules, games=8, seed=steps, steps=steps)
        for seat in range(rules.players):
            seen = view(state, seat)
            assert_owned(seen, "view")
            assert_owned(seen.select(np.array([1, 1, 3])), "select")
            assert_owned(seen.mask(), "mask")
            for name in ENCODINGS:
                encoding = make_encoding(name)
                assert_owned(encoding.encode(seen), name)
                assert_owned(encoding.decode(rules, encoding.encode(seen)), f"{name} read back")  # type: ignore[attr-defined]
        assert_owned(view(determinize(view(state), np.random.default_rng(0))), "determinized")
        assert_owned([kernel.legal(state), kernel.legal_placements(state), kernel.legal_slots(state)], "legal")


@pytest.mark.parametrize("rules", [*RULES, SOLO], ids=str)
def test_an_engine(rules: Rules) -> None:
    for steps in (0, 3, 15):
        engine = make_engine(random_play(rules, games=1, seed=steps, steps=steps))
        for seat in range(rules.players):
            assert_owned(engine.view(seat), "engine.view")
            with using(engine.backend):
                assert_owned(engine.view(seat).mask(), "engine.mask")


def test_a_table() -> None:
    table = Table(RULES[0], [None, "greedy"], seed=1)
    assert_owned([table.view(0), table.view(1)], "table")


@pytest.mark.parametrize("encoding", ALL_ENCODINGS)
@pytest.mark.parametrize(("action", "reward"), [("flat", "rank"), ("factored", "vector")])
def test_single_environment(encoding: Any, action: str, reward: str) -> None:
    env = GenialEnv(encoding=encoding, action=action, reward=reward, **sizes_of(RULES[0]))
    told: tuple[Any, ...] = env.reset(seed=0)
    over = False
    while not over:
        assert_owned(told, "env")
        assert_owned(env.action_masks(), "action_masks")
        told = env.step(playable(env.action_masks(), action, env.rules))
        over = told[2]
    assert_owned(told, "env")


def playable(mask: np.ndarray, action: str, rules: Rules) -> Any:
    """A playable action by its mask."""
    if action == "flat":
        return int(mask.argmax())
    choices = rules.rack + 2
    return np.array([mask[:choices].argmax(), mask[choices:].argmax()])


@pytest.mark.parametrize("encoding", ALL_ENCODINGS)
def test_vector_environment(encoding: Any) -> None:
    for action, mode in (("flat", "NextStep"), ("factored", "SameStep")):
        env = GenialVectorEnv(3, encoding=encoding, action=action, autoreset_mode=mode, **sizes_of(RULES[0]))
        told: tuple[Any, ...] = env.reset(seed=0)
        ends = 0
        while ends < 3:
            assert_owned(told, "vector")
            assert_owned(env.action_masks(), "action_masks")
            actions = [playable(mask, action, env.rules) for mask in env.action_masks()]
            told = env.step(np.array(actions))
            ends += int(told[2].sum())
        assert_owned(told, "vector")


def test_illegal_actions_of_the_vector_environment() -> None:
    env = GenialVectorEnv(3, autoreset_mode="SameStep", **sizes_of(RULES[0]))
    env.reset(seed=0)
    assert_owned(env.step(np.full(3, env.single_action_space.n - 1)), "vector")


@pytest.mark.parametrize("name", ["genial_env/Genial-v0", "genial_env/GenialSolo-v0", "genial_env/GenialMO-v0"])
def test_gymnasiums_own_names(name: str) -> None:
    env = gym.make(name, disable_env_checker=True)  # which warns of rewards that are vectors
    observation, info = env.reset(seed=0)
    assert_owned([observation, info], name)
    assert_owned(env.step(info["action_mask"].argmax())[0::4], name)


@pytest.mark.parametrize("encoding", ALL_ENCODINGS)
def test_stable_baselines3(encoding: Any) -> None:
    sb3 = pytest.importorskip("genial_env.envs.sb3", reason="needs stable-baselines3")
    env = sb3.GenialVecEnv(3, encoding=encoding, **sizes_of(RULES[0]))
    assert_owned(env.reset(), "sb3")
    ends = 0
    while ends < 3:
        assert_owned([env.action_masks(), env.env_method("action_masks", indices=[1])], "action_masks")
        env.step_async(env.action_masks().argmax(axis=1))
        told = env.step_wait()
        assert_owned(told, "sb3")
        ends += int(told[2].sum())


@pytest.mark.parametrize("encoding", ALL_ENCODINGS)
def test_pettingzoo(encoding: Any) -> None:
    for rules, reward in zip(RULES, ("vector", "rank"), strict=True):
        arguments: dict[str, Any] = {
            "encoding": encoding,
            "reward": reward,
            "players": rules.players,
            **sizes_of(rules),
        }
        env = genial_v0.env(**arguments)
        env.reset(seed=0)
        for agent in env.agent_iter():
            observation, earned, terminated, truncated, info = env.last()
            assert_owned([observation, earned, info, [env.observe(other) for other in env.possible_agents]], "aec")
            assert_owned([env.rewards, env.state()], "aec")
            env.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
            assert agent in env.possible_agents
        parallel = genial_v0.parallel_env(**arguments)
        told: Any = parallel.reset(seed=0)
        while parallel.agents:
            assert_owned(told, "parallel")
            told = parallel.step({agent: int(told[0][agent]["action_mask"].argmax()) for agent in parallel.agents})
        assert_owned(told, "parallel")


def test_rllib() -> None:
    pytest.importorskip("ray.rllib", reason="needs RLlib, in an environment of its own")
    from genial_env.envs.rllib import GenialMultiAgentEnv

    env = GenialMultiAgentEnv({"encoding": "tokens", **sizes_of(RULES[0])})
    observations, _ = env.reset(seed=0)
    over = False
    while not over:
        assert_owned(observations, "rllib")
        observations, _, ended, _, infos = env.step(
            {a: int(o["action_mask"].argmax()) for a, o in observations.items()}
        )
        over = ended["__all__"]
    assert_owned([observations, infos], "rllib")


def test_openspiel() -> None:
    """OpenSpiel wants the named parts of an observer as parts of its one tensor, which is the observer's own."""
    pyspiel = pytest.importorskip("pyspiel", reason="needs open_spiel")
    from genial_env.envs import openspiel

    game = openspiel.GenialGame({"side": 3, "colors": 3, "rack": 2})
    state, rng = game.new_initial_state(), np.random.default_rng(0)
    observer = game.make_py_observer(pyspiel.IIGObservationType(perfect_recall=True))
    while not state.is_terminal():
        for player in range(2):
            observer.set_from(state, player)
            assert observer.tensor.base is None
            assert all(part.base is observer.tensor for part in observer.dict.values())
        choices = [kind for kind, _ in state.chance_outcomes()] if state.is_chance_node() else state.legal_actions()
        state.apply_action(int(rng.choice(choices)))
