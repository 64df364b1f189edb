"""The encoding "flat": the planes in one vector, for policies that take nothing else."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.encodings.base import Field
from genial_env.encodings.planes import Planes
from genial_env.rules import Rules
from genial_env.views import View


class Flat:
    """One float32 vector: the fields of :class:`~genial_env.encodings.planes.Planes` in their order, each divided by
    its maximum, so that every entry lies between 0 and 1.
    """

    def __init__(self) -> None:
        self._planes = Planes()

    def fields(self, rules: Rules) -> dict[str, Field]:
        """One field without a name."""
        length = sum(int(np.prod(field.shape)) for field in self._planes.fields(rules).values())
        return {"": Field((length,), high=1, dtype=np.float32)}

    def encode(self, view: View) -> dict[str, NDArray[Any]]:
        """[G, length], newly made."""
        parts = self._planes.encode(view)
        fields = self._planes.fields(view.rules)
        vector = np.empty((len(view), *self.fields(view.rules)[""].shape), dtype=np.float32)
        end = 0
        for name, field in fields.items():
            start, end = end, end + int(np.prod(field.shape))
            np.divide(parts[name].reshape(len(view), end - start), np.float32(field.high), out=vector[:, start:end])
        return {"": vector}

    def decode(self, rules: Rules, arrays: dict[str, NDArray[Any]]) -> View:
        """The views [G], seat 0's."""
        vector, parts, end = arrays[""], {}, 0
        for name, field in self._planes.fields(rules).items():
            start, end = end, end + int(np.prod(field.shape))
            whole = np.rint(vector[:, start:end] * np.float32(field.high)).astype(np.uint8)
            parts[name] = whole.reshape(len(vector), *field.shape)
        return self._planes.decode(rules, parts)
