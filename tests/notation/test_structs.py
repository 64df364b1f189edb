"""Views, states and actions as JSON, there and back."""

import json
import random
from typing import Any

import numpy as np
import pytest

from genial_env import Rules
from genial_env.core import kernel
from genial_env.core.views import VIEW_SPECS, View, view
from genial_env.notation.structs import (
    action_from_json,
    action_to_json,
    rules_from_json,
    rules_to_json,
    state_from_json,
    state_to_json,
    view_from_json,
    view_to_json,
)
from tests.core.test_hidden import swapping_play
from tests.positions import every_rules, random_actions, same


def same_view(one: View, other: View) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        and getattr(one, name).dtype == getattr(other, name).dtype
        for name in VIEW_SPECS
    )


def through_json(data: Any) -> Any:
    return json.loads(json.dumps(data))


@every_rules
def test_everything_comes_back(rules: Rules) -> None:
    assert rules_from_json(through_json(rules_to_json(rules))) == rules
    rng = np.random.default_rng(0)
    for steps in (0, 9, 30, 500):
        state = swapping_play(rules, games=3, seed=steps, steps=steps)
        for row in range(3):
            one = state.select(np.array([row]))
            assert same(state_from_json(rules, through_json(state_to_json(state, row))), one)
            for seat in range(rules.players):
                seen = view(one, seat)
                assert same_view(view_from_json(rules, through_json(view_to_json(seen))), seen)
            if not one.over[0]:
                seen = view(one)
                action = int(random_actions(one, np.zeros(1, dtype=np.int64), rng)[0])
                assert action_from_json(seen, through_json(action_to_json(seen, action))) == action


def test_what_may_be_done_is_the_mask() -> None:
    seen = view(swapping_play(Rules(), games=1, seed=2, steps=9))
    data = view_to_json(seen)
    t = seen.tables
    assert 2 * len(data["legal"]["slots"]) * len(data["legal"]["pairs"]) == seen.mask()[0, : t.swap_action].sum()
    first = data["legal"]["pairs"][0].split()
    placed = {"type": "place", "tile": data["rack"][0], "cells": first}
    action = action_from_json(seen, placed)
    assert seen.mask()[0, action]
    assert action_from_json(seen, {**placed, "tile": data["rack"][0][::-1], "cells": first[::-1]}) == action
    a, b = (rules_to_json(seen.rules)["cells"].index(cell) for cell in first)
    letters = data["rack"][0]
    total = data["points"][letters[0]][a] + data["points"][letters[1]][b]
    assert total == kernel.gained(swapping_play(Rules(), 1, 2, 9), np.array([action]), np.array([0])).sum()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"board": "R"}, "board: expected 91 of the characters RGBOYP."),
        ({"rack": ["RX"] * 6}, "a tile is two of the letters RGBOYP, not 'RX'"),
        ({"phase": "think"}, "phase: expected one of place, bonus, swap, over"),
        ({"scores": [[0] * 6]}, "scores: expected a list of 2"),
        ({"seat": 2}, "seat: expected a whole number from 0 to 1, found 2"),
        ({"levels": {"RR": [1] * 13}}, "levels RR: expected at most 12 numbers"),
        ({"unseen": {}}, "expected|no"),
        ({"more": 1}, "expected the keys"),
    ],
)
def test_wrong_views_are_refused(changes: dict[str, Any], message: str) -> None:
    rules = Rules()
    data = view_to_json(view(kernel.deal(rules, [1])))
    with pytest.raises(ValueError, match=message):
        view_from_json(rules, data | changes)


def test_changed_views_and_states_are_read_or_refused() -> None:
    """Whatever stands in them, there is a view or a state, or a ValueError."""
    rules, rng = Rules(side=3, colors=3, rack=2), random.Random(0)
    refused = 0
    for seed in range(40):
        state = swapping_play(rules, games=1, seed=seed, steps=rng.randrange(12))
        for data, read in ((view_to_json(view(state)), view_from_json), (state_to_json(state), state_from_json)):
            try:
                read(rules, changed(data, rng))
            except ValueError:
                refused += 1
    assert 20 < refused < 80


def changed(value: Any, rng: random.Random) -> Any:
    """The value with one number, text or entry in it changed."""
    if isinstance(value, dict | list) and value and rng.random() < 0.9:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key, copied = rng.choice(keys), value.copy()
        copied[key] = changed(value[key], rng)
        return copied
    if isinstance(value, str) and value:
        at = rng.randrange(len(value))
        return value[:at] + rng.choice("RGB.x0-") + value[at + 1 :]
    return rng.choice([0, -1, 255, 256, 10**30, 1.5, None, True, "x", [1], {"RR": 1}])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"type": "fly"}, "expected place, swap or decline"),
        ({"type": "place", "tile": "RO"}, "expected cells, and a tile or its slot"),
        ({"type": "place", "slot": 7, "cells": ["A1", "A2"]}, "slot: expected a whole number from 0 to 5"),
        ({"type": "place", "slot": 0, "cells": ["A1", "K1"]}, "not neighbours"),
        (3, "expected an object"),
    ],
)
def test_wrong_actions_are_refused(data: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        action_from_json(view(kernel.deal(Rules(), [1])), data)
