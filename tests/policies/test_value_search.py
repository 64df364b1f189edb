"""Playing on to a later turn: both backends predict the same bits, and few deals are enough for the next tile."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from genial_env import Rules, use_backend, view
from genial_env.core import kernel
from genial_env.core.chance import bits, game_seeds
from genial_env.core.state import Phase, State
from genial_env.core.views import View
from genial_env.policies.afterstates import candidates
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.greedy import GreedyPolicy
from genial_env.policies.prior import check_prior
from genial_env.policies.search import Deals, deal
from genial_env.policies.value import judge
from genial_env.policies.value_net import ValueNet
from genial_env.policies.value_search import ValueSearch, _spread_draws, predict_later
from tests.conftest import needs_numba
from tests.policies.test_afterstates import positions
from tests.policies.test_value import GAMES, SMALL, SOLO, TEAM, each_game, random_net
from tests.positions import every, random_play


def some_positions(rules: Rules) -> State:
    """A few games from their beginnings to their ends; some are over, others in a bonus or a swap decision."""
    states = [state for step, (state, _) in enumerate(positions(rules, games=2)) if step % 3 == 1]
    over = random_play(rules, games=1, seed=1, steps=500)
    arrays = [each.arrays() for each in (*states, over)]
    return State(rules, **{name: np.concatenate([each[name] for each in arrays]) for name in arrays[0]})


@needs_numba
@pytest.mark.parametrize("turns", [1, 2])
@each_game
def test_both_backends_predict_the_same_bits(rules: Rules, turns: int) -> None:
    """At a turn of the seat to play, and of another seat; the games end in the same positions, too."""
    net, state = ValueNet(rules, random_net(rules).arrays()), some_positions(rules)
    assert 0 < state.over.sum() < len(state)
    for seats in (state.to_play.astype(np.int64), np.zeros(len(state), dtype=np.int64)):
        found, played = [], []
        for backend in ("numpy", "numba"):
            after = state.copy()
            with use_backend(backend):
                found.append(predict_later(after, seats, net, replies=3, turns=turns))
            played.append(after)
        assert np.array_equal(*found)
        assert found[0].shape == (len(state), net.outcomes.heads, net.outcomes.classes)
        for name, array in played[0].arrays().items():
            assert np.array_equal(array, played[1].arrays()[name]), name


@needs_numba
@each_game
def test_both_backends_consider_the_placements_of_a_given_prior(rules: Rules) -> None:
    """The prior is one with compiled code or one of somebody's own, and it makes a difference."""
    net, state = ValueNet(rules, random_net(rules).arrays()), some_positions(rules)
    seats, found = state.to_play.astype(np.int64), {}
    for prior in (None, GreedyPolicy(), Backwards()):
        predictions = []
        for backend in ("numpy", "numba"):
            with use_backend(backend):
                predictions.append(predict_later(state.copy(), seats, net, replies=2, turns=2, prior=prior))
        assert np.array_equal(*predictions)
        found[prior] = predictions[0]
    for one, other in combinations(found.values(), 2):
        assert not np.array_equal(one, other)


class Backwards(DenialPolicy):
    """The worst placements first; it has no compiled code."""

    name = "backwards"

    def values(self, view: View) -> NDArray[np.integer[Any]]:
        return -super().values(view)

    def plan(self, rules: Rules) -> None:
        return None


def test_the_prior_selects_the_actions_that_are_searched() -> None:
    alone = view(random_play(Rules(), games=1, seed=4, steps=12))
    by_prior = {prior: ValueSearch(width=2, prior=prior).moves(alone) for prior in (None, "greedy", Backwards())}
    for prior, moves in by_prior.items():
        assert set(moves.tolist()) == set(candidates(alone, 2, check_prior(prior))[0, :2].tolist())
    assert len({tuple(sorted(moves.tolist())) for moves in by_prior.values()}) == 3


@every("rules", GAMES, [SMALL])
def test_the_first_turn_is_that_of_the_seat_to_play(rules: Rules) -> None:
    """There nothing is played before the network is asked, and a game that is over counts by its result."""
    net, state = ValueNet(rules, random_net(rules).arrays()), some_positions(rules)
    seats = state.to_play.astype(np.int64)
    found = predict_later(state.copy(), seats, net, replies=3, turns=1)
    placing = np.flatnonzero(state.phase == Phase.PLACE)
    judged = judge(view(state, rows=placing), net, most=3)
    assert np.array_equal(found[placing], judged.chances[judged.best(judged.utility, len(placing))])
    over = np.flatnonzero(state.over)
    scores = state.scores[over[:, None], state.tables.tracks_from[seats[over]]]
    assert np.array_equal(found[over], net.outcomes.of_scores(scores))


def test_solo_the_next_tiles_are_in_proportion_to_the_bag() -> None:
    """Of each kind there are as many as its share of the deals, rounded down or up, and the same for all moves."""
    moves, state = 3, random_play(SOLO, games=1, seed=4, steps=9)
    share, alone = state.bag[0] / state.bag[0].sum(), view(state)
    seen = set()
    for size in (1, 8, 50, 500):
        for seed in range(20):
            deals = deal(alone, bits(np.uint64(seed), np.zeros(1, dtype=np.int64)), 0, size)
            draws = _spread_draws(deals)
            assert draws is not None
            counts = np.bincount(draws, minlength=len(share))
            assert (np.abs(counts - size * share) < 1).all()
            seen.add(tuple(counts.tolist()))
            actions = np.flatnonzero(kernel.legal(state)[0])[:moves]
            played = deals.play(actions, np.repeat(draws, moves)[:, None])
            assert np.array_equal(
                played.racks[:, 0, 0].reshape(size, moves), np.repeat(draws, moves).reshape(size, moves)
            )
    assert len(seen) > 20  # it is random which deals a kind gets


def test_with_several_seats_or_an_empty_bag_nothing_is_spread() -> None:
    random = bits(np.uint64(1), np.zeros(1, dtype=np.int64))
    for rules in (Rules(), TEAM):
        assert _spread_draws(deal(view(kernel.deal(rules, range(1))), random, 0, 2)) is None
    empty = Deals(kernel.deal(SOLO, range(2)), game_seeds(0, 2))
    empty.states.bag[:] = 0
    assert _spread_draws(empty) is None


def test_deals_of_one_batch_are_those_of_several() -> None:
    alone, random = (
        view(random_play(Rules(), games=1, seed=4, steps=9)),
        bits(np.uint64(1), np.zeros(1, dtype=np.int64)),
    )
    whole = deal(alone, random, 0, 7)
    for part, first in ((whole.select(3, 4), 3), (whole.select(0, 3), 0)):
        again = deal(alone, random, first, len(part))
        assert np.array_equal(part.random, again.random)
        assert np.array_equal(part.states.racks, again.states.racks)
