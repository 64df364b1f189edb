"""Drawings of a tournament's report. This is the only module that uses matplotlib, which it imports when needed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from genial_env._util.extras import install_hint
from genial_env._util.files import replace_path

__all__ = [
    "FORMATS",
    "MISSING",
    "best_first",
    "check_formats",
    "draw",
]

MISSING = f"pictures need matplotlib: {install_hint('arena')}"

FORMATS = ("png", "svg", "pdf")
"""The formats of pictures; the first is the default."""


def check_formats(formats: Sequence[str]) -> tuple[str, ...]:
    """Return the formats, each once.

    Raises:
        ValueError: If there are none, or one is unknown.
    """
    for name in formats:
        if name not in FORMATS:
            raise ValueError(f"pictures are {', '.join(FORMATS)}, not {name!r}")
    if not formats:
        raise ValueError(f"give at least one format of pictures: {', '.join(FORMATS)}")
    return tuple(dict.fromkeys(formats))


def best_first(found: dict[str, Any]) -> list[int]:
    """Return the agents of a report in descending order of their ratings."""
    return sorted(range(len(found["ratings"]["names"])), key=lambda agent: -found["ratings"]["rating"]["value"][agent])


def draw(found: dict[str, Any], directory: Path, formats: Sequence[str] = FORMATS[:1]) -> list[Path]:
    """Draw the result of ``Report.to_dict`` as `ratings.png`, `wins.png` and `lowest.png`, and return their paths.

    Args:
        found: the report.
        directory: where to write.
        formats: each picture is written in each of these of :data:`FORMATS`. The same report gives the same files. Text
            in PDF is in embedded TrueType fonts, as publishers ask for.

    Raises:
        ValueError: For an unknown format.
        ImportError: If matplotlib is not installed.
    """
    formats = check_formats(formats)
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(MISSING) from error
    drawn = []
    for name, paint in (("ratings", _draw_ratings), ("wins", _draw_wins), ("lowest", _draw_lowest)):
        n = len(found["ratings"]["names"])
        figure = Figure(figsize=(7, 1.5 + 0.45 * n if name != "wins" else 2 + 0.6 * n), layout="constrained")
        paint(found, best_first(found), figure)
        for kind in formats:
            path = directory / f"{name}.{kind}"
            with replace_path(path) as beside, rc_context({"pdf.fonttype": 42, "svg.hashsalt": name}):
                figure.savefig(beside, dpi=130, format=kind, metadata=_NO_DATE[kind])
            drawn.append(path)
    return drawn


_NO_DATE: dict[str, dict[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""Metadata that leave out the date."""


def _draw_ratings(found: dict[str, Any], order: list[int], figure: Any) -> None:
    axes, rating = figure.subplots(), found["ratings"]["rating"]
    value, low, high = (
        np.array([rating[end][agent] for agent in order], dtype=np.float64) for end in ("value", "low", "high")
    )
    reach = np.nan_to_num(np.abs(np.stack([value - low, high - value])))
    axes.errorbar(value, range(len(order)), xerr=reach, fmt="o", capsize=3, color="tab:blue")
    edges = axes.get_xlim()
    for row, ends in enumerate(zip(low, high, strict=True)):
        for end, edge in zip(ends, edges, strict=True):
            if np.isnan(end):  # dotted to the edge: no limit
                axes.plot([value[row], edge], [row, row], ":", color="tab:blue", linewidth=1)
    axes.set_xlim(edges)
    _label_agents(axes, found, order)
    axes.set_xlabel("rating (Elo), with 95% intervals (dotted: no limit)")
    axes.grid(axis="x", alpha=0.3)


def _draw_wins(found: dict[str, Any], order: list[int], figure: Any) -> None:
    axes = figure.subplots()
    rates = np.array(found["ratings"]["win_rate"]["value"], dtype=np.float64)[np.ix_(order, order)]
    np.fill_diagonal(rates, np.nan)
    image = axes.imshow(rates, cmap="RdBu", vmin=0, vmax=1)  # also told apart by those who see red and green alike
    for row, column in np.argwhere(~np.isnan(rates)):
        color = "white" if abs(rates[row, column] - 0.5) > 0.35 else "black"
        axes.text(column, row, f"{rates[row, column]:.0%}", ha="center", va="center", fontsize=8, color=color)
    names = [found["ratings"]["names"][agent] for agent in order]
    axes.set_xticks(range(len(order)), names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(order)), names)
    axes.set_title("how often the row ends above the column, ties half", fontsize=10)
    figure.colorbar(image, ax=axes, shrink=0.7)


def _draw_lowest(found: dict[str, Any], order: list[int], figure: Any) -> None:
    axes = figure.subplots()
    counts = np.array(found["lowest"])[order]
    shares = counts / counts.sum(axis=1, keepdims=True)
    markers = np.arange(counts.shape[1])
    for row, share in enumerate(shares):
        heights = 0.85 * share / share.max()
        axes.bar(markers, -heights, bottom=row + 0.4, width=0.9, color="tab:blue", alpha=0.7)
        mean = (share * markers).sum()
        axes.plot([mean, mean], [row + 0.4, row - 0.45], color="black", linewidth=1)
    _label_agents(axes, found, order)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("lowest marker at the end (the line: its mean)")


def _label_agents(axes: Any, found: dict[str, Any], order: list[int]) -> None:
    axes.set_yticks(range(len(order)), [found["ratings"]["names"][agent] for agent in order])
    axes.invert_yaxis()
