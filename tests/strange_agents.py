"""Agents that misbehave, for the tests of tournaments, by their "module:factory"."""

from typing import Any

import numpy as np

from genial_env.bitsets import Ints
from genial_env.policies import RandomPolicy
from genial_env.views import View


class Crashing(RandomPolicy):
    """Plays at random, but now and then raises."""

    name = "crashing"

    def __call__(self, view: View, random: Any) -> Ints:
        if (random % np.uint64(16) == 0).any():
            raise RuntimeError("out of ideas")
        return super().__call__(view, random)


class Cheating(RandomPolicy):
    """Plays at random, but now and then something that is no action."""

    name = "cheating"

    def __call__(self, view: View, random: Any) -> Ints:
        return np.where(random % np.uint64(16) == 0, 10**6, super().__call__(view, random))


class Wordy(RandomPolicy):
    """Gives something else than actions."""

    name = "wordy"

    def __call__(self, view: View, random: Any) -> Any:
        return ["the best one"] * len(view)


def make(seat: int = 0, *, temperature: float = 1.0) -> RandomPolicy:
    """With settings."""
    policy = RandomPolicy()
    policy.name = f"made({seat}, {temperature})"
    return policy


NOTHING = 3
