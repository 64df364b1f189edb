"""Where the features of afterstates stand in a row (:mod:`genial_env.policies.afterstates.layout`).

A row holds the features of the colors, then those of the tile kinds, then those of the whole game. The features of a
color and of the game begin with those of the markers of each track; places are counted from behind these.
"""

from typing import Any

from genial_env._compiled.jit import helper
from genial_env.core.rules import Rules
from genial_env.core.scalar import Facts
from genial_env.policies.afterstates.layout import color_features, game_features, kind_features, list_rivals
from genial_env.policies.afterstates.lines import PATTERNS

_RULES = Rules()
_COLOR, _KIND, _GAME = (names(_RULES) for names in (color_features, kind_features, game_features))
_RIVALS = len(list_rivals(_RULES))

OF_MARKER = sum(name.startswith("track 0") for name in _COLOR)
"""The number of features of a color's marker on a track."""

_COLOR = _COLOR[OF_MARKER * _RULES.tracks :]
NEXT_STOP = _COLOR.index("points to the next stop")
COUNTS = _COLOR.index("cells that score 1+ points")
MOST_ON_CELL = _COLOR.index("most points on a cell")
MOST_ON_TWO = _COLOR.index("most points on two neighboring cells")
RACK_TILES = _COLOR.index("tiles in the rack with one half")
UNSEEN_TILES = _COLOR.index("unseen tiles with one half")
BEST_IN_RACK = _COLOR.index("greatest gain of a tile in the rack with the color")
OF_RIVALS = _COLOR.index("seat 1: greatest gain of an unseen tile with the color")
"""In the features of a color. Those of tiles are followed by those of doubles."""

HELD = _KIND.index("tiles in the rack")
UNSEEN = _KIND.index("unseen tiles")
GAIN = _KIND.index("greatest gain, of a tile in the rack or unseen")
GAIN_ELSEWHERE = _KIND.index("greatest gain elsewhere, of a tile in the rack")
OF_TRACKS = _KIND.index("track 1: greatest gain, of an unseen tile")
"""In the features of a kind."""

_GAME = _GAME[_RULES.tracks * _RULES.colors :]
BEST = _GAME.index("greatest gain of a tile in the rack")
SECOND_BEST = _GAME.index("second greatest gain")
RIVALS = _GAME.index("seat 1: expected gain")
OF_RIVAL = sum(name.startswith("seat 1") for name in _GAME)
"""In the features of the game; and the number of features of a rival."""

_LAST = _GAME[RIVALS + OF_RIVAL * _RIVALS :]
FREE_CELLS = _LAST.index("free cells")
FITTING_CELLS = _LAST.index("free cells with a free neighbor")
PAIRS = _LAST.index("pairs of neighboring free cells")
PENDING_BONUS = _LAST.index("pending bonus placements")
RACK = _LAST.index("tiles in the rack")
MAY_SWAP = _LAST.index("may swap")
EXPECTED_DRAW = _LAST.index("expected gain of the tiles to be drawn")
BEST_UNSEEN = _LAST.index("greatest gain of an unseen tile")
LEFT = _LAST.index("most placements left")
LEFT_PARITY = _LAST.index("most placements left, modulo 2")
"""In the features of the game, from behind those of the rivals."""

N_PATTERNS = len(PATTERNS)
_PER_COLOR, _PER_KIND = len(_COLOR) - _RIVALS, len(_KIND) - (_RULES.tracks - 1)


@helper
def count_rivals(t: Facts) -> Any:
    """Return how many rivals have features; the player of solo is its own rival."""
    return max(t.n_players - 1, 1)


@helper
def size_of_color(t: Facts) -> Any:
    """Return the number of features of a color."""
    return start_of_lines(t) + (N_PATTERNS if t.n_players == 1 else 0)


@helper
def start_of_lines(t: Facts) -> Any:
    """Return the place of the parts of lines in the features of a color, which are its last ones."""
    return OF_MARKER * t.n_tracks + _PER_COLOR + count_rivals(t)


@helper
def size_of_kind(t: Facts) -> Any:
    """Return the number of features of a kind."""
    return _PER_KIND + t.n_tracks - 1


@helper
def start_of_kinds(t: Facts) -> Any:
    """Return the place of the first feature of the kinds."""
    return t.n_colors * size_of_color(t)


@helper
def start_of_game(t: Facts) -> Any:
    """Return the place of the first feature of the game."""
    return start_of_kinds(t) + t.n_kinds * size_of_kind(t)
