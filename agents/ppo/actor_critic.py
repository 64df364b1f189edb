"""The base class of the networks that PPO trains."""

from abc import ABC, abstractmethod

from torch import Tensor, nn

from genial_env import Rules

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
