"""The command that writes tables of decisions, and datasets of transitions."""

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from genial_env.analysis.judged_decisions import DecisionsJudge
from genial_env.cli.common import UserError, app, check_writable, describe_no_games, one_line_errors
from genial_env.cli.console import progress_bar
from genial_env.encodings import ENCODINGS
from genial_env.records.batches import Located, located_records
from genial_env.records.frames import check_format, write_frame

MINARI = "minari"
"""Stands in the place of a file for a dataset of Minari."""


@app.command("export")
def export_table(
    file: Annotated[Path, typer.Argument(help="A file of game records.")],
    to: Annotated[
        Path,
        typer.Option(
            "--to", help="Table to write: .parquet or .csv, one row a decision; or minari: a dataset of transitions."
        ),
    ],
    judge: Annotated[
        str | None,
        typer.Option(
            help="Also compute loss and luck with this judge: fast, normal, deep, or an agent that can judge."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the dataset, with --to minari: for example genial/mine-v0.")
    ] = None,
    encoding: Annotated[
        str, typer.Option(help=f"Encoding of the dataset's observations: {', '.join(ENCODINGS)}.")
    ] = "planes",
) -> None:
    """Write a table of all decisions of recorded games, or a dataset of transitions for offline learning."""
    if str(to) == MINARI:
        _export_dataset(file, name, encoding, judge)
        return
    if name is not None:
        raise UserError(f"--name is the name of a dataset: it needs --to {MINARI}")
    with one_line_errors():
        check_format(to)
    check_writable(to)
    with one_line_errors(), _read_records(file) as records:
        parts = write_frame(to, records, None if judge is None else DecisionsJudge(judge))
        games = sum(_show_progress(parts))
    print(f"{games:,} games in {to}: {to.stat().st_size:,} bytes")


def _export_dataset(file: Path, name: str | None, encoding: str, judge: str | None) -> None:
    if name is None:
        raise UserError(f"--to {MINARI} needs the name of the dataset: --name genial/mine-v0")
    if judge is not None:
        raise UserError("--judge is for tables: a dataset has no loss")
    from genial_env.envs.offline import write_minari

    with one_line_errors(), _read_records(file) as records:
        episodes = write_minari(name, records, encoding)
    print(f"{episodes:,} episodes in the dataset {name}")


@contextmanager
def _read_records(file: Path) -> Iterator[Iterator[Located]]:
    """Read the records of a file in a block.

    Raises:
        UserError: if there are none.
    """
    with closing(located_records(file)) as records:
        first = next(records, None)
        if first is None:
            raise UserError(describe_no_games(file))
        yield chain([first], records)


def _show_progress(parts: Generator[int, None, None]) -> Iterator[int]:
    """Yield the numbers of games and show their sum in a progress bar."""
    with progress_bar() as progress, closing(parts):
        task = progress.add_task("games", total=None)
        for games in parts:
            yield games
            progress.update(task, advance=games)
