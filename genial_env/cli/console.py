"""How the commands write: on any encoding, any terminal, into closed pipes and onto full disks.

:func:`prepare_streams` is called once, before anything is written; :func:`finish` at the end. In between everybody may
print any text: what the encoding of standard output or standard error lacks is written in plain letters instead.
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
"""How wide tables may be where standard output is no terminal."""

_PLAIN_ERRORS = "genial_env.plain"

_PLAIN = {"¼": "1/4", "½": "1/2", "¾": "3/4", "·": ".", "•": "*", "–": "-", "—": "-", "−": "-", "…": "~", "×": "x"}
_PLAIN |= dict.fromkeys("‘’", "'") | dict.fromkeys("“”„", '"') | dict.fromkeys("─━═╌╴╶╸╺", "-")
_PLAIN |= dict.fromkeys("│┃║", "|") | {"→": "->", "±": "+-", "\N{NO-BREAK SPACE}": " "}


def prepare_streams() -> None:
    """Make standard output and standard error take any text. A stream that the caller has closed takes it, too."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  for as long as the process
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_PLAIN_ERRORS)


def _in_plain_letters(error: UnicodeError) -> tuple[str, int]:
    """What stands for the characters that an encoding lacks: letters without their accents, lines of + - and |."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_plain(character) for character in missing), error.end


def _plain(character: str) -> str:
    if character in _PLAIN:
        return _PLAIN[character]
    if "─" <= character <= "╿":
        return "+"
    letters = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return letters or character.encode("ascii", "backslashreplace").decode()


codecs.register_error(_PLAIN_ERRORS, _in_plain_letters)


def writable(text: str) -> str:
    """Return the text as standard output will show it: what its encoding lacks is in plain letters already."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, _PLAIN_ERRORS).decode(encoding)


def printable(text: str) -> str:
    """Return text of others, without what would command the terminal."""
    return text if text.isprintable() else ascii(text)


def finish(status: int) -> int:
    """Write what is still to be written; returns the exit status.

    Standard output that cannot be written is status 1, as Python's documentation has it for closed pipes; it is said on
    standard error unless the reader has just gone.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        return gone(error)
    return status


def gone(error: OSError) -> int:
    """Say that standard output cannot be written, unless its reader has gone; returns the exit status."""
    with suppress(OSError, ValueError):  # so that the interpreter does not try again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):
        complain(f"the output cannot be written: {error.strerror or error}")
    return 1


def complain(message: str) -> None:
    """Say what is wrong, on standard error."""
    with suppress(OSError):  # whoever cannot be told is not told
        print(f"genial: {message}", file=sys.stderr, flush=True)


def output() -> Console:
    """Standard output; where it is no terminal, wide enough for every table. Text is printed as it is: no markup."""
    width = None if sys.stdout.isatty() else WIDTH_OF_FILES
    return Console(width=width, markup=False, highlight=False, emoji=False)


def make_table(columns: Iterable[str], *, title: str | None = None, caption: str | None = None) -> Table:
    """Make a table without rows; what is too long for a cell goes on in the next line."""
    table = Table(title=_cell(title), caption=_cell(caption))
    for column in columns:
        table.add_column(_cell(column), overflow="fold")
    return table


def add_row(table: Table, *cells: str) -> None:
    """Add a row, in place. Brackets are brackets, whoever has written them."""
    table.add_row(*map(_cell, cells))


def _cell(text: str | None) -> Any:
    return None if text is None else Text(writable(printable(text)))


def progress_bar() -> Progress:
    """A bar on a terminal, nothing elsewhere; on standard error, so that output can be piped."""
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
    """Take what stands on the terminal out of sight."""
    print("\n" * 60 if is_dumb() else "\x1b[H\x1b[2J\x1b[3J", end="")


def is_dumb() -> bool:
    """Return whether the terminal knows no commands."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")
