"""A pool of rules: padded observations and actions, games that are those of each environment, and a curriculum."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from genial_env import Rules, view
from genial_env.core.actions import Place, decode
from genial_env.encodings.padded import PaddedPlanes
from genial_env.encodings.planes import Planes
from genial_env.envs.rules_pool import RulesPoolEnv, find_largest, map_actions
from genial_env.testing import check_encoding
from tests.positions import random_play

SMALL, MIDDLE, LARGE = Rules(side=3, colors=3, rack=2), Rules(side=4, colors=4, rack=3), Rules(side=5, tile_sets=2)
POOL = [SMALL, MIDDLE, LARGE]


def test_the_largest_sizes() -> None:
    assert find_largest(POOL) == LARGE
    assert find_largest([Rules(4, side=3, colors=6), Rules(4, side=8, colors=2, tile_sets=12, rack=6)]).side == 8
    assert find_largest([Rules(side=9, tile_sets=3), Rules(side=4, colors=2, tile_sets=2, rack=2)]).tile_sets == 3
    for pool, message in (
        ([], "the pool of rules is empty"),
        ([Rules(), Rules(3)], "players must be the same in all games, 2, not 3"),
        ([Rules(), Rules(edition="2009")], "edition must be the same"),
    ):
        with pytest.raises(ValueError, match=message):
            find_largest(pool)


@pytest.mark.parametrize("rules", POOL, ids=str)
def test_padded_planes_hold_the_planes(rules: Rules) -> None:
    encoding = PaddedPlanes(LARGE)
    check_encoding(encoding, rules)
    seen = view(random_play(rules, 4, seed=1, steps=7))
    small, padded = Planes().encode(seen), encoding.encode(seen)
    assert {name: array.shape[1:] for name, array in padded.items()} == {
        name: field.shape for name, field in Planes().fields(LARGE).items()
    }
    for name, array in small.items():
        assert padded[name].sum() == array.sum()
    at = LARGE.side - rules.side
    inner = padded["board"][:, :, at : at + 2 * rules.side - 1, at : at + 2 * rules.side - 1]
    assert (inner[:, : 2 + rules.colors] == small["board"][:, : 2 + rules.colors]).all()
    if rules == LARGE:
        assert all((padded[name] == array).all() for name, array in small.items())
    with pytest.raises(ValueError, match="side must be at most 5, not 6"):
        encoding.fields(Rules())


def test_actions_keep_slot_and_cells() -> None:
    mapped = map_actions(SMALL, LARGE)
    assert len(set(mapped.tolist())) == len(mapped)
    for action in range(0, len(mapped), 7):
        one, other = decode(SMALL, action), decode(LARGE, int(mapped[action]))
        assert one == other
        assert isinstance(one, Place) == isinstance(other, Place)


def test_the_environment_is_one_for_gymnasium() -> None:
    check_env(RulesPoolEnv(POOL, opponents="greedy"), skip_render_check=True)


def test_games_are_those_of_the_environment_of_their_rules() -> None:
    env = RulesPoolEnv([SMALL, MIDDLE], opponents="greedy", seat="random")
    observation, info = env.reset(seed=4, options={"rules": 1, "game_seed": 9})
    alone = gym.make("genial_env/Genial-v0", opponents="greedy", seat="random", side=4, colors=4, rack=3)
    own, own_info = alone.reset(options={"game_seed": 9})
    assert int(info["rules"]) == 1
    assert env.rules == MIDDLE
    terminated, mapped = False, map_actions(MIDDLE, MIDDLE)
    while not terminated:
        assert all((observation[name] == own[name]).all() for name in own)  # these are the largest rules
        assert (env.action_masks() == info["action_mask"]).all()
        assert (info["action_mask"] == own_info["action_mask"]).all()
        action = int(np.flatnonzero(own_info["action_mask"])[0])
        observation, reward, terminated, _, info = env.step(int(mapped[action]))
        own, own_reward, own_terminated, _, own_info = alone.step(action)
        assert (reward, terminated) == (own_reward, own_terminated)
    assert (info["ranks"] == own_info["ranks"]).all()
    assert (info["scores"] == own_info["scores"]).all()


def test_infos_have_the_same_shapes_under_all_rules() -> None:
    env = RulesPoolEnv(POOL)
    infos = [env.reset(seed=1, options={"rules": index})[1] for index in range(3)]
    for info in infos:
        assert {name: np.shape(value) for name, value in info.items()} == {
            name: np.shape(value) for name, value in infos[0].items()
        }


def test_actions_that_the_game_lacks_are_illegal() -> None:
    env = RulesPoolEnv(POOL)
    _, info = env.reset(seed=1, options={"rules": 0})
    missing = int(np.setdiff1d(np.arange(env.action_space.n), map_actions(SMALL, LARGE))[0])
    assert not info["action_mask"][missing]
    _, reward, terminated, _, info = env.step(missing)
    assert terminated
    assert reward == -1
    assert info["illegal_action"] == missing


def test_a_curriculum_changes_the_weights() -> None:
    env = RulesPoolEnv(POOL, weights=[1, 0, 0])
    assert {int(env.reset(seed=seed)[1]["rules"]) for seed in range(20)} == {0}
    env.set_weights([0, 1, 1])
    assert {int(env.reset(seed=seed)[1]["rules"]) for seed in range(20)} == {1, 2}
    first, again = (
        [int(env.reset(seed=7)[1]["rules"]), *(int(env.reset()[1]["rules"]) for _ in range(9))] for _ in "ab"
    )
    assert first == again
    for weights in ([1], [0, 0, 0], [1, -1, 1]):
        with pytest.raises(ValueError, match="weights must be 3 numbers"):
            env.set_weights(weights)
    with pytest.raises(TypeError, match="takes no argument 'encoding'"):
        RulesPoolEnv(POOL, encoding="flat")


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"rules": 3}, ValueError, r"options\['rules'\] must be 0 to 2, not 3"),
        ({"rules": -1}, ValueError, r"options\['rules'\] must be 0 to 2, not -1"),
        ({"rules": 0.7}, TypeError, r"options\['rules'\] must be a whole number, not 0.7"),
        ({"rules": True}, TypeError, r"options\['rules'\] must be a whole number, not True"),
        ({"rules": 1, "game_seed": "7"}, TypeError, r"options\['game_seed'\] must be a whole number"),
        ({"rules": 1, "start": 7}, TypeError, r"options\['start'\] must be a State"),
    ],
    ids=str,
)
def test_a_refused_reset_leaves_the_game_at_hand(options: dict[str, Any], error: type[Exception], said: str) -> None:
    """Even if another game of the pool is running too."""
    env = RulesPoolEnv(POOL)
    env.reset(seed=1, options={"rules": 1})
    _, info = env.reset(options={"rules": 0})
    with pytest.raises(error, match=said):
        env.reset(options=options)
    assert env.rules == SMALL
    assert (env.action_masks() == info["action_mask"]).all()
    info = env.step(int(info["action_mask"].argmax()))[4]
    assert (info["rules"], info["illegal_action"]) == (0, -1)
