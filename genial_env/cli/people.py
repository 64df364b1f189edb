"""The command by which people play."""

import secrets
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from genial_env.analysis.review import make_judge
from genial_env.cli.common import (
    MOST_SEED,
    Colors,
    Edition,
    Mode,
    Players,
    RackSize,
    Side,
    TileSets,
    UserError,
    about_file,
    app,
    rules_from,
    within,
)
from genial_env.cli.dialogue import Dialogue, Left
from genial_env.core.rules import Rules
from genial_env.policies.registry import make_policy, prepare, split_names
from genial_env.records import read_records, replay_decisions, to_json_line
from genial_env.table import PERSON, Table, seats_from

OPPONENTS = ("value", "denial")
"""Who plays where nobody is named: the first of them that can play the game."""


@app.command()
def play(
    players: Players = 2,
    edition: Edition = "2025",
    mode: Mode = "individual",
    seats: Annotated[
        str | None,
        typer.Option(help="One a seat, separated by commas: person, or an agent; left out, a person begins."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the game; left out, drawn and printed.", callback=within(0, MOST_SEED))
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Add the game's record to this file, finished or broken off.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with the last game of this file, which was broken off.")
    ] = None,
    judge: Annotated[str | None, typer.Option(help="Who gives hints; left out, value.")] = None,
    side: Side = None,
    colors: Colors = 6,
    rack: RackSize = None,
    tile_sets: TileSets = 1,
) -> None:
    """Play against agents or each other, here in the terminal. Exit status 1 where the input ends before the game."""
    try:
        if resume is None:
            rules = rules_from(players, edition, mode, side=side, colors=colors, rack=rack, tile_sets=tile_sets)
            names = _usual_seats(rules) if seats is None else split_names(seats)
            table = Table(rules, seats_from(names), secrets.randbelow(10**9) if seed is None else seed)
        else:
            table = _resumed(resume, seats)
        dialogue = Dialogue(table, None if judge is None else make_judge(judge, table.rules))
    except (ValueError, TypeError) as error:
        raise UserError(str(error)) from error
    with _recorded(table, out), _signals_as_ctrl_c():
        why = _played(dialogue)
    if why is not None:
        print(f"{why}: the game is broken off")
    if out is not None:
        print(f"the record is in {out}")
    if why not in (None, QUIT):
        raise typer.Exit(1)


QUIT = "quit"


def _played(dialogue: Dialogue) -> str | None:
    """Play; why the game was broken off, None where it was not."""
    try:
        dialogue.run()
    except Left:
        return QUIT
    except EOFError:
        return "the input has ended"
    except KeyboardInterrupt:
        return "\ninterrupted"
    except ValueError as error:  # of an agent
        raise UserError(str(error)) from error
    return None


def _usual_seats(rules: Rules) -> list[str]:
    """A person first, agents behind."""
    return [PERSON, *[_opponent(rules)] * (rules.players - 1)]


def _opponent(rules: Rules) -> str:
    for name in OPPONENTS[:-1]:
        try:
            prepare(make_policy(name), rules)
        except ValueError:
            continue
        return name
    return OPPONENTS[-1]


def _resumed(path: Path, seats: str | None) -> Table:
    """The table of the last game of a file, which was broken off.

    Raises:
        ValueError: where there is no such game, or it cannot be gone on with.
    """
    try:
        records = list(read_records(path))
    except OSError as error:
        raise UserError(about_file(path, error)) from error
    if not records or records[-1]["end"] != "unfinished" or records[-1]["seed"] is None:
        raise ValueError(f"{path}: expected a game at its end that was broken off, and its seed")
    record = records[-1]
    saved = {"rules": record["rules"], "players": seats_from(record["agents"]), "seed": record["seed"]}
    try:
        saved["actions"] = replay_decisions(record).actions.tolist()
        table = Table.restored(saved, None if seats is None else seats_from(split_names(seats)))
    except ValueError as error:
        raise ValueError(f"{path}: the last game: {error}") from error
    if table.record()["events"] != record["events"]:
        raise ValueError(f"{path}: the last game has drawn other tiles than those of its seed")
    return table


@contextmanager
def _recorded(table: Table, out: Path | None) -> Iterator[None]:
    """Add the record to a file at the end, however it ends; that the file can be written to is seen before."""
    if out is None:
        yield
        return
    try:
        file = out.open("a", encoding="utf-8", newline="\n")
    except OSError as error:
        raise UserError(about_file(out, error)) from error
    with file:
        try:
            yield
        finally:
            file.write(to_json_line(table.record()))


@contextmanager
def _signals_as_ctrl_c() -> Iterator[None]:
    """A window that is closed breaks the game off as Ctrl-C does, and so does a polite kill: by KeyboardInterrupt."""
    before = {
        number: signal.signal(number, signal.default_int_handler)
        for number in (getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP"))
        if number is not None
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
