"""The command that plays a game with people."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from genial_env._util.shutdown import signals_raise
from genial_env.analysis.judge import make_judge
from genial_env.cli.common import (
    MAX_SEED,
    UserError,
    app,
    describe_file_error,
    integer_between,
)
from genial_env.cli.dialogue import Dialogue, Quit
from genial_env.cli.options import gathers, make_rules
from genial_env.core.rules import Rules
from genial_env.policies.registry import make_policy, prepare, split_names
from genial_env.records import read_records, replay_decisions, to_json_line
from genial_env.table import PERSON, Table, parse_players

OPPONENTS = ("value", "denial")
"""The default opponents: the first of them that can play the game."""


@app.command()
@gathers(rules=make_rules)
def play(
    *,
    rules: Rules,
    seats: Annotated[
        str | None,
        typer.Option(help="Players by seat, separated by commas: person, or an agent. Default: a person and agents."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Seed of the game; default: drawn at random and printed.", callback=integer_between(0, MAX_SEED)
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Append the record of the game to this file, also if the game is interrupted.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Continue the last game of this file, which was interrupted.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(help="Judge of hints: fast, normal, deep, or an agent that can judge; default: normal."),
    ] = None,
) -> None:
    """Play in the terminal, against agents or other people. Exit status 1 if the input ends before the game."""
    try:
        if resume is None:
            names = _default_seats(rules) if seats is None else split_names(seats)
            table = Table(rules, parse_players(names), secrets.randbelow(10**9) if seed is None else seed)
        else:
            table = _resume(resume, seats)
        dialogue = Dialogue(table, None if judge is None else make_judge(judge, table.rules))
    except (ValueError, TypeError) as error:
        raise UserError(str(error)) from error
    with _save_record(table, out), signals_raise(lambda number: KeyboardInterrupt()):
        why = _run_dialogue(dialogue)
    if why is not None:
        print(f"{why}: the game is interrupted")
    if out is not None:
        print(f"the record is in {out}")
    if why not in (None, QUIT):
        raise typer.Exit(1)


QUIT = "quit"


def _run_dialogue(dialogue: Dialogue) -> str | None:
    """Play; return why the game was interrupted, None if it has ended."""
    try:
        dialogue.run()
    except Quit:
        return QUIT
    except EOFError:
        return "the input has ended"
    except KeyboardInterrupt:
        return "\nCtrl-C"
    except ValueError as error:  # from an agent
        raise UserError(str(error)) from error
    return None


def _default_seats(rules: Rules) -> list[str]:
    """Return a person for the first seat and agents for the others."""
    return [PERSON, *[_find_opponent(rules)] * (rules.players - 1)]


def _find_opponent(rules: Rules) -> str:
    for name in OPPONENTS[:-1]:
        try:
            prepare(make_policy(name), rules)
        except ValueError:
            continue
        return name
    return OPPONENTS[-1]


def _resume(path: Path, seats: str | None) -> Table:
    """Return the table of the last game of a file, which was interrupted.

    Raises:
        ValueError: if there is no such game, or it cannot be continued.
    """
    try:
        records = list(read_records(path))
    except OSError as error:
        raise UserError(describe_file_error(path, error)) from error
    if not records or records[-1]["end"] != "unfinished" or records[-1]["seed"] is None:
        raise ValueError(f"{path}: expected that its last game was interrupted and has a seed")
    record = records[-1]
    saved = {"rules": record["rules"], "players": parse_players(record["agents"]), "seed": record["seed"]}
    try:
        saved["actions"] = replay_decisions(record).actions.tolist()
        table = Table.from_dict(saved, None if seats is None else parse_players(split_names(seats)))
    except ValueError as error:
        raise ValueError(f"{path}: the last game: {error}") from error
    if table.events() != record["events"]:
        raise ValueError(f"{path}: the last game has drawn other tiles than those of its seed")
    return table


@contextmanager
def _save_record(table: Table, out: Path | None) -> Iterator[None]:
    """Append the record to a file after the block, also after an error. The file is opened before the block."""
    if out is None:
        yield
        return
    try:
        file = out.open("a", encoding="utf-8", newline="\n")
    except OSError as error:
        raise UserError(describe_file_error(out, error)) from error
    with file:
        try:
            yield
        finally:
            file.write(to_json_line(table.record()))
