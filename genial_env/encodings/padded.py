"""The encoding "planes" of smaller games, padded to the size of a larger one, so that one network reads all of them."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Ints
from genial_env.core.rules import Rules
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.encodings.base import Field
from genial_env.encodings.planes import Planes

__all__ = ["PaddedPlanes", "check_fits"]


class PaddedPlanes:
    """The fields of :class:`~genial_env.encodings.planes.Planes`, with the shapes and bounds of a larger game.

    The centre of the board stays the centre. Cells off the smaller board are not in play; slots, colors and tile kinds
    that the smaller game lacks are zeros.

    Args:
        largest: the rules whose shapes observations have.
    """

    def __init__(self, largest: Rules) -> None:
        self.largest = largest
        self._planes = Planes()

    def fields(self, rules: Rules) -> dict[str, Field]:
        """Return the fields of the larger game by name.

        Raises:
            ValueError: if the game does not fit into the larger one.
        """
        check_fits(rules, self.largest)
        return self._planes.fields(self.largest)

    def encode(self, view: View) -> dict[str, NDArray[Any]]:
        """Encode views as new arrays [G, *shape], one for each field."""
        fields = self._planes.fields(self.largest)
        places = _places(view.rules, self.largest)
        padded = {}
        for name, array in self._planes.encode(view).items():
            padded[name] = np.zeros((len(view), *fields[name].shape), dtype=array.dtype)
            padded[name][np.ix_(np.arange(len(view)), *places.get(name, map(np.arange, array.shape[1:])))] = array
        return padded


def check_fits(rules: Rules, largest: Rules) -> None:
    """Check that a game is a smaller version of another one.

    Raises:
        ValueError: if it has other players, another edition or mode, or a larger size.
    """
    for name in ("players", "edition", "mode", "one_bonus_a_tile"):
        if getattr(rules, name) != getattr(largest, name):
            raise ValueError(
                f"{name} must be the same in all games, {getattr(largest, name)!r}, not {getattr(rules, name)!r}"
            )
    for name in ("side", "colors", "rack", "tile_sets"):
        if getattr(rules, name) > getattr(largest, name):
            raise ValueError(f"{name} must be at most {getattr(largest, name)}, not {getattr(rules, name)}")


@lru_cache(maxsize=64)
def _places(rules: Rules, largest: Rules) -> dict[str, tuple[Ints, ...]]:
    """Return for each field whose shape depends on the sizes, and each of its axes, the indices in the larger array."""
    t = tables(rules)
    colors, slots, grid = np.arange(rules.colors), np.arange(rules.rack), np.arange(2 * rules.side - 1)
    seats, tracks = np.arange(rules.players), np.arange(rules.tracks)
    grid += largest.side - rules.side
    kinds = tables(largest).kind_of[t.kinds[:, 0], t.kinds[:, 1]]
    planes = np.concatenate([np.arange(2), 2 + colors, 2 + largest.colors + colors])
    return {
        "board": (planes, grid, grid),
        "rack": (slots, np.arange(2), colors),
        "markers": (tracks, colors),
        "unseen": (kinds,),
        "returned": (seats, slots, kinds),
        "levels": (kinds, np.arange(_n_levels(rules))),
    }


def _n_levels(rules: Rules) -> int:
    """Return X, the number of returns that an observation holds."""
    field = Planes().fields(rules).get("levels")
    return 0 if field is None else field.shape[1]
