"""A trained PPO policy (agents/halves_net.py) as plain numpy: no torch needed to play it.

Weights are a safetensors file with the network's parameters by name, and what they were trained for and by. The numbers
are those of the torch network to 1e-4 of a logit (logits are around 20), which tests compare.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from agents.halves import SCALES, SHARPNESS, UNSEEN_SCALE, Halves, likeliest, on_ends
from agents.settings import check
from genial_env import Rules
from genial_env.rules import TRACK_END
from genial_env.tables import Tables
from genial_env.views import View

WEIGHTS = Path(__file__).parent / "weights"
"""Where weights lie that are known by their names."""

Arrays = Mapping[str, NDArray[Any]]


class PPO:
    """Plays what a trained network likes best.

    Args:
        weights: a safetensors file, or the name of one in agents/weights.
        temperature: 0 plays the best action; above, actions are drawn with chances in proportion to
            ``exp(logit / temperature)``, 1 being as the policy was while it trained.
        name: how tables and records call it.

    Raises:
        ValueError: for weights that are not to be found or not readable as such, or a temperature below 0; when it is
            asked to play, for another number of seats or mode than it was trained for.
    """

    def __init__(self, weights: str | os.PathLike[str] = "ppo", temperature: float = 0.0, name: str = "ppo") -> None:
        check("temperature", temperature, 0 <= temperature < np.inf, "at least 0")
        self.name = name
        self._arrays, self.about = read_weights(find_weights(weights))
        self._rules = Rules.from_dict(json.loads(self.about["rules"]))
        self._temperature, self._encoding = temperature, Halves()

    def __call__(self, view: View, random: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Choose an action in each game."""
        trained, asked = ((rules.players, rules.mode) for rules in (self._rules, view.rules))
        if trained != asked:
            raise ValueError(f"{self.name} was trained for (seats, mode) {trained}, and is asked to play {asked}")
        found, mask = logits(self._arrays, view.tables, self._encoding.encode(view)), view.mask()
        if self._temperature == 0:
            return likeliest(found, mask)
        found = np.where(mask, found, -np.inf)
        weights = np.exp((found - found.max(axis=1, keepdims=True)).astype(np.float64) / self._temperature)
        upto = weights.cumsum(axis=1)
        luck = (random / 2.0**64 * upto[:, -1])[:, None]
        return np.minimum((upto <= luck).sum(axis=1), weights.shape[1] - 1 - (weights > 0)[:, ::-1].argmax(axis=1))


def logits(arrays: Arrays, t: Tables, observation: Arrays) -> NDArray[np.float32]:
    """[G, A]: as :class:`~agents.halves_net.HalvesNet` gives them, where it is explained.

    Args:
        arrays: the network's parameters.
        t: the tables of the rules.
        observation: of the encoding "halves".
    """
    seen = {name: array.astype(np.float32) for name, array in observation.items()}
    halves = seen["halves"] / np.array(SCALES, dtype=np.float32)
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
    swapping = SHARPNESS * _linear(arrays, "swap_net", standing.mean(axis=1))
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


def find_weights(weights: str | os.PathLike[str]) -> Path:
    """The file that is meant.

    Raises:
        ValueError: where there is none.
    """
    path, shipped = Path(weights), WEIGHTS / f"{weights}.safetensors"
    found = path if path.suffix else shipped
    if not found.exists():
        known = sorted(file.stem for file in WEIGHTS.glob("*.safetensors"))
        raise ValueError(f"there are no weights {str(weights)!r}: give a safetensors file or one of {known}")
    return found


def read_weights(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """A file's arrays and what it says about them.

    Raises:
        ValueError: for a file that holds no such weights.
    """
    try:
        with safe_open(path, framework="np") as file:
            about = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  it is no dict
    except (OSError, SafetensorError) as error:
        raise ValueError(f"{path} cannot be read as weights: {error}") from error
    if "rules" not in about:
        raise ValueError(f"{path} does not say for which rules its weights are")
    return arrays, about


def write_weights(path: Path, arrays: Arrays, rules: Rules, about: Mapping[str, Any]) -> None:
    """Write weights whole: beside the file first, then in its place.

    Args:
        path: a safetensors file.
        arrays: the network's parameters.
        rules: what they were trained for.
        about: what else is worth knowing, as JSON can say it.
    """
    beside = path.with_suffix(".part")
    words = {"rules": rules.to_dict(), **about}
    save_file(dict(arrays), beside, {name: json.dumps(value) for name, value in words.items()})
    beside.replace(path)
