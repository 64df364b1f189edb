"""Parts of which SVG drawings are made: documents, text, hexagons, tiles. Lengths are in pixels."""

import math
from xml.sax.saxutils import escape, quoteattr

from genial_env._util.checks import as_number
from genial_env.core.actions import Cell
from genial_env.render import theme

HEX = 20.0
"""The distance from the center of a cell to its corners."""

DISC = HEX * 0.72
"""The radius of the disc under a printed symbol."""

FONT = "DejaVu Sans, Verdana, Arial, sans-serif"

MAX_WIDTH = 8192
"""The greatest width of a drawing or picture in pixels. A picture takes 4 bytes of memory for each pixel."""

_PREFIX = "genial-"
"""The prefix of ids. All drawings on a page share their definitions, which are equal."""


def make_document(across: float, down: float, drawn: str, words: str, width: float | None, paper: bool) -> str:
    """Return an SVG document.

    Args:
        across: the width of the drawing.
        down: its height.
        drawn: its elements.
        words: its description for screen readers.
        width: the width at which it is shown, 1 to :data:`MAX_WIDTH`; None for `across`.
        paper: whether it has a background.

    Raises:
        TypeError: if the width is not a number.
        ValueError: if it is out of range.
    """
    wide = across if width is None else as_number(width, "width", 1, MAX_WIDTH)
    size = f'width="{num(wide)}" height="{num(wide * down / across)}" viewBox="0 0 {num(across)} {num(down)}"'
    ground = f'<rect width="{num(across)}" height="{num(down)}" rx="10" fill="{theme.PAPER}"/>' if paper else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label={quoteattr(_printable(words))} '
        f"font-family={quoteattr(FONT)}>{_definitions()}{ground}{drawn}</svg>"
    )


def _definitions() -> str:
    """Return the shapes that are drawn often: symbols of size 1 by letter, free cells, halves of tiles, backs."""
    parts = [
        f'<path id="{_PREFIX}{letter}" d="{path}" fill="{theme.COLORS[letter]}"/>'
        for letter, path in theme.SYMBOLS.items()
    ]
    parts += [
        draw_hexagon(HEX * 0.96, theme.FREE, theme.FREE_EDGE, name="free"),
        draw_hexagon(HEX * 0.97, theme.TILE, theme.PAPER, name="tile"),
        draw_hexagon(HEX * 0.97, theme.FAINT, theme.PAPER, name="back"),
        f'<circle id="{_PREFIX}disc" r="{num(DISC)}" fill="{theme.TILE}" stroke="{theme.PAPER}"/>',
    ]
    return f"<defs>{''.join(parts)}</defs>"


def use(name: str, scale: float = 1.0) -> str:
    """Return a use of one of the definitions."""
    scaled = "" if scale == 1 else f' transform="scale({num(scale)})"'
    return f'<use href="#{_PREFIX}{name}"{scaled}/>'


def centre(cell: Cell, radius: float = HEX) -> tuple[float, float]:
    """Return the center (x, y) of a cell (q, r): x to the right, y down, (0, 0) at the center of the board."""
    q, r = cell
    return math.sqrt(3) * radius * (q + r / 2), 1.5 * radius * r


def draw_tile(name: str, x: float, y: float, radius: float) -> str:
    """Return the drawing of a tile by its two letters; "??" is a tile face down, "--" an empty slot."""
    half, parts = math.sqrt(3) / 2 * radius, []
    for side, letter in zip((-half, half), name, strict=True):
        parts.append(f'<g transform="translate({num(x + side)} {num(y)})">{_side(letter, radius)}</g>')
    return "".join(parts)


def _side(letter: str, radius: float) -> str:
    if letter == "?":
        return use("back", radius / HEX)
    return draw_hexagon(radius * 0.9, "none", theme.FREE_EDGE) if letter == "-" else draw_half(letter, radius)


def draw_half(letter: str, radius: float) -> str:
    """Return half a tile about (0, 0)."""
    return use("tile", radius / HEX) + use(letter, radius * 0.62)


def draw_hexagon(radius: float, fill: str, edge: str, width: float = 1.0, name: str | None = None) -> str:
    """Return a hexagon about (0, 0)."""
    corners = [(radius * math.sin(math.pi / 3 * k), -radius * math.cos(math.pi / 3 * k)) for k in range(6)]
    points = " ".join(f"{num(x)},{num(y)}" for x, y in corners)
    known = "" if name is None else f' id="{_PREFIX}{name}"'
    return f'<polygon{known} points="{points}" fill="{fill}" stroke="{edge}" stroke-width="{num(width)}"/>'


def draw_text(
    x: float, y: float, words: str, size: float, anchor: str = "start", fill: str = theme.INK, bold: bool = False
) -> str:
    """Return a line of text at (x, y)."""
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{num(x)}" y="{num(y)}" font-size="{num(size)}" text-anchor="{anchor}" fill="{fill}"{weight}>'
        f"{escape(_printable(words))}</text>"
    )


def _printable(words: str) -> str:
    """Return text without the characters that XML does not allow."""
    return "".join(character if character.isprintable() else "�" for character in words)


def num(value: float) -> str:
    """Return a number with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"
