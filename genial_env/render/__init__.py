"""Show a position: as text for terminals, as a vector drawing, as pixels."""

import sys
from collections.abc import Sequence
from typing import Any

from genial_env.core.state import State
from genial_env.render import notebook, pixels
from genial_env.render.ansi import board_text, wants_color
from genial_env.render.svg import Move, position_svg

__all__ = ["RENDER_MODES", "check_mode", "draw"]

RENDER_MODES = ["human", "ansi", "svg", "rgb_array"]
"""The render modes of environments; :func:`draw` describes them."""


def check_mode(mode: str | None, modes: Sequence[str] = RENDER_MODES) -> None:
    """Check a render mode; None is allowed.

    Raises:
        ValueError: if it is not one of the modes.
    """
    if mode is not None and mode not in modes:
        raise ValueError(f"unknown render mode {mode!r}: the modes are None, {', '.join(modes)}")


def draw(
    mode: str,
    state: State,
    row: int = 0,
    seat: int | None = None,
    names: Sequence[str] | None = None,
    move: Move | None = None,
) -> Any:
    """Return a position as a render mode defines it.

    ===============  ==========================================================================================
    ``ansi``         text in true color, in plain letters with NO_COLOR or TERM=dumb
    ``svg``          a vector drawing (:func:`~genial_env.render.svg.position_svg`), as text
    ``rgb_array``    the same as uint8 [height, width, 3]; needs the extra `render`, and no display
    ``human``        None: shown in the notebook's cell, where one runs, else printed as text, in color on a terminal
    ===============  ==========================================================================================

    Args:
        mode: the mode.
        state: the games.
        row: the index of the game.
        seat: the seat whose rack is shown; None for all racks.
        names: the names of the seats.
        move: the last tile, which is highlighted.

    Raises:
        ImportError: if the mode is "rgb_array" and the extra is not installed.
    """
    if mode in ("svg", "rgb_array") or (mode == "human" and notebook.is_running()):
        drawing = position_svg(state, row, seat=seat, names=names, move=move)
        if mode == "svg":
            return drawing
        return pixels.rgb_array(drawing) if mode == "rgb_array" else notebook.show(drawing)
    last = (move.first, move.second) if move else ()
    if mode == "ansi":
        return board_text(state, row, wants_color(), last, seat)
    print(board_text(state, row, wants_color(on=sys.stdout), last, seat), end="\n\n")
    return None
