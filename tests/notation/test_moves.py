"""Moves as people type them."""

import numpy as np
import pytest

from genial_env import Rules
from genial_env.core import kernel
from genial_env.core.state import Phase
from genial_env.core.views import View, view
from genial_env.notation.moves import format_decision, format_with_points, list_best_by_points, read_decision
from tests.positions import every_rules, random_actions, random_play


@every_rules
def test_what_is_typed_is_what_is_meant(rules: Rules) -> None:
    rng = np.random.default_rng(0)
    for steps in (0, 5, 30):
        state = random_play(rules, 6, seed=steps, steps=steps)
        state = state.select(~state.over)
        for row, action in enumerate(random_actions(state, np.arange(len(state)), rng).tolist()):
            one = view(state, rows=np.array([row]))
            again = read_decision(one, format_decision(one, action).split())
            assert format_decision(one, again) == format_decision(one, action)
            assert kernel.is_legal(state, np.array([again]), np.array([row]))[0]
            assert read_decision(one, format_decision(one, action, by_slot=True).split()) == action
            assert format_with_points(one, action).startswith(format_decision(one, action))
            assert list_best_by_points(one, 3)


def deciding(phase: Phase, edition: str) -> View:
    """What a seat knows that has to decide something else than where to lay its tile."""
    rules = Rules(2, edition, side=4, colors=4, rack=3)
    for seed in range(50):
        for steps in range(12, 18):
            state = random_play(rules, 64, seed=1000 * seed, steps=steps)
            found = np.flatnonzero(state.phase == phase)
            if found.size:
                return view(state, rows=found[:1])
    raise AssertionError("no such game")


def test_swapping_and_declining() -> None:
    seen = deciding(Phase.SWAP, "2025")
    t = seen.tables
    assert list_best_by_points(seen, 9) == [t.swap_action, t.decline_action]
    assert [format_decision(seen, action) for action in (t.swap_action, t.decline_action)] == ["swap", "keep"]
    assert [read_decision(seen, [word]) for word in ("swap", "keep", "decline")] == [
        t.swap_action,
        *[t.decline_action] * 2,
    ]
    with pytest.raises(ValueError, match="no tile is laid now: swap or keep"):
        read_decision(seen, ["0", "A1", "A2"])
    bonus = deciding(Phase.BONUS, "2009")
    assert format_decision(bonus, t.decline_action) == "decline"
    assert read_decision(bonus, ["decline"]) == list_best_by_points(bonus, 1)[-1] == t.decline_action
    with pytest.raises(ValueError, match="no decline now: lay a bonus tile"):
        read_decision(deciding(Phase.BONUS, "2025"), ["decline"])
