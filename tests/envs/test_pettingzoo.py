"""PettingZoo: every check that the library offers to outsiders, on both environments; the parallel environment beside
the AEC one; the state for centralized critics; the registry.

Left out are ``bombardment_test``, which takes what ``step`` returns for an observation (and so fails on PettingZoo's
own example environment), and ``manual_control_test``, which is for environments that are played by keyboard.
"""

import copy
import importlib
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import (
    api_test,
    max_cycles_test,
    parallel_api_test,
    parallel_seed_test,
    performance_benchmark,
    render_test,
    seed_test,
    state_test,
)
from pettingzoo.test import test_save_obs as save_obs_test  # pytest would take it for one of its own
from pettingzoo.utils.conversions import aec_to_parallel, parallel_to_aec, turn_based_aec_to_parallel

from genial_env import IllegalAction, Rules, State, genial_v0, ranks
from genial_env.core.state import FREE, Phase
from genial_env.core.tables import tables
from genial_env.encodings import ENCODINGS
from genial_env.envs.central import central_fields, central_length, central_state
from genial_env.envs.rewards import SCHEMES, worst_reward
from genial_env.records import verify
from tests.paths import ROOT
from tests.positions import every, every_rules, random_play, same

SEATED = [
    *({"players": players, "edition": edition} for players in (2, 3, 4) for edition in ("2004", "2009", "2025")),
    *({"players": 4, "edition": edition, "mode": "team"} for edition in ("2004", "2009")),
]
SMALL = {"players": 3, "side": 4, "colors": 4, "rack": 2}

each_seated = every("arguments", [*SEATED, SMALL], [SEATED[2], SEATED[4], SEATED[9], SMALL])
each_form = pytest.mark.parametrize("form", [genial_v0.env, genial_v0.parallel_env], ids=["aec", "parallel"])

# The checks warn of every Dict, PettingZoo's own classics' {"observation", "action_mask"} included.
warns_of_dicts = [
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be gymnasium.spaces.box"),
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
]


def warned(test: Callable[..., None]) -> Callable[..., None]:
    for mark in warns_of_dicts:
        test = mark(test)
    return test


def converted(**arguments: Any) -> Any:
    """The parallel environment by PettingZoo's conversion to AEC."""
    return parallel_to_aec(genial_v0.parallel_env(**arguments))


class Playable:
    """An agent's action space that samples the playable actions, for checks that know no masks."""

    def __init__(self, env: Any, agent: str) -> None:
        self._env, self._agent, self._space = env, agent, env.unwrapped.action_space(agent)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._space, name)

    def sample(self) -> int:
        return int(self._space.sample(self._env.unwrapped.observe(self._agent)["action_mask"]))


def sampling_playable(env: Any) -> Any:
    """In place: let an environment's action spaces sample playable actions; its streams begin with seeds."""
    env.reset(seed=0)
    for seed, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(seed)
    env.action_space = lambda agent: Playable(env, agent)
    return env


def choose(env: Any, agent: str, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(env.unwrapped.observe(agent)["action_mask"])))


def play_parallel(env: Any, rng: np.random.Generator, infos: dict[str, Any], steps: int = 10_000) -> list[Any]:
    """Random play of the agent that the infos name; everything that the steps returned."""
    told = []
    while env.agents and len(told) < steps:
        mover = env.possible_agents[infos[env.agents[0]]["to_play"]]
        told.append(env.step({mover: choose(env, mover, rng)}))
        infos = told[-1][4]
    return told


# PettingZoo's checks


@warned
@pytest.mark.parametrize("make", [genial_v0.env, genial_v0.raw_env], ids=["env", "raw_env"])
@each_seated
def test_api_and_seeds(arguments: dict[str, Any], make: Callable[..., Any]) -> None:
    api_test(make(max_cycles=8, **arguments), num_cycles=20)
    seed_test(lambda: make(**arguments), num_cycles=10)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("make", [genial_v0.parallel_env, genial_v0.raw_parallel_env], ids=["env", "raw_env"])
@each_seated
def test_parallel_api(arguments: dict[str, Any], make: Callable[..., Any], encoding: str) -> None:
    parallel_api_test(make(encoding=encoding, **arguments), num_cycles=120)  # whole games


@each_seated
def test_parallel_seeds(arguments: dict[str, Any]) -> None:
    """Knowing no masks, the check mostly plays what is illegal; so once more with playable actions."""
    parallel_seed_test(lambda: genial_v0.parallel_env(**arguments), num_cycles=10)
    parallel_seed_test(lambda: sampling_playable(genial_v0.parallel_env(**arguments)), num_cycles=10)


@pytest.mark.parametrize("arguments", SEATED, ids=str)
def test_max_cycles(arguments: dict[str, Any]) -> None:
    """It expects every agent to step once a cycle, as in the first turns of the standard game: without swaps."""
    forms = {
        name: lambda max_cycles, make=make: sampling_playable(make(max_cycles=max_cycles, **arguments))
        for name, make in (("env", genial_v0.env), ("parallel_env", genial_v0.parallel_env))
    }
    max_cycles_test(SimpleNamespace(**forms))


@pytest.mark.parametrize("make", [genial_v0.env, genial_v0.raw_env, converted], ids=["env", "raw_env", "converted"])
@pytest.mark.parametrize("arguments", [SEATED[2], SEATED[9], SMALL], ids=str)
def test_rendering(arguments: dict[str, Any], make: Callable[..., Any]) -> None:
    """That of the parallel environment too, by way of its conversion. All rules' drawings: test_render.py."""
    said = {"ansi": lambda text: "lays a tile" in text or "swap" in text or "bonus" in text}
    render_test(lambda render_mode: make(render_mode=render_mode, **arguments), custom_tests=said)


@each_seated
def test_performance_benchmark(arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that passes the benchmark's five seconds in fifty looks: it is to run through, not to measure."""
    looks = count()
    module = importlib.import_module("pettingzoo.test.performance_benchmark")
    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: next(looks) / 10))
    random.seed(0)
    env = genial_v0.env(**arguments)
    env.reset(seed=0)
    performance_benchmark(env)


@each_seated
def test_saving_observations(arguments: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """As with all observations that are no pictures, the check leaves it at saying so."""
    save_obs_test(genial_v0.env(**arguments))
    assert "did not save the observations:  Observations must be Box" in capsys.readouterr().out


@each_seated
def test_state_check(arguments: dict[str, Any]) -> None:
    state_test(genial_v0.env(**arguments), genial_v0.parallel_env(**arguments))
    playable = [sampling_playable(form(**arguments)) for form in (genial_v0.env, genial_v0.parallel_env)]
    state_test(*playable, num_cycles=20)


# The parallel environment


@each_seated
def test_both_environments_play_the_same_game(arguments: dict[str, Any]) -> None:
    aec, parallel = genial_v0.env(record=True, **arguments), genial_v0.parallel_env(record=True, **arguments)
    other = turn_based_aec_to_parallel(genial_v0.env(**arguments))
    aec.reset(seed=3)
    (observations, infos), _ = parallel.reset(seed=3), other.reset(seed=3)
    rng, moves = np.random.default_rng(0), 0
    while parallel.agents:
        mover = aec.agent_selection
        assert data_equivalence(infos, aec.infos)
        assert all(info["to_play"] == aec.possible_agents.index(mover) for info in infos.values())
        assert not any(any(info["ranks"]) for info in infos.values())
        assert all(data_equivalence(observations[agent], aec.observe(agent)) for agent in aec.agents)
        assert [agent for agent in observations if observations[agent]["action_mask"].any()] == [mover]
        actions = {mover: choose(aec, mover, rng)}
        aec.step(actions[mover])
        step = parallel.step(actions)
        observations, rewards, terminations, truncations, infos = step
        assert data_equivalence(other.step(actions)[:4], step[:4])
        assert (rewards, terminations, truncations) == (aec.rewards, aec.terminations, aec.truncations)
        assert np.array_equal(parallel.state(), aec.state())
        moves += 1
    assert data_equivalence(infos, aec.infos)
    assert all(info["to_play"] == -1 and (info["ranks"] == ranks(info["scores"])).all() for info in infos.values())
    assert all(terminations.values())
    assert moves > 10
    assert aec.game_record() == parallel.game_record()
    assert list(verify([parallel.game_record()])) == [None]


@pytest.mark.parametrize("reward", SCHEMES)
def test_every_agent_is_rewarded_at_every_step(reward: str) -> None:
    env = genial_v0.parallel_env(reward=reward, **SMALL)
    told = play_parallel(env, np.random.default_rng(0), env.reset(seed=1)[1])
    paid = {agent: sum(step[1][agent] for step in told) for agent in env.possible_agents}
    ends = told[-1][4]["player_0"]
    for seat, agent in enumerate(env.possible_agents):
        markers = np.array(ends["scores"])
        others = np.delete(markers.min(axis=1), seat).max()
        expected = {"lowest": markers[seat].min(), "vector": markers[seat], "margin": markers[seat].min() - others}
        if reward != "rank":
            assert np.array_equal(paid[agent], expected[reward])
    assert np.isclose(sum(paid.values()), 0).all() == (reward == "rank")


def test_actions_of_those_not_to_play_are_ignored() -> None:
    envs = [genial_v0.parallel_env(**SMALL) for _ in range(5)]
    for env in envs:
        infos = env.reset(seed=0)[1]
    rng = np.random.default_rng(0)
    while envs[0].agents:
        mover = envs[0].possible_agents[infos["player_0"]["to_play"]]
        played = {mover: choose(envs[0], mover, rng)}
        others = [agent for agent in envs[0].agents if agent != mover]
        steps = [envs[0].step(played)]
        steps += [
            env.step({**dict.fromkeys(others, ignored), **played})
            for env, ignored in zip(envs[1:], (None, 0, played[mover], "anything"), strict=True)
        ]
        assert all(data_equivalence(steps[0], step) for step in steps)
        infos = steps[0][4]


@pytest.mark.parametrize("make", [genial_v0.parallel_env, genial_v0.raw_parallel_env], ids=["env", "raw_env"])
@pytest.mark.parametrize(
    ("actions", "error", "said"),
    [
        ({}, ValueError, r"player_0 is to play, and there is no action of it: there are \[\]"),
        ({"player_1": 1}, ValueError, r"there are \['player_1'\]"),
        ({"player_0": 1, "player_9": 1}, ValueError, "unknown agent 'player_9': the agents are player_0, player_1"),
        ([1, 1], TypeError, r"actions must be a dict by agent, not \[1, 1\] \(list\)"),
        ({"player_0": None}, TypeError, "an action must be a whole number, not None"),
        ({"player_0": 1.0}, TypeError, "an action must be a whole number, not 1.0"),
        ({"player_0": 2**70}, TypeError, "an action must be a whole number"),
    ],
    ids=str,
)
def test_what_is_no_action_of_the_mover_is_refused(
    make: Callable[..., Any], actions: Any, error: type[Exception], said: str
) -> None:
    env = make()
    env.reset(seed=0)
    before = env.unwrapped._game.current.copy()
    with pytest.raises(error, match=said) as raised:
        env.step(actions)
    assert not isinstance(raised.value, IllegalAction)
    assert same(before, env.unwrapped._game.current)
    env.step({"player_0": np.int64(choose(env, "player_0", np.random.default_rng(0)))})


def test_parallel_calls_out_of_order() -> None:
    for env in (genial_v0.parallel_env(), genial_v0.raw_parallel_env()):
        assert env.agents == []
        for call in (lambda env=env: env.step({"player_0": 0}), env.state):
            with pytest.raises(RuntimeError, match="call reset"):
                call()
        play_parallel(env, np.random.default_rng(0), env.reset(seed=0)[1])
        assert env.agents == []
        with pytest.raises(RuntimeError, match="over for every agent"):
            env.step({})
        env.reset()
        assert env.agents == env.possible_agents


@pytest.mark.parametrize("reward", SCHEMES)
@pytest.mark.parametrize("moves", [0, 4])
def test_an_illegal_action_of_the_mover_ends_the_game(reward: str, moves: int) -> None:
    env, raw = genial_v0.parallel_env(reward=reward, **SMALL), genial_v0.raw_parallel_env(reward=reward, **SMALL)
    for each in (env, raw):
        play_parallel(each, np.random.default_rng(0), each.reset(seed=0)[1], moves)
    before, offender = raw._game.current.copy(), raw.possible_agents[raw._game.to_play]
    illegal = {offender: int(np.flatnonzero(raw.observe(offender)["action_mask"] == 0)[0])}
    with pytest.raises(IllegalAction, match="illegal action"):
        raw.step(illegal)
    assert same(before, raw._game.current)
    assert raw.agents == raw.possible_agents
    _, rewards, terminations, truncations, infos = env.step(illegal)
    assert env.agents == []
    assert same(before, env.unwrapped._game.current)
    assert terminations == dict.fromkeys(env.possible_agents, True)
    assert not any(truncations.values())
    assert np.array_equal(rewards.pop(offender), worst_reward(reward, raw.rules))
    assert not np.any(list(rewards.values()))
    assert infos.pop(offender)["illegal_action"] == illegal[offender]
    assert "illegal action" in env.unwrapped.illegal_reason
    assert all(info["to_play"] == -1 and not any(info["ranks"]) for info in infos.values())
    assert all(info["illegal_action"] == -1 for info in infos.values())


@pytest.mark.parametrize("make", [genial_v0.parallel_env, genial_v0.raw_parallel_env], ids=["env", "raw_env"])
@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"]
)
@pytest.mark.parametrize("steps", [0, 1, 17])
def test_parallel_copies_go_on_alike_and_apart(
    make: Callable[..., Any], copied: Callable[[Any], Any], steps: int
) -> None:
    env = make(record=True)
    copied(env).reset(seed=1)  # before the first reset, too
    infos = env.reset(seed=2)[1]
    infos = [infos, *(step[4] for step in play_parallel(env, np.random.default_rng(0), infos, steps))][-1]
    one, other, saved = copied(env), copied(env), env.get_state()
    ends = [play_parallel(each, np.random.default_rng(1), infos) for each in (one, other)]
    assert data_equivalence(*ends)
    assert one.game_record() == other.game_record()
    assert env.unwrapped._game.current.decisions[0] == steps
    again = make(record=True)
    for _ in range(2):  # what was saved stays as it is
        again.set_state(saved)
        assert data_equivalence(play_parallel(again, np.random.default_rng(1), infos), ends[0])
    assert data_equivalence(again.reset(), one.reset())


def test_a_parallel_game_is_its_seed() -> None:
    one, other = genial_v0.parallel_env(record=True), genial_v0.parallel_env(record=True)
    for options in (None, {"game_seed": 5}, None):
        for env in (one, other):
            infos = env.reset(seed=7 if options is None else None, options=options)[1]
            play_parallel(env, np.random.default_rng(0), infos)
        assert one.game_record() == other.game_record()
        assert options is None or one.game_record()["seed"] == 5


def test_parallel_rendering(capsys: pytest.CaptureFixture[str]) -> None:
    for mode in (None, "ansi", "human"):
        env = genial_v0.parallel_env(render_mode=mode)
        env.reset(seed=0)
        shown = env.render()
        assert ("seat 0 lays a tile" in (shown or "")) == (mode == "ansi")
        assert ("seat 0 lays a tile" in capsys.readouterr().out) == (mode == "human")
        env.close()


# PettingZoo's conversions


def test_aec_to_parallel_refuses() -> None:
    for make in (genial_v0.env, genial_v0.raw_env):
        with pytest.raises(AssertionError, match="not generally safe"):
            aec_to_parallel(make())


# The actions of those not to play are asked for too, by an empty mask.
@pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros")
@warned
@each_seated
def test_parallel_to_aec_is_an_aec_environment(arguments: dict[str, Any]) -> None:
    api_test(converted(**arguments), num_cycles=20)
    seed_test(lambda: converted(**arguments), num_cycles=10)
    env = converted(**SMALL)
    assert aec_to_parallel(env) is env.env.env


# Cycles


def play_through(env: Any) -> dict[str, Any]:
    """Random play of either environment till all is over: what it says last, and what every agent earned in all."""
    rng, earned = np.random.default_rng(0), dict.fromkeys(env.possible_agents, 0.0)
    if isinstance(env, pettingzoo.ParallelEnv):
        told = play_parallel(env, rng, env.reset(seed=0)[1])
        earned = {agent: sum(step[1][agent] for step in told) for agent in earned}
        ends = told[-1][2:]
    else:
        env.reset(seed=0)
        ends = [{}, {}, {}]
        for agent in env.agent_iter():
            _, reward, *said = env.last()
            earned[agent] += reward
            for end, part in zip(ends, said, strict=True):
                end[agent] = part
            env.step(None if said[0] or said[1] else choose(env, agent, rng))
    assert env.agents == []
    return dict(zip(("terminated", "truncated", "infos"), ends, strict=True), earned=earned)


@pytest.mark.parametrize("cycles", [1, 2, 4])
@pytest.mark.parametrize("reward", ["rank", "lowest"])
@each_form
def test_max_cycles_truncates(form: Callable[..., Any], reward: str, cycles: int) -> None:
    env = form(reward=reward, max_cycles=cycles, **SMALL)
    assert env.max_cycles == cycles
    for _ in range(2):  # in every game anew
        played = play_through(env)
        game = env.unwrapped._game.current
        assert game.decisions[0] == cycles * (3 if form is genial_v0.env else 1)
        assert played["terminated"] == dict.fromkeys(env.possible_agents, False)
        assert played["truncated"] == dict.fromkeys(env.possible_agents, True)
        assert all(info["to_play"] == -1 and not any(info["ranks"]) for info in played["infos"].values())
        lowest = game.scores[0].min(axis=1).tolist()
        assert list(played["earned"].values()) == (lowest if reward == "lowest" else [0, 0, 0])


@each_form
def test_a_game_over_in_its_last_cycle_is_not_truncated(form: Callable[..., Any]) -> None:
    env = form(**SMALL)
    endless = play_through(env)
    decisions, cycle = int(env.unwrapped._game.current.decisions[0]), 3 if form is genial_v0.env else 1
    for max_cycles in (-(-decisions // cycle), 10_000):
        assert data_equivalence(play_through(form(max_cycles=max_cycles, **SMALL)), endless)
    assert all(endless["terminated"].values())
    assert not any(endless["truncated"].values())
    assert all(play_through(form(max_cycles=(decisions - 1) // cycle, **SMALL))["truncated"].values())


@each_form
def test_cycles_that_are_none(form: Callable[..., Any]) -> None:
    for max_cycles, error in ((0, ValueError), (-1, ValueError), (1.0, TypeError), (True, TypeError), ("4", TypeError)):
        with pytest.raises(error, match="max_cycles must be"):
            form(max_cycles=max_cycles)


# The state for centralized critics


@every_rules
def test_the_central_state_is_the_whole_state(rules: Rules) -> None:
    """Read back by its documentation, it is the arrays of the state."""
    games, t = 6, tables(rules)
    phases = set()
    for steps in (0, 3, 13, 1000):
        state = random_play(rules, games=games, seed=steps, steps=steps)
        coded = central_state(state)
        assert coded.dtype == np.float32
        assert coded.shape == (games, central_length(rules))
        assert coded.min() >= 0
        assert coded.max() <= 1
        parts, start = {}, 0
        for name, field in central_fields(rules).items():
            size = int(np.prod(field.shape))
            parts[name] = np.rint(coded[:, start : start + size] * field.high).astype(int).reshape(games, *field.shape)
            start += size
        assert start == coded.shape[1]
        assert (parts["board"].sum(axis=2) == 1).all()
        assert (parts["board"].argmax(axis=2) + FREE == state.board).all()
        for name, array in (("points", state.points), ("bag", state.bag), ("has_placed", state.has_placed)):
            assert (parts[name] == array).all()
        empty = parts["racks"].sum(axis=(3, 4)) == 0
        assert (
            np.where(empty, -1, t.kind_of[tuple(np.moveaxis(parts["racks"].argmax(axis=4), 3, 0))]) == state.racks
        ).all()
        assert (parts["markers"] == state.scores).all()
        for name, array in (("to_play", state.to_play), ("phase", state.phase)):
            assert (parts[name].sum(axis=1) == 1).all()
            assert (parts[name].argmax(axis=1) == array).all()
        assert (parts["pending_bonus"][:, 0] == state.pending_bonus).all()
        phases |= set(state.phase.tolist())
    assert {Phase.PLACE, Phase.OVER} <= phases


def test_the_central_state_of_a_bonus_and_of_each_game_alone() -> None:
    rules = Rules(2, "2009", side=4, colors=2, rack=3, tile_sets=2)
    seen = set()
    for steps in range(1, 30):
        state = random_play(rules, games=20, seed=0, steps=steps)
        coded = central_state(state)
        phase = coded[:, -5:-1].argmax(axis=1)
        assert (phase == state.phase).all()
        assert (np.rint(coded[:, -1] * 2 * rules.rack) == state.pending_bonus).all()
        seen |= set(zip(phase.tolist(), state.pending_bonus.tolist(), strict=True))
        game = State(rules, **{name: array[7:8] for name, array in state.arrays().items()})
        assert np.array_equal(central_state(game)[0], coded[7])
    assert {phase for phase, _ in seen} == set(Phase)
    assert max(pending_bonus for _, pending_bonus in seen) >= 1


@pytest.mark.parametrize(
    ("rules", "length"),
    [(Rules(2), 1369), (Rules(3), 1917), (Rules(4), 2543), (Rules(4, "2004", "team"), 2531)],
    ids=str,
)
def test_the_length_of_the_central_state_is_as_documented(rules: Rules, length: int) -> None:
    assert central_length(rules) == length
    env = genial_v0.env(players=rules.players, edition=rules.edition, mode=rules.mode)
    assert env.state_space.shape == (length,)


@each_form
@each_seated
def test_the_state_is_everybodys_and_a_copy(form: Callable[..., Any], arguments: dict[str, Any]) -> None:
    env = form(**arguments)
    env.reset(seed=0)
    state = env.state()
    assert env.state_space.contains(state)
    assert np.array_equal(state, central_state(env.unwrapped._game.current)[0])
    state[:] = 0
    assert env.state().any()


# The registry

registry = pytest.mark.skipif(not hasattr(pettingzoo, "register"), reason="this PettingZoo has no registry")


@registry
@pytest.mark.parametrize("name", ["genial_env/genial_v0", "genial_env/genial-v0", "genial_env/genial"])
def test_made_by_the_registry(name: str) -> None:
    aec = pettingzoo.make("aec", name, players=3, edition="2009", max_cycles=5)
    assert type(aec) is type(genial_v0.env())
    assert (aec.rules, aec.max_cycles) == (Rules(3, "2009"), 5)
    parallel = pettingzoo.make("parallel", name, reward="lowest", **SMALL)
    assert type(parallel) is type(genial_v0.parallel_env())
    assert (parallel.rules, parallel.max_cycles) == (Rules(**SMALL), None)
    assert pettingzoo.make("aec", name).rules == Rules()


def test_a_pettingzoo_without_a_registry_will_do() -> None:
    """Versions before it had none."""
    code = (
        "import pettingzoo\nfor name in ('register', 'make', 'spec'): vars(pettingzoo).pop(name, None)\n"
        "from genial_env import genial_v0\nenv = genial_v0.parallel_env()\n"
        "print(env, env.reset(seed=0)[1]['player_1']['to_play'])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ran.stdout == "genial_v0 0\n"


def test_all_forms_call_themselves_by_the_module() -> None:
    for make in (genial_v0.env, genial_v0.raw_env, genial_v0.parallel_env, genial_v0.raw_parallel_env):
        assert str(make()) == "genial_v0"
    assert sorted(genial_v0.__all__) == genial_v0.__all__
