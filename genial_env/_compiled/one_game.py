"""One game in compiled code."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._compiled import observing, playing
from genial_env._compiled.handover import arrays, facts, no_script, scratch
from genial_env._compiled.implementations import flatten_grid
from genial_env.core.state import State
from genial_env.encodings.planes import PLANE_SPECS, Planes, grid_index, plane_shapes


class OneGame:
    """One game whose arrays are passed to compiled code once, not at every call, which would take longer than playing.

    Args:
        state: of one game; its arrays must not be replaced.
    """

    def __init__(self, state: State) -> None:
        rules = state.rules
        self._game = arrays(state), facts(rules)
        self._rules, self._n_actions = rules, state.tables.n_actions
        self._script, self._grid_index = no_script(rules)[0], grid_index(rules)
        self._shapes = tuple(plane_shapes(rules).values())
        fields = Planes().fields(rules)
        self._fields = [(number, name) for number, name in enumerate(PLANE_SPECS) if name in fields]

    def apply(self, action: int) -> bool:
        """Play an action in place if it is legal; return whether it was."""
        fine: bool = playing.play_one(*self._game, action, self._script)
        return fine

    def observe(self, seat: int) -> tuple[dict[str, NDArray[Any]], NDArray[np.int8]]:
        """Return what a seat sees in the encoding "planes", and its mask [A], without making a view."""
        zeros, number = np.zeros, np.uint8
        made = [zeros(shape, number) for shape in self._shapes]
        mask = np.empty(self._n_actions, np.int8)
        out = flatten_grid(made[0]), *made[1:]  # the planes of the board come first
        observing.observe_one(*self._game, scratch(self._rules), self._grid_index, seat, out, mask)
        return {name: made[number] for number, name in self._fields}, mask
