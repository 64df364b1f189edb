"""Observation encodings turn views into arrays. Each has a file of its own and an entry in `registry.py`.

An encoding declares its fields, each an array with a dtype and a range, and computes them for a batch of views. It does
not depend on an environment library; `envs` makes spaces of the fields. docs/encodings.md lists every field for every
number of seats.
"""

from genial_env.encodings.augmentation import augment
from genial_env.encodings.base import Decodable, Encoding, Field, FunctionEncoding
from genial_env.encodings.registry import ENCODINGS, AnyEncoding, make_encoding

__all__ = ["ENCODINGS", "AnyEncoding", "Decodable", "Encoding", "Field", "FunctionEncoding", "augment", "make_encoding"]
