"""The value network for training: :class:`~genial_env.policies.value.ValueNet` in torch, with standardized inputs."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from genial_env.core.arrays import Floats32
from genial_env.core.rules import Rules
from genial_env.policies.afterstates import Features, color_features
from genial_env.policies.value import Outcomes, ValueNet

__all__ = ["TorchValueNet"]


class TorchValueNet(nn.Module):
    """A network from the features of afterstates to logits of outcomes.

    Args:
        rules: the rules.
        widths: numbers of hidden units of the four layers.
        sample: [n, W] features, by which inputs are standardized: each has mean 0 and deviation 1 over them.
    """

    color: Tensor
    game: Tensor
    bias_1: Tensor
    layer_2: Tensor
    bias_2: Tensor
    pooled: Tensor
    game_3: Tensor
    bias_3: Tensor
    layer_4: Tensor
    bias_4: Tensor
    out: Tensor
    bias_out: Tensor
    colors_mean: Tensor
    colors_scale: Tensor
    whole_mean: Tensor
    whole_scale: Tensor

    def __init__(self, rules: Rules, widths: tuple[int, int, int, int], sample: Features) -> None:
        super().__init__()
        self.rules, self.outcomes = rules, Outcomes(rules)
        self._per_color = len(color_features(rules))
        for name, shape in ValueNet.layout(rules, widths).items():
            weights = torch.zeros(shape)
            if len(shape) == 2:
                nn.init.kaiming_uniform_(weights.T, nonlinearity="relu")
            self.register_parameter(name, nn.Parameter(weights))
        colors, whole = _split_features(torch.as_tensor(sample).float(), rules.colors, self._per_color)
        for name, numbers in (("colors", colors.flatten(0, 1)), ("whole", whole)):
            self.register_buffer(f"{name}_mean", numbers.mean(dim=0))
            self.register_buffer(f"{name}_scale", 1 / numbers.std(dim=0).clamp(min=0.1))
        with torch.no_grad():
            self.out.zero_()

    def forward(self, features: Tensor) -> Tensor:
        """Compute logits [n, H, K] of afterstates [n, W]."""
        colors, whole = _split_features(features.float(), self.rules.colors, self._per_color)
        colors, whole = (colors - self.colors_mean) * self.colors_scale, (whole - self.whole_mean) * self.whole_scale
        first = torch.relu(colors @ self.color + (whole @ self.game + self.bias_1)[:, None])
        pooled = torch.relu(first @ self.layer_2 + self.bias_2).sum(dim=1)
        third = torch.relu(pooled @ self.pooled + whole @ self.game_3 + self.bias_3)
        fourth = torch.relu(third @ self.layer_4 + self.bias_4)
        logits: Tensor = (fourth @ self.out + self.bias_out).unflatten(1, (self.outcomes.heads, self.outcomes.classes))
        return logits

    def loss(self, features: Tensor, targets: Tensor) -> Tensor:
        """Compute the cross-entropy against outcomes [n, H, K], averaged over samples and heads."""
        found: Tensor = -(targets * self(features).log_softmax(dim=2)).sum(dim=2).mean()
        return found

    def arrays(self) -> dict[str, Floats32]:
        """Return the weights for :class:`~genial_env.policies.value.ValueNet`.

        That network reads features that are not standardized, so the scale is folded into the first layers.
        """
        w: Mapping[str, Any] = {
            name: value.detach().double().numpy() for name, value in [*self.named_parameters(), *self.named_buffers()]
        }
        color, game = w["color"] * w["colors_scale"][:, None], w["game"] * w["whole_scale"][:, None]
        game_3 = w["game_3"] * w["whole_scale"][:, None]
        folded = {name: w[name] for name, _ in self.named_parameters()} | {
            "color": color,
            "game": game,
            "game_3": game_3,
            "bias_1": w["bias_1"] - w["colors_mean"] @ color - w["whole_mean"] @ game,
            "bias_3": w["bias_3"] - w["whole_mean"] @ game_3,
        }
        return {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in folded.items()}

    def load_arrays(self, arrays: Mapping[str, Floats32]) -> None:
        """Set the weights in place to what :meth:`arrays` returned. The scale of the inputs stays as it is."""
        scale, mean = self.colors_scale[:, None], self.colors_mean
        whole_scale, whole_mean = self.whole_scale[:, None], self.whole_mean
        w = {name: torch.as_tensor(array) for name, array in arrays.items()}
        w["bias_1"] = w["bias_1"] + mean @ w["color"] + whole_mean @ w["game"]
        w["bias_3"] = w["bias_3"] + whole_mean @ w["game_3"]
        w |= {
            "color": w["color"] / scale,
            "game": w["game"] / whole_scale,
            "game_3": w["game_3"] / whole_scale,
        }
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                parameter.copy_(w[name])


def _split_features(features: Tensor, colors: int, per_color: int) -> tuple[Tensor, Tensor]:
    """Split features into those of the colors [n, C, F] and those of the whole game [n, ...]."""
    of_colors: Tensor = features[:, : colors * per_color].unflatten(1, (colors, per_color))
    return of_colors, features[:, colors * per_color :]
