"""Cards of the shipped weights: what plays what, how it was made, and how well it does, from the files themselves."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from agents.runs.sentences import count, duration, game_title, markdown_table, words_of
from genial_env._util.strict_json import parse_object
from genial_env.policies import weight_files

NEEDED = ("kind", "rules", "command", "seed", "moves", "wall_s", "results")
"""What a file of weights must say of itself to be shipped; ``games`` and ``cpu_s`` are told where they are there."""

HEAD = """# Shipped weights

Made by `python -m experiments.report` from what the files say of themselves. An agent takes the file of its kind for
the seats and the mode that it is asked to play. Results are of the last evaluation, with 95% intervals of its games:
between two sides the share of games won, ties half; among more the rank utility, +1 first to -1 last; solo the lowest
marker. Each file is one run's, with one seed: what other seeds reach is in docs/learning_curves.md.
"""


def cards(folder: Path) -> str:
    """The cards of all files of weights in a folder, in Markdown.

    Raises:
        ValueError: for a file that does not say all of :data:`NEEDED`, or is none of weights.
        ImportError: without safetensors.
    """
    return "\n".join([HEAD, *(card(path) for path in sorted(folder.glob("*.safetensors")))])


def card(path: Path) -> str:
    """The card of one file."""
    about = weight_files.about(path)
    missing = [name for name in NEEDED if name not in about]
    if missing:
        raise ValueError(f"{path} does not say {', '.join(missing)}: weights are shipped with {', '.join(NEEDED)}")
    data = path.read_bytes()
    rows = [
        ("kind", f"`{about['kind']}`"),
        ("plays", game_title(weight_files.rules_in(path, about))),
        ("command", f"`{about['command']}`"),
        ("seed", about["seed"]),
        ("learned from", _amount(about)),
        ("took", _time(about)),
        *((words_of(name), found) for name, found in parse_object(about["results"], f"{path}: results").items()),
        ("size", f"{len(data):,} bytes"),
        ("SHA-256", f"`{hashlib.sha256(data).hexdigest()}`"),
    ]
    return f"## {path.name}\n\n{markdown_table(('', ''), rows)}"


def _amount(about: Mapping[str, str]) -> str:
    games = f" in {count(int(about['games']))} games" if "games" in about else ""
    return f"{count(int(about['moves']))} moves{games}"


def _time(about: Mapping[str, str]) -> str:
    cpu = f", {duration(float(about['cpu_s']))} of CPU" if "cpu_s" in about else ""
    return f"{duration(float(about['wall_s']))} by the clock{cpu}"
