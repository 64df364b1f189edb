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
from genial_env.render.theme import COLORS

RGB = {letter: tuple(bytes.fromhex(color[1:])) for letter, color in COLORS.items()}
"""The tiles' colors; letters stand beside them, so that nobody needs to tell the colors apart."""

_DARK_TEXT = "GOYP"
_PRINTED_GROUND = "22;22;26"
_DECISIONS = {
    Phase.PLACE: "lays a tile",
    Phase.BONUS: "lays a bonus tile",
    Phase.SWAP: "may swap the rack",
    Phase.OVER: "the game is over",
}


def wants_color(on: TextIO | None = None) -> bool:
    """Whether text should be colored: not where the environment variable NO_COLOR is set to anything, nor on what is no
    terminal, nor on one that knows no commands (TERM=dumb).

    Args:
        on: where it goes; None: nobody knows yet.
    """
    is_dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown")
    return not os.environ.get("NO_COLOR") and (on is None or (on.isatty() and not is_dumb))


def board_text(
    state: State,
    row: int = 0,
    color: bool = True,
    last: Collection[Cell] | None = None,
    seat: int | None = None,
    named: bool = False,
) -> str:
    """One game as text: the board, whose decision it is, the markers, the racks.

    Args:
        state: the games.
        row: which of them.
        color: ANSI true color; without it plain letters, the same layout.
        last: cells (q, r) to stand out in brackets.
        seat: the seat that looks on and sees no rack but its own; None sees all.
        named: every cell by its name, as :func:`named_text` has it.
    """
    board = _board(state, row, color, last, named)
    return "\n".join(
        [*board, "", decision_words(state, row), *_tracks(state, row, color), *_racks(state, row, color, seat)]
    )


def named_text(state: State, row: int = 0, color: bool = True, last: Collection[Cell] | None = None) -> str:
    """One game as text for people who play: the board, every cell by a name that can be typed, and the markers.

    A cell's name (:func:`genial_env.core.actions.cell_name`) is the letter at both ends of its row and the number that
    stands on it while it is free.

    Args:
        state: the games.
        row: which of them.
        color: ANSI true color; without it plain letters, the same layout.
        last: cells (q, r) to stand out in brackets.
    """
    return "\n".join([*_board(state, row, color, last, named=True), "", *_tracks(state, row, color)])


def rack_text(state: State, seat: int, row: int = 0, color: bool = True) -> str:
    """A seat's rack as a line, each tile behind the number of its slot; empty slots are left out."""
    held = [(slot, kind) for slot, kind in enumerate(state.racks[row, seat].tolist()) if kind != EMPTY]
    return "  ".join([f"rack {seat}", *(f"{slot}:{_tile(state, kind, color)}" for slot, kind in held)])


def describe(view: View, color: bool = False) -> str:
    """What a seat may know, as text for a person: the position with its own rack, the tiles it has not seen, and those
    that swaps have shown since the others drew. Several games are set apart by two empty lines.

    Args:
        view: G games.
        color: ANSI true color; without it plain letters, the same layout.
    """
    state = determinize(view, np.zeros(len(view), dtype=np.uint64))  # shows no more than the view does
    return "\n\n\n".join(
        "\n".join(
            [
                board_text(state, row, color, seat=int(view.seat[row])),
                _counts("unseen", view, view.unseen[row].tolist()),
                *_put_back(view, row),
            ]
        )
        for row in range(len(view))
    )


def _put_back(view: View, row: int) -> list[str]:
    """A line for each rack with slots that were filled before tiles came back to the bag, so that they hold none of
    those.
    """
    lines = []
    for other in range(1, view.rules.players):
        by_tile = view.returned[row, other]
        if by_tile.any():
            holder = (int(view.seat[row]) + other) % view.rules.players
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
    """One row of hexes: free cells are dots, printed symbols small letters."""
    free = (" · ", "[·]")
    cells = (_cell(state, row, color, last, cell) or free[cell in last] for cell in _row_of_cells(state, r))
    return (" " * (2 * abs(r)) + " ".join(cells)).rstrip()


def _named_line(state: State, row: int, color: bool, last: Collection[Cell], r: int) -> str:
    """The same with the row's letter at both ends, and free cells as their numbers in the row."""
    cells = [
        _cell(state, row, color, last, cell) or _dim(f"{number:2d} ", color)
        for number, cell in enumerate(_row_of_cells(state, r), 1)
    ]
    letter = cell_name(state.rules, _row_of_cells(state, r)[0])[0]
    return f"{' ' * (2 * abs(r))}{_dim(f'{letter}|', color)}{' '.join(cells)}{_dim(f'|{letter}', color)}"


def _row_of_cells(state: State, r: int) -> list[Cell]:
    """The cells of a row from the left."""
    side = state.rules.side
    return [(q, r) for q in range(max(1 - side, 1 - side - r), min(side, side - r))]


def _cell(state: State, row: int, color: bool, last: Collection[Cell], cell: Cell) -> str:
    """A covered cell; nothing for a free one."""
    t = state.tables
    number = t.cell_index[cell]
    what = int(state.board[row, number])
    if what == FREE:
        return ""
    letter, is_start_symbol = COLOR_LETTERS[what], number in t.start_symbols
    left, right = "[]" if cell in last else "  "
    return _paint(f"{left}{letter.lower() if is_start_symbol else letter}{right}", letter, color, is_start_symbol)


def decision_words(state: State, row: int) -> str:
    """Whose decision a game waits for and which, as a line."""
    phase = Phase(int(state.phase[row]))
    if phase == Phase.OVER:
        return f"{_DECISIONS[phase]}; {int(state.bag[row].sum())} tiles left in the bag"
    pending_bonus = int(state.pending_bonus[row])
    more = f" ({pending_bonus} owed)" if phase == Phase.BONUS else ""
    left = int(state.bag[row].sum())
    return f"seat {int(state.to_play[row])} {_DECISIONS[phase]}{more}; {left} tiles in the bag"


def _tracks(state: State, row: int, color: bool) -> list[str]:
    """A line a track: every marker, then all of them sorted, which is what counts."""
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
    """A track as people call it."""
    return f"team {track}" if rules.mode == "team" else f"seat {track}"


def _racks(state: State, row: int, color: bool, seat: int | None) -> list[str]:
    """A line a rack; what the onlooker may not see are question marks."""
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
    """What helps to find one's way, and is no tile."""
    return f"\x1b[2m{text}\x1b[0m" if color else text


def _paint(text: str, letter: str, color: bool, is_start_symbol: bool = False) -> str:
    """A tile filled with its color, a printed symbol in its color on a dark ground."""
    if not color:
        return text
    red_green_blue = ";".join(map(str, RGB[letter]))
    if is_start_symbol:
        return f"\x1b[1;38;2;{red_green_blue};48;2;{_PRINTED_GROUND}m{text}\x1b[0m"
    foreground = "30" if letter in _DARK_TEXT else "97"
    return f"\x1b[{foreground};48;2;{red_green_blue}m{text}\x1b[0m"
