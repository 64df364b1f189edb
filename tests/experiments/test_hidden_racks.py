"""What the other rack is worth, and what can be told about it."""

import numpy as np
import pytest

from experiments.hidden_racks import Args, Positions, SeeingSearch, find_positions, main, measure_gain
from genial_env import Rules, use_backend, view
from genial_env.policies.search import deal
from tests.conftest import needs_numba
from tests.positions import random_play


def test_the_seeing_search_plays_on_with_the_real_rack() -> None:
    state = random_play(Rules(), games=1, seed=3, steps=8)
    seen, search = view(state), SeeingSearch(8)
    search.truth = state
    deals = deal(seen, np.ones(1, dtype=np.uint64), 0, 5)
    found = search.outcomes(seen, search.moves(seen), deals)
    other = 1 - int(seen.seat[0])
    assert found.shape == (5, search.candidates)
    assert (deals.states.racks[:, other] == state.racks[0, other]).all()
    assert (deals.states.bag == state.bag).all()


@pytest.fixture(scope="module")
def positions() -> Positions:
    with use_backend("numpy"):
        return find_positions(games=5, seed=2)


def test_positions_hold_what_the_other_seat_holds(positions: Positions) -> None:
    """No seat holds what is not unseen, and the same kinds at random are the same for both."""
    assert (positions.held <= positions.unseen).all()
    assert (positions.held.sum(axis=1) <= Rules().rack).all()
    assert set(positions.game) == set(range(5))
    assert len(positions.now) == len(positions.last_turn) == len(positions.held)


def test_a_network_finds_what_features_tell(positions: Positions) -> None:
    """The rack itself as a feature tells nearly everything that kinds can tell, noise tells nothing."""
    args = Args(epochs=150)
    base, told = measure_gain(positions, np.log1p(positions.held)[:, :, None], args)
    noise = np.random.default_rng(0).normal(size=(*positions.held.shape, 1))
    same_base, nothing = measure_gain(positions, noise, args)
    assert base == same_base == pytest.approx(18, abs=1)
    assert told > 4
    assert nothing < 0.3


@needs_numba
def test_a_small_run(capsys: pytest.CaptureFixture[str]) -> None:
    found = main(Args(pairs=2, playouts=24, games=10, epochs=1))
    assert 0 <= found["won"] <= 1
    assert "fewer by the position" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["pairs", "playouts", "games", "epochs", "hidden"])
def test_numbers_that_are_too_small(name: str) -> None:
    with pytest.raises(ValueError, match=f"--{name} must be at least "):
        main(Args(**{name: 0}))
