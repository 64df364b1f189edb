"""Policies: a batch of views in, an action for each out. Any callable with a name will do.

The package itself has those that search plays games out with: "random", "greedy", "concave" and "denial". The strong
ones live outside, in `agents`.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_integer, as_number
from genial_env.backends import accelerated
from genial_env.core import bitsets, kernel
from genial_env.core.bitsets import Bitsets, Bools, Ints
from genial_env.core.chance import Bits, Purpose, below, bits, seat_keys
from genial_env.core.placement_values import pick_best, tile_values
from genial_env.core.rules import TRACK_END, Rules
from genial_env.core.state import EMPTY, FREE, Phase, State
from genial_env.core.tables import Tables
from genial_env.core.views import View, view

N = TypeVar("N", bound=np.integer[Any])


class Policy(Protocol):
    """What plays a seat.

    It is called with views [G] in which it is the seat's turn, and 64 random bits for each; it returns the action
    ids [G]. The bits are a function of the game's seed, the seat and the number of the decision, and a policy takes
    all its randomness from them: then a game goes alike in a batch of any size. The seed cannot be computed from them.
    """

    @property
    def name(self) -> str:
        """How tables and records call it."""

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""


class Plan(NamedTuple):
    """The numbers from which compiled code decides as a policy does."""

    worth: Ints  # [top + 1] of the own markers
    weights: Ints
    """[8] the factor of the gain (0: random play), the six of :class:`Weights`, and the most by which a double can be
    worth more than its two halves."""


class PlannedPolicy:
    """A policy that compiled code can play without calling it.

    A subclass that overrides a method that decides has no plan, unless it overrides :meth:`plan` as well: the backend
    "numba" calls it, as numpy does.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if {"__call__", "values"} & vars(cls).keys() and "plan" not in vars(cls):
            cls.plan = _no_plan  # type: ignore[assignment, method-assign]

    def plan(self, rules: Rules) -> Plan | None:
        """Return the numbers that compiled code decides by; None if it must call the policy."""
        return None


def _no_plan(policy: PlannedPolicy, rules: Rules) -> Plan | None:
    return None


class RandomPolicy(PlannedPolicy):
    """Every playable action is equally likely."""

    name = "random"

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        placements = bitsets.pack(view.placements)
        return pick_uniformly(view.tables, view.slots, placements, view.may_swap, view.may_decline, random)

    def plan(self, rules: Rules) -> Plan | None:
        """Return zeros: every action is equally likely."""
        return Plan(np.zeros(rules.top + 1, dtype=np.int64), np.zeros(8, dtype=np.int64))


@dataclass(frozen=True)
class Weights:
    """What laying half a tile counts for, besides the points: each in eighths of the worth of the own markers' moves.

    All are whole numbers from -1000 to 1000.

    Args:
        taken_in_all: what the cell was worth to the others, all colors together.
        taken_at_most: what it was worth to the others in the color that was worth most.
        opened: what the next point on each cell at an end of the half's lines is worth to oneself, times the points by
            which the half raises it.
        opened_to_others: the same for the others, which counts against it.
        lost_in_all: what the cell was worth to oneself, all colors together, which counts against it.
        lost_at_most: what it was worth to oneself in the color that was worth most, likewise.

    Raises:
        TypeError, ValueError: if one is no whole number, or out of range.
    """

    taken_in_all: int = 0
    taken_at_most: int = 0
    opened: int = 0
    opened_to_others: int = 0
    lost_in_all: int = 0
    lost_at_most: int = 0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            object.__setattr__(self, name, as_integer(value, name, -_MOST_WEIGHT, _MOST_WEIGHT))


_MOST_WEIGHT = 1000
"""With greater weights, sums of 32 bits could overflow."""


class HeuristicPolicy(PlannedPolicy):
    """Takes the placement that is worth most, equal ones by lot; swaps when it may, makes every bonus.

    A marker at m is worth ``worth(rules)[m]``, and a placement what it adds to the worth of the own markers, plus what
    the weights say. The others are all other tracks.
    """

    name: str

    def weights(self, rules: Rules) -> Weights:
        """What a half counts for besides its points."""
        return Weights()

    def worth(self, rules: Rules) -> NDArray[np.int16]:  # [top + 1]
        """What a marker is worth, in whole numbers."""
        raise NotImplementedError

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        actions = np.full(len(view), view.tables.swap_action)
        placing = np.flatnonzero(view.phase != Phase.SWAP)
        if placing.size:
            placers = view.select(placing) if placing.size < len(view) else view
            actions[placing] = pick_best(placers, self.values(placers), random[placing])
        return actions

    def values(self, view: View) -> NDArray[np.integer[Any]]:  # [G, K, E]
        """What every placement is worth; entries of empty slots and of placements that are not open mean nothing."""
        worth, weights = self.worth(view.rules), self.weights(view.rules)
        own = _Moves(view, 0, worth)
        halves = own.gain * np.int16(_EIGHTHS)
        if weights != Weights():
            extra = _looking_further(view, own, worth, weights)
            halves += np.clip(extra, -MOST_EXTRA, MOST_EXTRA).astype(np.int16)
        return _with_doubles(tile_values(view, halves), own, np.int16(_EIGHTHS))

    def plan(self, rules: Rules) -> Plan | None:
        """Return the marker values and weights.

        Raises:
            ValueError: if the marker values are not [top + 1] of int16.
        """
        return self._plan(rules, _EIGHTHS)

    def _plan(self, rules: Rules, unit: int) -> Plan:
        """Return the plan of a policy whose values count points in this unit."""
        worth, weights = self.worth(rules), self.weights(rules)
        if worth.shape != (rules.top + 1,) or worth.dtype != np.int16:
            raise ValueError(f"worths must be int16 ({rules.top + 1},), not {worth.dtype} {worth.shape}")
        slack = unit * _most_above_halves(worth.tobytes(), rules.top)
        return Plan(worth.astype(np.int64), np.array([unit, *astuple(weights), slack], dtype=np.int64))


def added_worth(view: View, worth: NDArray[N]) -> NDArray[N]:
    """[G, K, E]: what every placement adds to the worth of the own markers; entries of empty slots mean nothing.

    Args:
        view: G games.
        worth: [top + 1] of a marker, whole numbers whose sums fit in their type.
    """
    own = _Moves(view, 0, worth)
    return _with_doubles(tile_values(view, own.gain), own, worth.dtype.type(1))


def _with_doubles(values: NDArray[N], own: "_Moves[N]", unit: N) -> NDArray[N]:
    """In place: correct what tiles are worth [G, K, E] by their halves where both halves move the same marker."""
    game, slot = np.nonzero(is_double(own.view))
    kind = own.view.rack[game, slot]
    values[game, slot] += own.of_both(game, own.view.tables.kinds[kind, 0]) * unit
    return values


def _looking_further(
    view: View, own: "_Moves[np.int16]", worth: NDArray[np.int16], weights: Weights
) -> NDArray[np.int32]:
    """[G, N, C]: what the weights add to each half."""
    extra = np.zeros(view.points.shape, dtype=np.int32)
    _take(extra, own, -weights.lost_in_all, -weights.lost_at_most)
    slope = own.slope * np.int32(weights.opened)
    for track in range(1, view.rules.tracks):
        other = _Moves(view, track, worth)
        _take(extra, other, weights.taken_in_all, weights.taken_at_most)
        slope -= other.slope * np.int32(weights.opened_to_others)
    return add_opened(view, slope, extra)


def _take(extra: NDArray[np.int32], moves: "_Moves[np.int16]", in_all: int, at_most: int) -> None:
    """In place: add what covering each cell takes from a track, all colors together and that of most worth."""
    extra += in_all * moves.gain.sum(axis=2, dtype=np.int32)[:, :, None]
    extra += at_most * moves.gain.max(axis=2).astype(np.int32)[:, :, None]


_EIGHTHS = 8

MOST_EXTRA = 7_000
"""What a half may count for besides its points, either way; so all values fit in 16 bits."""


class GreedyPolicy(HeuristicPolicy):
    """Takes the most points that still move a marker, equal ones by lot; swaps when it may, makes every bonus."""

    name = "greedy"

    def worth(self, rules: Rules) -> NDArray[np.int16]:
        """The points themselves."""
        return np.arange(rules.top + 1, dtype=np.int16)

    def values(self, view: View) -> NDArray[np.integer[Any]]:
        """As any policy that goes by worth, in smaller numbers."""
        return useful_points(view)

    def plan(self, rules: Rules) -> Plan | None:
        """Return the plan of :class:`HeuristicPolicy`, in whole points."""
        return self._plan(rules, 1)


class ConcavePolicy(HeuristicPolicy):
    """Points count the more the lower the marker: one at m is worth ``1 - exp(-m / temperature)``.

    Args:
        temperature: in points, 0.001 to 1,000,000; the lower, the more the low markers count. Left out, what did well
            for the number of seats (docs/policies.md).

    Raises:
        TypeError, ValueError: if the temperature is no finite number, or out of range.
    """

    name = "concave"

    def __init__(self, temperature: float | None = None) -> None:
        self.temperature = None if temperature is None else as_number(temperature, "temperature", *TEMPERATURES)

    def worth(self, rules: Rules) -> NDArray[np.int16]:
        """From 0 to 1000 at the end of the track."""
        measured = {1: 4.0, 2: 10.0, 3: 30.0, 4: 60.0}[rules.players]
        return saturating(self.temperature or measured, rules.top)


@lru_cache(maxsize=64)
def saturating(temperature: float, top: int, shape: float = 1.0, arrival: int = 0) -> NDArray[np.int16]:
    """[top + 1]: ``1 - exp(-(m / temperature) ** shape)``, scaled so that the end of the track is worth 1000; and
    `arrival` more from every stop on.
    """
    markers = np.arange(top + 1)
    worth = -np.expm1(-((markers / temperature) ** shape))
    whole: NDArray[np.int16] = (np.rint(1000 * worth / worth[-1]) + arrival * (markers // TRACK_END)).astype(np.int16)
    whole.setflags(write=False)
    return whole


TEMPERATURES = (0.001, 1_000_000)
"""The lowest temperature, and the highest, at which markers count all but alike."""

SHAPES = (0.01, 10)
"""The least and the greatest `shape` of :class:`DenialPolicy`."""


class DenialPolicy(ConcavePolicy):
    """As "concave", and counts what it takes from the others and opens to them.

    A half also counts for what its cell was worth to the others, less what it was worth to oneself in other colors, and
    for what it opens at the ends of its lines: to oneself, less what it opens to the others.

    Args:
        temperature: in points, 0.001 to 1,000,000; a marker at m is worth ``1 - exp(-(m / temperature) ** shape)``.
        shape: 0.01 to 10; above 1 the very first points count less.
        arrival: what arriving at 18, or 36, is worth besides, 0 to 50, as it earns a placement; the whole track is
            worth 1000.
        weights: of what is taken and opened, a :class:`Weights`. Left out, all four are what did well for the number of
            seats.

    Raises:
        TypeError, ValueError: if a setting has another type, or is out of range.
    """

    name = "denial"

    def __init__(
        self,
        temperature: float | None = None,
        shape: float | None = None,
        arrival: int | None = None,
        weights: Weights | None = None,
    ) -> None:
        super().__init__(temperature)
        if weights is not None and not isinstance(weights, Weights):
            raise TypeError(
                f"weights must be genial_env.policies.base.Weights, which only code can give, not {weights!r} "
                f"({type(weights).__name__})"
            )
        self.shape = None if shape is None else as_number(shape, "shape", *SHAPES)
        self.arrival = None if arrival is None else as_integer(arrival, "arrival", 0, MOST_FOR_ARRIVAL)
        self._weights = weights

    def weights(self, rules: Rules) -> Weights:
        """What is taken and opened."""
        return self._weights if self._weights is not None else _DENIAL[rules.players, rules.tracks][3]

    def worth(self, rules: Rules) -> NDArray[np.int16]:
        """From 0 to 1000 at the end of the track, and what arriving is worth."""
        temperature, shape, arrival, _ = _DENIAL[rules.players, rules.tracks]
        return saturating(
            self.temperature or temperature,
            rules.top,
            self.shape or shape,
            arrival if self.arrival is None else self.arrival,
        )


MOST_FOR_ARRIVAL = 50

_DENIAL = {
    (1, 1): (4.0, 0.86, 0, Weights(0, 0, -1, 0, 1, 0)),
    (2, 2): (3.2, 1.27, 0, Weights(2, 4, 2, 3, 1, 2)),
    (3, 3): (13.0, 1.09, 34, Weights(0, 1, 1, 1, 0, 2)),
    (4, 4): (56.0, 0.91, 27, Weights(0, 0, 2, 1)),
    (4, 2): (4.9, 1.08, 23, Weights(0, 5, 1, 2, 1, 0)),
}
"""Temperature, shape, arrival and weights by seats and tracks."""


def act(roster: Sequence[Policy], assignment: Ints, state: State, keys: Bits, rows: Ints) -> Ints:
    """[G]: what the policies to play choose; each policy is asked once, for all its games.

    Args:
        roster: policies.
        assignment: [B, P] which of them plays which seat.
        state: the games.
        keys: [B, P] the seats' streams of choices (:func:`choice_keys`).
        rows: [G] the games in which a decision is wanted.
    """
    seat = state.to_play[rows]
    player = assignment[rows, seat]
    actions = np.empty(len(rows), dtype=np.int64)
    for number in np.unique(player):
        mine = player == number
        random = bits(keys[rows[mine], seat[mine]], state.decisions[rows[mine]])
        actions[mine] = decide(roster[number], state, rows[mine], random)
    return actions


@accelerated
def decide(policy: Policy, state: State, rows: Ints, random: Bits) -> Ints:
    """[G]: what a policy plays in some games, in which it is its turn."""
    if type(policy) is RandomPolicy:
        return random_actions.numpy(state, rows, random)
    return kernel.as_actions(policy(view(state, rows=rows), random), len(rows))


@accelerated
def random_actions(state: State, rows: Ints, random: Bits) -> Ints:
    """[G]: what :class:`RandomPolicy` plays in some games, straight from the states, as no view is needed for it."""
    return pick_uniformly(
        state.tables,
        kernel.legal_slots(state, rows),
        kernel.placement_sets_unchecked(state, rows),
        kernel.may_swap(state, rows),
        kernel.may_decline(state, rows),
        random,
    )


def choice_keys(seeds: Bits, players: int) -> Bits:
    """[B, P]: the keys of the streams from which policies draw. They tell nothing of the games' seeds."""
    return seat_keys(seeds, Purpose.CHOICES, players)


def useful_points(view: View) -> NDArray[np.int8]:
    """[G, K, E]: the points of every placement that still move a marker."""
    room = view.room
    values = tile_values(view, np.minimum(view.points, room[:, None, :]))
    colors = view.tables.kinds.take(view.rack, axis=0)  # [G, K, 2]
    double = colors[:, :, 0] == colors[:, :, 1]
    limit = np.where(double, np.take_along_axis(room, colors[:, :, 0], axis=1), np.iinfo(np.int8).max)
    np.minimum(values, limit.astype(np.int8)[:, :, None], out=values)
    return values


@lru_cache(maxsize=64)
def _most_above_halves(worth: bytes, top: int) -> int:
    """The most by which a double can be worth more than its halves alone."""
    values: Ints = np.frombuffer(worth, dtype=np.int16).astype(np.int64)
    most = 0
    for marker in range(top):
        stop = TRACK_END if marker < TRACK_END else top
        gains = values[marker : stop + 1] - values[marker]
        points = np.arange(len(gains))
        both = gains[np.minimum(points[:, None] + points, points[-1])]
        most = max(most, int((both - gains[:, None] - gains).max()))
    return most


class _Moves(Generic[N]):
    """What the next points are worth to one track, by cell and color; 0 on covered cells.

    Args:
        view: G games.
        track: the own first.
        worth: [top + 1] of markers.
    """

    def __init__(self, view: View, track: int, worth: NDArray[N]) -> None:
        self.view, self._worth = view, worth
        self._markers = view.scores[:, track]
        self._stops = np.where(self._markers < TRACK_END, TRACK_END, view.rules.top).astype(np.int8)
        self._after = np.minimum(self._markers[:, None] + view.points, self._stops[:, None])
        self.gain: NDArray[N] = worth.take(self._after) - worth.take(self._markers)[:, None]
        """[G, N, C] what laying a half there is worth."""

    @property
    def slope(self) -> NDArray[N]:  # [G, N, C]
        """What one point more than that would be worth."""
        further = np.minimum(self._after + np.int8(1), self._stops[:, None])
        slope: NDArray[N] = self._worth.take(further) - self._worth.take(self._after)
        slope[self.view.board != FREE] = 0
        return slope

    def of_both(self, games: Ints, colors: Ints) -> NDArray[N]:  # [len(games), E]
        """What is to be added for doubles to the gains of their halves, as the marker moves by both together."""
        worth, marker, stop = self._worth, self._markers[games, colors], self._stops[games, colors]
        first, second = (self.view.points[games[:, None], cells, colors[:, None]] for cells in self._cells)
        both = worth.take(np.minimum(marker[:, None] + first + second, stop[:, None])) + worth.take(marker)[:, None]
        apart = [worth.take(self._after[games[:, None], cells, colors[:, None]]) for cells in self._cells]
        correction: NDArray[N] = both - apart[0] - apart[1]
        return correction

    @property
    def _cells(self) -> Ints:  # [2, E]
        return self.view.tables.placements.T


def is_double(view: View) -> Bools:
    """[G, K]: the slots that hold a tile with twice the same color."""
    colors = view.tables.kinds.take(view.rack, axis=0)
    double: Bools = (colors[:, :, 0] == colors[:, :, 1]) & (view.rack != EMPTY)
    return double


def add_opened(view: View, slope: NDArray[np.int32], total: NDArray[np.int32]) -> NDArray[np.int32]:
    """In place: add to `total`, for each half that could be laid, what it opens: at each free end of its lines the
    points by which it raises the map there, times the slope there. Returns `total`.

    A half of color k on cell x::

        y  k  k  x  .          raises y by 1, and the free neighbour on the right by 1 + 2

    Args:
        view: G games.
        slope: [G, N, C], 0 on covered cells.
        total: [G, N, C].
    """
    t, (n_games, n_cells, n_colors) = view.tables, slope.shape
    edged = np.concatenate([slope, np.zeros((n_games, 1, n_colors), dtype=slope.dtype)], axis=1)
    for direction in range(6):
        total += edged.take(t.neighbours[:-1, direction], axis=1)
    line, color, run, end = _lines(view)
    cell_at, towards = np.divmod(line, 6)
    game, cell = np.divmod(cell_at, n_cells)
    by_line = np.zeros((2, n_games * n_cells * 6), dtype=np.int8)
    by_line[0, line], by_line[1, line] = color + 1, run
    opposite = cell_at * 6 + _OPPOSITE[towards]
    back = by_line[1].take(opposite) * (by_line[0].take(opposite) == color + 1)
    beside = t.neighbours[cell, _OPPOSITE[towards]]
    at = edged.reshape(-1)
    opened = at.take((game * (n_cells + 1) + beside) * n_colors + color) * run
    opened += at.take((game * (n_cells + 1) + end) * n_colors + color) * (back + np.int32(1))
    np.add.at(total.reshape(-1), cell_at * n_colors + color, opened)
    return total


_OPPOSITE = np.array([3, 4, 5, 0, 1, 2])


def _lines(view: View) -> tuple[Ints, Ints, Ints, Ints]:
    """The lines of one color that begin next to a free cell: [L] each as an index into [G * N * 6], its color, how long
    it is, and the cell behind it (N: off the board).
    """
    t, n_games, n_cells = view.tables, len(view), view.board.shape[1]
    board = np.concatenate([view.board, np.full((n_games, 1), FREE, dtype=np.int8)], axis=1)
    first = board.take(t.neighbours[:-1].ravel(), axis=1).reshape(n_games, n_cells, 6)
    line = np.flatnonzero((first != FREE) & (view.board == FREE)[:, :, None])
    color, base = first.reshape(-1).take(line).astype(np.int64), line // (n_cells * 6) * (n_cells + 1)
    ray = line % (n_cells * 6) * t.rays.shape[2]
    flat, rays = board.reshape(-1), t.rays.reshape(-1)
    run, end = np.ones(len(line), dtype=np.int64), rays.take(ray + 2)
    alive, distance = np.flatnonzero(flat.take(base + end) == color), 1
    while alive.size:
        distance += 1
        run[alive] = distance
        end[alive] = rays.take(ray.take(alive) + distance + 1)
        alive = alive[flat.take(base.take(alive) + end.take(alive)) == color.take(alive)]
    return line, color, run, end


def pick_uniformly(
    t: Tables, slots: Bools, placements: Bitsets, may_swap: Bools, may_decline: Bools, random: Bits
) -> Ints:
    """[G]: one of the playable actions by their factors (:mod:`genial_env.core.kernel`), all equally likely.

    Drawn by slot and placement, since a mask of thousands of actions takes longer to scan.
    """
    n_slots = bitsets.fold(np.add, slots.astype(np.int64))
    n_placements = bitsets.count(placements)
    n_placings = n_slots * n_placements
    choice = below(random, n_placings + may_decline + may_swap)
    actions = np.where(choice - n_placings < may_decline, t.decline_action, t.swap_action)
    placing = np.flatnonzero(choice < n_placings)
    nth_slot, nth_placement = np.divmod(choice[placing], n_placements[placing])
    held = bitsets.running_total(slots.take(placing, axis=0), np.int64)  # [K, G]
    slot = np.add.reduce(held <= nth_slot, axis=0, dtype=np.int64)
    actions[placing] = slot * t.n_placements + bitsets.nth(placements.take(placing, axis=0), nth_placement)
    return actions
