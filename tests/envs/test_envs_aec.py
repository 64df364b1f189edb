"""The PettingZoo environment beyond the library's own checks: rewards, endings, wrong actions, saving, seeds."""

import copy
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, seed_test

from genial_env import IllegalAction, genial_v0
from genial_env.core.state import Phase
from genial_env.envs.aec import GenialAECEnv
from genial_env.envs.rewards import SCHEMES, worst_reward
from genial_env.records import verify
from tests.positions import same

pytestmark = pytest.mark.usefixtures("each_backend")

SEATED = [{"players": 2}, {"players": 3, "edition": "2009"}, {"players": 4, "edition": "2004", "mode": "team"}]
SMALL = {"players": 3, "side": 4, "colors": 4, "rack": 2}

each_seated = pytest.mark.parametrize("arguments", [*SEATED, SMALL], ids=str)


def choose(env: Any, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])))


def play_to_the_end(env: Any, seed: int = 0) -> dict[str, Any]:
    """Random play; what each agent earned, as `last` told it."""
    rng, earned = np.random.default_rng(seed), {}
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        earned[agent] = earned.get(agent, 0) + reward
        assert not truncated
        env.step(None if terminated else choose(env, rng))
    return earned


# PettingZoo's checks warn of every Dict, its own classics' {"observation", "action_mask"} included.
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be gymnasium.spaces.box")
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array")
@pytest.mark.parametrize("reward", [name for name in SCHEMES if name != "vector"])  # they want a number
def test_pettingzoo_checks_every_reward(reward: str) -> None:
    api_test(genial_v0.env(reward=reward, **SMALL), num_cycles=60)
    seed_test(lambda: genial_v0.env(reward=reward, **SMALL), num_cycles=20)


@each_seated
def test_dense_rewards_add_up_to_the_markers(arguments: dict[str, Any]) -> None:
    for reward in ("lowest", "vector"):
        env = genial_v0.env(reward=reward, **arguments)
        env.reset(seed=1)
        earned = play_to_the_end(env)
        scores = env.unwrapped._game.current.scores[0]
        for seat, agent in enumerate(env.possible_agents):
            track = scores[seat % len(scores)]
            assert np.array_equal(earned[agent], track.min() if reward == "lowest" else track)


def test_a_vector_reward_is_a_vector_from_the_first_to_the_last() -> None:
    env = genial_v0.env(reward="vector", **SMALL)
    env.reset(seed=0)
    rng, seen = np.random.default_rng(0), []
    for _ in env.agent_iter():
        _, reward, terminated, _, _ = env.last()
        seen.append((reward, reward.copy()))
        assert reward.shape == (4,)
        env.step(None if terminated else choose(env, rng))
    assert all(np.array_equal(handed_out, then) for handed_out, then in seen)  # none was written to afterwards


@each_seated
def test_any_agent_may_look_at_any_time(arguments: dict[str, Any]) -> None:
    env = genial_v0.env(**arguments)
    env.reset(seed=2)
    rng = np.random.default_rng(0)
    for _ in env.agent_iter():
        for agent in env.possible_agents:
            observation = env.observe(agent)
            assert env.observation_space(agent).contains(observation)
            to_move = agent == env.agent_selection and not env.terminations[agent]
            assert observation["action_mask"].any() == to_move
        terminated = env.last()[2]
        env.step(None if terminated else choose(env, rng))


@pytest.mark.parametrize("reward", SCHEMES)
@pytest.mark.parametrize("moves", [0, 3])
def test_an_illegal_action_ends_the_game_with_the_worst_reward(reward: str, moves: int) -> None:
    env, rng = genial_v0.env(reward=reward, **SMALL), np.random.default_rng(0)
    env.reset(seed=0)
    for _ in range(moves):
        env.step(choose(env, rng))
    offender, before = env.agent_selection, env.unwrapped._game.current.copy()
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"] == 0)[0]))
    assert all(env.terminations.values())
    assert same(before, env.unwrapped._game.current)
    told = {}
    for agent in env.agent_iter():
        observation, paid, terminated, _, info = env.last()
        assert terminated
        assert not observation["action_mask"].any() or agent == offender
        told[agent] = (paid, info)
        env.step(None)
    assert set(told) == set(env.possible_agents)
    assert np.array_equal(told[offender][0], worst_reward(reward, env.unwrapped.rules))
    assert told.pop(offender)[1]["illegal_action"] >= 0
    assert "illegal action" in env.unwrapped.illegal_reason
    assert not any(info["illegal_action"] >= 0 or any(info["ranks"]) for _, info in told.values())
    env.reset(seed=0)
    assert not any(env.terminations.values())


def test_the_mask_is_that_of_the_position_set() -> None:
    """What an agent was shown before `set_state` does not count afterwards."""
    env = genial_v0.env(**SMALL)
    env.reset(seed=0)
    saved = env.unwrapped.get_state()
    action = choose(env, np.random.default_rng(0))
    env.step(action)
    assert env.last()[0]["action_mask"][action] == 0
    env.unwrapped.set_state(saved)
    env.step(action)
    assert not any(env.terminations.values())


@pytest.mark.parametrize("wrap", [genial_v0.env, genial_v0.raw_env], ids=["env", "raw_env"])
@pytest.mark.parametrize(
    ("action", "error", "said"),
    [
        (None, TypeError, "an action must be a whole number, not None"),
        (1.0, TypeError, r"an action must be a whole number, not 1.0 \(float\)"),
        ("1", TypeError, "an action must be a whole number, not '1'"),
        (True, TypeError, "an action must be a whole number, not True"),
        (np.array([1, 2]), TypeError, "an action must be a whole number"),
        (2**70, TypeError, "an action must be a whole number"),
    ],
    ids=str,
)
def test_what_is_no_action_is_refused(wrap: Any, action: Any, error: type[Exception], said: str) -> None:
    env = wrap()
    env.reset(seed=0)
    before = env.unwrapped._game.current.copy()
    with pytest.raises(error, match=said) as raised:
        env.step(action)
    assert not isinstance(raised.value, IllegalAction)
    assert same(before, env.unwrapped._game.current)
    env.step(np.int64(choose(env, np.random.default_rng(0))))  # numpy's whole numbers are fine


def test_calls_out_of_order() -> None:
    env, raw = genial_v0.env(), genial_v0.raw_env()
    for call in (
        lambda: env.step(0),
        env.last,
        env.state,
        lambda: env.agents,
        lambda: env.agent_selection,
        lambda: env.rewards,
    ):
        with pytest.raises((AttributeError, AssertionError), match="reset"):
            call()
    for call in (lambda: raw.step(0), lambda: raw.observe("player_0"), raw.state):
        with pytest.raises(RuntimeError, match="call reset"):
            call()
    raw.reset(seed=0)
    play_to_the_end(raw)
    with pytest.raises(RuntimeError, match="over for every agent"):
        raw.step(None)
    raw.reset(seed=0)
    while not any(raw.terminations.values()):
        raw.step(choose(raw, np.random.default_rng(0)))
    with pytest.raises(ValueError, match="the only valid action is None"):
        raw.step(0)


def test_a_game_is_its_seed_and_nothing_global() -> None:
    np.random.seed(0)  # noqa: NPY002  the global stream is what this is about
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    one, other = genial_v0.env(record=True), genial_v0.env(record=True)
    for env in (one, other):
        env.reset(seed=7)
        env.action_space("player_0").seed(3)
        play_to_the_end(env)
        env.reset()
        play_to_the_end(env)
        other.action_space("player_0").sample()
    assert one.unwrapped.game_record() == other.unwrapped.game_record()
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_seeds_that_are_none() -> None:
    env = genial_v0.env()
    for seed, error in ((1.5, TypeError), ("7", TypeError), (-1, ValueError), (2**64, ValueError)):
        with pytest.raises(error, match=r"options\['game_seed'\] must"):
            env.reset(options={"game_seed": seed})


def test_copies_with_a_record_go_on_apart() -> None:
    env = GenialAECEnv(record=True, **SMALL)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(5):
        env.step(choose(env, rng))
    saved, other = env.get_state(), copy.deepcopy(env)
    play_to_the_end(env, seed=1)
    play_to_the_end(other, seed=2)
    records = [env.game_record(), other.game_record()]
    assert records[0] != records[1]
    env.set_state(saved)
    assert len(env.game_record()["events"]) < len(records[0]["events"])
    play_to_the_end(env, seed=1)
    assert [*records, env.game_record()] == [*records, records[0]]
    assert list(verify(records)) == [None, None]


def test_a_state_saved_within_a_bonus_chain() -> None:
    env, rng = GenialAECEnv(2, "2009", side=4, colors=2, rack=3, tile_sets=2), np.random.default_rng(0)
    saved = []
    for seed in range(10):
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            if env._game.current.phase[0] != Phase.PLACE:
                saved.append((env.get_state(), copy.deepcopy(env)))
            env.step(choose(env, rng))
    assert {int(other._game.current.phase[0]) for _, other in saved} == {Phase.BONUS, Phase.SWAP}
    for state, other in saved[:20]:
        env.set_state(state)
        assert data_equivalence(env.last(), other.last())
        assert play_to_the_end(env, seed=5) == play_to_the_end(other, seed=5)


def test_a_step_calls_few_functions_before_the_rules() -> None:
    env = genial_v0.raw_env(**SMALL)
    env.reset(seed=0)
    action = int(env.observe("player_0")["action_mask"].argmax())
    files = []

    def note_call(frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and "genial_env" in path.parts:
            files.append(path.name)

    sys.setprofile(note_call)
    try:
        env.step(action)
    finally:
        sys.setprofile(None)
    rules = next(number for number, name in enumerate(files) if name in ("scalar.py", "jit.py"))
    assert files[:rules] == ["aec.py", "game.py", "game.py", files[rules - 1]]
    assert files[rules - 1] in ("engine.py", "one_game.py")
