"""Numbers and titles in the generated pages."""

from collections.abc import Sequence

from agents.runs.evaluation import ALONE
from genial_env import Rules

__all__ = [
    "format_against",
    "format_count",
    "format_duration",
    "format_strength",
    "format_table",
    "make_game_title",
    "make_strength_title",
]

_SEATS = {1: "One seat", 2: "Two seats", 3: "Three seats", 4: "Four seats"}


def make_game_title(rules: Rules) -> str:
    """Return for example "Two seats, edition 2025", followed by all deviations from the printed game."""
    who = {"individual": _SEATS[rules.players], "team": "Teams", "solo": "Solo"}[rules.mode]
    printed = Rules(rules.players, rules.edition, rules.mode)
    varied = [f"{name} {value}" for name, value in rules.to_dict().items() if value != getattr(printed, name)]
    return ", ".join([who, f"edition {rules.edition}", *varied])


def make_strength_title(rules: Rules) -> str:
    """Return the name of the measure of strength of :mod:`agents.runs.evaluation` under some rules."""
    if rules.tracks == 1:
        return "lowest marker at the end"
    return "share of games won" if rules.tracks == 2 else "rank utility"


def format_strength(value: float, rules: Rules) -> str:
    """Format a strength: a share as "95.1%", a utility as "+0.52", a marker as "14.3"."""
    if rules.tracks == 1:
        return f"{value:.1f}"
    return f"{value:.1%}" if rules.tracks == 2 else f"{value:+.2f}"


def format_against(opponent: str) -> str:
    """Return for example "against denial"; for solo agents "alone"."""
    return opponent if opponent == ALONE else f"against {opponent}"


def format_duration(seconds: float) -> str:
    """Format seconds as "40 s", "26 min" or "1 h 50 min"."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"


def format_count(number: float) -> str:
    """Format a number of moves or games: "48,000", "5.14 million"."""
    return f"{number / 1e6:.3g} million" if number >= 1e6 else f"{round(number):,}"


def format_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a Markdown table that ends with a newline."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
