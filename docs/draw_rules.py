"""Draw the pictures of the pages with the rules for people: docs/how_to_play.md, docs/regles.md and docs/regeln.md.

    python docs/draw_rules.py

The command writes docs/images/rules. A test compares the drawings with these files and with the pages. There is one
drawing for every worked example of the rule sheets (tests/core/worked_examples.json), and one for every point that
implementations get wrong (the end of docs/rules.md). The kernel plays the shown moves, so all numbers in the drawings
come from it. The drawings contain no text, so that both pages can share them.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from genial_env import Rules, State
from genial_env.core import kernel, ranking
from genial_env.core.actions import Cell, Place, encode, tile_kind
from genial_env.core.hexgrid import DIRECTIONS
from genial_env.core.rules import COLOR_LETTERS
from genial_env.core.state import EMPTY, Phase
from genial_env.core.tables import tables
from genial_env.render import theme
from genial_env.render.svg import FONT, Move, Notes, around, board_svg, markers_svg, rack_svg, tile_svg

DOCS = Path(__file__).parent
IMAGES = DOCS / "images" / "rules"
EXAMPLES: list[dict[str, Any]] = json.loads(
    (DOCS.parent / "tests" / "core" / "worked_examples.json").read_text(encoding="utf-8")
)

POINTS = {
    "exactly 18 earns the bonus": "advance-exactly-18",
    "two markers arriving with one tile earn two": "advance-beyond-18",
    "nothing is drawn and no swap offered until every bonus is done": "bonus-chain",
    "a color at 18 gains nothing more": "advance-already-at-18",
    "the swap looks at the rack before refilling and the markers after all bonuses, at every tied lowest color": (
        "swap-when"
    ),
    "a swap from a short rack still draws six": "swap-short-rack",
    "the six come out before the old ones go back": "swap-order",
    "the printed symbols stay on the inner corners with 3 and 4 seats": "boards",
    "the first-turn rule is per seat": "first-turn",
    "ranking looks beyond the second marker": "rank-tie-broken-at-the-third-marker",
    "on the double track 17 + 5 is 18": "double-track",
    "a full board ends the game inside a chain of bonus placements": "full-board",
}
"""The drawing of each point that implementations get wrong, by its name in docs/rules.md."""

DEFINITIONS = re.findall("<defs>.*</defs>", tile_svg(Rules(), 0))[0]
"""The definitions at the beginning of every drawing of the renderer."""

SCALE = 0.8
"""The scale of boards beside other things."""


def drawings() -> dict[str, str]:
    """Return all drawings by file name, without the suffix ".svg"."""
    of_kind = {"score": draw_score, "rank": draw_rank, "advance": draw_advance}
    return {
        "tiles": draw_tiles(),
        "boards": draw_boards(),
        "start": draw_start(),
        **{file_name(example): of_kind[example["kind"]](example) for example in EXAMPLES},
        "bonus-chain": draw_bonus_chain(),
        "swap-when": draw_swap_when(),
        "swap-order": draw_swap_order(),
        "swap-short-rack": draw_swap_short_rack(),
        "first-turn": draw_first_turn(),
        "double-track": draw_double_track(),
        "full-board": draw_full_board(),
    }


def file_name(example: Mapping[str, Any]) -> str:
    """Return the file name of a worked example's drawing, without its suffix."""
    words = re.sub(r"[^a-z0-9]+", "-", example["name"].lower()).strip("-")
    return f"{example['kind']}-{words}"


# The worked examples


def draw_score(example: Mapping[str, Any]) -> str:
    """Draw the tile on the board, its lines, and the points of each color."""
    board = {(q, r): letter for q, r, letter in example["board"]}
    first, second = map(tuple, example["cells"])
    laid = lay(position(Rules(), board, [example["tile"]]), example["tile"], first, second)
    return on_paper(beside(laid.board([*board, first, second], scale=1), tally(laid)))


def draw_rank(example: Mapping[str, Any]) -> str:
    """Draw the players from the first to the last, each with the markers from the lowest up."""
    return on_paper(draw_ranking(example["scores"]))


def draw_advance(example: Mapping[str, Any]) -> str:
    """Draw the tile and its lines, the moves of the markers, and the bonus placements that they earn."""
    rules = {"individual": Rules(), "team": Rules(4, "2009", "team"), "solo": Rules(1, "2004", "solo")}[example["mode"]]
    return arrival(rules, example["before"], example["points"])


def arrival(rules: Rules, before: Mapping[str, int], points: Mapping[str, int]) -> str:
    """Draw a tile that scores the given points, and the markers before and after it."""
    first, second = (*points, *(letter for letter in COLOR_LETTERS if letter not in points))[:2]
    arms = [(0, 0, (3, 2, 4)), (1, 0, (0, 1, 5))]
    board = {
        cell: letter
        for letter, (q, r, directions) in zip((first, second), arms, strict=True)
        for cell in _arms((q, r), directions, points.get(letter, 0))
    }
    tiles = [first + second] * rules.rack  # without a tile left a bonus placement would lapse
    state = position(rules, board, tiles, scores=markers(rules, before))
    laid = lay(state, first + second, (0, 0), (1, 0))
    return on_paper(beside(laid.board([*board, (0, 0), (1, 0)]), below(laid.markers(before), earned(laid.after))))


def _arms(cell: Cell, directions: Sequence[int], count: int) -> list[Cell]:
    """Return `count` cells on the lines that run from a cell in some directions, the nearest first."""
    steps = [DIRECTIONS[direction] for direction in directions]
    reach = [(cell[0] + far * q, cell[1] + far * r) for far in range(1, 5) for q, r in steps]
    return reach[:count]


# What is in the box


def draw_tiles() -> str:
    """Draw every kind of tile and how many of it there are."""
    rules = Rules()
    counts = tables(rules).full_bag.tolist()
    by_first: dict[str, list[str]] = {letter: [] for letter in COLOR_LETTERS}
    for kind, (first, _) in enumerate(tables(rules).kinds.tolist()):
        tile = beside(tile_svg(rules, kind, width=56), draw_text(f"× {counts[kind]}", 12), gap=4)
        by_first[COLOR_LETTERS[first]].append(tile)
    return on_paper(below(*(beside(*tiles) for tiles in by_first.values()), gap=8))


def draw_boards() -> str:
    """Draw the boards for one or two, three and four players, with their printed symbols."""
    boards = [board_svg(kernel.undealt(Rules(players))) for players in (2, 3, 4)]
    labels = ["1–2", "3", "4"]
    columns = [
        below(draw_text(label, 15), scaled(board, 0.42), middle=True)
        for label, board in zip(labels, boards, strict=True)
    ]
    return on_paper(beside(*columns))


def draw_start() -> str:
    """Draw a game of two players before the first tile, as the first player observes it."""
    state = kernel.deal(Rules(), 4)
    seats = [below(markers_svg(state, 0, seat), rack_svg(state, 0, seat, hidden=seat > 0)) for seat in (0, 1)]
    return on_paper(beside(scaled(board_svg(state), SCALE), below(*seats, gap=30)))


# What implementations get wrong


def draw_bonus_chain() -> str:
    """Draw three placements of one turn, each with the markers, the pending bonus and the rack, and then the refill."""
    rules = Rules()
    board = {(-1, 0): "R", (2, 1): "B", (3, 1): "B", (-1, 2): "Y"}
    before = {"R": 17, "G": 9, "B": 16, "O": 8, "Y": 7, "P": 5}
    state = position(rules, board, ["RG", "BO", "YP", "GP", "RO", "YY"], scores=markers(rules, before))
    shown = around(rules, [*board, (0, 0), (1, 0), (1, 1), (0, 2)])
    places = {"RG": ((0, 0), (1, 0)), "BO": ((1, 1), (0, 2)), "YP": ((-2, 2), (-2, 1))}
    rows, small = [], 0.6
    for number, (tile, cells) in enumerate(places.items(), 1):
        laid = lay(state, tile, *cells)
        stood = {letter: int(state.scores[0, 0, COLOR_LETTERS.index(letter)]) for letter in tile}
        seen = below(laid.markers(stood), beside(earned(laid.left), rack_svg(laid.left)))
        rows.append(beside(token(str(number)), laid.board(only=shown, scale=small), seen))
        state = laid.after
    space = piece(_size(laid.board(only=shown, scale=small))[0], 1, "")
    rows.append(beside(token("4"), space, blank(earned(state)), rack_svg(state)))
    return on_paper(below(*rows, gap=18))


def draw_swap_when() -> str:
    """Draw racks after the last tile of a turn, and whether each may be swapped."""
    rules = Rules()
    stand = {"R": 12, "G": 9, "B": 11, "O": 8, "Y": 7, "P": 4}
    tiles = ["RG", "BO", "OO", "GY", "RB", "RO"]
    alone = lay(position(rules, {}, tiles, scores=markers(rules, stand)), "RG", (0, 0), (1, 0))
    tied = lay(position(rules, {}, tiles, scores=markers(rules, {**stand, "Y": 4})), "RG", (0, 0), (1, 0))
    bonus_board = {(-1, 0): "R", (2, 2): "P", (3, 2): "P", (0, 3): "P", (-1, 4): "P"}
    tiles = ["RG", "OP", "OO", "GY", "RB", "RO"]
    first = lay(position(rules, bonus_board, tiles, scores=markers(rules, {**stand, "R": 17})), "RG", (0, 0), (1, 0))
    after = lay(first.after, "OP", (1, 1), (1, 2))
    return on_paper(
        below(
            beside(token("1"), _may_swap(alone, {})),
            beside(token("2"), _may_swap(tied, {})),
            beside(token("3"), _may_swap(after, {"P": stand["P"]})),
            gap=22,
        )
    )


def _may_swap(laid: "Laid", before: Mapping[str, int]) -> str:
    """Draw the markers, the rest of the rack with its lowest colors highlighted, and whether a swap is offered."""
    scores = laid.left.scores[0, 0]
    lowest = [COLOR_LETTERS[color] for color in np.flatnonzero(scores == scores.min())]
    offered = int(laid.left.phase[0]) == Phase.SWAP
    rack = beside(rack_svg(laid.left, marked=lowest), sign(offered))
    return below(laid.markers(before, COLOR_LETTERS, lowest), rack)


def draw_swap_order() -> str:
    """Draw a swap: the old tiles set aside, six tiles drawn, the old ones put back into the bag."""
    rules = Rules()
    scores = markers(rules, {"R": 12, "G": 9, "B": 11, "O": 8, "Y": 7, "P": 4})
    return _swap(lay(position(rules, {}, ["RG", "BO", "OO", "GY", "RB", "RO"], scores=scores), "RG", (0, 0), (1, 0)))


def draw_swap_short_rack() -> str:
    """Draw a swap after two bonus placements, which leave fewer tiles on the rack."""
    rules = Rules()
    scores = markers(rules, {"R": 17, "G": 17, "B": 11, "O": 8, "Y": 7, "P": 4})
    state = position(rules, {(-1, 0): "R", (2, 0): "G"}, ["RG", "BO", "OO", "GY", "RB", "RO"], scores=scores, seeds=3)
    for tile, cells in {"RG": ((0, 0), (1, 0)), "BO": ((0, 2), (1, 2)), "OO": ((3, -2), (3, -1))}.items():
        laid = lay(state, tile, *cells)
        state = laid.after
    return _swap(laid)


def _swap(laid: "Laid") -> str:
    """Draw a swap in three steps: the tiles set aside, the rack filled from the bag, the old tiles put back."""
    old, new = laid.after, laid.after.copy()
    kernel.apply(new, [new.tables.swap_action])
    aside = int((old.racks[0, 0] != EMPTY).sum())
    drawn = int((new.racks[0, 0] != EMPTY).sum())
    bags = int(old.bag.sum()), int(new.bag.sum()) - aside, int(new.bag.sum())
    steps = [
        (rack_svg(old), blank(rack_svg(old)), blank(arrow("0")), bag(bags[0])),
        (rack_svg(old), rack_svg(new), arrow(str(drawn), left=True), bag(bags[1])),
        (rack_svg(new), rack_svg(old), arrow(str(aside)), bag(bags[2])),
    ]
    return on_paper(below(*(beside(token(str(number)), *parts) for number, parts in enumerate(steps, 1)), gap=14))


def draw_first_turn() -> str:
    """Draw where the second player's first tile may lie; then the first player's second tile, anywhere."""
    rules = Rules()
    state = position(rules, {}, ["RG"] * 6, has_placed=False)
    laid = lay(state, "RG", (2, -5), (1, -5))
    upper = {(q, r) for q, r in tables(rules).cells.tolist() if r <= 0}
    open_to_second = tuple(sorted(first_turn_cells(laid.after) & upper))
    second = board_svg(laid.after, notes=Notes(last=open_to_second), only=upper)
    after = lay(laid.after, "BY", (4, -4), (3, -3)).after
    third = lay(after, "RG", (-1, -1), (-1, -2))
    panels = [second, board_svg(third.after, notes=Notes(last=(third.move.first, third.move.second)), only=upper)]
    return on_paper(
        beside(
            *(below(token(seat), scaled(panel, 0.75), middle=True) for seat, panel in zip("21", panels, strict=True)),
            gap=24,
        )
    )


def first_turn_cells(state: State) -> set[Cell]:
    """Return the cells beside printed symbols that no tile lies next to. A first tile must cover one of them."""
    t = state.tables
    untouched = [color for color in range(state.rules.colors) if not int(state.symbols_touched[0]) >> color & 1]
    beside_them = {int(n) for color in untouched for n in t.neighbours[t.start_symbols[color]] if n < t.n_cells}
    return {tuple(t.cells[number].tolist()) for number in beside_them}


def draw_double_track() -> str:
    """Draw the double track of a team: 17 points, then 5 more."""
    return arrival(Rules(4, "2009", "team"), {"O": 17}, {"O": 5})


def draw_full_board() -> str:
    """Draw the first of two bonus placements that takes the last two adjacent free cells."""
    rules = Rules()
    free = {(0, 0), (1, 0), (-2, 1), (2, -2)}
    filled = {(q, r): COLOR_LETTERS[(2 * q + r * r + q // 3) % 6] for q, r in tables(rules).cells.tolist()}
    inner = {cell: letter for cell, letter in filled.items() if cell not in free and cell not in _start_symbols(rules)}
    stand = {"R": 18, "G": 14, "B": 9, "O": 11, "Y": 18, "P": 12}
    tiles = ["BO", "RG", "RY", "GP"]
    state = position(rules, inner, tiles, scores=markers(rules, stand), phase=Phase.BONUS, pending_bonus=2)
    laid = lay(state, "BO", (0, 0), (1, 0))
    shown = around(rules, [(0, 0), (1, 0)], 2)
    last_two = scaled(board_svg(laid.before, only=shown), SCALE)
    rack = beside(rack_svg(laid.after), *([flag()] if laid.after.over[0] else []))
    rows = [
        beside(token("1"), last_two, below(earned(laid.before), rack_svg(laid.before))),
        beside(token("2"), laid.board(only=shown), below(laid.markers(stand), rack)),
    ]
    return on_paper(below(*rows, gap=18))


def _start_symbols(rules: Rules) -> set[Cell]:
    t = tables(rules)
    return {tuple(t.cells[number].tolist()) for number in t.start_symbols}


# Positions


def position(rules: Rules, board: Mapping[Cell, str], tiles: Sequence[str], **more: Any) -> State:
    """Return a game in which seat 0 is to play and holds the given tiles. The other racks have some remaining tiles.

    Args:
        rules: the rules.
        board: color letters by cell; the printed symbols are there anyway.
        tiles: the rack of seat 0, each tile by its two letters.
        more: further arguments of :func:`genial_env.core.kernel.position`.
    """
    t = tables(rules)
    cells = kernel.undealt(rules).board[0].copy()
    for cell, letter in board.items():
        cells[t.cell_index[cell]] = COLOR_LETTERS.index(letter)
    racks = np.full((1, rules.players, rules.rack), EMPTY)
    racks[0, 1:] = [tile_kind(rules, name) for name in ("BY", "RP", "GO", "BP", "RY", "OY")][: rules.rack]
    racks[0, 0, : len(tiles)] = [tile_kind(rules, name) for name in tiles]
    return kernel.position(rules, cells, racks=racks, any_tiles=True, **more)


def markers(rules: Rules, named: Mapping[str, int]) -> Any:
    """Return the markers of all tracks [1, T, C]: those of the first track by letter, all others at 0."""
    scores = np.zeros((1, rules.tracks, rules.colors), dtype=int)
    scores[0, 0] = [named.get(letter, 0) for letter in COLOR_LETTERS]
    return scores


@dataclass(frozen=True)
class Laid:
    """A tile that seat 0 has placed."""

    before: State
    move: Move
    gained: dict[str, int]
    """points by letter, not limited to where the markers stop"""
    left: State
    """after the placement, before the refill"""
    after: State

    def board(self, cells: Iterable[Cell] = (), only: set[Cell] | None = None, scale: float = SCALE) -> str:
        """Draw the lines that the tile scored, on the part `only` of the board or on the part around `cells`."""
        shown = around(self.after.rules, list(cells)) if only is None else only
        return scaled(board_svg(self.left, notes=self.move.notes(self.left), only=shown), scale)

    def markers(self, before: Mapping[str, int], letters: Iterable[str] = (), marked: Sequence[str] = ()) -> str:
        """Draw the markers with some letters, or those that moved from where they stood before."""
        ways = {letter: (before[letter], self.gained[letter]) for letter in before if letter in self.gained}
        return markers_svg(self.left, letters=set(letters) or set(ways), moved=ways, marked=marked)


def lay(state: State, tile: str, first: Cell, second: Cell) -> Laid:
    """Place a tile of the rack of the seat to play, its letters on the two cells in the given order."""
    kind = tile_kind(state.rules, tile)
    if COLOR_LETTERS.index(tile[0]) > COLOR_LETTERS.index(tile[1]):
        first, second = second, first
    slot = state.racks[0, state.to_play[0]].tolist().index(kind)
    action = np.array([encode(state.rules, Place(slot, first, second))])
    points = kernel.gained(state, action, np.array([0]))[0].tolist()
    left, after = state.copy(), state.copy()
    kernel.apply_without_draw(left, action)
    kernel.apply(after, action)
    gained = {letter: points[COLOR_LETTERS.index(letter)] for letter in tile}
    return Laid(state, Move(first, second), gained, left, after)


# Pieces of drawings


def draw_text(text: str, size: int = 14, color: str = theme.INK) -> str:
    """Draw a text of numbers and signs."""
    across = 0.68 * size * len(text)
    return piece(
        across,
        1.2 * size,
        f'<text x="{across / 2:g}" y="{size}" {_FONT} font-size="{size}" fill="{color}">{text}</text>',
    )


def token(text: str) -> str:
    """Draw a number in a circle, for a step or a player."""
    circle = f'<circle cx="11" cy="11" r="10" fill="{theme.PAPER}" stroke="{theme.INK}" stroke-width="1.4"/>'
    return piece(22, 22, f'{circle}<text x="11" y="15.5" {_FONT} font-size="13" fill="{theme.INK}">{text}</text>')


def tally(laid: "Laid") -> str:
    """Draw the points of each color; for a double also the points of each half."""
    rows = [beside(symbol(letter), draw_text(f"+{points}", 16), gap=4) for letter, points in laid.gained.items()]
    if len(rows) == 1:
        cells = [laid.before.tables.cell_index[cell] for cell in (laid.move.first, laid.move.second)]
        color = COLOR_LETTERS.index(*laid.gained)
        halves = " + ".join(str(int(laid.before.points[0, cell, color])) for cell in cells)
        rows.append(draw_text(halves, 13, theme.FAINT))
    return below(*rows, gap=6)


def symbol(letter: str, radius: float = 11) -> str:
    """Draw a color's shape on the ground of a tile."""
    ground = f'<circle r="{radius:g}" fill="{theme.TILE}"/>'
    path = f'<path d="{theme.SYMBOLS[letter]}" transform="scale({0.7 * radius:g})" fill="{theme.COLORS[letter]}"/>'
    return piece(2 * radius, 2 * radius, f'<g transform="translate({radius:g} {radius:g})">{ground}{path}</g>')


def earned(state: State) -> str:
    """Draw the number of pending bonus placements."""
    half = "".join(
        f'<path d="M{x} 1L{x + 9} 6.2V16.8L{x} 22L{x - 9} 16.8V6.2Z" fill="{theme.FAINT}" stroke="{theme.PAPER}"/>'
        for x in (10, 28)
    )
    return beside(draw_text(f"+{int(state.pending_bonus[0])}", 16), piece(38, 23, half), gap=4)


def bag(tiles: int) -> str:
    """Draw the bag and the number of tiles in it."""
    outline = "M20 12C4 20 0 36 4 46C7 53 41 53 44 46C48 36 44 20 28 12L33 3H15Z"
    shape = f'<path d="{outline}" fill="{theme.FREE}" stroke="{theme.FAINT}" stroke-width="1.6"/>'
    tie = f'<path d="M17 12H31" stroke="{theme.INK}" stroke-width="2"/>'
    return piece(48, 54, f'{shape}{tie}<text x="24" y="39" {_FONT} font-size="15" fill="{theme.INK}">{tiles}</text>')


def arrow(text: str, left: bool = False) -> str:
    """Draw an arrow with a text over it, to the right or to the left."""
    path = "M34 22H2M9 16L2 22L9 28" if left else "M2 22H34M27 16L34 22L27 28"
    line = f'<path d="{path}" fill="none" stroke="{theme.INK}" stroke-width="2"/>'
    return piece(36, 32, f'<text x="18" y="14" {_FONT} font-size="13" fill="{theme.INK}">{text}</text>{line}')


def sign(yes: bool) -> str:
    """Draw a tick or a cross."""
    path = "M3 13L10 20L23 4" if yes else "M4 4L22 22M22 4L4 22"
    color = theme.COLORS["G" if yes else "R"]
    return piece(26, 26, f'<path d="{path}" fill="none" stroke="{color}" stroke-width="4" stroke-linecap="round"/>')


def flag() -> str:
    """Draw a flag, which stands for the end of the game."""
    squares = "".join(
        f'<rect x="{5 + 5 * x}" y="{2 + 5 * y}" width="5" height="5" fill="{theme.INK}"/>'
        for x in range(5)
        for y in range(3)
        if (x + y) % 2 == 0
    )
    cloth = f'<rect x="5" y="2" width="25" height="15" fill="#ffffff" stroke="{theme.INK}"/>'
    return piece(32, 34, f'{cloth}{squares}<path d="M4 1V33" stroke="{theme.INK}" stroke-width="2"/>')


def draw_ranking(scores: Mapping[str, Sequence[int]]) -> str:
    """Draw the players by rank with sorted markers. Frames show the two markers that decide between neighbors."""
    ranks = ranking.ranks(list(scores.values())).tolist()
    order = sorted(zip(ranks, scores, strict=True), key=lambda entry: entry[0])
    tracks = [sorted(zip(scores[name], COLOR_LETTERS, strict=True)) for _, name in order]
    high, wide, left = 34, 56, 110
    parts = []
    for line, (rank, name) in enumerate(order):
        y = high * line
        parts.append(_put(token(str(rank)), 0, y + 6))
        parts.append(f'<text x="32" y="{y + 22}" font-size="14" fill="{theme.INK}">{name}</text>')
        for column, (marker, letter) in enumerate(tracks[line]):
            entry = beside(symbol(letter, 9), draw_text(str(marker), 13), gap=3)
            parts.append(_put(entry, left + wide * column, y + 8))
    for line, (one, other) in enumerate(pairwise(tracks)):
        apart = [column for column in range(6) if one[column][0] != other[column][0]]
        if apart:
            place = f'x="{left + wide * apart[0] - 5}" y="{high * line + 3}"'
            size = f'width="{wide - 4}" height="{2 * high - 6}" rx="6"'
            parts.append(f'<rect {place} {size} fill="none" stroke="{theme.MARK}" stroke-width="1.8"/>')
    return piece(left + 6 * wide, high * len(order), "".join(parts))


# Putting them together


_FONT = 'text-anchor="middle" font-weight="bold"'


def piece(across: float, down: float, drawn: str) -> str:
    """Return shapes as a drawing of the given size."""
    size = f'width="{across:g}" height="{down:g}" viewBox="0 0 {across:g} {down:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{drawn}</svg>'


def blank(drawing: str) -> str:
    """Return an empty drawing of the same size."""
    return piece(*_size(drawing), "")


def scaled(drawing: str, by: float) -> str:
    """Return the drawing with its size multiplied by a factor."""
    across, down = _size(drawing)
    return re.sub(r'width="[^"]*" height="[^"]*"', f'width="{across * by:g}" height="{down * by:g}"', drawing, count=1)


def beside(*drawings: str, gap: float = 14) -> str:
    """Arrange drawings from left to right, centered vertically."""
    sizes = [_size(drawing) for drawing in drawings]
    high, x, parts = max(down for _, down in sizes), 0.0, []
    for drawing, (across, down) in zip(drawings, sizes, strict=True):
        parts.append(_put(drawing, x, (high - down) / 2))
        x += across + gap
    return piece(x - gap, high, "".join(parts))


def below(*drawings: str, gap: float = 8, middle: bool = False) -> str:
    """Arrange drawings from top to bottom, aligned at the left or (`middle`) centered horizontally."""
    sizes = [_size(drawing) for drawing in drawings]
    wide, y, parts = max(across for across, _ in sizes), 0.0, []
    for drawing, (across, down) in zip(drawings, sizes, strict=True):
        parts.append(_put(drawing, (wide - across) / 2 if middle else 0, y))
        y += down + gap
    return piece(wide, y - gap, "".join(parts))


def on_paper(drawing: str, margin: float = 14) -> str:
    """Return the content of a drawing's file: the drawing on paper, without a description.

    The pages that show it describe it, each in its own language.
    """
    across, down = (length + 2 * margin for length in _size(drawing))
    paper = f'<rect width="{across:g}" height="{down:g}" rx="10" fill="{theme.PAPER}"/>'
    whole = piece(across, down, DEFINITIONS + paper + _put(drawing, margin, margin))
    return whole.replace("<svg ", f'<svg font-family="{FONT}" ', 1) + "\n"


def _put(drawing: str, x: float, y: float) -> str:
    """Return a drawing as a part of another at (x, y), without the definitions, which a file has only once."""
    across, down = _size(drawing)
    drawing = drawing.replace(DEFINITIONS, "")
    box = re.search(r'viewBox="[^"]*"', drawing)
    assert box is not None
    inner = drawing[drawing.index(">") + 1 :]
    return f'<svg x="{x:g}" y="{y:g}" width="{across:g}" height="{down:g}" {box[0]}>{inner}'


def _size(drawing: str) -> tuple[float, float]:
    found = re.match(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"', drawing)
    assert found is not None, drawing[:80]
    return float(found[1]), float(found[2])


def main() -> None:
    """Write all drawings into docs/images/rules and delete other drawings there."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    for old in IMAGES.glob("*.svg"):
        old.unlink()
    for name, drawing in drawings().items():
        (IMAGES / f"{name}.svg").write_text(drawing, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
