"""Policies that take the placement of the highest value, by values of markers and what a half denies or opens."""

from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_integer
from genial_env.core.arrays import Bits, Ints
from genial_env.core.placement_values import pick_best, tile_values
from genial_env.core.rules import Rules
from genial_env.core.state import Phase
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.policies.base import Plan, PlannedPolicy
from genial_env.policies.marker_gains import MarkerGains, add_double_corrections, count_arrivals
from genial_env.policies.opened_lines import add_opened

__all__ = ["HalfWeights", "HeuristicPolicy"]

_MOST_WEIGHT = 1000
"""Greater weights could overflow sums of 32 bits."""

_EIGHTHS = 8
"""Weights count in eighths of a marker value."""

MOST_EXTRA = 7_000
"""The most that denying and opening add to or take from the value of a half, so that all values fit in 16 bits."""


@dataclass(frozen=True)
class HalfWeights:
    """The weights of what a half denies and opens, in eighths of a marker value. Integers from -1000 to 1000.

    Args:
        denied_total: the value of the cell for the other tracks, summed over all colors.
        denied_max: the value of the cell for the other tracks in its most valuable color.
        opened: the value for the own track of the points that the half opens.
        opened_to_others: the value of these points for the other tracks; it counts against the half.
        forgone_total: the value of the cell for the own track, summed over all colors; it counts against the half.
        forgone_max: the value of the cell for the own track in its most valuable color; it counts against the half.

    Raises:
        TypeError, ValueError: if a weight is no integer, or out of range.
    """

    denied_total: int = 0
    denied_max: int = 0
    opened: int = 0
    opened_to_others: int = 0
    forgone_total: int = 0
    forgone_max: int = 0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            object.__setattr__(self, name, as_integer(value, name, -_MOST_WEIGHT, _MOST_WEIGHT))


class HeuristicPolicy(PlannedPolicy):
    """Takes the placement of the highest value; ties are broken uniformly at random.

    It swaps whenever it may, and makes every bonus placement. The value of a placement is the increase in the values of
    the own markers, plus the weighted values of what its halves deny and open. A subclass defines
    :meth:`marker_values`, and may define :meth:`weights` and :meth:`arrival_value`.
    """

    name: str

    def weights(self, rules: Rules) -> HalfWeights:
        """Return the weights of what a half denies and opens."""
        return HalfWeights()

    def marker_values(self, rules: Rules) -> NDArray[np.int16]:
        """Return the value [top + 1] of a marker by where it stands."""
        raise NotImplementedError

    def arrival_value(self, rules: Rules) -> int:
        """Return what :meth:`marker_values` adds for a stop because arriving there earns a bonus placement, from 0 on.

        Where a tile earns one bonus placement at most, it counts once for a tile that brings two markers to a stop.
        """
        return 0

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        actions = np.full(len(view), view.tables.swap_action)
        placing = np.flatnonzero(view.phase != Phase.SWAP)
        if placing.size:
            placers = view.select(placing) if placing.size < len(view) else view
            actions[placing] = pick_best(placers, self.values(placers), random[placing])
        return actions

    def values(self, view: View) -> NDArray[np.integer[Any]]:
        """Compute the value [G, K, E] of each slot and placement.

        Entries of empty slots and of placements that are not open are undefined.
        """
        marker_values, weights = self.marker_values(view.rules), self.weights(view.rules)
        own = MarkerGains(view, 0, marker_values)
        halves = own.gain * np.int16(_EIGHTHS)
        if weights != HalfWeights():
            extra = _denied_and_opened(view, own, marker_values, weights)
            halves += np.clip(extra, -MOST_EXTRA, MOST_EXTRA).astype(np.int16)
        values = add_double_corrections(tile_values(view, halves), own, np.int16(_EIGHTHS))
        if surplus := _EIGHTHS * self._surplus(view.rules):
            values -= np.int16(surplus) * (count_arrivals(view) > 1)
        return values

    def _surplus(self, rules: Rules) -> int:
        """Return by how much the marker values overestimate two arrivals with one tile."""
        return self.arrival_value(rules) if rules.one_bonus_a_tile else 0

    def plan(self, rules: Rules) -> Plan | None:
        """Return the marker values and weights for compiled code.

        Raises:
            ValueError: if the marker values are not [top + 1] of int16.
        """
        return self._plan(rules, _EIGHTHS)

    def _plan(self, rules: Rules, unit: int) -> Plan:
        """Return the plan of a policy that multiplies gains by `unit`."""
        values, weights = self.marker_values(rules), self.weights(rules)
        if values.shape != (rules.top + 1,) or values.dtype != np.int16:
            raise ValueError(f"marker values must be int16 ({rules.top + 1},), not {values.dtype} {values.shape}")
        slack, surplus = unit * _most_above_halves(values.tobytes(), rules), unit * self._surplus(rules)
        return Plan(values.astype(np.int64), np.array([unit, *astuple(weights), slack, surplus], dtype=np.int64))


def _denied_and_opened(
    view: View, own: MarkerGains[np.int16], marker_values: NDArray[np.int16], weights: HalfWeights
) -> NDArray[np.int32]:
    """Compute what the weights add to the value of each half [G, N, C]."""
    extra = np.zeros(view.points.shape, dtype=np.int32)
    _add_value_of_cells(extra, own, -weights.forgone_total, -weights.forgone_max)
    slope = own.slope * np.int32(weights.opened)
    for track in range(1, view.rules.tracks):
        other = MarkerGains(view, track, marker_values)
        _add_value_of_cells(extra, other, weights.denied_total, weights.denied_max)
        slope -= other.slope * np.int32(weights.opened_to_others)
    return add_opened(view, slope, extra)


def _add_value_of_cells(
    extra: NDArray[np.int32], gains: MarkerGains[np.int16], weight_total: int, weight_max: int
) -> None:
    """Add the weighted value of each cell for a track to `extra` [G, N, C] in place."""
    extra += weight_total * gains.gain.sum(axis=2, dtype=np.int32)[:, :, None]
    extra += weight_max * gains.gain.max(axis=2).astype(np.int32)[:, :, None]


@lru_cache(maxsize=64)
def _most_above_halves(marker_values: bytes, rules: Rules) -> int:
    """Return the most by which the value of a double can exceed the values of its two halves.

    Args:
        marker_values: int16 [top + 1], as bytes.
        rules: the rules.
    """
    values: Ints = np.frombuffer(marker_values, dtype=np.int16).astype(np.int64)
    most = 0
    for marker, furthest in enumerate(tables(rules).furthest[:-1].tolist()):
        gains = values[marker : furthest + 1] - values[marker]
        points = np.arange(len(gains))
        both = gains[np.minimum(points[:, None] + points, points[-1])]
        most = max(most, int((both - gains[:, None] - gains).max()))
    return most
