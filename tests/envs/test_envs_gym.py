"""The Gymnasium environments beyond the libraries' own checks: credit, wrappers, wrong actions, saving, MaskablePPO."""

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import DummyVecEnv

from genial_env import IllegalAction, Rules, View, play
from genial_env.core.arrays import Bits, Ints
from genial_env.core.ranking import rank_utility
from genial_env.envs.rewards import SCHEMES, worst_reward
from genial_env.envs.single import GenialEnv, GenialSoloEnv
from genial_env.policies.greedy import GreedyPolicy
from genial_env.policies.uniform import RandomPolicy
from tests.positions import same

pytestmark = pytest.mark.usefixtures("each_backend")

SMALL = {"side": 4, "colors": 4, "rack": 2}


class Named(RandomPolicy):
    """Plays at random under a name of its own, and remembers for which seats it was asked."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seats: set[int] = set()

    def __call__(self, view: View, random: Bits) -> Ints:
        self.seats |= set(view.seat.tolist())
        return super().__call__(view, random)


class Stubborn:
    """Plays action 0 whether it may or not."""

    name = "stubborn"

    def __call__(self, view: View, random: Bits) -> Ints:
        return np.zeros(len(view), dtype=np.int64)


def play_episode(env: Any, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
    """Random play; the return and the last info."""
    _, info = env.reset(seed=seed)
    rng, total, terminated = np.random.default_rng(seed), 0.0, False
    while not terminated:
        _, reward, terminated, truncated, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
        assert not truncated
        total = total + reward
    return total, info


# Credit and turns


def test_the_rank_is_paid_though_another_seat_ends_the_game() -> None:
    env, enders = GenialEnv(3, seat="random", **SMALL), set()
    for seed in range(30):
        total, info = play_episode(env, seed)
        assert total == rank_utility(info["ranks"])[env.seat]
        assert not info["action_mask"].any()
        assert not env.action_masks().any()
        enders.add(env._game.to_play == env.seat)
    assert enders == {True, False}


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_growth_is_paid_in_full(seat: int) -> None:
    """Nothing moves a seat's own markers before its first decision, so all growth is paid."""
    for reward in ("lowest", "vector"):
        total, info = play_episode(GenialEnv(3, seat=seat, reward=reward, **SMALL), seat)
        own = np.array(info["scores"][seat])
        assert np.array_equal(total, own.min() if reward == "lowest" else own)


def test_every_step_is_a_decision_of_the_learner() -> None:
    env = GenialEnv(2, "2009", opponents="greedy", seat=1, side=4, colors=2, rack=3, tile_sets=2)
    phases = set()
    for seed in range(10):
        env.reset(seed=seed)
        terminated = False
        while not terminated:
            assert env._game.to_play == 1
            phases.add(int(env._game.current.phase[0]))
            action = int(GreedyPolicy()(env._game.view(1), np.zeros(1, dtype=np.uint64))[0])
            _, _, terminated, _, _ = env.step(action)
    assert phases == {0, 1, 2}  # its bonus placements and swaps are steps of its own


@pytest.mark.parametrize("seat", range(4))
def test_opponents_sit_clockwise_from_the_learner(seat: int) -> None:
    policies = [Named("left"), Named("opposite"), Named("right")]
    env = GenialEnv(4, opponents=policies, seat=seat, record=True, side=5)
    play_episode(env, 0)
    assert [policy.seats for policy in policies] == [{(seat + i) % 4} for i in (1, 2, 3)]
    names = env.game_record()["agents"]
    assert names[seat:] + names[:seat] == ["learner", "left", "opposite", "right"]


@pytest.mark.parametrize(("players", "mode", "edition"), [(3, "individual", "2025"), (4, "team", "2009")])
def test_a_learner_that_plays_as_a_policy_plays_the_game_of_play(players: int, mode: str, edition: str) -> None:
    """Game seed and actions given, the environment's game is that of `play`, whatever the seat."""
    rules = Rules(players, edition, mode)
    results = play(["random"] * players, rules, games=1, seed=4)
    for seat in range(players):
        env = GenialEnv(players, edition, mode, seat=seat)
        env.reset(options={"game_seed": int(results.seeds[0])})
        info: dict[str, Any] = {}
        while not env._finished:
            info = env.step(random_choice(env))[4]
        assert info["scores"].tolist() == results.scores[0].tolist()
        assert info["ranks"].tolist() == results.ranks[0].tolist()


def random_choice(env: GenialEnv) -> int:
    """What "random" would play in the learner's place."""
    env._opponents.roster[env._players[env.seat]] = RandomPolicy()
    return env._choose(env.seat)


def test_an_opponents_illegal_action_is_an_error() -> None:
    with pytest.raises(IllegalAction, match="by seat 0"):
        GenialEnv(opponents=Stubborn(), seat=1).reset(seed=0)


# Wrong actions


@pytest.mark.parametrize("reward", SCHEMES)
def test_an_illegal_action_costs_the_worst_and_changes_nothing(reward: str) -> None:
    env = GenialEnv(reward=reward, **SMALL)
    observation, info = env.reset(seed=0)
    before = env._game.current.copy()
    after, paid, terminated, truncated, told = env.step(int(np.flatnonzero(info["action_mask"] == 0)[0]))
    assert np.array_equal(paid, worst_reward(reward, env.rules))
    assert type(paid) is (np.ndarray if reward == "vector" else float)
    assert (terminated, truncated) == (True, False)
    assert told["illegal_action"] == np.flatnonzero(info["action_mask"] == 0)[0]
    assert "by seat 0" in env.illegal_reason
    assert not told["ranks"].any()
    assert data_equivalence(observation, after)
    assert same(before, env._game.current)
    with pytest.raises(RuntimeError, match="the episode is over"):
        env.step(0)
    assert play_episode(env, 0)[1]["illegal_action"] == -1
    assert env.illegal_reason is None


@pytest.mark.parametrize("choice", ["end", "raise"])
def test_what_is_no_action_is_refused(choice: str) -> None:
    env = GenialEnv(illegal_action=choice)
    _, info = env.reset(seed=0)
    for action in (None, 0.0, True, 2**70):
        with pytest.raises(TypeError, match=r"action.* must be a whole number"):
            env.step(action)
    legal = np.flatnonzero(info["action_mask"])[:1]
    saved = env.get_state()
    for action in (int(legal[0]), legal[0], legal, np.array(legal[0], dtype=np.int32)):
        env.set_state(saved)
        assert env.step(action)[4]["illegal_action"] == -1


# Copies, saving, seeds


def test_nothing_handed_out_is_the_environments_own() -> None:
    for encoding in ("planes", "flat"):
        tampered, other = GenialEnv(encoding=encoding, **SMALL), GenialEnv(encoding=encoding, **SMALL)
        shown, info = tampered.reset(seed=0)
        other.reset(seed=0)
        for step in range(6):
            action = int(np.flatnonzero(info["action_mask"])[step])
            for array in [*(shown.values() if isinstance(shown, dict) else [shown]), info["action_mask"]]:
                array[...] = 1
            tampered.action_masks()[:] = True
            found, expected = tampered.step(action), other.step(action)
            assert data_equivalence(found, expected)
            shown, info = found[0], found[4]


def test_states_go_back_to_any_time() -> None:
    env = GenialEnv(3, opponents=["greedy", "random"], seat="random", record=True, **SMALL)
    empty = env.get_state()
    play_episode(env, 1)
    finished = env.get_state()
    again = copy.deepcopy(env)
    env.set_state(empty)
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(0)
    env.set_state(finished)
    with pytest.raises(RuntimeError, match="the episode is over"):
        env.step(0)
    assert env.game_record() == again.game_record()
    assert data_equivalence(env.reset(), again.reset())
    assert env.seat == again.seat


def test_seeds_go_on_in_a_stream_of_their_own() -> None:
    env, other = GenialEnv(seat="random", **SMALL), GenialEnv(seat="random", **SMALL)
    games = []
    for one in (env, other):
        one.reset(seed=3)
        games.append([(one.seat, one._game.seed)] + [(one.reset(), one.seat, one._game.seed)[1:] for _ in range(19)])
    assert games[0] == games[1]
    assert len({seed for _, seed in games[0]}) == 20
    assert {seat for seat, _ in games[0]} == {0, 1}


# Through the libraries


def test_masks_through_wrappers_and_vectors() -> None:
    env = gym.wrappers.RecordEpisodeStatistics(gym.wrappers.FlattenObservation(gym.make("genial_env/Genial-v0")))
    _, info = env.reset(seed=0)
    assert np.array_equal(env.get_wrapper_attr("action_masks")(), info["action_mask"] == 1)
    assert info["action_mask"].dtype == np.int8
    _, last = play_episode(env, 0)
    assert last["episode"]["r"] in (-1.0, 0.0, 1.0)
    many = gym.make_vec("genial_env/Genial-v0", num_envs=2, vectorization_mode="sync", opponents="greedy", **SMALL)
    observation, info = many.reset(seed=[1, 2])
    assert observation["board"].shape == (2, 10, 7, 7)
    for _ in range(20):
        _, _, _, _, info = many.step([int(mask.argmax()) if mask.any() else 0 for mask in info["action_mask"]])
    many.close()


@pytest.mark.parametrize("encoding", ["planes", "flat"])
def test_maskable_ppo_finds_the_masks(encoding: str) -> None:
    """Without an ActionMasker, and it never plays an illegal action."""
    envs = DummyVecEnv([lambda: gym.make("genial_env/Genial-v0", encoding=encoding, **SMALL)] * 2)
    assert is_masking_supported(envs)
    envs.reset()
    assert get_action_masks(envs).shape == (2, envs.action_space.n)
    policy = "MlpPolicy" if encoding == "flat" else "MultiInputPolicy"
    model = MaskablePPO(
        policy, envs, n_steps=32, batch_size=32, n_epochs=1, device="cpu", seed=0, policy_kwargs={"net_arch": [8]}
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GenialEnv, "step", strict_step(GenialEnv.step))
        model.learn(128)


def strict_step(step: Any) -> Any:
    def strict(self: GenialEnv, action: Any) -> Any:
        result = step(self, action)
        assert result[4]["illegal_action"] == -1
        return result

    return strict


def test_solo() -> None:
    env = gym.make("genial_env/GenialSolo-v0")
    assert env.action_space.n == 480
    total, info = play_episode(env, 0)
    assert total == min(info["scores"][0])
    assert info["ranks"].tolist() == [1]
    vector, info = play_episode(GenialSoloEnv("2009", reward="vector", colors=3, side=4), 0)
    assert vector.tolist() == info["scores"][0].tolist()
    for reward in ("rank", "margin"):
        with pytest.raises(ValueError, match="solo has none"):
            GenialSoloEnv(reward=reward)
    with pytest.raises(ValueError, match="'2004' or '2009' have it"):
        GenialSoloEnv("2025")


def test_rendering() -> None:
    env = gym.make("genial_env/Genial-v0", render_mode="ansi", seat=1)
    env.reset(seed=0)
    text = env.render()
    assert "rack 1" in text
    assert "??" in text.split("rack 0")[1].split("\n")[0]  # the other seat's tiles
    assert "??" not in text.split("rack 1")[1]
