"""What policies say about the probabilities of their actions is what they do."""

import numpy as np
import pytest

from genial_env import Rules, kernel, make_policy, play, view
from genial_env.core.arrays import Bits, Ints
from genial_env.core.chance import bits
from genial_env.core.views import View
from genial_env.policies.greedy import GreedyPolicy
from genial_env.policies.ppo import PPO
from genial_env.policies.probabilities import find_probabilities
from genial_env.records import replay_many

TELLING = ["random", "points", "greedy", "lexicographic", "concave", "denial"]


def positions(rules: Rules, agent: str = "greedy", every: int = 9) -> View:
    """Some positions of a game, seen by the seats to play."""
    played = replay_many(play([agent] * rules.players, rules, 1, 7, record=True).records or [])
    return view(played.states.select(np.arange(0, len(played.actions), every)))


@pytest.mark.parametrize("name", TELLING)
def test_frequencies_are_the_probabilities(name: str) -> None:
    policy, seen = make_policy(name), positions(Rules(side=4, rack=3), every=5)
    tell = find_probabilities(policy)
    assert tell is not None
    told = tell(seen)
    assert told.shape == (len(seen), seen.tables.n_actions)
    np.testing.assert_allclose(told.sum(axis=1), 1)
    times, n = np.zeros_like(told), 400
    for number in range(n):
        actions = policy(seen, bits(np.arange(len(seen), dtype=np.uint64), number))
        times[np.arange(len(seen)), actions] += 1
    assert (told[times > 0] > 0).all()
    errors = (times / n - told) / np.sqrt(np.maximum(told * (1 - told), 1e-12) / n)
    assert np.abs(errors[told > 5 / n]).max() < 5


@pytest.mark.parametrize("temperature", [0.0, 30.0])
def test_probabilities_of_ppo(temperature: float) -> None:
    policy, seen = PPO(temperature=temperature, candidates=6), positions(Rules(), every=16)
    told = policy.probabilities(seen)
    np.testing.assert_allclose(told.sum(axis=1), 1)
    for number in range(5):
        actions = policy(seen, bits(np.arange(len(seen), dtype=np.uint64), number))
        assert (told[np.arange(len(seen)), actions] > 0).all()
    assert ((told > 0).sum(axis=1) == 1).all() == (temperature == 0)


class First(GreedyPolicy):
    """Plays otherwise than its base class."""

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose the first legal action."""
        first: Ints = view.mask().argmax(axis=1)
        return first


def test_who_does_not_tell_is_not_guessed() -> None:
    assert find_probabilities(First()) is None
    assert find_probabilities(make_policy("value(candidates=4)")) is None
    seen = view(kernel.deal(Rules(), range(3)))
    assert (First()(seen, np.zeros(3, dtype=np.uint64)) >= 0).all()
