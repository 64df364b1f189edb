"""The lines of one color on a board, against a walk from cell to cell."""

import numpy as np
import pytest

from genial_env import Rules, play
from genial_env.core.hexgrid import DIRECTIONS
from genial_env.core.state import FREE, State
from genial_env.records import replay
from genial_env.render.lines import run_lengths


def walk(state: State, cell: int, direction: int) -> int:
    """Count the cells of the neighbour's color one by one."""
    t, board = state.tables, state.board[0]
    (q, r), (dq, dr) = t.cells[cell].tolist(), DIRECTIONS[direction]
    colors = []
    while (number := t.cell_index.get((q := q + dq, r := r + dr))) is not None:
        colors.append(int(board[number]))
    if not colors or colors[0] == FREE:
        return 0
    return next((length for length, color in enumerate(colors) if color != colors[0]), len(colors))


@pytest.mark.parametrize("rules", [Rules(), Rules(side=3, colors=2, rack=2, tile_sets=3)], ids=str)
def test_run_lengths(rules: Rules) -> None:
    (record,) = play(["greedy", "greedy"], rules, seed=1, record=True).records or []
    state = replay(record)
    expected = [[walk(state, cell, direction) for direction in range(6)] for cell in range(state.tables.n_cells)]
    assert np.array_equal(run_lengths(state.tables, state.board[0]), expected)
    assert np.max(expected) > 1
