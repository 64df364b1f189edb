"""Options of training runs as YAML files: the options of the command line, with the same names.

    python -m experiments.train_ppo --config my.yaml --seed 3

Options of the command line override those of the file; options that neither has keep their defaults. The folder of a
run holds its options as `config.yaml`.
"""

import dataclasses
import json
import sys
from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import tyro
import yaml
from pydantic import TypeAdapter, ValidationError

from genial_env._util.checks import as_integer, as_number
from genial_env._util.files import write_text
from genial_env._util.validators import shorten

__all__ = ["CONFIG", "Checked", "Range", "check_ranges", "parse_options", "read_config", "write_config"]

CONFIG = "config.yaml"
"""The file of the options in the folder of a run."""

Options = TypeVar("Options")
"""A dataclass of options."""

Range = tuple[int, int | None] | tuple[float | None, float | None]
"""The smallest and the largest value of an option, None for no limit. If the smallest one is an int, the option is a
whole number, otherwise any finite number."""

_OPTION = "--config"


@runtime_checkable
class Checked(Protocol):
    """Options that can check themselves before the work begins."""

    def check(self) -> None:
        """Check the options.

        Raises:
            ValueError, TypeError, OSError, ImportError: if they do not fit together, or a file or an agent that they
                name cannot be used.
        """


def check_ranges(options: Any, ranges: Mapping[str, Range]) -> None:
    """Check that options are in their ranges. Options that are None pass.

    Args:
        options: a dataclass.
        ranges: the range of each option by name; "widths.first" is the field `first` of the option `widths`.

    Raises:
        TypeError: if one is not a number, or not a whole one.
        ValueError: if one is out of its range, infinite or NaN. The message names option, range and value.
    """
    for name, (low, high) in ranges.items():
        value, option = attrgetter(name)(options), f"--{name.replace('_', '-')}"
        if value is None:
            continue
        if isinstance(low, int):
            as_integer(value, option, low, None if high is None else int(high))
        else:
            as_number(value, option, low, high)


def write_config(path: Path, options: Any) -> None:
    """Write all options to a file.

    Args:
        path: the file.
        options: a dataclass.
    """
    values = json.loads(json.dumps(_to_values(options), default=str))  # lists for tuples, text for paths
    write_text(path, yaml.safe_dump(values, sort_keys=False, allow_unicode=True))


def _to_values(options: Any) -> Any:
    """Return dataclasses and named tuples as dicts, at any depth."""
    if dataclasses.is_dataclass(options):
        return {field.name: _to_values(getattr(options, field.name)) for field in dataclasses.fields(options)}
    if isinstance(options, tuple) and hasattr(options, "_asdict"):
        return {name: _to_values(value) for name, value in options._asdict().items()}
    return options


def read_config(path: Path, kind: type[Options]) -> Options:
    """Read options from a file.

    Args:
        path: the file. Options that it does not have keep their defaults.
        kind: the dataclass of the options.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is no YAML file of such options; the message says where, what was expected and what was found.
    """
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        found = " ".join(str(error).split())
        raise ValueError(f"{path}: expected YAML, found something unreadable ({found})") from error
    values = {} if values is None else values
    known = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    if not isinstance(values, Mapping):
        raise ValueError(f"{path}: expected options such as {known[0]}: value, found {shorten(values)}")
    unknown = [name for name in values if name not in known]
    if unknown:
        raise ValueError(f"{path}: expected the options {', '.join(known)}, found {shorten(unknown[0])}")
    try:
        return TypeAdapter(kind).validate_python(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{path}: {where}: {first['msg']}, found {shorten(first['input'])}") from error


def parse_options(kind: type[Options], arguments: Sequence[str] | None = None) -> Options:
    """Return the options of the command line, on top of those of the file that ``--config`` names.

    An error, also of the file, ends the program with a message and status 2. Options that are :class:`Checked` are
    checked, too.

    Args:
        kind: the dataclass of the options.
        arguments: the words of the command line; None: those of this program.
    """
    left = list(sys.argv[1:] if arguments is None else arguments)
    path = _take_config(left)
    try:
        default = kind() if path is None else read_config(path, kind)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from error
    about = f"{_OPTION} FILE reads options from a YAML file, as the {CONFIG} of a run; those given here override it."
    options = tyro.cli(kind, args=left, default=default, description=about)
    if isinstance(options, Checked):
        try:
            options.check()
        except (ValueError, TypeError, OSError, ImportError) as error:
            print(error, file=sys.stderr)
            raise SystemExit(2) from error
    return options


def _take_config(arguments: list[str]) -> Path | None:
    """Remove ``--config FILE`` or ``--config=FILE`` from the arguments in place; return the file."""
    for at, word in enumerate(arguments):
        option, equals, value = word.partition("=")
        if option != _OPTION:
            continue
        if not equals and at + 1 == len(arguments):
            print(f"{_OPTION} needs a file", file=sys.stderr)
            raise SystemExit(2)
        path = value if equals else arguments.pop(at + 1)
        del arguments[at]
        return Path(path)
    return None
