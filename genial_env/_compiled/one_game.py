"""The engine of a single game in compiled code."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._compiled import core
from genial_env._compiled.handover import arrays, facts, no_script, scratch
from genial_env._compiled.implementations import deal_racks, grid_shape, plane_shapes, view_unchecked
from genial_env.backends import Backend
from genial_env.core.arrays import Bits
from genial_env.core.engine import ROW, Engine
from genial_env.core.state import State
from genial_env.core.views import View
from genial_env.encodings.planes import places


class CompiledEngine(Engine):
    """Plays in compiled code. The arrays are prepared for it once: to do so at every call takes longer than to play."""

    def __init__(self, state: State, backend: Backend) -> None:
        super().__init__(state, backend)
        rules = state.rules
        self._game = arrays(state), facts(rules)
        self._rules, self._n_actions = rules, state.tables.n_actions
        self._script, self._places = no_script(rules)[0], places(rules)
        self._flat, *self._shapes = plane_shapes(rules, core.Planes._fields)  # the board's planes are the first
        self._grid = grid_shape(rules)

    def deal(self, seeds: Bits) -> None:
        """In place: fill all racks."""
        deal_racks(1, self.state, ROW, seeds)

    def play(self, action: int) -> bool:
        """In place: play an action if it is legal."""
        legal: bool = core.play_one(*self._game, action, self._script)
        return legal

    def view(self, seat: int) -> View:
        """Return what a seat may know."""
        return view_unchecked(1, self.state, ROW, np.array([seat]))

    def observe_planes(self, seat: int) -> tuple[dict[str, NDArray[Any]], NDArray[np.int8]]:
        """Return a seat's observation in the encoding "planes" and its mask [A], computed without a view."""
        zeros, number = np.zeros, np.uint8
        board, made = zeros(self._grid, number), [zeros(shape, number) for shape in self._shapes]
        mask = np.empty(self._n_actions, np.int8)
        out = board.reshape(self._flat), *made
        core.observe_one(*self._game, scratch(self._rules), self._places, seat, out, mask)
        planes = dict(zip(core.Planes._fields, (board, *made), strict=True))
        if not self._rules.has_swap:
            del planes["returned"], planes["levels"]
        return planes, mask
