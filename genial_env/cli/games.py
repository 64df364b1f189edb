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
from genial_env.analysis.luck import GameLuck
from genial_env.analysis.review import VERDICTS, Judged, Review, review
from genial_env.backends import using
from genial_env.bench import all_measurements
from genial_env.cli.agent_errors import make_guarded
from genial_env.cli.common import (
    BackendName,
    DecisionNumber,
    EventNumber,
    GameNumber,
    Seed,
    Threads,
    UserError,
    app,
    check_seconds,
    check_writable,
    choose_backend,
    describe_file_error,
    describe_no_games,
    format_rules,
    integer_between,
    one_line_errors,
)
from genial_env.cli.console import (
    add_row,
    escape_controls,
    make_table,
    print_error,
    print_table,
    print_text,
    progress_bar,
)
from genial_env.cli.options import gathers, make_rules
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.errors import RecordError
from genial_env.policies.registry import split_names
from genial_env.records import Record, record_writer, replay, replay_decisions, verify
from genial_env.render import pixels
from genial_env.render.ansi import board_text, wants_color
from genial_env.render.film import draw_record
from genial_env.render.sentences import describe_event
from genial_env.simulation import Results, play_batches


@app.command()
@gathers(rules=make_rules)
def simulate(
    *,
    rules: Rules,
    agents: Annotated[
        str, typer.Option(help="Agents by seat, separated by commas: names, module:factory, or engine:COMMAND.")
    ] = "random,greedy",
    games: Annotated[int, typer.Option(help="Number of games.", callback=integer_between(1, 10**12))] = 100,
    seed: Seed = 0,
    batch: Annotated[
        int, typer.Option(help="Games played at a time; it changes only the speed.", callback=integer_between(1, 2**20))
    ] = 1024,
    out: Annotated[
        Path | None, typer.Option(help="Write the game records to this file, one JSON object per line.")
    ] = None,
    backend: BackendName = None,
    threads: Threads = 1,
) -> None:
    """Play games between agents and print the results of each seat."""
    names = split_names(agents)
    chosen = choose_backend(backend, threads)
    check_writable(out)
    with one_line_errors():
        players = [make_guarded(name, rules) for name in names]
        batches = play_batches(players, rules, games, seed, batch=batch, record=out is not None, backend=chosen)
        first = next(batches)  # raises errors of wrong arguments before the file is opened
    parts = list(_show_progress(_write_records(chain([first], batches), out), games))
    print_table(make_results_table(parts))
    if out is not None:
        print(f"{games} records in {out}")


def _write_records(batches: Iterator[Results], out: Path | None) -> Iterator[Results]:
    """Yield the batches and write their records to the file, if there is one."""
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
        raise UserError(describe_file_error(out, error)) from error


def _show_progress(batches: Iterator[Results], games: int) -> Iterator[Results]:
    """Yield the batches and show the number of games in a progress bar."""
    with progress_bar() as progress:
        task = progress.add_task("games", total=games)
        for part in batches:
            yield part
            progress.update(task, advance=len(part))


@app.command("verify")
def verify_files(
    files: Annotated[list[Path], typer.Argument(help="Files of game records, one JSON object per line.")],
) -> None:
    """Replay game records and check them. Exit status 1 if one is wrong, 2 if a file has none or cannot be read."""
    statuses = [_verify_file(path) for path in files]
    if any(statuses):
        raise typer.Exit(max(statuses))


def _verify_file(path: Path) -> int:
    """Check one file, print what is wrong, and return the exit status."""
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
        print_error(describe_file_error(path, error))
        return 2
    found = unreadable | {number: fault for number, fault in zip(numbers, faults, strict=True) if fault is not None}
    for number in sorted(found):
        print(f"{path}:{number}: {found[number]}")
    if not numbers and not unreadable:
        print_error(describe_no_games(path))
        return 2
    if not found:
        print(f"{path}: {len(numbers)} games, all replay")
    else:
        print(f"{path}: {len(found)} of {len(numbers) + len(unreadable)} games are wrong")
    return 1 if found else 0


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="A file of game records.")],
    game: GameNumber = 1,
    event: EventNumber = None,
    decision: DecisionNumber = None,
) -> None:
    """Show a position of a recorded game: in color on a terminal, else in plain letters."""
    record = _read_record(file, game)
    where = f"{file}: game {game}"
    if decision is not None:
        event = _find_decision(record, event, decision, where)
    state = _replay(record, event, where)
    events = record["events"][: len(record["events"]) if event is None else event]
    placed = [each for each in events if each[0] == "place"]
    print_text(_describe_game(file, game, record))
    happened = describe_event(state.rules, events[-1]) if events else "the deal"
    print_text(f"after event {len(events)} of {len(record['events'])}: {happened}")
    if decision is not None:
        print_text(f"before decision {decision}: {describe_event(state.rules, record['events'][len(events)])}")
    print()
    last = [tuple(cell) for cell in placed[-1][5:7]] if placed else None
    print(board_text(state, color=wants_color(on=sys.stdout), last=last, named=True))


@app.command("draw")
def draw_file(
    file: Annotated[Path, typer.Argument(help="A file of game records.")],
    out: Annotated[Path, typer.Argument(help="Picture to write: .svg, .png, or .gif (the whole game).")],
    game: GameNumber = 1,
    event: EventNumber = None,
    decision: DecisionNumber = None,
    seat: Annotated[int | None, typer.Option(help="Seat whose rack is shown; default: all racks.")] = None,
    width: Annotated[int | None, typer.Option(help="Width in pixels; default: that of the drawing.")] = None,
    seconds: Annotated[float, typer.Option(help="Seconds that each picture of a .gif is shown.")] = 0.7,
) -> None:
    """Draw a position of a recorded game, or all positions up to it as an animation."""
    if out.suffix not in _DRAW_BY_SUFFIX:
        raise UserError(f"the picture's name must end in {', '.join(_DRAW_BY_SUFFIX)}, not {out.name!r}")
    check_writable(out)
    record = _read_record(file, game)
    where = f"{file}: game {game}"
    if decision is not None:
        event = _find_decision(record, event, decision, where)
    _replay(record, event, where)
    if seat is not None and not 0 <= seat < len(record["agents"]):
        raise UserError(f"seat must be 0 to {len(record['agents']) - 1}, not {seat}")
    total = len(record["events"]) if event is None else event
    with one_line_errors():
        made = _DRAW_BY_SUFFIX[out.suffix](record, total, seat, width, seconds)
        write_bytes(out, made)
    print(f"{out}: {len(made):,} bytes")


def _draw_svg(record: Record, event: int, seat: int | None, width: int | None, seconds: float) -> bytes:
    return draw_record(
        record, event, seat, None if width is None else as_integer(width, "width", 1, pixels.MAX_WIDTH)
    ).encode()


def _draw_png(record: Record, event: int, seat: int | None, width: int | None, seconds: float) -> bytes:
    return pixels.png(draw_record(record, event, seat), width)


def _draw_gif(record: Record, event: int, seat: int | None, width: int | None, seconds: float) -> bytes:
    placed = [number for number, happened in enumerate(record["events"][:event], 1) if happened[0] == "place"]
    return pixels.gif([draw_record(record, number, seat) for number in [0, *placed]], seconds, width)


_DRAW_BY_SUFFIX = {".svg": _draw_svg, ".png": _draw_png, ".gif": _draw_gif}


@app.command("review")
def review_game(
    file: Annotated[Path, typer.Argument(help="A file of game records.")],
    game: GameNumber = 1,
    judge: Annotated[str, typer.Option(help="fast, normal, deep, or an agent that can judge.")] = "normal",
    everything: Annotated[
        bool, typer.Option("--all", help="List all decisions, not only mistakes and blunders.")
    ] = False,
    open_racks: Annotated[
        bool,
        typer.Option(
            "--open-racks", help="Let the judge see all racks, instead of what the seat knew; finished games."
        ),
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print the whole review as a JSON object. There, event is the index of a decision among the events of "
            "the record, from 0.",
        ),
    ] = False,
) -> None:
    """Judge every decision of a recorded game: how much it lost, and which one was better."""
    record = _read_record(file, game)
    try:
        with progress_bar() as bar:
            task = bar.add_task("decisions", total=None)
            found = review(
                record,
                judge,
                lambda done, total: bar.update(task, completed=done, total=total),
                open_racks=open_racks,
            )
    except RecordError as error:
        raise UserError(f"{file}: game {game}: {error}") from error
    except ValueError as error:
        raise UserError(str(error)) from error
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    print_text(_describe_game(file, game, record))
    print_table(_make_review_table(found))
    if found.luck is not None:
        print_table(_make_luck_table(found, found.luck))
    for number, decision in enumerate(found.decisions, 1):
        if everything or decision.verdict in ("mistake", "blunder"):
            print_text(_describe_judgement(number, decision), indent=2)


def _make_review_table(found: Review) -> Table:
    """Return a table with the verdicts of each seat."""
    caption = f"losses of {found.unit}" + (", +1 first to -1 last" if found.rules.tracks > 1 else "")
    columns = ["seat", "agent", "decisions", "accuracy", "mean loss", *VERDICTS]
    known = "all racks" if found.open_racks else "what the seat knew"
    table = make_table(columns, title=f"judged by {found.judge}, by {known}", caption=caption)
    for seat, (share, loss) in enumerate(zip(found.accuracy(), found.mean_loss(), strict=True)):
        own = [decision.verdict for decision in found.decisions if decision.seat == seat]
        counts = [str(own.count(verdict)) for verdict in VERDICTS]
        add_row(table, str(seat), found.agents[seat], str(len(own)), f"{share:.0f}%", f"{loss:.3f}", *counts)
    return table


def _make_luck_table(found: Review, luck: GameLuck) -> Table:
    """Return a table with the parts of the result of each track."""
    kind = "team" if found.rules.mode == "team" else "seat"
    table = make_table(
        [kind, "agent", "result", "expected", "luck", "skill", "result without luck"],
        title="what the draws decided",
        caption=f"parts of the {found.unit}: result = expected + luck + skill",
    )
    for track in range(found.rules.tracks):
        names = " + ".join(found.agents[seat] for seat in found.rules.seats_of(track))
        parts = luck.result, luck.expected, luck.luck, luck.skill, luck.adjusted
        add_row(table, str(track), names, *(f"{part[track]:+.2f}" for part in parts))
    return table


def _describe_judgement(number: int, decision: Judged) -> str:
    text = f"decision {number}: {decision.text}: {decision.verdict}"
    if decision.verdict == "best":
        return text
    error = f" ± {decision.error:.2f}" if decision.error > 0 else ""
    return f"{text}, lost {decision.loss:.2f}{error}; better: {decision.alternatives[0].text}"


@app.command()
def bench(
    players: Annotated[int, typer.Option(help="Number of seats, 2 to 4.")] = 2,
    batch: Annotated[int, typer.Option(help="Games played at a time.", callback=integer_between(1, 2**20))] = 2048,
    seconds: Annotated[float, typer.Option(help="Seconds of CPU time for each measurement.")] = 3.0,
    backend: BackendName = None,
    threads: Threads = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    """Measure the speed of play: random with and without masks, built-in policies, one game at a time."""
    check_seconds(seconds)
    rules = make_rules(players)
    table = make_table(["play", "batch", "backend", "threads", "moves/s", "games/s"])
    with one_line_errors(), using(choose_backend(backend, threads)):
        for found in all_measurements(rules, batch, seconds):
            if as_json:
                print(json.dumps(found.to_dict()))
            else:
                speeds = f"{found.moves_per_s:,.0f}", f"{found.games_per_s:,.0f}"
                add_row(table, found.play, str(found.batch), found.backend, str(found.threads), *speeds)
    if not as_json:
        print_table(table)


def make_results_table(parts: list[Results]) -> Table:
    """Return a table with the results of each track: mean lowest marker, mean sorted markers, share of each rank."""
    rules, agents = parts[0].rules, parts[0].agents
    scores = np.concatenate([part.scores for part in parts])
    ranks = np.concatenate([part.ranks for part in parts])
    kind = "team" if rules.mode == "team" else "seat"
    places = range(1, rules.tracks + 1) if rules.tracks > 1 else ()
    columns = [kind, "agent", "mean lowest", "mean sorted markers", *(f"rank {place}" for place in places)]
    table = make_table(columns, title=f"{len(scores)} games, {format_rules(rules.to_dict())}")
    for track in range(rules.tracks):
        mean = np.sort(scores[:, track], axis=1).mean(axis=0)
        shares = [f"{(ranks[:, track] == place).mean():.1%}" for place in places]
        names = " + ".join(agents[seat] for seat in rules.seats_of(track))
        add_row(table, str(track), names, f"{mean[0]:.2f}", " ".join(f"{marker:.1f}" for marker in mean), *shares)
    return table


def _replay(record: Record, event: int | None, where: str) -> State:
    """Return the position after some events.

    Raises:
        UserError: if the record does not replay, or has fewer events.
    """
    try:
        return replay(record, event)
    except ValueError as error:
        raise UserError(f"{where}: {error}") from error


def _describe_game(file: Path, game: int, record: dict[str, Any]) -> str:
    """Return a line about who played which game."""
    seats = ", ".join(f"seat {seat} {escape_controls(name)}" for seat, name in enumerate(record["agents"]))
    return f"game {game} of {file}: {seats}; {format_rules(record['rules'])}; seed {record['seed']}"


def _find_decision(record: Record, event: int | None, decision: int, where: str) -> int:
    """Return the number of events before a decision.

    Args:
        record: the game.
        event: the number of events that the user has asked for; None is the only one that agrees with a decision.
        decision: the number of the decision, from 1.
        where: the file and the game, for messages.

    Raises:
        UserError: if the record does not replay, or has fewer decisions.
    """
    if event is not None:
        raise UserError("a position is given by --event or by --decision, not by both")
    try:
        events = replay_decisions(record).events.tolist()
        return int(events[as_integer(decision, "decision", 1, len(events)) - 1])
    except ValueError as error:
        raise UserError(f"{where}: {error}") from error


def _read_record(file: Path, game: int) -> Record:
    """Return one game of a file. The other games need not be valid.

    Raises:
        UserError: if the file cannot be read, or has no such game.
    """
    count = 0
    try:
        for number, text in numbered_lines(file):
            count += 1
            if count == game:
                return Record(parse_object(text, f"{file}:{number}"))
    except (OSError, JSONError) as error:
        raise UserError(describe_file_error(file, error)) from error
    if not count:
        raise UserError(describe_no_games(file))
    raise UserError(f"{file} holds {count} games: game must be 1 to {count}, not {game}")
