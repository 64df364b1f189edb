"""An opponent that raises, or Ctrl-C while it plays: no later step plays the learner's action for it."""

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from genial_env import Policy, Rules, View, genial_v0, make_policy
from genial_env.core.arrays import Bits
from genial_env.envs.single import GenialEnv
from genial_env.envs.vector import GenialVectorEnv
from genial_env.table import Table

pytestmark = pytest.mark.usefixtures("each_backend")

SMALL: dict[str, Any] = {"side": 3, "colors": 3, "rack": 2}
ERRORS = [ZeroDivisionError, KeyboardInterrupt]


class Breaks(Policy):
    """Plays the first legal action, but raises in one call.

    Args:
        error: what is raised.
        at: the number of the call.
    """

    name = "breaks"

    def __init__(self, error: type[BaseException], at: int) -> None:
        self._error, self._left = error, at

    def __call__(self, view: View, random: Bits) -> np.ndarray:
        self._left -= 1
        if self._left == 0:
            raise self._error
        return view.mask().argmax(axis=1)


def state_of(env: Any) -> dict[str, np.ndarray]:
    game = env._games.state if hasattr(env, "_games") else env._game.current
    return {name: array.copy() for name, array in game.arrays().items()}


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return all(np.array_equal(array, other[name]) for name, array in one.items())


def first_actions(env: Any) -> Any:
    masks = env.action_masks()
    return int(masks.argmax()) if masks.ndim == 1 else masks.argmax(axis=1)


def play_on(env: Any) -> None:
    env.reset()
    for _ in range(100):
        env.step(first_actions(env))


def break_and_go_on(env: Any, error: type[BaseException], learners: Any) -> None:
    """Play until the opponent raises; from then on a step is refused and changes nothing, until a reset."""
    with pytest.raises(error):
        play_on(env)
    before = state_of(env)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"was interrupted.*call reset\(\) first"):
            env.step(0 if learners is None else np.zeros(learners, dtype=np.int64))
        assert same(before, state_of(env))
    saved = env.get_state()
    env.reset()
    env.step(first_actions(env))
    whole = env.get_state()
    env.set_state(saved)
    with pytest.raises(RuntimeError, match="was interrupted"):
        env.step(0 if learners is None else np.zeros(learners, dtype=np.int64))
    env.set_state(whole)
    env.step(first_actions(env))


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize(("seat", "at"), [(1, 1), (1, 2), (0, 1), (0, 3)])
def test_single(error: type[BaseException], seat: int, at: int) -> None:
    break_and_go_on(GenialEnv(opponents=Breaks(error, at), seat=seat, **SMALL), error, None)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("autoreset", list(AutoresetMode), ids=str)
@pytest.mark.parametrize(("seat", "at"), [(1, 1), (1, 3), (0, 2), (0, 9)])
def test_vector(error: type[BaseException], autoreset: AutoresetMode, seat: int, at: int) -> None:
    if autoreset == AutoresetMode.DISABLED and at > 3:
        at = 3  # no game ends before
    env = GenialVectorEnv(3, opponents=Breaks(error, at), seat=seat, autoreset_mode=autoreset, **SMALL)
    break_and_go_on(env, error, 3)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize(("seat", "at"), [(1, 1), (1, 3), (0, 2), (1, 9)])
def test_sb3(error: type[BaseException], seat: int, at: int) -> None:
    pytest.importorskip("stable_baselines3", reason="needs stable-baselines3: pip install -e '.[train]'")
    from genial_env.envs.sb3 import GenialVecEnv

    break_and_go_on(GenialVecEnv(3, opponents=Breaks(error, at), seat=seat, **SMALL), error, 3)


def test_a_reset_of_some_games_leaves_the_others_refused() -> None:
    env = GenialVectorEnv(2, opponents=Breaks(ZeroDivisionError, 1), autoreset_mode="Disabled", **SMALL)
    env.reset(seed=0)
    with pytest.raises(ZeroDivisionError):
        env.step(first_actions(env))
    env.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(RuntimeError, match=r"was interrupted.*\(games \[1\]\)"):
        env.step(np.zeros(2, dtype=np.int64))
    env.reset(options={"reset_mask": np.array([False, True])})
    env.step(first_actions(env))


def test_an_opponents_illegal_action_is_such_an_interruption() -> None:
    """It is an IllegalAction, but not the learner's, which changes nothing."""

    class Stubborn(Breaks):
        def __call__(self, view: View, random: Bits) -> np.ndarray:
            return np.full(len(view), -1)

    for env, zeros in (
        (GenialEnv(opponents=Stubborn(ValueError, 0), **SMALL), None),
        (GenialVectorEnv(2, opponents=Stubborn(ValueError, 0), illegal_action="raise", **SMALL), 2),
    ):
        break_and_go_on_once(env, zeros)


def break_and_go_on_once(env: Any, learners: Any) -> None:
    env.reset(seed=0)
    with pytest.raises(ValueError, match="by seat 1"):
        env.step(first_actions(env))
    with pytest.raises(RuntimeError, match="was interrupted"):
        env.step(0 if learners is None else np.zeros(learners, dtype=np.int64))
    env.reset(seed=0)
    assert np.all(env.action_masks().any(axis=-1))


@pytest.mark.parametrize("strict", ["raise", "end"])
def test_what_the_learner_may_not_play_is_none(strict: str) -> None:
    """A refused action has changed nothing, so the next one is played."""
    env = GenialEnv(illegal_action=strict, **SMALL)
    many = GenialVectorEnv(2, illegal_action=strict, **SMALL)
    for each, wrong in ((env, [None, 1.5]), (many, [np.array([0.5, 0.5]), np.array([0])])):
        each.reset(seed=0)
        for action in wrong:
            with pytest.raises((TypeError, ValueError)):
                each.step(action)
        if strict == "raise":
            with pytest.raises(ValueError, match="actions run from"):
                each.step(-1 if each is env else np.array([-1, -1]))
        each.step(first_actions(each))


@pytest.mark.parametrize("error", ERRORS)
def test_where_agents_are_asked_one_by_one_nothing_has_changed(error: type[BaseException]) -> None:
    """PettingZoo's environments and tables: who raises has not played, and may be asked again."""
    agent, greedy = Breaks(error, 2), make_policy("greedy")
    env = genial_v0.raw_env(**SMALL)
    env.reset(seed=0)
    decided = 0
    while not any(env.terminations.values()):
        seat = env.possible_agents.index(env.agent_selection)
        before = env._game.current.copy()
        try:
            env.step(env._game.choose(agent if seat else greedy, np.zeros(1, dtype=np.uint64)))
        except error:
            assert env.possible_agents.index(env.agent_selection) == seat == 1
            assert same(before.arrays(), env._game.current.arrays())
        decided += 1
    assert decided == env._game.current.decisions[0] + 1
    table = Table(Rules(**SMALL), ["greedy", "random"], seed=0)
    table._agents[1] = Breaks(error, 1)
    while table.to_play == 0:
        table.advance()
    saved = table.to_dict()
    with pytest.raises(error):
        table.advance()
    assert table.to_dict() == saved
    assert table.advance() is not None
