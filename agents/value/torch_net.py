"""The value network for learning: :class:`~genial_env.policies.value.ValueNet` in torch, with the numbers brought to
one scale.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from genial_env.core.rules import Rules
from genial_env.policies.afterstates import Features, color_features
from genial_env.policies.value import Outcomes, ValueNet


class TorchValueNet(nn.Module):
    """Afterstates' numbers to logits.

    Args:
        rules: what it plays.
        widths: hidden units of the four layers.
        sample: [n, W] numbers by which the scale is set: each mean 0 and deviation 1 over them.
    """

    def __init__(self, rules: Rules, widths: tuple[int, int, int, int], sample: Features) -> None:
        super().__init__()
        self.rules, self.outcomes = rules, Outcomes(rules)
        self._per_color = len(color_features(rules))
        for name, shape in ValueNet.layout(rules, widths).items():
            weights = torch.zeros(shape)
            if len(shape) == 2:
                nn.init.kaiming_uniform_(weights.T, nonlinearity="relu")
            self.register_parameter(name, nn.Parameter(weights))
        colors, whole = _parted(torch.as_tensor(sample).float(), rules.colors, self._per_color)
        for name, numbers in (("colors", colors.flatten(0, 1)), ("whole", whole)):
            self.register_buffer(f"{name}_mean", numbers.mean(dim=0))
            self.register_buffer(f"{name}_scale", 1 / numbers.std(dim=0).clamp(min=0.1))
        with torch.no_grad():
            self.out.zero_()

    def forward(self, features: Tensor) -> Tensor:
        """Logits [n, H, K] of afterstates [n, W]."""
        colors, whole = _parted(features.float(), self.rules.colors, self._per_color)
        colors, whole = (colors - self.colors_mean) * self.colors_scale, (whole - self.whole_mean) * self.whole_scale
        first = torch.relu(colors @ self.color + (whole @ self.game + self.bias_1)[:, None])
        pooled = torch.relu(first @ self.layer_2 + self.bias_2).sum(dim=1)
        third = torch.relu(pooled @ self.pooled + whole @ self.game_3 + self.bias_3)
        fourth = torch.relu(third @ self.layer_4 + self.bias_4)
        logits: Tensor = fourth @ self.out + self.bias_out
        return logits.unflatten(1, (self.outcomes.heads, self.outcomes.classes))

    def loss(self, features: Tensor, targets: Tensor) -> Tensor:
        """The cross-entropy of outcomes [n, H, K], the mean over samples and heads."""
        return -(targets * self(features).log_softmax(dim=2)).sum(dim=2).mean()

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """The weights for :class:`~genial_env.policies.value.ValueNet`, which takes the numbers as they are: the scale
        is put into the first layers.
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

    def take_over(self, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        """In place: the reverse of :meth:`arrays`; the scale stays."""
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


def _parted(features: Tensor, colors: int, per_color: int) -> tuple[Tensor, Tensor]:
    """The numbers of the colors [n, C, F] and of the game [n, ...]."""
    return features[:, : colors * per_color].unflatten(1, (colors, per_color)), features[:, colors * per_color :]
