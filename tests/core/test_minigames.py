"""Mini games: the kernel, Gymnasium and PettingZoo play them, and what cannot begin there is refused."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from genial_env import Rules, genial_v0
from genial_env.core import kernel
from genial_env.core.minigames import MINI_GAMES, find_mini_game
from genial_env.core.state import EMPTY, State
from genial_env.policies.endgame import most_placements_left
from tests.positions import every, same

each_mini_game = every("name", list(MINI_GAMES), ["pairs"])


def racks_put_back(state: State) -> np.ndarray[Any, Any]:
    held = kernel.count_kinds(state.racks.reshape(len(state), -1), state.tables.n_kinds)
    return np.asarray(state.bag + held)


@each_mini_game
def test_the_kernel_plays_it(name: str) -> None:
    game = MINI_GAMES[name]
    state = game.deal(range(50))
    assert len(state) == 50
    assert (state.racks != EMPTY).all()
    assert (racks_put_back(state) == game.start.bag).all()
    assert 3 <= most_placements_left(state)[0] <= 4
    rng = np.random.default_rng(0)
    for live in kernel.live_games(state):
        masks = kernel.legal(state, live)
        kernel.apply(state, np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1), live)
    assert state.over.all()
    assert same(game.start, find_mini_game(name).start)


@each_mini_game
def test_gymnasium_plays_it(name: str) -> None:
    env: Any = gym.make("genial_env/GenialMini-v0", game=name, opponents="greedy", seat="random")
    for seed in range(3):
        _, info = env.reset(options={"game_seed": seed})
        game = env.unwrapped
        board = np.array([letter != "." for letter in MINI_GAMES[name].board])
        assert (game._game.current.board[0, board] == MINI_GAMES[name].start.board[0, board]).all()
        terminated = False
        while not terminated:
            _, reward, terminated, _, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
        assert reward in (-1, 0, 1)
    env.close()


def test_the_environments_deal_as_the_kernel_does() -> None:
    game = MINI_GAMES["pairs"]
    env: Any = gym.make("genial_env/GenialMini-v0").unwrapped
    env.reset(options={"game_seed": 5})
    aec: Any = genial_v0.env(**game.rules.to_dict())
    aec.reset(options={"game_seed": 5, "start": game.start})
    for state in (env._game.current, aec.unwrapped._game.current):
        assert np.array_equal(state.racks, game.deal([5]).racks)
        assert np.array_equal(state.scores, game.start.scores)


def test_what_cannot_begin_there_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown mini game 'none': the mini games are pairs, flower"):
        gym.make("genial_env/GenialMini-v0", game="none")
    with pytest.raises(TypeError, match=r"takes no argument 'players'.*game, opponents"):
        gym.make("genial_env/GenialMini-v0", players=3)
    aec: Any = genial_v0.env()
    with pytest.raises(ValueError, match=r"options\['start'\]"):
        aec.reset(options={"start": MINI_GAMES["pairs"].start})
    with pytest.raises(TypeError, match=r"options\['start'\] must be a State, not 'pairs'"):
        aec.reset(options={"start": "pairs"})
    recorded: Any = genial_v0.env(record=True)
    with pytest.raises(ValueError, match=r"no record is kept"):
        recorded.reset(options={"start": kernel.deal(Rules(), [0])})
    over = MINI_GAMES["pairs"].deal([0])
    over.phase[:] = 3
    with pytest.raises(ValueError, match="not in phase OVER"):
        kernel.undealt_at(over)
