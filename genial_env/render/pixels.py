"""Drawings as pixels, by resvg (extra `render`); no display, no fonts of the system: the same picture everywhere.

Words are set in the part of DejaVu Sans that lies in `fonts/`: Latin letters, digits, signs. Others are left out.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_integer

__all__ = ["MAX_FILM_WIDTH", "MAX_SECONDS", "MAX_WIDTH", "MISSING", "gif", "png", "rgb_array"]

MISSING = "pictures need resvg-py and pillow: pip install 'genial-env[render]'"

MAX_WIDTH = 8192
"""Of a picture, in pixels: the drawing is held in memory with 4 bytes a pixel."""

MAX_FILM_WIDTH = 2048
"""Of a film, all of whose pictures are held in memory."""

MAX_SECONDS = 150.0
"""Of a picture in a film: GIF counts hundredths of a second in 16 bits, and the last picture has four times as long."""

_FONTS = [str(path) for path in sorted((Path(__file__).parent / "fonts").glob("*.ttf"))]


def png(svg: str, width: int | None = None) -> bytes:
    """A drawing as a PNG file.

    Args:
        svg: as :mod:`genial_env.render.svg` makes it.
        width: in pixels; left out, the drawing's own.

    Raises:
        ImportError: without the extra `render`.
        TypeError, ValueError: for a width that is not 1 to :data:`MAX_WIDTH`, or something that is no SVG.
    """
    if width is not None:
        width = as_integer(width, "width", 1, MAX_WIDTH)
    try:
        import resvg_py
    except ImportError as error:
        raise ImportError(f"{MISSING} ({error})") from error
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg, width=width, skip_system_fonts=True, font_files=_FONTS, font_family="DejaVu Sans"
        )
    )


def rgb_array(svg: str, width: int | None = None) -> NDArray[np.uint8]:
    """A drawing as an array [height, width, 3], newly made; height and width are even, as video codecs want them.

    Args:
        svg: as :mod:`genial_env.render.svg` makes it.
        width: in pixels; left out, the drawing's own.

    Raises:
        ImportError, TypeError, ValueError: as :func:`png`.
    """
    pixels = np.asarray(_image(svg, width))
    odd_rows, odd_columns = len(pixels) % 2, pixels.shape[1] % 2
    return np.pad(pixels, ((0, odd_rows), (0, odd_columns), (0, 0)), mode="edge")


def gif(drawings: Sequence[str], seconds: float = 0.7, width: int | None = None) -> bytes:
    """Drawings of one size as an animation that runs for ever, the last one shown four times as long.

    Args:
        drawings: SVGs.
        seconds: how long each is shown.
        width: in pixels; left out, the drawings' own.

    Raises:
        ImportError: without the extra `render`.
        TypeError, ValueError: for no drawings, a time that is not 0.01 to :data:`MAX_SECONDS`, or a width that is not
            1 to :data:`MAX_FILM_WIDTH`.
    """
    if not drawings:
        raise ValueError("an animation takes at least one drawing")
    if not 0.01 <= seconds <= MAX_SECONDS:
        raise ValueError(f"seconds must be 0.01 to {MAX_SECONDS:g}, not {seconds}")
    if width is not None:
        width = as_integer(width, "width", 1, MAX_FILM_WIDTH)
    last = _image(drawings[-1], width)
    palette = last.quantize(128)  # of the last one, which has all colors; one for all, so that nothing flickers
    frames = [_image(svg, width).quantize(palette=palette, dither=0) for svg in drawings[:-1]]
    frames.append(last.quantize(palette=palette, dither=0))
    shown = [int(1000 * seconds)] * (len(frames) - 1) + [int(4000 * seconds)]
    file = io.BytesIO()
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:], duration=shown, loop=0, optimize=True)
    return file.getvalue()


def _image(svg: str, width: int | None) -> Any:
    """On white, where the drawing is transparent."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(f"{MISSING} ({error})") from error
    drawn = Image.open(io.BytesIO(png(svg, width))).convert("RGBA")
    ground = Image.new("RGBA", drawn.size, "white")
    return Image.alpha_composite(ground, drawn).convert("RGB")
