"""The state of B games at once, as arrays.

Axis letters: B games, P seats, T score tracks, C colors, N cells, K rack slots, E placements, M tile kinds, X the
latest returns of a tile kind.

The state holds how many tiles of each kind are left in the bag, never the order in which they will come: what a seat
draws next follows from its key and counter and from these counts (see :mod:`genial_env.core.chance`).

`returned` and `levels` are what the swaps have told everybody about the racks. A swap returns tiles to the bag, and a
slot that was filled before cannot hold one of those. `returned` says how many tiles of each kind were returned after a
slot was filled. `levels` says how many tiles of that kind each return left in the bag or in slots that were filled
before it and that nobody has seen since: as tiles of a kind look alike, that number decides how likely such a slot is
to hold one (:mod:`genial_env.core.posterior`). The latest :data:`LEVELS` returns of a kind are kept, and `returned`
counts no more.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from enum import IntEnum
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.rules import Rules
from genial_env.core.tables import Tables, tables

__all__ = ["EMPTY", "FREE", "LEVELS", "End", "Phase", "State"]

FREE = -1
"""A free cell of the board."""

EMPTY = -1
"""A rack slot without a tile."""

LEVELS = 12
"""X: how many returns of each tile kind are kept; older ones are forgotten (docs/hidden.md says how seldom)."""


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
    symbols_touched: NDArray[np.uint8]  # [B] bit c: a tile lies next to color c's printed symbol
    scores: NDArray[np.int8]  # [B, T, C] the markers
    racks: NDArray[np.int8]  # [B, P, K] the tile kind in each slot, or EMPTY
    bag: NDArray[np.uint8]  # [B, M] tiles left in the bag
    key: NDArray[np.uint64]  # [B, P] the seat's stream of draws
    drawn: NDArray[np.int64]  # [B, P] tiles the seat has drawn so far
    has_placed: NDArray[np.bool_]  # [B, P] the seat has laid its first tile
    returned: NDArray[np.uint8]  # [B, P, K, M] tiles of a kind returned since the slot was filled, at most X
    levels: NDArray[np.uint8]
    """[B, M, X] tiles of a kind in the bag right after a return of one, the latest return first, and in slots that were
    filled before and not shown since; 0 where there was no such return."""
    swapped: NDArray[np.bool_]  # [B] a rack has been swapped; before that `returned` and `levels` are zeros
    to_play: NDArray[np.int64]  # [B] the seat whose decision it is; after the end, whose it last was
    phase: NDArray[np.int8]  # [B] a Phase
    pending_bonus: NDArray[np.int64]  # [B] bonus placements still to be made in this turn
    decisions: NDArray[np.int64]  # [B] actions played so far
    end: NDArray[np.int8]  # [B] an End

    def __len__(self) -> int:
        """B."""
        return len(self.to_play)

    def __repr__(self) -> str:
        return f"<State of {len(self)} games, {self.rules}>"

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
        return self.rules.track_of(seats)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name, not copied, in the order of the fields. :meth:`from_arrays` reads them back."""
        return dict(zip(_ARRAYS, _get_arrays(self), strict=True))

    @classmethod
    def from_arrays(cls, rules: Rules, arrays: Mapping[str, NDArray[Any]]) -> "State":
        """A state with copies of these arrays, as :meth:`arrays` gives them.

        Raises:
            ValueError: for a name that is missing or unknown, an array of the wrong dtype or shape, or a number that
                means nothing, saying which.
        """
        if not isinstance(rules, Rules):
            raise ValueError(f"rules must be Rules, not {rules!r}")
        wanted = _layout(rules)
        for name in [*wanted, *arrays]:
            if name not in arrays or name not in wanted:
                what = "is missing" if name in wanted else f"is none of {', '.join(wanted)}"
                raise ValueError(f"the array {name!r} {what}")
        state = cls(rules, **{name: np.array(arrays[name]) for name in wanted})
        state.check_layout()
        for name, (low, high) in _ranges(rules).items():
            found = getattr(state, name)
            if found.size and not low <= found.min() <= found.max() <= high:
                raise ValueError(
                    f"the array {name!r} must lie between {low} and {high}, not between {found.min()} and {found.max()}"
                )
        return state

    def check_layout(self) -> None:
        """See that all arrays are there, with the dtypes and shapes of the rules and as many games each.

        Raises:
            ValueError: where it is not so, saying which.
        """
        n_games = len(np.atleast_1d(getattr(self, "to_play", 0)))
        with suppress(AttributeError):  # of a field that is no array, or that there is not
            if [(array.dtype, array.shape) for array in _get_arrays(self)] == _full_layout(self.rules, n_games):
                return
        for name, (shape, dtype) in _layout(self.rules).items():
            found = getattr(self, name, None)
            if not isinstance(found, np.ndarray) or found.dtype != dtype or found.shape != (n_games, *shape):
                kind = f"{found.dtype} of shape {found.shape}" if isinstance(found, np.ndarray) else repr(found)
                raise ValueError(f"the array {name!r} must be {dtype} of shape {(n_games, *shape)}, not {kind}")

    def copy(self) -> "State":
        """An independent copy."""
        return State(self.rules, **{name: array.copy() for name, array in self.arrays().items()})

    def __deepcopy__(self, memo: dict[int, Any]) -> "State":
        """A :meth:`copy`, several times as fast as a walk through the fields."""
        return self.copy()

    def select(self, games: NDArray[Any]) -> "State":
        """Some of the games, copied: [G] indices, which may repeat, or [B] bools."""
        return State(self.rules, **{name: array[games] for name, array in self.arrays().items()})

    @staticmethod
    def concat(states: Sequence["State"]) -> "State":
        """The games of several states, one after the other, copied.

        Raises:
            ValueError: for no states at all, or states under different rules.
        """
        if not states:
            raise ValueError("there must be at least one state to concat")
        rules = states[0].rules
        for state in states:
            if state.rules != rules:
                raise ValueError(f"states to concat must be under the same rules, not {rules} and {state.rules}")
        parts = [state.arrays() for state in states]
        return State(rules, **{name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


def _ranges(rules: Rules) -> dict[str, tuple[int, int]]:
    """Between what the numbers lie that stand for something, or by which others are looked up."""
    t = tables(rules)
    return {
        "board": (FREE, rules.colors - 1),
        "points": (0, np.iinfo(np.int8).max - rules.top),
        "symbols_touched": (0, 2**rules.colors - 1),
        "scores": (0, rules.top),
        "racks": (EMPTY, t.n_kinds - 1),
        "returned": (0, LEVELS),
        "levels": (0, int(t.full_bag.max())),
        "drawn": (0, 2**31),
        "pending_bonus": (0, rules.players * rules.rack),
        "decisions": (0, 2**31),
        "to_play": (0, rules.players - 1),
        "phase": (Phase.PLACE, Phase.OVER),
        "end": (End.UNFINISHED, End.ALL_AT_TOP),
    }


_ARRAYS = tuple(f.name for f in fields(State) if f.name != "rules")
_get_arrays = attrgetter(*_ARRAYS)


@lru_cache(maxsize=64)
def _full_layout(rules: Rules, n_games: int) -> list[tuple[np.dtype[Any], tuple[int, ...]]]:
    """Dtype and shape of every array, in the order of the fields."""
    layout = _layout(rules)
    return [(layout[name][1], (n_games, *layout[name][0])) for name in _ARRAYS]


@lru_cache(maxsize=64)
def _layout(rules: Rules) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Shape (without B) and dtype of every array."""
    t = tables(rules)
    seats, slots, kinds, colors = rules.players, rules.rack, t.n_kinds, rules.colors
    shapes: dict[str, tuple[tuple[int, ...], Any]] = {
        "board": ((t.n_cells,), np.int8),
        "points": ((t.n_cells, colors), np.int8),
        "open": ((t.near.shape[1],), np.uint64),
        "symbols_touched": ((), np.uint8),
        "scores": ((rules.tracks, colors), np.int8),
        "racks": ((seats, slots), np.int8),
        "bag": ((kinds,), np.uint8),
        "key": ((seats,), np.uint64),
        "drawn": ((seats,), np.int64),
        "has_placed": ((seats,), np.bool_),
        "returned": ((seats, slots, kinds), np.uint8),
        "levels": ((kinds, LEVELS), np.uint8),
        "swapped": ((), np.bool_),
        "to_play": ((), np.int64),
        "phase": ((), np.int8),
        "pending_bonus": ((), np.int64),
        "decisions": ((), np.int64),
        "end": ((), np.int8),
    }
    return {name: (shape, np.dtype(dtype)) for name, (shape, dtype) in shapes.items()}
