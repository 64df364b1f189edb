"""A trained sb3-contrib model as a policy for `play`, `opponents=` and the rest."""

from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

from genial_env.core.views import View
from genial_env.encodings import Encoding, make_encoding


class SB3Agent:
    """Plays the likeliest action of a MaskablePPO model.

    Args:
        model: the model, or the file that it was saved in.
        name: how tables and records call it.
        encoding: the one that it was trained with.
    """

    def __init__(
        self, model: MaskablePPO | str | PathLike[str], name: str = "ppo", encoding: str | Encoding = "planes"
    ) -> None:
        self.name = name
        self._model = model if isinstance(model, MaskablePPO) else MaskablePPO.load(Path(model), device="cpu")
        self._encoding = make_encoding(encoding)

    def __call__(self, view: View, random: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Choose an action in each game."""
        arrays = self._encoding.encode(view)
        actions, _ = self._model.predict(arrays.get("", arrays), deterministic=True, action_masks=view.mask())
        return np.asarray(actions, dtype=np.int64)
