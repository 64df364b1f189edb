"""How often do the levels of the judge name the best action?

    python -m experiments.judge_levels

Positions come from games of the agent "value" against itself.

- In late positions the endgame solver knows the best actions. The table shows how often the judge's first action is one
  of them, with the solver and without it (then the network and the rollouts are measured), and what it loses without.
- In the other positions, by third of the game, the level "deep" is the measure: how often the first actions are the
  same, and how much the other one loses by it.

The answer: docs/measurements.md.
"""

from dataclasses import dataclass, replace

import numpy as np
import tyro
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.regret import PHASES, find_positions
from genial_env import Rules, use_backend, view
from genial_env._util.shutdown import handle_signals
from genial_env.analysis.judge import LEVELS, RolloutJudge
from genial_env.core import kernel
from genial_env.core.arrays import Bools, Floats, Ints
from genial_env.core.chance import game_seeds
from genial_env.core.placement_values import equivalence_keys
from genial_env.core.views import View
from genial_env.policies.base import NONE
from genial_env.policies.decisions import act, choice_keys
from genial_env.policies.endgame import SAME, Solution, exact_solutions
from genial_env.policies.registry import make_policy


@dataclass
class Args:
    """The options of the command line."""

    players: int = 2
    """number of seats"""
    mode: str = "individual"
    """"individual" or "team" (four seats) """
    edition: str = "2025"
    """edition of the rules; team is in "2004" and "2009" """
    late: int = 1_000
    """late positions"""
    positions: int = 90
    """other positions, one of each game"""
    seed: int = 1
    """seed of the games"""


def find_late_positions(rules: Rules, count: int, seed: int) -> list[tuple[View, Solution]]:
    """Return views of `count` positions, one of each game, that the solver has answers for, with these answers.

    Positions in which all actions are equally good are left out.
    """
    agent, found = make_policy("value"), list[tuple[View, Solution]]()
    while len(found) < count:
        seeds = game_seeds(seed, count)
        state, keys = kernel.deal(rules, seeds), choice_keys(seeds, rules.players)
        late: dict[int, tuple[View, Solution]] = {}
        for live in kernel.live_games(state):
            seen = view(state, rows=live)
            for number, solution in exact_solutions(seen).items():
                if len(solution.best) < len(solution.actions):
                    late.setdefault(int(live[number]), (seen.select(np.array([number])), solution))
            kernel.apply(state, act([agent], np.zeros((count, rules.players), dtype=np.int64), state, keys, live), live)
        found.extend(late.values())
        seed += 1
    return found[:count]


def first_actions(judge: RolloutJudge, views: list[View]) -> Ints:
    """Return the judge's first action in each view: [n]."""
    return np.array([judge.judge(alone).actions[0, 0] for alone in track(views, judge.name, transient=True)])


def measure_losses(deep: RolloutJudge, views: list[View], actions: Ints) -> tuple[Bools, Floats]:
    """Return whether each action is the first one of the level "deep", and what it loses by that judge: [n] each."""
    same, losses = np.empty(len(views), dtype=np.bool_), np.empty(len(views))
    for number, alone in enumerate(track(views, deep.name, transient=True)):
        judged = deep.judge(alone, actions[number : number + 1])
        keys = equivalence_keys(alone, judged.actions)[0]
        at = int(np.flatnonzero((judged.actions[0] == actions[number]) & (keys != NONE))[0])
        same[number], losses[number] = at == 0, judged.utility[0, 0] - judged.utility[0, at]
    return same, losses


def main(args: Args) -> dict[str, tuple[float, float]]:
    """Print the tables; return the shares of late positions with and without the solver by level."""
    rules = Rules(args.players, args.edition, args.mode)
    with use_backend("numba", threads=2):
        late = find_late_positions(rules, args.late, args.seed)
        views, shares, lost = [alone for alone, _ in late], {}, {}
        for name, level in LEVELS.items():
            judges = (RolloutJudge(name), RolloutJudge(replace(level, exact=False), name=f"{name} without solver"))
            missed = [
                np.array([solution.value - solution.values_of(action) for action, (_, solution) in pairs])
                for pairs in (zip(first_actions(judge, views), late, strict=True) for judge in judges)
            ]
            shares[name] = float((missed[0] <= SAME).mean()), float((missed[1] <= SAME).mean())
            lost[name] = float(missed[1].mean())
        states, thirds = find_positions(make_policy("value"), rules, args.positions, args.seed)
        views = [view(states, rows=np.array([row])) for row in range(len(states))]
        deep = RolloutJudge("deep")
        others = {
            name: measure_losses(deep, views, first_actions(RolloutJudge(name), views))
            for name in LEVELS
            if name != "deep"
        }
    console, title = Console(), f"{rules.players} seats, {rules.mode}"
    columns = "level", "first action is best", "without the solver", "its loss"
    table = Table(*columns, title=f"{title}: {args.late} late positions")
    for name, (with_solver, without) in shares.items():
        table.add_row(name, f"{with_solver:.1%}", f"{without:.1%}", f"{lost[name]:.4f}")
    console.print(table)
    table = Table("level", "third of the game", "positions", "same as deep", "loss by deep", title=title)
    for name, (same, losses) in others.items():
        for number, phase in enumerate(PHASES):
            some = thirds == number
            half = 1.96 * losses[some].std() / np.sqrt(max(1, some.sum()))
            shown = f"{same[some].mean():.0%}", f"{losses[some].mean():.4f} ± {half:.4f}"
            table.add_row(name, phase, str(int(some.sum())), *shown)
    console.print(table)
    return shares


if __name__ == "__main__":
    with handle_signals("judge_levels"):
        main(tyro.cli(Args))
