"""The last placements, solved exactly.

:func:`solve` takes a game whose racks are known and gives the value of every action, everybody playing on perfectly;
:func:`value_over_all_deals` takes what a seat may know and gives the mean over everything that the others may hold.

A value is the mover's final rank as a zero-sum utility (:func:`genial_env.core.ranking.rank_utility`); solo it is the
lowest marker plus a fraction by which the other markers break ties. With two tracks both sides play minimax. With more,
everybody maximizes its own utility, and what is equal to the one who chooses is settled against the seat that asked
(max^n, ties taken for the worst).

What is equal is looked at once: twin tiles, doubles laid either way round, positions reached in several ways. Racks of
seats whose turn cannot come again are forgotten, and tiles are drawn by chance only where their seat may still lay one:
a seat that closes its turn has its next after all others have laid a tile each.

Axis letters as in :mod:`genial_env.core.state`.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import comb, factorial, perm, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core import bitsets, kernel
from genial_env.core.bitsets import Bitsets, Bools, Ints
from genial_env.core.determinization import determinize, hidden_tiles
from genial_env.core.posterior import Hidden, make_plan
from genial_env.core.rules import TRACK_END, Rules
from genial_env.core.state import EMPTY, Phase, State
from genial_env.core.tables import Tables, tables
from genial_env.core.views import View

Floats = NDArray[np.float64]

BUDGET = 200_000
"""Positions that :func:`solve` looks at before it gives up, if nothing else is said."""

SAME = 1e-9
"""Values closer than this are equal: they are sums of products of exact fractions."""

_CHUNK = 4096
"""Positions expanded together, so that they stay near the processor."""


class OutOfBudget(Exception):
    """A position has more continuations than one was willing to look at."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The mover's exact value of every legal action of a game."""

    actions: Ints  # [n] ascending
    values: Floats  # [n]

    @property
    def value(self) -> float:
        """Of the best action."""
        return float(self.values.max())

    @property
    def best(self) -> Ints:
        """The actions of that value."""
        return self.actions[self.values >= self.value - SAME]


# How many tiles can still be laid


def most_placements_left(state: State) -> Ints:
    """[B]: the most tiles that can still be laid; exact where few cells are left, else never too low.

    It is the size of the largest matching of free cells, found for each group of cells that hang together; for more
    than 20 cells it is half of those with a free neighbour. The racks do not count.
    """
    first, inverse = _unique(state.open)
    counts = np.array([_matching_of(state.rules, state.open[row].tobytes()) for row in first], dtype=np.int64)
    return counts[inverse]


_MOST_CELLS = 20


@lru_cache(maxsize=1 << 16)
def _matching_of(rules: Rules, open_set: bytes) -> int:
    t = tables(rules)
    placements = np.flatnonzero(bitsets.unpack(np.frombuffer(open_set, dtype=np.uint64)[None], t.n_placements)[0])
    pairs = t.placements[placements]
    cells, first = np.unique(pairs[:, 0], return_index=True)
    if len(cells) > _MOST_CELLS:
        return len(cells) // 2
    number = {cell: index for index, cell in enumerate(cells.tolist())}
    beside = [0] * len(first)
    for a, b in pairs.tolist():
        beside[number[a]] |= 1 << number[b]
    return _matching(tuple(beside), (1 << len(beside)) - 1)


def _matching(beside: tuple[int, ...], free: int) -> int:
    """The largest matching among the free cells; `beside` holds each cell's neighbours as bits, so does `free`."""
    known: dict[int, int] = {}

    def largest(free: int) -> int:
        if free in known:
            return known[free]
        degrees = [((beside[cell] & free).bit_count(), cell) for cell in range(len(beside)) if free >> cell & 1]
        degree, cell = min((pair for pair in degrees if pair[0]), default=(0, -1))
        if degree == 0:
            return 0
        rest, neighbours = free & ~(1 << cell), beside[cell] & free
        found = 0 if degree == 1 else largest(rest)  # a cell with one neighbour may always be matched with it
        while neighbours:
            lowest = neighbours & -neighbours
            neighbours ^= lowest
            found = max(found, 1 + largest(rest & ~lowest))
        known[free] = found
        return found

    return largest(free)


# Known racks


def solve(state: State, budget: int = BUDGET) -> Solution:
    """Every legal action of a game with its exact value for the mover, all racks being known to all.

    Where tiles may still be drawn that can be laid, a value is the mean over the draws, each becoming known to all.

    Args:
        state: one game that is not over.
        budget: positions to look at.

    Raises:
        ValueError: for other than one game, or one that is over.
        OutOfBudget: where the budget does not suffice.
    """
    if len(state) != 1:
        raise ValueError(f"there must be one game to solve, not {len(state)}: solve_all takes many")
    return solve_all(state, budget)[0]


def solve_all(states: State, budget: int = BUDGET) -> list[Solution]:
    """As :func:`solve`, for B games at once, such as many deals of a view: what they share is looked at once.

    Args:
        states: B games that are not over.
        budget: positions to look at, for all games together.

    Raises:
        ValueError: for a game that is over.
        OutOfBudget: where the budget does not suffice.
    """
    _check_unfinished(states.over)
    games = _forgetful(states.copy())
    asking = games.track(games.to_play) if games.rules.tracks > 2 else np.zeros(len(games), dtype=np.int64)
    first, inverse = _unique(_keys(games, asking))
    merged = games.select(first)
    rows, actions, utilities = _Search(games.rules, budget).action_values(merged, asking[first])
    values = utilities[np.arange(len(rows)), merged.track(merged.to_play[rows])]
    starts = np.searchsorted(rows, np.arange(len(first) + 1))
    parts = [slice(starts[row], starts[row + 1]) for row in inverse]
    by_tile = [
        _values_by_tile(merged, int(row), actions[part], values[part]) for row, part in zip(inverse, parts, strict=True)
    ]
    return [_for_all_actions(states, game, known) for game, known in enumerate(by_tile)]


class _Search:
    """Backward induction over batches of positions."""

    def __init__(self, rules: Rules, budget: int) -> None:
        self.rules = rules
        self.budget = budget
        self.left = budget

    def spend(self, positions: int) -> None:
        """Count positions.

        Raises:
            OutOfBudget: where there are too many.
        """
        self.left -= positions
        if self.left < 0:
            raise OutOfBudget(f"more than {self.budget} positions")

    def values(self, state: State, asking: Ints) -> Floats:
        """[G, T]: the utilities of positions that are not over. Changes the state."""
        self.spend(len(state))
        state = _forgetful(_skip_idle_swaps(state))
        first, inverse = _unique(_keys(state, asking))
        merged, asking = state.select(first), asking[first]
        found = np.empty((len(first), self.rules.tracks))
        for start in range(0, len(first), _CHUNK):
            part = np.arange(start, min(start + _CHUNK, len(first)))
            games = merged.select(part)
            rows, _, utilities = self.action_values(games, asking[part])
            found[part] = _choose(rows, utilities, games.track(games.to_play), asking[part])
        return found[inverse]

    def action_values(self, state: State, asking: Ints) -> tuple[Ints, Ints, Floats]:
        """The different actions: rows [n] ascending, ids [n] and utilities [n, T]."""
        rows, actions = _moves(state)
        ends, utilities = _settled(state, rows, actions)
        going = np.flatnonzero(~ends)
        children = state.select(rows[going])
        kernel.apply(children, actions[going])
        random = (children.phase == Phase.PLACE) & (most_placements_left(children) >= self.rules.players)
        sure = np.flatnonzero(~random)
        if sure.size:
            utilities[going[sure]] = self.values(children.select(sure), asking[rows[going[sure]]])
        for index in np.flatnonzero(random).tolist():
            edge = int(going[index])
            drawn = int(children.drawn[index].sum() - state.drawn[rows[edge]].sum())
            utilities[edge] = self._mean_over_draws(state, int(rows[edge]), int(actions[edge]), drawn, asking)
        return rows, actions, utilities

    def _mean_over_draws(self, state: State, row: int, action: int, drawn: int, asking: Ints) -> Floats:
        """[T]: the mean utilities of an action that draws so many tiles."""
        bag = state.bag[row]
        self.spend(_count_hands(tuple(bag.tolist()), drawn))
        hands, chances = _hands(np.tile(_without_replacement(bag, drawn), (drawn, 1, 1)))
        kinds = np.repeat(np.tile(np.arange(hands.shape[1]), len(hands)), hands.ravel()).reshape(len(hands), drawn)
        script = np.full((len(hands), self.rules.rack), -1)
        script[:, :drawn] = kinds
        found = np.zeros(self.rules.tracks)
        for start in range(0, len(hands), _CHUNK):
            part = slice(start, min(start + _CHUNK, len(hands)))
            some = len(script[part])
            children = state.select(np.full(some, row))
            kernel.apply(children, np.full(some, action), draws=script[part])
            found += chances[part] @ self.values(children, np.full(some, asking[row]))
        return found


def _moves(state: State) -> tuple[Ints, Ints]:
    """The different actions of every game: rows [n] ascending and ids [n].

    Of twin tiles the one in the first slot stands for all, of a double's two ways the one that names the lower cell
    first.
    """
    t = state.tables
    open_now = bitsets.unpack(kernel.placement_sets(state), t.n_placements)
    open_now[state.phase > Phase.BONUS] = False
    game, placement = np.nonzero(open_now)
    racks = kernel.own_racks(state)
    twins = (racks[:, :, None] == racks[:, None, :]) & np.tri(racks.shape[1], k=-1, dtype=np.bool_)
    usable = (racks != EMPTY) & ~twins.any(axis=2)
    backwards = t.placements[placement, 0] > t.placements[placement, 1]
    wanted = usable[game] & ~(_is_double(t)[racks[game]] & backwards[:, None])
    index, slot = np.nonzero(wanted)
    declining, swapping = np.flatnonzero(kernel.may_decline(state)), np.flatnonzero(kernel.may_swap(state))
    rows = np.concatenate([game[index], swapping, declining])
    actions = np.concatenate(
        [
            slot * t.n_placements + placement[index],
            np.full(len(swapping), t.swap_action),
            np.full(len(declining), t.swap_action + 1),
        ]
    )
    order = np.argsort(rows, kind="stable")
    return rows[order], actions[order]


def _is_double(t: Tables) -> Bools:
    """[M]: which kinds show one color twice."""
    double: Bools = t.kinds[:, 0] == t.kinds[:, 1]
    return double


def _settled(state: State, rows: Ints, actions: Ints) -> tuple[Bools, Floats]:
    """[n] whether an action ends its game, and the utilities [n, T] where it does."""
    t, rules = state.tables, state.rules
    placing = actions < t.swap_action
    track = state.track(state.to_play[rows])
    own = state.scores[rows, track].astype(np.int64)
    stops = np.where(own < TRACK_END, TRACK_END, rules.top)
    own = np.minimum(own + kernel.gained(state, actions, rows), stops)
    placement = np.where(placing, actions, 0) % t.n_placements
    ends = ~bitsets.any_left(state.open[rows] & t.compatible[placement]) | (own == rules.top).all(axis=1)
    ends &= placing
    codes = _marker_codes(rules, state.scores)[rows[ends]]
    codes[np.arange(len(codes)), track[ends]] = _marker_codes(rules, own[ends])
    utilities = np.zeros((len(rows), rules.tracks))
    utilities[ends] = _utilities(rules, codes)
    return ends, utilities


def _marker_codes(rules: Rules, markers: NDArray[Any]) -> Ints:
    """[...]: whole numbers that compare as markers [..., C] do at the end of a game."""
    base = rules.top + 1
    return np.sort(markers, axis=-1).astype(np.int64) @ base ** np.arange(rules.colors - 1, -1, -1)


def _utilities(rules: Rules, codes: Ints) -> Floats:
    """[n, T]: what final markers, as codes [n, T], are worth."""
    beaten = np.sign(codes[:, :, None] - codes[:, None, :]).sum(axis=2)
    alone = rules.tracks == 1
    utilities: Floats = codes / (rules.top + 1) ** (rules.colors - 1) if alone else beaten / (rules.tracks - 1)
    return utilities


def _choose(rows: Ints, utilities: Floats, mover: Ints, asking: Ints) -> Floats:
    """[G, T]: the utilities of each game's best action; `rows` [n] ascend and leave out no game.

    Args:
        rows: [n] the game of each action.
        utilities: [n, T] of the actions.
        mover: [G] the track of the seat that chooses.
        asking: [G] the track of the seat against which ties are settled.
    """
    starts = np.searchsorted(rows, np.arange(len(mover)))
    index = np.arange(len(rows))
    own, asked = utilities[index, mover[rows]], utilities[index, asking[rows]]
    best = own >= np.maximum.reduceat(own, starts)[rows] - SAME
    worst = np.where(best, asked, np.inf)
    chosen = best & (worst <= np.minimum.reduceat(worst, starts)[rows] + SAME)
    return utilities[np.minimum.reduceat(np.where(chosen, index, len(rows)), starts)]


def _skip_idle_swaps(state: State) -> State:
    """In place: decline the swaps whose tiles could never be laid."""
    idle = (state.phase == Phase.SWAP) & (most_placements_left(state) < state.rules.players)
    if idle.any():
        rows = np.flatnonzero(idle)
        kernel.apply(state, np.full(len(rows), state.tables.decline_action), rows)
    return state


def _forgetful(state: State) -> State:
    """In place: without what cannot matter any more: racks of seats that get no turn, what swaps have shown, luck."""
    players = state.rules.players
    left = most_placements_left(state)
    may_lay_none = kernel.may_decline(state)
    for ahead in range(1, players):
        idle = np.flatnonzero(left < ahead + ~may_lay_none)
        state.racks[idle, (state.to_play[idle] + ahead) % players] = EMPTY
    if state.swapped.any():
        state.returned[:] = 0
        state.levels[:] = 0
        state.swapped[:] = False
    return state


def _keys(state: State, asking: Ints) -> NDArray[np.uint64]:
    """[G, words]: what positions must have in common to be worth the same."""
    n_games = len(state)
    left = most_placements_left(state)
    bag = np.where((left >= state.rules.players)[:, None], state.bag, 0)
    parts = (
        state.board,
        state.scores.reshape(n_games, -1),
        np.sort(state.racks, axis=2).reshape(n_games, -1),
        state.has_placed,
        bag,
        np.stack([state.to_play, state.phase, np.minimum(state.pending_bonus, left), asking], axis=1),
    )
    return _as_words(np.concatenate([part.astype(np.uint8) for part in parts], axis=1))


def _as_words(rows: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """[G, n] bytes as [G, ceil(n / 8)] words."""
    padded = np.zeros((len(rows), -(-rows.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : rows.shape[1]] = rows
    return padded.view(np.uint64)


def _unique(rows: NDArray[np.uint64]) -> tuple[Ints, Ints]:
    """The first of each of the different rows [G, words]: where it is, and for every row [G] which it equals.

    Rows are compared by a hash, and the hash is checked.
    """
    factors = _factors(rows.shape[1])
    mixed = rows ^ (rows >> np.uint64(31))
    hashes = (mixed * factors).sum(axis=1, dtype=np.uint64)
    hashes ^= hashes >> np.uint64(29)
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    if not np.array_equal(rows[first[inverse]], rows):
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1)


@lru_cache(maxsize=64)
def _factors(words: int) -> Bitsets:
    return np.random.default_rng(words).integers(2**64, size=words, dtype=np.uint64) | np.uint64(1)


Tile = tuple[int, int]


def _tiles_laid(state: State, row: int, actions: Ints) -> list[Tile]:
    """What each action of a game lays where, equal for equal actions: (kind, placement), or (-1, action)."""
    t = state.tables
    rack = state.racks[row, state.to_play[row]]
    placing = actions < t.swap_action
    slot, placement = np.divmod(np.where(placing, actions, 0), t.n_placements)
    kind = rack[slot].astype(np.int64)
    turned = _is_double(t)[kind] & (t.placements[placement, 0] > t.placements[placement, 1])
    placement = np.where(turned, _other_way(state.rules)[placement], placement)
    return list(zip(np.where(placing, kind, -1).tolist(), np.where(placing, placement, actions).tolist(), strict=True))


@lru_cache(maxsize=64)
def _other_way(rules: Rules) -> Ints:
    """[E]: the placement on the same cells, the other way round."""
    t = tables(rules)
    first, second = t.placements.T
    direction = (t.neighbours[second] == first[:, None]).argmax(axis=1)
    turned: Ints = t.placement_of[second, direction]
    return turned


def _values_by_tile(state: State, row: int, actions: Ints, values: Floats) -> dict[Tile, float]:
    return dict(zip(_tiles_laid(state, row, actions), values.tolist(), strict=True))


def _for_all_actions(state: State, game: int, values: dict[Tile, float]) -> Solution:
    """The values of the different actions of a game, given to all its legal ones."""
    actions = np.flatnonzero(kernel.legal(state, np.array([game]))[0])
    tiles = _tiles_laid(state, game, actions)
    return Solution(actions, np.array([values[tile] for tile in tiles]))


def _check_unfinished(over: Bools) -> None:
    if over.any():
        raise ValueError(f"game {int(np.flatnonzero(over)[0])} is over: there is nothing to solve")


# Hands of hidden or undrawn tiles


def _count_hands(counts: tuple[int, ...], size: int) -> int:
    """How many different hands of so many tiles can be drawn from a bag with these counts."""
    ways = [1] + [0] * size
    for count in counts:
        ways = [sum(ways[total - taken] for taken in range(min(count, total) + 1)) for total in range(size + 1)]
    return ways[size]


def _hands(weights: Floats) -> tuple[NDArray[np.int8], Floats]:
    """All hands that may be dealt, as counts [n, M], and their chances [n].

    Args:
        weights: [slots, M, D] of each kind for a slot, by how many of it the slots before hold.
    """
    return _grown_hands(weights.shape, weights.tobytes())


@lru_cache(maxsize=16)
def _grown_hands(shape: tuple[int, int, int], data: bytes) -> tuple[NDArray[np.int8], Floats]:
    """As :func:`_hands`."""
    weights: Floats = np.frombuffer(data).reshape(shape)
    kinds = np.arange(shape[1])
    hands: NDArray[np.int8] = np.zeros((1, shape[1]), dtype=np.int8)
    chances: Floats = np.ones(1)
    for of_slot in weights:
        found = of_slot[kinds, hands]
        index, kind = np.nonzero(found)
        grown = hands[index]
        grown[np.arange(len(index)), kind] += 1
        first, which = _unique(_as_words(grown.view(np.uint8)))
        ways = chances[index] * found[index, kind]
        hands, chances = grown[first], np.bincount(which, weights=ways).astype(np.float64)
    return hands, chances / chances.sum()


def _without_replacement(counts: Ints, size: int) -> Floats:
    """[M, size + 1]: the weight of each kind, of so many tiles, when 0, 1, ... of it have been taken."""
    left: Floats = np.maximum(counts[:, None] - np.arange(size + 1), 0).astype(np.float64)
    return left


class _HiddenHand:
    """The tiles of the next seat, as the mover knows them.

    Kinds of which swaps have told nothing are alike: only the number of their tiles matters. For the others
    (:attr:`told`) the weights of :mod:`genial_env.core.posterior` are followed slot by slot.

    Args:
        hidden: one game, the slots of that seat alone.
    """

    def __init__(self, hidden: Hidden) -> None:
        plan = make_plan(hidden)
        self.size = int(hidden.filled.sum())
        self.unseen = hidden.unseen[0]
        groups = plan.group[0, : self.size]
        self._weights = plan.weights[groups]
        returned = hidden.returned[0] * hidden.filled[0, :, None]
        self.told: Bools = returned.any(axis=0) & (self.unseen > 0)
        self._ages = [(plan.weights[group], int((groups == group).sum())) for group in np.unique(groups)]
        self._by_told: dict[tuple[int, ...], Floats] = {}
        self._ways_of_told: dict[tuple[int, ...], list[tuple[int, float]]] = {}

    def hands(self, group: Ints) -> tuple[NDArray[np.int8], Floats]:
        """All hands as counts [n, groups], and their chances [n].

        Args:
            group: [M] kinds of the same number are taken together; one of which swaps have told, with no other.
        """
        n_groups = int(group.max(initial=-1)) + 1
        counts = np.bincount(group, weights=self.unseen, minlength=n_groups).astype(np.int64)
        weights = np.tile(_without_replacement(counts, self.size), (self.size, 1, 1))
        for kind in np.flatnonzero(self.told):
            of_kind = self._weights[:, kind, : self.size + 1]
            weights[:, group[kind]] = 0
            weights[:, group[kind], : of_kind.shape[1]] = of_kind
        return _hands(weights)

    def chances_of_none(self, order: Ints) -> Floats:
        """[M + 1]: how likely the hand holds none of the first 0, 1, ..., M kinds of an order."""
        ordered_told = self.told[order]
        plain = np.append(self.unseen[order] * ~ordered_told, 0)[::-1].cumsum()[::-1]
        told = order[ordered_told].tolist()
        passed = np.append(0, ordered_told.cumsum())
        ways = np.array([self._ways(tuple(sorted(told[n:])), int(rest)) for n, rest in zip(passed, plain, strict=True)])
        chances: Floats = ways / ways[0]
        return chances

    def _ways(self, told: tuple[int, ...], plain: int) -> float:
        """In how many ways the hand is dealt from these kinds, and so many tiles of which nothing was told."""
        if told not in self._ways_of_told:
            self._ways_of_told[told] = self._ways_to_fill(told)
        return sum(ways * perm(plain, self.size - filled) for filled, ways in self._ways_of_told[told])

    def _ways_to_fill(self, told: tuple[int, ...]) -> list[tuple[int, float]]:
        """How many slots may be filled with these kinds, and in how many ways."""
        by_age, ways = self._by_age(told), np.zeros(self.size + 1)
        for taken in zip(*by_age.nonzero(), strict=True):
            chosen = prod(perm(n, int(slots)) for slots, (_, n) in zip(taken, self._ages, strict=True))
            ways[sum(map(int, taken))] += by_age[taken] * chosen
        return [(filled, float(ways[filled])) for filled in np.flatnonzero(ways).tolist()]

    def _by_age(self, told: tuple[int, ...]) -> Floats:
        """[slots of the oldest age + 1, ..., of the youngest + 1]: in how many ways so many slots of each age are
        filled with these kinds, in any order within an age.
        """
        if told not in self._by_told:
            filled = np.zeros([n + 1 for _, n in self._ages])
            if not told:
                filled[(0,) * filled.ndim] = 1
            else:
                fewer, of_kind = self._by_age(told[1:]), self._of_kind(told[0])
                for taken in zip(*of_kind.nonzero(), strict=True):
                    to = tuple(slice(n, None) for n in taken)
                    rest = tuple(slice(0, size - n) for n, size in zip(taken, filled.shape, strict=True))
                    filled[to] += of_kind[taken] * fewer[rest]
            self._by_told[told] = filled
        return self._by_told[told]

    def _of_kind(self, kind: int) -> Floats:
        """As :meth:`_by_age`, of one kind."""
        ways = np.zeros([n + 1 for _, n in self._ages])
        for taken in np.ndindex(*ways.shape):
            dealt, number = 0, 1.0
            for slots, (weights, _) in zip(taken, self._ages, strict=True):
                for _ in range(slots):
                    number *= weights[kind, dealt] if dealt < weights.shape[1] else 0.0
                    dealt += 1
                number /= factorial(slots)
            ways[taken] = number
        return ways


# Hidden racks


def value_over_all_deals(view: View) -> tuple[Ints, Floats]:
    """Every legal action of the seat to play with its exact value over all deals of what it does not see.

    All deals of the unseen tiles to the others' racks count with their true chances. The others then play perfectly and
    know all racks as they are at the decision, more than they may: so a value is what the mover can be sure of on
    average. With at most two placements left this is what perfect play gives, as the opponent's reply is the last.

    A reply that ends the game depends only on the best kind that its rack holds, and the chance of holding one of some
    kinds is a matter of counting: no rack is enumerated, and it takes milliseconds. Where a turn of two seats closes
    with two placements left (of three, at a swap decision, or in 2009 when a bonus is declined), the mover itself lays
    the last tile, and its draws count: then the opponent's hands are enumerated, it replies as is best on average over
    the tiles drawn, which it does not know, and the mover lays the best that it has. That takes tenths of a second for
    each way to close the turn. Solo nothing is hidden, and this is :func:`solve`.

    What swaps have shown about a single opponent's rack is taken into account; with more opponents it is refused.

    Args:
        view: one game, seen by the seat to play.

    Returns:
        [n] the legal actions ascending, and [n] their values.

    Raises:
        ValueError: for other than one game, a game that is over or another seat's turn, more placements left than can
            be looked over, or hidden racks that matter and about which swaps have shown something.
    """
    _check_view(view)
    state = determinize(view, np.zeros(1, dtype=np.uint64))
    if view.rules.tracks == 1:
        solution = solve(state)
        return solution.actions, solution.values
    _check_few_left(state)
    _, actions, values = _Deals(view).action_values(state)
    solution = _for_all_actions(state, 0, _values_by_tile(state, 0, actions, values))
    return solution.actions, solution.values


def exact_action(view: View) -> int | None:
    """The best action of the seat to play, where two placements at most are left and all deals can be looked over in
    milliseconds; else None.

    Args:
        view: one game, seen by the seat to play.
    """
    if view.phase[0] == Phase.SWAP or view.may_decline[0] or view.placements[0].sum() > _MOST_OF_TWO:
        return None
    state = determinize(view, np.zeros(1, dtype=np.uint64))
    if most_placements_left(state)[0] > 2:
        return None
    try:
        actions, values = value_over_all_deals(view)
    except ValueError:  # swaps have shown something about several racks
        return None
    return int(actions[values.argmax()])


_MOST_OF_TWO = 2 * 2 * 11
"""Placements that are open where no more than two tiles can be laid, and twice as many to be sure: all others share a
cell with one of two neighbours."""


def _check_view(view: View) -> None:
    if len(view) != 1:
        raise ValueError(f"there must be one view, not {len(view)}")
    _check_unfinished(view.phase == Phase.OVER)
    if view.to_play[0] != 0:
        raise ValueError("the view must be that of the seat to play")


def _check_few_left(state: State) -> None:
    """After the mover's turn the next seat must lay the last tile; of two seats it may be the last but one."""
    left = int(most_placements_left(state)[0])
    must_lay = not bool(kernel.may_decline(state)[0])
    most = (2 if state.rules.players == 2 else 1) + must_lay
    if left > most:
        raise ValueError(f"there must be at most {most} placements left, not {left}")


class _Deals:
    """A view's actions over all deals: walks the mover's own placements, and then counts the others' replies.

    Args:
        view: one game.
    """

    def __init__(self, view: View) -> None:
        self.rules = view.rules
        self.seat = int(view.seat[0])
        self.track = self.seat % view.rules.tracks
        self.unseen: Ints = view.unseen[0].astype(np.int64)
        self.next_seat = (self.seat + 1) % view.rules.players
        hidden = hidden_tiles(view)
        self.opponent = _HiddenHand(hidden.of_slots(slice(0, view.rules.rack)))
        self._apart = view.rules.players > 2 and bool(hidden.uneven[0])

    def check_deals(self) -> None:
        """Before a hidden rack is asked for.

        Raises:
            ValueError: where not all deals are equally likely.
        """
        if self._apart:
            raise ValueError("swaps have shown something about the others' racks: not all deals are equally likely")

    def action_values(self, state: State) -> tuple[Ints, Ints, Floats]:
        """The mover's different actions: rows [n] ascending, ids [n], values [n]."""
        rows, actions = _moves(state)
        ends, utilities = _settled(state, rows, actions)
        values = utilities[:, self.track]
        going = np.flatnonzero(~ends)
        children = state.select(rows[going])
        kernel.apply(children, actions[going])
        held = self._held(state, rows[going], actions[going])
        for phase, evaluate in (
            (Phase.BONUS, self._best),
            (Phase.SWAP, self._best_of_swap),
            (Phase.PLACE, self._after_closing),
        ):
            some = np.flatnonzero(children.phase == phase)
            if some.size:
                values[going[some]] = evaluate(children.select(some), held[some])
        return rows, actions, values

    def _held(self, state: State, rows: Ints, actions: Ints) -> NDArray[np.int8]:
        """[n, K]: the rack that is left before anything is drawn."""
        t = state.tables
        held = kernel.own_racks(state, rows)
        placing = np.flatnonzero(actions < t.swap_action)
        held[placing, actions[placing] // t.n_placements] = EMPTY
        held[actions == t.swap_action] = EMPTY
        return held

    def _best(self, state: State, held: NDArray[np.int8]) -> Floats:
        """[G]: where the mover goes on."""
        rows, _, values = self.action_values(state)
        best: Floats = np.maximum.reduceat(values, np.searchsorted(rows, np.arange(len(state))))
        return best

    def _best_of_swap(self, state: State, held: NDArray[np.int8]) -> Floats:
        """[G]: where the mover may swap: if it could lay what it draws it decides, else that is declined."""
        matters = most_placements_left(state) >= self.rules.players
        values = np.empty(len(state))
        for some, evaluate in ((matters, self._best), (~matters, self._after_closing)):
            if some.any():
                values[some] = evaluate(_skip_idle_swaps(state.select(some)), held[some])
        return values

    def _after_closing(self, state: State, held: NDArray[np.int8]) -> Floats:
        """[G]: where the next seat is to play."""
        self.check_deals()
        values = np.empty(len(state))
        left = most_placements_left(state)
        last = np.flatnonzero(left == 1)
        if last.size:
            values[last] = self._after_last_reply(state.select(last))
        for game in np.flatnonzero(left == 2).tolist():
            values[game] = _Exchange(self, state.select(np.array([game])), held[game]).value()
        return values

    def _after_last_reply(self, state: State) -> Floats:
        """[G]: where the next seat lays the last tile."""
        replies = self.last_tile(state, self.next_seat)
        values = np.empty(len(state))
        for game in range(len(state)):
            values[game] = self._mean_of_best(replies[game])
        return values

    def last_tile(self, state: State, seat: int) -> Floats:
        """[G, M, T]: the utilities when a seat lays the last tile, by its kind, in the way that is best for it."""
        n_kinds = state.tables.n_kinds
        games = state.select(np.repeat(np.arange(len(state)), n_kinds))
        games.racks[:, seat] = EMPTY
        games.racks[:, seat, 0] = np.tile(np.arange(n_kinds), len(state))
        rows, actions = _moves(games)
        ends, utilities = _settled(games, rows, actions)
        assert ends.all()
        mover = np.full(len(games), seat % self.rules.tracks)
        best = _choose(rows, utilities, mover, np.full(len(games), self.track))
        return best.reshape(len(state), n_kinds, self.rules.tracks)

    def _mean_of_best(self, utilities: Floats) -> float:
        """The mover's mean utility when the next seat lays the best for itself of a hidden hand; by kind [M, T]."""
        theirs, own = utilities[:, self.next_seat % self.rules.tracks], utilities[:, self.track]
        order = np.lexsort((own, -theirs))
        none_so_far = self.opponent.chances_of_none(order)
        return float((none_so_far[:-1] - none_so_far[1:]) @ own[order])


class _Exchange:
    """Two seats, two placements left: the opponent replies, and unless it lays both tiles the mover lays the last.

    Args:
        deals: what the mover knows.
        state: one game, the opponent to play.
        held: [K] what is left of the mover's rack before it draws.
    """

    def __init__(self, deals: _Deals, state: State, held: NDArray[np.int8]) -> None:
        self.deals, self.state = deals, state
        self.held = held[held != EMPTY]
        self.drawn = state.rules.rack - len(self.held)
        self.n_kinds = state.tables.n_kinds

    def value(self) -> float:
        """The mover's mean over the opponent's hands and its own draws."""
        needs, payoffs = self._replies()
        if payoffs.max() - payoffs.min() < SAME:
            return float(payoffs[0, 0])
        sure = payoffs[:, self.held].max(axis=1, initial=-1.0)
        group = _alike(needs, payoffs, self.deals.opponent.told)
        first = np.unique(group, return_index=True)[1]
        member = (group[:, None] == np.arange(len(first))).astype(np.int64)
        counts = self.deals.unseen @ member
        needs = needs @ member
        merged = np.unique(np.concatenate([needs, payoffs[:, first], sure[:, None]], axis=1), axis=0)
        needs, payoffs, sure = merged[:, : len(first)].astype(np.int64), merged[:, len(first) : -1], merged[:, -1]
        hands, chances = self.deals.opponent.hands(group)
        total = 0.0
        for start in range(0, len(hands), 1 << 14):
            part = slice(start, start + (1 << 14))
            total += float(chances[part] @ self._best_replies(hands[part], counts, needs, payoffs, sure))
        return total

    def _best_replies(
        self, hands: NDArray[np.int8], counts: Ints, needs: Ints, payoffs: Floats, sure: Floats
    ) -> Floats:
        """[n]: the mover's mean utility against the best reply of each of some hands.

        Args:
            hands: [n, groups] of kinds that are alike.
            counts: [groups] unseen tiles.
            needs: [R, groups] what each reply takes.
            payoffs: [R, groups] the mover's utility by its last tile.
            sure: [R] the same for the best tile that it holds.
        """
        worst = np.full(len(hands), np.inf)
        columns = np.ascontiguousarray(hands.T)
        different, which = np.unique(needs, axis=0, return_inverse=True)
        which = which.reshape(-1)
        for number, need in enumerate(different):
            able = np.flatnonzero(_holding(columns, need))
            if able.size:
                mine = which == number
                means = self._means(counts - hands[able], payoffs[mine], sure[mine])
                worst[able] = np.minimum(worst[able], means.min(axis=1))
        return worst

    def _means(self, bags: Ints, payoffs: Floats, sure: Floats) -> Floats:
        """[n, R]: the mover's mean utility over its draws from bags [n, groups], against each reply."""
        left = int(self.deals.unseen.sum()) - self.deals.opponent.size
        none = np.array([comb(left - good, self.drawn) / comb(left, self.drawn) for good in range(left + 1)])
        means = np.ones((len(bags), len(payoffs)))
        for level in (0, 1):  # of -1, 0 and 1: the mean is -1 + P(at least 0) + P(1)
            missing = none[bags @ (payoffs >= level - SAME).T.astype(np.int64)]
            missing[:, sure >= level - SAME] = 0
            means -= missing
        return means

    def _replies(self) -> tuple[Ints, Floats]:
        """What each reply needs in hand [R, M], and the mover's utility by the kind of its last tile [R, M]."""
        kinds = np.flatnonzero(self.deals.unseen)
        games = self._with_hand(np.zeros(len(kinds), dtype=np.int64), self.state, kinds, twice=True)
        rows, actions = _moves(games)
        ends, utilities = _settled(games, rows, actions)
        needs, payoffs = [], []
        needs.append(self._need(kinds[rows[ends]]))
        payoffs.append(np.repeat(utilities[ends, self.deals.track, None], self.n_kinds, axis=1))
        after = games.select(rows[~ends])
        kernel.apply(after, actions[~ends])
        laid = kinds[rows[~ends]]
        for more, further in (self._both(after, laid), self._last_to_mover(after, laid)):
            needs.append(more)
            payoffs.append(further)
        return _without_worse(np.concatenate(needs), np.concatenate(payoffs))

    def _both(self, after: State, laid: Ints) -> tuple[Ints, Floats]:
        """Where a bonus lets the opponent lay both tiles."""
        chain = np.flatnonzero(after.phase == Phase.BONUS)
        kinds = np.flatnonzero(self.deals.unseen)
        from_row = np.repeat(chain, len(kinds))
        second = np.tile(kinds, len(chain))
        games = self._with_hand(from_row, after, second, twice=False)
        games.phase[:] = Phase.PLACE  # no bonus can follow, and none may be declined here
        rows, actions = _moves(games)
        ends, utilities = _settled(games, rows, actions)
        assert ends.all()
        needs = self._need(laid[from_row[rows]]) + self._need(second[rows])
        return needs, np.repeat(utilities[:, self.deals.track, None], self.n_kinds, axis=1)

    def _last_to_mover(self, after: State, laid: Ints) -> tuple[Ints, Floats]:
        """Where the opponent lays one tile."""
        passing = after.phase != Phase.BONUS
        if self.state.rules.bonus_may_be_declined:
            passing[:] = True
        games = after.select(np.flatnonzero(passing))
        games.phase[:] = Phase.PLACE
        games.pending_bonus[:] = 0
        games.to_play[:] = self.deals.seat
        payoffs = self.deals.last_tile(games, self.deals.seat)[:, :, self.deals.track]
        return self._need(laid[passing]), payoffs

    def _with_hand(self, rows: Ints, state: State, kinds: Ints, twice: bool) -> State:
        """Games in which the opponent holds a tile of these kinds, or two: so that it can make a bonus."""
        games = state.select(rows)
        games.racks[:, self.deals.next_seat] = EMPTY
        games.racks[:, self.deals.next_seat, : 1 + twice] = kinds[:, None]
        return games

    def _need(self, kinds: Ints) -> Ints:
        """[R, M]: one tile of each of these kinds."""
        need: Ints = (kinds[:, None] == np.arange(self.n_kinds)).astype(np.int64)
        return need


def _holding(columns: NDArray[np.int8], need: Ints) -> Bools:
    """[n]: which hands, as columns [groups, n], hold what a reply takes [groups]."""
    holding = np.ones(columns.shape[1], dtype=np.bool_)
    for group in np.flatnonzero(need):
        holding &= columns[group] >= need[group]
    return holding


def _without_worse(needs: Ints, payoffs: Floats) -> tuple[Ints, Floats]:
    """Replies [R, M] without those that are never better for the opponent than another that takes no more."""
    both = np.unique(np.concatenate([needs, payoffs], axis=1), axis=0)
    needs, payoffs = both[:, : needs.shape[1]].astype(np.int64), both[:, needs.shape[1] :]
    kept = np.ones(len(both), dtype=np.bool_)
    for reply in range(len(both)):
        kept[reply] = False
        better = (needs[kept] <= needs[reply]).all(axis=1) & (payoffs[kept] <= payoffs[reply] + SAME).all(axis=1)
        kept[reply] = not better.any()
    return needs[kept], payoffs[kept]


def _alike(needs: Ints, payoffs: Floats, told: Bools) -> Ints:
    """[M]: kinds of the same number are alike, in the opponent's hand and as the mover's last tile.

    A kind of which a reply takes two tiles, or that it takes with another, is like no other; nor is one of which swaps
    have told something, [M].
    """
    single = needs.sum(axis=1) == 1
    groups: dict[Any, int] = {}
    numbers = []
    for kind in range(needs.shape[1]):
        taken = needs[:, kind] > 0
        alone = kind if told[kind] or (taken & ~single).any() else None
        replies = frozenset(row.tobytes() for row in payoffs[taken & single])
        numbers.append(groups.setdefault((alone, payoffs[:, kind].tobytes(), replies), len(groups)))
    return np.array(numbers, dtype=np.int64)
