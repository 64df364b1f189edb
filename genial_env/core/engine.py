"""Engines: play a single game, in compiled code or in plain Python.

:func:`genial_env.core.kernel.apply` plays a batch. For a batch of one game the fixed cost of each numpy call is nearly
all of its cost. The environments for one game at a time therefore play through an :class:`Engine`. There are two
implementations: compiled code (:mod:`genial_env._compiled.one_game`) where numba is installed, and
:class:`PythonEngine`, which runs the same functions of :mod:`genial_env.core.scalar` in Python. Where numba is
installed and has not compiled them yet, :class:`SwitchingEngine` begins with the second and goes on with the first.
"""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env import backends
from genial_env.backends import Backend
from genial_env.core import chance, scalar, views
from genial_env.core.arrays import Bits
from genial_env.core.bitsets import unpack
from genial_env.core.scalar import OVER
from genial_env.core.state import EMPTY, State
from genial_env.core.tables import Tables
from genial_env.core.views import View

__all__ = ["Engine", "PythonEngine", "SwitchingEngine", "make_engine"]

ROW = np.zeros(1, dtype=np.int64)
"""The row indices of a batch of one game."""


class Engine(ABC):
    """Plays a state of one game, in place. Pickled and copied by the state alone.

    Args:
        state: a batch of one game. The engine writes to its arrays, which must not be replaced.
        backend: the backend for functions on batches, such as encodings and policies; None: the current one.

    Raises:
        ValueError: if the state does not hold exactly one game.
    """

    def __init__(self, state: State, backend: Backend | None = None) -> None:
        if len(state) != 1:
            raise ValueError(f"an engine plays one game, not {len(state)}")
        self.state = state
        self.backend = backend
        self._phase, self._to_play = scalar.rows_of(state.phase, 0), scalar.rows_of(state.to_play, 0)

    def __reduce__(self) -> tuple[Any, ...]:
        return make_engine, (self.state,)

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        over: bool = self._phase[0] == OVER
        return over

    @property
    def to_play(self) -> int:
        """The seat to play; after the end, the seat that played last."""
        seat: int = self._to_play[0]
        return seat

    @abstractmethod
    def deal(self, seeds: Bits) -> None:
        """In place: fill all racks of a game in which nothing has been drawn.

        Args:
            seeds: [1] the game's seed.
        """

    @abstractmethod
    def play(self, action: int) -> bool:
        """In place: play an action if it is legal.

        Returns:
            Whether it was legal; if not, nothing has changed.
        """

    @abstractmethod
    def view(self, seat: int) -> View:
        """Return what a seat may know, the same as :func:`genial_env.core.views.view`."""

    def observe_planes(self, seat: int) -> tuple[dict[str, NDArray[Any]], NDArray[np.int8]] | None:
        """Return a seat's observation in the encoding "planes" and its mask [A], computed without a view.

        None: this engine has no such shortcut, and :meth:`view` is to be encoded.
        """
        return None


def make_engine(state: State) -> Engine:
    """Return the engine for a game: compiled if :func:`genial_env.backends.for_one_game` names a backend, else Python.

    If nobody has chosen that backend, and its functions are still to be compiled, the game begins in Python.

    Raises:
        ValueError: if the state does not hold exactly one game.
    """
    backend = backends.for_one_game()
    if backend is None:
        return PythonEngine(state)
    compiled = backends.compiled()
    if backends.is_chosen() or compiled.preparing.prepare():
        engine: Engine = compiled.CompiledEngine(state, backend)
        return engine
    return SwitchingEngine(state, backend)


class PythonEngine(Engine):
    """Runs :mod:`genial_env.core.scalar` in Python, on memoryviews of the arrays."""

    @cached_property
    def _games(self) -> scalar.Games:
        return scalar.memory_of(self.state)

    @cached_property
    def _facts(self) -> scalar.Facts:
        return scalar.memory_of_facts(self.state.rules)

    @cached_property
    def _tables(self) -> Tables:
        return self.state.tables

    @cached_property
    def _script(self) -> list[int]:
        """No scripted draws: random bits decide on every tile."""
        return [-1] * self.state.rules.rack

    def deal(self, seeds: Bits) -> None:
        """In place: fill all racks, seat by seat."""
        state = self.state
        state.key[:] = chance.seat_keys(seeds, chance.Purpose.DRAWS, state.rules.players)
        for seat in range(state.rules.players):
            scalar.fill_rack(self._games, self._facts, 0, seat, self._script)

    def play(self, action: int) -> bool:
        """In place: play an action if it is legal."""
        games, facts = self._games, self._facts
        if not scalar.is_legal(games, facts, 0, action):
            return False
        scalar.apply(games, facts, 0, action, self._script)
        return True

    def view(self, seat: int) -> View:
        """Return what a seat may know, with few calls of numpy."""
        state, rules, t, games, facts = self.state, self.state.rules, self._tables, self._games, self._facts
        own_turn = seat == self._to_play[0]
        seats = t.seats_from[seat]
        racks = state.racks.take(seats, axis=1)
        filled = racks != EMPTY
        unseen = state.bag.copy()
        scalar.add_hidden_tiles(games, facts, 0, seat, scalar.rows_of(unseen[0], 0))
        places_now = own_turn and scalar.may_place(games, 0)
        return View(
            rules=rules,
            seat=np.array([seat]),
            board=state.board.copy(),
            points=state.points.copy(),
            scores=state.scores.take(t.tracks_from[seat], axis=1),
            rack=racks[:, 0].copy(),
            unseen=unseen,
            returned=views.returned_tiles(state, ROW, seats[None]) if state.swapped[0] else state.returned.copy(),
            levels=state.levels.copy(),
            rack_sizes=np.add.reduce(filled, axis=2, dtype=np.int64),
            has_placed=state.has_placed.take(seats, axis=1),
            to_play=np.array([scalar.steps_to_mover(games, facts, 0, seat)]),
            phase=state.phase.copy(),
            pending_bonus=state.pending_bonus.copy(),
            slots=filled[:, 0].copy() if places_now else np.zeros((1, rules.rack), dtype=np.bool_),
            placements=self._placements(),
            may_swap=np.array([own_turn and scalar.may_swap(games, 0)]),
            may_decline=np.array([own_turn and scalar.may_decline(games, facts, 0)]),
        )

    def _placements(self) -> NDArray[np.bool_]:
        """Return the placements that are open to any tile of the seat to play, [1, E]."""
        if not scalar.is_bound_by_first_turn(self._games, self._facts, 0):
            return unpack(self.state.open, self._facts.n_placements)
        allowed = np.empty_like(self.state.open)
        scalar.find_allowed_placements(self._games, self._facts, 0, scalar.rows_of(allowed[0].view(np.int64), 0))
        return unpack(allowed, self._facts.n_placements)


class SwitchingEngine(Engine):
    """Plays in Python until the compiled functions are ready, and then in compiled code.

    Args:
        state: see :class:`Engine`.
        backend: the backend from then on.
    """

    def __init__(self, state: State, backend: Backend) -> None:
        super().__init__(state)
        self._later = backend
        self._engine: Engine = PythonEngine(state)

    def _choose(self) -> Engine:
        """Return the engine that plays now."""
        if self.backend is None and backends.compiled().preparing.is_ready():
            self._engine = backends.compiled().CompiledEngine(self.state, self._later)
            self.backend = self._later
        return self._engine

    def deal(self, seeds: Bits) -> None:
        """Fill all racks, in place."""
        self._choose().deal(seeds)

    def play(self, action: int) -> bool:
        """Play an action in place if it is legal; return whether it was."""
        return self._choose().play(action)

    def view(self, seat: int) -> View:
        """Return what a seat may know."""
        return self._choose().view(seat)

    def observe_planes(self, seat: int) -> tuple[dict[str, NDArray[Any]], NDArray[np.int8]] | None:
        """Return a seat's observation and mask without a view, if the engine that plays now can."""
        return self._choose().observe_planes(seat)
