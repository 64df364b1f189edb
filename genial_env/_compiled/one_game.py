"""The engine of a single game in compiled code."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._compiled import observing, playing
from genial_env._compiled.handover import arrays, facts, no_script
from genial_env._compiled.implementations import deal_racks, flatten_grid, view_unchecked
from genial_env._compiled.scratch import scratch
from genial_env.backends import Backend
from genial_env.core.arrays import Bits
from genial_env.core.engine import ROW, Engine
from genial_env.core.state import State
from genial_env.core.views import View
from genial_env.encodings.planes import PLANE_SPECS, Planes, grid_index, plane_shapes


class CompiledEngine(Engine):
    """Plays in compiled code. The arrays are prepared for it once: to do so at every call takes longer than to play."""

    def __init__(self, state: State, backend: Backend) -> None:
        super().__init__(state, backend)
        rules = state.rules
        self._game = arrays(state), facts(rules)
        self._rules, self._n_actions = rules, state.tables.n_actions
        self._script, self._grid_index = no_script(rules)[0], grid_index(rules)
        self._shapes = tuple(plane_shapes(rules).values())
        fields = Planes().fields(rules)
        self._fields = [(number, name) for number, name in enumerate(PLANE_SPECS) if name in fields]

    def deal(self, seeds: Bits) -> None:
        """Fill all racks, in place."""
        deal_racks(1, self.state, ROW, seeds)

    def play(self, action: int) -> bool:
        """Play an action in place if it is legal; return whether it was."""
        legal: bool = playing.play_one(*self._game, action, self._script)
        return legal

    def view(self, seat: int) -> View:
        """Return what a seat may know."""
        return view_unchecked(1, self.state, ROW, np.array([seat]))

    def observe_planes(self, seat: int) -> tuple[dict[str, NDArray[Any]], NDArray[np.int8]]:
        """Return a seat's observation in the encoding "planes" and its mask [A], computed without a view."""
        zeros, number = np.zeros, np.uint8
        made = [zeros(shape, number) for shape in self._shapes]
        mask = np.empty(self._n_actions, np.int8)
        out = flatten_grid(made[0]), *made[1:]  # the planes of the board come first
        observing.observe_one(*self._game, scratch(self._rules), self._grid_index, seat, out, mask)
        return {name: made[number] for number, name in self._fields}, mask
