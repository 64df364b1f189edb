"""One game in compiled code."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._compiled import core
from genial_env._compiled.handover import arrays, facts, no_script, scratch
from genial_env._compiled.implementations import grid_shape, plane_shapes
from genial_env.core.state import State
from genial_env.encodings.planes import places


class OneGame:
    """One game, handed over once and not at every call, which for one game would take longer than playing.

    Args:
        state: of one game; its arrays must not be replaced.
    """

    def __init__(self, state: State) -> None:
        rules = state.rules
        self._game = arrays(state), facts(rules)
        self._rules, self._n_actions = rules, state.tables.n_actions
        self._script, self._places = no_script(rules)[0], places(rules)
        self._flat, *self._shapes = plane_shapes(rules, core.Planes._fields)  # the board's planes are the first
        self._grid = grid_shape(rules)

    def apply(self, action: int) -> bool:
        """In place: play an action if it is legal; whether it was."""
        fine: bool = core.play_one(*self._game, action, self._script)
        return fine

    def observe(self, seat: int) -> tuple[dict[str, NDArray[Any]], NDArray[np.int8]]:
        """What a seat sees in the encoding "planes", and its mask [A], without a view in between."""
        zeros, number = np.zeros, np.uint8
        board, made = zeros(self._grid, number), [zeros(shape, number) for shape in self._shapes]
        mask = np.empty(self._n_actions, np.int8)
        out = board.reshape(self._flat), *made
        core.observe_one(*self._game, scratch(self._rules), self._places, seat, out, mask)
        planes = dict(zip(core.Planes._fields, (board, *made), strict=True))
        if not self._rules.has_swap:
            del planes["returned"], planes["levels"]
        return planes, mask
