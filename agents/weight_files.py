"""Files of trained weights: safetensors, read with numpy, no pickle.

A file's metadata say what it is: ``kind`` (which network), ``rules`` (what it was trained to play, as JSON), and for
readers whatever else the trainer knows: command, seed, moves, wall time, results.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.files import replace_path
from genial_env.rules import Rules

FOLDER = Path(__file__).parent / "weights"
"""Where the shipped ones lie."""


Arrays = Mapping[str, NDArray[Any]]
"""The weights of a network by name."""

Source = str | os.PathLike[str] | Arrays | None
"""Where weights come from: a file, arrays, or (None) what is shipped."""


class Weights:
    """The weights of a kind of network, by what it is asked to play.

    Args:
        kind: which network.
        source: a file of weights, or the arrays themselves; left out, the shipped ones.

    Raises:
        FileNotFoundError, ValueError: for a file that holds none of these.
    """

    def __init__(self, kind: str, source: Source = None) -> None:
        self._kind = kind
        self._given = source if isinstance(source, Mapping) else None
        self._file = None if source is None or isinstance(source, Mapping) else Path(source)
        self._found: dict[Rules, Arrays] = {}
        if self._file is not None:
            read(self._file, kind)

    def of(self, rules: Rules) -> Arrays:
        """The arrays for a game.

        Raises:
            ValueError: where there are none that play it.
        """
        if self._given is not None:
            return self._given
        if rules not in self._found:
            self._found[rules], _ = read(self._file or shipped(self._kind, rules), self._kind, rules)
        return self._found[rules]


def shipped(kind: str, rules: Rules) -> Path:
    """The file shipped for a kind of network and a game: ``value-2.safetensors``, ``value-4-team.safetensors``.

    Raises:
        ValueError: where there is none.
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


def read(path: Path, kind: str, rules: Rules | None = None) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """The arrays of a file by name, and its metadata.

    Args:
        path: the file.
        kind: what it must be.
        rules: what it must play: the number of seats and the mode; left out, anything.

    Raises:
        FileNotFoundError: for a file that is not there.
        ValueError: for one that is none of weights, or of others.
        ImportError: where safetensors is not installed.
    """
    arrays, words = _read(path)
    if words.get("kind") != kind:
        raise ValueError(f"{path} must hold weights of kind {kind!r}, not {words.get('kind')!r}")
    if rules is not None:
        trained = Rules.from_dict(json.loads(words["rules"]))
        if (trained.players, trained.mode) != (rules.players, rules.mode):
            raise ValueError(
                f"{path} plays mode {trained.mode!r} with {trained.players} seats, "
                f"not mode {rules.mode!r} with {rules.players}"
            )
    return arrays, words


def about(path: Path) -> dict[str, str]:
    """The metadata of a file of any kind; raises what :func:`read` does for it."""
    return _read(path)[1]


def write(path: Path, kind: str, rules: Rules, arrays: Arrays, **about: Any) -> None:
    """Write a file of weights; a file that is there is replaced at once, never left half-written.

    Args:
        path: where.
        kind: which network they are of.
        rules: what they play.
        arrays: by name.
        about: what else is to be known, as JSON.
    """
    from safetensors.numpy import save_file

    words = {"kind": kind, "rules": json.dumps(rules.to_dict())}
    words |= {name: value if isinstance(value, str) else json.dumps(value) for name, value in about.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_path(path) as beside:
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, beside, words)


def _read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise ImportError(f"weights are read with safetensors: pip install 'genial-env[arena]' ({error})") from error
    if not path.is_file():
        raise FileNotFoundError(f"there is no file of weights {path}")
    try:
        with safe_open(path, framework="numpy") as file:
            words: dict[str, str] = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  it has no other iterator
    except SafetensorError as error:
        raise ValueError(f"{path} is no file of weights: {error}") from error
    return arrays, words
