"""How the next points change the value of a track's markers.

Each position on the track has a value, an integer: `marker_values` [top + 1]. A half's gain is the increase in
the value of the marker that it moves. The value of a placement is the sum of its two halves' gains. A double moves one
marker by both halves together, so its value is corrected.
"""

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Bools, Ints
from genial_env.core.placement_values import tile_values
from genial_env.core.state import FREE
from genial_env.core.views import View

__all__ = [
    "MarkerGains",
    "add_double_corrections",
    "compute_marker_value_gains",
    "count_arrivals",
    "effective_points",
    "find_double_slots",
]

N = TypeVar("N", bound=np.integer[Any])


class MarkerGains(Generic[N]):
    """The gains of a track: how much a half of each color on each cell increases the value of its marker.

    All arrays are [G, N, C], and 0 on covered cells.

    Args:
        view: G games.
        track: the track, the own one first.
        marker_values: [top + 1] the value of a marker by where it stands.
    """

    def __init__(self, view: View, track: int, marker_values: NDArray[N]) -> None:
        self.view, self._values = view, marker_values
        self._markers = view.scores[:, track]
        self._furthest = view.tables.furthest.take(self._markers)
        self._after = np.minimum(self._markers[:, None] + view.points, self._furthest[:, None])
        self.gain: NDArray[N] = marker_values.take(self._after) - marker_values.take(self._markers)[:, None]
        """The increase in marker value."""

    @property
    def effective_points(self) -> NDArray[np.int8]:
        """The points by which the marker moves."""
        moved: NDArray[np.int8] = self._after - self._markers[:, None]
        return moved

    @property
    def slope(self) -> NDArray[N]:
        """The further increase in marker value if the half scored one point more."""
        further = np.minimum(self._after + np.int8(1), self._furthest[:, None])
        slope: NDArray[N] = self._values.take(further) - self._values.take(self._after)
        slope[self.view.board != FREE] = 0
        return slope

    def correct_doubles(self, games: Ints, colors: Ints) -> NDArray[N]:
        """Return what to add to the sum of both halves' gains for doubles, which move one marker twice.

        Args:
            games: [n] the games.
            colors: [n] the color of the double in each.

        Returns:
            [n, E] a correction for each placement.
        """
        values, marker, furthest = self._values, self._markers[games, colors], self._furthest[games, colors]
        ends = self.view.tables.placements.T
        first, second = (self.view.points[games[:, None], cells, colors[:, None]] for cells in ends)
        after = np.minimum(marker[:, None] + first + second, furthest[:, None])
        both = values.take(after) + values.take(marker)[:, None]
        apart = [values.take(self._after[games[:, None], cells, colors[:, None]]) for cells in ends]
        correction: NDArray[N] = both - apart[0] - apart[1]
        return correction


def compute_marker_value_gains(view: View, marker_values: NDArray[N]) -> NDArray[N]:
    """Compute the increase in total marker value for each slot and placement.

    Args:
        view: G games.
        marker_values: [top + 1] the value of a marker by where it stands; sums must fit in its dtype.

    Returns:
        [G, K, E]. Entries of empty slots are undefined.
    """
    own = MarkerGains(view, 0, marker_values)
    return add_double_corrections(tile_values(view, own.gain), own, marker_values.dtype.type(1))


def count_arrivals(view: View) -> NDArray[np.int16]:
    """Count the own markers that each placement brings to a stop: [G, K, E]. Entries of empty slots are undefined."""
    stops_reached = np.searchsorted(view.rules.stops, np.arange(view.rules.top + 1), side="right").astype(np.int16)
    return compute_marker_value_gains(view, stops_reached)


def add_double_corrections(values: NDArray[N], own: MarkerGains[N], unit: N) -> NDArray[N]:
    """Correct the values of doubles in place, and return the array.

    Args:
        values: [G, K, E] the sums of the values of both halves.
        own: the gains of the own track.
        unit: by what the gains are multiplied in `values`.
    """
    game, slot = np.nonzero(find_double_slots(own.view))
    kind = own.view.rack[game, slot]
    values[game, slot] += own.correct_doubles(game, own.view.tables.kinds[kind, 0]) * unit
    return values


def find_double_slots(view: View) -> Bools:
    """Return which slots [G, K] hold a double."""
    doubles: Bools = view.tables.is_double[view.rack]
    return doubles


def effective_points(view: View) -> NDArray[np.int8]:
    """Compute the points [G, K, E] by which each placement moves the own markers.

    Entries of empty slots are undefined.
    """
    room = view.room
    values = tile_values(view, np.minimum(view.points, room[:, None, :]))
    colors = view.tables.kinds[:, 0].take(view.rack)  # [G, K]
    room_of_color = np.take_along_axis(room, colors, axis=1)
    limit = np.where(view.tables.is_double[view.rack], room_of_color, np.iinfo(np.int8).max)
    np.minimum(values, limit.astype(np.int8)[:, :, None], out=values)
    return values
