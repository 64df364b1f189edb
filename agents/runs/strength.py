"""How strong the runs of a group are, at the end and on the way: what all seeds together say, and how surely.

The middle is the interquartile mean over the seeds: the mean without the lowest and the highest quarter (of five seeds,
without the lowest and the highest one). Its 95% interval comes from drawing seeds, not games, anew with repetition.
Fewer than :data:`FEW` seeds say too little of other seeds, so they have a plain mean, and the interval of their games.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap, trim_mean

from agents.runs.stored_runs import Stored

FEW = 5
"""From so many seeds on there is an interval over seeds."""

RESAMPLES = 10_000

AXES = ("wall_s", "moves")
"""What strength is drawn against, as the lines of a curve call it. CPU seconds are not among them: while a run goes on,
its clock does not know what processes have taken that still run."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Strength:
    """Strength against an opponent at the end.

    Attributes:
        seeds: how many runs have met it in their last evaluations.
        value: their interquartile mean; of fewer than :data:`FEW` their mean.
        low: the lower end of the 95% interval: over seeds, for fewer than :data:`FEW` over their games.
        high: the upper end.
    """

    seeds: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Band:
    """Strength against an opponent on the way, from where all seeds have been measured to where the last one ends.

    Attributes:
        x: [X] seconds or moves.
        value: [X] the interquartile mean over seeds.
        low: [X] the lower end of its 95% interval.
        high: [X] the upper end.
    """

    x: Floats
    value: Floats
    low: Floats
    high: Floats


def interquartile_mean(values: Floats, axis: int = 0) -> Floats:
    """The mean of what is left without the lowest and the highest quarter, both rounded down."""
    return np.asarray(trim_mean(values, 0.25, axis=axis))


def interval(values: Floats) -> tuple[Floats, Floats]:
    """The ends of the 95% interval of the interquartile mean over the first axis, by percentiles of resampled seeds.

    Args:
        values: [S] or [S, X], S seeds.
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


def final_strength(runs: Sequence[Stored], opponent: str) -> Strength | None:
    """What the last evaluations of a group's runs say; None where no run has met the opponent in its last one."""
    found = [run.curve[-1]["against"][opponent] for run in runs if opponent in run.curve[-1]["against"]]
    if not found:
        return None
    means = np.array([each["mean"] for each in found])
    if len(found) < FEW:
        value, half = means.mean(), np.hypot.reduce([each["half"] for each in found]) / len(found)
        return Strength(len(found), float(value), float(value - half), float(value + half))
    low, high = interval(means)
    return Strength(len(found), float(interquartile_mean(means)), float(low), float(high))


def lines_of(runs: Sequence[Stored], opponent: str, axis: str) -> list[tuple[Floats, Floats]]:
    """For each run that has met the opponent, x and strength [E] of its E evaluations against it."""
    met = [[line for line in run.curve if opponent in line["against"]] for run in runs]
    return [
        (_column(lines, axis), np.array([line["against"][opponent]["mean"] for line in lines]))
        for lines in met
        if lines
    ]


def band_of(lines: Sequence[tuple[Floats, Floats]]) -> Band | None:
    """The lines of a group's seeds together; None for fewer than :data:`FEW`.

    Between two evaluations a seed is where the straight line is, and after its last one it stays at that: who has
    finished has what there is. The band has the points of the seed with the most evaluations.
    """
    if len(lines) < FEW:
        return None
    first, last = max(x[0] for x, _ in lines), max(x[-1] for x, _ in lines)
    most = max((x for x, _ in lines), key=len)
    x = np.unique([first, *most[(most > first) & (most < last)], last])
    values = np.stack([np.interp(x, *line) for line in lines])
    return Band(x, interquartile_mean(values), *interval(values))


def _column(lines: Sequence[dict[str, Any]], name: str) -> Floats:
    return np.array([line[name] for line in lines], dtype=np.float64)
