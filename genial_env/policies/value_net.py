"""The value network, in numpy: it predicts the outcomes of games from the features of afterstates.

Training is in `agents/value/`; playing needs only numpy and the weights.

Axis letters as in :mod:`genial_env.policies.afterstates`; also H distributions over K outcomes each.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from genial_env.backends import accelerated
from genial_env.core import ranking
from genial_env.core.arrays import Floats32
from genial_env.core.rules import Rules
from genial_env.core.tables import tables
from genial_env.policies import weight_files
from genial_env.policies.afterstates import Features, Inputs, afterstate_inputs
from genial_env.policies.exact_products import multiply, round_columns
from genial_env.policies.portable_exp import exp

__all__ = ["Outcomes", "ValueNet", "Widths", "predict"]


@dataclass(frozen=True)
class Outcomes:
    """What the network predicts: H distributions over K outcomes each.

    With several tracks the outcomes are the final ranks, K = T. There is a distribution for each track, own track
    first, H = T; with two tracks only that of the own track, H = 1. Tracks that tie share their ranks evenly. Solo the
    outcomes are the positions of the markers, from the lowest marker up: H = C and K = top + 1.
    """

    rules: Rules

    @property
    def heads(self) -> int:
        """H, the number of distributions."""
        tracks = self.rules.tracks
        return self.rules.colors if tracks == 1 else 1 if tracks == 2 else tracks

    @property
    def classes(self) -> int:
        """K, the number of outcomes."""
        return self.rules.top + 1 if self.rules.tracks == 1 else self.rules.tracks

    def of_scores(self, scores: NDArray[np.int8]) -> Floats32:
        """Return the outcomes of finished games with markers [n, T, C], for their track 0: [n, H, K]."""
        if self.rules.tracks == 1:
            markers = np.sort(scores[:, 0], axis=1)
            return np.asarray(markers[:, :, None] == np.arange(self.classes), dtype=np.float32)
        ranks = ranking.ranks(scores)[:, : self.heads]
        tied = (ranking.ranks(scores)[:, None, :] == ranks[:, :, None]).sum(axis=2)
        place = np.arange(1, self.classes + 1)
        shared = (place >= ranks[:, :, None]) & (place < (ranks + tied)[:, :, None])
        result: Floats32 = (shared / tied[:, :, None]).astype(np.float32)
        return result

    @property
    def weights(self) -> tuple[Floats32, Floats32]:
        """The utility of each outcome [K], and the weights of the distributions [H] by which they are added up.

        Ranks count from +1 for the first to -1 for the last. Solo, the lowest marker counts fully, the next one a
        tenth, and so on.
        """
        if self.rules.tracks == 1:
            return np.arange(self.classes, dtype=np.float32), (0.1 ** np.arange(self.heads)).astype(np.float32)
        return np.linspace(1, -1, self.classes, dtype=np.float32), np.ones(1, dtype=np.float32)

    def utility(self, chances: Floats32) -> Floats32:
        """Return the utility of predicted outcomes [n, H, K] for track 0: [n]."""
        weights, heads = self.weights
        return _sum_weighted(_sum_weighted(chances[:, : len(heads)], weights), heads)

    def expected(self, chances: Floats32) -> tuple[Floats32, Floats32]:
        """Return the expected rank utility and the probability of the first rank for track 0: [n] each.

        Solo these are the expected lowest marker, and nan.

        Args:
            chances: [n, H, K] predicted outcomes.
        """
        if self.rules.tracks == 1:
            lowest = _sum_weighted(chances[:, 0], self.weights[0])
            return lowest, np.full_like(lowest, np.nan)
        return self.utility(chances), chances[:, 0, 0]


def _sum_weighted(values: Floats32, weights: Floats32) -> Floats32:
    """Return the sums of values [n, ..., K] times weights [K], added up in order, which is the same in every batch."""
    return _sum_in_order(values * weights)


def _sum_in_order(values: Floats32) -> Floats32:
    """Return the sums over the last axis, added up from the first number to the last: [...]."""
    total = values[..., 0].copy()
    for k in range(1, values.shape[-1]):
        total += values[..., k]
    return total


class Widths(NamedTuple):
    """The numbers of hidden units of a value network."""

    first: int
    """of the layer of a color"""
    kind: int
    """of the layer of a tile kind"""
    second: int
    """of the second layer of a color"""
    third: int
    """of the first layer of the whole"""
    fourth: int
    """of the second layer of the whole"""


class ValueNet:
    """A value network over the features of afterstates, in numpy or compiled.

    A layer processes the features of each color, and one those of each tile kind with those of its two colors, both
    with the features of the game. The second layer processes each color with the sum over the tile kinds that show it.
    Two further layers process the sum over the colors and the features of the game. The weights are the same for all
    colors and for all kinds. So the network is invariant under permutations of the colors.

    The prediction for an afterstate is the same in every batch and on both backends, to the last bit
    (:mod:`genial_env.policies.exact_products`, :mod:`genial_env.policies.portable_exp`).

    Args:
        rules: the rules; the weights may be trained on other sizes, but not on another number of seats or mode.
        arrays: the weights by name (:meth:`layout`).

    Raises:
        ValueError: if the arrays do not fit the rules.
    """

    title = "the value network"
    """The name in messages."""

    def __init__(self, rules: Rules, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.rules, self.outcomes = rules, Outcomes(rules)
        where = f"{self.title} for {rules.colors} colors and {rules.players} seats"
        weight_files.check(arrays, self.layout_of(rules, arrays), where)
        self.arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        of_features = {
            "color": np.hstack([self.arrays["color"], self.arrays["kind_color"]]),
            "kind": self.arrays["kind"],
            "game": np.hstack([self.arrays[name] for name in ("game", "kind_game", "game_3")]),
        }
        self.matrices = {name: round_columns(self.arrays[name]) for name in _HIDDEN}
        """the matrices of the layers, rounded for exact products"""
        self.matrices |= {name: round_columns(array, np.int16) for name, array in of_features.items()}

    @staticmethod
    def inputs(rules: Rules) -> Inputs:
        """Return the numbers of features that it reads."""
        return afterstate_inputs(rules)

    @classmethod
    def layout(cls, rules: Rules, widths: Widths) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the weights, given the numbers of hidden units."""
        per_color, per_kind, whole = cls.inputs(rules)
        first, kind, second, third, fourth = widths
        outcomes = Outcomes(rules)
        out = outcomes.heads * outcomes.classes
        return {
            "color": (per_color, first),
            "game": (whole, first),
            "bias_1": (first,),
            "kind": (per_kind, kind),
            "kind_color": (per_color, kind),
            "kind_game": (whole, kind),
            "bias_kind": (kind,),
            "layer_2": (first, second),
            "kind_2": (kind, second),
            "bias_2": (second,),
            "pooled": (second, third),
            "game_3": (whole, third),
            "bias_3": (third,),
            "layer_4": (third, fourth),
            "bias_4": (fourth,),
            "out": (fourth, out),
            "bias_out": (out,),
        }

    @classmethod
    def layout_of(cls, rules: Rules, arrays: weight_files.Arrays) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the weights must have, given the sizes of their biases."""
        return cls.layout(rules, cls.widths_of(arrays))

    @staticmethod
    def widths_of(arrays: weight_files.Arrays) -> Widths:
        """Return the numbers of hidden units, the sizes of the biases."""
        biases = "bias_1", "bias_kind", "bias_2", "bias_3", "bias_4"
        return Widths(*(weight_files.count(arrays, name) for name in biases))

    def __call__(self, features: Features) -> Floats32:
        """Predict the outcomes of afterstates with features [n, W]: probabilities [n, H, K]."""
        return predict(self, features)

    def chances(self, features: Features) -> Floats32:
        """Compute :meth:`__call__` in numpy, for an amount of afterstates that fits in the cache."""
        logits = self._layer(self.last_hidden(features), "out", "bias_out")
        return _softmax(logits.reshape(len(features), self.outcomes.heads, self.outcomes.classes))

    def last_hidden(self, features: Features) -> Floats32:
        """Compute the last hidden layer for afterstates with features [n, W]: [n, fourth], not negative."""
        rules, w = self.rules, self.arrays
        colors, kinds, whole = self.inputs(rules).split(rules, features)
        to_first, to_kinds, to_third = np.split(
            multiply(np.ascontiguousarray(whole), self.matrices["game"]),
            np.cumsum([len(w["bias_1"]), len(w["bias_kind"])]),
            axis=1,
        )
        of_colors = multiply(np.ascontiguousarray(colors), self.matrices["color"])
        first, color_to_kind = of_colors[:, :, : len(w["bias_1"])], of_colors[:, :, len(w["bias_1"]) :]
        first = first + (to_first + w["bias_1"])[:, None]
        shown = self._add_kinds(kinds, color_to_kind, to_kinds + w["bias_kind"])
        second = self._layer(_rectify(first), "layer_2", "bias_2")
        second += multiply(shown, self.matrices["kind_2"])
        pooled = _rectify(second).sum(axis=1)
        third = self._layer(pooled, "pooled", "bias_3") + to_third
        return _rectify(self._layer(_rectify(third), "layer_4", "bias_4"))

    def _add_kinds(self, kinds: Features, of_colors: Floats32, of_game: Floats32) -> Floats32:
        """Return the sums of the layers of the kinds that show each color: [n, C, kind].

        Args:
            kinds: [n, M, D] the features of the kinds.
            of_colors: [n, C, kind] what each color adds to its kinds.
            of_game: [n, kind] what the game adds to each kind.
        """
        by_kind = multiply(_swap(kinds), self.matrices["kind"])  # numpy is several times faster kind by kind
        of_color = _swap(of_colors)
        shown, zeros = np.zeros_like(of_color), np.zeros_like(of_game)
        for layer, (a, b) in zip(by_kind, tables(self.rules).kinds, strict=True):
            layer += of_color[a] + of_color[b]
            layer += of_game
            np.maximum(layer, zeros, out=layer)
            shown[a] += layer
            if a != b:
                shown[b] += layer
        return _swap(shown)

    def _layer(self, inputs: Floats32, matrix: str, bias: str) -> Floats32:
        outputs = multiply(inputs, self.matrices[matrix])
        outputs += self.arrays[bias]
        return outputs


_Number = TypeVar("_Number", bound=np.number[Any])

_HIDDEN = ("layer_2", "kind_2", "pooled", "layer_4", "out")


@accelerated
def predict(net: ValueNet, features: Features) -> Floats32:
    """Predict the outcomes of afterstates with features [n, W]: probabilities [n, H, K]."""
    parts = [net.chances(features[i : i + AT_ONCE]) for i in range(0, len(features), AT_ONCE)]
    return np.concatenate(parts) if parts else net.chances(features)


def _swap(array: NDArray[_Number]) -> NDArray[_Number]:
    """Return an array [n, m, ...] as [m, n, ...], contiguous."""
    return np.ascontiguousarray(array.swapaxes(0, 1))


def _rectify(values: Floats32) -> Floats32:
    """In place: replace negative numbers by 0; return the array."""
    return np.maximum(values, np.zeros_like(values), out=values)  # numpy is several times slower with a number


def _softmax(logits: Floats32) -> Floats32:
    """Turn logits [n, H, K] into H distributions over K outcomes."""
    powers = exp(logits - logits.max(axis=2, keepdims=True))
    powers /= _sum_in_order(powers)[:, :, None]
    return powers


AT_ONCE = 256
"""Afterstates evaluated together, so that they fit in the cache."""
