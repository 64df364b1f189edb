"""Declarations of arrays: axes, range, initial value, and what their numbers stand for.

The arrays of a :class:`~genial_env.core.state.State` and of a :class:`~genial_env.core.views.View` are declared once,
in the annotations of their classes::

    scores: Annotated[NDArray[np.int8], Spec("TC", "the markers", high=lambda t: t.rules.top)]

Shapes, dtypes, checks, copies, symmetries, the arguments of compiled functions and the tables in the documentation all
follow from these declarations.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, get_args, get_type_hints

import numpy as np

from genial_env.core.rules import Rules
from genial_env.core.tables import Tables, tables

__all__ = ["LEVELS", "Holds", "Limit", "Spec", "axis_sizes", "dtypes_of", "limit", "shape_of", "specs_of"]

LEVELS = 12
"""X: how many returns of each tile kind are kept; older ones are forgotten (docs/hidden.md says how seldom)."""

Limit = int | Callable[[Tables], int]
"""A limit of numbers, or how to compute it from the tables of the rules."""


class Holds(Enum):
    """What the numbers of an array stand for, so that a symmetry can map them."""

    NUMBERS = "numbers that a symmetry leaves alone"
    COLORS = "colors, or -1"
    KINDS = "tile kinds, or -1"
    START_SYMBOLS = "sets of start symbols, a bit for each color"
    PLACEMENTS = "sets of placements (bitsets)"


@dataclass(frozen=True)
class Spec:
    """The declaration of one array.

    Args:
        axes: its axes after the axis of the games, one letter each (:func:`axis_sizes`).
        content: what its numbers mean.
        low: the least number.
        high: the greatest number; None: not limited.
        initial: the number that fills the array before a game is dealt.
        holds: what the numbers stand for.
    """

    axes: str
    content: str
    low: int = 0
    high: Limit | None = None
    initial: int = 0
    holds: Holds = Holds.NUMBERS


@lru_cache(maxsize=64)
def axis_sizes(rules: Rules) -> Mapping[str, int]:
    """Return the size of every axis by its letter."""
    t = tables(rules)
    return {
        "P": rules.players,
        "T": rules.tracks,
        "C": rules.colors,
        "N": t.n_cells,
        "K": rules.rack,
        "E": t.n_placements,
        "M": t.n_kinds,
        "X": LEVELS,
        "W": t.n_words,
    }


def shape_of(spec: Spec, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Return the shape of an array without the axis of the games."""
    return tuple(sizes[axis] for axis in spec.axes)


def limit(value: Limit, rules: Rules) -> int:
    """Return a limit under some rules."""
    return value if isinstance(value, int) else value(tables(rules))


def specs_of(declaring: type) -> dict[str, Spec]:
    """Return the declarations of the arrays of a class, in the order of its fields."""
    hints = get_type_hints(declaring, include_extras=True)
    found = {name: [part for part in get_args(hint)[1:] if isinstance(part, Spec)] for name, hint in hints.items()}
    return {name: parts[0] for name, parts in found.items() if parts}


def dtypes_of(declaring: type) -> dict[str, np.dtype[Any]]:
    """Return the dtypes of the declared arrays of a class, from their annotations ``NDArray[dtype]``."""
    hints = get_type_hints(declaring)
    return {name: np.dtype(next(_scalar_types(hints[name]))) for name in specs_of(declaring)}


def _scalar_types(hint: Any) -> Iterator[type[np.generic]]:
    """Yield the scalar types in an annotation. How deep they are in ``NDArray`` depends on the version of numpy."""
    for part in get_args(hint):
        if isinstance(part, type) and issubclass(part, np.generic):
            yield part
        else:
            yield from _scalar_types(part)
