"""The engines of a single game against the kernel: every array of the state after every decision, by either backend."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from genial_env import Rules, State, backends
from genial_env.core import kernel, scalar
from genial_env.core.engine import SwitchingEngine, make_engine
from genial_env.core.views import View, view
from tests.conftest import needs_numba
from tests.core.test_reference_games import Choices, odd_positions
from tests.positions import ONE_BONUS, every_rules, near_stops, same

pytestmark = pytest.mark.usefixtures("each_backend")


def compare(state: State, choose: Choices, steps: int = 1000) -> None:
    """Games of a batch against as many single ones, until all are over; the views of all seats too."""
    games = [make_engine(state.select(np.array([row]))) for row in range(len(state))]
    live = np.arange(len(state))
    for _ in range(steps):
        for seat in range(state.rules.players):
            seen = view(state, seat, live, backend="numpy")
            for i, row in enumerate(live.tolist()):
                assert_same_view(games[row].view(seat), seen, i)
        live = live[~state.over[live]]
        if not live.size:
            break
        actions = choose(state, live, kernel.legal(state, live, backend="numpy"))
        kernel.apply(state, actions, live, backend="numpy")
        for row, action in zip(live.tolist(), actions.tolist(), strict=True):
            assert games[row].play(action)
            assert same(state.select(np.array([row])), games[row].state)


def assert_same_view(found: View, expected: View, row: int = 0) -> None:
    """The view of one game is that of a game in a batch."""
    for field in fields(View):
        this, other = getattr(found, field.name), getattr(expected, field.name)
        if field.name == "rules":
            assert this == other
        else:
            assert this.dtype == other.dtype, field.name
            assert np.array_equal(this, other[row : row + 1]), field.name


@pytest.mark.parametrize("greedy", [False, True], ids=["random", "greedy"])
@every_rules
def test_its_games_are_the_kernels(rules: Rules, greedy: bool) -> None:
    compare(kernel.deal(rules, range(3)), Choices(greedy, seed=0))


@pytest.mark.parametrize("rules", [Rules(), Rules(one_bonus_a_tile=True), ONE_BONUS], ids=str)
def test_two_arrivals_with_one_tile(rules: Rules) -> None:
    compare(near_stops(rules, games=12, seed=1, steps=6), Choices(greedy=True, seed=0), steps=3)


@settings(max_examples=100, deadline=None)
@given(odd_positions(), st.integers(0, 2**32 - 1))
def test_odd_positions(state: State, seed: int) -> None:
    assume(not state.over.any())
    compare(state, Choices(greedy=False, seed=seed), steps=3)


@settings(max_examples=100, deadline=None)
@given(odd_positions())
def test_the_same_actions_are_refused(state: State) -> None:
    mask = kernel.legal(state, backend="numpy")[0]
    engine = make_engine(state)
    games, facts = scalar.memory_of(state), scalar.memory_of_facts(state.rules)
    fine = [scalar.is_legal(games, facts, 0, action) for action in range(-1, len(mask) + 1)]
    assert fine == [False, *mask.tolist(), False]
    before = state.copy()
    for action in (-1, len(mask), int(np.flatnonzero(~mask)[0])):
        assert not engine.play(action)
    assert same(before, state)


def test_views_are_copies() -> None:
    state = kernel.deal(Rules(3), 0)
    engine, before = make_engine(state), state.copy()
    for seat in range(3):
        for field in fields(View):
            if field.name != "rules":
                getattr(engine.view(seat), field.name)[...] = 1
    assert same(before, state)
    assert_same_view(engine.view(1), view(state, 1, backend="numpy"))


def test_an_engine_plays_one_game_only() -> None:
    with pytest.raises(ValueError, match="plays one game, not 2"):
        make_engine(kernel.deal(Rules(), [0, 1]))


@needs_numba
@pytest.mark.parametrize("plays_in_python", [0, 1, 7, 1000])
def test_a_game_that_switches_to_compiled_code(plays_in_python: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plays = 0
    monkeypatch.setattr(backends.compiled().preparing, "is_ready", lambda: plays >= plays_in_python)
    engine = SwitchingEngine(kernel.undealt(Rules(3)).copy(), backends.Backend("numba"))
    engine.deal(np.array([5], dtype=np.uint64))
    expected, choose, live = kernel.deal(Rules(3), [5]), Choices(greedy=False, seed=1), np.zeros(1, dtype=np.int64)
    while not expected.over[0]:
        assert_same_view(engine.view(1), view(expected, 1, backend="numpy"))
        assert (engine.backend is None) == (plays < plays_in_python)
        assert (engine.observe_planes(0) is None) == (plays < plays_in_python)
        action = int(choose(expected, live, kernel.legal(expected, backend="numpy"))[0])
        kernel.apply(expected, [action], backend="numpy")
        assert engine.play(action)
        assert not engine.play(-1)
        assert same(expected, engine.state)
        plays += 1
