"""Sample full states that agree with a view."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genial_env.core import chance, kernel, posterior
from genial_env.core._kernel.playing import all_at_top, lowest_colors
from genial_env.core.arrays import Bits, Bools, Ints
from genial_env.core.posterior import Hidden
from genial_env.core.rules import Rules
from genial_env.core.state import EMPTY, LEVELS, End, Phase, State
from genial_env.core.tables import tables
from genial_env.core.views import View, view

__all__ = ["complete", "determinize", "hidden_tiles"]


def determinize(view: View, rng: np.random.Generator | Bits) -> State:
    """Sample a full state for each view: the unseen tiles are dealt anew to the racks of the other seats.

    Each deal has the probability that it has given everything that the seat has seen, returned tiles included, if the
    others' choices are independent of their hidden tiles (:mod:`genial_env.core.posterior`). One of their choices is
    used: the rack of a seat that decides on a swap shows none of its lowest colors. The draws to come are random, too.
    ``view(determinize(v, rng), v.seat)`` equals `v`.

    For several states of a view select it several times: ``determinize(v.select(np.repeat(games, n)), rng)``.

    Args:
        view: G games.
        rng: a numpy generator, or [G] random bits such as a policy gets. With random bits the sample of a game does not
            depend on the other games of the batch.

    Raises:
        ValueError: if no state agrees with a view.
        TypeError: if `rng` is neither.
    """
    random = _random_bits(rng, len(view))
    rules, t = view.rules, view.tables
    hands, bag = posterior.sample(hidden_tiles(view), chance.bits(random, 0))
    hands = hands.reshape(len(view), rules.players - 1, rules.rack)
    seats = t.seats_from[view.seat]
    scores = _from_view_order(view.scores, t.tracks_from[view.seat])
    ended = np.where(all_at_top(rules, scores), End.ALL_AT_TOP, End.BOARD_FULL)
    return State.initial(
        rules,
        len(view),
        board=view.board.copy(),
        points=view.points.copy(),
        open=kernel.open_sets(t, view.board),
        symbols_touched=kernel.find_touched_symbols(t, view.board),
        scores=scores,
        racks=_from_view_order(np.concatenate([view.rack[:, None], hands], axis=1), seats),
        bag=bag.astype(np.uint8),
        key=chance.seat_keys(chance.bits(random, 1), chance.Purpose.DRAWS, rules.players),
        has_placed=_from_view_order(view.has_placed, seats),
        returned=_from_view_order(view.returned, seats),
        levels=view.levels.copy(),
        swapped=np.asarray(view.levels[:, :, 0].any(axis=1)),
        to_play=(view.seat + view.to_play) % rules.players,
        phase=view.phase.copy(),
        pending_bonus=view.pending_bonus.copy(),
        end=np.where(view.phase != Phase.OVER, End.UNFINISHED, ended).astype(np.int8),
    )


def _from_view_order(values: NDArray[Any], order: Ints) -> NDArray[Any]:
    """Reorder the seats or tracks of a view into absolute order.

    Args:
        values: [G, n, ...] in the order of the view.
        order: [G, n] the absolute numbers of the seats or tracks in the order of the view.
    """
    reordered = np.empty_like(values)
    reordered[np.arange(len(values))[:, None], order] = values
    return reordered


def _random_bits(rng: np.random.Generator | Bits, n_games: int) -> Bits:
    if isinstance(rng, np.random.Generator):
        return rng.integers(2**64, size=n_games, dtype=np.uint64)
    if isinstance(rng, np.ndarray) and rng.dtype == np.uint64 and rng.shape == (n_games,):
        return rng
    what = f"{rng.dtype} of shape {rng.shape}" if isinstance(rng, np.ndarray) else repr(rng)
    raise TypeError(f"rng must be a numpy Generator or uint64 random bits of shape ({n_games},), not {what}")


def hidden_tiles(view: View) -> Hidden:
    """Collect what a view tells about the racks of the other seats, clockwise; slots are ordered as in `returned`."""
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
    """Return `levels` without the tiles in the own slots: [G, M, X]."""
    levels = view.levels.copy()
    games = np.flatnonzero(view.returned[:, 0].any(axis=(1, 2)))
    for slot in range(view.rules.rack):
        held = games[view.rack[games, slot] != EMPTY]
        kind = view.rack[held, slot]
        levels[held, kind] -= np.arange(LEVELS) < view.returned[held, 0, slot, kind, None]
    return levels


def _limits(view: View) -> tuple[Bools, Bools]:
    """Find what the right to swap tells about the rack of a seat that decides on a swap.

    Returns:
        [G, slots of the others] the slots of that rack, and [G, M] the kinds that they may hold: those that show none
        of the seat's lowest colors.
    """
    rules, t = view.rules, view.tables
    limited = np.zeros((len(view), rules.players, rules.rack), dtype=np.bool_)
    allowed = np.ones((len(view), t.n_kinds), dtype=np.bool_)
    deciding = np.flatnonzero(view.phase == Phase.SWAP)
    seat = view.to_play[deciding]
    limited[deciding, seat] = True
    lowest = lowest_colors(view.scores[deciding, rules.track_of(seat)])
    allowed[deciding] = t.kind_mask[:-1] & lowest[:, None] == 0
    return limited[:, 1:].reshape(len(view), (rules.players - 1) * rules.rack), allowed


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
    """Make views from the arrays that do not follow from others; each argument is as in :class:`View`.

    Args:
        rules: the rules.
        board: see :class:`View`, as are all other arguments.
        scores: see there.
        rack: see there.
        unseen: see there.
        returned: broadcast to its shape.
        levels: broadcast to its shape.
        rack_sizes: see there.
        has_placed: see there.
        to_play: see there.
        phase: see there.
        pending_bonus: see there.
        seat: [G], or one number for all games.
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
