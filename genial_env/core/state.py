"""The state of B games at once, as arrays.

Axis letters: B games, P seats, T score tracks, C colors, N cells, K rack slots, E placements, M tile kinds, W words of
a set of placements, X the latest returns of a tile kind.

The state holds how many tiles of each kind are left in the bag, never the order in which they will come: what a seat
draws next follows from its key and counter and from these counts (:mod:`genial_env.core.chance`).

`returned` and `levels` hold what swaps have told all seats about the racks. A swap returns tiles to the bag, and a slot
that was filled before cannot hold one of them. `returned` counts the tiles of each kind that were returned after a slot
was filled. `levels` holds, for each return, how many tiles of its kind it left in the bag or in slots that were filled
before and have not been shown since. As tiles of a kind are indistinguishable, that number decides how likely such a
slot is to hold one (:mod:`genial_env.core.posterior`). The latest :data:`LEVELS` returns of a kind are kept, and
`returned` counts no further.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Bitsets, Bools, Ints
from genial_env.core.rules import Rules
from genial_env.core.specs import LEVELS, Holds, Spec, axis_sizes, dtypes_of, limit, shape_of, specs_of
from genial_env.core.tables import Tables, tables

__all__ = ["EMPTY", "FREE", "LEVELS", "STATE_ARRAYS", "STATE_SPECS", "End", "Phase", "State"]

FREE = -1
"""A free cell of the board."""

EMPTY = -1
"""A rack slot without a tile."""


class Phase(IntEnum):
    """What the seat to play has to decide."""

    PLACE = 0
    """Place the tile of the turn."""
    BONUS = 1
    """Place a bonus tile (in edition 2009: or decline it)."""
    SWAP = 2
    """Swap the rack or decline to."""
    OVER = 3
    """Nothing: the game has ended."""


class End(IntEnum):
    """Whether and how a game has ended."""

    UNFINISHED = 0
    BOARD_FULL = 1
    ALL_AT_TOP = 2

    @property
    def words(self) -> str:
        """The end as game records name it."""
        return ("unfinished", "board full", "all markers at the end")[self]


@dataclass(eq=False)
class State:
    """B games under the same rules. Every array has the axis B first; its :class:`Spec` names the axes after it.

    `points` and `open` follow from the board. The kernel keeps them up to date because everything reads them.
    """

    rules: Rules
    board: Annotated[
        NDArray[np.int8],
        Spec(
            "N",
            "the color on each cell, -1 where it is free",
            low=FREE,
            high=lambda t: t.rules.colors - 1,
            initial=FREE,
            holds=Holds.COLORS,
        ),
    ]
    points: Annotated[
        NDArray[np.int8],
        Spec(
            "NC",
            "the points that color c would score on cell n now, 0 on covered cells",
            high=lambda t: np.iinfo(np.int8).max - t.rules.top,
        ),
    ]
    open: Annotated[
        Bitsets, Spec("W", "the set of placements whose two cells are free, as a bitset", holds=Holds.PLACEMENTS)
    ]
    symbols_touched: Annotated[
        NDArray[np.uint8],
        Spec(
            "",
            "bit c: a tile lies next to color c's start symbol",
            high=lambda t: 2**t.rules.colors - 1,
            holds=Holds.START_SYMBOLS,
        ),
    ]
    scores: Annotated[NDArray[np.int8], Spec("TC", "the markers", high=lambda t: t.rules.top)]
    racks: Annotated[
        NDArray[np.int8],
        Spec(
            "PK",
            "the tile kind in each slot, -1 where it is empty",
            low=EMPTY,
            high=lambda t: t.n_kinds - 1,
            initial=EMPTY,
            holds=Holds.KINDS,
        ),
    ]
    bag: Annotated[NDArray[np.uint8], Spec("M", "tiles of each kind left in the bag")]
    key: Annotated[NDArray[np.uint64], Spec("P", "the key of the seat's random draws")]
    drawn: Annotated[Ints, Spec("P", "tiles that the seat has drawn so far", high=2**31)]
    has_placed: Annotated[Bools, Spec("P", "whether the seat has placed its first tile", high=1)]
    returned: Annotated[
        NDArray[np.uint8],
        Spec("PKM", "tiles of each kind returned by swaps since the slot was filled, at most X", high=LEVELS),
    ]
    levels: Annotated[
        NDArray[np.uint8],
        Spec(
            "MX",
            "for the latest returns of a tile of each kind, the latest first: tiles of the kind in the bag right after "
            "it, or in slots that were filled before and have not been shown since; 0 where there was no such return",
            high=lambda t: int(t.full_bag.max()),
        ),
    ]
    swapped: Annotated[
        Bools, Spec("", "whether a rack has been swapped; before that `returned` and `levels` are zeros", high=1)
    ]
    to_play: Annotated[
        Ints,
        Spec("", "the seat whose decision it is; after the end, whose it last was", high=lambda t: t.rules.players - 1),
    ]
    phase: Annotated[NDArray[np.int8], Spec("", "the decision, a `Phase`", high=Phase.OVER)]
    pending_bonus: Annotated[
        Ints,
        Spec("", "bonus placements still to be made in this turn", high=lambda t: t.rules.players * t.rules.rack),
    ]
    decisions: Annotated[Ints, Spec("", "actions played so far", high=2**31)]
    end: Annotated[NDArray[np.int8], Spec("", "whether and how the game has ended, an `End`", high=End.ALL_AT_TOP)]

    def __len__(self) -> int:
        """Return B."""
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

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name, not copied, in the order of the fields. :meth:`from_arrays` is the reverse."""
        return dict(zip(STATE_ARRAYS, _get_arrays(self), strict=True))

    @classmethod
    def initial(cls, rules: Rules, games: int, **arrays: NDArray[Any]) -> "State":
        """Return a state of the given arrays; the other arrays are filled with their initial values.

        Args:
            rules: the rules.
            games: B.
            arrays: arrays by name, which are not copied.
        """
        filled = {
            name: np.full((games, *shape), STATE_SPECS[name].initial, dtype)
            for name, (shape, dtype) in _layout(rules).items()
            if name not in arrays
        }
        return cls(rules, **filled, **arrays)

    @classmethod
    def from_arrays(cls, rules: Rules, arrays: Mapping[str, NDArray[Any]]) -> "State":
        """Make a state of copies of arrays such as :meth:`arrays` returns.

        Raises:
            ValueError: if a name is missing or unknown, an array has the wrong dtype or shape, or a number is out of
                range.
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
        for name, spec in STATE_SPECS.items():
            if spec.high is None:
                continue
            found, low, high = getattr(state, name), spec.low, limit(spec.high, rules)
            if found.size and not low <= found.min() <= found.max() <= high:
                raise ValueError(
                    f"the array {name!r} must lie between {low} and {high}, not between {found.min()} and {found.max()}"
                )
        return state

    def check_layout(self) -> None:
        """Check that all arrays have the dtypes and shapes of the rules and the same number of games.

        Raises:
            ValueError: if one has not.
        """
        n_games = len(np.atleast_1d(getattr(self, "to_play", 0)))
        with suppress(AttributeError):  # raised by a field that is no array, or is missing
            if [(array.dtype, array.shape) for array in _get_arrays(self)] == _full_layout(self.rules, n_games):
                return
        for name, (shape, dtype) in _layout(self.rules).items():
            found = getattr(self, name, None)
            if not isinstance(found, np.ndarray) or found.dtype != dtype or found.shape != (n_games, *shape):
                kind = f"{found.dtype} of shape {found.shape}" if isinstance(found, np.ndarray) else repr(found)
                raise ValueError(f"the array {name!r} must be {dtype} of shape {(n_games, *shape)}, not {kind}")

    def copy(self) -> "State":
        """Return an independent copy."""
        return State(self.rules, **{name: array.copy() for name, array in self.arrays().items()})

    def __deepcopy__(self, memo: dict[int, Any]) -> "State":
        """Return a :meth:`copy`, which is several times as fast as copying field by field."""
        return self.copy()

    def select(self, games: NDArray[Any]) -> "State":
        """Return some of the games, copied.

        Args:
            games: [G] row indices, which may repeat, or [B] bools.
        """
        return State(self.rules, **{name: array[games] for name, array in self.arrays().items()})

    @staticmethod
    def concat(states: Sequence["State"]) -> "State":
        """Return the games of several states, one after the other, copied.

        Raises:
            ValueError: if there are no states, or they have different rules.
        """
        if not states:
            raise ValueError("there must be at least one state to concat")
        rules = states[0].rules
        for state in states:
            if state.rules != rules:
                raise ValueError(f"states to concat must be under the same rules, not {rules} and {state.rules}")
        parts = [state.arrays() for state in states]
        return State(rules, **{name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


STATE_SPECS = specs_of(State)
"""The declarations of the arrays."""

STATE_ARRAYS = tuple(STATE_SPECS)
"""The names of the arrays, in the order of the fields."""

_get_arrays = attrgetter(*STATE_ARRAYS)
_DTYPES = dtypes_of(State)


@lru_cache(maxsize=64)
def _full_layout(rules: Rules, n_games: int) -> list[tuple[np.dtype[Any], tuple[int, ...]]]:
    """Return dtype and shape of every array, in the order of the fields."""
    return [(dtype, (n_games, *shape)) for shape, dtype in _layout(rules).values()]


@lru_cache(maxsize=64)
def _layout(rules: Rules) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Return shape (without B) and dtype of every array."""
    sizes = axis_sizes(rules)
    return {name: (shape_of(spec, sizes), _DTYPES[name]) for name, spec in STATE_SPECS.items()}
