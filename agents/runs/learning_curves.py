"""Pictures of stored training runs: strength over wall time and over moves, one line per group."""

from collections.abc import Mapping, Sequence
from itertools import cycle, product
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from agents.runs.formatting import format_against
from agents.runs.stored_runs import Stored
from agents.runs.strength import AXES, MIN_SEEDS, Line, collect_lines, compute_band
from genial_env._util.files import replace_path

__all__ = ["Groups", "collect_opponents", "draw"]

INK = "#808080"
"""Color of text and axes, legible on white and on black, as the background is transparent."""

COLORS = ("#3b8ede", "#e8820c", "#2ea36a", "#dd4b4b", "#a06cd5", "#b8860b", "#e26fb3", "#14a3b8")
DASHES: tuple[Any, ...] = ("-", "--", ":", "-.")

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: small files, in the reader's font
    "svg.hashsalt": "genial_env",  # the same picture has the same bytes
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color"), INK
    ),
}

LONG_NAME = 42
"""Length of a label in the legend above which the legend has two columns instead of three."""

Groups = Mapping[str, Sequence[Stored]]
"""The runs of each group by label."""

Styles = Mapping[str, tuple[Any, str]]
"""The line style and color of each group by label."""

TIMES = {"seconds": 1, "minutes": 60, "hours": 3600}
COUNTS = {"moves": 1, "thousand moves": 10**3, "million moves": 10**6}


def draw(groups: Groups, path: Path, strength: str, source: str) -> None:
    """Draw the groups of one game: a row of panels for each opponent, a column for each horizontal axis.

    A group with enough seeds is a line with a band. Of a group with fewer seeds, every seed is a thin line, and the
    legend says so.

    Args:
        groups: the runs of each group by label.
        path: the path of the SVG file.
        strength: the label of the vertical axes.
        source: a description of the data, written into the file.
    """
    opponents = collect_opponents(groups)
    styles = dict(zip(groups, cycle(product(DASHES, COLORS)), strict=False))
    with rc_context(STYLE):
        figure = Figure(figsize=(9, 1 + 2.5 * len(opponents)), layout="constrained")
        panels = figure.subplots(len(opponents), len(AXES), sharex="col", sharey="row", squeeze=False)
        for column, axis in enumerate(AXES):
            _draw_column(panels[:, column], groups, styles, axis)
        figure.supylabel(strength, fontsize=9)
        _add_legend(figure, groups, styles)
        with replace_path(path) as beside:
            figure.savefig(beside, transparent=True, metadata={"Date": None, "Description": source})


def collect_opponents(groups: Groups) -> list[str]:
    """Return all opponents of the evaluations, in order of appearance."""
    return list(dict.fromkeys(name for runs in groups.values() for run in runs for name in run.opponents))


def _draw_column(panels: Any, groups: Groups, styles: Styles, axis: str) -> None:
    """Draw the panels of all opponents with one horizontal axis."""
    unit, name = _choose_unit(groups, axis)
    for panel, opponent in zip(panels, collect_opponents(groups), strict=True):
        for label, runs in groups.items():
            _draw_group(panel, collect_lines(runs, opponent, axis), unit, *styles[label])
        panel.set_title(format_against(opponent), fontsize=9)
        panel.grid(alpha=0.3)
    panels[-1].set_xlabel(name)
    # Learning is fast at first and slow later, so the axis is logarithmic.
    panels[-1].set_xscale("log", subs=())
    panels[-1].xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panels[-1].xaxis.set_major_formatter("{x:g}")


def _draw_group(panel: Any, lines: Sequence[Line], unit: float, dashes: Any, color: str) -> None:
    band = compute_band(lines)
    if band is None:
        for x, y in lines:
            panel.plot(x / unit, y, dashes, color=color, linewidth=0.8, marker=".", markersize=3)
        return
    panel.fill_between(band.x / unit, band.low, band.high, color=color, alpha=0.2, linewidth=0)
    panel.plot(band.x / unit, band.value, dashes, color=color, linewidth=1.6, marker=".", markersize=4)


def _add_legend(figure: Figure, groups: Groups, styles: Styles) -> None:
    names = [f"{label} ({_format_seeds(len(runs))})" for label, runs in groups.items()]
    handles = [Line2D([], [], linestyle=dashes, color=color) for dashes, color in styles.values()]
    columns = 3 if max(map(len, names)) <= LONG_NAME else 2
    figure.legend(handles, names, loc="outside upper center", ncols=columns, frameon=False)


def _choose_unit(groups: Groups, axis: str) -> tuple[float, str]:
    """Choose the greatest unit of which the axis spans at least two; return it and the label of the axis."""
    most = max(run.curve[-1][axis] for runs in groups.values() for run in runs)
    units = TIMES if axis == "wall_s" else COUNTS
    smallest, *greater = units
    name = [smallest, *(name for name in greater if most >= 2 * units[name])][-1]
    return units[name], f"wall time in {name}" if axis == "wall_s" else name


def _format_seeds(n: int) -> str:
    return f"{n} seeds" if n >= MIN_SEEDS else f"{n} seed{'s' * (n > 1)} only"
