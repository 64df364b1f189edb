r"""Look-up tables of one set of rules: computed once by slow, readable code, cached and read-only.

Axis letters, here and everywhere: B games of a state, G games of a call, P seats, T score tracks, C colors, N cells,
K rack slots, E oriented placements, A actions, M tile kinds, W words of a set of placements, X the latest returns of a
tile kind. ``N`` as a cell number means "off the board".

Placements are numbered by (first cell in row order, direction in order). At the top left of a board, where cell 0 has
the neighbours right, down-left and down-right::

      0 --0--> 1
     / \              0: cells (0, 1)   1: cells (0, 6)   2: cells (0, 7)   3: cells (1, 2) ...
    1   2
   /     \
  6       7
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from genial_env.core import hexgrid
from genial_env.core.arrays import Bitsets, Bools, Ints
from genial_env.core.bitsets import pack
from genial_env.core.rules import DOUBLE_COPIES, MIXED_COPIES, Rules

__all__ = ["Tables", "tables"]


@dataclass(frozen=True, eq=False)
class Tables:
    """Read-only arrays of one set of rules. Get them from :func:`tables`."""

    rules: Rules
    cells: Ints  # [N, 2] axial (q, r) in row order
    neighbours: Ints  # [N + 1, 6] the next cell in each direction
    rays: Ints  # [N + 1, 6, 2 * side] the cell at distance 0, 1, 2, ... in each direction
    placements: Ints  # [E, 2] the cells of a tile's first and second half
    placement_of: Ints  # [N, 6] (cell, direction) -> placement, -1 over the edge
    compatible: Bitsets  # [E, words] the placements that share no cell with placement e
    start_symbols: Ints  # [C] the cell of each color's start symbol
    near_start_symbol: NDArray[np.uint8]  # [N] bit c: the cell is a neighbour of color c's start symbol
    placement_near: NDArray[np.uint8]  # [E] bit c: one of the two cells is
    near: Bitsets  # [C, words] the placements next to color c's start symbol
    reversed_placement: Ints  # [E] the placement on the same two cells, first and second half exchanged
    is_reversed: Bools  # [E] the first cell's number is greater than the second's
    kinds: Ints  # [M, 2] the colors of a tile's first and second half, first <= second
    kind_of: Ints  # [C, C] two colors in any order -> tile kind
    is_double: Bools  # [M + 1] both halves have the same color; the last entry (also -1), no tile, is False
    color_counts: Ints  # [M, C] how many halves of each color the kind has: 0, 1 or 2
    kind_mask: NDArray[np.uint8]  # [M + 1] bit c: the kind shows color c; the last entry (also -1), no tile, shows none
    full_bag: NDArray[np.uint8]  # [M] how often the bag holds each kind
    next_stop: NDArray[np.int8]  # [top + 1] where a marker at this value stops next; at the end of the track it stays
    furthest: NDArray[np.int8]  # [top + 1] how far one tile can move a marker at this value; further points are lost
    seats_from: Ints  # [P, P] row p: all seats clockwise, seat p first
    tracks_from: Ints  # [P, T] row p: all tracks in the order of their seats, that of seat p first

    @cached_property
    def n_cells(self) -> int:
        """N."""
        return len(self.cells)

    @cached_property
    def n_placements(self) -> int:
        """E."""
        return len(self.placements)

    @cached_property
    def n_words(self) -> int:
        """W: words of a set of placements (:mod:`genial_env.core.bitsets`)."""
        return int(self.compatible.shape[1])

    @cached_property
    def n_kinds(self) -> int:
        """M."""
        return len(self.kinds)

    @cached_property
    def n_actions(self) -> int:
        """A: K * E placements, then swap and decline; solo has neither."""
        return self.rules.rack * self.n_placements + (2 if self.rules.has_swap else 0)

    @cached_property
    def swap_action(self) -> int:
        """K * E."""
        return self.rules.rack * self.n_placements

    @cached_property
    def decline_action(self) -> int:
        """K * E + 1: gives up a bonus placement or a swap."""
        return self.rules.rack * self.n_placements + 1

    def arrived(self, before: NDArray[Any], after: NDArray[Any]) -> Bools:
        """Return whether each move of a marker has brought it to its next stop.

        Args:
            before: [...] the value of the marker before the move.
            after: [...] its value after the move.
        """
        stop = self.next_stop.take(before)
        arrived: Bools = (before < stop) & (stop <= after)
        return arrived

    @overload
    def split_action(self, action: int) -> tuple[int, int]: ...

    @overload
    def split_action(self, action: Ints) -> tuple[Ints, Ints]: ...

    def split_action(self, action: Any) -> Any:
        """Return slot and placement of an action that places a tile, or of an array of such actions."""
        return divmod(action, self.n_placements)

    @overload
    def join_action(self, slot: int, placement: int) -> int: ...

    @overload
    def join_action(self, slot: Ints | int, placement: Ints) -> Ints: ...

    @overload
    def join_action(self, slot: Ints, placement: int) -> Ints: ...

    def join_action(self, slot: Any, placement: Any) -> Any:
        """Return the action that places the tile of a slot on a placement; arrays are broadcast."""
        return slot * self.n_placements + placement

    @overload
    def is_placing(self, action: int) -> bool: ...

    @overload
    def is_placing(self, action: Ints) -> Bools: ...

    def is_placing(self, action: Any) -> Any:
        """Return whether an action places a tile, be it legal or not; numbers below 0 do not."""
        return (action >= 0) & (action < self.swap_action)

    def canonical_placement(self, kind: NDArray[np.integer[Any]], placement: Ints) -> Ints:
        """Return the placement that stands for all with which a tile kind leads to the same position.

        A double covers its two cells in either direction alike; other tiles do not.

        Args:
            kind: tile kinds, -1 for none, of a shape that broadcasts with `placement`.
            placement: oriented placements.
        """
        is_duplicate = self.is_double[kind] & self.is_reversed[placement]
        return np.where(is_duplicate, self.reversed_placement[placement], placement)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the rules, from which the tables are computed."""
        return tables, (self.rules,)

    @cached_property
    def cell_index(self) -> dict[tuple[int, int], int]:
        """(q, r) -> cell number."""
        return hexgrid.cell_index(self.rules.side)


@lru_cache(maxsize=64)
def tables(rules: Rules) -> Tables:
    """Return the tables of these rules, which are computed at the first call and cached."""
    step = hexgrid.neighbours(rules.side)
    placements, placement_of = _placements(step)
    start_symbols = _start_symbols(rules)
    near_start_symbol = _near_start_symbol(step, start_symbols)
    placement_near = near_start_symbol[placements[:, 0]] | near_start_symbol[placements[:, 1]]
    kinds = np.array([(a, b) for a in range(rules.colors) for b in range(a, rules.colors)], dtype=np.int64)
    made = Tables(
        rules=rules,
        cells=hexgrid.cells(rules.side),
        neighbours=step,
        rays=hexgrid.rays(rules.side),
        placements=placements,
        placement_of=placement_of,
        compatible=_compatible(placements),
        start_symbols=start_symbols,
        near_start_symbol=near_start_symbol,
        placement_near=placement_near,
        near=pack(np.array([placement_near >> color & 1 for color in range(rules.colors)], dtype=np.bool_)),
        reversed_placement=_reversed_placement(placements, placement_of, step),
        is_reversed=placements[:, 0] > placements[:, 1],
        kinds=kinds,
        kind_of=_kind_of(kinds, rules.colors),
        is_double=np.append(kinds[:, 0] == kinds[:, 1], False),
        color_counts=(kinds[:, :, None] == np.arange(rules.colors)).sum(axis=1),
        kind_mask=np.array([1 << a | 1 << b for a, b in kinds] + [0], dtype=np.uint8),
        full_bag=np.array([DOUBLE_COPIES if a == b else MIXED_COPIES for a, b in kinds], dtype=np.uint8)
        * np.uint8(rules.tile_sets),
        next_stop=_next_stop(rules),
        furthest=_next_stop(rules),
        seats_from=_in_order_from(rules.players, rules.players),
        tracks_from=_in_order_from(rules.players, rules.tracks),
    )
    for value in vars(made).values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    return made


def _placements(step: Ints) -> tuple[Ints, Ints]:
    n_cells = len(step) - 1
    placement_of = np.full((n_cells, 6), -1, dtype=np.int64)
    placements: list[tuple[int, int]] = []
    for cell in range(n_cells):
        for direction in range(6):
            if step[cell, direction] < n_cells:
                placement_of[cell, direction] = len(placements)
                placements.append((cell, int(step[cell, direction])))
    return np.array(placements, dtype=np.int64), placement_of


def _reversed_placement(placements: Ints, placement_of: Ints, step: Ints) -> Ints:
    direction = (step[placements[:, 1]] == placements[:, :1]).argmax(axis=1)
    return np.asarray(placement_of[placements[:, 1], direction], dtype=np.int64)


def _next_stop(rules: Rules) -> NDArray[np.int8]:
    stops = np.array(rules.stops)
    later = stops[np.searchsorted(stops, np.arange(rules.top), side="right")]
    return np.append(later, rules.top).astype(np.int8)


def _in_order_from(players: int, n: int) -> Ints:
    """Return a table [P, n] whose row p has the numbers p, p + 1, ... modulo n."""
    return (np.arange(players)[:, None] + np.arange(n)) % n


def _compatible(placements: Ints) -> Bitsets:
    shares = (placements[:, None, :, None] == placements[None, :, None, :]).any(axis=(2, 3))
    return pack(~shares)


def _start_symbols(rules: Rules) -> Ints:
    index = hexgrid.cell_index(rules.side)
    corners = hexgrid.corners(rules.start_symbol_radius)
    return np.array([index[corner] for corner in corners[: rules.colors]], dtype=np.int64)


def _near_start_symbol(step: Ints, start_symbols: Ints) -> NDArray[np.uint8]:
    near = np.zeros(len(step), dtype=np.uint8)
    for color, cell in enumerate(start_symbols):
        near[step[cell]] |= np.uint8(1 << color)
    return near[:-1]


def _kind_of(kinds: Ints, colors: int) -> Ints:
    table = np.empty((colors, colors), dtype=np.int64)
    for kind, (a, b) in enumerate(kinds):
        table[a, b] = table[b, a] = kind
    return table
