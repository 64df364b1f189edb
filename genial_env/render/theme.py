"""How the six colors look: a shape for each, so that nobody needs to tell colors apart, and a palette.

The palette keeps every two colors at least 16 apart (CAM02-UCS), for normal sight and for full protanopia, deuteranopia
and tritanopia as simulated by Machado and others (2009), and each at a contrast of 3 or more to the ground of a tile
(WCAG 2.1 asks that of graphics). tests/render/test_render.py measures it.
"""

import math

__all__ = ["COLORS", "FAINT", "FREE", "FREE_EDGE", "INK", "MARK", "PAPER", "SHAPES", "SYMBOLS", "TILE"]

COLORS = {"R": "#e61721", "G": "#12a767", "B": "#3b61ff", "O": "#f3a718", "Y": "#f3f947", "P": "#b36ea9"}
"""sRGB by color letter."""

SHAPES = {"R": "star", "G": "disc", "B": "snowflake", "O": "diamond", "Y": "sun", "P": "ring"}
"""What is drawn, in words."""

TILE = "#24242c"
"""The ground of a tile."""

FREE, FREE_EDGE = "#efe9dc", "#c9bfa9"
"""A free cell and its border."""

PAPER, INK, FAINT = "#faf7f1", "#26262b", "#8b8578"
"""What everything stands on, text on it, and lesser text."""

MARK = "#ff3fd0"
"""The last move; no tile has this color, and it stands out on tiles as on free cells."""


def _turns(count: int, radius: float, start: float = -90.0) -> list[tuple[float, float]]:
    angles = [math.radians(start + 360 * turn / count) for turn in range(count)]
    return [(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles]


def _polygon(points: list[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.3f} {y:.3f}" for x, y in points) + "Z"


def _star(count: int, inner: float) -> str:
    outer, between = _turns(count, 1), _turns(count, inner, -90 + 180 / count)
    return _polygon([point for pair in zip(outer, between, strict=True) for point in pair])


def _circle(radius: float, clockwise: bool = True) -> str:
    sweep = int(clockwise)
    arc = f"a{radius:.3f} {radius:.3f} 0 1 {sweep}"
    return f"M{-radius:.3f} 0{arc} {2 * radius:.3f} 0{arc} {-2 * radius:.3f} 0Z"


def _bars(count: int, inner: float, outer: float, width: float) -> str:
    """Bars from the centre outwards."""
    paths = []
    for x, y in _turns(count, 1):
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
