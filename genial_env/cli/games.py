"""Commands that play, check, show, review and measure games."""

import json
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from genial_env._util.checks import as_integer
from genial_env._util.files import write_bytes
from genial_env._util.strict_json import JSONError, numbered_lines, parse_object
from genial_env.analysis.review import VERDICTS, Judged, Review, review
from genial_env.backends import using
from genial_env.bench import all_measurements
from genial_env.cli.common import (
    BackendName,
    Colors,
    Edition,
    EventNumber,
    GameNumber,
    Mode,
    Players,
    RackSize,
    Seed,
    Side,
    Threads,
    TileSets,
    UserError,
    about_file,
    app,
    check_out,
    check_seconds,
    chosen_backend,
    in_words,
    rules_from,
    told,
    within,
)
from genial_env.cli.console import add_row, complain, make_table, output, printable, progress_bar
from genial_env.core.state import State
from genial_env.errors import RecordError
from genial_env.policies.registry import split_names
from genial_env.records import Record, record_writer, replay, verify
from genial_env.render import pixels
from genial_env.render.ansi import board_text, wants_color
from genial_env.render.film import drawing
from genial_env.render.sentences import event_words
from genial_env.simulation import Results, play_batches


@app.command()
def simulate(
    players: Players = 2,
    edition: Edition = "2025",
    mode: Mode = "individual",
    agents: Annotated[
        str, typer.Option(help="One agent a seat, separated by commas: names, or module:factory.")
    ] = "random,greedy",
    games: Annotated[int, typer.Option(help="How many games.", callback=within(1, 10**12))] = 100,
    seed: Seed = 0,
    batch: Annotated[
        int, typer.Option(help="Games played at a time; changes the speed only.", callback=within(1, 2**20))
    ] = 1024,
    out: Annotated[Path | None, typer.Option(help="Write the game records there, a JSON object a line.")] = None,
    side: Side = None,
    colors: Colors = 6,
    rack: RackSize = None,
    tile_sets: TileSets = 1,
    backend: BackendName = None,
    threads: Threads = 1,
) -> None:
    """Play games between agents, and print how each seat fared."""
    rules = rules_from(players, edition, mode, side=side, colors=colors, rack=rack, tile_sets=tile_sets)
    names = split_names(agents)
    chosen = chosen_backend(backend, threads)
    check_out(out)
    batches = play_batches(names, rules, games, seed, batch=batch, record=out is not None, backend=chosen)
    with told():
        first = next(batches)  # wrong arguments show here, before a file is begun
    parts = list(_with_progress(_written(chain([first], batches), out), games))
    output().print(results_table(parts))
    if out is not None:
        print(f"{games} records in {out}")


def _written(batches: Iterator[Results], out: Path | None) -> Iterator[Results]:
    """The batches, while their records go into the file, if there is one."""
    if out is None:
        yield from batches
        return
    try:
        with record_writer(out) as write:
            for part in batches:
                for record in part.records or []:
                    write(record)
                part.records = None
                yield part
    except OSError as error:
        raise UserError(about_file(out, error)) from error


def _with_progress(batches: Iterator[Results], games: int) -> Iterator[Results]:
    """The batches, while a bar shows how many games they hold."""
    with progress_bar() as progress:
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
                record = parse_object(text)
            except JSONError as error:
                unreadable[number] = str(error)
            else:
                numbers.append(number)
                yield record

    try:
        faults = list(verify(records()))
    except (OSError, JSONError) as error:
        complain(about_file(path, error))
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
    game: GameNumber = 1,
    event: EventNumber = None,
) -> None:
    """Show a position of a recorded game: in color on a terminal, else in plain letters."""
    record = _nth_record(file, game)
    state = _replayed(record, event, f"{file}: game {game}")
    events = record["events"][: len(record["events"]) if event is None else event]
    placed = [each for each in events if each[0] == "place"]
    print(_about_game(file, game, record))
    happened = event_words(state.rules, events[-1]) if events else "the deal"
    print(f"after event {len(events)} of {len(record['events'])}: {happened}\n")
    last = [tuple(cell) for cell in placed[-1][5:7]] if placed else None
    print(board_text(state, color=wants_color(on=sys.stdout), last=last, named=True))


@app.command("draw")
def draw_file(
    file: Annotated[Path, typer.Argument(help="A file of game records.")],
    out: Annotated[Path, typer.Argument(help="The picture: .svg, .png, or .gif of the whole game.")],
    game: GameNumber = 1,
    event: EventNumber = None,
    seat: Annotated[int | None, typer.Option(help="Whose rack to show; left out, all.")] = None,
    width: Annotated[int | None, typer.Option(help="In pixels; left out, as it comes.")] = None,
    seconds: Annotated[float, typer.Option(help="A picture's time in a .gif.")] = 0.7,
) -> None:
    """Draw a position of a recorded game, or film the game up to it."""
    if out.suffix not in _MAKERS:
        raise UserError(f"the picture's name must end in {', '.join(_MAKERS)}, not {out.name!r}")
    check_out(out)
    record = _nth_record(file, game)
    _replayed(record, event, f"{file}: game {game}")
    if seat is not None and not 0 <= seat < len(record["agents"]):
        raise UserError(f"seat must be 0 to {len(record['agents']) - 1}, not {seat}")
    total = len(record["events"]) if event is None else event
    with told():
        made = _MAKERS[out.suffix](record, total, seat, width, seconds)
        write_bytes(out, made)
    print(f"{out}: {len(made):,} bytes")


def _svg_of(record: Record, event: int, seat: int | None, width: int | None, seconds: float) -> bytes:
    return drawing(
        record, event, seat, None if width is None else as_integer(width, "width", 1, pixels.MOST_WIDTH)
    ).encode()


def _png_of(record: Record, event: int, seat: int | None, width: int | None, seconds: float) -> bytes:
    return pixels.png(drawing(record, event, seat), width)


def _gif_of(record: Record, event: int, seat: int | None, width: int | None, seconds: float) -> bytes:
    placed = [number for number, happened in enumerate(record["events"][:event], 1) if happened[0] == "place"]
    return pixels.gif([drawing(record, number, seat) for number in [0, *placed]], seconds, width)


_MAKERS = {".svg": _svg_of, ".png": _png_of, ".gif": _gif_of}


@app.command("review")
def review_game(
    file: Annotated[Path, typer.Argument(help="A file of game records.")],
    game: GameNumber = 1,
    judge: Annotated[str, typer.Option(help="Who judges: an agent that can.")] = "value",
    everything: Annotated[bool, typer.Option("--all", help="List all decisions, not only the bad ones.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole review as a JSON object.")] = False,
) -> None:
    """Judge every decision of a recorded game: what it gave away, and what would have been better."""
    record = _nth_record(file, game)
    try:
        with progress_bar() as bar:
            task = bar.add_task("decisions", total=None)
            found = review(record, judge, lambda done, total: bar.update(task, completed=done, total=total))
    except RecordError as error:
        raise UserError(f"{file}: game {game}: {error}") from error
    except ValueError as error:
        raise UserError(str(error)) from error
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    print(_about_game(file, game, record))
    output().print(_review_table(found))
    for decision in found.decisions:
        if everything or decision.verdict in ("mistake", "blunder"):
            print(_judged_words(decision))


def _review_table(found: Review) -> Table:
    """How each seat did."""
    caption = f"losses of {found.unit}" + (", +1 first to -1 last" if found.rules.tracks > 1 else "")
    columns = ["seat", "agent", "decisions", "mean loss", *VERDICTS]
    table = make_table(columns, title=f"judged by {found.judge}", caption=caption)
    for seat, loss in enumerate(found.mean_loss()):
        own = [decision.verdict for decision in found.decisions if decision.seat == seat]
        counts = [str(own.count(verdict)) for verdict in VERDICTS]
        add_row(table, str(seat), found.agents[seat], str(len(own)), f"{loss:.3f}", *counts)
    return table


def _judged_words(decision: Judged) -> str:
    words = f"event {decision.event}: {decision.words}: {decision.verdict}"
    if decision.verdict == "best":
        return words
    return f"{words}, lost {decision.loss:.2f}; better: {decision.alternatives[0].words}"


@app.command()
def bench(
    players: Annotated[int, typer.Option(help="Seats, 2 to 4.")] = 2,
    batch: Annotated[int, typer.Option(help="Games at a time.", callback=within(1, 2**20))] = 2048,
    seconds: Annotated[float, typer.Option(help="CPU time to measure for.")] = 3.0,
    backend: BackendName = None,
    threads: Threads = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
) -> None:
    """Measure play on this machine: random with and without masks, by each built-in policy, and one game at a time."""
    check_seconds(seconds)
    rules = rules_from(players, "2025", "individual")
    table = make_table(["play", "batch", "backend", "threads", "moves/s", "games/s"])
    with told(), using(chosen_backend(backend, threads)):
        for found in all_measurements(rules, batch, seconds):
            if as_json:
                print(json.dumps(found.to_dict()))
            else:
                speeds = f"{found.moves_per_s:,.0f}", f"{found.games_per_s:,.0f}"
                add_row(table, found.play, str(found.batch), found.backend, str(found.threads), *speeds)
    if not as_json:
        output().print(table)


def results_table(parts: list[Results]) -> Table:
    """How each track fared: mean lowest marker, mean sorted markers, share of each rank."""
    rules, agents = parts[0].rules, parts[0].agents
    scores = np.concatenate([part.scores for part in parts])
    ranks = np.concatenate([part.ranks for part in parts])
    kind = "team" if rules.mode == "team" else "seat"
    places = range(1, rules.tracks + 1) if rules.tracks > 1 else ()
    columns = [kind, "agent", "mean lowest", "mean sorted markers", *(f"rank {place}" for place in places)]
    table = make_table(columns, title=f"{len(scores)} games, {in_words(rules.to_dict())}")
    for track in range(rules.tracks):
        mean = np.sort(scores[:, track], axis=1).mean(axis=0)
        shares = [f"{(ranks[:, track] == place).mean():.1%}" for place in places]
        names = " + ".join(agents[track :: rules.tracks])
        add_row(table, str(track), names, f"{mean[0]:.2f}", " ".join(f"{marker:.1f}" for marker in mean), *shares)
    return table


def _replayed(record: Record, event: int | None, where: str) -> State:
    """The position after so many events."""
    try:
        return replay(record, event)
    except ValueError as error:
        raise UserError(f"{where}: {error}") from error


def _about_game(file: Path, game: int, record: dict[str, Any]) -> str:
    """Who played what."""
    seats = ", ".join(f"seat {seat} {printable(name)}" for seat, name in enumerate(record["agents"]))
    return f"game {game} of {file}: {seats}; {in_words(record['rules'])}; seed {record['seed']}"


def _nth_record(file: Path, game: int) -> Record:
    """One game of a file, whatever the others are like."""
    count = 0
    try:
        for number, text in numbered_lines(file):
            count += 1
            if count == game:
                return Record(parse_object(text, f"{file}:{number}"))
    except (OSError, JSONError) as error:
        raise UserError(about_file(file, error)) from error
    raise UserError(f"{file} holds {count} games: game must be 1 to {count}, not {game}")
