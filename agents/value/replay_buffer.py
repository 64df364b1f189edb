"""The replay buffer of the value learner."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from agents.value.self_play import Samples

__all__ = ["ReplayBuffer"]


@dataclass
class ReplayBuffer:
    """The newest samples, in ring buffers.

    Attributes:
        features: [size, W] afterstates.
        targets: [size, H, K] their lambda-returns.
        total: number of samples added so far.
    """

    features: NDArray[np.int16]
    targets: NDArray[np.float16]
    total: int = 0

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The ring buffers."""
        return self.features, self.targets

    @property
    def filled(self) -> int:
        """The number of samples in the buffer."""
        return min(self.total, len(self.features))

    def add(self, samples: Samples) -> None:
        """Add samples in place; they replace the oldest ones."""
        at = (self.total + np.arange(len(samples))) % len(self.features)
        self.features[at], self.targets[at] = samples.features, samples.targets
        self.total += len(samples)

    def sample(self, n: int, rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """Sample with replacement: features [n, W] and targets [n, H, K]."""
        at = rng.integers(self.filled, size=n)
        return torch.from_numpy(self.features[at]), torch.from_numpy(self.targets[at]).float()
