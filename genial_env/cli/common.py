"""Options and error handling that the commands share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from genial_env import backends
from genial_env._util.checks import as_integer
from genial_env._util.files import FolderInUse, check_replaceable
from genial_env._util.shutdown import describe_os_error
from genial_env._util.version import __version__
from genial_env.backends import Backend
from genial_env.cli.console import print_error

app = typer.Typer(
    help="Génial!/Ingenious: play games, run agents and tournaments, check and show game records, measure speed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"genial_env {__version__}")
        raise typer.Exit


@app.callback()
def _take_options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


class UserError(Exception):
    """A mistake of the user, described in one line. It ends the command with status 2."""


def integer_between(low: int, high: int) -> Callable[[typer.CallbackParam, int | None], int | None]:
    """Return a callback that checks that an option is a whole number from `low` to `high`."""

    def check(param: typer.CallbackParam, value: int | None) -> int | None:
        if value is None:
            return None
        try:
            return as_integer(value, str(param.name).replace("_", "-"), low, high)
        except ValueError as error:
            raise UserError(str(error)) from error

    return check


MAX_SEED = 2**64 - 1


Seed = Annotated[int, typer.Option(help="Seed of the deals.", callback=integer_between(0, MAX_SEED))]
BackendName = Annotated[
    str | None,
    typer.Option("--backend", help="Compute backend: numpy, or numba (extra fast). It changes only the speed."),
]
Threads = Annotated[int, typer.Option(help="Threads of the backend numba.", callback=integer_between(1, 1024))]
GameNumber = Annotated[int, typer.Option(help="Number of the game in the file, from 1.")]
EventNumber = Annotated[int | None, typer.Option(help="Number of events before the position; default: all.")]
DecisionNumber = Annotated[
    int | None,
    typer.Option(help="Show the position before this decision, numbered from 1 as in a review, instead of --event."),
]


def choose_backend(name: str | None, threads: int) -> Backend | None:
    """Return the backend of the options; None for the current one.

    Raises:
        UserError: if there is no such backend.
    """
    try:
        chosen = None if name is None and threads == 1 else Backend(name or backends.current().name, threads)
        chosen = chosen and backends.pick(chosen)
        if chosen is not None and chosen.name == backends.NUMBA:
            backends.compiled()
    except (ValueError, ImportError) as error:
        raise UserError(str(error)) from error
    return chosen


def format_rules(rules: dict[str, Any]) -> str:
    """Return rules as text: "players 2, edition 2025, mode individual"."""
    return ", ".join(f"{name} {value}" for name, value in rules.items())


def describe_file_error(path: Path, error: Exception) -> str:
    """Return the message of an error about a file. An OSError does not name the file, other errors do."""
    return f"{path}: {error.strerror or error}" if isinstance(error, OSError) else str(error)


def describe_no_games(path: Path) -> str:
    """Return the message for a file of records without any."""
    return f"{path} holds no games"


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn the errors of invalid input in the block into errors of one line, which end the command."""
    try:
        yield
    except BrokenPipeError:
        raise
    except FolderInUse as error:  # not a mistake of the user
        print_error(describe_os_error(error))
        raise typer.Exit(1) from error
    except OSError as error:
        raise UserError(describe_os_error(error)) from error
    except (ValueError, TypeError, ImportError, OverflowError) as error:
        raise UserError(str(error)) from error
    except MemoryError as error:
        raise UserError("there is not enough memory") from error


MAX_SECONDS = 1e6
"""The most seconds that a command may run for."""


def check_seconds(seconds: float) -> None:
    """Check for how many seconds a command is to run.

    Raises:
        UserError: if it is not above 0 and at most :data:`MAX_SECONDS`.
    """
    if not 0 < seconds <= MAX_SECONDS:
        raise UserError(f"seconds must be above 0 and at most {MAX_SECONDS:,.0f}, not {seconds}")


def check_writable(path: Path | None) -> None:
    """Check that a file can be written, before the work begins.

    Raises:
        UserError: if it cannot be written.
    """
    if path is not None:
        with one_line_errors():
            check_replaceable(path)
