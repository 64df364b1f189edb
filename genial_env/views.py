"""What one seat may know: the board, all markers, its own rack, how many tiles of each kind are unseen, rack sizes, the
decision to be made, and what swaps have shown. Policies and encodings get views, never a
:class:`~genial_env.state.State`; :func:`determinize` makes states that a view allows.

Seats and tracks are turned so that the seat's own comes first, the others follow clockwise. All arrays are copies.
"""

from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genial_env import bitsets, chance, kernel
from genial_env.backends import AnyBackend, twin
from genial_env.rules import TRACK_END, Rules
from genial_env.state import EMPTY, End, Phase, State
from genial_env.tables import Bools, Ints, Tables, tables

N = TypeVar("N", bound=np.integer[Any])


@dataclass(eq=False)
class View:
    """G games, each seen from one seat. Axis letters as in :mod:`genial_env.state`; own seat and track first."""

    rules: Rules
    seat: Ints  # [G] who is looking
    board: NDArray[np.int8]  # [G, N] the color on each cell, -1 where free
    points: NDArray[np.int8]  # [G, N, C] what color c would score on free cell n
    scores: NDArray[np.int8]  # [G, T, C] the markers
    rack: NDArray[np.int8]  # [G, K] the own tiles' kinds, -1 for an empty slot
    unseen: NDArray[np.uint8]  # [G, M] tiles in the bag and in the others' racks
    returned: NDArray[np.uint8]
    """[G, P, K, M] tiles certain to have been put back by a swap since the slot's was drawn, so that it is none of
    them. Own slots as in `rack`, the others' with the oldest tile first."""
    rack_sizes: Ints  # [G, P]
    has_placed: Bools  # [G, P] whether the seat has laid its first tile
    to_play: Ints  # [G] 0 = own turn, 1 = the next seat's, ...
    phase: NDArray[np.int8]  # [G] a state.Phase
    owed: Ints  # [G] bonus placements to be made
    slots: Bools  # [G, K] the slots one may place from now; none where it is not the seat's own placement
    placements: Bools  # [G, E] the placements open to any tile of the rack; mask = slots x placements
    may_swap: Bools  # [G]
    may_decline: Bools  # [G]

    def __len__(self) -> int:
        """G."""
        return len(self.seat)

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
        twin(masks_of)(self, mask)
        return mask


def masks_of(view: View, mask: Bools) -> None:
    """Into mask [G, A]: as :meth:`View.mask`."""
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
    return twin(see, backend)(state, rows, seat)


def see(state: State, rows: Ints, seat: Ints) -> View:
    """As :func:`view`."""
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
        rack_sizes=(racks != EMPTY).sum(axis=2),
        has_placed=state.has_placed[rows[:, None], turned],
        to_play=(mover - seat) % rules.players,
        phase=state.phase[rows],
        owed=state.owed[rows],
        slots=kernel.legal_slots(state, rows) & own_turn[:, None],
        placements=bitsets.unpack(kernel.open_placements(state, rows), t.n_placements),
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
    rack_sizes: ArrayLike,
    has_placed: ArrayLike,
    to_play: ArrayLike,
    phase: ArrayLike,
    owed: ArrayLike,
    seat: ArrayLike = 0,
) -> View:
    """Views from what cannot be worked out from the rest, each array as in :class:`View`; the seat for all games alike
    where it is one number.
    """
    t = tables(rules)
    cells = np.asarray(board, dtype=np.int8)
    n_games = len(cells)
    nothing = np.zeros((n_games, 0), dtype=np.bool_)
    partly = View(
        rules=rules,
        seat=np.broadcast_to(np.asarray(seat, dtype=np.int64), n_games),
        board=cells,
        points=kernel.recount_points(rules, cells),
        scores=np.asarray(scores, dtype=np.int8),
        rack=np.asarray(rack, dtype=np.int8),
        unseen=np.asarray(unseen, dtype=np.uint8),
        returned=np.asarray(returned, dtype=np.uint8).reshape(n_games, rules.players, rules.rack, t.n_kinds),
        rack_sizes=np.asarray(rack_sizes, dtype=np.int64),
        has_placed=np.asarray(has_placed, dtype=np.bool_),
        to_play=np.asarray(to_play, dtype=np.int64),
        phase=np.asarray(phase, dtype=np.int8),
        owed=np.asarray(owed, dtype=np.int64),
        slots=nothing,
        placements=nothing,
        may_swap=nothing,
        may_decline=nothing,
    )
    return view(determinize(partly, np.zeros(n_games, dtype=np.uint64)), partly.seat)


def determinize(view: View, rng: np.random.Generator | chance.Bits) -> State:
    """Full states that agree with the views, one for each: the unseen tiles dealt anew to the others' racks.

    All ways to deal the unseen tiles (each tile one of its own) are equally likely that the rules allow: no tile in a
    rack is one of those put back into the bag after it was drawn, and a rack whose seat is deciding on a swap shows
    none of its lowest colors. What the others' choices may tell about their tiles is not considered. The luck of the
    draws to come is new, too. ``view(determinize(v, rng), v.seat)`` is `v` again.

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
    hands, bag = _deal_unseen(view, chance.bits(random, 0))
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
        touched=kernel.touched_symbols(t, view.board),
        scores=scores,
        racks=racks,
        bag=bag,
        key=chance.seat_keys(chance.bits(random, 1), chance.Purpose.DRAWS, rules.players),
        drawn=np.zeros((len(view), rules.players), dtype=np.int64),
        has_placed=has_placed,
        returned=returned,
        swapped=np.bitwise_or.reduce(returned, axis=(1, 2, 3)) != 0,
        to_play=(view.seat + view.to_play) % rules.players,
        phase=view.phase.copy(),
        owed=view.owed.copy(),
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


_TRIES = 10_000


def _deal_unseen(view: View, random: chance.Bits) -> tuple[NDArray[np.int8], NDArray[np.uint8]]:
    """The others' racks [G, P - 1, K], and what is left for the bag [G, M].

    Give every unseen tile a number, those put back last the highest of their kind. Then the oldest tile of the racks
    must be one of a set, the next oldest one of a larger set that holds the first, and so on; dealt in this order, each
    finds as many left to choose from whatever the ones before took, and so all ways to deal are equally likely.

    A rack known to lack some colors breaks this: how many it finds does depend on what others took. There the deal is
    kept with a chance in proportion to that number, and else repeated.
    """
    rules, n_games = view.rules, len(view)
    n_slots = (rules.players - 1) * rules.rack
    hands = np.full((n_games, n_slots), EMPTY, dtype=np.int8)
    bag = view.unseen.copy()
    barred_tiles = barred(view).reshape(n_games, n_slots, view.tables.n_kinds)
    allowed, bound = _swappable(view)
    filled = (np.arange(rules.rack) < view.rack_sizes[:, 1:, None]).reshape(n_games, n_slots)
    short = np.flatnonzero(filled.sum(axis=1) > view.unseen.sum(axis=1, dtype=np.int64))
    if short.size:
        raise ValueError(
            f"no state agrees with the view of game {short[0]}: the others hold more tiles than are unseen"
        )
    order = np.argsort(-barred_tiles.sum(axis=2, dtype=np.int64), axis=1, kind="stable")
    todo = np.arange(n_games)
    for attempt in range(_TRIES):
        dealt, left, chance_to_keep = _deal_once(
            view.unseen[todo],
            barred_tiles[todo],
            filled[todo],
            allowed[todo],
            bound[todo],
            order[todo],
            random[todo],
            attempt,
        )
        luck = chance.bits(random[todo], attempt * (n_slots + 1) + n_slots) / 2.0**64
        kept = luck < chance_to_keep
        hands[todo[kept]], bag[todo[kept]] = dealt[kept], left[kept]
        todo = todo[~kept]
        if not todo.size:
            return hands.reshape(n_games, rules.players - 1, rules.rack), bag
    raise ValueError(f"no state agrees with the view of game {todo[0]}: none was found in {_TRIES} tries")


def _deal_once(
    unseen: NDArray[np.uint8],
    barred: NDArray[np.int64],
    filled: Bools,
    allowed: Bools,
    bound: Bools,
    order: Ints,
    random: chance.Bits,
    attempt: int,
) -> tuple[NDArray[np.int8], NDArray[np.uint8], NDArray[np.float64]]:
    """A deal of :func:`_deal_unseen`: racks [G, slots], the rest [G, M], and the chance [G] to keep it."""
    games, n_slots = np.arange(len(unseen)), filled.shape[1]
    hands = np.full(filled.shape, EMPTY, dtype=np.int8)
    left = unseen.astype(np.int64)
    keep = np.ones(len(unseen))
    taken_by_bound = np.zeros(len(unseen), dtype=np.int64)
    for turn in range(n_slots):
        slot = order[:, turn]
        wanted = filled[games, slot]
        is_bound = bound[games, slot]
        fitting = np.maximum(left - barred[games, slot], 0)
        most = np.where(allowed, np.maximum(unseen - barred[games, slot], 0), 0).sum(axis=1) - taken_by_bound
        fitting[is_bound] *= allowed[is_bound]
        upto = fitting.cumsum(axis=1)
        luck = chance.below(chance.bits(random, attempt * (n_slots + 1) + turn), np.maximum(upto[:, -1], 1))
        kind = (upto <= luck[:, None]).sum(axis=1)
        found = wanted & (upto[:, -1] > 0)
        keep[wanted & ~found] = 0.0
        share = upto[:, -1] / np.maximum(most, 1)
        keep = np.where(is_bound & found, keep * share, keep)
        taken_by_bound += is_bound & found
        hands[games[found], slot[found]] = kind[found]
        left[games[found], kind[found]] -= 1
    return hands, left.astype(np.uint8), keep


def barred(view: View) -> NDArray[np.int64]:
    """[G, P - 1, K, M]: how many unseen tiles of each kind cannot be the one in a slot of the others.

    That is `returned` of the others' tiles, less what may since have come to the own rack.
    """
    known = view.returned.astype(np.int64)
    games = np.flatnonzero(known.any(axis=(1, 2, 3)))
    for slot in range(view.rules.rack):
        held = games[view.rack[games, slot] != EMPTY]
        kind = view.rack[held, slot]
        column = known[held, :, :, kind]
        known[held, :, :, kind] = column - (column > known[held, 0, slot, kind][:, None, None])
    return known[:, 1:]


def _swappable(view: View) -> tuple[Bools, Bools]:
    """[G, M] the kinds that a rack can hold whose seat is deciding on a swap, and [G, slots] which slots that binds."""
    rules, t = view.rules, view.tables
    scores = view.scores[np.arange(len(view)), view.to_play % rules.tracks]
    is_lowest = scores == scores.min(axis=1, keepdims=True)
    allowed = ~is_lowest[:, t.kinds].any(axis=2)
    bound = np.zeros((len(view), rules.players, rules.rack), dtype=np.bool_)
    deciding = np.flatnonzero(view.phase == Phase.SWAP)
    bound[deciding, view.to_play[deciding]] = True
    return allowed, bound[:, 1:].reshape(len(view), (rules.players - 1) * rules.rack)


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
