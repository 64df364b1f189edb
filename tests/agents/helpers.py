"""Helpers of the tests of agents."""

import numpy as np


def random_actions(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Choose a random legal action in each game."""
    return np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)
