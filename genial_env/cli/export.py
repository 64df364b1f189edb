"""The command that writes tables of decisions."""

from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from genial_env.analysis.judged_decisions import DecisionsJudge
from genial_env.cli.common import app, check_writable, one_line_errors
from genial_env.cli.console import progress_bar
from genial_env.records.batches import located_records
from genial_env.records.frames import check_format, write_frame


@app.command("export")
def export_table(
    file: Annotated[Path, typer.Argument(help="A file of game records.")],
    to: Annotated[Path, typer.Option("--to", help="Table to write: .parquet or .csv, one row a decision.")],
    judge: Annotated[
        str | None,
        typer.Option(
            help="Also compute loss and luck with this judge: fast, normal, deep, or an agent that can judge."
        ),
    ] = None,
) -> None:
    """Write a table of all decisions of recorded games, for pandas, polars and other programs."""
    with one_line_errors():
        check_format(to)
    check_writable(to)
    with one_line_errors(), closing(located_records(file)) as records:
        parts = write_frame(to, records, None if judge is None else DecisionsJudge(judge))
        games = sum(_show_progress(parts))
    print(f"{games:,} games in {to}: {to.stat().st_size:,} bytes")


def _show_progress(parts: Generator[int, None, None]) -> Iterator[int]:
    """Yield the numbers of games and show their sum in a progress bar."""
    with progress_bar() as progress, closing(parts):
        task = progress.add_task("games", total=None)
        for games in parts:
            yield games
            progress.update(task, advance=games)
