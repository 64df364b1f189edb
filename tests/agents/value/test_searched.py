"""Searched decisions, and learning from them."""

import numpy as np
import pytest
import torch

from agents.value.searched import Fit, Searched, SearchTask, fit, measure_choices, search_decisions
from agents.value.torch_net import TorchValueNet
from genial_env import Rules, use_backend
from genial_env.core.arrays import Floats32
from genial_env.policies import weight_files
from genial_env.policies.value import KIND
from genial_env.policies.value_net import ValueNet, Widths
from tests.conftest import needs_numba

pytestmark = needs_numba
GAMES = 6
SOLO = Rules(1, "2009", "solo")


def task(rules: Rules, seed: int = 4) -> SearchTask:
    weights = weight_files.Weights(KIND, ValueNet.layout_of).of(rules)
    return SearchTask(rules, dict(weights), seed, GAMES, share=0.2, candidates=5, deals=3, turns=1, temperature=0.05)


@pytest.mark.parametrize("rules", [SOLO, Rules()], ids=str)
def test_searched_decisions(rules: Rules) -> None:
    with use_backend("numba"):
        searched, again = search_decisions(task(rules)), search_decisions(task(rules))
    assert len(searched.sizes) > GAMES
    assert searched.sizes.min() >= 2
    assert searched.sizes.max() == 5
    assert searched.sizes.sum() == len(searched.features) == len(searched.utility)
    assert set(searched.game) <= set(range(GAMES))
    assert np.isfinite(searched.utility).all()
    np.testing.assert_array_equal(searched.utility, again.utility)
    np.testing.assert_array_equal(searched.features, again.features)


def test_joined_decisions_keep_their_games_and_actions() -> None:
    with use_backend("numba"):
        parts = [search_decisions(task(SOLO, seed)) for seed in (1, 2)]
    joined, first = Searched.join(parts), len(parts[0].sizes)
    assert joined.games == 2 * GAMES
    assert (joined.game[first:] == parts[1].game + GAMES).all()
    decisions = np.array([first, 0])
    found = joined.utility[joined.rows(decisions)]
    expected = [part.utility[: part.sizes[0]] for part in (parts[1], parts[0])]
    np.testing.assert_array_equal(found, np.concatenate(expected))


def searched_by(utility: Floats32, features: Floats32, sizes: list[int]) -> Searched:
    """Return decisions with these utilities."""
    return Searched(
        features.astype(np.int16),
        utility.astype(np.float32),
        np.array(sizes),
        np.arange(len(sizes)),
        games=len(sizes),
        moves=len(sizes),
        cpu_s=0.0,
    )


def test_choices_that_are_best_lose_nothing() -> None:
    """Where the search finds what the network predicts, nothing is lost. Where it finds the opposite, much is lost."""
    with use_backend("numba"):
        found = search_decisions(task(SOLO))
        weights = weight_files.Weights(KIND, ValueNet.layout_of).of(SOLO)
        net = TorchValueNet(SOLO, ValueNet.widths_of(weights), found.features)
        net.load_arrays(weights)
        playing = ValueNet(SOLO, weights)
        own = playing.outcomes.utility(playing(found.features))
    every = np.arange(len(found.sizes))
    regret, explained = measure_choices(net, searched_by(own, found.features, list(found.sizes)), every)
    assert regret < 1e-4
    assert explained > 0.999
    regret, explained = measure_choices(net, searched_by(-own, found.features, list(found.sizes)), every)
    spreads = [own[part].max() - own[part].min() for part in np.split(np.arange(len(own)), np.cumsum(found.sizes)[:-1])]
    assert regret == pytest.approx(float(np.mean(spreads)), abs=1e-3)
    assert explained < 0


def test_a_network_learns_what_the_search_found() -> None:
    torch.manual_seed(0)
    with use_backend("numba"):
        found = search_decisions(task(SOLO))
    every = np.arange(len(found.sizes))
    net = TorchValueNet(SOLO, Widths(16, 8, 16, 16, 8), found.features)
    assert measure_choices(net, found, every)[1] == pytest.approx(0, abs=1e-3)  # the same everywhere, but for rounding
    fit(net, found, every, Fit(200, 16, 3e-3, 4.0), np.random.default_rng(0))
    assert measure_choices(net, found, every)[1] > 0.5
