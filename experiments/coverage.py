"""Do 95% intervals of tournaments and matches contain the true value in 95% of the cases, also at the extremes?

    pip install -e '.[arena,train]'
    python -m experiments.coverage              # everything: hours on one core, most of them for many agents
    python -m experiments.coverage --laws "2 seats" --deals 10 --chances 0.97

simulates tournaments under known laws. Agent 0 ends above each of the others with a given chance, and the others are
equal (in the law "chain", every agent ends above the next one with that chance). Every lineup plays in every rotation
of the seats, as in :mod:`genial_env.arena.schedule`. In laws with "luck", half of the deals decide all of their games:
every agent is lucky or unlucky in all of them.

Printed is the percentage of tournaments in which an interval of agent 0 contains the true value: the least of its
rating (agent 1 is the anchor), its mean utility and its share of wins against agent 1; for matches, the score. The last
column is the mean width of the utility's interval (for matches of the score's) at the first chance.

The answer: yes, everywhere. docs/measurements.md has the tables.
"""

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

from genial_env._util.shutdown import handle_signals
from genial_env.arena.intervals import Intervals
from genial_env.arena.ratings import rate
from genial_env.arena.sprt import Estimate, pair_counts
from genial_env.core.arrays import Floats, Ints


class Law(NamedTuple):
    """The law by which simulated games end."""

    tracks: int
    agents: int
    ties: float = 0
    """results are rounded to multiples of this number of log odds; equal ones are ties"""
    luck: float = 0
    """share of the deals that decide all of their games"""
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
    """The options of the command line."""

    laws: tuple[str, ...] = tuple(LAWS)
    """laws to simulate"""
    deals: tuple[int, ...] = (10, 30, 100)
    """numbers of deals of a tournament"""
    chances: tuple[float, ...] = (0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.99)
    """chances of agent 0 to end above another agent"""
    trials: int = 200
    """number of tournaments for each case"""
    seed: int = 0
    """seed of the simulation"""


def schedule(law: Law) -> Ints:
    """Return the entrants [G, T] of the games of one deal: every lineup in every rotation."""
    lineups = combinations(range(law.agents), law.tracks)
    return np.array([np.roll(lineup, turn) for lineup in lineups for turn in range(law.tracks)])


def strengths(law: Law, chance: float) -> Floats:
    """Return the agents' strengths [N] in log odds."""
    gap = np.log(chance / (1 - chance))
    found: Floats = gap * -np.arange(law.agents) if law.chain else gap * (np.arange(law.agents) == 0)
    return found


def ranks(law: Law, chance: float, deals: int, rng: np.random.Generator) -> Ints:
    """Simulate the ranks [K, G, T] of the games of K deals: the order of strengths plus Gumbel noise."""
    entrants = schedule(law)
    noise = rng.gumbel(size=(deals, *entrants.shape))
    shared = rng.gumbel(size=(deals, law.agents))[:, entrants]
    values = strengths(law, chance)[entrants] + np.where(rng.random((deals, 1, 1)) < law.luck, shared, noise)
    if law.ties:
        values = np.floor((values + rng.random((deals, entrants.shape[0], 1)) * law.ties) / law.ties)
    found: Ints = 1 + (values[..., None, :] > values[..., None]).sum(axis=-1)
    return found


def compute_intervals(law: Law, found: Ints) -> list[Intervals]:
    """Compute the intervals of agent 0 from ranks [K, G, T]: rating, utility, wins against agent 1."""
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
    """Compute the true values that :func:`compute_intervals` estimates, from very many deals."""
    found = ranks(law, chance, 400_000 // len(schedule(law)), np.random.default_rng(1))
    return [float(interval.value) for interval in compute_intervals(law, found)]


def cover(law: Law, chance: float, deals: int, trials: int, seed: int) -> tuple[Floats, Floats]:
    """Return how often each interval contains the true value, and the mean width of the finite ones (0: none)."""
    rng = np.random.default_rng(seed)
    tried = [compute_intervals(law, ranks(law, chance, deals, rng)) for _ in range(trials)]
    low, high = (np.array([[getattr(one, end) for one in each] for each in tried]) for end in ("low", "high"))
    true = np.array(truth(law, chance))
    is_finite = np.isfinite(high - low)
    widths = np.where(is_finite, high - low, 0).sum(axis=0) / np.maximum(1, is_finite.sum(axis=0))
    return ((low <= true) & (true <= high)).mean(axis=0), widths


def table(args: Args) -> Table:
    """Simulate all cases and make a table."""
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
