"""Tables of a tournament's report for other programs: CSV with plain numbers, and LaTeX with booktabs."""

import csv
import io
from collections.abc import Callable, Sequence
from math import isinf
from typing import Any

from genial_env.arena.pictures import best_first

__all__ = ["TABLE_FILES", "escape_latex", "format_interval", "signed"]


def format_interval(low: float | None, high: float | None, digits: int = 0) -> str:
    """Return an interval as text: "-12 to +40", "at least +140", "anything".

    Args:
        low: the low end; None or infinite for no limit.
        high: the high end, likewise.
        digits: the number of decimals.
    """
    ends = [None if end is None or isinf(end) else signed(end, digits) for end in (low, high)]
    if None not in ends:
        return " to ".join(map(str, ends))
    if ends[0] is not None:
        return f"at least {ends[0]}"
    return "anything" if ends[1] is None else f"at most {ends[1]}"


def signed(value: float, digits: int = 0) -> str:
    """Return a number with its sign; 0 has a plus."""
    return f"{round(value, digits) + 0.0:+.{digits}f}"


def escape_latex(text: str) -> str:
    """Return text for LaTeX, with its special characters escaped."""
    return "".join(_LATEX.get(char, char) for char in text)


_LATEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "–": "--",
}


def _ranking_csv(found: dict[str, Any]) -> str:
    """Return a line for each agent, with numbers as they are; an end without a limit is empty."""
    ratings, corrected = found["ratings"], found.get("corrected")
    columns: dict[str, Sequence[Any]] = {"agent": ratings["names"]}
    intervals = {"rating": ratings["rating"], "utility": ratings["utility"]}
    if corrected:
        intervals[f"{corrected['unit'].replace(' ', '_')}_corrected"] = corrected["mean"]
    for name, values in intervals.items():
        columns |= {name: values["value"], f"{name}_low": values["low"], f"{name}_high": values["high"]}
    for rank in range(len(ratings["markers"][0])):
        columns[f"marker_{rank + 1}"] = [markers[rank] for markers in ratings["markers"]]
    columns |= {"games": ratings["plays"], "ms_per_move": found["ms_per_move"], "forfeits": found["forfeits"]}
    return _csv(list(columns), [[column[agent] for column in columns.values()] for agent in best_first(found)])


def _wins_csv(found: dict[str, Any]) -> str:
    """Return the share of games that the row's agent won against the column's, ties half; empty if they never met."""
    order, names = best_first(found), found["ratings"]["names"]
    rows = [[names[row], *(_win_rate(found, row, column) for column in order)] for row in order]
    return _csv(["agent", *(names[agent] for agent in order)], rows)


def _ranking_latex(found: dict[str, Any]) -> str:
    ratings, corrected = found["ratings"], found.get("corrected")
    heads = ["agent", "rating", r"95\,\%", "utility", r"95\,\%"]
    heads += [f"{corrected['unit']}, corrected for luck", r"95\,\%"] if corrected else []
    heads += ["lowest marker", "games", "ms a move", "forfeits"]
    columns = [(ratings["rating"], 0), (ratings["utility"], 2), *([(corrected["mean"], 2)] if corrected else [])]
    rows = []
    for agent in best_first(found):
        cells = [_agent_latex(ratings["names"][agent])]
        for values, digits in columns:
            value, low, high = (values[end][agent] for end in ("value", "low", "high"))
            cells += ["" if value is None else _number(signed(value, digits)), _interval_latex(low, high, digits)]
        ms = found["ms_per_move"][agent]
        cells += [f"{ratings['markers'][agent][0]:.1f}", str(ratings["plays"][agent])]
        cells += ["" if ms is None else f"{ms:.3g}", str(found["forfeits"][agent])]
        rows.append(cells)
    return _latex(heads, rows)


def _wins_latex(found: dict[str, Any]) -> str:
    order, names = best_first(found), found["ratings"]["names"]
    rows = []
    for row in order:
        rates = [_win_rate(found, row, column) for column in order]
        rows.append([_agent_latex(names[row]), *("--" if rate is None else rf"{100 * rate:.1f}\,\%" for rate in rates)])
    return _latex(["wins against", *(_agent_latex(names[agent]) for agent in order)], rows)


TABLE_FILES: dict[str, Callable[[dict[str, Any]], str]] = {
    "ranking.csv": _ranking_csv,
    "wins.csv": _wins_csv,
    "ranking.tex": _ranking_latex,
    "wins.tex": _wins_latex,
}
"""For each file the function that makes its text from a report (``Report.to_dict``), the strongest agent first."""


def _win_rate(found: dict[str, Any], row: int, column: int) -> float | None:
    """Return how often an agent ended above another; None if they never met."""
    ratings = found["ratings"]
    return ratings["win_rate"]["value"][row][column] if ratings["meetings"][row][column] and row != column else None


def _csv(head: list[str], rows: list[list[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return text.getvalue()


def _latex(heads: list[str], rows: list[list[str]]) -> str:
    r"""Return a tabular with booktabs: the first column to the left, the others to the right."""
    lines = [" & ".join(cells) + r" \\" for cells in (heads, *rows)]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs} and \usepackage[T1]{fontenc}",
            rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _agent_latex(name: str) -> str:
    return rf"\texttt{{{escape_latex(name)}}}"


def _number(text: str) -> str:
    """Return a number in mathematics, which gives it a minus instead of a hyphen."""
    return f"${text}$"


def _interval_latex(low: float | None, high: float | None, digits: int) -> str:
    words = format_interval(low, high, digits).split()
    return " ".join(_number(word) if word[0] in "+-" else word for word in words)
