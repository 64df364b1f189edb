"""Draw a position as SVG: the board, the marker tracks, the racks.

A drawing is one SVG of shapes and text, without styles, scripts or fonts from elsewhere. So it looks the same on a
page, in a notebook and as a picture (:mod:`genial_env.render.pixels`). Lengths are in pixels.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from genial_env.core import hexgrid
from genial_env.core.actions import Cell, cell_name, tile_name
from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.state import EMPTY, FREE, State
from genial_env.core.tables import tables
from genial_env.render import theme
from genial_env.render._shapes import (
    DISC,
    FONT,
    HEX,
    centre,
    draw_half,
    draw_hexagon,
    draw_text,
    draw_tile,
    make_document,
    num,
    use,
)
from genial_env.render.ansi import describe_turn, track_name
from genial_env.render.lines import Line, scoring_lines

__all__ = [
    "DISC",
    "FONT",
    "HEX",
    "Move",
    "Notes",
    "around",
    "board_svg",
    "centre",
    "markers_svg",
    "position_svg",
    "rack_svg",
    "tile_svg",
]


_MARGIN, _GAP = 12.0, 16.0
_PANEL_WIDTH, _PANEL_HEAD = 300.0, 24.0
_TRACK_ROW, _TRACK_LEFT, _TRACK_RIGHT = 15.0, 20.0, 34.0
_SCALE, _SUM_WIDTH = 15.0, 50.0
_RACK_HEX = 10.5
_RACK_ROW = 2 * _RACK_HEX + 8
_FOOT = 22.0
_EDGE = 14.0  # beside a board, for the names of its rows


@dataclass(frozen=True)
class Notes:
    """Additions that are drawn on a board."""

    last: tuple[Cell, ...] = ()
    """cells with a bright border, for example those of the last move"""
    lines: tuple[Line, ...] = ()
    """scoring lines, with their points at the end"""
    ghosts: Mapping[Cell, str] = field(default_factory=dict)
    """color letters of halves that are not on the board, drawn half transparent"""
    labels: Mapping[Cell, str] = field(default_factory=dict)
    """short texts on cells"""


@dataclass(frozen=True)
class Move:
    """A tile on the board. Its first half lies on the cell `first`, its second half on `second`, both (q, r)."""

    first: Cell
    second: Cell

    def notes(self, state: State, row: int = 0) -> Notes:
        """Return its cells and the lines that it scored. The tile must be on the board."""
        return Notes((self.first, self.second), tuple(scoring_lines(state, row, self.first, self.second)))


def board_svg(
    state: State,
    row: int = 0,
    notes: Notes | None = None,
    width: float | None = None,
    only: Collection[Cell] | None = None,
    *,
    cell_names: bool = False,
) -> str:
    """Return a drawing of the board. Every cell is a group of the class "cell" with its number in `data-cell`.

    Args:
        state: the games.
        row: the index of the game.
        notes: additions that are drawn on the board.
        width: the width in pixels; None for 40 pixels between opposite corners of a cell.
        only: the cells (q, r) to draw, for example those of :func:`around`; None for all.
        cell_names: whether the names of cells are drawn, as :func:`genial_env.core.actions.cell_name` makes them: the
            letter at both ends of each row, the number on each free cell.

    Raises:
        ValueError: if `only` is empty or has a cell that is off the board.
    """
    everything = state.tables.cell_index
    shown = everything if only is None else set(only)
    if not shown or not all(cell in everything for cell in shown):
        raise ValueError(f"only must name cells of a board of side {state.rules.side}, not {sorted(shown)}")
    points = [centre(cell) for cell in shown]
    left, right = (end(x for x, _ in points) for end in (min, max))
    top, bottom = (end(y for _, y in points) for end in (min, max))
    across = right - left + math.sqrt(3) * HEX + 2 + 2 * _EDGE * cell_names
    down = bottom - top + 2 * HEX + 2
    origin = (across / 2 - (left + right) / 2, down / 2 - (top + bottom) / 2)
    drawn = _board(state, row, notes or Notes(), origin, shown, cell_names)
    words = f"The board of {_board_words(state, row)}"
    return make_document(across, down, drawn, words, width, paper=False)


def around(rules: Rules, cells: Collection[Cell], reach: int = 1) -> set[Cell]:
    """Return the cells (q, r) of the board that are at most `reach` steps away from one of some cells."""
    steps = [(dq, dr) for dq, dr in hexgrid.cells(reach + 1).tolist()]
    return {_beside(cell, step) for cell in cells for step in steps} & tables(rules).cell_index.keys()


def markers_svg(
    state: State,
    row: int = 0,
    track: int = 0,
    *,
    letters: Collection[str] | None = None,
    moved: Mapping[str, tuple[int, int]] | None = None,
    marked: Collection[str] = (),
    width: float | None = None,
) -> str:
    """Return a drawing of the markers of a track, under a scale with their stops.

    Args:
        state: the games.
        row: the index of the game.
        track: the track.
        letters: the letters of the colors to draw; None for all.
        moved: for a color letter, where the marker stood before and the points that it got. Its way is drawn, and the
            sum is written beside it.
        marked: the letters of markers that are highlighted.
        width: the width in pixels; None for the width that the markers have beside a board.
    """
    rules, moved = state.rules, moved or {}
    across = _PANEL_WIDTH + (_SUM_WIDTH if moved else 0)
    parts = [
        draw_text(_at(stop, rules), 11, str(stop), 10, anchor="middle", fill=theme.FAINT) for stop in (0, *rules.stops)
    ]
    shown = [color for color in range(rules.colors) if letters is None or COLOR_LETTERS[color] in letters]
    for line, color in enumerate(shown):
        letter, y = COLOR_LETTERS[color], _SCALE + _TRACK_ROW * (line + 0.5)
        if letter in marked:
            edge = f'width="{num(across - 4)}" height="{num(_TRACK_ROW)}" fill="none" stroke="{theme.MARK}"'
            parts.append(f'<rect class="marked" x="2" y="{num(y - _TRACK_ROW / 2)}" rx="4" stroke-width="1.6" {edge}/>')
        parts.append(_marker(rules, color, int(state.scores[row, track, color]), y, moved.get(letter)))
    words = f"The markers of {track_name(rules, track)}"
    return make_document(across, _SCALE + _TRACK_ROW * len(shown) + 2, "".join(parts), words, width, paper=False)


def rack_svg(
    state: State,
    row: int = 0,
    seat: int = 0,
    *,
    hidden: bool = False,
    marked: Collection[str] = (),
    width: float | None = None,
) -> str:
    """Return a drawing of a rack, with outlines for empty slots. Every slot is a group of the class "slot".

    Args:
        state: the games.
        row: the index of the game.
        seat: the seat.
        hidden: whether the tiles lie face down.
        marked: color letters; tiles with one of them are highlighted.
        width: the width in pixels; None for 40 pixels a slot.
    """
    wide, high, parts = 40.0, 2 * _RACK_HEX + 6, []
    for slot, kind in enumerate(state.racks[row, seat].tolist()):
        name = "--" if kind == EMPTY else "??" if hidden else tile_name(state.rules, kind)
        drawn = draw_tile(name, wide * (slot + 0.5), high / 2, _RACK_HEX)
        if set(name) & set(marked):
            edge = f'width="{num(wide)}" height="{num(high - 2)}" fill="none" stroke="{theme.MARK}" stroke-width="1.6"'
            drawn += f'<rect class="marked" x="{num(wide * slot)}" y="1" rx="4" {edge}/>'
        parts.append(f'<g class="slot" data-slot="{slot}">{drawn}</g>')
    across = wide * state.rules.rack
    return make_document(across, high, "".join(parts), f"The rack of seat {seat}", width, paper=False)


def position_svg(
    state: State,
    row: int = 0,
    *,
    seat: int | None = None,
    names: Sequence[str] | None = None,
    move: Move | None = None,
    unseen: Sequence[int] = (),
    caption: str = "",
    width: float | None = None,
    cell_names: bool = False,
) -> str:
    """Return a drawing of a position: the board, the decision to be made, and for each track its markers and racks.

    Args:
        state: the games.
        row: the index of the game.
        seat: the seat whose rack is shown; None for all racks.
        names: the names of the seats; None for none.
        move: the last tile, which is highlighted with the lines that it scored.
        unseen: for each kind of tile how many the seat has not seen; they are drawn below. Empty for none.
        caption: a text below.
        width: the width in pixels; None for cells as in :func:`board_svg`.
        cell_names: as in :func:`board_svg`.

    Raises:
        ValueError: if the number of names is not the number of seats, or the cells of the move are free.
    """
    rules = state.rules
    if names is not None and len(names) != rules.players:
        raise ValueError(f"names must be {rules.players}, one a seat, not {len(names)}")
    across, down = _board_size(rules)
    across += 2 * _EDGE * cell_names
    panels = [_Panel(state, row, track, seat, names) for track in range(rules.tracks)]
    beside = sum(panel.height for panel in panels) + _GAP * (len(panels) - 1)
    lines = [(words[0].upper() + words[1:], "") for words in (describe_turn(state, row), caption) if words]
    lines += [("", drawn) for drawn in _counts(rules, unseen, across + _PANEL_WIDTH)]
    height = max(down, beside) + 2 * _MARGIN + _FOOT * len(lines)
    left, whole = across + 2 * _MARGIN + _GAP, across + _PANEL_WIDTH + _GAP + 3 * _MARGIN
    middle = (_MARGIN + across / 2, _MARGIN + max(down, beside) / 2)
    notes = move.notes(state, row) if move else Notes()
    parts = [_board(state, row, notes, middle, state.tables.cell_index, cell_names)]
    top = _MARGIN + (max(down, beside) - beside) / 2
    for panel in panels:
        parts.append(panel.draw(left, top))
        top += panel.height + _GAP
    for number, (words, shown) in enumerate(lines):
        at = height - _MARGIN - _FOOT * (len(lines) - 1 - number)
        words_or_tiles = draw_text(0, 0, words, 13) if words else shown
        parts.append(f'<g transform="translate({num(_MARGIN)} {num(at)})">{words_or_tiles}</g>')
    says = "; ".join([_board_words(state, row), describe_turn(state, row), *([caption] if caption else [])])
    return make_document(whole, height, "".join(parts), says, width, paper=True)


def _counts(rules: Rules, unseen: Sequence[int], room: float) -> list[str]:
    """Return lines of tiles with their numbers."""
    if not len(unseen):
        return []
    step, radius = 52.0, 8.5
    drawn, lines = [draw_text(0, 0, "unseen", 11, fill=theme.FAINT)], []
    x = step
    for kind, count in enumerate(unseen):
        if x + step > room:
            lines.append("".join(drawn))
            drawn, x = [], step
        if count:
            drawn += [draw_tile(tile_name(rules, kind), x + 14, -4, radius), draw_text(x + 32, 0, str(count), 11)]
            x += step
    return [*lines, "".join(drawn)]


def tile_svg(rules: Rules, kind: int, width: float | None = None) -> str:
    """Return a drawing of a tile, its halves side by side."""
    radius = HEX
    across, down = 2 * math.sqrt(3) * radius, 2 * radius
    drawn = draw_tile(tile_name(rules, kind), across / 2, down / 2, radius)
    shapes = [theme.SHAPES[letter] for letter in tile_name(rules, kind)]
    return make_document(across, down, drawn, f"a tile, {' and '.join(shapes)}", width, False)


# The board


def _board(
    state: State, row: int, notes: Notes, middle: tuple[float, float], only: Collection[Cell], cell_names: bool
) -> str:
    t, parts = state.tables, []
    start_symbols = set(t.start_symbols.tolist())
    for number, (q, r) in enumerate(t.cells.tolist()):
        if (q, r) not in only:
            continue
        what, (x, y) = int(state.board[row, number]), centre((q, r))
        parts.append(f'<g class="cell" data-cell="{number}" transform="translate({num(x)} {num(y)})">')
        parts.append(_cell(what, number in start_symbols))
        if (q, r) in notes.ghosts:
            parts.append(f'<g opacity="0.6">{draw_half(notes.ghosts[q, r], HEX)}</g>')
        if (q, r) in notes.labels:
            dark = what == FREE and (q, r) not in notes.ghosts
            fill = theme.INK if dark else theme.PAPER
            parts.append(draw_text(0, 4.5, notes.labels[q, r], 13, anchor="middle", fill=fill, bold=True))
        elif cell_names and what == FREE and (q, r) not in notes.ghosts:
            parts.append(draw_text(0, 3, cell_name(state.rules, (q, r))[1:], 8, anchor="middle", fill=theme.FAINT))
        parts.append("</g>")
    parts += _row_names(state.rules, only) if cell_names else []
    parts += [_outline(cell) for cell in notes.last]
    parts += [_line(line) for line in notes.lines]
    parts += [_points(line) for line in notes.lines]
    return f'<g transform="translate({num(middle[0])} {num(middle[1])})">{"".join(parts)}</g>'


def _row_names(rules: Rules, only: Collection[Cell]) -> list[str]:
    """Return the letter of each row beside its ends, as far as they are drawn."""
    parts = []
    for cell in only:
        for side in (-1, 1):
            if (cell[0] + side, cell[1]) not in tables(rules).cell_index:
                x, y = centre(cell)
                letter = cell_name(rules, cell)[0]
                parts.append(draw_text(x + side * (HEX + 4), y + 3, letter, 9, anchor="middle", fill=theme.FAINT))
    return parts


def _cell(what: int, is_start_symbol: bool) -> str:
    if what == FREE:
        return use("free")
    letter = COLOR_LETTERS[what]
    return use("free") + use("disc") + use(letter, HEX * 0.5) if is_start_symbol else draw_half(letter, HEX)


def _outline(cell: Cell) -> str:
    x, y = centre(cell)
    hexagon = draw_hexagon(HEX * 0.93, "none", theme.MARK, 2.4)
    return f'<g class="last" transform="translate({num(x)} {num(y)})">{hexagon}</g>'


def _line(line: Line) -> str:
    (from_x, from_y), (next_x, next_y), (to_x, to_y) = (centre(line.cells[which]) for which in (0, 1, -1))
    x, y = from_x + 0.36 * (next_x - from_x), from_y + 0.36 * (next_y - from_y)  # beside the half's symbol
    ends = f'x1="{num(x)}" y1="{num(y)}" x2="{num(to_x)}" y2="{num(to_y)}" stroke-linecap="round"'
    return (
        f'<line {ends} stroke="{theme.PAPER}" stroke-width="5"/>'
        f'<line class="line" {ends} stroke="{theme.MARK}" stroke-width="2.4"/>'
    )


def _points(line: Line) -> str:
    (from_x, from_y), (x, y) = centre(line.cells[-2]), centre(line.cells[-1])
    x, y = x + 0.4 * (x - from_x), y + 0.4 * (y - from_y)  # at the far edge of the cell, its symbol to be seen
    badge = f'<circle r="7" fill="{theme.PAPER}" stroke="{theme.MARK}" stroke-width="1.6"/>'
    words = draw_text(0, 3.6, str(line.points), 10, anchor="middle", bold=True)
    return f'<g class="points" transform="translate({num(x)} {num(y)})">{badge}{words}</g>'


def _board_size(rules: Rules) -> tuple[float, float]:
    return math.sqrt(3) * HEX * (2 * rules.side - 1) + 2, HEX * (3 * rules.side - 1) + 2


# The markers and the racks


class _Panel:
    """The panel of a track: its name, its markers, its racks.

    Args:
        state: the games.
        row: the index of the game.
        track: the track.
        seat: the seat whose rack is shown; None for all racks.
        names: the names of the seats; None for none.
    """

    def __init__(self, state: State, row: int, track: int, seat: int | None, names: Sequence[str] | None) -> None:
        self._state, self._row, self._track, self._seat = state, row, track, seat
        self._names = names
        self._seats = state.rules.seats_of(track)
        self.height = _PANEL_HEAD + _TRACK_ROW * state.rules.colors + (_RACK_ROW + 2) * len(self._seats) + 6

    def draw(self, x: float, y: float) -> str:
        """Return the drawing with its top left corner at (x, y)."""
        state, row = self._state, self._row
        playing = not state.over[row] and int(state.to_play[row]) in self._seats
        edge = f'stroke="{theme.MARK if playing else theme.FREE_EDGE}" stroke-width="{2 if playing else 1}"'
        size = f'width="{num(_PANEL_WIDTH)}" height="{num(self.height)}"'
        parts = [f'<rect {size} rx="8" fill="{theme.PANEL}" {edge}/>', self._head()]
        for color, marker in enumerate(state.scores[row, self._track].tolist()):
            parts.append(_marker(state.rules, color, marker, _PANEL_HEAD + _TRACK_ROW * (color + 0.5)))
        top = _PANEL_HEAD + _TRACK_ROW * state.rules.colors + 4
        for owner in self._seats:
            parts.append(self._rack(owner, top + _RACK_ROW / 2))
            top += _RACK_ROW + 2
        return f'<g transform="translate({num(x)} {num(y)})">{"".join(parts)}</g>'

    def _head(self) -> str:
        markers = sorted(self._state.scores[self._row, self._track].tolist())
        counts = " ".join(map(str, markers))
        name = track_name(self._state.rules, self._track)
        if self._names is not None:
            name += f": {' + '.join(self._names[owner] for owner in self._seats)}"
        room = 30 - len(counts) // 2
        name = name if len(name) <= room else f"{name[: room - 1]}…"
        return draw_text(8, 17, name, 12.5, bold=True) + draw_text(
            _PANEL_WIDTH - 8, 17, counts, 11, anchor="end", fill=theme.FAINT
        )

    def _rack(self, owner: int, y: float) -> str:
        state, wide = self._state, 2 * math.sqrt(3) * _RACK_HEX + 5
        several = len(self._seats) > 1
        left = 30.0 if several else 10.0
        parts = [draw_text(8, 4, f"{owner}:", 11, fill=theme.FAINT)] if several else []
        for slot, kind in enumerate(state.racks[self._row, owner].tolist()):
            x = left + wide * (slot + 0.5)
            if kind == EMPTY:
                continue
            hidden = self._seat is not None and owner != self._seat
            name = "??" if hidden else tile_name(state.rules, kind)
            parts.append(f'<g class="slot" data-slot="{slot}">{draw_tile(name, x, 0, _RACK_HEX)}</g>')
        return f'<g class="rack" data-seat="{owner}" transform="translate(0 {num(y)})">{"".join(parts)}</g>'


def _marker(rules: Rules, color: int, marker: int, y: float, moved: tuple[int, int] | None = None) -> str:
    """Return the row of a marker; with its way if `moved` says where it stood before and how many points it got."""
    letter, step = COLOR_LETTERS[color], _at(1, rules) - _at(0, rules)
    parts = [_bar((rules.top + 1) * step, theme.FREE), _bar((marker + 1) * step, theme.TILE)]
    for stop in rules.stops:
        parts.append(f'<circle cx="{num(_at(stop, rules))}" r="2.4" fill="none" stroke="{theme.FAINT}"/>')
    at, right = _at(marker, rules), _PANEL_WIDTH - 8
    if moved is not None:
        before, gained = moved
        right += _SUM_WIDTH
        parts.append(_way(_at(before, rules), at))
        parts.append(draw_text(right - 26, 4, f"{before} + {gained}", 11, anchor="end", fill=theme.FAINT))
    parts.append(f'<g transform="translate({num(at)} 0)">{use("disc", 6.6 / DISC)}{use(letter, 4.6)}</g>')
    parts.append(draw_text(right, 4, str(marker), 11.5, anchor="end", bold=True))
    parts.append(draw_text(8, 4, letter, 10.5, fill=theme.FAINT))
    return f'<g class="marker" transform="translate(0 {num(y)})">{"".join(parts)}</g>'


def _way(start: float, end: float) -> str:
    """Return the line from where a marker stood to where it stands."""
    return (
        f'<line class="way" x1="{num(start)}" x2="{num(end)}" stroke="{theme.MARK}" stroke-width="2.4"/>'
        f'<circle cx="{num(start)}" r="3.6" fill="{theme.PAPER}" stroke="{theme.MARK}" stroke-width="1.6"/>'
    )


def _at(marker: int, rules: Rules) -> float:
    """Return the x of a marker."""
    return _TRACK_LEFT + (marker + 0.5) * (_PANEL_WIDTH - _TRACK_LEFT - _TRACK_RIGHT) / (rules.top + 1)


def _bar(width: float, fill: str) -> str:
    """Return the bar of a marker track."""
    high = _TRACK_ROW * 0.62
    size = f'width="{num(width)}" height="{num(high)}"'
    return f'<rect x="{num(_TRACK_LEFT)}" y="{num(-high / 2)}" {size} rx="3" fill="{fill}"/>'


def _board_words(state: State, row: int) -> str:
    rules, laid = state.rules, int((state.board[row] != FREE).sum()) - state.rules.colors
    return f"a game of {rules.players} seats, edition {rules.edition}, {laid} of {len(state.board[row])} cells covered"


def _beside(cell: Cell, step: Cell) -> Cell:
    return cell[0] + step[0], cell[1] + step[1]
