"""Compiled implementation of :mod:`genial_env.policies.afterstates.lines`, which computes the same numbers."""

import numpy as np

from genial_env._compiled.feature_buffers import Buffers
from genial_env._compiled.jit import helper
from genial_env._compiled.layout import N_PATTERNS, size_of_color, start_of_lines
from genial_env._compiled.primitives import Array, fill, table
from genial_env.core.scalar import Facts, Games
from genial_env.core.state import FREE
from genial_env.policies.afterstates.lines import LENGTH

OFF_BOARD = -2
"""In the place of a color."""


@helper
def count_patterns(o: Games, t: Facts, r: Buffers, out: Array) -> None:
    """Write how many parts of lines have each pattern in the one game to out [W]."""
    if len(r.parts) == 0:
        return
    colors, start = table(out, 0, size_of_color(t)), start_of_lines(t)
    for color in range(t.n_colors):
        fill(colors[color, start : start + N_PATTERNS], 0)
    for part in range(len(r.parts)):
        add_part(o, t, r, part, 1, out)


@helper
def recount_patterns(p: Games, o: Games, t: Facts, r: Buffers, first: int, second: int, out: Array) -> None:
    """Bring the numbers of parts in out [W] up to date, which are those of the game `p`.

    The game `o` is the same one after a placement on two cells.
    """
    if len(r.parts) == 0:
        return
    for half in range(2):
        for i in range(r.parts_of.shape[1]):
            part = np.int64(r.parts_of[second if half else first, i])
            if part < 0:
                break
            if half and is_of_part(r, part, first):
                continue
            add_part(p, t, r, part, -1, out)
            add_part(o, t, r, part, 1, out)


@helper
def is_of_part(r: Buffers, part: int, cell: int) -> bool:
    """Return whether a cell is one of a part."""
    found = False
    for place in range(LENGTH):
        found |= r.parts[part, place] == cell
    return found


@helper
def add_part(o: Games, t: Facts, r: Buffers, part: int, times: int, out: Array) -> None:
    """Add a part of a line of the one game to the numbers in out [W], 1 or -1 times, for each color in it."""
    colors, start, code = table(out, 0, size_of_color(t)), start_of_lines(t), np.int64(0)
    for place in range(LENGTH):
        cell = np.int64(r.parts[part, place])
        color = np.int64(o.board[0, cell]) if cell >= 0 else OFF_BOARD
        r.part[place] = color
        code = code * 3 + (0 if color == FREE else 2)
    for place in range(LENGTH):
        color = np.int64(r.part[place])
        if color < 0:
            continue
        own, weight, is_new = code, np.int64(1), True
        for other in range(LENGTH - 1, -1, -1):
            if r.part[other] == color:
                own -= weight
                is_new &= other >= place
            weight *= 3
        if is_new:
            colors[color, start + r.pattern_of[own]] += times
