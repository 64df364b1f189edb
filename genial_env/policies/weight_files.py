"""Read and write files of trained weights: safetensors, read with numpy, no pickle.

A file's metadata holds ``kind`` (the network), ``rules`` (the game that it was trained for, as JSON), and what the
trainer records: command, seed, moves, wall time, results. A file is checked when it is read: its tensors must be those
of the network, of the right shapes, float32 and finite.
"""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._util.files import replace_path
from genial_env._util.strict_json import parse_object
from genial_env.core.rules import Rules

__all__ = [
    "FOLDER",
    "Arrays",
    "Layout",
    "Source",
    "Weights",
    "check",
    "count",
    "find_shipped",
    "parse_rules",
    "read",
    "read_metadata",
    "write",
]

FOLDER = Path(__file__).parent / "weights"
"""The folder of the shipped weights."""

Arrays = Mapping[str, NDArray[Any]]
"""The weights of a network by name."""

Layout = Callable[[Rules, Arrays], Mapping[str, tuple[int, ...]]]
"""A function from the rules that a network plays and its weights to the shapes of all tensors. It takes the numbers of
hidden units from the weights."""

Source = str | os.PathLike[str] | Arrays | None
"""The source of weights: a file, arrays, or None for the shipped file."""


class Weights:
    """The weights of one kind of network, read once for each game.

    Args:
        kind: the kind of network.
        layout: the shapes of its tensors.
        source: a file of weights, or the arrays themselves; None: the shipped files.

    Raises:
        FileNotFoundError, TypeError, ValueError: if the source does not hold weights of this kind.
    """

    def __init__(self, kind: str, layout: Layout, source: Source = None) -> None:
        self._kind, self._layout = kind, layout
        self._given = source if isinstance(source, Mapping) else None
        self._found: dict[Rules, Arrays] = {}
        self._file = None
        if source is not None and not isinstance(source, Mapping):
            if not isinstance(source, str | os.PathLike):
                raise TypeError(f"weights must be a file or arrays by name, not {source!r} ({type(source).__name__})")
            self._file = Path(source)
            read(self._file, kind, layout=layout)

    def of(self, rules: Rules) -> Arrays:
        """Return the arrays for a game.

        Raises:
            ValueError: if there are none.
        """
        if rules not in self._found:
            if self._given is not None:
                check(self._given, self._layout(rules, self._given), f"the weights given for {self._kind!r}")
                self._found[rules] = self._given
            else:
                path = self._file or find_shipped(self._kind, rules)
                self._found[rules], _ = read(path, self._kind, rules, self._layout)
        return self._found[rules]


def check(arrays: Arrays, shapes: Mapping[str, tuple[int, ...]] | None, where: str) -> None:
    """Check that weights have the names, shapes and dtype of a network.

    Args:
        arrays: the weights by name.
        shapes: the expected shapes; None: any.
        where: the beginning of a message, such as the file.

    Raises:
        ValueError: if a tensor is missing, unknown, of another shape, not float32 or not finite.
    """
    shapes = {name: np.shape(array) for name, array in arrays.items()} if shapes is None else shapes
    for name in shapes:
        if name not in arrays:
            raise ValueError(f"{where}: expected the tensor {name!r}, found {', '.join(arrays) or 'none'}")
    for name, array in arrays.items():
        if name not in shapes:
            raise ValueError(f"{where}: expected the tensors {', '.join(shapes)}, found {name!r}")
        found = np.asarray(array)
        if found.dtype != np.float32 or found.shape != tuple(shapes[name]):
            raise ValueError(
                f"{where}: tensor {name!r}: expected float32 of shape {tuple(shapes[name])}, "
                f"found {found.dtype} of shape {found.shape}"
            )
        if not np.isfinite(found).all():
            raise ValueError(
                f"{where}: tensor {name!r}: expected finite numbers, found {found[~np.isfinite(found)][0]}"
            )


def find_shipped(kind: str, rules: Rules) -> Path:
    """Find the shipped file for a kind of network and a game, such as ``value-4-team.safetensors``.

    Raises:
        ValueError: if there is none.
    """
    mode = "" if rules.mode == "individual" else f"-{rules.mode}"
    path = FOLDER / f"{kind}-{rules.players}{mode}.safetensors"
    if not path.exists():
        known = ", ".join(file.name for file in sorted(FOLDER.glob(f"{kind}-*"))) or "none"
        raise ValueError(
            f"no weights of {kind!r} are shipped for {rules.players} seats in mode {rules.mode!r} (shipped: {known}): "
            f"train some, and name their file"
        )
    return path


def read(
    path: Path, kind: str, rules: Rules | None = None, layout: Layout | None = None
) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Read a file; return its arrays by name, and its metadata.

    Args:
        path: the file.
        kind: the expected kind of network.
        rules: the rules whose number of seats and mode it must play; None: any.
        layout: the shapes of the network's tensors; None: any.

    Raises:
        FileNotFoundError: if the file does not exist.
        ValueError: if it does not hold weights, or those of another network or game.
    """
    arrays, words = _read(path)
    if words.get("kind") != kind:
        raise ValueError(f"{path} must hold weights of kind {kind!r}, not {words.get('kind')!r}")
    trained = parse_rules(path, words)
    if rules is not None and (trained.players, trained.mode) != (rules.players, rules.mode):
        raise ValueError(
            f"{path} plays mode {trained.mode!r} with {trained.players} seats, "
            f"not mode {rules.mode!r} with {rules.players}"
        )
    check(arrays, None if layout is None else layout(trained, arrays), str(path))
    return arrays, words


def parse_rules(path: Path, words: Mapping[str, str]) -> Rules:
    """Return the rules in a file's metadata.

    Raises:
        ValueError: if there are none.
    """
    try:
        return Rules.from_dict(parse_object(words.get("rules", ""), "rules"))
    except ValueError as error:
        raise ValueError(f"{path}: expected the rules that the weights were trained for ({error})") from error


def count(arrays: Arrays, name: str) -> int:
    """Return the size of a tensor, for layouts; 1 if it is missing."""
    return int(np.size(arrays[name])) if name in arrays else 1


def read_metadata(path: Path) -> dict[str, str]:
    """Read the metadata of a file of any kind. Its errors are those of :func:`read`."""
    return _read(path)[1]


def write(path: Path, kind: str, rules: Rules, arrays: Arrays, **about: Any) -> None:
    """Write a file of weights. An existing file is replaced at once, never left half-written.

    Args:
        path: the file.
        kind: the kind of network.
        rules: the game that the network was trained for.
        arrays: the weights by name.
        about: further metadata; all but text is written as JSON.
    """
    from safetensors.numpy import save_file

    words = {"kind": kind, "rules": json.dumps(rules.to_dict())}
    words |= {name: value if isinstance(value, str) else json.dumps(value) for name, value in about.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_path(path) as beside:
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, beside, words)


def _read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise FileNotFoundError(f"there is no file of weights {path}")
    try:
        with safe_open(path, framework="numpy") as file:
            words: dict[str, str] = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  it has no other iterator
    except (SafetensorError, TypeError, ValueError, AttributeError) as error:  # the others: for types numpy lacks
        raise ValueError(f"{path} is no file of weights: {error}") from error
    return arrays, words
