"""A module trained with RLlib as a policy, for example for ``play`` and ``opponents=``."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModule

from genial_env.core.arrays import Bits, Ints
from genial_env.core.views import View
from genial_env.encodings import AnyEncoding, make_encoding

__all__ = ["MODULE", "RLlibAgent"]

MODULE = "learner"
"""The name of the module that learns."""


class RLlibAgent:
    """An agent that plays the most likely action of a module.

    The module is a :class:`~genial_env.envs.rllib.MaskedPPOModule`, or another one that computes logits for
    ``{"observation": ..., "action_mask": ...}``.

    Args:
        module: the module, or the folder of a checkpoint with it.
        name: the name in tables and records.
        encoding: the encoding that the module was trained with.
    """

    def __init__(
        self, module: RLModule | str | PathLike[str], name: str = "rllib", encoding: AnyEncoding = "flat"
    ) -> None:
        self.name = name
        if not isinstance(module, RLModule):
            module = RLModule.from_checkpoint(Path(module).absolute() / "learner_group/learner/rl_module" / MODULE)
        self._module: Any = module
        self._encoding = make_encoding(encoding)

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        logits = self._compute_logits(view)
        chosen: Ints = logits.argmax(dim=1).numpy()
        best, second = logits.topk(2, dim=1).values.T
        for game in np.flatnonzero((best - second < ROUNDING).numpy()) if len(view) > 1 else ():
            chosen[game] = self._compute_logits(view.select(np.array([game]))).argmax()
        return chosen

    def _compute_logits(self, view: View) -> torch.Tensor:
        """Compute the logits of all actions: [G, A]."""
        fields = {name: torch.from_numpy(array) for name, array in self._encoding.encode(view).items()}
        observation = {
            "observation": fields.get("", fields),
            "action_mask": torch.from_numpy(view.mask().view(np.int8)),
        }
        with torch.no_grad():
            logits: torch.Tensor = self._module.forward_inference({Columns.OBS: observation})[
                Columns.ACTION_DIST_INPUTS
            ]
        return logits


ROUNDING = 1e-3
"""Where two logits are closer, the game is computed alone: torch rounds a batch otherwise than a single game."""
