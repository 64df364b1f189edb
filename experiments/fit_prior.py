"""Which settings of the prior put the best placements first?

    python -m experiments.fit_prior --players 2

Agents with a value network consider only the first placements of an order, that of the prior
(:class:`~genial_env.policies.prior.PlacementPrior`). A placement that comes too late is lost. So this program takes
positions of games of "value" against itself, evaluates every placement with the network, and looks for the settings
with the least loss: the utility of the best placement less that of the best one among the first. It prints the loss of
"denial", of the shipped settings and of those that it found, in positions of other games.

The search is CMA-ES with margin, by the library cmaes (`pip install -e '.[tune,fast]'`). It begins with the settings of
"denial".

The answer: docs/measurements.md; the settings: `genial_env/policies/seat_counts.py`.
"""

from dataclasses import astuple, dataclass

import numpy as np
import tyro
from cmaes import CMAwM
from rich.console import Console
from rich.table import Table

from genial_env import Rules, use_backend, view
from genial_env._util.shutdown import handle_signals
from genial_env.core import kernel
from genial_env.core.arrays import Floats, Floats32
from genial_env.core.chance import game_seeds
from genial_env.core.views import View
from genial_env.policies.afterstates import candidates
from genial_env.policies.base import NONE
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.heuristic import HalfWeights, HeuristicPolicy
from genial_env.policies.prior import PlacementPrior
from genial_env.policies.seat_counts import DenialSettings, denial_settings, value_candidates
from genial_env.policies.value import Nets, judge
from genial_env.policies.value_net import ValueNet


@dataclass
class Args:
    """The options of the command line."""

    players: int = 2
    """number of seats"""
    mode: str = "individual"
    """"individual", "team" or "solo" """
    edition: str = "2025"
    """edition of the rules; team and solo are in "2004" and "2009" """
    games: int = 900
    """games whose positions the settings are fitted to; as many others measure them"""
    share: float = 0.06
    """share of the decisions of a game that are taken"""
    placements: tuple[int, ...] = (6, 12, 32)
    """numbers of first placements; the sum of their losses is minimized"""
    generations: int = 150
    """generations of the search, of ten settings each"""
    seed: int = 0
    """seed of everything"""


@dataclass(eq=False)
class Positions:
    """Positions in which placements are chosen."""

    views: list[View]
    utility: Floats32  # [n, K * E] of each placement, -inf for those that are not legal or lead to the same position

    def losses(self, prior: HeuristicPolicy, placements: tuple[int, ...]) -> Floats:
        """Return the mean loss if only so many placements are considered, the first by a prior."""
        most = max(placements)
        first = np.concatenate([candidates(some, most, prior)[:, :most] for some in self.views])
        is_placement = (first != NONE) & (first < self.utility.shape[1])  # swap and decline come after the placements
        found = np.take_along_axis(self.utility, np.where(is_placement, first, 0), axis=1)
        found[~is_placement] = -np.inf
        best = self.utility.max(axis=1)
        return np.array([(best - found[:, :number].max(axis=1)).mean(dtype=np.float64) for number in placements])


def take_positions(rules: Rules, net: ValueNet, games: int, share: float, seed: int) -> Positions:
    """Return some decisions of games of "value" against itself, with the utility of all placements."""
    state, rng = kernel.deal(rules, game_seeds(seed, games)), np.random.default_rng(seed)
    views, utility = list[View](), list[Floats32]()
    for live in kernel.live_games(state):
        seen = view(state, rows=live)
        judged = judge(seen, net, value_candidates(rules))
        taken = np.flatnonzero((rng.random(len(live)) < share) & seen.slots.any(axis=1))
        if taken.size:
            views.append(seen.select(taken))
            utility.append(_evaluate_all(views[-1], net))
        kernel.apply(state, judged.after.actions[judged.best(judged.utility, len(live))], live)
    return Positions(views, np.concatenate(utility))


def _evaluate_all(seen: View, net: ValueNet) -> Floats32:
    """Return the utility of every placement: [G, K * E], as in :class:`Positions`."""
    judged = judge(seen, net, seen.tables.swap_action)
    utility = np.full((len(seen), seen.tables.swap_action), -np.inf, dtype=np.float32)
    placing = judged.after.actions < seen.tables.swap_action
    utility[judged.after.game[placing], judged.after.actions[placing]] = judged.utility[placing]
    return utility


BOUNDS = {
    "temperature": (1, 80),
    "shape": (0.6, 2),
    "arrival": (0, 50),
    "denied_total": (0, 8),
    "denied_max": (0, 12),
    "opened": (-4, 8),
    "opened_to_others": (-4, 8),
    "forgone_total": (-4, 8),
    "forgone_max": (-4, 12),
}
"""The least and the greatest number of each setting."""

LOW, HIGH = (np.array(ends, dtype=np.float64) for ends in zip(*BOUNDS.values(), strict=True))
STEPS = np.array([0.0, 0.0, *(1 / (HIGH - LOW)[2:])])
"""The steps between the numbers of the settings as parts of their ranges; 0: any number."""


def to_numbers(settings: DenialSettings) -> Floats:
    """Return settings as parts of their ranges."""
    temperature, shape, arrival, weights = settings
    return (np.array([temperature, shape, arrival, *astuple(weights)]) - LOW) / (HIGH - LOW)


def to_settings(numbers: Floats) -> DenialSettings:
    """Return the settings whose parts of their ranges these are."""
    temperature, shape, *whole = (LOW + numbers * (HIGH - LOW)).tolist()
    arrival, *weights = map(round, whole)
    return DenialSettings(round(temperature, 1), round(shape, 2), arrival, HalfWeights(*weights))


def fit(train: Positions, rules: Rules, args: Args) -> DenialSettings:
    """Return the settings with the least loss."""
    first = denial_settings(rules)
    limits = np.tile([0.0, 1.0], (len(BOUNDS), 1))
    search = CMAwM(to_numbers(first), 0.2, limits, STEPS, seed=args.seed)
    losses = {first: _loss(train, first, args)}
    for _ in range(args.generations):
        told = []
        for _ in range(search.population_size):
            numbers, place = search.ask()
            settings = to_settings(numbers)
            if settings not in losses:
                losses[settings] = _loss(train, settings, args)
            told.append((place, losses[settings]))
        search.tell(told)
    return min(losses, key=losses.__getitem__)


def _loss(train: Positions, settings: DenialSettings, args: Args) -> float:
    return float(train.losses(DenialPolicy(*settings), args.placements).sum())


def main(args: Args) -> DenialSettings:
    """Fit, print the losses, and return the settings."""
    rules = Rules(args.players, args.edition, args.mode)
    with use_backend("numba"):
        net = Nets().of(rules)
        train, test = (take_positions(rules, net, args.games, args.share, args.seed + i) for i in range(2))
        found = fit(train, rules, args)
        priors = {"denial": DenialPolicy(), "shipped": PlacementPrior(), "fitted": DenialPolicy(*found)}
        losses = {name: test.losses(prior, args.placements) for name, prior in priors.items()}
    title = f"Mean loss of utility in {len(test.utility):,} positions of other games"
    table = Table("prior", *(f"first {number}" for number in args.placements), title=title)
    for name, row in losses.items():
        table.add_row(name, *(f"{loss:.4f}" for loss in row))
    Console().print(table)
    print(found)
    return found


if __name__ == "__main__":
    with handle_signals("fit_prior"):
        main(tyro.cli(Args))
