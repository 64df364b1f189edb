"""Encodings by name."""

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
"""What environments take as an encoding: a name, an :class:`Encoding`, or a function of the views."""


def make_encoding(encoding: AnyEncoding) -> Encoding:
    """An encoding by its name, or of a function; an encoding itself is handed through.

    Raises:
        ValueError: for an unknown name.
        TypeError: for something that can be none of these.
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
