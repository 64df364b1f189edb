"""The features of afterstates: their names, and where they stand in a row of W numbers.

There is a row of :func:`color_features` for each color, a row of :func:`kind_features` for each tile kind, and one of
:func:`game_features` for the whole game. They do not change if the board is rotated or mirrored. If it is recolored,
the rows of the colors and of the kinds change their places. All are integers, so that both backends compute the same
ones. *Gains* are in the marker values of the policy "denial".
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from genial_env.core.rules import Rules
from genial_env.core.tables import tables
from genial_env.policies.afterstates.lines import PATTERNS, has_lines

__all__ = [
    "THRESHOLDS",
    "Features",
    "Inputs",
    "afterstate_inputs",
    "color_features",
    "game_features",
    "kind_features",
    "list_rivals",
    "split_features",
    "width",
]

Features = NDArray[np.int16]

THRESHOLDS = (1, 2, 3, 4, 5, 6, 8)
"""There is a feature for each: the number of cells that score at least so many points."""


@lru_cache(maxsize=64)
def color_features(rules: Rules) -> list[str]:
    """Return the names of the features of a color: F."""
    marker = ["marker", "marker above the lowest", "lower markers", "marker at the top"]
    tracks = [f"track {track}: {word}" for track in range(rules.tracks) for word in marker]
    their_gains = [f"seat {seat}: greatest gain of an unseen tile with the color" for seat in list_rivals(rules)]
    return [
        *tracks,
        "points to the next stop",
        *(f"cells that score {points}+ points" for points in THRESHOLDS),
        "most points on a cell",
        "most points on two neighboring cells",
        "tiles in the rack with one half",
        "doubles in the rack",
        "unseen tiles with one half",
        "unseen doubles",
        "greatest gain of a tile in the rack with the color",
        *their_gains,
        *(f"parts of lines: {pattern}" for pattern in PATTERNS if has_lines(rules)),
    ]


@lru_cache(maxsize=64)
def kind_features(rules: Rules) -> list[str]:
    """Return the names of the features of a tile kind: D."""
    return [
        "tiles in the rack",
        "unseen tiles",
        "greatest gain, of a tile in the rack or unseen",
        "greatest gain elsewhere, of a tile in the rack",
        *(f"track {track}: greatest gain, of an unseen tile" for track in range(1, rules.tracks)),
    ]


@lru_cache(maxsize=64)
def game_features(rules: Rules) -> list[str]:
    """Return the names of the features of the whole game."""
    markers = [
        f"track {track}: marker number {place} from the lowest"
        for track in range(rules.tracks)
        for place in range(rules.colors)
    ]
    their_gains = [
        word
        for seat in list_rivals(rules)
        for word in (f"seat {seat}: expected gain", f"seat {seat}: greatest gain", f"seat {seat}: tiles")
    ]
    return [
        *markers,
        "greatest gain of a tile in the rack",
        "second greatest gain",
        *their_gains,
        "free cells",
        "free cells with a free neighbor",
        "pairs of neighboring free cells",
        "pending bonus placements",
        "tiles in the rack",
        "may swap",
        "expected gain of the tiles to be drawn",
        "greatest gain of an unseen tile",
        "most placements left",
        "most placements left, modulo 2",
    ]


def list_rivals(rules: Rules) -> range:
    """Return the seats that play before the next own turn, counted from the own; solo the own, which draws first."""
    return range(1, rules.players) if rules.players > 1 else range(1)


class Inputs(NamedTuple):
    """The numbers of features that a network reads."""

    color: int
    """F, of a color"""
    kind: int
    """D, of a tile kind"""
    game: int
    """of the whole game"""

    def width(self, rules: Rules) -> int:
        """Return W: C * F features of the colors, then M * D of the tile kinds, then those of the game."""
        return rules.colors * self.color + tables(rules).n_kinds * self.kind + self.game

    def split(self, rules: Rules, features: Features) -> tuple[Features, Features, Features]:
        """Split features [n, W] into those of the colors [n, C, F], of the kinds [n, M, D] and of the game [n, ...]."""
        colors, kinds = (rules.colors, self.color), (tables(rules).n_kinds, self.kind)
        of_colors, of_kinds, of_game = np.split(features, np.cumsum([math.prod(colors), math.prod(kinds)]), axis=1)
        return of_colors.reshape(-1, *colors), of_kinds.reshape(-1, *kinds), of_game


@lru_cache(maxsize=64)
def afterstate_inputs(rules: Rules) -> Inputs:
    """Return the numbers of features of an afterstate."""
    return Inputs(*(len(names(rules)) for names in (color_features, kind_features, game_features)))


def width(rules: Rules) -> int:
    """Return W of afterstates."""
    return afterstate_inputs(rules).width(rules)


def split_features(rules: Rules, features: Features) -> tuple[Features, Features, Features]:
    """Split features of afterstates (:meth:`Inputs.split`)."""
    return afterstate_inputs(rules).split(rules, features)
