"""A trained sb3-contrib model as a policy, for example for ``play`` and ``opponents=``."""

from os import PathLike
from pathlib import Path

import numpy as np
from sb3_contrib import MaskablePPO

from genial_env.core.arrays import Bits, Ints
from genial_env.core.views import View
from genial_env.encodings import AnyEncoding, make_encoding

__all__ = ["SB3Agent"]


class SB3Agent:
    """An agent that plays the most likely action of a MaskablePPO model.

    Args:
        model: the model, or the file that it was saved in.
        name: the name in tables and records.
        encoding: the encoding that the model was trained with.
    """

    def __init__(
        self, model: MaskablePPO | str | PathLike[str], name: str = "ppo", encoding: AnyEncoding = "planes"
    ) -> None:
        self.name = name
        self._model = model if isinstance(model, MaskablePPO) else MaskablePPO.load(Path(model), device="cpu")
        self._encoding = make_encoding(encoding)

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        arrays = self._encoding.encode(view)
        actions, _ = self._model.predict(arrays.get("", arrays), deterministic=True, action_masks=view.mask())
        return np.asarray(actions, dtype=np.int64)
