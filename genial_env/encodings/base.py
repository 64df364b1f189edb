"""The protocols of encodings, and an adapter for plain functions."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from genial_env.core.kernel import deal
from genial_env.core.rules import Rules
from genial_env.core.views import View, view

__all__ = ["Decodable", "Encoding", "Field", "FunctionEncoding", "highest_of", "scaled"]


@dataclass(frozen=True)
class Field:
    """One array of an observation: every entry lies between `low` and `high`."""

    shape: tuple[int, ...]
    high: float
    dtype: type[np.generic] = np.uint8
    low: float = 0


@runtime_checkable
class Encoding(Protocol):
    """Turns views into arrays, one for each field."""

    def fields(self, rules: Rules) -> dict[str, Field]:
        """Return the fields by name; a field with the empty name is an observation of its own, without a dict."""

    def encode(self, view: View) -> dict[str, NDArray[Any]]:
        """Return new arrays, [G, *shape] for each field."""


@runtime_checkable
class Decodable(Encoding, Protocol):
    """An encoding from which the view can be read back."""

    def decode(self, rules: Rules, arrays: dict[str, NDArray[Any]]) -> View:
        """Return the views [G]. Encodings do not hold the number of the seat, so it is 0 in all of them."""


class FunctionEncoding:
    """An encoding by a function from views of G games to one array [G, ...] or a dict of arrays.

    Shapes and dtypes are those of its result for a newly dealt game. Bounds are those of the dtype, infinite for
    floats.

    Args:
        function: depends on the view only, and returns new arrays of the same shape and dtype at every call.
    """

    def __init__(self, function: Callable[[View], Any]) -> None:
        self._function = function

    def fields(self, rules: Rules) -> dict[str, Field]:
        """Return the fields by name.

        Raises:
            TypeError: if the function returns anything but arrays.
            ValueError: if an array lacks the axis of the games.
        """
        return {name: _field_of(name, array) for name, array in self.encode(view(deal(rules, [0, 1]))).items()}

    def encode(self, view: View) -> dict[str, NDArray[Any]]:
        """Return the result of the function as a dict."""
        given = self._function(view)
        return dict(given) if isinstance(given, dict) else {"": given}


def highest_of(fields: Iterable[Field]) -> NDArray[np.float32]:
    """Return the maximum of every entry, one field after the other, as one vector."""
    return np.concatenate([np.full(int(np.prod(field.shape)), field.high, dtype=np.float32) for field in fields])


def scaled(parts: Iterable[NDArray[Any]], highest: NDArray[np.float32]) -> NDArray[np.float32]:
    """Concatenate arrays [G, ...] and divide each entry by its maximum: [G, length]."""
    rows = [part.reshape(len(part), int(np.prod(part.shape[1:]))) for part in parts]
    vector: NDArray[np.float32] = np.divide(np.concatenate(rows, axis=1), highest, dtype=np.float32)
    return vector


def _field_of(name: str, array: Any) -> Field:
    what = f"the encoding's field {name!r}" if name else "the encoding"
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{what} must be a numpy array, not {type(array).__name__}")
    if array.shape[:1] != (2,):
        raise ValueError(f"{what} must have one entry a game, for 2 games the shape (2, ...), not {array.shape}")
    if array.dtype.kind == "f":
        low, high = -np.inf, np.inf
    elif array.dtype.kind in "iu":
        low, high = float(np.iinfo(array.dtype).min), float(np.iinfo(array.dtype).max)
    else:
        raise TypeError(f"{what} must hold whole numbers or floats, not {array.dtype}")
    return Field(array.shape[1:], high, array.dtype.type, low)
