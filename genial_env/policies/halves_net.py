"""The network that scores halves (agents/ppo/halves_net.py), evaluated in numpy without torch.

Tests compare the logits with those of the torch network; they agree within 1e-4, and logits are around 20.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.rules import TRACK_END, Rules
from genial_env.core.tables import Tables
from genial_env.policies.halves import (
    COLOR_FEATURES,
    HALF_FEATURES,
    HEADS,
    SCALES,
    SHARPNESS,
    STANDING,
    UNSEEN_SCALE,
    VALUE_UNITS,
    count_value_inputs,
    make_half_sums,
)
from genial_env.policies.weight_files import Arrays, count

__all__ = ["layout", "logits"]


def layout(rules: Rules, arrays: Arrays) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the network's parameters. The number of hidden units over cells is that of the arrays.

    Raises:
        ValueError: if the rules are solo, which the network cannot play.
    """
    if rules.tracks < 2:
        raise ValueError(f"the policy needs opponents, and mode {rules.mode!r} has none")
    width = count(arrays, "cell_net.bias")
    shapes: dict[str, tuple[int, ...]] = {}
    for layer, (outputs, inputs) in {
        "color_net.own": (STANDING, COLOR_FEATURES),
        "color_net_2.own": (STANDING, STANDING),
        "direct": (HALF_FEATURES * HEADS, STANDING),
        "cell_net": (width, HALF_FEATURES),
        "tile_net": (2, STANDING),
        "swap_net": (2, STANDING),
        "value_net.0": (VALUE_UNITS, count_value_inputs(rules)),
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
        observation: an observation of the encoding "halves".
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
    placed = (rack.reshape(games, -1, colors) @ score).reshape(games, -1, 2 * cells) @ make_half_sums(t)  # [G, K, E]
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
