"""A position as text: in true color for terminals, or plain."""

import os
from collections.abc import Collection
from typing import TextIO

import numpy as np

from genial_env.core.actions import Cell, cell_name, tile_name
from genial_env.core.determinization import determinize
from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.state import EMPTY, FREE, Phase, State
from genial_env.core.views import View
from genial_env.render import theme

__all__ = [
    "RGB",
    "board_text",
    "describe",
    "describe_turn",
    "is_dumb",
    "named_text",
    "rack_text",
    "track_name",
    "wants_color",
]

RGB = {letter: tuple(bytes.fromhex(color[1:])) for letter, color in theme.COLORS.items()}
"""The colors of tiles as (red, green, blue). Letters stand on them, so nobody needs to tell colors apart."""

_START_SYMBOL_GROUND = ";".join(map(str, bytes.fromhex(theme.START_SYMBOL_GROUND[1:])))
_DECISIONS = {
    Phase.PLACE: "lays a tile",
    Phase.BONUS: "lays a bonus tile",
    Phase.SWAP: "may swap the rack",
    Phase.OVER: "the game is over",
}


def wants_color(on: TextIO | None = None) -> bool:
    """Return whether text should be colored.

    It should not if the environment variable NO_COLOR is set, if the terminal has no colors (TERM=dumb), or if the text
    goes to something that is not a terminal.

    Args:
        on: the stream that the text goes to; None if it is not known.
    """
    return not os.environ.get("NO_COLOR") and not is_dumb() and (on is None or on.isatty())


def is_dumb() -> bool:
    """Return whether the terminal has no control sequences."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def board_text(
    state: State,
    row: int = 0,
    color: bool = True,
    last: Collection[Cell] | None = None,
    seat: int | None = None,
    named: bool = False,
) -> str:
    """Return one game as text: the board, the decision to be made, the markers, the racks.

    Args:
        state: the games.
        row: the index of the game.
        color: whether to use ANSI true color; the layout is the same without.
        last: cells (q, r) that are put in brackets.
        seat: the seat whose rack is shown; None for all racks.
        named: whether the names of the cells are shown, as in :func:`named_text`.
    """
    board = _board(state, row, color, last, named)
    return "\n".join(
        [*board, "", describe_turn(state, row), *_tracks(state, row, color), *_racks(state, row, color, seat)]
    )


def named_text(state: State, row: int = 0, color: bool = True, last: Collection[Cell] | None = None) -> str:
    """Return one game as text for a person who plays: the board with the names of its cells, and the markers.

    The name of a cell (:func:`genial_env.core.actions.cell_name`) is the letter at both ends of its row, and the number
    that stands on the cell while it is free.

    Args:
        state: the games.
        row: the index of the game.
        color: whether to use ANSI true color; the layout is the same without.
        last: cells (q, r) that are put in brackets.
    """
    return "\n".join([*_board(state, row, color, last, named=True), "", *_tracks(state, row, color)])


def rack_text(state: State, seat: int, row: int = 0, color: bool = True) -> str:
    """Return the rack of a seat as a line, each tile after the number of its slot. Empty slots are left out."""
    held = [(slot, kind) for slot, kind in enumerate(state.racks[row, seat].tolist()) if kind != EMPTY]
    return "  ".join([f"rack {seat}", *(f"{slot}:{_tile(state, kind, color)}" for slot, kind in held)])


def describe(view: View, color: bool = False, named: bool = False) -> str:
    """Return what a seat knows as text: the position with its rack, the tiles it has not seen, and what swaps tell.

    A swap tells that older slots of other racks hold none of the returned tiles. Two empty lines separate games.

    Args:
        view: G games.
        color: whether to use ANSI true color; the layout is the same without.
        named: whether the names of the cells are shown, as in :func:`named_text`.
    """
    state = determinize(view, np.zeros(len(view), dtype=np.uint64))  # equal to the view in all that is shown
    return "\n\n\n".join(
        "\n".join(
            [
                board_text(state, row, color, seat=int(view.seat[row]), named=named),
                _counts("unseen", view, view.unseen[row].tolist()),
                *_put_back(view, row),
            ]
        )
        for row in range(len(view))
    )


def _put_back(view: View, row: int) -> list[str]:
    """Return a line for each other rack with slots that were filled before a swap returned tiles to the bag.

    These slots hold none of the returned tiles.
    """
    lines = []
    for other in range(1, view.rules.players):
        by_tile = view.returned[row, other]
        if by_tile.any():
            holder = int(view.tables.seats_from[view.seat[row], other])
            older = int(by_tile.any(axis=1).sum())
            what = f"rack {holder}: its {older} oldest tiles are older than what came back to the bag:"
            lines.append(_counts(what, view, by_tile.max(axis=0).tolist()))
    return lines


def _counts(title: str, view: View, counts: list[int]) -> str:
    tiles = [f"{tile_name(view.rules, kind)} {count}" for kind, count in enumerate(counts) if count]
    return f"{title}  {'  '.join(tiles)}"


def _board(state: State, row: int, color: bool, last: Collection[Cell] | None, named: bool) -> list[str]:
    line = _named_line if named else _board_line
    return [line(state, row, color, last or (), r) for r in range(1 - state.rules.side, state.rules.side)]


def _board_line(state: State, row: int, color: bool, last: Collection[Cell], r: int) -> str:
    """Return one row of cells. Free cells are dots, printed symbols are small letters."""
    free = (" · ", "[·]")
    cells = (_cell(state, row, color, last, cell) or free[cell in last] for cell in _row_of_cells(state, r))
    return (" " * (2 * abs(r)) + " ".join(cells)).rstrip()


def _named_line(state: State, row: int, color: bool, last: Collection[Cell], r: int) -> str:
    """Return one row of cells with its letter at both ends. Free cells are their numbers in the row."""
    cells = [
        _cell(state, row, color, last, cell) or _dim(f"{number:2d} ", color)
        for number, cell in enumerate(_row_of_cells(state, r), 1)
    ]
    letter = cell_name(state.rules, _row_of_cells(state, r)[0])[0]
    return f"{' ' * (2 * abs(r))}{_dim(f'{letter}|', color)}{' '.join(cells)}{_dim(f'|{letter}', color)}"


def _row_of_cells(state: State, r: int) -> list[Cell]:
    """Return the cells of a row from the left."""
    return [(cell_q, cell_r) for cell_q, cell_r in state.tables.cells.tolist() if cell_r == r]


def _cell(state: State, row: int, color: bool, last: Collection[Cell], cell: Cell) -> str:
    """Return a covered cell; "" for a free one."""
    t = state.tables
    number = t.cell_index[cell]
    what = int(state.board[row, number])
    if what == FREE:
        return ""
    letter, is_start_symbol = COLOR_LETTERS[what], number in t.start_symbols
    left, right = "[]" if cell in last else "  "
    return _paint(f"{left}{letter.lower() if is_start_symbol else letter}{right}", letter, color, is_start_symbol)


def describe_turn(state: State, row: int) -> str:
    """Return a line that says which decision a game waits for, and whose it is."""
    phase = Phase(int(state.phase[row]))
    if phase == Phase.OVER:
        return f"{_DECISIONS[phase]}; {int(state.bag[row].sum())} tiles left in the bag"
    pending_bonus = int(state.pending_bonus[row])
    more = f" ({pending_bonus} pending)" if phase == Phase.BONUS else ""
    left = int(state.bag[row].sum())
    return f"seat {int(state.to_play[row])} {_DECISIONS[phase]}{more}; {left} tiles in the bag"


def _tracks(state: State, row: int, color: bool) -> list[str]:
    """Return a line for each track: every marker by color, then the markers sorted, which decide the rank."""
    lines = []
    for track, markers in enumerate(state.scores[row].tolist()):
        name = track_name(state.rules, track)
        shown = " ".join(
            _paint(f" {letter} {marker:2d} ", letter, color)
            for letter, marker in zip(COLOR_LETTERS, markers, strict=False)
        )
        lines.append(f"{name}  {shown}   sorted {' '.join(map(str, sorted(markers)))}")
    return lines


def track_name(rules: Rules, track: int) -> str:
    """Return the name of a track: "seat 0", in team mode "team 0"."""
    return f"team {track}" if rules.mode == "team" else f"seat {track}"


def _racks(state: State, row: int, color: bool, seat: int | None) -> list[str]:
    """Return a line for each rack. Hidden tiles are question marks."""
    lines = []
    for holder, rack in enumerate(state.racks[row].tolist()):
        hidden = seat is not None and holder != seat
        tiles = ["??" if hidden and kind != EMPTY else _tile(state, kind, color) for kind in rack]
        lines.append(f"rack {holder}  {' '.join(tiles)}")
    return lines


def _tile(state: State, kind: int, color: bool) -> str:
    if kind == EMPTY:
        return "--"
    return "".join(_paint(COLOR_LETTERS[half], COLOR_LETTERS[half], color) for half in state.tables.kinds[kind])


def _dim(text: str, color: bool) -> str:
    """Return text in faint letters."""
    return f"\x1b[2m{text}\x1b[0m" if color else text


def _paint(text: str, letter: str, color: bool, is_start_symbol: bool = False) -> str:
    """Return text on a color; for a printed symbol, in the color on dark ground."""
    if not color:
        return text
    red_green_blue = ";".join(map(str, RGB[letter]))
    if is_start_symbol:
        return f"\x1b[1;38;2;{red_green_blue};48;2;{_START_SYMBOL_GROUND}m{text}\x1b[0m"
    foreground = "30" if letter in theme.DARK_TEXT else "97"
    return f"\x1b[{foreground};48;2;{red_green_blue}m{text}\x1b[0m"
