"""The base class of policies for sb3-contrib's MaskablePPO that consist of one network."""

from typing import Any

import numpy as np
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn

from agents.ppo.actor_critic import ActorCriticNet
from agents.ppo.masked import LeanMaskedCategorical, count_actions
from genial_env import Rules

__all__ = ["NetPolicy"]


class NetPolicy(MaskableActorCriticPolicy):
    """A network with a masked distribution over its logits. Subclasses name the network's class.

    Args:
        observation_space: as Stable-Baselines3 passes it.
        action_space: likewise; must be Discrete.
        lr_schedule: likewise.
        rules_arguments: the rules, as ``Rules.to_dict`` returns them. A saved model holds them.
        width: number of hidden units of the network.
        kwargs: further arguments of MaskableActorCriticPolicy.
    """

    net_class: type[ActorCriticNet]
    net: ActorCriticNet

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        rules_arguments: dict[str, Any],
        width: int = 24,
        **kwargs: Any,
    ) -> None:
        self._rules_arguments, self._width = rules_arguments, width
        super().__init__(observation_space, action_space, lr_schedule, **kwargs)

    def _build(self, lr_schedule: Schedule) -> None:
        self.net = self._make_net(Rules.from_dict(self._rules_arguments), self._width)
        self.action_dist = LeanMaskedCategorical(count_actions(self.action_space))
        extractor: Any = nn.Identity()  # Stable-Baselines3 wants one; the network reads observations itself
        self.features_extractor = self.pi_features_extractor = self.vf_features_extractor = extractor
        make_optimizer: Any = self.optimizer_class
        self.optimizer = make_optimizer(self.net.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def _make_net(self, rules: Rules, width: int) -> ActorCriticNet:
        return self.net_class(rules, width)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        own = {"rules_arguments": self._rules_arguments, "width": self._width}
        return super()._get_constructor_parameters() | own

    def forward(
        self, obs: Any, deterministic: bool = False, action_masks: np.ndarray | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Choose actions [batch]; return them with values [batch, 1] and log-probabilities [batch]."""
        logits, values = self.net(_to_float(obs))
        distribution = self._masked(logits, action_masks)
        actions = distribution.get_actions(deterministic=deterministic)
        return actions, values[:, None], distribution.log_prob(actions)

    def evaluate_actions(
        self, obs: Any, actions: Tensor, action_masks: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Compute values [batch, 1], and log-probabilities and entropies [batch] of given actions."""
        logits, values = self.net(_to_float(obs))
        distribution = self._masked(logits, action_masks)
        return values[:, None], distribution.log_prob(actions), distribution.entropy()

    def get_distribution(self, obs: Any, action_masks: np.ndarray | None = None) -> LeanMaskedCategorical:
        """Return the distribution over actions."""
        return self._masked(self.net(_to_float(obs))[0], action_masks)

    def predict_values(self, obs: Any) -> Tensor:
        """Compute values [batch, 1]."""
        return self.net.values(_to_float(obs))[:, None]

    def _masked(self, logits: Tensor, action_masks: Any) -> LeanMaskedCategorical:
        distribution = LeanMaskedCategorical(logits.shape[1]).proba_distribution(logits)
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution


def _to_float(observation: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.float() for name, value in observation.items()}
