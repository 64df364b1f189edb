"""What an encoding is."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from genial_env.rules import Rules
from genial_env.views import View


@dataclass(frozen=True)
class Field:
    """One array of an observation: every entry lies between 0 and `high`."""

    shape: tuple[int, ...]
    high: int
    dtype: type[np.generic] = np.uint8


@runtime_checkable
class Encoding(Protocol):
    """Views in, one array a field out."""

    def fields(self, rules: Rules) -> dict[str, Field]:
        """The fields by name; one with the empty name stands alone, without a dict around it."""

    def encode(self, view: View) -> dict[str, NDArray[Any]]:
        """[G, *shape] for each field, newly made."""
