"""The network of agents/ppo/halves_net.py as RLlib's PPO wants it, and past selves to play against.

The environment's encoding is :class:`HalvesAndTokens`: halves for the network, and beside them the tokens, from which
scripted agents (:class:`genial_env.envs.rllib.PolicyModule`) read the view back.
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
from genial_env.encodings import Field, Tokens
from genial_env.policies.halves import Halves, likeliest


class HalvesAndTokens:
    """The fields of "halves" (genial_env/policies/halves.py), and ``tokens``: the encoding "tokens"."""

    def __init__(self) -> None:
        self._halves, self._tokens = Halves(), Tokens()

    def fields(self, rules: Rules) -> dict[str, Field]:
        """The fields by name."""
        return {**self._halves.fields(rules), "tokens": self._tokens.fields(rules)[""]}

    def encode(self, view: View) -> dict[str, NDArray[Any]]:
        """[G, *shape] for each field, newly made."""
        return {**self._halves.encode(view), "tokens": self._tokens.encode(view)[""]}

    def decode(self, rules: Rules, arrays: dict[str, NDArray[np.uint8]]) -> View:
        """The views [G], seat 0's."""
        return self._tokens.decode(rules, {"": arrays["tokens"]})


class PastSelfModule(TorchRLModule):
    """:class:`~agents.ppo.halves_net.HalvesNet` playing its likeliest action, never trained.

    ``model_config`` holds ``rules``, as their ``to_dict`` gives them, and ``width``, the network's.
    """

    def setup(self) -> None:
        """In place: make the network. RLlib calls it."""
        self.net = HalvesNet(Rules.from_dict(self.model_config["rules"]), self.model_config["width"])

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        logits, _ = self.net(_floats(batch))
        mask = batch[Columns.OBS]["action_mask"].numpy(force=True) == 1
        return {Columns.ACTIONS: likeliest(logits.numpy(force=True), mask)}


class HalvesModule(PastSelfModule, ValueFunctionAPI):
    """:class:`~agents.ppo.halves_net.HalvesNet` as RLlib's PPO trains it: actions are drawn by their logits."""

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return {Columns.ACTION_DIST_INPUTS: self._forward_train(batch)[Columns.ACTION_DIST_INPUTS]}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        logits, values = self.net(_floats(batch))
        masked = logits.masked_fill(batch[Columns.OBS]["action_mask"] == 0, FLOAT_MIN)
        return {Columns.ACTION_DIST_INPUTS: masked, Columns.EMBEDDINGS: values}

    def compute_values(self, batch: dict[str, Any], embeddings: Tensor | None = None) -> Tensor:
        """[batch]: what the games are worth; the values themselves, where the batch went forward already."""
        return self.net.values(_floats(batch)) if embeddings is None else embeddings


def _floats(batch: dict[str, Any]) -> dict[str, Tensor]:
    """What the network reads of the observations, without the tokens."""
    seen = batch[Columns.OBS]["observation"]
    return {name: value.float() for name, value in seen.items() if name != "tokens"}
