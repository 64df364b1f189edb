"""Words and numbers as the pages made from results say them."""

from collections.abc import Sequence

from agents.runs.evaluation import ALONE
from genial_env import Rules

_SEATS = {1: "One seat", 2: "Two seats", 3: "Three seats", 4: "Four seats"}


def game_title(rules: Rules) -> str:
    """What is played: "Two seats, edition 2025", and in how far it is not the printed game."""
    who = {"individual": _SEATS[rules.players], "team": "Teams", "solo": "Solo"}[rules.mode]
    printed = Rules(rules.players, rules.edition, rules.mode)
    varied = [f"{name} {value}" for name, value in rules.to_dict().items() if value != getattr(printed, name)]
    return ", ".join([who, f"edition {rules.edition}", *varied])


def strength_title(rules: Rules) -> str:
    """What numbers of :mod:`agents.runs.evaluation` are for a game."""
    if rules.tracks == 1:
        return "lowest marker at the end"
    return "share of games won" if rules.tracks == 2 else "rank utility"


def strength(value: float, rules: Rules) -> str:
    """Such a number: a share as "95.1%", a utility as "+0.52", a marker as "14.3"."""
    if rules.tracks == 1:
        return f"{value:.1f}"
    return f"{value:.1%}" if rules.tracks == 2 else f"{value:+.2f}"


def words_of(opponent: str) -> str:
    """Whom an agent was measured against: "against denial", or "alone"."""
    return opponent if opponent == ALONE else f"against {opponent}"


def duration(seconds: float) -> str:
    """Seconds as "40 s", "26 min" or "1 h 50 min"."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"


def count(number: float) -> str:
    """A number of moves or games: "48,000", "5.14 million"."""
    return f"{number / 1e6:.3g} million" if number >= 1e6 else f"{round(number):,}"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, with a line's end."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
