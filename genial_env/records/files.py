"""Files of game records: JSON Lines, one record a line."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from genial_env._util.files import replace_file
from genial_env._util.strict_json import JSONError, numbered_lines, parse_object
from genial_env.errors import RecordError
from genial_env.records._parse import check_header
from genial_env.records.format import Record

__all__ = ["read_records", "record_writer", "to_json_line", "write_records"]


@contextmanager
def record_writer(path: str | os.PathLike[str]) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Open a file for writing and yield a function that writes one record to it.

    The file replaces an existing one at the end of the block. If the block fails, the existing file is unchanged
    (:func:`genial_env._util.files.replace_file`).

    Raises:
        OSError: If the file cannot be written, or if the path is that of a folder or a device.
    """
    with replace_file(path) as file:
        yield lambda record: print(to_json_line(record), end="", file=file)


def write_records(path: str | os.PathLike[str], records: Iterable[dict[str, Any]]) -> None:
    """Write records to a file. If writing fails, an existing file is unchanged.

    Raises:
        OSError: If the file cannot be written, or if the path is that of a folder or a device.
    """
    with record_writer(path) as write:
        for record in records:
            write(record)


def to_json_line(record: dict[str, Any]) -> str:
    """Return a record as one line of JSON, with its line end."""
    line = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:  # half a surrogate pair in a name, which JSON can hold but UTF-8 cannot
        line = json.dumps(record, separators=(",", ":"))
    return f"{line}\n"


def read_records(path: str | os.PathLike[str]) -> Iterator[Record]:
    """Yield the records of a file. Blank lines are skipped.

    Keys, types and sizes are checked here. Events are checked by :func:`genial_env.records.replay` and
    :func:`genial_env.records.verify`.

    Raises:
        OSError: If the file cannot be opened.
        RecordError: If a line is not a record. The message names file and line.
    """
    try:
        for number, text in numbered_lines(path):
            try:
                record = Record(parse_object(text))
                check_header(record)
            except (RecordError, JSONError) as error:
                raise RecordError(f"{path}:{number}: {error}") from error
            yield record
    except JSONError as error:
        raise RecordError(str(error)) from error
