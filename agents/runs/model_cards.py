"""The README of the shipped weights, made from the metadata of the files: rules, training command, results."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from agents.runs.formatting import format_against, format_count, format_duration, format_table, make_game_title
from genial_env._util.strict_json import parse_object
from genial_env.policies import weight_files

__all__ = ["REQUIRED_METADATA", "make_card", "make_cards"]

REQUIRED_METADATA = ("kind", "rules", "command", "seed", "moves", "wall_s", "results")
"""Metadata that a shipped file must have. ``games``, ``cpu_s`` and ``explains`` are shown if present."""

HEAD = """# Shipped weights

Made by `python -m experiments.report` from the metadata of the files. An agent loads the file of its kind for the
number of seats and the mode of the game. Results are those of the last evaluation, with 95% intervals over its deals:
with two tracks the share of games won (ties count half), with more tracks the rank utility from +1 (first) to -1
(last), solo the lowest marker. Networks of the kind `luck` do not play: they measure the luck of draws (docs/luck.md).
Each file was trained with one seed, some in several runs one after the other.
"""


def make_cards(folder: Path) -> str:
    """Make the cards of all weight files in a folder, in Markdown.

    Raises:
        ValueError: if a file lacks some of :data:`REQUIRED_METADATA` or is not a weight file.
    """
    return "\n".join([HEAD, *(make_card(path) for path in sorted(folder.glob("*.safetensors")))])


def make_card(path: Path) -> str:
    """Make the card of one file, in Markdown."""
    about = weight_files.read_metadata(path)
    missing = [name for name in REQUIRED_METADATA if name not in about]
    if missing:
        raise ValueError(f"{path} lacks {', '.join(missing)}: shipped weights have {', '.join(REQUIRED_METADATA)}")
    data = path.read_bytes()
    rows = [
        ("kind", f"`{about['kind']}`"),
        ("rules", make_game_title(weight_files.parse_rules(path, about))),
        ("command", f"`{about['command']}`"),
        ("seed", about["seed"]),
        ("trained on", _format_amount(about)),
        ("training time", _format_time(about)),
        *((format_against(name), found) for name, found in parse_object(about["results"], f"{path}: results").items()),
        *([("luck explains", about["explains"])] if "explains" in about else []),
        ("size", f"{len(data):,} bytes"),
        ("SHA-256", f"`{hashlib.sha256(data).hexdigest()}`"),
    ]
    return f"## {path.name}\n\n{format_table(('', ''), rows)}"


def _format_amount(about: Mapping[str, str]) -> str:
    games = f" in {format_count(int(about['games']))} games" if "games" in about else ""
    return f"{format_count(int(about['moves']))} moves{games}"


def _format_time(about: Mapping[str, str]) -> str:
    cpu = f", {format_duration(float(about['cpu_s']))} of CPU" if "cpu_s" in about else ""
    return f"{format_duration(float(about['wall_s']))} of wall time{cpu}"
