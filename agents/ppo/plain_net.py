"""A network without the game's structure, to compare with: two layers over the whole observation."""

import math

import torch
from torch import Tensor, nn

from agents.ppo.actor_critic import ActorCriticNet
from agents.ppo.net_policy import NetPolicy
from genial_env import Rules
from genial_env.core.tables import tables
from genial_env.encodings import make_encoding

__all__ = ["PlainNet", "PlainPolicy"]


class PlainNet(ActorCriticNet):
    """A multilayer perceptron over observations of the encoding "planes".

    Args:
        rules: the rules of the observations.
        width: number of hidden units of each layer.
    """

    def __init__(self, rules: Rules, width: int = 128) -> None:
        super().__init__(rules, width)
        fields = make_encoding("planes").fields(rules)
        self._scales = {name: 1 / field.high for name, field in fields.items()}
        self._scales["board"] = 1 / 3  # points; high ones are rare
        inputs = sum(math.prod(field.shape) for field in fields.values())
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.action_head, self.value_head = nn.Linear(width, tables(rules).n_actions), nn.Linear(width, 1)
        nn.init.orthogonal_(self.action_head.weight, 0.01)  # nearly uniform at first

    def forward(self, observation: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Compute logits [batch, A] and values [batch]."""
        hidden = self._hidden(observation)
        return self.action_head(hidden), self.value_head(hidden)[:, 0]

    def values(self, observation: dict[str, Tensor]) -> Tensor:
        """Compute values [batch]."""
        value: Tensor = self.value_head(self._hidden(observation))[:, 0]
        return value

    def _hidden(self, observation: dict[str, Tensor]) -> Tensor:
        parts = [observation[name].flatten(1) * scale for name, scale in self._scales.items()]
        hidden: Tensor = self.body(torch.cat(parts, dim=1))
        return hidden


class PlainPolicy(NetPolicy):
    """:class:`PlainNet` as a policy of MaskablePPO."""

    net_class = PlainNet
