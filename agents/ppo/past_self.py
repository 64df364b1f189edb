"""A policy network as an opponent that plays its most likely action."""

from typing import Any

import torch
from torch import nn

from genial_env.core.arrays import Bits, Ints
from genial_env.core.views import View
from genial_env.encodings import AnyEncoding, make_encoding
from genial_env.policies.halves import choose_likeliest

__all__ = ["PastSelf"]


class PastSelf:
    """A network that plays.

    Args:
        net: maps observations, as floats by field, to logits [batch, A] and values.
        encoding: the encoding of the observations.
        name: the name in tables and records.
    """

    def __init__(self, net: nn.Module, encoding: AnyEncoding, name: str) -> None:
        self.name = name
        self._net, self._encoding = net, make_encoding(encoding)

    @torch.no_grad()
    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        arrays: dict[str, Any] = self._encoding.encode(view)
        logits, _ = self._net({name: torch.from_numpy(array).float() for name, array in arrays.items()})
        return choose_likeliest(logits.numpy(), view.mask())
