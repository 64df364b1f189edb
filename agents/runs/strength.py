"""The strength of a group of runs at the end and during training, with intervals over seeds.

The estimate is the interquartile mean over the seeds: the mean without the lowest and the highest quarter (of five
seeds, without the lowest and the highest one). Its 95% interval is a bootstrap interval that resamples seeds, not
games. Fewer than :data:`MIN_SEEDS` seeds say too little about other seeds. They get a plain mean, and an interval over
the games of their evaluations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import bootstrap, trim_mean

from agents.runs.stored_runs import Stored
from genial_env.core.arrays import Floats

__all__ = [
    "AXES",
    "MIN_SEEDS",
    "Band",
    "Line",
    "Strength",
    "bootstrap_interval",
    "collect_lines",
    "compute_band",
    "compute_final_strength",
    "interquartile_mean",
]

MIN_SEEDS = 5
"""The least number of seeds for an interval over seeds."""

RESAMPLES = 10_000

AXES = ("wall_s", "moves")
"""The horizontal axes of learning curves, by their names in the lines of a curve. CPU time is not among them: during a
run it lacks the time of actor processes that are still running."""


Line = tuple[Floats, Floats]
"""x and strength of the evaluations of one run, each [E]."""


@dataclass(frozen=True)
class Strength:
    """Final strength against an opponent.

    Attributes:
        seeds: number of runs whose last evaluation includes the opponent.
        value: their interquartile mean; of fewer than :data:`MIN_SEEDS` runs their mean.
        low: lower end of the 95% interval: over seeds; for fewer than :data:`MIN_SEEDS` runs over their games.
        high: upper end.
    """

    seeds: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Band:
    """A learning curve over seeds, from where all seeds have been evaluated to the end of the longest run.

    Attributes:
        x: [X] seconds or moves.
        value: [X] interquartile mean over seeds.
        low: [X] lower end of its 95% interval.
        high: [X] upper end.
    """

    x: Floats
    value: Floats
    low: Floats
    high: Floats


def interquartile_mean(values: Floats, axis: int = 0) -> Floats:
    """Compute the mean without the lowest and the highest quarter, each rounded down to whole seeds."""
    return np.asarray(trim_mean(values, 0.25, axis=axis))


def bootstrap_interval(values: Floats) -> tuple[Floats, Floats]:
    """Compute the ends of the 95% percentile bootstrap interval of the interquartile mean over seeds.

    Args:
        values: [S] or [S, X] of S seeds.
    """
    found = bootstrap(
        (values,),
        interquartile_mean,
        n_resamples=RESAMPLES,
        method="percentile",
        vectorized=True,
        axis=0,
        rng=np.random.default_rng(0),
    ).confidence_interval
    return found.low, found.high


def compute_final_strength(runs: Sequence[Stored], opponent: str) -> Strength | None:
    """Compute the final strength of a group; None if no last evaluation includes the opponent."""
    found = [run.curve[-1]["against"][opponent] for run in runs if opponent in run.curve[-1]["against"]]
    if not found:
        return None
    means = np.array([each["mean"] for each in found])
    if len(found) < MIN_SEEDS:
        value, half = means.mean(), np.hypot.reduce([each["half"] for each in found]) / len(found)
        return Strength(len(found), float(value), float(value - half), float(value + half))
    low, high = bootstrap_interval(means)
    return Strength(len(found), float(interquartile_mean(means)), float(low), float(high))


def collect_lines(runs: Sequence[Stored], opponent: str, axis: str) -> list[Line]:
    """Collect x and strength, each [E], of the E evaluations against an opponent, for each run that has any."""
    met = [[line for line in run.curve if opponent in line["against"]] for run in runs]
    return [
        (_column(lines, axis), np.array([line["against"][opponent]["mean"] for line in lines]))
        for lines in met
        if lines
    ]


def compute_band(lines: Sequence[Line]) -> Band | None:
    """Combine the lines of a group's seeds; None for fewer than :data:`MIN_SEEDS`.

    Between two evaluations of a seed the strength is interpolated linearly. After the last one it stays constant. The
    band has the points of the seed with the most evaluations.
    """
    if len(lines) < MIN_SEEDS:
        return None
    first, last = max(x[0] for x, _ in lines), max(x[-1] for x, _ in lines)
    most = max((x for x, _ in lines), key=len)
    x = np.unique([first, *most[(most > first) & (most < last)], last])
    values = np.stack([np.interp(x, *line) for line in lines])
    return Band(x, interquartile_mean(values), *bootstrap_interval(values))


def _column(lines: Sequence[dict[str, Any]], name: str) -> Floats:
    return np.array([line[name] for line in lines], dtype=np.float64)
