"""The value network for training: in torch, with standardized inputs (:mod:`genial_env.policies.value_net`)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from genial_env.core.arrays import Floats32
from genial_env.core.rules import Rules
from genial_env.core.tables import tables
from genial_env.policies.afterstates import Features
from genial_env.policies.value_net import Outcomes, ValueNet, Widths

__all__ = ["TorchValueNet"]


class TorchValueNet(nn.Module):
    """A network from the features of afterstates to logits of outcomes.

    Sums over colors and kinds begin as means: the matrices that they are multiplied with are divided by their numbers.

    Args:
        rules: the rules.
        widths: numbers of hidden units.
        sample: [n, W] features, by which inputs are standardized: each has mean 0 and deviation 1 over them.
        kind: the network that plays what this one learns; it determines the features.
    """

    color: Tensor
    game: Tensor
    bias_1: Tensor
    kind: Tensor
    kind_color: Tensor
    kind_game: Tensor
    bias_kind: Tensor
    layer_2: Tensor
    kind_2: Tensor
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
    kinds_mean: Tensor
    kinds_scale: Tensor
    whole_mean: Tensor
    whole_scale: Tensor
    halves: Tensor
    shows: Tensor

    def __init__(self, rules: Rules, widths: Widths, sample: Features, kind: type[ValueNet] = ValueNet) -> None:
        super().__init__()
        self.rules, self.outcomes, self._inputs = rules, Outcomes(rules), kind.inputs(rules)
        layout = kind.layout(rules, widths)
        self._names = list(layout)
        for name, shape in layout.items():
            weights = torch.zeros(shape)
            if len(shape) == 2:
                nn.init.kaiming_uniform_(weights.T, nonlinearity="relu")
            if name in _AFTER_SUMS:
                weights /= rules.colors
            self.register_parameter(name, nn.Parameter(weights))
        halves = torch.tensor(tables(rules).color_counts).float()
        self.register_buffer("halves", halves, persistent=False)  # [M, C]
        self.register_buffer("shows", halves.T.clamp(max=1).contiguous(), persistent=False)  # [C, M]
        colors, kinds, whole = self._split(torch.as_tensor(sample))
        for name, numbers in (("colors", colors.flatten(0, 1)), ("kinds", kinds.flatten(0, 1)), ("whole", whole)):
            self.register_buffer(f"{name}_mean", numbers.mean(dim=0))
            self.register_buffer(f"{name}_scale", 1 / numbers.std(dim=0).clamp(min=0.1))
        with torch.no_grad():
            self.out.zero_()

    def forward(self, features: Tensor) -> Tensor:
        """Compute logits [n, H, K] of afterstates [n, W]."""
        colors, kinds, whole = self.standardize(features)
        first = torch.relu(colors @ self.color + (whole @ self.game + self.bias_1)[:, None])
        of_kinds = kinds @ self.kind + self.halves @ (colors @ self.kind_color)
        shown = self.shows @ torch.relu(of_kinds + (whole @ self.kind_game + self.bias_kind)[:, None])
        second = torch.relu(first @ self.layer_2 + shown @ self.kind_2 + self.bias_2)
        third = torch.relu(second.sum(dim=1) @ self.pooled + whole @ self.game_3 + self.bias_3)
        fourth = torch.relu(third @ self.layer_4 + self.bias_4)
        logits: Tensor = (fourth @ self.out + self.bias_out).unflatten(1, (self.outcomes.heads, self.outcomes.classes))
        return logits

    def standardize(self, features: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the inputs of afterstates [n, W]: of the colors [n, C, F], of the kinds [n, M, D], of the game."""
        colors, kinds, whole = self._split(features)
        colors, kinds = (colors - self.colors_mean) * self.colors_scale, (kinds - self.kinds_mean) * self.kinds_scale
        return colors, kinds, (whole - self.whole_mean) * self.whole_scale

    def loss(self, features: Tensor, targets: Tensor) -> Tensor:
        """Compute the cross-entropy against outcomes [n, H, K], averaged over samples and heads."""
        found: Tensor = -(targets * self(features).log_softmax(dim=2)).sum(dim=2).mean()
        return found

    def arrays(self) -> dict[str, Floats32]:
        """Return the weights for :class:`~genial_env.policies.value_net.ValueNet`.

        That network reads features that are not standardized, so the scale is folded into the first layers.
        """
        w: dict[str, Any] = {
            name: value.detach().double().numpy() for name, value in [*self.named_parameters(), *self.named_buffers()]
        }
        for name, numbers in _SCALED.items():
            w[name] = w[name] * w[f"{numbers}_scale"][:, None]
        w["bias_1"] = w["bias_1"] - w["colors_mean"] @ w["color"] - w["whole_mean"] @ w["game"]
        w["bias_kind"] = (
            w["bias_kind"]
            - w["kinds_mean"] @ w["kind"]
            - 2 * w["colors_mean"] @ w["kind_color"]
            - w["whole_mean"] @ w["kind_game"]
        )
        w["bias_3"] = w["bias_3"] - w["whole_mean"] @ w["game_3"]
        return {name: np.ascontiguousarray(w[name], dtype=np.float32) for name in self._names}

    def load_arrays(self, arrays: Mapping[str, Floats32]) -> None:
        """Set the weights in place to what :meth:`arrays` returned. The scale of the inputs stays as it is.

        The arrays may be of a network with fewer hidden units. The units that it lacks keep their first weights, and
        the other units do not read them. So the outputs are the same, as in Net2WiderNet (Chen et al., 2016).

        Raises:
            ValueError: if a layer of the arrays has more units than the network.
        """
        w = {name: torch.as_tensor(array) for name, array in arrays.items()}
        w["bias_1"] = w["bias_1"] + self.colors_mean @ w["color"] + self.whole_mean @ w["game"]
        w["bias_kind"] = (
            w["bias_kind"]
            + self.kinds_mean @ w["kind"]
            + 2 * self.colors_mean @ w["kind_color"]
            + self.whole_mean @ w["kind_game"]
        )
        w["bias_3"] = w["bias_3"] + self.whole_mean @ w["game_3"]
        for name, numbers in _SCALED.items():
            w[name] = w[name] / getattr(self, f"{numbers}_scale")[:, None]
        for name in self._names:
            own, read = tuple(self.get_parameter(name).shape), tuple(w[name].shape)
            if len(own) != len(read) or any(size < wanted for size, wanted in zip(own, read, strict=True)):
                raise ValueError(f"array {name!r}: expected at most the shape {own}, got {read}")
        with torch.no_grad():
            for name in self._names:
                weights = self.get_parameter(name)
                weights[..., : w[name].shape[-1]] = 0
                weights[tuple(slice(size) for size in w[name].shape)] = w[name]

    def _split(self, features: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Split features into those of the colors [n, C, F], of the kinds [n, M, D] and of the game [n, ...]."""
        n_colors, n_kinds = self.shows.shape
        sizes = [n_colors * self._inputs.color, n_kinds * self._inputs.kind, self._inputs.game]
        colors, kinds, whole = features.float().split(sizes, dim=1)
        return colors.unflatten(1, (n_colors, -1)), kinds.unflatten(1, (n_kinds, -1)), whole


_SCALED = {
    "color": "colors",
    "kind_color": "colors",
    "kind": "kinds",
    "game": "whole",
    "kind_game": "whole",
    "game_3": "whole",
}
"""The matrices of features, and the features that they are multiplied with."""

_AFTER_SUMS = ("kind_2", "pooled")
"""The matrices that are multiplied with sums over kinds or colors."""
