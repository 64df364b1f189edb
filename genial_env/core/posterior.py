"""Sample the hidden tiles exactly from their posterior distribution, given everything that a seat has seen.

Regard the tiles of a kind as distinguishable. The number of tiles in the bag at each draw is public. So if the choices
of the others are independent of their hidden tiles, every history of draws has the same probability, and the
probability of a deal is proportional to the number of histories that agree with it and with what the seat has seen.
They are counted kind by kind: a draw of a kind can be any of those in the bag, so the number of histories is the
product of these counts over all draws. A draw lowers the count by one and a return raises it by one. So the product
telescopes: with u tiles of a kind unseen and s of them in hidden slots it is, up to a constant,

    1 / (u - s)!  *  product over the returns e of the kind:  C(e) - m(e)

where C(e) - m(e) is the count in the bag right after the return. m(e) is the number of hidden slots filled before e
that hold the kind. C(e) is known to the seat (:attr:`Hidden.levels`): the tiles of the kind that were then in the bag
or are in hidden slots filled before.

Slots are dealt in the order in which they were filled. Then all dealt slots that hold a kind were filled before every
return that the next slot has seen, and with d of them the weight of the kind for the next slot is

    (u - d)  *  product over the returns e of the kind since the slot was filled:  (C(e) - d - 1) / (C(e) - d)

The product of the weights along a deal is the number of its histories. The sum of the weights for a slot depends on
what was dealt before, but it has a bound that does not. This gives rejection sampling: a deal is accepted with
probability product of sum / bound, and else dealt again. Without returns the sum equals the bound, and every deal is
accepted.

The rack of a seat that decides on a swap can hold certain kinds only: the weights of other kinds are 0 for its slots.

Axis letters: G games, S slots of the other seats, M tile kinds, X the latest returns of a kind.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from genial_env.core import chance
from genial_env.core.arrays import Bits, Bools, Floats, Ints
from genial_env.core.state import EMPTY, LEVELS

__all__ = ["TRIES", "Choose", "Hidden", "Plan", "deal", "make_plan", "sample"]

Choose = Callable[[int, Floats], Ints]
"""Chooses the kind for the next slot of each game: from the turn and the cumulative weights [G, M], kinds [G]."""

TRIES = 10_000
"""How many deals of a game are tried before it is reported that none agrees with the view."""


@dataclass(frozen=True, eq=False)
class Hidden:
    """What is known about the hidden tiles of G games."""

    unseen: Ints  # [G, M] tiles of each kind in the bag and in the hidden slots
    filled: Bools  # [G, S] slots that hold a tile
    returned: NDArray[np.uint8]  # [G, S, M] tiles of each kind returned since the slot was filled, at most X
    levels: NDArray[np.uint8]
    """[G, M, X] tiles of a kind in the bag right after a return of one, the latest return first, or in hidden slots
    that were filled before."""
    limited: Bools  # [G, S] slots that hold an allowed kind
    allowed: Bools  # [G, M]

    def __len__(self) -> int:
        """G."""
        return len(self.unseen)

    def select(self, games: Ints) -> "Hidden":
        """Return some of the games."""
        return Hidden(*(getattr(self, field.name)[games] for field in fields(self)))

    def of_slots(self, slots: slice) -> "Hidden":
        """Return the same with some of the slots only."""
        parts = {name: getattr(self, name)[:, slots] for name in ("filled", "returned", "limited")}
        return replace(self, **parts)

    @property
    def uneven(self) -> Bools:  # [G]
        """Whether the deals of the unseen tiles are not all equally likely: returns matter for a filled slot, or slots
        are limited.
        """
        uneven = np.asarray((self.limited & self.filled).any(axis=1))
        games = np.flatnonzero(self.levels[:, :, 0].any(axis=1))
        returned = (self.returned[games] > 0) & (self.unseen[games] > 0)[:, None] & self.filled[games, :, None]
        uneven[games] |= returned.any(axis=(1, 2))
        return uneven


# Sampling


def sample(hidden: Hidden, random: Bits) -> tuple[NDArray[np.int8], Ints]:
    """Deal the hidden tiles.

    Args:
        hidden: G games.
        random: [G] random bits, the key of a stream for each game.

    Returns:
        The kinds in the slots [G, S], EMPTY in slots that hold none, and the tiles left for the bag [G, M].

    Raises:
        ValueError: if no deal is possible.
    """
    short = np.flatnonzero(hidden.filled.sum(axis=1) > hidden.unseen.sum(axis=1))
    if short.size:
        raise ValueError(
            f"no state agrees with the view of game {short[0]}: the others hold more tiles than are unseen"
        )
    uneven = hidden.uneven
    if not uneven.any():
        return _sample_evenly(hidden, random)
    hands, bag = _no_hands(hidden), np.empty_like(hidden.unseen)
    games = np.flatnonzero(~uneven)
    hands[games], bag[games] = _sample_evenly(hidden.select(games), random[games])
    games = np.flatnonzero(uneven)
    for start in range(0, len(games), _AT_ONCE):
        part = games[start : start + _AT_ONCE]
        hands[part], bag[part] = _sample_by_weight(hidden.select(part), random[part], part)
    return hands, bag


_AT_ONCE = 1024
"""How many games have their weights computed together; each takes some tens of kilobytes."""


def _no_hands(hidden: Hidden) -> NDArray[np.int8]:
    return np.full(hidden.filled.shape, EMPTY, dtype=np.int8)


def _sample_evenly(hidden: Hidden, random: Bits) -> tuple[NDArray[np.int8], Ints]:
    """Deal the hidden tiles of games in which all deals are equally likely."""
    games, n_slots = np.arange(len(hidden)), hidden.filled.shape[1]
    hands, left = _no_hands(hidden), hidden.unseen.copy()
    for slot in range(n_slots):
        upto = left.cumsum(axis=1)
        kind = (upto <= chance.below(chance.bits(random, slot), upto[:, -1])[:, None]).sum(axis=1)
        dealt = np.flatnonzero(hidden.filled[:, slot])
        hands[dealt, slot] = kind[dealt]
        left[games[dealt], kind[dealt]] -= 1
    return hands, left


def _sample_by_weight(hidden: Hidden, random: Bits, names: Ints) -> tuple[NDArray[np.int8], Ints]:
    """Deal the hidden tiles of other games; `names` [G] are their numbers for messages."""
    plan = make_plan(hidden)
    hands, dealt = _no_hands(hidden), np.zeros_like(hidden.unseen)
    todo = np.arange(len(hidden))
    n_turns = hidden.filled.shape[1] + 1
    for attempt in range(TRIES):
        stream, first = random[todo], attempt * n_turns

        tried, counts, keep = deal(plan, todo, partial(_choose_by_weight, stream, first))
        kept = _unit(stream, first + n_turns - 1) < keep
        hands[todo[kept]], dealt[todo[kept]] = tried[kept], counts[kept]
        todo = todo[~kept]
        if not todo.size:
            return hands, hidden.unseen - dealt
    raise ValueError(f"no state agrees with the view of game {names[todo[0]]}: none was found in {TRIES} tries")


def _choose_by_weight(random: Bits, first: int, turn: int, upto: Floats) -> Ints:
    """Choose kinds (:data:`Choose`) with random bits whose numbers count from `first` at turn 0."""
    kinds: Ints = (upto <= (_unit(random, first + turn) * upto[:, -1])[:, None]).sum(axis=1)
    return kinds


def _unit(random: Bits, counter: int) -> Floats:
    """Return random numbers in [0, 1): [G]."""
    return (chance.bits(random, counter) >> np.uint64(32)) / 2.0**32


# Weights


@dataclass(frozen=True, eq=False)
class Plan:
    """How slots are dealt. Slots with the same returns and limits share their weights; so do equal adjacent games."""

    order: Ints  # [G, S] the slots in the order of dealing: the longest filled first
    filled: Bools  # [G, S] of the slots in that order
    group: Ints  # [G, S] their row of `weights`
    weights: Floats  # [N, M, D] the weight of a kind by how many of it have been dealt
    bounds: Floats  # [G, S] the bound of the sum of the weights


def make_plan(hidden: Hidden) -> Plan:
    """Compute the order, weights and bounds of all slots."""
    n_games, n_slots = hidden.filled.shape
    age = hidden.returned.sum(axis=2, dtype=np.int64)
    # Older slots first; of the same age first the limited ones: so what these find does not depend on others.
    oldest = 2 * LEVELS * hidden.unseen.shape[1] + 2
    order = np.argsort(-(2 * age + hidden.limited + oldest * hidden.filled), axis=1, kind="stable")
    by_turn = np.arange(n_games)[:, None], order
    filled, returned, limited = hidden.filled[by_turn], hidden.returned[by_turn], hidden.limited[by_turn]
    new_slot = np.ones((n_games, n_slots), dtype=np.bool_)
    new_slot[:, 1:] = (returned[:, 1:] != returned[:, :-1]).any(axis=2) | (limited[:, 1:] != limited[:, :-1])
    representative = _first_alike(hidden)
    new_slot &= (representative == np.arange(n_games))[:, None]
    game, turn = np.nonzero(new_slot)
    numbers = (new_slot.cumsum() - 1).reshape(n_games, n_slots)
    group = numbers[representative]
    weights = _weights(
        hidden.unseen[game],
        returned[game, turn],
        hidden.levels[game],
        hidden.allowed[game] | ~limited[game, turn, None],
        n_slots,
    )
    return Plan(order, filled, group, weights, _bounds(weights, group, limited))


def _first_alike(hidden: Hidden) -> Ints:
    """Return the first of the equal adjacent games that each game belongs to: [G]."""
    differs = np.ones(len(hidden), dtype=np.bool_)
    differs[1:] = False
    for field in fields(hidden):
        values = getattr(hidden, field.name).reshape(len(hidden), -1)
        differs[1:] |= (values[1:] != values[:-1]).any(axis=1)
    return np.maximum.accumulate(np.where(differs, np.arange(len(hidden)), 0))


def _weights(unseen: Ints, returned: NDArray[np.uint8], levels: NDArray[np.uint8], allowed: Bools, most: int) -> Floats:
    """Compute the weight of each kind for a slot if 0, 1, ... of the kind have been dealt to older slots: [N, M, D].

    Args:
        unseen: [N, M].
        returned: [N, M] of the slot.
        levels: [N, M, X].
        allowed: [N, M] the kinds that the slot may hold.
        most: tiles that can be dealt.
    """
    dealt = np.arange(min(int(unseen.max(initial=0)), most) + 1)
    weights: Floats = np.maximum(unseen[:, :, None] - dealt, 0).astype(np.float64) * allowed[:, :, None]
    for newer in range(int(returned.max(initial=0))):
        slot, kind = np.nonzero((returned > newer) & (weights[:, :, 0] > 0))
        rest = levels[slot, kind, newer, None] - dealt
        weights[slot, kind] *= np.maximum(rest - 1, 0) / np.maximum(rest, 1)
    return weights


def _bounds(weights: Floats, group: Ints, limited: Bools) -> Floats:
    """Compute a bound of the sum of the weights of a slot, whatever the slots before it hold: [G, S].

    A tile that is dealt reduces the sum by the difference of two successive weights of its kind; n tiles reduce it by n
    different ones, none of them of a weight that was 0. Of the tiles dealt before, only those in limited slots are sure
    to be of an allowed kind.
    """
    n_rows, n_turns = len(weights), group.shape[1]
    steps = np.where(weights[:, :, :-1] > 0, weights[:, :, :-1] - weights[:, :, 1:], np.inf).reshape(n_rows, -1)
    least = np.zeros((n_rows, n_turns))
    if steps.shape[1] > n_turns:
        steps = np.partition(steps, n_turns - 1, axis=1)[:, :n_turns]
    upto = np.sort(steps, axis=1).cumsum(axis=1)[:, : n_turns - 1]
    least[:, 1 : upto.shape[1] + 1] = upto
    least[:, upto.shape[1] + 1 :] = np.inf
    before = np.where(limited, limited.cumsum(axis=1) - limited, np.arange(n_turns))
    bounds: Floats = weights[:, :, 0].sum(axis=1)[group] - least[group, before]
    return bounds


def deal(plan: Plan, games: Ints, choose: Choose) -> tuple[NDArray[np.int8], Ints, Floats]:
    """Make one deal for each of some games of a plan.

    Args:
        plan: the weights.
        games: [G] which games.
        choose: chooses the kinds with probabilities proportional to the weights.

    Returns:
        The kinds [G, S], EMPTY in slots that hold none; how many of each kind [G, M]; the probability of accepting the
        deal [G].
    """
    rows = np.arange(len(games))
    order, filled, group, bounds = plan.order[games], plan.filled[games], plan.group[games], plan.bounds[games]
    n_kinds, width = plan.weights.shape[1:]
    flat = plan.weights.reshape(-1)
    kind_at = np.arange(n_kinds) * width
    hands = np.full(order.shape, EMPTY, dtype=np.int8)
    dealt = np.zeros((len(games), n_kinds), dtype=np.int64)
    keep = np.ones(len(games))
    for turn in range(int(filled.sum(axis=1).max(initial=0))):
        upto = flat.take(group[:, turn, None] * (n_kinds * width) + kind_at + dealt).cumsum(axis=1)
        found = upto[:, -1]
        wanted = filled[:, turn]
        keep[wanted] *= np.where(found > 0, found / np.maximum(bounds[:, turn], found), 0)[wanted]
        able = np.flatnonzero(wanted & (found > 0))
        kind = choose(turn, upto)[able]
        hands[rows[able], order[able, turn]] = kind
        dealt[rows[able], kind] += 1
    return hands, dealt, keep
