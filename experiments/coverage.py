"""Do the 95% intervals of tournaments and matches hold the truth in 95% of the cases, at the ends too?

    pip install -e '.[arena,train]'
    python -m experiments.coverage              # all of it; hours on one core, most of them for many agents
    python -m experiments.coverage --laws "2 seats" --deals 10 --chances 0.97

simulates tournaments under known laws: agent 0 ends above each of the others with a given chance, the others are equal
(in the chain every agent ends above the next one with that chance). Every lineup meets in every rotation of the seats,
as in :mod:`genial_env.arena.schedule`. With "luck" half the deals decide all of their games: every agent is lucky or
unlucky in all of them alike. Printed is in how many percent of the tournaments an interval of agent 0 holds the truth:
the least of its rating (agent 1 is the anchor), its mean utility and its share of wins against agent 1; of matches, the
score. The last column is the mean width of the utility's interval (of matches the score's) where the chance is 0.5.

The answer: yes, everywhere, and with some to spare where a block is a whole deal. Below, the first table is of 200
tournaments a figure (one of 95 has a standard error of 1.5), the second of 60 (2.8), by ``--trials 60 --deals 10 30
--chances 0.5 0.8 0.9 0.97 0.99``. The least of three is a little below each of them. Where it was lowest, 200 more
tournaments gave at least 96.0 (2 seats, 5 agents, 30 deals, 0.8) and 97.5 (0.9), and of 100 deals 96.5 (3 seats, 5
agents, 0.8):

    law                 deals     0.5   0.7   0.8   0.9  0.95  0.97  0.99   width
    match                  10    99.5  99.0  99.0  99.5  99.0  97.5  98.5   0.482
    match                  30    98.0  96.5  97.5  99.5 100.0  99.0  99.5   0.277
    match                 100    97.0  96.5  94.0  97.5  98.5  99.0  97.0   0.147
    match, ties            10   100.0  98.5  98.0  97.0  98.5  98.5 100.0   0.447
    match, ties            30    98.5  98.0  98.0  98.5  98.5  98.5 100.0   0.247
    match, ties           100    98.5  97.0  96.5  97.5  97.5  97.0  97.0   0.129
    match, luck            10    97.0  99.0  98.5  98.0  98.5  99.5  99.0   0.542
    match, luck            30    98.0  96.0  96.5  97.0  98.0  99.0 100.0   0.325
    match, luck           100    97.0  97.5  98.0  97.5  98.5  99.0  98.5   0.177
    2 seats                10    99.5  99.0  99.0  99.5  99.0  97.5  98.5   0.965
    2 seats                30    98.0  96.5  97.5  99.5 100.0  99.0  99.5   0.553
    2 seats               100    97.0  96.5  94.0  97.5  98.5  99.0  97.0   0.294
    2 seats, ties          10   100.0  98.5  98.0  97.0  98.5  98.5 100.0   0.895
    2 seats, ties          30    98.5  98.0  98.0  98.5  98.5  98.5 100.0   0.493
    2 seats, ties         100    98.5  97.0  96.5  97.5  97.5  97.0  97.0   0.259
    2 seats, luck          10    97.0  99.0  98.5  98.0  98.5  99.5  99.0   1.084
    2 seats, luck          30    98.0  96.0  96.5  97.0  98.0  99.0 100.0   0.650
    2 seats, luck         100    97.0  97.5  97.5  97.5  98.5  99.0  98.5   0.354

    law                 deals     0.5   0.8   0.9  0.97  0.99   width
    3 seats                10   100.0  98.3  98.3  96.7 100.0   0.757
    3 seats                30    98.3 100.0  98.3  96.7  95.0   0.397
    3 seats, luck          10    98.3  98.3 100.0 100.0 100.0   0.929
    3 seats, luck          30    98.3  98.3  96.7  96.7 100.0   0.532
    4 seats, ties          10   100.0 100.0  98.3  98.3  96.7   0.706
    4 seats, ties          30   100.0  96.7  96.7 100.0  98.3   0.329
    2 seats, 5 agents      10    96.7  98.3  98.3  98.3 100.0   0.490
    2 seats, 5 agents      30    95.0  93.3  93.3 100.0  95.0   0.266
    2 seats, chain of 4    10    96.7  96.7  96.7  98.3  98.3   0.564
    2 seats, chain of 4    30    96.7  98.3 100.0 100.0  98.3   0.303
    3 seats, 5 agents      10    96.7 100.0  98.3 100.0 100.0   0.285
    3 seats, 5 agents      30    96.7  93.3  98.3 100.0 100.0   0.148

The percentiles of resampled deals that were used before never held the truth where an agent had won everything. The
utility's interval was not much narrower, but for a lineup of all agents with many seats; mean widths of 20 tournaments
at a chance of 0.6, before and now:

                           10 deals        30 deals       100 deals
    2 seats              0.88   0.93     0.51   0.55     0.26   0.29
    2 seats, 5 agents    0.44   0.47     0.26   0.26     0.13   0.14
    4 seats              0.44   0.70     0.26   0.34     0.14   0.16
"""

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from genial_env._util.shutdown import handle_signals
from genial_env.arena.intervals import Intervals
from genial_env.arena.ratings import rate
from genial_env.arena.sprt import Estimate, pair_counts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Law(NamedTuple):
    """How simulated games end."""

    tracks: int
    agents: int
    ties: float = 0
    """results are rounded to these steps of log odds; what is equal then is a tie"""
    luck: float = 0
    """the share of the deals that decide all of their games"""
    chain: bool = False
    match: bool = False


LAWS = {
    "match": Law(2, 2, match=True),
    "match, ties": Law(2, 2, ties=1.0, match=True),
    "match, luck": Law(2, 2, luck=0.5, match=True),
    "2 seats": Law(2, 2),
    "2 seats, ties": Law(2, 2, ties=1.0),
    "2 seats, luck": Law(2, 2, luck=0.5),
    "2 seats, 5 agents": Law(2, 5),
    "2 seats, chain of 4": Law(2, 4, chain=True),
    "3 seats": Law(3, 3),
    "3 seats, luck": Law(3, 3, luck=0.5),
    "3 seats, 5 agents": Law(3, 5),
    "4 seats": Law(4, 4),
    "4 seats, ties": Law(4, 4, ties=1.0),
    "4 seats, 5 agents": Law(4, 5),
}


@dataclass
class Args:
    """The settings; each is an option of the command line."""

    laws: tuple[str, ...] = tuple(LAWS)
    """which laws"""
    deals: tuple[int, ...] = (10, 30, 100)
    """how many deals a tournament has"""
    chances: tuple[float, ...] = (0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.99)
    """how often agent 0 ends above another"""
    trials: int = 200
    """how many tournaments"""
    seed: int = 0
    """of the simulation"""


def schedule(law: Law) -> Ints:
    """The entrants [G, T] of the games of one deal: every lineup in every rotation."""
    lineups = combinations(range(law.agents), law.tracks)
    return np.array([np.roll(lineup, turn) for lineup in lineups for turn in range(law.tracks)])


def strengths(law: Law, chance: float) -> Floats:
    """The agents' strengths [N] in log odds."""
    gap = np.log(chance / (1 - chance))
    return gap * -np.arange(law.agents) if law.chain else gap * (np.arange(law.agents) == 0)


def ranks(law: Law, chance: float, deals: int, rng: np.random.Generator) -> Ints:
    """The ranks [K, G, T] of the games of so many deals: strengths and Gumbel noise, in order."""
    entrants = schedule(law)
    noise = rng.gumbel(size=(deals, *entrants.shape))
    shared = rng.gumbel(size=(deals, law.agents))[:, entrants]
    values = strengths(law, chance)[entrants] + np.where(rng.random((deals, 1, 1)) < law.luck, shared, noise)
    if law.ties:
        values = np.floor((values + rng.random((deals, entrants.shape[0], 1)) * law.ties) / law.ties)
    found: Ints = 1 + (values[..., None, :] > values[..., None]).sum(axis=-1)
    return found


def measured(law: Law, found: Ints) -> list[Intervals]:
    """The intervals of agent 0 in a tournament of ranks [K, G, T]: rating, utility, wins against agent 1."""
    deals, games, tracks = found.shape
    if law.match:
        own = schedule(law)[:, 0] == 0
        scores = 0.5 + 0.5 * np.sign(found[..., 1] - found[..., 0]) * np.where(own, 1, -1)
        estimate = Estimate.of(pair_counts(scores[:, 0], scores[:, 1]))
        return [Intervals(*np.array([estimate.score, estimate.score_low, estimate.score_high]))]
    entrants = np.tile(schedule(law), (deals, 1))
    groups = np.repeat(np.arange(deals), games)
    made = rate(entrants, found.reshape(-1, tracks), groups, law.agents, anchor=(1, 0.0))
    wins = Intervals(*(values[0, 1] for values in made.win_rate))
    return [Intervals(*(values[0] for values in interval)) for interval in (made.rating, made.utility)] + [wins]


@cache
def truth(law: Law, chance: float) -> list[float]:
    """What :func:`measured` estimates: of very many deals."""
    found = ranks(law, chance, 400_000 // len(schedule(law)), np.random.default_rng(1))
    return [float(interval.value) for interval in measured(law, found)]


def cover(law: Law, chance: float, deals: int, trials: int, seed: int) -> tuple[Floats, Floats]:
    """Return how often each interval holds the truth, and its mean width over those that are finite (0: none is)."""
    rng = np.random.default_rng(seed)
    tried = [measured(law, ranks(law, chance, deals, rng)) for _ in range(trials)]
    low, high = (np.array([[getattr(one, end) for one in each] for each in tried]) for end in ("low", "high"))
    true = np.array(truth(law, chance))
    is_finite = np.isfinite(high - low)
    widths = np.where(is_finite, high - low, 0).sum(axis=0) / np.maximum(1, is_finite.sum(axis=0))
    return ((low <= true) & (true <= high)).mean(axis=0), widths


def table(args: Args) -> Table:
    """Simulate everything that the arguments ask for."""
    shown = Table("law", "deals", *(f"{chance:g}" for chance in args.chances), "width")
    for name in args.laws:
        for deals in args.deals:
            found = [cover(LAWS[name], chance, deals, args.trials, args.seed) for chance in args.chances]
            covered = [f"{100 * shares.min():.1f}" for shares, _ in found]
            width = found[0][1][0 if LAWS[name].match else 1]
            shown.add_row(name, str(deals), *covered, f"{width:.3f}")
    return shown


def main(args: Args) -> None:
    """Print the table."""
    unknown = sorted({*args.laws} - {*LAWS})
    if unknown:
        raise SystemExit(f"unknown laws {', '.join(unknown)}: the laws are {', '.join(LAWS)}")
    Console().print(table(args))


if __name__ == "__main__":
    with handle_signals("coverage"):
        main(tyro.cli(Args))
