"""One game alone, on a State of it: compiled where numba is there, else in Python.

:func:`genial_env.core.kernel.apply` plays a batch, and with a batch of one numpy's cost of every call is all of its
cost. So the environments for one game at a time play through :class:`OneGame`: by the backend "numba", or by the same
functions (:mod:`genial_env.core.scalar`) as Python reads them. Records, ranks and everything else are the kernel's.
"""

from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env import backends
from genial_env._util.checks import as_integer
from genial_env.backends import using
from genial_env.core import chance, kernel, scalar, views
from genial_env.core.bitsets import Bools, unpack
from genial_env.core.chance import Bits
from genial_env.core.rules import Rules
from genial_env.core.scalar import BONUS, OVER, SWAP
from genial_env.core.state import EMPTY, State
from genial_env.core.views import View
from genial_env.errors import IllegalAction
from genial_env.policies.base import Policy, decide

_ROW = np.zeros(1, dtype=np.int64)
_NOTHING_TO_CHANGE = nullcontext()


class OneGame:
    """Plays on a state of one game, in place.

    Args:
        state: the game; its arrays are written to and must not be replaced.

    Raises:
        ValueError: for a state of more or fewer games.
    """

    def __init__(self, state: State) -> None:
        if len(state) != 1:
            raise ValueError(f"OneGame plays one game, not {len(state)}")
        self.state = state
        self.backend = backends.for_one_game()
        self.compiled = None if self.backend is None else backends.compiled().OneGame(state)
        self._phase, self._to_play = scalar.rows_of(state.phase, 0), scalar.rows_of(state.to_play, 0)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled by the state alone."""
        return OneGame, (self.state,)

    @cached_property
    def _games(self) -> scalar.Games:
        return scalar.memory_of(self.state)

    @cached_property
    def _facts(self) -> scalar.Facts:
        return scalar.memory_of_facts(self.state.rules)

    @classmethod
    def deal(cls, rules: Rules, seed: int) -> "OneGame":
        """A new game, as :func:`genial_env.core.kernel.deal` deals it.

        Raises:
            TypeError, ValueError: for a seed that is not one whole number from 0 to 2**64 - 1.
        """
        seeds = chance.as_seeds(as_integer(seed, "a seed", 0, 2**64 - 1))
        dealt = cls(kernel.undealt(rules).copy())
        if dealt.backend is not None:
            kernel.deal_racks.on(dealt.backend)(dealt.state, _ROW, seeds)
            return dealt
        dealt.state.key[:] = chance.seat_keys(seeds, chance.Purpose.DRAWS, rules.players)
        for seat in range(rules.players):
            scalar.fill_rack(dealt._games, dealt._facts, 0, seat, _no_script(rules))
        return dealt

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        over: bool = self._phase[0] == OVER
        return over

    @property
    def to_play(self) -> int:
        """The seat whose decision it is; after the end, whose it last was."""
        seat: int = self._to_play[0]
        return seat

    def apply(self, action: int) -> None:
        """In place: play one action, as :func:`genial_env.core.kernel.apply` does.

        Raises:
            IllegalAction: saying action, cells, seat and reason, and nothing has changed.
        """
        if self.compiled is not None:
            is_fine = self.compiled.apply(action)
        else:
            is_fine = scalar.is_legal(self._games, self._facts, 0, action)
            if is_fine:
                scalar.apply(self._games, self._facts, 0, action, _no_script(self.state.rules))
        if not is_fine:
            raise IllegalAction(kernel.why_illegal(self.state, 0, action))

    def working(self) -> AbstractContextManager[None]:
        """All hot functions by the backend of this game until the end of a ``with`` block."""
        return using(self.backend) if self.backend is not None else _NOTHING_TO_CHANGE

    def choose(self, policy: Policy, random: Bits) -> int:
        """What a policy plays for the seat to play, with these random bits [1]."""
        if self.backend is not None:
            return int(decide.on(self.backend)(policy, self.state, _ROW, random)[0])
        return int(kernel.as_actions(policy(self.view(self.to_play), random), 1)[0])

    def view(self, seat: int) -> View:
        """What a seat may know, as :func:`genial_env.core.views.view` has it."""
        if self.backend is not None:
            return views.view_unchecked.on(self.backend)(self.state, _ROW, np.array([seat]))
        return self._view(seat)

    def _view(self, seat: int) -> View:
        """As :meth:`view`, with few calls of numpy."""
        state, rules = self.state, self.state.rules
        phase, mover = self._phase[0], self._to_play[0]
        own_turn = seat == mover
        seats = _from_seat(rules.players, seat)
        racks = state.racks.take(seats, axis=1)
        filled = racks != EMPTY
        swaps = own_turn and phase == SWAP
        declines = own_turn and phase == BONUS and rules.bonus_may_be_declined
        return View(
            rules=rules,
            seat=np.array([seat]),
            board=state.board.copy(),
            points=state.points.copy(),
            scores=state.scores.take(_from_seat(rules.tracks, seat), axis=1),
            rack=racks[:, 0].copy(),
            unseen=self._unseen(seat),
            returned=views.returned_tiles(state, _ROW, seats[None]) if state.swapped[0] else state.returned.copy(),
            levels=state.levels.copy(),
            rack_sizes=np.add.reduce(filled, axis=2, dtype=np.int64),
            has_placed=state.has_placed.take(seats, axis=1),
            to_play=np.array([(mover - seat) % rules.players]),
            phase=state.phase.copy(),
            pending_bonus=state.pending_bonus.copy(),
            slots=filled[:, 0].copy() if own_turn and phase <= BONUS else np.zeros((1, rules.rack), dtype=np.bool_),
            placements=self._placements(mover),
            may_swap=np.array([swaps]),
            may_decline=np.array([swaps or declines]),
        )

    def _unseen(self, seat: int) -> NDArray[np.uint8]:  # [1, M]
        """The tiles in the bag and in the others' racks."""
        unseen = self.state.bag.copy()
        counts = scalar.rows_of(unseen[0], 0)
        for other, rack in enumerate(self._games.racks[0].tolist()):
            if other != seat:
                for tile in rack:
                    if tile != EMPTY:
                        counts[tile] += 1
        return unseen

    def _placements(self, mover: int) -> Bools:  # [1, E]
        """The placements that are open to any tile of the mover."""
        if not self._games.has_placed[0][mover]:
            return unpack(kernel.placement_sets_unchecked.numpy(self.state, _ROW), self._facts.n_placements)
        return unpack(self.state.open, self._facts.n_placements)


@lru_cache(maxsize=64)
def _from_seat(n: int, seat: int) -> NDArray[np.int64]:
    """All seats, or all tracks, with the seat's own first."""
    return (np.arange(n) + seat) % n


@lru_cache(maxsize=64)
def _no_script(rules: Rules) -> list[int]:
    return [-1] * rules.rack
