"""The state of B games at once, as arrays.

Axis letters: B games, P seats, T score tracks, C colors, N cells, K rack slots, E placements, M tile kinds.

The state holds how many tiles of each kind are left in the bag, never the order in which they will come: what a seat
draws next follows from its key and counter and from these counts (see :mod:`genial_env.chance`).
"""

from dataclasses import dataclass, fields
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.rules import Rules
from genial_env.tables import Tables, tables

FREE = -1
"""A free cell of the board."""

EMPTY = -1
"""A rack slot without a tile."""


class Phase(IntEnum):
    """What the seat to play has to decide."""

    PLACE = 0
    """Lay the tile of the turn."""
    BONUS = 1
    """Lay a bonus tile (in 2009: or decline it)."""
    SWAP = 2
    """Swap the rack or decline to."""
    OVER = 3
    """Nothing: the game has ended."""


class End(IntEnum):
    """How a game stands or ended."""

    UNFINISHED = 0
    BOARD_FULL = 1
    ALL_AT_TOP = 2

    @property
    def words(self) -> str:
        """As a game record names it."""
        return ("unfinished", "board full", "all markers at the end")[self]


@dataclass(eq=False)
class State:
    """B games under the same rules.

    `points` and `open` follow from the board; the kernel keeps them up to date because everything reads them.
    """

    rules: Rules
    board: NDArray[np.int8]  # [B, N] the color on each cell, FREE where none
    points: NDArray[np.int8]  # [B, N, C] what color c would score on cell n now; 0 on covered cells
    open: NDArray[np.uint64]  # [B, ceil(E / 64)] bit e: both cells of placement e are free (see bitsets)
    touched: NDArray[np.uint8]  # [B] bit c: a tile lies next to color c's printed symbol
    scores: NDArray[np.int8]  # [B, T, C] the markers
    racks: NDArray[np.int8]  # [B, P, K] the tile kind in each slot, or EMPTY
    bag: NDArray[np.uint8]  # [B, M] tiles left in the bag
    key: NDArray[np.uint64]  # [B, P] the seat's stream of draws
    drawn: NDArray[np.int64]  # [B, P] tiles the seat has drawn so far
    has_placed: NDArray[np.bool_]  # [B, P] the seat has laid its first tile
    to_play: NDArray[np.int64]  # [B] the seat whose decision it is; after the end, whose it last was
    phase: NDArray[np.int8]  # [B] a Phase
    owed: NDArray[np.int64]  # [B] bonus placements still to be made in this turn
    decisions: NDArray[np.int64]  # [B] actions played so far
    end: NDArray[np.int8]  # [B] an End

    def __len__(self) -> int:
        """B."""
        return len(self.to_play)

    @cached_property
    def tables(self) -> Tables:
        """The look-up tables of these rules."""
        return tables(self.rules)

    @property
    def over(self) -> NDArray[np.bool_]:  # [B]
        """Which games have ended."""
        over: NDArray[np.bool_] = self.phase == int(Phase.OVER)
        return over

    def track(self, seats: NDArray[np.int64]) -> NDArray[np.int64]:
        """The score track of each seat: its own, in team mode its team's."""
        return seats % self.rules.tracks

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name, not copied, in the order of the fields."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "rules"}

    def copy(self) -> "State":
        """An independent copy."""
        return State(self.rules, **{name: array.copy() for name, array in self.arrays().items()})
