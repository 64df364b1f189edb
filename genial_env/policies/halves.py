"""The encoding "halves": what laying a half of each color on each cell would do, for networks that score halves.

The policy "denial" looks at the same things; here they are only laid out, and what they count for is to be learned.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.rules import Rules
from genial_env.core.state import FREE, Phase
from genial_env.core.tables import Bools, Ints, Tables, tables
from genial_env.core.views import View
from genial_env.encodings.base import Field
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.marker_gains import MarkerGains
from genial_env.policies.opened_lines import add_opened

HALF_FEATURES = 7
"""The last axis of the field ``halves``."""

GAIN_STEP, OPENED_STEP = 4, 16
"""Worths are divided by these to fit in a byte."""

SCALES = (3, 3, 3, 400 // GAIN_STEP, 400 // GAIN_STEP, 800 // OPENED_STEP, 800 // OPENED_STEP)
"""What a network divides the features of a half by, UNSEEN_SCALE halves that are unseen, to have them around 1."""

UNSEEN_SCALE = 30.0

HEADS = 4
"""A half's own score; of its cell what is summed over colors, the most over colors, and the most that is against it."""

STANDING = 32
"""Entries of a color's standing."""

COLOR_FEATURES = 9 + 2 * HALF_FEATURES
"""Of what a color's standing is made."""

VALUE_UNITS = 64
"""Hidden units of each layer of the value head."""

SHARPNESS = 10.0
"""What a network's scores are multiplied by to logits, so that weights near 1 are sharp, and can change soon."""


class Halves:
    """A dict of uint8 arrays; own seat and track first, the others clockwise.

    A marker's worth is that of the policy "denial" for the number of seats, 1000 at the end of the track; gains are
    told in steps of 4, what is opened in steps of 16, and neither above 255 of them.

    ==============  ===============  ==================================================================================
    field           shape            content
    ==============  ===============  ==================================================================================
    ``halves``      (C, N, 7)        for a half of color c on cell n, 0 where covered: the points; those that move the
                                     own marker; those that would move the others', the most of them; the worth that
                                     the own marker gains; the worth that the others' would, in sum; what the next
                                     points are worth that it opens to oneself at the ends of its lines; to the others
    ``free``        (N,)             1: the cell is free
    ``rack``        (K, 2, C)        color of each half of the tile in each slot, one-hot; zeros: empty slot
    ``markers``     (T, C)           the markers
    ``unseen``      (C,)             halves of each color in the bag and the others' racks
    ``has_placed``  (P,)             1: the seat has laid its first tile
    ``phase``       (4,)             one-hot: place, bonus, swap, over
    ``pending_bonus``        (1,)             bonus placements to be made
    ==============  ===============  ==================================================================================
    """

    def fields(self, rules: Rules) -> dict[str, Field]:
        """The fields by name."""
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
        """[G, *shape] for each field, newly made."""
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


def value_inputs(rules: Rules) -> int:
    """How many numbers a network's value head is given."""
    return 6 * rules.colors + 2 * STANDING + 7 + rules.players


def halves(view: View) -> NDArray[np.uint8]:
    """[G, C, N, 7]: the field of that name."""
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
"""Two sums in one number, as the lines have to be found for both: what is opened to oneself below this bit, to the
others from it on. More points are never worth less, so neither is below 0.
"""


@lru_cache(maxsize=16)
def on_ends(t: Tables) -> NDArray[np.float32]:  # [2N, E]
    """What sums a placement's halves: 1 where cell n is placement e's first end, and where N + n is its second."""
    matrix = np.zeros((2, t.n_cells, t.n_placements), dtype=np.float32)
    for half in (0, 1):
        matrix[half, t.placements[:, half], np.arange(t.n_placements)] = 1
    return matrix.reshape(2 * t.n_cells, t.n_placements)


def likeliest(logits: NDArray[Any], mask: Bools) -> Ints:
    """[G]: the playable action of the greatest logit.

    Of logits that differ by less than about 1/1000 the first counts: placements of twin tiles have equal ones, which
    are rounded in one way in a large batch and in another in a small one.

    Args:
        logits: [G, A].
        mask: [G, A].
    """
    chosen: Ints = np.where(mask, np.rint(logits * 1024), -np.inf).argmax(axis=1)
    return chosen


def _steps(worth: NDArray[Any], step: int) -> NDArray[Any]:
    result: NDArray[Any] = np.minimum(worth // step, 255)
    return result
