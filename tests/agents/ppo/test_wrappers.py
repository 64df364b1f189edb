"""Wrappers of the training environment: augmentation and shaping."""

import numpy as np

from agents.ppo.augmented_env import VecSymmetryAugmentation
from agents.ppo.shaping import VecPotentialShaping, potential
from genial_env.envs.sb3 import GenialVecEnv
from genial_env.policies.halves import Halves
from tests.agents.helpers import random_actions


def test_augmentation_does_not_change_the_games() -> None:
    """Actions chosen for images are mapped back: the images of the same actions play the same games."""
    plain = GenialVecEnv(6, opponents="greedy", encoding="planes", seed=3, illegal_action="raise")
    inner = GenialVecEnv(6, opponents="greedy", encoding="planes", seed=3, illegal_action="raise")
    augmented = VecSymmetryAugmentation(inner, inner.rules, "planes", 5)
    seen, image, rng = plain.reset(), augmented.reset(), np.random.default_rng(0)
    changed = 0
    for step in range(60):
        assert np.array_equal(np.sort(seen["markers"][:, 0], axis=1), np.sort(image["markers"][:, 0], axis=1))
        changed += int((seen["board"] != image["board"]).any())
        masks = augmented.env_method("action_masks")
        assert (masks.sum(axis=1) == plain.action_masks().sum(axis=1)).all()
        if step == 20:
            saved = augmented.get_state()
            augmented.reset()
            augmented.set_state(saved)
        actions = random_actions(masks, rng)
        original = augmented._symmetry.inverse.actions(actions, augmented._rack)
        seen, earned, done, _ = plain.step(original)
        image, earned_too, done_too, _ = augmented.step(actions)
        assert np.array_equal(earned, earned_too)
        assert np.array_equal(done, done_too)
    assert changed > 50


def test_shaping_telescopes() -> None:
    """Over an episode the additions sum to -phi of its first observation, whatever was played."""
    plain = GenialVecEnv(6, opponents="random", encoding=Halves(), seed=3)
    shaped = VecPotentialShaping(GenialVecEnv(6, opponents="random", encoding=Halves(), seed=3), weight=0.7)
    first = shaped.reset()
    assert np.array_equal(plain.reset()["markers"], first["markers"])
    rng, added, ends = np.random.default_rng(0), np.zeros(6), 0
    expected = -0.7 * potential(first["markers"])
    for step in range(60):
        actions = random_actions(plain.action_masks(), rng)
        _, earned, _, _ = plain.step(actions)
        seen, with_shaping, done, _ = shaped.step(actions)
        added += with_shaping - earned
        assert np.allclose(added[done], expected[done], atol=1e-5)
        ends += int(done.sum())
        added[done], expected[done] = 0.0, -0.7 * potential(seen["markers"])[done]
        if step == 20:  # in the middle of games
            saved = shaped.get_state()
            shaped.reset()
            shaped.set_state(saved)
    assert ends >= 6


def test_the_potential_counts_own_markers() -> None:
    markers = np.zeros((3, 2, 6))
    markers[1, 0] = 18
    markers[2, 0, :3] = 18
    markers[:, 1] = 5
    assert potential(markers).tolist() == [0.0, 1.0, 0.25]
