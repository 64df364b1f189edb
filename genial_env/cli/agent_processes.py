"""Options of the processes in which agents play, errors of workers, and reasons of forfeits."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from genial_env.arena import tournament
from genial_env.arena.isolation import ISOLATED, Isolation
from genial_env.cli.common import MAX_SECONDS, UserError, integer_between, one_line_errors
from genial_env.cli.console import print_error, print_text

Workers = Annotated[int, typer.Option(help="Number of processes that play.", callback=integer_between(1, 1024))]
Isolate = Annotated[bool, typer.Option(help="Run every agent named by module:factory in its own process.")]
MoveTime = Annotated[
    float, typer.Option("--move-time", help="Most seconds for a move of an agent in its own process; 0: no limit.")
]
GameTime = Annotated[
    float,
    typer.Option("--game-time", help="Most seconds for all moves of such an agent in a game; 0: no limit."),
]
MOVE_TIME_S = ISOLATED.move_time_s or 0.0
MemoryLimit = Annotated[
    int,
    typer.Option(
        "--memory-limit",
        help="Most memory in MiB that the process of such an agent may ask for; 0: no limit. Linux only.",
        callback=integer_between(0, 2**40),
    ),
]


def make_isolation(
    isolate: Isolate = True,
    move_time: MoveTime = MOVE_TIME_S,
    game_time: GameTime = 0.0,
    memory_limit: MemoryLimit = 0,
) -> Isolation:
    """Return the settings of process isolation of the options; a limit of 0 is none.

    Raises:
        UserError: if a limit is out of range, or this system has none of memory.
    """
    for option, seconds in (("--move-time", move_time), ("--game-time", game_time)):
        if not 0 <= seconds <= MAX_SECONDS:
            raise UserError(f"{option} must be 0 to {MAX_SECONDS:,.0f}, not {seconds:g}")
    try:
        return Isolation(isolate, move_time or None, game_time or None, memory_limit or None)
    except ValueError as error:
        raise UserError(str(error)) from error


@contextmanager
def worker_errors() -> Iterator[None]:
    """Turn errors of the block, also that a worker has ended, into errors of one line, which end the command."""
    try:
        with one_line_errors():
            yield
    except tournament.WorkerEnded as error:
        print_error(str(error))
        raise typer.Exit(1) from error


def print_reasons(reasons: Iterable[tuple[str, str]]) -> None:
    """Print why agents have forfeited games.

    Args:
        reasons: agents, and one reason for each.
    """
    for agent, reason in reasons:
        print_text(f"{agent} forfeited, for example: {reason}")
