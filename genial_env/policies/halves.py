"""The encoding "halves": the effects of a half of each color on each cell, for networks that score halves.

The effects are the terms of the policy "denial". A network learns their weights.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Bits, Bools, Floats, Ints
from genial_env.core.rules import Rules
from genial_env.core.state import FREE, Phase
from genial_env.core.tables import Tables, tables
from genial_env.core.views import View
from genial_env.encodings.base import Field
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.marker_gains import MarkerGains
from genial_env.policies.opened_lines import add_opened

__all__ = [
    "COLOR_FEATURES",
    "GAIN_STEP",
    "HALF_FEATURES",
    "HEADS",
    "OPENED_STEP",
    "SCALES",
    "SHARPNESS",
    "STANDING",
    "UNSEEN_SCALE",
    "VALUE_UNITS",
    "Halves",
    "choose_likeliest",
    "count_value_inputs",
    "draw_by_weights",
    "make_half_sums",
]

HALF_FEATURES = 7
"""The last axis of the field ``halves``."""

GAIN_STEP, OPENED_STEP = 4, 16
"""Gains and opened points are divided by these to fit in a byte."""

SCALES = (3, 3, 3, 400 // GAIN_STEP, 400 // GAIN_STEP, 800 // OPENED_STEP, 800 // OPENED_STEP)
"""A network divides the features of a half by these, and unseen halves by UNSEEN_SCALE, so that they are around 1."""

UNSEEN_SCALE = 30.0

HEADS = 4
"""The outputs for a half: its own score, and for its cell a sum over colors, a maximum, and a maximum to subtract."""

STANDING = 32
"""The entries of a color's embedding."""

COLOR_FEATURES = 9 + 2 * HALF_FEATURES
"""The inputs of a color's embedding."""

VALUE_UNITS = 64
"""Hidden units of each layer of the value head."""

SHARPNESS = 10.0
"""The factor from scores to logits, so that policies with weights near 1 are sharp, and can change quickly."""


class Halves:
    """A dict of uint8 arrays; own seat and track first, the others clockwise.

    A marker's value is that of the policy "denial" for the number of seats, 1000 at the end of the track. Gains are in
    units of 4, opened points in units of 16; both are clipped at 255.

    ==============  ===============  ==================================================================================
    field           shape            content
    ==============  ===============  ==================================================================================
    ``halves``      (C, N, 7)        for a half of color c on cell n, 0 where covered: the points; those that move the
                                     own marker; the maximum of those that would move another's; the gain of the own
                                     marker; the sum of the gains of the others' markers; the value of what it opens
                                     at the ends of its lines for the own track; the same for the others
    ``free``        (N,)             1: the cell is free
    ``rack``        (K, 2, C)        color of each half of the tile in each slot, one-hot; zeros: empty slot
    ``markers``     (T, C)           the markers
    ``unseen``      (C,)             halves of each color in the bag and the others' racks
    ``has_placed``  (P,)             1: the seat has placed its first tile
    ``phase``       (4,)             one-hot: place, bonus, swap, over
    ``pending_bonus``  (1,)          bonus placements to be made
    ==============  ===============  ==================================================================================
    """

    def fields(self, rules: Rules) -> dict[str, Field]:
        """Return the fields by name."""
        t = tables(rules)
        return {
            "halves": Field((rules.colors, t.n_cells, HALF_FEATURES), high=255),
            "free": Field((t.n_cells,), high=1),
            "rack": Field((rules.rack, 2, rules.colors), high=1),
            "markers": Field((rules.tracks, rules.colors), high=rules.top),
            "unseen": Field((rules.colors,), high=int((t.full_bag @ t.color_counts).max())),
            "has_placed": Field((rules.players,), high=1),
            "phase": Field((len(Phase),), high=1),
            "pending_bonus": Field((1,), high=2 * rules.rack),
        }

    def encode(self, view: View) -> dict[str, NDArray[Any]]:
        """Return a new array [G, *shape] for each field."""
        rules, t = view.rules, view.tables
        tiles = np.zeros((t.n_kinds + 1, 2, rules.colors), dtype=np.uint8)  # the last, also -1, is no tile
        tiles[:-1] = t.kinds[:, :, None] == np.arange(rules.colors)
        return {
            "halves": halves(view),
            "free": (view.board == FREE).astype(np.uint8),
            "rack": tiles.take(view.rack, axis=0, mode="wrap"),
            "markers": view.scores.astype(np.uint8),
            "unseen": (view.unseen @ t.color_counts).astype(np.uint8),
            "has_placed": view.has_placed.astype(np.uint8),
            "phase": (view.phase[:, None] == np.arange(len(Phase))).astype(np.uint8),
            "pending_bonus": view.pending_bonus[:, None].astype(np.uint8),
        }


def count_value_inputs(rules: Rules) -> int:
    """Return the number of inputs of a network's value head."""
    return 6 * rules.colors + 2 * STANDING + 7 + rules.players


def halves(view: View) -> NDArray[np.uint8]:
    """Compute the field ``halves``: [G, C, N, 7]."""
    rules, t = view.rules, view.tables
    marker_values = DenialPolicy().marker_values(rules).astype(np.int32)
    found = np.empty((len(view), rules.colors, t.n_cells, HALF_FEATURES), dtype=np.uint8)
    own = MarkerGains(view, 0, marker_values)
    others = [MarkerGains(view, track, marker_values) for track in range(1, rules.tracks)]
    slope = own.slope + (np.sum([other.slope for other in others], axis=0, dtype=np.int64) << _UPPER)
    opened = add_opened(view, slope, np.zeros_like(slope)) * (view.board == FREE)[:, :, None]
    features = (
        view.points,
        own.effective_points,
        np.max([other.effective_points for other in others], axis=0),
        _steps(own.gain, GAIN_STEP),
        _steps(np.sum([other.gain for other in others], axis=0), GAIN_STEP),
        _steps(opened & ((1 << _UPPER) - 1), OPENED_STEP),
        _steps(opened >> _UPPER, OPENED_STEP),
    )
    for at, feature in enumerate(features):
        found[..., at] = feature.transpose(0, 2, 1)
    return found


_UPPER = 32
"""Two sums share one number, so that lines are searched once: below this bit what is opened to the own track, from it
on to the others. Neither sum is negative, because more points never reduce a marker's value.
"""


@lru_cache(maxsize=16)
def make_half_sums(t: Tables) -> NDArray[np.float32]:  # [2N, E]
    """Return a matrix that sums the halves of placements: 1 if e's first cell is n, or its second cell is n - N."""
    matrix = np.zeros((2, t.n_cells, t.n_placements), dtype=np.float32)
    for half in (0, 1):
        matrix[half, t.placements[:, half], np.arange(t.n_placements)] = 1
    return matrix.reshape(2 * t.n_cells, t.n_placements)


def choose_likeliest(logits: NDArray[Any], mask: Bools) -> Ints:
    """Return the legal action with the greatest logit: [G].

    If logits differ by less than about 1/1000, the first action is chosen. Placements of duplicate tiles have equal
    logits that may be rounded differently.

    Args:
        logits: [G, A].
        mask: [G, A].
    """
    chosen: Ints = np.where(mask, np.rint(logits * 1024), -np.inf).argmax(axis=1)
    return chosen


def draw_by_weights(weights: Floats, random: Bits) -> Ints:
    """Draw an action in each game by random bits: [G].

    Args:
        weights: [G, A] relative probabilities, not all 0 in a game; an action of weight 0 is never drawn.
        random: [G].
    """
    upto = weights.cumsum(axis=1)
    threshold = (random / 2.0**64 * upto[:, -1])[:, None]
    last = weights.shape[1] - 1 - (weights > 0)[:, ::-1].argmax(axis=1)
    drawn: Ints = np.minimum((upto <= threshold).sum(axis=1), last)
    return drawn


def _steps(values: NDArray[Any], step: int) -> NDArray[Any]:
    result: NDArray[Any] = np.minimum(values // step, 255)
    return result
