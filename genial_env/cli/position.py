"""The command that shows a position given as text."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from genial_env._util.checks import as_integer
from genial_env._util.files import write_bytes
from genial_env.cli.common import UserError, app, check_writable, one_line_errors
from genial_env.cli.console import print_text
from genial_env.records import format_position, parse_position
from genial_env.render import pixels
from genial_env.render.ansi import board_text, wants_color
from genial_env.render.svg import position_svg

SUFFIXES = (".svg", ".png")


@app.command()
def position(
    text: Annotated[str, typer.Argument(help="The position as docs/notation.md describes it, in quotes.")],
    out: Annotated[Path | None, typer.Option(help="Write a picture instead: .svg or .png.")] = None,
    seat: Annotated[int | None, typer.Option(help="Seat whose rack is shown; default: all racks.")] = None,
    width: Annotated[int | None, typer.Option(help="Width of the picture in pixels.")] = None,
) -> None:
    """Check a position given as text, and show it. Hidden racks are filled with unseen tiles at random."""
    if out is not None and out.suffix not in SUFFIXES:
        raise UserError(f"the picture's name must end in {' or '.join(SUFFIXES)}, not {out.name!r}")
    if out is None and width is not None:
        raise UserError("width is for a picture: name its file with --out")
    check_writable(out)
    with one_line_errors():
        state = parse_position(text)
        seat = seat if seat is None else as_integer(seat, "seat", 0, state.rules.players - 1)
        if out is None:
            print(board_text(state, seat=seat, color=wants_color(on=sys.stdout), named=True))
            print_text(format_position(state, seat=seat, draws=False))
            return
        width = width if width is None else as_integer(width, "width", 1, pixels.MAX_WIDTH)
        made = position_svg(state, seat=seat, width=width) if out.suffix == ".svg" else ""
        write_bytes(out, made.encode() if made else pixels.png(position_svg(state, seat=seat), width))
    print(f"{out}: written")
