"""Views: what one seat may know of a game.

A view has the board, all markers, the seat's own rack, how many tiles of each kind are unseen, the sizes of the racks,
the decision to be made, and what swaps have shown. Policies and encodings get views, never a
:class:`~genial_env.core.state.State`; :func:`genial_env.core.determinization.determinize` samples states that agree
with a view.

Seats and tracks stand in the order of the view: the seat's own first, the others clockwise. All arrays are copies.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from genial_env.backends import AnyBackend, accelerated
from genial_env.core import bitsets, kernel
from genial_env.core.arrays import Bools, Ints
from genial_env.core.rules import Rules
from genial_env.core.specs import LEVELS, Holds, Spec, axis_sizes, dtypes_of, shape_of, specs_of
from genial_env.core.state import EMPTY, FREE, Phase, State
from genial_env.core.tables import Tables, tables

__all__ = ["VIEW_SPECS", "View", "fill_view_masks", "returned_tiles", "view", "view_layout", "view_unchecked"]


@dataclass(eq=False)
class View:
    """G games, each seen from one seat. Every array has the axis G first; its :class:`Spec` names the axes after it.

    Axes P and T stand in the order of the view: own seat and own track first, the others clockwise.
    """

    rules: Rules
    seat: Annotated[Ints, Spec("", "the seat that sees this", high=lambda t: t.rules.players - 1)]
    board: Annotated[
        NDArray[np.int8],
        Spec(
            "N",
            "the color on each cell, -1 where it is free",
            low=FREE,
            high=lambda t: t.rules.colors - 1,
            holds=Holds.COLORS,
        ),
    ]
    points: Annotated[NDArray[np.int8], Spec("NC", "the points that color c would score on cell n now, 0 if covered")]
    scores: Annotated[NDArray[np.int8], Spec("TC", "the markers", high=lambda t: t.rules.top)]
    rack: Annotated[
        NDArray[np.int8],
        Spec(
            "K",
            "the tile kind in each of the own slots, -1 where it is empty",
            low=EMPTY,
            high=lambda t: t.n_kinds - 1,
            holds=Holds.KINDS,
        ),
    ]
    unseen: Annotated[
        NDArray[np.uint8],
        Spec("M", "tiles of each kind in the bag and in the others' racks", high=lambda t: int(t.full_bag.max())),
    ]
    returned: Annotated[
        NDArray[np.uint8],
        Spec(
            "PKM",
            "tiles of each kind returned by swaps since the slot was filled, at most X, so that it holds none of them; "
            "own slots as in `rack`, of the others' the longest filled first",
            high=LEVELS,
        ),
    ]
    levels: Annotated[
        NDArray[np.uint8],
        Spec(
            "MX",
            "for the latest returns of a tile of each kind, the latest first: tiles of the kind in the bag right after "
            "it, or in slots that were filled before and have not been shown since, the own ones included; 0 where "
            "there was no such return",
            high=lambda t: int(t.full_bag.max()),
        ),
    ]
    rack_sizes: Annotated[Ints, Spec("P", "how many tiles each seat holds", high=lambda t: t.rules.rack)]
    has_placed: Annotated[Bools, Spec("P", "whether the seat has placed its first tile", high=1)]
    to_play: Annotated[
        Ints, Spec("", "whose decision it is: 0 the own, 1 the next seat's, ...", high=lambda t: t.rules.players - 1)
    ]
    phase: Annotated[NDArray[np.int8], Spec("", "the decision, a `Phase`", high=Phase.OVER)]
    pending_bonus: Annotated[
        Ints,
        Spec("", "bonus placements still to be made in this turn", high=lambda t: t.rules.players * t.rules.rack),
    ]
    slots: Annotated[
        Bools, Spec("K", "the slots to place a tile from now; none where the seat has no placement to make", high=1)
    ]
    placements: Annotated[
        Bools,
        Spec("E", "the placements open to any tile of the seat to play; the mask is slots x placements", high=1),
    ]
    may_swap: Annotated[Bools, Spec("", "whether the seat may swap its rack now", high=1)]
    may_decline: Annotated[Bools, Spec("", "whether the seat may decline now", high=1)]

    def __len__(self) -> int:
        """Return G."""
        return len(self.seat)

    def __repr__(self) -> str:
        return f"<View of {len(self)} games, {self.rules}>"

    @property
    def tables(self) -> Tables:
        """The look-up tables of these rules."""
        return tables(self.rules)

    @property
    def room(self) -> NDArray[np.int8]:  # [G, C]
        """By how many points one tile can move each own marker at most."""
        own = self.scores[:, 0]
        room: NDArray[np.int8] = self.tables.furthest[own] - own
        return room

    def select(self, games: Ints) -> "View":
        """Return the views of some of the games, copied."""
        return View(self.rules, **{name: getattr(self, name)[games] for name in VIEW_SPECS})

    def mask(self, out: Bools | None = None) -> Bools:  # [G, A]
        """Return the mask of legal actions; none where it is not the seat's turn.

        Args:
            out: a C-contiguous bool array [G, A] to write into, instead of a new one.
        """
        mask = np.empty((len(self), self.tables.n_actions), dtype=np.bool_) if out is None else out
        fill_view_masks(self, mask)
        return mask


VIEW_SPECS = specs_of(View)
"""The declarations of the arrays, in the order of the fields."""

_DTYPES = dtypes_of(View)


@lru_cache(maxsize=64)
def view_layout(rules: Rules) -> Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Return shape (without G) and dtype of every array of a view."""
    sizes = axis_sizes(rules)
    return {name: (shape_of(spec, sizes), _DTYPES[name]) for name, spec in VIEW_SPECS.items()}


@accelerated
def fill_view_masks(view: View, mask: Bools) -> None:
    """Write the masks of :meth:`View.mask` into `mask` [G, A]."""
    t, rules = view.tables, view.rules
    tiles = mask[:, : t.swap_action].reshape(len(view), rules.rack, t.n_placements)
    np.logical_and(view.slots[:, :, None], view.placements[:, None, :], out=tiles)
    if rules.has_swap:
        mask[:, t.swap_action] = view.may_swap
        mask[:, t.decline_action] = view.may_decline


def view(
    state: State,
    seats: Ints | int | None = None,
    rows: Ints | None = None,
    *,
    backend: AnyBackend = None,
) -> View:
    """Return what one seat of each game may know.

    Args:
        state: the games.
        seats: [G] the seats, or one seat for all games; None: the seat to play.
        rows: [G] row indices; None: all.
        backend: the compute backend; None: the current one.

    Raises:
        IndexError: if a row index is out of range.
        ValueError: if a seat is out of range.
    """
    rows = kernel.as_rows(state, rows)
    if seats is None:
        seat = state.to_play[rows]
    else:
        seat = np.broadcast_to(np.asarray(seats, dtype=np.int64), rows.shape)
        if seat.size and not 0 <= seat.min() <= seat.max() < state.rules.players:
            raise ValueError(f"seats run from 0 to {state.rules.players - 1}, not {seat.min()} to {seat.max()}")
    return view_unchecked.on(backend)(state, rows, seat)


@accelerated
def view_unchecked(state: State, rows: Ints, seat: Ints) -> View:
    """Compute :func:`view` without argument checks; `seat` [G]."""
    rules, t = state.rules, state.tables
    mover = state.to_play[rows]
    own_turn = seat == mover
    seats = t.seats_from[seat]
    racks = state.racks[rows[:, None], seats]
    held = racks[:, 1:].reshape(len(rows), (rules.players - 1) * rules.rack)
    return View(
        rules=rules,
        seat=seat.copy(),
        board=state.board[rows],
        points=state.points[rows],
        scores=state.scores[rows[:, None], t.tracks_from[seat]],
        rack=racks[:, 0].copy(),
        unseen=state.bag[rows] + kernel.count_kinds(held, t.n_kinds).astype(np.uint8),
        returned=returned_tiles(state, rows, seats),
        levels=state.levels[rows],
        rack_sizes=(racks != EMPTY).sum(axis=2),
        has_placed=state.has_placed[rows[:, None], seats],
        to_play=(mover - seat) % rules.players,
        phase=state.phase[rows],
        pending_bonus=state.pending_bonus[rows],
        slots=kernel.legal_slots(state, rows) & own_turn[:, None],
        placements=bitsets.unpack(kernel.placement_sets_unchecked.numpy(state, rows), t.n_placements),
        may_swap=kernel.may_swap(state, rows) & own_turn,
        may_decline=kernel.may_decline(state, rows) & own_turn,
    )


def returned_tiles(state: State, rows: Ints, seats: Ints) -> NDArray[np.uint8]:
    """Return the array `returned` of views: [G, P, K, M].

    Args:
        state: the games.
        rows: [G] row indices.
        seats: [G, P] the seats in the order of the view.
    """
    shape = (len(rows), state.rules.players, state.rules.rack, state.tables.n_kinds)
    returned = np.zeros(shape, dtype=np.uint8)
    swapped = np.flatnonzero(state.swapped.take(rows))
    if swapped.size:
        known = state.returned[rows[swapped, None], seats[swapped]]
        others = known[:, 1:]
        oldest_first = np.argsort(-others.sum(axis=3, dtype=np.int64), axis=2, kind="stable")
        known[:, 1:] = np.take_along_axis(others, oldest_first[..., None], axis=2)
        returned[swapped] = known
    return returned
