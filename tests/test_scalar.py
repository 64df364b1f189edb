"""Plain Python against the kernel: every array of the state after every decision."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from genial_env import IllegalAction, Rules, State, kernel
from genial_env.envs.scalar import ScalarKernel
from genial_env.views import View, view
from tests.positions import STANDARD, VARIANTS, same
from tests.test_twin import Choices, odd_positions

ROW = np.zeros(1, dtype=np.int64)


def compare(state: State, choose: Choices, steps: int = 1000) -> None:
    one = state.copy()
    scalar = ScalarKernel(one)
    for _ in range(steps):
        for seat in range(state.rules.players):
            assert_same_view(scalar.view(seat), view(state, seat))
        if state.over[0]:
            break
        action = int(choose(state, ROW, kernel.legal(state))[0])
        kernel.apply(state, [action])
        scalar.apply(action)
        assert same(state, one)


def assert_same_view(found: View, expected: View) -> None:
    for field in fields(View):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if field.name == "rules":
            assert one == other
        else:
            assert one.dtype == other.dtype, field.name
            assert np.array_equal(one, other), field.name


@pytest.mark.parametrize("greedy", [False, True], ids=["random", "greedy"])
@pytest.mark.parametrize("rules", STANDARD + VARIANTS, ids=str)
def test_scalar_games_are_the_kernels(rules: Rules, greedy: bool) -> None:
    for seed in range(6):
        compare(kernel.deal(rules, seed), Choices(greedy, seed))


@settings(max_examples=200, deadline=None)
@given(odd_positions(), st.integers(0, 2**32 - 1))
def test_odd_positions(state: State, seed: int) -> None:
    assume(not state.over.any())
    compare(state, Choices(greedy=False, seed=seed), steps=3)


@settings(max_examples=100, deadline=None)
@given(odd_positions())
def test_the_same_actions_are_refused(state: State) -> None:
    mask = kernel.legal(state)[0]
    scalar = ScalarKernel(state)
    assert [scalar._is_legal(action) for action in range(-1, len(mask) + 1)] == [False, *mask.tolist(), False]
    before = state.copy()
    with pytest.raises(IllegalAction, match="illegal action"):
        scalar.apply(int(np.flatnonzero(~mask)[0]))
    assert same(before, state)


def test_views_are_copies() -> None:
    state = kernel.deal(Rules(3), 0)
    scalar, before = ScalarKernel(state), state.copy()
    for seat in range(3):
        for field in fields(View):
            if field.name != "rules":
                getattr(scalar.view(seat), field.name)[...] = 1
    assert same(before, state)
    assert_same_view(scalar.view(1), view(state, 1))


def test_one_game_only() -> None:
    with pytest.raises(ValueError, match="plays one game, not 2"):
        ScalarKernel(kernel.deal(Rules(), [0, 1]))
