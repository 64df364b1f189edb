"""Masks of the images; tests/agents/ppo/test_wrappers.py plays games under symmetries."""

from typing import Any

import numpy as np
import pytest

from agents.ppo.augmented_env import VecSymmetryAugmentation
from genial_env.envs.sb3 import GenialVecEnv


@pytest.mark.parametrize("indices", [1, [2, 0], range(1, 3)], ids=str)
def test_masks_of_some_games(indices: Any) -> None:
    """Each has the symmetry of its own game."""
    inner = GenialVecEnv(3, encoding="planes", seed=3)
    augmented = VecSymmetryAugmentation(inner, inner.rules, "planes", 5)
    augmented.reset()
    for _ in range(2):  # the first positions have the same masks under all symmetries
        augmented.step(augmented.env_method("action_masks").argmax(axis=1))
    masks = augmented.env_method("action_masks")
    assert (masks != inner.action_masks()).any(axis=1).all()
    some = augmented.env_method("action_masks", indices=indices)
    assert np.array_equal(some, masks[[indices] if isinstance(indices, int) else list(indices)])


@pytest.mark.parametrize("name", ["render", "get_wrapper_attr", "jump"])
def test_other_methods_would_show_the_games_themselves(name: str) -> None:
    inner = GenialVecEnv(2, encoding="planes", render_mode="ansi")
    augmented = VecSymmetryAugmentation(inner, inner.rules, "planes", 5)
    augmented.reset()
    with pytest.raises(AttributeError, match=f"have only action_masks, not '{name}'"):
        augmented.env_method(name)
