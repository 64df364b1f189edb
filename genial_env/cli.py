"""The `genial` command."""

import json
import math
import os
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from genial_env import backends
from genial_env.backends import Backend, using
from genial_env.bench import all_measurements
from genial_env.errors import RecordError
from genial_env.play import Results, play_batches
from genial_env.record import numbered_lines, parse_line, record_file, replay, verify
from genial_env.render.ansi import board_text
from genial_env.rules import Rules

app = typer.Typer(
    help="Génial!/Ingenious: play games between agents, check and show records, measure speed.",
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


@app.command()
def simulate(
    players: Players = 2,
    edition: Edition = "2025",
    mode: Mode = "individual",
    agents: Annotated[
        str, typer.Option(help="One agent a seat, separated by commas: random, greedy, concave, denial.")
    ] = "random,greedy",
    games: Annotated[int, typer.Option(help="How many games.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the run.")] = 0,
    batch: Annotated[int, typer.Option(help="Games played at a time; changes the speed only.")] = 1024,
    out: Annotated[Path | None, typer.Option(help="Write the game records there, a JSON object a line.")] = None,
    side: Side = None,
    colors: Colors = 6,
    rack: RackSize = None,
    tile_sets: TileSets = 1,
    backend: BackendName = None,
    threads: Threads = 1,
) -> None:
    """Play games between agents, and print how each seat fared."""
    rules = _rules(players, edition, mode, side=side, colors=colors, rack=rack, tile_sets=tile_sets)
    names = [name.strip() for name in agents.split(",")]
    chosen = _backend(backend, threads)
    batches = play_batches(names, rules, games, seed, batch=batch, record=out is not None, backend=chosen)
    try:
        first = next(batches)  # wrong arguments show here, before a file is begun
    except ValueError as error:
        raise UserError(str(error)) from error
    parts = list(_with_progress(_written(chain([first], batches), out), games))
    _console().print(results_table(parts))
    if out is not None:
        print(f"{games} records in {out}")


def _written(batches: Iterator[Results], out: Path | None) -> Iterator[Results]:
    """The batches, while their records go into the file, if there is one."""
    if out is None:
        yield from batches
        return
    try:
        with record_file(out) as write:
            for part in batches:
                for record in part.records or []:
                    write(record)
                part.records = None
                yield part
    except OSError as error:
        raise UserError(_about_file(out, error)) from error


def _with_progress(batches: Iterator[Results], games: int) -> Iterator[Results]:
    """The batches, while a bar shows how many games they hold."""
    with _progress() as progress:
        task = progress.add_task("games", total=games)
        for part in batches:
            yield part
            progress.update(task, advance=len(part))


@app.command("verify")
def verify_files(
    files: Annotated[list[Path], typer.Argument(help="Files of game records, a JSON object a line.")],
) -> None:
    """Replay game records and check every line of them. Exit status 1 where one is wrong, 2 for an unreadable file."""
    statuses = [_verify_file(path) for path in files]
    if any(statuses):
        raise typer.Exit(max(statuses))


def _verify_file(path: Path) -> int:
    """Check one file and print what is wrong; returns the exit status."""
    numbers: list[int] = []
    unreadable: dict[int, str] = {}

    def records() -> Iterator[dict[str, Any]]:
        for number, text in numbered_lines(path):
            try:
                record = parse_line(text)
            except RecordError as error:
                unreadable[number] = str(error)
            else:
                numbers.append(number)
                yield record

    try:
        faults = list(verify(records()))
    except (OSError, RecordError) as error:
        _complain(_about_file(path, error))
        return 2
    found = unreadable | {number: fault for number, fault in zip(numbers, faults, strict=True) if fault is not None}
    for number in sorted(found):
        print(f"{path}:{number}: {found[number]}")
    if not numbers and not unreadable:
        print(f"{path}: no games")
    elif not found:
        print(f"{path}: {len(numbers)} games, all replay")
    else:
        print(f"{path}: {len(found)} of {len(numbers) + len(unreadable)} games are wrong")
    return 1 if found else 0


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="A file of game records.")],
    game: Annotated[int, typer.Option(help="Which game of the file, from 1.")] = 1,
    event: Annotated[int | None, typer.Option(help="After how many events; left out, at the end.")] = None,
) -> None:
    """Show a position of a recorded game: in color on a terminal, else in plain letters."""
    record = _nth_record(file, game)
    try:
        state = replay(record, event)
    except ValueError as error:
        raise UserError(f"{file}: game {game}: {error}") from error
    events = record["events"][: len(record["events"]) if event is None else event]
    placed = [happened for happened in events if happened[0] == "place"]
    names = [agent if agent.isprintable() else ascii(agent) for agent in record["agents"]]
    seats = ", ".join(f"seat {seat} {name}" for seat, name in enumerate(names))
    print(f"game {game} of {file}: {seats}; {_in_words(record['rules'])}; seed {record['seed']}")
    print(
        f"after event {len(events)} of {len(record['events'])}: {_event_words(events[-1]) if events else 'the deal'}\n"
    )
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    print(board_text(state, color=color, last=[tuple(cell) for cell in placed[-1][5:7]] if placed else None))


@app.command()
def bench(
    players: Annotated[int, typer.Option(help="Seats, 2 to 4.")] = 2,
    batch: Annotated[int, typer.Option(help="Games at a time.")] = 2048,
    seconds: Annotated[float, typer.Option(help="CPU time to measure for.")] = 3.0,
    backend: BackendName = None,
    threads: Threads = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
) -> None:
    """Measure play on this machine: random with and without masks, by each built-in policy, and one game at a time."""
    if batch < 1 or not 0 < seconds < math.inf:
        raise UserError(f"batch and seconds must be above 0, not {batch} and {seconds}")
    rules = _rules(players, "2025", "individual")
    table = Table("play", "batch", "backend", "threads", "moves/s", "games/s")
    with using(_backend(backend, threads)):
        for found in all_measurements(rules, batch, seconds):
            if as_json:
                print(json.dumps(found.to_dict()))
            else:
                speeds = f"{found.moves_per_s:,.0f}", f"{found.games_per_s:,.0f}"
                table.add_row(found.play, str(found.batch), found.backend, str(found.threads), *speeds)
    if not as_json:
        _console().print(table)


def _backend(name: str | None, threads: int) -> Backend | None:
    """The backend that is asked for; None where none is."""
    try:
        chosen = None if name is None and threads == 1 else Backend(name or backends.current().name, threads)
        if chosen is not None and chosen.name == backends.NUMBA:
            backends.compiled()
    except (ValueError, ImportError) as error:
        raise UserError(str(error)) from error
    return chosen


def results_table(parts: list[Results]) -> Table:
    """How each track fared: mean lowest marker, mean sorted markers, share of each rank."""
    rules, agents = parts[0].rules, parts[0].agents
    scores = np.concatenate([part.scores for part in parts])
    ranks = np.concatenate([part.ranks for part in parts])
    kind = "team" if rules.mode == "team" else "seat"
    places = range(1, rules.tracks + 1) if rules.tracks > 1 else ()
    columns = [kind, "agent", "mean lowest", "mean sorted markers", *(f"rank {place}" for place in places)]
    table = Table(*columns, title=f"{len(scores)} games, {_in_words(rules.to_dict())}")
    for track in range(rules.tracks):
        mean = np.sort(scores[:, track], axis=1).mean(axis=0)
        shares = [f"{(ranks[:, track] == place).mean():.1%}" for place in places]
        names = " + ".join(agents[track :: rules.tracks])
        table.add_row(str(track), names, f"{mean[0]:.2f}", " ".join(f"{marker:.1f}" for marker in mean), *shares)
    return table


def _rules(players: int, edition: str, mode: str, **sizes: Any) -> Rules:
    try:
        return Rules(players, edition, mode, **sizes)
    except ValueError as error:
        raise UserError(str(error)) from error


def _nth_record(file: Path, game: int) -> dict[str, Any]:
    """One game of a file, whatever the others are like."""
    count = 0
    try:
        for number, text in numbered_lines(file):
            count += 1
            if count == game:
                return _record_in(f"{file}:{number}", text)
    except (OSError, RecordError) as error:
        raise UserError(_about_file(file, error)) from error
    raise UserError(f"{file} holds {count} games: game must be 1 to {count}, not {game}")


def _record_in(where: str, text: str) -> dict[str, Any]:
    try:
        return parse_line(text)
    except RecordError as error:
        raise UserError(f"{where}: {error}") from error


def _about_file(path: Path, error: Exception) -> str:
    """An error with its file; RecordError names it itself."""
    return f"{path}: {error.strerror}" if isinstance(error, OSError) else str(error)


def _in_words(rules: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in rules.items())


def _event_words(event: list[Any]) -> str:
    """An event as a sentence."""
    name, seat = event[0], event[1]
    if name == "place":
        points = " ".join(f"{letter}{count}" for letter, count in event[7].items()) or "none"
        return f"seat {seat} lays {event[4]} on {tuple(event[5])} {tuple(event[6])}, points: {points}"
    if name == "draw":
        return f"seat {seat} draws {' '.join(event[2])}"
    if name == "swap":
        return f"seat {seat} swaps {' '.join(event[3])} for {' '.join(event[4])}"
    return f"seat {seat} gives up a bonus placement" if name == "pass" else f"seat {seat} keeps its rack"


def _progress() -> Progress:
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


def _console() -> Console:
    """Standard output; where it is no terminal, wide enough for every table."""
    return Console(width=None if sys.stdout.isatty() else 120)


def _complain(message: str) -> None:
    print(f"genial: {message}", file=sys.stderr)


def main() -> None:
    """Run the command; what the user did wrong is one line and status 2."""
    try:
        app()
    except UserError as error:
        _complain(str(error))
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone: nothing is left to say


if __name__ == "__main__":
    main()
