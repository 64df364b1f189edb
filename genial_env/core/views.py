"""What one seat may know: the board, all markers, its own rack, how many tiles of each kind are unseen, rack sizes, the
decision to be made, and what swaps have shown. Policies and encodings get views, never a
:class:`~genial_env.core.state.State`; :func:`determinize` makes states that a view allows.

Seats and tracks are turned so that the seat's own comes first, the others follow clockwise. All arrays are copies.
"""

from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genial_env.backends import AnyBackend, accelerated
from genial_env.core import bitsets, chance, kernel, posterior
from genial_env.core.posterior import Hidden
from genial_env.core.rules import TRACK_END, Rules
from genial_env.core.state import EMPTY, LEVELS, End, Phase, State
from genial_env.core.tables import Bools, Ints, Tables, tables

N = TypeVar("N", bound=np.integer[Any])


@dataclass(eq=False)
class View:
    """G games, each seen from one seat. Axis letters as in :mod:`genial_env.core.state`; own seat and track first."""

    rules: Rules
    seat: Ints  # [G] who is looking
    board: NDArray[np.int8]  # [G, N] the color on each cell, -1 where free
    points: NDArray[np.int8]  # [G, N, C] what color c would score on free cell n
    scores: NDArray[np.int8]  # [G, T, C] the markers
    rack: NDArray[np.int8]  # [G, K] the own tiles' kinds, -1 for an empty slot
    unseen: NDArray[np.uint8]  # [G, M] tiles in the bag and in the others' racks
    returned: NDArray[np.uint8]
    """[G, P, K, M] tiles of each kind returned by swaps since the slot was filled, at most X, so that it holds none of
    them. Own slots as in `rack`, of the others' the longest filled first."""
    levels: NDArray[np.uint8]
    """[G, M, X] for the latest returns of each kind, the latest first: tiles of the kind in the bag right after it, or
    in slots that were filled before and not shown since, the own ones included. 0 where there was no such return."""
    rack_sizes: Ints  # [G, P]
    has_placed: Bools  # [G, P] whether the seat has laid its first tile
    to_play: Ints  # [G] 0 = own turn, 1 = the next seat's, ...
    phase: NDArray[np.int8]  # [G] a state.Phase
    pending_bonus: Ints  # [G] bonus placements to be made
    slots: Bools  # [G, K] the slots one may place from now; none where it is not the seat's own placement
    placements: Bools  # [G, E] the placements open to any tile of the rack; mask = slots x placements
    may_swap: Bools  # [G]
    may_decline: Bools  # [G]

    def __len__(self) -> int:
        """G."""
        return len(self.seat)

    def __repr__(self) -> str:
        return f"<View of {len(self)} games, {self.rules}>"

    @property
    def tables(self) -> Tables:
        """The look-up tables of these rules."""
        return tables(self.rules)

    @property
    def room(self) -> NDArray[np.int8]:  # [G, C]
        """How many points still move each own marker before it stops."""
        own = self.scores[:, 0]
        return np.where(own < TRACK_END, TRACK_END, self.rules.top).astype(np.int8) - own

    def select(self, games: Ints) -> "View":
        """The views of some of the games."""
        arrays = {f.name: getattr(self, f.name)[games] for f in fields(self) if f.name != "rules"}
        return View(self.rules, **arrays)

    def mask(self, out: Bools | None = None) -> Bools:  # [G, A]
        """The playable actions; none where it is not the seat's turn.

        Args:
            out: a C-contiguous array to write into, instead of a new one.
        """
        mask = np.empty((len(self), self.tables.n_actions), dtype=np.bool_) if out is None else out
        fill_view_masks(self, mask)
        return mask


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
    """What a seat of each game may know.

    Args:
        state: the games.
        seats: [G] the seats, or one for all; left out, the seat to play.
        rows: [G] which games; left out, all.
        backend: who does it.

    Raises:
        IndexError: for rows that there are not.
        ValueError: for seats that there are not.
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
    turned = (seat[:, None] + np.arange(rules.players)) % rules.players
    racks = state.racks[rows[:, None], turned]
    held = racks[:, 1:].reshape(len(rows), (rules.players - 1) * rules.rack)
    return View(
        rules=rules,
        seat=seat.copy(),
        board=state.board[rows],
        points=state.points[rows],
        scores=state.scores[rows[:, None], (seat[:, None] + np.arange(rules.tracks)) % rules.tracks],
        rack=racks[:, 0].copy(),
        unseen=state.bag[rows] + kernel.count_kinds(held, t.n_kinds).astype(np.uint8),
        returned=returned_tiles(state, rows, turned),
        levels=state.levels[rows],
        rack_sizes=(racks != EMPTY).sum(axis=2),
        has_placed=state.has_placed[rows[:, None], turned],
        to_play=(mover - seat) % rules.players,
        phase=state.phase[rows],
        pending_bonus=state.pending_bonus[rows],
        slots=kernel.legal_slots(state, rows) & own_turn[:, None],
        placements=bitsets.unpack(kernel.placement_sets_unchecked.numpy(state, rows), t.n_placements),
        may_swap=kernel.may_swap(state, rows) & own_turn,
        may_decline=kernel.may_decline(state, rows) & own_turn,
    )


def returned_tiles(state: State, rows: Ints, turned: Ints) -> NDArray[np.uint8]:
    """[G, P, K, M]: what a view holds as `returned`; `turned` [G, P] are the seats in the view's order."""
    shape = (len(rows), state.rules.players, state.rules.rack, state.tables.n_kinds)
    returned = np.zeros(shape, dtype=np.uint8)
    swapped = np.flatnonzero(state.swapped.take(rows))
    if swapped.size:
        known = state.returned[rows[swapped, None], turned[swapped]]
        others = known[:, 1:]
        oldest_first = np.argsort(-others.sum(axis=3, dtype=np.int64), axis=2, kind="stable")
        known[:, 1:] = np.take_along_axis(others, oldest_first[..., None], axis=2)
        returned[swapped] = known
    return returned


def complete(
    rules: Rules,
    *,
    board: ArrayLike,
    scores: ArrayLike,
    rack: ArrayLike,
    unseen: ArrayLike,
    returned: ArrayLike,
    levels: ArrayLike,
    rack_sizes: ArrayLike,
    has_placed: ArrayLike,
    to_play: ArrayLike,
    phase: ArrayLike,
    pending_bonus: ArrayLike,
    seat: ArrayLike = 0,
) -> View:
    """Views from what cannot be worked out from the rest, each array as in :class:`View`; the seat for all games alike
    where it is one number.
    """
    t = tables(rules)
    cells = np.asarray(board, dtype=np.int8)
    n_games = len(cells)
    slots, kinds = (rules.players, rules.rack), t.n_kinds
    nothing = np.zeros((n_games, 0), dtype=np.bool_)
    partly = View(
        rules=rules,
        seat=np.broadcast_to(np.asarray(seat, dtype=np.int64), n_games),
        board=cells,
        points=kernel.recount_points(rules, cells),
        scores=np.asarray(scores, dtype=np.int8),
        rack=np.asarray(rack, dtype=np.int8),
        unseen=np.asarray(unseen, dtype=np.uint8),
        returned=np.broadcast_to(np.asarray(returned, dtype=np.uint8), (n_games, *slots, kinds)),
        levels=np.broadcast_to(np.asarray(levels, dtype=np.uint8), (n_games, kinds, LEVELS)),
        rack_sizes=np.asarray(rack_sizes, dtype=np.int64),
        has_placed=np.asarray(has_placed, dtype=np.bool_),
        to_play=np.asarray(to_play, dtype=np.int64),
        phase=np.asarray(phase, dtype=np.int8),
        pending_bonus=np.asarray(pending_bonus, dtype=np.int64),
        slots=nothing,
        placements=nothing,
        may_swap=nothing,
        may_decline=nothing,
    )
    return view(determinize(partly, np.zeros(n_games, dtype=np.uint64)), partly.seat)


def determinize(view: View, rng: np.random.Generator | chance.Bits) -> State:
    """Full states that agree with the views, one for each: the unseen tiles dealt anew to the others' racks.

    A deal is as likely as it is given everything that the seat has seen, returned tiles included, if the others'
    choices are taken as independent of their hidden tiles (:mod:`genial_env.core.posterior`). One of their choices does
    count: a rack whose seat is deciding on a swap shows none of its lowest colors. The luck of the draws to come is
    new, too. ``view(determinize(v, rng), v.seat)`` is `v` again.

    For several states of a view select it several times: ``determinize(v.select(np.repeat(games, n)), rng)``.

    Args:
        view: G games.
        rng: a numpy generator, or [G] random bits, such as a policy gets: then what a game gets does not depend on the
            games beside it.

    Raises:
        ValueError: for a view that no state agrees with.
        TypeError: for an `rng` that is neither.
    """
    random = _random_bits(rng, len(view))
    rules, t, games = view.rules, view.tables, np.arange(len(view))
    hands, bag = posterior.sample(hidden_tiles(view), chance.bits(random, 0))
    hands = hands.reshape(len(view), rules.players - 1, rules.rack)
    turned = (view.seat[:, None] + np.arange(rules.players)) % rules.players
    racks = np.empty((len(view), rules.players, rules.rack), dtype=np.int8)
    racks[games[:, None], turned] = np.concatenate([view.rack[:, None], hands], axis=1)
    has_placed = np.empty((len(view), rules.players), dtype=np.bool_)
    has_placed[games[:, None], turned] = view.has_placed
    returned = np.empty((len(view), rules.players, rules.rack, t.n_kinds), dtype=np.uint8)
    returned[games[:, None], turned] = view.returned
    scores = np.empty((len(view), rules.tracks, rules.colors), dtype=np.int8)
    scores[games[:, None], (view.seat[:, None] + np.arange(rules.tracks)) % rules.tracks] = view.scores
    at_top = (scores == rules.top).all(axis=2).any(axis=1)
    return State(
        rules=rules,
        board=view.board.copy(),
        points=view.points.copy(),
        open=kernel.open_sets(t, view.board),
        symbols_touched=kernel.find_touched_symbols(t, view.board),
        scores=scores,
        racks=racks,
        bag=bag.astype(np.uint8),
        key=chance.seat_keys(chance.bits(random, 1), chance.Purpose.DRAWS, rules.players),
        drawn=np.zeros((len(view), rules.players), dtype=np.int64),
        has_placed=has_placed,
        returned=returned,
        levels=view.levels.copy(),
        swapped=np.asarray(view.levels[:, :, 0].any(axis=1)),
        to_play=(view.seat + view.to_play) % rules.players,
        phase=view.phase.copy(),
        pending_bonus=view.pending_bonus.copy(),
        decisions=np.zeros(len(view), dtype=np.int64),
        end=np.where(view.phase != Phase.OVER, End.UNFINISHED, np.where(at_top, End.ALL_AT_TOP, End.BOARD_FULL)).astype(
            np.int8
        ),
    )


def _random_bits(rng: np.random.Generator | chance.Bits, n_games: int) -> chance.Bits:
    if isinstance(rng, np.random.Generator):
        return rng.integers(2**64, size=n_games, dtype=np.uint64)
    if isinstance(rng, np.ndarray) and rng.dtype == np.uint64 and rng.shape == (n_games,):
        return rng
    what = f"{rng.dtype} of shape {rng.shape}" if isinstance(rng, np.ndarray) else repr(rng)
    raise TypeError(f"rng must be a numpy Generator or uint64 random bits of shape ({n_games},), not {what}")


def hidden_tiles(view: View) -> Hidden:
    """What the view tells of the others' racks, the seats clockwise; slots as in `view.returned`."""
    rules, n_games = view.rules, len(view)
    n_slots = (rules.players - 1) * rules.rack
    filled = np.arange(rules.rack) < view.rack_sizes[:, 1:, None]
    limited, allowed = _limits(view)
    return Hidden(
        unseen=view.unseen.astype(np.int64),
        filled=filled.reshape(n_games, n_slots),
        returned=view.returned[:, 1:].reshape(n_games, n_slots, view.tables.n_kinds),
        levels=_others_levels(view),
        limited=limited,
        allowed=allowed,
    )


def _others_levels(view: View) -> NDArray[np.uint8]:
    """[G, M, X]: `levels` without the tiles that lie in the own slots."""
    levels = view.levels.copy()
    games = np.flatnonzero(view.returned[:, 0].any(axis=(1, 2)))
    for slot in range(view.rules.rack):
        held = games[view.rack[games, slot] != EMPTY]
        kind = view.rack[held, slot]
        levels[held, kind] -= np.arange(LEVELS) < view.returned[held, 0, slot, kind, None]
    return levels


def _limits(view: View) -> tuple[Bools, Bools]:
    """The slots of the rack whose seat is deciding on a swap, [G, slots] of the others, and the kinds that it can hold,
    [G, M]: none that shows one of its lowest colors.
    """
    rules, t = view.rules, view.tables
    limited = np.zeros((len(view), rules.players, rules.rack), dtype=np.bool_)
    allowed = np.ones((len(view), t.n_kinds), dtype=np.bool_)
    deciding = np.flatnonzero(view.phase == Phase.SWAP)
    seat = view.to_play[deciding]
    limited[deciding, seat] = True
    scores = view.scores[deciding, seat % rules.tracks]
    is_lowest = scores == scores.min(axis=1, keepdims=True)
    allowed[deciding] = ~is_lowest[:, t.kinds].any(axis=2)
    return limited[:, 1:].reshape(len(view), (rules.players - 1) * rules.rack), allowed


def tile_values(view: View, values: NDArray[N]) -> NDArray[N]:
    """What laying each tile of the rack on each placement is worth, [G, K, E], when a half's worth is given by cell
    and color, [G, N, C]. Entries of empty slots mean nothing.

    With ``values=view.points`` these are the points of every placement.
    """
    t = view.tables
    n_games, n_slots = view.rack.shape
    by_color = np.ascontiguousarray(values.transpose(0, 2, 1)).reshape(-1, t.n_cells)  # [G * C, N]
    halves = t.kinds.take(view.rack, axis=0) + np.arange(n_games)[:, None, None] * view.rules.colors  # [G, K, 2]
    first, second = (by_color.take(halves[:, :, half].ravel(), axis=0) for half in (0, 1))  # [G * K, N]
    total = first.take(t.placements[:, 0], axis=1, mode="clip")  # without a check of every index
    total += second.take(t.placements[:, 1], axis=1, mode="clip")
    return total.reshape(n_games, n_slots, t.n_placements)


def pick_best(view: View, values: NDArray[np.integer[Any]], random: NDArray[np.uint64]) -> Ints:
    """[G]: the playable placement of the highest value, equal ones drawn by lot, as an action id.

    Args:
        view: games in which a placement is to be made.
        values: [G, K, E] whole numbers, more than their type's least.
        random: [G] random bits.
    """
    limits = np.iinfo(values.dtype)
    cap = limits.min ^ -view.placements.astype(values.dtype)  # 0 -> the least, 1 -> the greatest number of the type
    capped = np.minimum(values, cap[:, None, :])  # both several times as fast as np.where
    capped[~view.slots] = limits.min
    flat = capped.reshape(len(view), view.tables.swap_action)
    return bitsets.choose(bitsets.pack(flat == flat.max(axis=1)[:, None]), random)


def equivalence_keys(view: View, actions: Ints) -> Ints:
    """[G, K]: a key for each action; equal within a game if and only if the actions lead to the same position.

    Equivalent are placements of duplicate tiles from either slot, and of a double in either direction.

    Args:
        view: G games in which it is the seat's turn.
        actions: [G, K] action ids; negative numbers are equivalent to themselves only.
    """
    t = view.tables
    placing = (actions >= 0) & (actions < t.swap_action)
    slot, placement = np.divmod(np.where(placing, actions, 0), t.n_placements)
    kind = np.take_along_axis(view.rack.astype(np.int64), slot, axis=1)
    first, second = np.moveaxis(t.placements[placement], 2, 0)
    around = (t.kinds[kind, 0] == t.kinds[kind, 1]) & (second < first)
    first, second = np.where(around, second, first), np.where(around, first, second)
    return np.where(placing, (kind * t.n_cells + first) * t.n_cells + second, -1 - actions)
