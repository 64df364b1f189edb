"""The endgame solver against recursion in the plainest way, against all deals one by one, and against sampling."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from agents.endgame import (
    OutOfBudget,
    most_placements_left,
    solve,
    solve_all,
    value_over_all_deals,
)
from genial_env import Rules, State, determinize, kernel, view
from genial_env.envs.rewards import rank_utility
from genial_env.state import EMPTY, Phase
from tests.positions import random_actions

SMALL = [
    Rules(2, side=3, colors=3, rack=2),
    Rules(2, "2009", side=3, colors=2, rack=2, tile_sets=2),
    Rules(3, "2009", side=3, colors=2, rack=2, tile_sets=2),
    Rules(4, "2004", "team", side=3, colors=2, rack=2, tile_sets=2),
    Rules(1, "2004", "solo", side=3, colors=3),
]
LARGE = [Rules(2), Rules(2, "2009"), Rules(3), Rules(4), Rules(4, "2009", "team"), Rules(1, "2004", "solo")]


def late(rules: Rules, games: int, most: int, seed: int = 0, near_top: bool = True) -> State:
    """Positions of random play in which at most so many tiles can be laid; markers near the end, so that chains come."""
    state = kernel.deal(rules, np.arange(seed, seed + games))
    rng = np.random.default_rng(seed)
    if near_top:
        state.scores[:] = rng.integers(rules.top - 8, rules.top, size=state.scores.shape)
    kept = np.zeros(len(state), dtype=np.bool_)
    while not (kept | state.over).all():
        live = np.flatnonzero(~kept & ~state.over)
        kernel.apply(state, random_actions(state, live, rng), live)
        kept |= ~state.over & (most_placements_left(state) <= most)
    return state.select(kept)


# The plainest way


def plain_values(state: State, action: int, asking: int, luck: bool) -> np.ndarray:
    """[T]: the utilities after an action, by recursion, one position at a time."""
    found, total = np.zeros(state.rules.tracks), 0.0
    for child, chance in after(state, action, luck):
        found += chance * plain_utilities(child, asking, luck)
        total += chance
    assert total == pytest.approx(1)
    return found


def plain_utilities(state: State, asking: int, luck: bool) -> np.ndarray:
    if state.over[0]:
        return final_utilities(state)
    results = [plain_values(state, action, asking, luck) for action in np.flatnonzero(kernel.legal(state)[0])]
    own = int(state.to_play[0]) % state.rules.tracks
    most = max(result[own] for result in results)
    equal = [result for result in results if result[own] > most - 1e-9]
    return min(equal, key=lambda result: float(result[asking]))


def final_utilities(state: State) -> np.ndarray:
    if state.rules.tracks > 1:
        return rank_utility(kernel.ranks(state.scores))[0]
    markers = sorted(state.scores[0, 0].tolist())
    return np.array([sum(marker / (state.rules.top + 1) ** place for place, marker in enumerate(markers))])


def after(state: State, action: int, luck: bool) -> Iterator[tuple[State, float]]:
    """What an action leads to, with its chances: each order of drawn tiles by itself; without luck, any one of them."""
    first = played(state, action, [])
    drawn = int((first.drawn - state.drawn).sum())
    if not luck:
        yield first, 1.0
        return
    orders: list[tuple[list[int], float]] = [([], 1.0)]
    for _ in range(drawn):
        longer = []
        for kinds, chance in orders:
            bag = state.bag[0].astype(int) - np.bincount(kinds, minlength=state.bag.shape[1])[: state.bag.shape[1]]
            longer += [([*kinds, kind], chance * bag[kind] / bag.sum()) for kind in np.flatnonzero(bag).tolist()]
        orders = longer
    for kinds, chance in orders:
        yield played(state, action, kinds), chance


def played(state: State, action: int, kinds: list[int]) -> State:
    child = state.copy()
    kernel.apply(child, np.array([action]), draws=np.array([kinds + [-1] * (state.rules.rack - len(kinds))]))
    return child


def assert_solved_as_plainly(state: State, luck: bool) -> None:
    solution = solve(state)
    own = int(state.to_play[0]) % state.rules.tracks
    assert solution.actions.tolist() == np.flatnonzero(kernel.legal(state)[0]).tolist()
    for action, value in zip(solution.actions, solution.values, strict=True):
        assert value == pytest.approx(plain_values(state, int(action), own, luck)[own], abs=1e-9)


@pytest.mark.parametrize("rules", SMALL, ids=str)
def test_as_plainly_with_every_draw(rules: Rules) -> None:
    for game in range(len(states := late(rules, 6, 2))):
        assert_solved_as_plainly(states.select(np.array([game])), luck=True)


@pytest.mark.parametrize("rules", LARGE[:5], ids=str)
def test_as_plainly_where_draws_do_not_matter(rules: Rules) -> None:
    states = late(rules, 8, 1)
    states = State.concat([states, late(rules, 2, 2, seed=8)])
    for game in np.flatnonzero((states.phase == Phase.PLACE) | (most_placements_left(states) == 1))[:9]:
        assert_solved_as_plainly(states.select(np.array([game])), luck=False)


@pytest.mark.parametrize("rules", [SMALL[0], SMALL[4]], ids=str)
def test_three_placements(rules: Rules) -> None:
    states = late(rules, 2, 3)
    assert_solved_as_plainly(states.select(np.array([0])), luck=True)
