"""Tables of decisions for pandas, polars and other programs: Arrow tables in memory, Parquet and CSV files.

    from genial_env.records import read_records, to_frame

    table = to_frame(read_records("games.jsonl"))  # a pyarrow.Table
    table.to_pandas()                              # or polars.from_arrow(table)

A table has one row a decision; :data:`genial_env.records.columns.COLUMNS` declares the columns, docs/tables.md lists
them. Needs pyarrow (extra `data`).
"""

import os
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genial_env._util.extras import install_hint
from genial_env._util.files import replace_file
from genial_env._util.version import __version__
from genial_env.records.batches import AnyRecord, replay_batches
from genial_env.records.columns import COLUMNS, FORMAT, VERSION, Batch, Column, DecisionJudge, Values

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SUFFIXES", "check_format", "frame_schema", "to_frame", "to_frames", "write_frame"]

SUFFIXES = (".parquet", ".csv")
"""The endings of the names of files that :func:`write_frame` writes."""


def to_frame(records: Iterable[AnyRecord], judge: DecisionJudge | None = None) -> "pa.Table":
    """Return a table of the decisions of recorded games, one row a decision.

    Args:
        records: the records, or those of a file (:func:`~genial_env.records.batches.located_records`). Their rules may
            differ.
        judge: judges the decisions, for the columns of loss and luck
            (:class:`genial_env.analysis.judged_decisions.DecisionsJudge`); None: they have no values.

    Returns:
        A table with the schema :func:`frame_schema`. ``.to_pandas()`` makes a frame of pandas,
        ``polars.from_arrow(...)`` one of polars; columns with few texts are categories there.

    Raises:
        RecordError: if a record does not replay.
        ImportError: if pyarrow is not installed.
    """
    arrow = _import_arrow()
    parts = list(to_frames(records, judge))
    return arrow.concat_tables(parts).unify_dictionaries() if parts else frame_schema().empty_table()


def to_frames(records: Iterable[AnyRecord], judge: DecisionJudge | None = None) -> Iterator["pa.Table"]:
    """Yield the table of :func:`to_frame` in parts of some hundred games, for more games than fit in memory.

    The arguments and the errors are those of :func:`to_frame`.
    """
    for _, table in _make_parts(records, judge):
        yield table


def write_frame(
    path: str | os.PathLike[str], records: Iterable[AnyRecord], judge: DecisionJudge | None = None
) -> Generator[int, None, None]:
    """Write the table of the decisions of recorded games to a Parquet or CSV file, part by part.

    The file replaces an existing one when the iterator is exhausted. If it fails or is closed before, the existing file
    is unchanged.

    Args:
        path: the file; its name ends in ``.parquet`` or ``.csv``.
        records: see :func:`to_frame`.
        judge: see :func:`to_frame`.

    Yields:
        The number of games of each part that was written.

    Raises:
        ValueError: if the name has another ending.
        RecordError: if a record does not replay.
        ImportError: if pyarrow is not installed.
        OSError: if the file cannot be written.
    """
    suffix = check_format(path)
    with replace_file(path, "wb") as file, _open_writer(suffix, file) as writer:
        for games, table in _make_parts(records, judge):
            writer.write_table(table if suffix == ".parquet" else _decode(table))
            yield games


def check_format(path: str | os.PathLike[str]) -> str:
    """Return the ending of a file's name, after a check that a table can be written with it.

    Raises:
        ValueError: if the name has another ending than those of :data:`SUFFIXES`.
        ImportError: if pyarrow is not installed.
    """
    suffix = Path(path).suffix
    if suffix not in SUFFIXES:
        raise ValueError(f"the name of a table must end in {' or '.join(SUFFIXES)}, not {Path(path).name!r}")
    _import_arrow()
    return suffix


def frame_schema() -> "pa.Schema":
    """Return the schema of all tables, with format and version as metadata.

    Raises:
        ImportError: if pyarrow is not installed.
    """
    arrow = _import_arrow()
    fields = [arrow.field(name, _arrow_type(column)) for column in COLUMNS for name in column.names]
    return arrow.schema(fields, {"format": FORMAT, "version": str(VERSION), "genial_env": __version__})


def _make_parts(records: Iterable[AnyRecord], judge: DecisionJudge | None) -> Iterator[tuple[int, "pa.Table"]]:
    """Yield the number of games and the table of each part. Games without decisions count, and have no rows."""
    first_game = 0
    for played in replay_batches(records):
        judged = None if judge is None else judge(played.decisions)
        yield len(played.agents), _make_table(Batch(played.decisions, played.agents, played.seeds, first_game, judged))
        first_game += len(played.agents)


def _make_table(batch: Batch) -> "pa.Table":
    arrow, schema = _import_arrow(), frame_schema()
    arrays = [array for column in COLUMNS for array in _make_arrays(column, column.compute(batch))]
    return arrow.Table.from_arrays(arrays, schema=schema)


def _make_arrays(column: Column, found: Values) -> Iterator["pa.Array"]:
    """Yield one array for each name of a group of columns."""
    arrow, kind = _import_arrow(), _arrow_type(column)
    shape = len(found.values), len(column.names)
    values = found.values.reshape(shape)
    missing = None if found.missing is None else found.missing.reshape(shape)
    for index in range(len(column.names)):
        mask = None if missing is None else np.ascontiguousarray(missing[:, index])
        if found.categories is None:
            yield arrow.array(np.ascontiguousarray(values[:, index]).astype(column.type), type=kind, mask=mask)
        else:
            codes = arrow.array(values[:, index].astype(np.int32), mask=mask)
            yield arrow.DictionaryArray.from_arrays(codes, arrow.array(found.categories, type=arrow.string()))


def _arrow_type(column: Column) -> Any:
    arrow = _import_arrow()
    if column.type == "category":
        return arrow.dictionary(arrow.int32(), arrow.string())
    return arrow.bool_() if column.type == "bool" else getattr(arrow, column.type)()


def _open_writer(suffix: str, file: Any) -> Any:
    """Return a writer of Arrow tables to an open file, as a context manager."""
    schema = frame_schema()
    if suffix == ".parquet":
        from pyarrow import parquet

        return parquet.ParquetWriter(file, schema, compression="zstd")
    from pyarrow import csv

    return csv.CSVWriter(file, _decoded_schema(schema))


def _decode(table: "pa.Table") -> "pa.Table":
    """Return a table with plain texts instead of categories, as CSV needs."""
    return table.cast(_decoded_schema(table.schema))


def _decoded_schema(schema: "pa.Schema") -> "pa.Schema":
    arrow = _import_arrow()
    plain = [
        arrow.field(each.name, arrow.string() if arrow.types.is_dictionary(each.type) else each.type) for each in schema
    ]
    return arrow.schema(plain)


def _import_arrow() -> Any:
    """Return the module pyarrow.

    Raises:
        ImportError: if it is not installed; the message says how to install it.
    """
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(f"tables need pyarrow: {install_hint('data')} ({error})") from error
    return pyarrow
