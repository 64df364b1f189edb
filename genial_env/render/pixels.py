"""Convert drawings to pixels with resvg (extra `render`). No display and no system fonts are needed.

Text is set in the part of DejaVu Sans in `fonts/`: Latin letters, digits, signs. Other characters are left out.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_integer
from genial_env._util.extras import install_hint
from genial_env.render._shapes import MAX_WIDTH

__all__ = ["MAX_FILM_WIDTH", "MAX_SECONDS", "MAX_WIDTH", "gif", "png", "rgb_array"]

MAX_FILM_WIDTH = 2048
"""The greatest width and height of an animation in pixels. All its pictures are in memory."""

MAX_SECONDS = 150.0
"""The longest time of a picture in an animation.

GIF counts hundredths of a second in 16 bits, and the last picture is shown four times as long.
"""

_FONTS = [str(path) for path in sorted((Path(__file__).parent / "fonts").glob("*.ttf"))]


def png(svg: str, width: int | None = None) -> bytes:
    """Return a drawing as a PNG file.

    Args:
        svg: a drawing of :mod:`genial_env.render.svg`.
        width: the width in pixels; None for that of the drawing.

    Raises:
        ImportError: if the extra `render` is not installed.
        TypeError: if the width is not a whole number.
        ValueError: if the width is not 1 to :data:`MAX_WIDTH`, the picture would be higher than that, or the drawing is
            not SVG with its width and height in pixels.
    """
    _check_size(svg, width, MAX_WIDTH)
    try:
        import resvg_py
    except ImportError as error:
        raise _missing(error) from error
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg, width=width, skip_system_fonts=True, font_files=_FONTS, font_family="DejaVu Sans"
        )
    )


def rgb_array(svg: str, width: int | None = None) -> NDArray[np.uint8]:
    """Return a drawing as a new array [height, width, 3]. Height and width are even, as video codecs need.

    Args:
        svg: a drawing of :mod:`genial_env.render.svg`.
        width: the width in pixels; None for that of the drawing.

    Raises:
        ImportError: if the extra `render` is not installed.
        TypeError: if the width is not a whole number.
        ValueError: if the width is not 1 to :data:`MAX_WIDTH`, the picture would be higher than that, or the drawing is
            not SVG with its width and height in pixels.
    """
    pixels = np.asarray(_image(svg, width))
    odd_rows, odd_columns = len(pixels) % 2, pixels.shape[1] % 2
    return np.pad(pixels, ((0, odd_rows), (0, odd_columns), (0, 0)), mode="edge")


def gif(drawings: Sequence[str], seconds: float = 0.7, width: int | None = None) -> bytes:
    """Return drawings of one size as a GIF that repeats. The last drawing is shown four times as long.

    Args:
        drawings: drawings as SVG.
        seconds: how long each drawing is shown.
        width: the width in pixels; None for that of the drawings.

    Raises:
        ImportError: if the extra `render` is not installed.
        TypeError: if the width is not a whole number.
        ValueError: if there are no drawings, the time is not 0.01 to :data:`MAX_SECONDS`, or the width is not 1 to
            :data:`MAX_FILM_WIDTH`; see also :func:`png`.
    """
    if not drawings:
        raise ValueError("an animation takes at least one drawing")
    if not 0.01 <= seconds <= MAX_SECONDS:
        raise ValueError(f"seconds must be 0.01 to {MAX_SECONDS:g}, not {seconds}")
    for svg in drawings:
        _check_size(svg, width, MAX_FILM_WIDTH)
    last = _image(drawings[-1], width)
    palette = last.quantize(128)  # of the last one, which has all colors; all frames share it, so that nothing flickers
    frames = [_image(svg, width).quantize(palette=palette, dither=0) for svg in drawings[:-1]]
    frames.append(last.quantize(palette=palette, dither=0))
    shown = [int(1000 * seconds)] * (len(frames) - 1) + [int(4000 * seconds)]
    file = io.BytesIO()
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:], duration=shown, loop=0, optimize=True)
    return file.getvalue()


def _missing(error: ImportError) -> ImportError:
    return ImportError(f"pictures need resvg-py and pillow: {install_hint('render')} ({error})")


def _check_size(svg: str, width: int | None, most: int) -> None:
    """Check the size of a picture before resvg allocates it: resvg ends the process where memory is short.

    Args:
        svg: the drawing.
        width: the width of the picture; None for that of the drawing.
        most: the greatest width and height.

    Raises:
        TypeError: if the width is not a whole number.
        ValueError: if a size is out of range, or the drawing does not say its size.
    """
    if width is not None:
        width = as_integer(width, "width", 1, most)
    try:
        root = next(ElementTree.iterparse(io.StringIO(svg), events=("start",)))[1]
        wide, high = float(root.get("width", "")), float(root.get("height", ""))
    except (ElementTree.ParseError, StopIteration, ValueError) as error:
        raise ValueError("the drawing must be SVG with its width and height in pixels") from error
    if width is not None:
        high, wide = high * width / wide if wide > 0 else 0, width
    if not (0 < wide <= most and 0 < high <= most):
        raise ValueError(f"a picture has at most {most} by {most} pixels, not {wide:.0f} by {high:.0f}")


def _image(svg: str, width: int | None) -> Any:
    """Return a drawing as an image, on white where it is transparent."""
    try:
        from PIL import Image
    except ImportError as error:
        raise _missing(error) from error
    drawn = Image.open(io.BytesIO(png(svg, width))).convert("RGBA")
    ground = Image.new("RGBA", drawn.size, "white")
    return Image.alpha_composite(ground, drawn).convert("RGB")
