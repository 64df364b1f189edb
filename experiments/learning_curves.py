"""Stored training runs as pictures: strength against the clock and against moves, a line a group."""

from collections.abc import Mapping, Sequence
from itertools import cycle, product
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from experiments.evaluation import ALONE
from experiments.stored_runs import Stored
from experiments.strength import AXES, FEW, Floats, band_of, lines_of

INK = "#808080"
"""Of everything that is no line: to be read on white and on black, as the picture has no ground of its own."""

COLORS = ("#3b8ede", "#e8820c", "#2ea36a", "#dd4b4b", "#a06cd5", "#b8860b", "#e26fb3", "#14a3b8")
DASHES: tuple[Any, ...] = ("-", "--", ":", "-.")

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: small, and in the reader's letters
    "svg.hashsalt": "genial_env",  # the same picture has the same bytes
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color"), INK
    ),
}

TIMES = {"seconds": 1, "minutes": 60, "hours": 3600}
COUNTS = {"moves": 1, "thousand moves": 10**3, "million moves": 10**6}


def draw(groups: Mapping[str, Sequence[Stored]], path: Path, strength: str, made_of: str) -> None:
    """Draw the groups of one game: a row of panels an opponent, a column an axis.

    A group of enough seeds is a line in its band; of one with fewer, every seed is a thin line, and the legend says so.

    Args:
        groups: the runs of each, by label.
        path: of the SVG.
        strength: what the numbers are, for the vertical axes.
        made_of: what the picture is made of, which is written into it.
    """
    opponents = opponents_of(groups)
    styles = dict(zip(groups, cycle(product(DASHES, COLORS)), strict=False))
    with rc_context(STYLE):
        figure = Figure(figsize=(9, 1 + 2.5 * len(opponents)), layout="constrained")
        panels = figure.subplots(len(opponents), len(AXES), sharex="col", sharey="row", squeeze=False)
        for column, axis in enumerate(AXES):
            scale, label = _unit(groups, axis)
            panels[-1, column].set_xlabel(label)
            _make_logarithmic(panels[-1, column])  # and with it the column
            for panel, opponent in zip(panels[:, column], opponents, strict=True):
                for name, runs in groups.items():
                    _draw_group(panel, lines_of(runs, opponent, axis), scale, *styles[name])
                panel.grid(alpha=0.3)
                panel.set_title(words_of(opponent), fontsize=9)
        figure.supylabel(strength, fontsize=9)
        handles = [Line2D([], [], linestyle=dashes, color=color) for dashes, color in styles.values()]
        names = [f"{name} ({_seeds(len(runs))})" for name, runs in groups.items()]
        figure.legend(handles, names, loc="outside upper center", ncols=3, frameon=False)
        figure.savefig(path, transparent=True, metadata={"Date": None, "Description": made_of})


def opponents_of(groups: Mapping[str, Sequence[Stored]]) -> list[str]:
    """Everybody whom a run of the groups has met, in the order of meeting."""
    return list(dict.fromkeys(name for runs in groups.values() for run in runs for name in run.opponents))


def words_of(opponent: str) -> str:
    """How tables and pictures say whom an agent was measured against."""
    return opponent if opponent == ALONE else f"against {opponent}"


def _draw_group(panel: Any, lines: Sequence[tuple[Floats, Floats]], scale: float, dashes: Any, color: str) -> None:
    band = band_of(lines)
    if band is None:
        for x, y in lines:
            panel.plot(x / scale, y, dashes, color=color, linewidth=0.8, marker=".", markersize=3)
        return
    panel.fill_between(band.x / scale, band.low, band.high, color=color, alpha=0.2, linewidth=0)
    panel.plot(band.x / scale, band.value, dashes, color=color, linewidth=1.6, marker=".", markersize=4)


def _make_logarithmic(panel: Any) -> None:
    """Learning is quick at first and slow then, so 1 and 2 are as far apart as 10 and 20."""
    panel.set_xscale("log", subs=())
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.xaxis.set_major_formatter("{x:g}")


def _unit(groups: Mapping[str, Sequence[Stored]], axis: str) -> tuple[float, str]:
    """The greatest unit of which the axis has at least two, and how it is called."""
    most = max(run.curve[-1][axis] for runs in groups.values() for run in runs)
    units, words = (TIMES, "{} by the clock") if axis == "wall_s" else (COUNTS, "{}")
    name = max(
        (name for name, size in units.items() if most >= 2 * size), key=units.__getitem__, default=next(iter(units))
    )
    return units[name], words.format(name)


def _seeds(n: int) -> str:
    return f"{n} seeds" if n >= FEW else f"{n} seed{'s' * (n > 1)} only"
