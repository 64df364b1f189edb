"""The base class of the networks that PPO trains."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from genial_env import Rules
from genial_env.core.arrays import Floats32

__all__ = ["ActorCriticNet"]


class ActorCriticNet(nn.Module, ABC):
    """A network from observations to logits and values.

    Observations are a dict of float tensors, an entry for each field of the encoding.

    Args:
        rules: the rules of the observations.
        width: number of hidden units.
    """

    @abstractmethod
    def __init__(self, rules: Rules, width: int) -> None:
        super().__init__()

    @abstractmethod
    def forward(self, observation: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Compute logits [batch, A] and values [batch]."""

    @abstractmethod
    def values(self, observation: dict[str, Tensor]) -> Tensor:
        """Compute values [batch] only."""

    def get_arrays(self) -> dict[str, Floats32]:
        """Return the weights that a file of weights holds, by name."""
        return {name: value.numpy(force=True).copy() for name, value in self.state_dict().items()}

    def load_arrays(self, arrays: Mapping[str, Floats32]) -> None:
        """Set the weights in place to what :meth:`get_arrays` returned."""
        self.load_state_dict({name: torch.as_tensor(array) for name, array in arrays.items()})
