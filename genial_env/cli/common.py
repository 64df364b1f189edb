"""What the commands share: options, errors, progress bars."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from genial_env import backends
from genial_env.backends import Backend
from genial_env.rules import Rules

app = typer.Typer(
    help="Génial!/Ingenious: play, let agents play, hold tournaments, check and show records, measure speed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

Players = Annotated[int, typer.Option(help="Seats, 1 to 4.")]
Edition = Annotated[str, typer.Option(help="Rule sheet: 2004, 2009 or 2025.")]
Mode = Annotated[str, typer.Option(help="individual, team (4 players) or solo (1); team and solo with 2004 or 2009.")]
Side = Annotated[int | None, typer.Option(help="Variant: cells along an edge of the board, 3 to 10.")]
Colors = Annotated[int, typer.Option(help="Variant: colors in play, 2 to 6.")]
RackSize = Annotated[int | None, typer.Option("--rack", help="Variant: tiles on a rack, 2 to 6.")]
TileSets = Annotated[int, typer.Option(help="Variant: boxes of tiles in the bag.")]
BackendName = Annotated[
    str | None,
    typer.Option("--backend", help="Who does the work: numpy or (extra fast) numba; changes the speed only."),
]
Threads = Annotated[int, typer.Option(help="Threads that share the games, with numba.")]


class UserError(Exception):
    """What a user did wrong, in one line; ends the command with status 2."""


def chosen_backend(name: str | None, threads: int) -> Backend | None:
    """The backend that is asked for; None where none is."""
    try:
        chosen = None if name is None and threads == 1 else Backend(name or backends.current().name, threads)
        chosen = chosen and backends.pick(chosen)
        if chosen is not None and chosen.name == backends.NUMBA:
            backends.compiled()
    except (ValueError, ImportError) as error:
        raise UserError(str(error)) from error
    return chosen


def rules_from(players: int, edition: str, mode: str, **sizes: Any) -> Rules:
    """The rules that are asked for."""
    try:
        return Rules(players, edition, mode, **sizes)
    except ValueError as error:
        raise UserError(str(error)) from error


def progress_bar() -> Progress:
    """A bar on a terminal, nothing elsewhere; on standard error, so that output can be piped."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def output() -> Console:
    """Standard output; where it is no terminal, wide enough for every table."""
    return Console(width=None if sys.stdout.isatty() else 120)


def complain(message: str) -> None:
    """Say what is wrong, on standard error."""
    print(f"genial: {message}", file=sys.stderr)


def in_words(rules: dict[str, Any]) -> str:
    """Rules as a line lists them."""
    return ", ".join(f"{name} {value}" for name, value in rules.items())


def about_file(path: Path, error: Exception) -> str:
    """An error with its file; the others name it themselves."""
    return f"{path}: {error.strerror}" if isinstance(error, OSError) else str(error)
