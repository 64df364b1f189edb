"""The network of agents/ppo/halves_net.py as RLlib modules: one to train, one for past selves.

The encoding of the environment is :class:`HalvesAndTokens`: the halves for the network, and the tokens, from which
scripted agents (:class:`genial_env.envs.rllib.PolicyModule`) decode the view.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.utils.torch_utils import FLOAT_MIN
from torch import Tensor

from agents.ppo.halves_net import HalvesNet
from genial_env.core.rules import Rules
from genial_env.core.views import View
from genial_env.encodings import Field
from genial_env.encodings.tokens import Tokens
from genial_env.policies.halves import Halves, choose_likeliest

__all__ = ["HalvesAndTokens", "HalvesModule", "PastSelfModule"]


class HalvesAndTokens:
    """An encoding with the fields of "halves" (genial_env/policies/halves.py) and ``tokens``, the encoding "tokens"."""

    def __init__(self) -> None:
        self._halves, self._tokens = Halves(), Tokens()

    def fields(self, rules: Rules) -> dict[str, Field]:
        """Return the fields by name."""
        return {**self._halves.fields(rules), "tokens": self._tokens.fields(rules)[""]}

    def encode(self, view: View) -> dict[str, NDArray[Any]]:
        """Encode views: new arrays [G, *shape] for each field."""
        return {**self._halves.encode(view), "tokens": self._tokens.encode(view)[""]}

    def decode(self, rules: Rules, arrays: dict[str, NDArray[np.uint8]]) -> View:
        """Decode the views [G], as those of seat 0."""
        return self._tokens.decode(rules, {"": arrays["tokens"]})


class PastSelfModule(TorchRLModule):  # type: ignore[misc]  # ray has no type hints
    """:class:`~agents.ppo.halves_net.HalvesNet` as an opponent: it plays its most likely action and is not trained.

    ``model_config`` holds ``rules``, as ``Rules.to_dict`` returns them, and ``width``, of the network.
    """

    def setup(self) -> None:
        """Create the network in place. RLlib calls this method."""
        self.net = HalvesNet(Rules.from_dict(self.model_config["rules"]), self.model_config["width"])

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        logits, _ = self.net(_to_float(batch))
        mask = batch[Columns.OBS]["action_mask"].numpy(force=True) == 1
        return {Columns.ACTIONS: choose_likeliest(logits.numpy(force=True), mask)}


class HalvesModule(PastSelfModule, ValueFunctionAPI):  # type: ignore[misc]  # ray has no type hints
    """:class:`~agents.ppo.halves_net.HalvesNet` for RLlib's PPO, which samples actions by their logits."""

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return {Columns.ACTION_DIST_INPUTS: self._forward_train(batch)[Columns.ACTION_DIST_INPUTS]}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        logits, values = self.net(_to_float(batch))
        masked = logits.masked_fill(batch[Columns.OBS]["action_mask"] == 0, FLOAT_MIN)
        return {Columns.ACTION_DIST_INPUTS: masked, Columns.EMBEDDINGS: values}

    def compute_values(self, batch: dict[str, Any], embeddings: Tensor | None = None) -> Tensor:
        """Compute the values [batch]. Embeddings of a forward pass are the values themselves."""
        return self.net.values(_to_float(batch)) if embeddings is None else embeddings


def _to_float(batch: dict[str, Any]) -> dict[str, Tensor]:
    """Convert the fields that the network reads, all but the tokens, to floats."""
    observation = batch[Columns.OBS]["observation"]
    return {name: value.float() for name, value in observation.items() if name != "tokens"}
