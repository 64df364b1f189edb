"""The named encodings."""

from collections.abc import Callable
from typing import Any

from genial_env.core.views import View
from genial_env.encodings.base import Decodable, Encoding, FunctionEncoding
from genial_env.encodings.flat import Flat
from genial_env.encodings.planes import Planes
from genial_env.encodings.tokens import Tokens

__all__ = ["ENCODINGS", "AnyEncoding", "make_encoding"]

ENCODINGS: dict[str, type[Decodable]] = {"planes": Planes, "flat": Flat, "tokens": Tokens}

AnyEncoding = str | Encoding | Callable[[View], Any]
"""What environments accept as an encoding: a name, an :class:`Encoding`, or a function of the views."""


def make_encoding(encoding: AnyEncoding) -> Encoding:
    """Return the encoding of a name or function; an encoding itself is returned unchanged.

    Raises:
        ValueError: if the name is unknown.
        TypeError: if the argument is nothing of this kind.
    """
    if isinstance(encoding, str):
        if encoding not in ENCODINGS:
            raise ValueError(f"unknown encoding {encoding!r}: the encodings are {', '.join(ENCODINGS)}")
        return ENCODINGS[encoding]()
    if isinstance(encoding, Encoding):
        return encoding
    if callable(encoding):
        return FunctionEncoding(encoding)
    raise TypeError(f"an encoding is a name, a function, or has fields(rules) and encode(view), unlike {encoding!r}")
