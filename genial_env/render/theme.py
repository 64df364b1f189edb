"""The colors and shapes of all drawings. Each color has a shape, so nobody needs to tell colors apart.

The palette keeps every two colors at least 16 apart (CAM02-UCS), for normal sight and for full protanopia, deuteranopia
and tritanopia as simulated by Machado and others (2009), and each at a contrast of 3 or more to the ground of a tile
(WCAG 2.1 asks that of graphics). tests/render/test_render.py measures it.

The text on terminals, the drawings and the page take their colors from here.
"""

import math

__all__ = [
    "COLORS",
    "DARK_TEXT",
    "FAINT",
    "FREE",
    "FREE_EDGE",
    "INK",
    "MARK",
    "NIGHT",
    "PANEL",
    "PAPER",
    "SHAPES",
    "START_SYMBOL_GROUND",
    "SYMBOLS",
    "TILE",
]

COLORS = {"R": "#e61721", "G": "#12a767", "B": "#3b61ff", "O": "#f3a718", "Y": "#f3f947", "P": "#b36ea9"}
"""sRGB by color letter."""

SHAPES = {"R": "star", "G": "disc", "B": "snowflake", "O": "diamond", "Y": "sun", "P": "ring"}
"""The name of each color's shape."""

TILE = "#24242c"
"""The color of a tile."""

FREE, FREE_EDGE = "#efe9dc", "#c9bfa9"
"""The colors of a free cell and of its border."""

PAPER, INK, FAINT = "#faf7f1", "#26262b", "#8b8578"
"""The colors of the background, of text, and of less important text."""

PANEL = "#ffffff"
"""The background of the markers and racks beside a board."""

START_SYMBOL_GROUND = "#16161a"
"""The background of a printed symbol on a terminal."""

DARK_TEXT = "GOYP"
"""The letters of the colors on which text is dark; on the others it is light."""

NIGHT = {"paper": "#1b1c1f", "ink": "#ecebe6", "free": "#4a4b52", "edge": "#6f6e72"}
"""What the page has in its dark mode in place of PAPER, INK, FREE and FREE_EDGE. Tiles and marks are the same."""

MARK = "#ff3fd0"
"""The color of the last move. No tile has it, and it is visible on tiles and on free cells."""


def _points_on_circle(count: int, radius: float, start: float = -90.0) -> list[tuple[float, float]]:
    angles = [math.radians(start + 360 * turn / count) for turn in range(count)]
    return [(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles]


def _polygon(points: list[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.3f} {y:.3f}" for x, y in points) + "Z"


def _star(count: int, inner: float) -> str:
    outer, between = _points_on_circle(count, 1), _points_on_circle(count, inner, -90 + 180 / count)
    return _polygon([point for pair in zip(outer, between, strict=True) for point in pair])


def _circle(radius: float, clockwise: bool = True) -> str:
    sweep = int(clockwise)
    arc = f"a{radius:.3f} {radius:.3f} 0 1 {sweep}"
    return f"M{-radius:.3f} 0{arc} {2 * radius:.3f} 0{arc} {-2 * radius:.3f} 0Z"


def _bars(count: int, inner: float, outer: float, width: float) -> str:
    """Return bars from the centre outwards as path data."""
    paths = []
    for x, y in _points_on_circle(count, 1):
        across = (-y * width / 2, x * width / 2)
        ends = [(inner, -1), (outer, -1), (outer, 1), (inner, 1)]
        paths.append(_polygon([(x * far + side * across[0], y * far + side * across[1]) for far, side in ends]))
    return "".join(paths)


SYMBOLS = {
    "R": _star(5, 0.45),
    "G": _circle(0.78),
    "B": _bars(6, 0.0, 1.0, 0.36),
    "O": _polygon([(0, -1), (0.8, 0), (0, 1), (-0.8, 0)]),
    "Y": _circle(0.5) + _bars(8, 0.64, 1.0, 0.26),
    "P": _circle(0.88) + _circle(0.48, clockwise=False),
}
"""The shapes as SVG path data about (0, 0), reaching out to 1; filled by the nonzero rule."""
