"""Do the 95% intervals of tournaments and matches hold the truth in 95% of the cases, at the ends too?

    pip install -e '.[arena,train]'
    python -m experiments.coverage              # the table below; half an hour on one core
    python -m experiments.coverage --laws "2 seats" --deals 10 --chances 0.97

simulates tournaments under known laws: agent 0 ends above each of the others with a given chance, the others are equal
(in the chain every agent ends above the next one with that chance). Every lineup meets in every rotation of the seats,
as in :mod:`genial_env.arena.schedule`. With "luck" half the deals decide all of their games: every agent is lucky or
unlucky in all of them alike. Printed is in how many percent of the tournaments an interval of agent 0 holds the truth:
the least of its rating (agent 1 is the anchor), its mean utility and its share of wins against agent 1; of matches, the
score. The last column is the mean width of the utility's interval (of matches the score's) where the chance is 0.5.

ANSWER
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

from genial_env.arena.intervals import Intervals
from genial_env.arena.ratings import rate
from genial_env.arena.sprt import Estimate, pair_counts
from genial_env.ending import orderly

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
    trials: int = 500
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
    """How often each of the intervals holds the truth, and how wide it is on average (infinite ones left out)."""
    rng = np.random.default_rng(seed)
    tried = [measured(law, ranks(law, chance, deals, rng)) for _ in range(trials)]
    low, high = (np.array([[getattr(one, end) for one in each] for each in tried]) for end in ("low", "high"))
    true = np.array(truth(law, chance))
    width = np.where(np.isfinite(high - low), high - low, np.nan)
    return ((low <= true) & (true <= high)).mean(axis=0), np.nanmean(width, axis=0)


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
    with orderly("coverage"):
        main(tyro.cli(Args))
