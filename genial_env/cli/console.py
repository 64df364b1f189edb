"""Output of the commands, for all encodings and terminals, closed pipes and full disks.

:func:`prepare_streams` must be called once before anything is written, :func:`finish` at the end. Between
them any text can be printed: characters that the encoding of the stream lacks are replaced by plain letters.
"""

import codecs
import os
import sys
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from io import TextIOWrapper
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

WIDTH_OF_FILES = 120
"""The width of tables if standard output is not a terminal."""

_PLAIN_ERRORS = "genial_env.plain"

_PLAIN = {"¼": "1/4", "½": "1/2", "¾": "3/4", "·": ".", "•": "*", "–": "-", "—": "-", "−": "-", "…": "~", "×": "x"}
_PLAIN |= dict.fromkeys("‘’", "'") | dict.fromkeys("“”„", '"') | dict.fromkeys("─━═╌╴╶╸╺", "-")
_PLAIN |= dict.fromkeys("│┃║", "|") | {"→": "->", "±": "+-", "\N{NO-BREAK SPACE}": " "}


def prepare_streams() -> None:
    """Let standard output and standard error accept any text, also if the caller has closed them."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  for as long as the process
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_PLAIN_ERRORS)


def _replace_characters(error: UnicodeError) -> tuple[str, int]:
    """Return replacements for the characters that an encoding lacks: letters without accents, lines of + - and |."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_replace_character(character) for character in missing), error.end


def _replace_character(character: str) -> str:
    if character in _PLAIN:
        return _PLAIN[character]
    if "─" <= character <= "╿":
        return "+"
    letters = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return letters or character.encode("ascii", "backslashreplace").decode()


codecs.register_error(_PLAIN_ERRORS, _replace_characters)


def encode_plainly(text: str) -> str:
    """Return a text with the characters replaced that the encoding of standard output lacks."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, _PLAIN_ERRORS).decode(encoding)


def escape_controls(text: str) -> str:
    """Return a text with control characters escaped, so that text from a file cannot control the terminal."""
    return text if text.isprintable() else ascii(text)


def flush_output(status: int) -> int:
    """Flush standard output and return the exit status.

    The status is 1 if standard output cannot be written. Then there is a message on standard error, unless the reader
    has closed the pipe.

    Args:
        status: the exit status if there is no error.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        return report_closed_output(error)
    return status


def report_closed_output(error: OSError) -> int:
    """Print an error about standard output, unless its reader has closed the pipe; return the exit status 1."""
    with suppress(OSError, ValueError):  # so that the interpreter does not try again when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):
        print_error(f"the output cannot be written: {error.strerror or error}")
    return 1


def print_error(message: str) -> None:
    """Print a message on standard error."""
    with suppress(OSError):  # there is no other place for the message
        print(f"genial: {message}", file=sys.stderr, flush=True)


def make_console() -> Console:
    """Return a console for standard output. It prints text without markup, and wide tables if it is not a terminal."""
    width = None if sys.stdout.isatty() else WIDTH_OF_FILES
    return Console(width=width, markup=False, highlight=False, emoji=False)


def make_table(columns: Iterable[str], *, title: str | None = None, caption: str | None = None) -> Table:
    """Return a table without rows. Text that is too long for a cell is wrapped."""
    table = Table(title=_cell(title), caption=_cell(caption))
    for column in columns:
        table.add_column(_cell(column), overflow="fold")
    return table


def add_row(table: Table, *cells: str) -> None:
    """In place: add a row to a table. Brackets in the text are not markup."""
    table.add_row(*map(_cell, cells))


def _cell(text: str | None) -> Any:
    return None if text is None else Text(encode_plainly(escape_controls(text)))


def progress_bar() -> Progress:
    """Return a progress bar on standard error; it shows nothing if that is not a terminal."""
    console = Console(stderr=True)
    shown = console.is_terminal and not console.is_dumb_terminal
    console.quiet = not shown  # older versions of rich print a line end for a bar that is disabled
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not shown,
    )


def clear_screen() -> None:
    """Clear the terminal."""
    print("\n" * 60 if is_dumb() else "\x1b[H\x1b[2J\x1b[3J", end="")


def is_dumb() -> bool:
    """Return whether the terminal has no control sequences."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")
