"""The terms that correct results: their means are zero, and they add up to the luck of the draws."""

import numpy as np
import pytest

from genial_env import Rules, make_policy, play
from genial_env.analysis import corrections
from genial_env.analysis.corrections import QUARTERS, compute_terms, luck_of_choices
from genial_env.analysis.luck import compute_luck
from genial_env.core.arrays import Floats, Ints
from genial_env.core.views import View, view
from genial_env.policies.probabilities import find_probabilities, share_among
from genial_env.records import replay_many
from tests.analysis.test_luck import games, some_net
from tests.positions import every_rules


@every_rules
def test_the_mean_luck_of_a_choice_is_zero(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean over all actions, each with its probability, is exact if no sample is taken."""
    monkeypatch.setattr(corrections, "MOST_EVALUATED", 10_000)
    played, net = replay_many(games(rules)), some_net(rules)
    most = 0.0
    for row in (1, len(played.actions) // 2, len(played.actions) - 2):
        state = played.states.select(np.array([row]))
        legal = np.flatnonzero(view(state).mask()[0])[:40]

        def tell(seen: View, legal: Ints = legal) -> Floats:
            flags = np.zeros((len(seen), seen.tables.n_actions), dtype=np.bool_)
            flags[:, legal] = True
            return share_among(flags)

        luck = luck_of_choices(state.select(np.zeros(len(legal), dtype=np.int64)), legal, tell, net)
        np.testing.assert_allclose(luck.mean(axis=0), 0, atol=1e-12)
        most = max(most, float(np.abs(luck).max()))
    assert most > 0


def test_a_sample_of_many_actions_has_their_mean() -> None:
    """Over many positions, the estimate from a sample is the exact mean, apart from chance."""
    rules = Rules()
    played, net = replay_many(games(rules, 6)), some_net(rules)
    tell = find_probabilities(make_policy("random"))
    assert tell is not None
    luck = luck_of_choices(played.states, played.actions, tell, net)[:, 0]
    assert abs(luck.mean()) < 4 * luck.std() / np.sqrt(len(luck))
    assert luck.std() > 0
    again = luck_of_choices(played.states.select(np.arange(5, 9)), played.actions[5:9], tell, net)[:, 0]
    np.testing.assert_array_equal(again, luck[5:9])


@pytest.mark.parametrize("rules", [Rules(), Rules(3), Rules(4, "2009", "team"), Rules(1, "2009", "solo")], ids=str)
def test_terms_of_draws_add_up_to_their_luck(rules: Rules) -> None:
    records, net = games(rules, 2, "greedy"), some_net(rules)
    tell = find_probabilities(make_policy("greedy"))
    terms = compute_terms(records, net, [[tell] * rules.players] * 2)
    np.testing.assert_allclose(terms[..., :QUARTERS].sum(axis=2), compute_luck(records, net), atol=1e-12)
    assert np.abs(terms[..., QUARTERS:]).sum() > 0
    without = compute_terms(records, net, [[None] * rules.players] * 2)
    np.testing.assert_array_equal(without[..., :QUARTERS], terms[..., :QUARTERS])
    assert not without[..., QUARTERS:].any()
    if rules.tracks > 1:
        np.testing.assert_allclose(terms.sum(axis=1), 0, atol=1e-12)


def test_another_agent_than_the_one_that_played_is_noticed() -> None:
    played = replay_many(play(["random", "random"], games=1, seed=1, record=True).records or [])
    tell = find_probabilities(make_policy("greedy"))
    assert tell is not None
    with pytest.raises(ValueError, match="says that it never does"):
        luck_of_choices(played.states, played.actions, tell, some_net(Rules()))
