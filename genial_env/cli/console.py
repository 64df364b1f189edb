"""Output of the commands, for all encodings and terminals, closed pipes and full disks.

:func:`prepare_streams` must be called once before anything is written, :func:`finish` at the end. Between
them any text can be printed: characters that the encoding of the stream lacks are replaced by plain letters.
"""

import codecs
import os
import sys
import time
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import TextIOWrapper
from shutil import get_terminal_size
from textwrap import TextWrapper
from threading import Event, Thread
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from genial_env.render.ansi import is_dumb

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


def find_width() -> int:
    """Return the number of columns of standard output."""
    return get_terminal_size().columns if sys.stdout.isatty() else WIDTH_OF_FILES


def print_text(text: str, indent: int = 0) -> None:
    """Print text for people. On a terminal, long lines are wrapped between words.

    Args:
        text: lines of text.
        indent: the number of spaces before the lines that continue another.
    """
    if sys.stdout.isatty():
        wrapper = TextWrapper(
            max(find_width(), 2 * indent + 1),
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
            expand_tabs=False,
            replace_whitespace=False,
        )
        text = "\n".join(wrapper.fill(line) for line in text.split("\n"))
    print(text)


def print_table(table: Table) -> None:
    """Print a table on standard output, or as a list of its cells if a terminal is too narrow for its longest words."""
    height = 25  # without it, rich takes dumb terminals for 80 columns wide
    console = Console(width=find_width(), height=height, markup=False, highlight=False, emoji=False)
    any_width = console.options.update(max_width=10_000)
    if not sys.stdout.isatty() or Measurement.get(console, any_width, table).minimum <= console.width:
        console.print(table)
        return
    for text in (table.title, *_list_cells(table), table.caption):
        if text is not None:
            print_text(str(text), indent=2)


def _list_cells(table: Table) -> Iterator[str]:
    """Yield a line for each cell: the name of its column and its content. An empty line ends each row."""
    for row in zip(*(column.cells for column in table.columns), strict=True):
        for column, cell in zip(table.columns, row, strict=True):
            yield f"{column.header}: {cell}" if str(column.header) else str(cell)
        yield ""


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


class Thinking:
    """Shows a line on the terminal while the block runs, from one second on with the seconds, and then removes it.

    Args:
        words: who does what.
        shown: whether anything is shown.
    """

    def __init__(self, words: str, shown: bool) -> None:
        self._words, self._shown = words, shown
        self._ended = Event()
        self._thread = Thread(target=self._count, daemon=True)

    def __enter__(self) -> None:
        if self._shown:
            self._show(self._words)
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._shown:
            self._thread.join()
            self._show("")

    def _count(self) -> None:
        begun = time.perf_counter()
        while not self._ended.wait(1):
            self._show(f"{self._words}, {time.perf_counter() - begun:.0f} s")

    def _show(self, words: str) -> None:
        width = find_width() - 1
        with suppress(OSError):
            print(f"\r{words[:width]:{width}}\r{words[:width]}", end="", flush=True)


def clear_screen() -> None:
    """Clear the terminal."""
    print("\n" * 60 if is_dumb() else "\x1b[H\x1b[2J\x1b[3J", end="")
