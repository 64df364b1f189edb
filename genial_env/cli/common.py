"""What the commands share: options and errors."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from genial_env import backends
from genial_env._util.checks import as_integer
from genial_env._util.files import FolderInUse, check_replaceable
from genial_env._util.shutdown import describe_os_error
from genial_env.backends import Backend
from genial_env.cli.console import complain
from genial_env.core.rules import Rules

app = typer.Typer(
    help="Génial!/Ingenious: play, let agents play, hold tournaments, check and show records, measure speed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


class UserError(Exception):
    """What a user did wrong, in one line; ends the command with status 2."""


def within(low: int, high: int) -> Callable[[typer.CallbackParam, int | None], int | None]:
    """Return a callback for an option that takes whole numbers in a range; the error is one line."""

    def check(param: typer.CallbackParam, value: int | None) -> int | None:
        if value is None:
            return None
        try:
            return as_integer(value, str(param.name).replace("_", "-"), low, high)
        except ValueError as error:
            raise UserError(str(error)) from error

    return check


MOST_SEED = 2**64 - 1

Players = Annotated[int, typer.Option(help="Seats, 1 to 4.")]
Seed = Annotated[int, typer.Option(help="Seed of the deals.", callback=within(0, MOST_SEED))]
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
Threads = Annotated[int, typer.Option(help="Threads that share the games, with numba.", callback=within(1, 1024))]
GameNumber = Annotated[int, typer.Option(help="Which game of the file, from 1.")]
EventNumber = Annotated[int | None, typer.Option(help="After how many events; left out, at the end.")]


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


def in_words(rules: dict[str, Any]) -> str:
    """Rules as a line lists them."""
    return ", ".join(f"{name} {value}" for name, value in rules.items())


def about_file(path: Path, error: Exception) -> str:
    """An error with its file; the others name it themselves."""
    return f"{path}: {error.strerror or error}" if isinstance(error, OSError) else str(error)


@contextmanager
def told() -> Iterator[None]:
    """End the command with one line where what is done in the block is refused."""
    try:
        yield
    except BrokenPipeError:
        raise
    except FolderInUse as error:  # nobody's mistake
        complain(describe_os_error(error))
        raise typer.Exit(1) from error
    except OSError as error:
        raise UserError(describe_os_error(error)) from error
    except (ValueError, TypeError, ImportError, OverflowError) as error:
        raise UserError(str(error)) from error
    except MemoryError as error:
        raise UserError("there is not enough memory for as much") from error


MOST_SECONDS = 1e6
"""The longest that a command may be asked to take."""


def check_seconds(seconds: float) -> None:
    """Check how long a command is asked to take.

    Raises:
        UserError: for what is not above 0 and at most :data:`MOST_SECONDS`.
    """
    if not 0 < seconds <= MOST_SECONDS:
        raise UserError(f"seconds must be above 0 and at most {MOST_SECONDS:,.0f}, not {seconds}")


def check_out(path: Path | None) -> None:
    """See, before any work is done for it, that a file can be written.

    Raises:
        UserError: if it cannot.
    """
    if path is not None:
        with told():
            check_replaceable(path)
