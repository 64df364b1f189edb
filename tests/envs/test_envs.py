"""The environments: the libraries' own checks, and what users of others complain of."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from pettingzoo.test import api_test, render_test, seed_test
from stable_baselines3.common.env_checker import check_env as sb3_check_env
from stable_baselines3.common.vec_env import DummyVecEnv

from genial_env import IllegalAction, Rules, genial_v0, play, ranks
from genial_env.core import kernel
from genial_env.core.ranking import rank_utility
from genial_env.core.tables import tables
from genial_env.encodings import ENCODINGS
from genial_env.envs.aec import GenialAECEnv
from genial_env.envs.rewards import check_scheme, compute_rewards
from genial_env.envs.single import GenialEnv, GenialSoloEnv
from genial_env.records import verify
from tests.positions import every

pytestmark = pytest.mark.usefixtures("each_backend")

SEATED = [
    *({"players": players, "edition": edition} for players in (2, 3, 4) for edition in ("2004", "2009", "2025")),
    *({"players": 4, "edition": edition, "mode": "team"} for edition in ("2004", "2009")),
    {"players": 2, "side": 4, "colors": 3, "rack": 3, "tile_sets": 2},
]

each_seated = every("arguments", SEATED, [SEATED[2], SEATED[4], SEATED[9], SEATED[11]])


def masked(space: gym.spaces.Discrete, mask: np.ndarray) -> int:
    return int(space.sample(mask))


def play_aec(env: Any, steps: int = 10_000) -> dict[str, float]:
    """Play at random to the end; what every agent earned in all."""
    earned, rng = dict.fromkeys(env.possible_agents, 0.0), np.random.default_rng(0)
    for agent in env.agent_iter(steps):
        observation, reward, terminated, _, _ = env.last()
        earned[agent] += reward
        env.step(None if terminated else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    return earned


# PettingZoo


# PettingZoo's check warns of every Dict, its own classics' {"observation", "action_mask"} included.
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be gymnasium.spaces.box")
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array")
@pytest.mark.parametrize("encoding", ENCODINGS)
@each_seated
def test_pettingzoo_checks(arguments: dict[str, Any], encoding: str) -> None:
    api_test(genial_v0.env(encoding=encoding, **arguments), num_cycles=120)
    seed_test(lambda: genial_v0.env(encoding=encoding, **arguments), num_cycles=20)


def test_pettingzoo_render_check() -> None:
    render_test(genial_v0.env)
    env = genial_v0.env(render_mode="ansi")
    env.reset(seed=0)
    assert "seat 0 lays a tile" in env.render()


@each_seated
def test_every_agent_gets_its_reward_observation_and_ranks(arguments: dict[str, Any]) -> None:
    env = GenialAECEnv(**arguments)
    env.reset(seed=5)
    earned, told = dict.fromkeys(env.possible_agents, 0.0), {}
    for agent in env.agent_iter():
        observation, reward, terminated, _, info = env.last()
        earned[agent] += reward
        if terminated:
            told[agent] = info["ranks"]
            assert observation["action_mask"].sum() == 0
        env.step(None if terminated else masked(env.action_space(agent), observation["action_mask"]))
    assert set(told) == set(env.possible_agents)
    utility = rank_utility(np.array(told["player_0"]))
    assert list(earned.values()) == [utility[seat % len(utility)] for seat in range(env.rules.players)]
    assert abs(sum(earned.values())) < 1e-9


def test_bonus_turns_stay_with_the_agent_and_only_the_mover_has_a_mask() -> None:
    env = GenialAECEnv(rack=2)
    stayed = 0
    for seed in range(5):
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            agent = env.agent_selection
            for other in env.agents:
                mask = env.observe(other)["action_mask"]
                assert (mask.sum() > 0) == (other == agent)
            env.step(masked(env.action_space(agent), env.observe(agent)["action_mask"]))
            stayed += env.agent_selection == agent and not any(env.terminations.values())
    assert stayed > 0  # swaps, decided in a step of their own


def test_an_illegal_action_ends_the_game_for_the_offender() -> None:
    env = genial_v0.env()
    env.reset(seed=0)
    env.step(0)
    assert env.rewards == {"player_0": -1.0, "player_1": 0}
    raw = genial_v0.raw_env()
    raw.reset(seed=0)
    with pytest.raises(IllegalAction, match="illegal action 0"):
        raw.step(0)


def test_pettingzoo_refuses() -> None:
    with pytest.raises(ValueError, match="2 to 4 players; solo is gymnasium's"):
        GenialAECEnv(1, "2004", "solo")
    with pytest.raises(ValueError, match="unknown render mode 'rgb'"):
        GenialAECEnv(render_mode="rgb")
    with pytest.raises(ValueError, match="unknown encoding 'plane': the encodings are planes, flat"):
        GenialAECEnv(encoding="plane")
    with pytest.raises(ValueError, match="unknown reward 'score'"):
        GenialAECEnv(reward="score")
    raw = GenialAECEnv()
    raw.reset(seed=0)
    for action, error in ((None, TypeError), (1.5, TypeError), (2882, IllegalAction), (-1, IllegalAction)):
        with pytest.raises(error):
            raw.step(action)  # type: ignore[arg-type]


def test_the_game_of_a_seed_is_the_one_that_play_deals() -> None:
    results = play(["random", "random"], games=1, seed=3, record=True)
    env = GenialAECEnv(record=True)
    env.reset(seed=1, options={"game_seed": int(results.seeds[0])})
    assert env.game_record()["deal"] == (results.records or [{}])[0]["deal"]
    play_aec(env)
    record = env.game_record()
    assert record["agents"] == ["player_0", "player_1"]
    assert list(verify([record])) == [None]
    with pytest.raises(RuntimeError, match="no record is kept"):
        GenialAECEnv().game_record()


@pytest.mark.parametrize("wrap", [GenialAECEnv, genial_v0.env], ids=["raw", "wrapped"])
@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"]
)
@pytest.mark.parametrize("steps", [0, 1, 17])
def test_aec_copies_go_on_alike_and_apart(wrap: Callable[[], Any], copied: Callable[[Any], Any], steps: int) -> None:
    env = wrap()
    copied(env).reset(seed=1)  # before the first reset, too
    env.reset(seed=2)
    play_aec(env, steps)
    one, other = copied(env), copied(env)
    assert play_aec(one) == play_aec(other)
    assert env.unwrapped._game.current.decisions[0] == steps
    again = wrap()
    again.reset(seed=2)
    again.unwrapped.set_state(env.unwrapped.get_state())
    assert data_equivalence(again.last(), env.last())


def test_resets_without_a_seed_go_on_in_the_stream() -> None:
    one, other = GenialAECEnv(), GenialAECEnv()
    deals = []
    for env in (one, other):
        env.reset(seed=9)
        env.reset()
        deals.append(env._game.current.racks.copy())
    assert (deals[0] == deals[1]).all()
    one.reset()
    assert (one._game.current.racks != deals[0]).any()


# Gymnasium


def not_a_picture(test: Callable[..., None]) -> Callable[..., None]:
    """SB3's check takes any array of three axes for a picture, and says what a picture should be; planes are none."""
    for said in (
        "It seems that your observation space .* is an image",
        "Treating image space as channels-last",
        "The minimal resolution for an image is 36x36",
        "Your observation .* has an unconventional shape",
    ):
        test = pytest.mark.filterwarnings(f"ignore:{said}")(test)
    return test


@not_a_picture
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    "arguments", [*SEATED[::4], {"players": 3, "opponents": ["greedy", "random"], "seat": "random"}], ids=str
)
def test_gymnasium_and_sb3_checks(arguments: dict[str, Any], encoding: str) -> None:
    check_env(gym.make("genial_env/Genial-v0", encoding=encoding, **arguments).unwrapped)
    sb3_check_env(GenialEnv(encoding=encoding, **arguments))


@not_a_picture
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("edition", ["2004", "2009"])
def test_solo_checks(edition: str, encoding: str) -> None:
    check_env(gym.make("genial_env/GenialSolo-v0", edition=edition, encoding=encoding).unwrapped)
    sb3_check_env(GenialSoloEnv(edition, encoding=encoding))


def play_single(
    env: Any, seed: int | None = None, options: dict[str, Any] | None = None
) -> tuple[float, dict[str, Any]]:
    """Play at random to the end: the return, and the last info."""
    _, info = env.reset(seed=seed, options=options)
    rng, total, terminated = np.random.default_rng(0), 0.0, False
    while not terminated:
        mask = env.get_wrapper_attr("action_masks")()
        assert (mask == info["action_mask"]).all()
        _, reward, terminated, truncated, info = env.step(int(rng.choice(np.flatnonzero(mask))))
        assert not truncated
        total += reward
    return total, info


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_the_reward_is_the_seats_own(seat: int) -> None:
    env = gym.make("genial_env/Genial-v0", players=3, opponents=["greedy", "random"], seat=seat)
    for seed in range(4):
        total, info = play_single(env, seed)
        assert total == rank_utility(info["ranks"])[seat]
        assert info["ranks"].tolist() == ranks(info["scores"]).tolist()


def test_a_recorded_game_names_the_players_and_replays() -> None:
    env = GenialEnv(3, opponents=["greedy", "random"], seat=1, record=True)
    play_single(env, 0)
    record = env.game_record()
    assert record["agents"] == ["random", "learner", "greedy"]
    assert list(verify([record])) == [None]


def test_opponents_play_as_they_do_in_play() -> None:
    """The learner copies the moves of a game that `play` recorded: then the whole game is the same."""
    results = play(["greedy", "random"], games=1, seed=6, record=True)
    record = (results.records or [{}])[0]
    env = GenialEnv(opponents="random", record=True)
    env.reset(options={"game_seed": record["seed"]})
    while not env._finished:
        made = len(env.game_record()["events"])
        event = record["events"][made]
        assert event[1] == 0
        env.step(action_of(event))
    assert env.game_record()["events"] == record["events"]


def action_of(event: list[Any]) -> int:
    t = tables(Rules())
    if event[0] != "place":
        return t.swap_action if event[0] == "swap" else t.decline_action
    first, second = (t.cell_index[tuple(cell)] for cell in event[5:7])
    return int(event[3] * t.n_placements + t.placement_of[first][t.neighbours[first] == second][0])


def test_illegal_actions_end_the_episode_or_raise() -> None:
    env = GenialEnv()
    env.reset(seed=0)
    before = env._game.current.copy()
    _, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert info["illegal_action"] == 0
    assert "illegal action 0" in env.illegal_reason
    assert np.array_equal(before.board, env._game.current.board)
    with pytest.raises(RuntimeError, match="the episode is over"):
        env.step(0)
    strict = GenialEnv(illegal_action="raise")
    with pytest.raises(RuntimeError, match="call reset"):
        strict.step(0)
    strict.reset(seed=0)
    with pytest.raises(IllegalAction):
        strict.step(0)
    for action, error in ((1.5, TypeError), ("a", TypeError), (None, TypeError), (2882, IllegalAction)):
        with pytest.raises(error):
            strict.step(action)


def test_gymnasium_refuses() -> None:
    for arguments, said in (
        ({"opponents": "gredy"}, "unknown agent 'gredy'"),
        ({"opponents": ["random", "random"]}, "2 seats leave 1 opponents, one a seat, not 2"),
        ({"seat": 2}, "seat must be 0 to 1 or 'random', not 2"),
        ({"illegal_action": "ignore"}, "illegal_action must be 'end' or 'raise'"),
        ({"players": 1, "edition": "2004", "mode": "solo", "reward": "rank"}, "solo has none"),
    ):
        with pytest.raises(ValueError, match=said):
            GenialEnv(**{"opponents": [] if arguments.get("players") == 1 else "random", **arguments})


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"]
)
def test_single_copies_go_on_alike_and_apart(copied: Callable[[Any], Any]) -> None:
    env = GenialEnv(opponents="greedy", seat="random")
    copied(env).reset(seed=1)
    env.reset(seed=3)
    env.step(int(np.flatnonzero(env.action_masks())[5]))
    one, other, saved = copied(env), copied(env), env.get_state()
    action = int(np.flatnonzero(env.action_masks())[7])
    assert data_equivalence(one.step(action), other.step(action))
    assert data_equivalence(one.reset(), other.reset())
    env.set_state(saved)
    env.set_state(saved)
    third = GenialEnv(opponents="greedy", seat="random")
    third.reset(seed=99)
    third.set_state(saved)
    assert data_equivalence(third.step(action), env.step(action))
    assert data_equivalence(third.reset(), env.reset())


def test_what_is_handed_out_is_a_copy() -> None:
    env = GenialEnv()
    observation, info = env.reset(seed=0)
    before = env._game.current.copy()
    for array in (*observation.values(), info["action_mask"], env.action_masks()):
        array[...] = 1
    assert all(np.array_equal(value, before.arrays()[name]) for name, value in env._game.current.arrays().items())
    raw = GenialAECEnv()
    raw.reset(seed=0)
    handed = raw.observe("player_0")
    handed["action_mask"][:] = 1
    handed["observation"]["board"][:] = 1
    assert raw.observe("player_0")["action_mask"].sum() < 2882
    assert raw.observe("player_0")["observation"]["board"].sum() < handed["observation"]["board"].sum()


def test_masks_through_wrappers_and_dummy_vec_env() -> None:
    def make() -> gym.Env[Any, Any]:
        return gym.wrappers.TimeLimit(gym.make("genial_env/Genial-v0"), 50)

    envs = DummyVecEnv([make, make])
    envs.reset()
    masks = np.stack(envs.env_method("action_masks"))
    assert masks.dtype == np.bool_
    assert masks.shape == (2, 2882)


# Rewards


def test_rank_utility() -> None:
    for given, expected in (
        ([1, 2], [1, -1]),
        ([1, 1], [0, 0]),
        ([2, 1, 3], [0, 1, -1]),
        ([1, 2, 2, 4], [1, 0, 0, -1]),
        ([4, 3, 1, 2], [-1, -1 / 3, 1, 1 / 3]),
    ):
        assert rank_utility(np.array(given)).tolist() == pytest.approx(expected)


def test_reward_schemes() -> None:
    rules = Rules(4, "2004", "team")
    before, after = np.zeros((1, 2, 6), dtype=int), np.array([[[1, 2, 3, 4, 5, 6], [3, 3, 3, 3, 3, 9]]])
    over, going = np.array([True]), np.array([False])
    assert compute_rewards("rank", rules, before, after, over).tolist() == [[-1, 1, -1, 1]]
    assert compute_rewards("rank", rules, before, after, going).tolist() == [[0, 0, 0, 0]]
    assert compute_rewards("margin", rules, before, after, over).tolist() == [[-2, 2, -2, 2]]
    assert compute_rewards("lowest", rules, before, after, going).tolist() == [[1, 3, 1, 3]]
    assert compute_rewards("vector", rules, before, after, going)[0, 3].tolist() == [3, 3, 3, 3, 3, 9]
    assert check_scheme(Rules(1, "2004", "solo"), None) == "lowest"


def test_the_return_of_dense_rewards_is_the_result() -> None:
    total, info = play_single(GenialSoloEnv(), 0)
    assert total == min(info["scores"][0])
    env = GenialEnv(reward="vector")
    env.reset(seed=1)
    growth, terminated, info = np.zeros(6), False, {}
    while not terminated:
        _, reward, terminated, _, info = env.step(int(np.flatnonzero(env.action_masks())[0]))
        assert env.reward_space.contains(reward)
        growth += reward
    assert growth.tolist() == info["scores"][0].tolist()


def test_kernel_masks_are_what_the_environments_show() -> None:
    raw = GenialAECEnv(3, "2009")
    raw.reset(seed=0)
    for _ in range(20):
        agent = raw.agent_selection
        mask = raw.observe(agent)["action_mask"]
        assert (mask == kernel.legal(raw._game.current)[0]).all()
        raw.step(masked(raw.action_space(agent), mask))
