"""The encoding "flat": the fields of "planes" as one vector, for policies that need a vector."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.rules import Rules
from genial_env.core.views import View
from genial_env.encodings.base import Field, highest_of, scaled
from genial_env.encodings.planes import Planes

__all__ = ["Flat"]


class Flat:
    """One float32 vector: the fields of :class:`~genial_env.encodings.planes.Planes` in their order, each divided by
    its maximum, so that every entry lies between 0 and 1.
    """

    def fields(self, rules: Rules) -> dict[str, Field]:
        """Return one field with the empty name."""
        return {"": Field(_highest(rules).shape, high=1, dtype=np.float32)}

    def encode(self, view: View) -> dict[str, NDArray[Any]]:
        """Encode views as a new array [G, length]."""
        return {"": scaled(Planes().encode(view).values(), _highest(view.rules))}

    def decode(self, rules: Rules, arrays: dict[str, NDArray[Any]]) -> View:
        """Return the views [G] of encoded arrays, as seat 0 sees them."""
        whole = np.rint(arrays[""] * _highest(rules)).astype(np.uint8)
        fields = Planes().fields(rules)
        ends = np.cumsum([np.prod(field.shape, dtype=np.int64) for field in fields.values()])
        parts = np.split(whole, ends[:-1], axis=1)
        shaped = zip(fields.items(), parts, strict=True)
        return Planes().decode(rules, {name: part.reshape(len(whole), *field.shape) for (name, field), part in shaped})


@lru_cache(maxsize=64)
def _highest(rules: Rules) -> NDArray[np.float32]:  # [length]
    """Return the number by which each entry is divided."""
    return highest_of(Planes().fields(rules).values())
