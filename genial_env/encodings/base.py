"""What an encoding is, and how a plain function becomes one."""

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
    """Views in, one array a field out."""

    def fields(self, rules: Rules) -> dict[str, Field]:
        """The fields by name; one with the empty name stands alone, without a dict around it."""

    def encode(self, view: View) -> dict[str, NDArray[Any]]:
        """[G, *shape] for each field, newly made."""


@runtime_checkable
class Decodable(Encoding, Protocol):
    """An encoding from which the view can be read back."""

    def decode(self, rules: Rules, arrays: dict[str, NDArray[Any]]) -> View:
        """The views [G]; which seat is looking is in no encoding, so that it is seat 0 in all of them."""


class FunctionEncoding:
    """A function as an encoding: views of G games in, one array [G, ...] or a dict of them out.

    Shapes and dtypes are those of what it gives for a newly dealt game. Bounds are those of the dtype, for floats
    infinite.

    Args:
        function: must be a function of the view alone, and give new arrays of the same shape and dtype at every call.
    """

    def __init__(self, function: Callable[[View], Any]) -> None:
        self._function = function

    def fields(self, rules: Rules) -> dict[str, Field]:
        """The fields by name.

        Raises:
            TypeError: where the function gives something other than arrays.
            ValueError: where an array lacks the axis of the games.
        """
        return {name: _field_of(name, array) for name, array in self.encode(view(deal(rules, [0, 1]))).items()}

    def encode(self, view: View) -> dict[str, NDArray[Any]]:
        """What the function gives."""
        given = self._function(view)
        return dict(given) if isinstance(given, dict) else {"": given}


def highest_of(fields: Iterable[Field]) -> NDArray[np.float32]:
    """The fields' maxima, entry by entry, one field after the other."""
    return np.concatenate([np.full(int(np.prod(field.shape)), field.high, dtype=np.float32) for field in fields])


def scaled(parts: Iterable[NDArray[Any]], highest: NDArray[np.float32]) -> NDArray[np.float32]:
    """[G, length]: parts [G, ...] one after the other, each entry divided by its maximum."""
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
