"""A trained PPO policy (agents/ppo/halves_net.py) as plain numpy: no torch needed to play it.

The weights are the network's parameters by name (genial_env/policies/weight_files.py). The numbers are those of the
torch network to 1e-4 of a logit (logits are around 20), which tests compare.
"""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_number
from genial_env.core.rules import TRACK_END, Rules
from genial_env.core.tables import Tables
from genial_env.core.views import View
from genial_env.policies.halves import (
    COLOR_FEATURES,
    HALF_FEATURES,
    HEADS,
    SCALES,
    SHARPNESS,
    STANDING,
    UNSEEN_SCALE,
    VALUE_UNITS,
    Halves,
    likeliest,
    on_ends,
    value_inputs,
)
from genial_env.policies.settings import check_name
from genial_env.policies.weight_files import Arrays, Weights, count

KIND = "ppo"
"""What the files of weights call this network."""


class PPO:
    """Plays what a trained network likes best.

    Args:
        weights: a file of weights; left out, the one that is shipped for the game's seats.
        temperature: 0 plays the best action; above, actions are drawn with chances in proportion to
            ``exp(logit / temperature)``, 1 being as the policy was while it trained.
        name: how tables and records call it.

    Raises:
        FileNotFoundError, ValueError: for a file that is none of weights, or a temperature below 0; when it is asked to
            play, for another number of seats or mode than the weights are for.
    """

    def __init__(
        self, weights: str | os.PathLike[str] | None = None, temperature: float = 0.0, name: str = "ppo"
    ) -> None:
        self.name = check_name(name)
        self._weights = Weights(KIND, layout, weights)
        self._temperature, self._encoding = as_number(temperature, "temperature", 0), Halves()

    def prepare(self, rules: Rules) -> None:
        """Read the weights for a game; raises what is wrong with them, ValueError where there are none."""
        self._weights.of(rules)

    def __call__(self, view: View, random: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Choose an action in each game."""
        found, mask = logits(self._weights.of(view.rules), view.tables, self._encoding.encode(view)), view.mask()
        if self._temperature == 0:
            return likeliest(found, mask)
        found = np.where(mask, found, -np.inf)
        weights = np.exp((found - found.max(axis=1, keepdims=True)).astype(np.float64) / self._temperature)
        upto = weights.cumsum(axis=1)
        luck = (random / 2.0**64 * upto[:, -1])[:, None]
        result: NDArray[np.int64] = np.minimum(
            (upto <= luck).sum(axis=1), weights.shape[1] - 1 - (weights > 0)[:, ::-1].argmax(axis=1)
        )
        return result


def layout(rules: Rules, arrays: Arrays) -> dict[str, tuple[int, ...]]:
    """The shapes of the network's parameters, with as many hidden units over cells as they have.

    Raises:
        ValueError: for solo rules, which the network does not play.
    """
    if rules.tracks < 2:
        raise ValueError(f"the policy takes others to compare with, and mode {rules.mode!r} has none")
    width = count(arrays, "cell_net.bias")
    shapes: dict[str, tuple[int, ...]] = {}
    for layer, (outputs, inputs) in {
        "color_net.own": (STANDING, COLOR_FEATURES),
        "color_net_2.own": (STANDING, STANDING),
        "direct": (HALF_FEATURES * HEADS, STANDING),
        "cell_net": (width, HALF_FEATURES),
        "tile_net": (2, STANDING),
        "swap_net": (2, STANDING),
        "value_net.0": (VALUE_UNITS, value_inputs(rules)),
        "value_net.2": (VALUE_UNITS, VALUE_UNITS),
        "value_net.4": (1, VALUE_UNITS),
    }.items():
        shapes |= {f"{layer}.weight": (outputs, inputs), f"{layer}.bias": (outputs,)}
    return shapes | {
        "color_net.mean.weight": (STANDING, COLOR_FEATURES),
        "color_net_2.mean.weight": (STANDING, STANDING),
        "shift.weight": (width, STANDING),
        "heads.weight": (HEADS, width),
    }


def logits(arrays: Arrays, t: Tables, observation: Arrays) -> NDArray[np.float32]:
    """Compute the logits [G, A] of :class:`~agents.ppo.halves_net.HalvesNet`, which explains the network.

    Every matrix product is a stack of products of the same shape, one for each game. So a game's logits do not depend
    on the other games of the batch, not even in their last bits.

    Args:
        arrays: the network's parameters.
        t: the tables of the rules.
        observation: of the encoding "halves".
    """
    seen = {name: array.astype(np.float32) for name, array in observation.items()}
    halves = np.asarray(seen["halves"] / np.array(SCALES), dtype=np.float32)
    standing = _standing(arrays, seen, halves)
    games, colors, cells, features = halves.shape
    weights = _linear(arrays, "direct", standing).reshape(games, colors, features, -1)
    hidden = _linear(arrays, "cell_net", halves) + _linear(arrays, "shift", standing)[:, :, None]
    heads = SHARPNESS * (halves @ weights + _linear(arrays, "heads", np.maximum(hidden, 0)))
    score, summed, most, most_against = np.moveaxis(heads, 3, 0)  # each [G, C, N]
    score = score + (summed.mean(axis=1) + most.max(axis=1) - most_against.max(axis=1))[:, None]
    rack = seen["rack"]  # [G, K, 2, C]
    placed = (rack.reshape(games, -1, colors) @ score).reshape(games, -1, 2 * cells) @ on_ends(t)  # [G, K, E]
    terms = SHARPNESS * _linear(arrays, "tile_net", standing)
    tile = rack.sum(axis=2) @ terms[:, :, :1] + rack.prod(axis=2) @ terms[:, :, 1:]
    swapping = SHARPNESS * _linear(arrays, "swap_net", standing.mean(axis=1, keepdims=True))[:, 0]
    return np.concatenate([(placed + tile).reshape(games, -1), swapping], axis=1).astype(np.float32)


def _standing(arrays: Arrays, seen: Arrays, halves: NDArray[np.float32]) -> NDArray[np.float32]:  # [G, C, entries]
    markers = seen["markers"] / TRACK_END
    own, others = markers[:, 0], markers[:, 1:].max(axis=1)
    lowest, others_lowest = own.min(axis=1, keepdims=True), others.min(axis=1, keepdims=True)
    features = [
        own,
        others,
        own - lowest,
        others - others_lowest,
        own == lowest,
        others == others_lowest,
        seen["rack"].sum(axis=(1, 2)) / seen["rack"].shape[1],
        seen["unseen"] / UNSEEN_SCALE,
        np.broadcast_to(seen["free"].mean(axis=1, keepdims=True), own.shape),
    ]
    on_board = [3 * halves.mean(axis=2), halves.max(axis=2)]
    colors = np.concatenate([np.stack(features, axis=2), *on_board], axis=2).astype(np.float32)
    for layer in ("color_net", "color_net_2"):
        mean = _linear(arrays, f"{layer}.mean", colors.mean(axis=1, keepdims=True))
        colors = np.maximum(_linear(arrays, f"{layer}.own", colors) + mean, 0)
    return colors


def _linear(arrays: Arrays, layer: str, inputs: NDArray[Any]) -> NDArray[Any]:
    return inputs @ arrays[f"{layer}.weight"].T + arrays.get(f"{layer}.bias", np.float32(0))
