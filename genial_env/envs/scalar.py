"""One game, played in plain Python.

:func:`genial_env.kernel.apply` plays a batch, and with a batch of one numpy's cost of every call is all of its cost. So
the environments for one game at a time play through :class:`ScalarKernel`: the same rules on the same arrays of the
same :class:`~genial_env.state.State`, several times as fast for one game and useless for many. Everything else (masks,
views, records, ranks) is the kernel's. ``tests/test_scalar.py`` plays both side by side and compares every array.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env import chance, kernel, views
from genial_env.bitsets import Bools, unpack
from genial_env.errors import IllegalAction
from genial_env.rules import TRACK_END, Rules
from genial_env.state import EMPTY, FREE, End, Phase, State
from genial_env.tables import tables
from genial_env.views import View

_PLACE, _BONUS, _SWAP, _OVER = (int(phase) for phase in Phase)
_LUCK_BLOCK = 64
_ONE_ROW = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True)
class _Lists:
    """The look-up tables as plain Python, which reads a list several times as fast as an array."""

    placements: list[tuple[int, int]]  # [E] the cells of a tile's first and second half
    rays: list[list[list[int]]]  # [N][6] the cells in play in each direction, the nearest first
    kinds: list[tuple[int, int]]  # [M] the colors of a tile's first and second half
    kind_mask: list[int]  # [M + 1] bit c: the kind shows color c; the last entry is an empty slot's
    near: list[int]  # [E] bit c: the placement is next to color c's printed symbol


@lru_cache(maxsize=64)
def _lists(rules: Rules) -> _Lists:
    t = tables(rules)
    return _Lists(
        placements=[(first, second) for first, second in t.placements.tolist()],
        rays=[[[cell for cell in ray[1:] if cell < t.n_cells] for ray in rays] for rays in t.rays[:-1].tolist()],
        kinds=[(first, second) for first, second in t.kinds.tolist()],
        kind_mask=t.kind_mask.tolist(),
        near=t.placement_near.tolist(),
    )


class ScalarKernel:
    """Plays on a state of one game, in place.

    Args:
        state: the game; its arrays are written to and must not be replaced.

    Raises:
        ValueError: for a state of more or fewer games.
    """

    def __init__(self, state: State) -> None:
        if len(state) != 1:
            raise ValueError(f"ScalarKernel plays one game, not {len(state)}")
        rules, t = state.rules, state.tables
        self.state = state
        self._lists, self._spares = _lists(rules), t.spares
        self._rack, self._colors, self._tracks, self._players = rules.rack, rules.colors, rules.tracks, rules.players
        self._top, self._has_bonus, self._has_swap = rules.top, rules.has_bonus, rules.has_swap
        self._may_decline_bonus = rules.bonus_may_be_declined
        self._n_placements, self._swap_action, self._n_actions = t.n_placements, t.swap_action, t.n_actions
        self._no_points = _numbers(np.zeros(rules.colors, dtype=np.int8))
        # The state's own memory, one number at a time.
        self._board, self._points = _numbers(state.board), _numbers(state.points)
        self._open, self._touched = _numbers(state.open), _numbers(state.touched)
        self._scores, self._racks, self._bag = _numbers(state.scores), _numbers(state.racks), _numbers(state.bag)
        self._n_kinds, self._returned, self._swapped = t.n_kinds, _numbers(state.returned), _numbers(state.swapped)
        self._none_returned = _numbers(np.zeros(t.n_kinds, dtype=np.uint8))
        self._no_returned = np.zeros_like(state.returned)
        self._drawn, self._has_placed = _numbers(state.drawn), _numbers(state.has_placed)
        self._to_play, self._phase, self._owed = _numbers(state.to_play), _numbers(state.phase), _numbers(state.owed)
        self._decisions, self._end = _numbers(state.decisions), _numbers(state.end)
        self._seats = [np.array([seat]) for seat in range(rules.players)]
        self._seats_from = [(np.arange(rules.players) + seat) % rules.players for seat in range(rules.players)]
        self._tracks_from = [(np.arange(rules.tracks) + seat) % rules.tracks for seat in range(rules.players)]
        self._luck: list[list[int]] = [[] for _ in range(rules.players)]
        self._luck_from = [-1] * rules.players

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled by the state alone."""
        return ScalarKernel, (self.state,)

    @classmethod
    def deal(cls, rules: Rules, seed: int) -> "ScalarKernel":
        """A new game, as :func:`genial_env.kernel.deal` deals it.

        Raises:
            TypeError, ValueError: for a seed that is not one whole number from 0 to 2**64 - 1.
        """
        state = kernel.undealt(rules).copy()
        state.key[:] = chance.seat_keys(chance.as_seeds(seed), chance.Purpose.DRAWS, rules.players)
        dealt = cls(state)
        for seat in range(rules.players):
            dealt._fill_rack(seat)
        return dealt

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self._phase[0] == _OVER

    @property
    def to_play(self) -> int:
        """The seat whose decision it is; after the end, whose it last was."""
        return self._to_play[0]

    def apply(self, action: int) -> None:
        """In place: play one action, as :func:`genial_env.kernel.apply` does.

        Raises:
            IllegalAction: saying action, cells, seat and reason, and nothing has changed.
        """
        if not self._is_legal(action):
            raise IllegalAction(kernel.why_illegal(self.state, 0, action))
        self._decisions[0] += 1
        if action < self._swap_action:
            self._place(*divmod(action, self._n_placements))
            self._go_on()
        elif action == self._swap_action:
            self._swap()
        elif self._phase[0] == _BONUS:
            self._owed[0] -= 1
            self._go_on()
        else:
            self._pass_turn()

    def view(self, seat: int) -> View:
        """What a seat may know, as :func:`genial_env.views.view` has it."""
        state, phase, mover = self.state, self._phase[0], self._to_play[0]
        own_turn, seats = seat == mover, self._seats_from[seat]
        racks = state.racks.take(seats, axis=1)
        filled = racks != EMPTY
        swaps = own_turn and phase == _SWAP
        return View(
            rules=state.rules,
            seat=self._seats[seat].copy(),
            board=state.board.copy(),
            points=state.points.copy(),
            scores=state.scores.take(self._tracks_from[seat], axis=1),
            rack=racks[:, 0],
            unseen=self._unseen(seat),
            returned=self._returned_tiles(seats),
            rack_sizes=np.add.reduce(filled, axis=2, dtype=np.int64),
            has_placed=state.has_placed.take(seats, axis=1),
            to_play=self._seats[(mover - seat) % self._players].copy(),
            phase=state.phase.copy(),
            owed=state.owed.copy(),
            slots=filled[:, 0] if own_turn and phase <= _BONUS else np.zeros((1, self._rack), dtype=np.bool_),
            placements=self._placements(mover),
            may_swap=np.array([swaps]),
            may_decline=np.array([swaps or (own_turn and phase == _BONUS and self._may_decline_bonus)]),
        )

    def _returned_tiles(self, seats: NDArray[np.int64]) -> NDArray[np.uint8]:  # [1, P, K, M]
        return views.returned_tiles(self.state, _ONE_ROW, seats[None]) if self._swapped[0] else self._no_returned.copy()

    def _unseen(self, seat: int) -> NDArray[np.uint8]:  # [1, M]
        """The tiles in the bag and in the others' racks."""
        unseen = self.state.bag.copy()
        counts, start = _numbers(unseen), seat * self._rack
        for held in (self._racks[:start], self._racks[start + self._rack :]):
            for tile in held:
                if tile != EMPTY:
                    counts[tile] += 1
        return unseen

    def _placements(self, mover: int) -> Bools:  # [1, E]
        """The placements that are open to any tile of the mover."""
        if not self._has_placed[mover]:
            return kernel.legal_placements(self.state)
        return unpack(self.state.open, self._n_placements)

    def _is_legal(self, action: int) -> bool:
        phase, seat = self._phase[0], self._to_play[0]
        if not 0 <= action < self._n_actions:
            return False
        if action >= self._swap_action:
            declines_bonus = phase == _BONUS and self._may_decline_bonus and action > self._swap_action
            return bool(phase == _SWAP or declines_bonus)
        slot, placement = divmod(action, self._n_placements)
        is_open = self._open[placement >> 6] >> (placement & 63) & 1
        if phase > _BONUS or not is_open or self._racks[seat * self._rack + slot] == EMPTY:
            return False
        if self._has_placed[seat] or self._lists.near[placement] & ~self._touched[0]:
            return True
        return bool(kernel.legal_placements(self.state)[0, placement])  # where nothing fits, the first-turn rule lapses

    def _place(self, slot: int, placement: int) -> None:
        """In place: lay a tile, score it, move markers; count the bonus placements earned and used."""
        seat, n_colors = self._to_play[0], self._colors
        first, second = self._lists.placements[placement]
        kind = self._take_from_rack(seat * self._rack + slot)
        a, b = self._lists.kinds[kind]
        gained_a, gained_b = self._points[first * n_colors + a], self._points[second * n_colors + b]
        if a == b:
            arrivals = self._advance(seat, a, gained_a + gained_b)
        else:
            arrivals = self._advance(seat, a, gained_a) + self._advance(seat, b, gained_b)
        if self._has_bonus:
            self._owed[0] += arrivals - (self._phase[0] == _BONUS)
        self._cover(first, a)
        self._cover(second, b)
        for cell in (first, second):
            self._points[cell * n_colors : (cell + 1) * n_colors] = self._no_points
        np.bitwise_and(self.state.open, self._spares[placement], out=self.state.open)
        self._touched[0] |= self._lists.near[placement]
        self._has_placed[seat] = True

    def _take_from_rack(self, slot: int) -> int:
        """In place: empty a slot of [P * K], and return its tile, which everybody sees: :func:`kernel._show`."""
        kind, n_kinds = self._racks[slot], self._n_kinds
        self._racks[slot] = EMPTY
        if kind != EMPTY and self._swapped[0]:
            own = self._returned[slot * n_kinds + kind]
            for at in range(kind, len(self._returned), n_kinds):
                self._returned[at] -= self._returned[at] > own
            self._returned[slot * n_kinds : (slot + 1) * n_kinds] = self._none_returned
        return kind

    def _advance(self, seat: int, color: int, points: int) -> int:
        """In place: move a marker; 1 if it arrived at a stop."""
        at = seat % self._tracks * self._colors + color
        before = self._scores[at]
        stop = TRACK_END if before < TRACK_END else self._top
        after = min(before + points, stop)
        self._scores[at] = after
        return int(before < after == stop)

    def _cover(self, cell: int, color: int) -> None:
        """In place: lay half a tile, and bring the points map up to date behind the runs that it lengthens."""
        board = self._board
        board[cell] = color
        runs, ends = [], []
        for ray in self._lists.rays[cell]:
            run, end = 0, FREE
            for beyond in ray:
                seen = board[beyond]
                if seen != color:
                    if seen == FREE:
                        end = beyond
                    break
                run += 1
            runs.append(run)
            ends.append(end)
        for direction, end in enumerate(ends):
            if end >= 0:
                self._points[end * self._colors + color] += 1 + runs[direction - 3]

    def _go_on(self) -> None:
        """In place: after a placement made or declined, the game ends, the bonus chain goes on, a swap is offered, or
        the turn is passed on.
        """
        own = self._to_play[0] % self._tracks * self._colors
        markers = self._scores[own : own + self._colors].tolist()
        if min(markers) == self._top:
            self._finish(End.ALL_AT_TOP)
        elif not any(self._open):
            self._finish(End.BOARD_FULL)
        elif self._owed[0] > 0 and any(tile != EMPTY for tile in self._own_rack()):
            self._phase[0] = _BONUS
        else:
            self._owed[0] = 0  # without a tile a bonus lapses
            if self._has_swap and self._lacks_lowest(markers):
                self._phase[0] = _SWAP
            else:
                self._pass_turn()

    def _finish(self, end: End) -> None:
        self._end[0], self._phase[0], self._owed[0] = end, _OVER, 0

    def _lacks_lowest(self, markers: list[int]) -> bool:
        """Whether the rack holds tiles, and none that shows any of the lowest colors."""
        shown = 0
        for tile in self._own_rack():
            shown |= self._lists.kind_mask[tile]
        lowest = min(markers)
        return shown != 0 and not any(shown >> color & 1 and marker == lowest for color, marker in enumerate(markers))

    def _swap(self) -> None:
        """In place: set the rack aside, draw a new one, and only then put the old tiles back into the bag."""
        start = self._to_play[0] * self._rack
        aside = [self._take_from_rack(slot) for slot in range(start, start + self._rack)]
        self._pass_turn()
        for kind in aside:
            if kind != EMPTY:
                self._bag[kind] += 1
                for slot, tile in enumerate(self._racks):
                    self._returned[slot * self._n_kinds + kind] += tile != EMPTY
        self._swapped[0] = True

    def _pass_turn(self) -> None:
        """In place: fill the rack and give the turn to the next seat."""
        seat = self._to_play[0]
        self._fill_rack(seat)
        self._to_play[0] = (seat + 1) % self._players
        self._phase[0] = _PLACE

    def _fill_rack(self, seat: int) -> None:
        """In place: draw a tile for every empty slot, in slot order."""
        for slot in range(seat * self._rack, (seat + 1) * self._rack):
            if self._racks[slot] == EMPTY:
                self._racks[slot] = self._draw(seat)

    def _draw(self, seat: int) -> int:
        """In place: take one tile out of the bag by the seat's luck, and return its kind."""
        bag = self._bag.tolist()
        left = self._next_luck(seat) * sum(bag) >> 32  # as chance.below
        kind = 0
        while left >= bag[kind]:
            left -= bag[kind]
            kind += 1
        self._bag[kind] -= 1
        return kind

    def _next_luck(self, seat: int) -> int:
        """In place: the upper 32 of the random bits of the seat's next draw, from the kernel's stream."""
        block, at = divmod(self._drawn[seat], _LUCK_BLOCK)
        if self._luck_from[seat] != block:
            counters = np.arange(block * _LUCK_BLOCK, (block + 1) * _LUCK_BLOCK)
            self._luck[seat] = (chance.bits(self.state.key[0, seat], counters) >> np.uint64(32)).tolist()
            self._luck_from[seat] = block
        self._drawn[seat] += 1
        return self._luck[seat][at]

    def _own_rack(self) -> list[int]:
        start = self._to_play[0] * self._rack
        rack: list[int] = self._racks[start : start + self._rack].tolist()
        return rack


def _numbers(array: NDArray[Any]) -> memoryview:
    """The memory of an array as one sequence of plain numbers, several times as fast to index as the array."""
    return array.reshape(-1).data
