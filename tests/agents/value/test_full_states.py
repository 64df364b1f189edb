"""Training samples of the network of full states."""

from typing import Any

import numpy as np
import pytest

from agents.value.full_states import FullStateTask, play_full_states
from genial_env import Rules
from genial_env.analysis.full_states import full_inputs
from genial_env.policies import weight_files
from genial_env.policies.value import KIND
from genial_env.policies.value_net import Outcomes, ValueNet

GAMES = 6


def task(rules: Rules, **settings: Any) -> FullStateTask:
    weights = weight_files.Weights(KIND, ValueNet.layout_of).of(rules)
    return FullStateTask(rules, dict(weights), seed=4, games=GAMES, candidates=4, **settings)


@pytest.mark.parametrize("rules", [Rules(), Rules(3), Rules(1, "2009", "solo")], ids=str)
def test_samples(rules: Rules) -> None:
    samples, outcomes = play_full_states(task(rules)), Outcomes(rules)
    assert samples.games == GAMES
    assert len(samples) > GAMES * rules.players * 5
    assert samples.features.shape[1] == full_inputs(rules).width(rules)
    assert samples.targets.shape[1:] == (outcomes.heads, outcomes.classes)
    np.testing.assert_allclose(samples.targets.sum(axis=2), 1, atol=1e-5)
    again = play_full_states(task(rules))
    np.testing.assert_array_equal(again.features, samples.features)
    np.testing.assert_array_equal(again.targets, samples.targets)


def test_with_lambda_one_the_targets_are_outcomes() -> None:
    targets = play_full_states(task(Rules(), td_lambda=1.0)).targets
    assert set(np.unique(targets)) <= {0.0, 0.5, 1.0}
    assert not set(np.unique(play_full_states(task(Rules())).targets)) <= {0.0, 0.5, 1.0}
