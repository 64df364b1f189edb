"""Observation encodings: views in, arrays out. One file an encoding, one line in `registry.py`.

An encoding names its fields, each an array of a documented dtype and range, and fills them for a whole batch of views.
It knows no environment library; `envs` turns the fields into spaces. docs/encodings.md lists every field for every
number of seats.
"""

from genial_env.encodings.augmentation import augment
from genial_env.encodings.base import Decodable, Encoding, Field, FunctionEncoding
from genial_env.encodings.registry import ENCODINGS, AnyEncoding, make_encoding

__all__ = ["ENCODINGS", "AnyEncoding", "Decodable", "Encoding", "Field", "FunctionEncoding", "augment", "make_encoding"]
