"""Checkpoints of trainers, loaded without running code from the file.

``torch.load`` with ``weights_only=True`` and a list of further types that are harmless.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.random import bit_generator

from genial_env import Rules, State
from genial_env.core.tables import tables
from genial_env.envs.streams import SeedStreams

__all__ = ["load_checkpoint"]

_MADE_BY_FUNCTIONS = (
    np.zeros(1),
    np.float64(0),
    np.random.default_rng(0),
    np.random.PCG64(0),
    bit_generator.SeedSequence(0),
)
"""One object of each type that pickle creates by calling a function."""

_TYPES = (np.ndarray, np.dtype, np.random.PCG64, bit_generator.SeedSequence, State, Rules, SeedStreams)

_NUMBERS = ("bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")


def load_checkpoint(path: Path, types: Sequence[type] = ()) -> Any:
    """Load a file that torch.save wrote: tensors, numbers, text, containers, arrays, random generators, games.

    Args:
        path: the file.
        types: further types that the file may contain.

    Raises:
        ValueError: if the file cannot be read or contains anything else. No code from the file is run.
    """
    factories: list[Any] = [tables, *(made.__reduce__()[0] for made in _MADE_BY_FUNCTIONS)]
    numbers = [type(np.dtype(name)) for name in _NUMBERS]
    with torch.serialization.safe_globals([*factories, *_TYPES, *numbers, *types]):
        try:
            return torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:  # pickle's, zipfile's and torch's own
            reason = (
                str(error).rsplit("WeightsUnpickler error:", 1)[-1].strip().splitlines() or [type(error).__name__]
            )[0]
            raise ValueError(
                f"{path}: expected a checkpoint of this trainer, found something else: {reason}"
            ) from error
