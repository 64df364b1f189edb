"""Observation encodings: views in, arrays out. One file an encoding, one line here.

An encoding names its fields, each a uint8 or float32 array from 0 to a documented maximum, and fills them for a whole
batch of views. It knows no environment library; `envs` turns the fields into spaces.
"""

from genial_env.encodings.base import Encoding, Field
from genial_env.encodings.flat import Flat
from genial_env.encodings.planes import Planes

ENCODINGS: dict[str, type[Encoding]] = {"planes": Planes, "flat": Flat}

__all__ = ["ENCODINGS", "Encoding", "Field", "make_encoding"]


def make_encoding(encoding: str | Encoding) -> Encoding:
    """An encoding by its name; an encoding itself is handed through.

    Raises:
        ValueError: for an unknown name.
        TypeError: for something that can be neither.
    """
    if isinstance(encoding, str):
        if encoding not in ENCODINGS:
            raise ValueError(f"unknown encoding {encoding!r}: the encodings are {', '.join(ENCODINGS)}")
        return ENCODINGS[encoding]()
    if not isinstance(encoding, Encoding):
        raise TypeError(f"an encoding has fields(rules) and encode(view), unlike {encoding!r}")
    return encoding
