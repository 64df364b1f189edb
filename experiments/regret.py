"""How much does an agent lose by a decision, and in which third of the game?

    python -m experiments.regret value

Positions come from games of the agent against itself. In each one, the actions that the value network values highest
and the agent's own are played on to the seat's next turn in many deals of the hidden tiles, where the network predicts
the outcomes. The best action is chosen in half of the deals. The regret is its value less that of the agent's action in
the other half, so that no choice is measured with the noise that led to it. It is in rank utility (-1 to +1); solo in
the weighted markers that the network maximizes.

The answer: docs/measurements.md.
"""

from dataclasses import dataclass

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

from genial_env import Policy, Rules, use_backend, view
from genial_env._util.shutdown import handle_signals
from genial_env.core import kernel
from genial_env.core.arrays import Floats, Ints
from genial_env.core.chance import game_seeds
from genial_env.core.state import Phase, State
from genial_env.core.views import View
from genial_env.policies.decisions import act, choice_keys
from genial_env.policies.endgame import exact_solutions
from genial_env.policies.registry import make_policy
from genial_env.policies.search import deal
from genial_env.policies.value_search import ValueSearch

PHASES = ("opening", "middle", "end")


@dataclass
class Args:
    """The options of the command line."""

    agent: tyro.conf.Positional[str] = "value"
    """the agent"""
    players: int = 2
    """number of seats"""
    mode: str = "individual"
    """"individual", "team" or "solo" """
    edition: str = "2025"
    """edition of the rules; team and solo are in "2004" and "2009" """
    positions: int = 300
    """positions, one of each game"""
    deals: int = 200
    """deals in which every action is played on"""
    candidates: int = 24
    """actions that are compared"""
    replies: int = 16
    """placements among which later decisions are made"""
    seed: int = 1
    """seed of the games"""


def find_positions(agent: Policy, rules: Rules, count: int, seed: int) -> tuple[State, Ints]:
    """Return a position of each of `count` games, and its number in thirds of the game: 0, 1 or 2.

    Positions are decisions about placements that the endgame solver does not solve. Games whose position is another one
    are left out.

    Raises:
        ValueError: if that leaves none.
    """
    seeds = game_seeds(seed, count)
    state, keys = kernel.deal(rules, seeds), choice_keys(seeds, rules.players)
    roster, assignment = [agent], np.zeros((count, rules.players), dtype=np.int64)
    history: list[tuple[State, Ints]] = []
    for live in kernel.live_games(state):
        history.append((state.select(live), live))
        kernel.apply(state, act(roster, assignment, state, keys, live), live)
    rng = np.random.default_rng(seed)
    wanted = (rng.random(count) * state.decisions).astype(np.int64)
    found, thirds = [], []
    for number, (states, live) in enumerate(history):
        here = np.flatnonzero((wanted[live] == number) & (states.phase == Phase.PLACE))
        if here.size:
            some = states.select(here)
            solved = list(exact_solutions(view(some)))
            unsolved = np.setdiff1d(np.arange(len(here)), solved)
            found.append(some.select(unsolved))
            thirds.append(3 * number // state.decisions[live[here[unsolved]]])
    if not any(map(len, found)):
        raise ValueError(f"no game has a position to judge: take more positions than {count}")
    return State.concat(found), np.concatenate(thirds)


def compute_regret(search: ValueSearch, alone: View, action: int, deals: int, random: np.uint64) -> float:
    """Return the regret of an action in the one game of a view."""
    best_first = search.moves(alone)
    actions = np.append(best_first[best_first != action], action)
    half = deals // 2
    choosing, measuring = (
        search.outcomes(alone, actions, deal(alone, np.array([random]), start, half)).mean(axis=0)
        for start in (0, half)
    )
    return float(measuring[choosing.argmax()] - measuring[-1])


def main(args: Args) -> dict[str, float]:
    """Print the mean regret with its 95% interval, for each third of the game; return the means."""
    rules, agent = Rules(args.players, args.edition, args.mode), make_policy(args.agent)
    search = ValueSearch(candidates=args.candidates, replies=args.replies, turns=1)
    with use_backend("numba", threads=2):
        states, thirds = find_positions(agent, rules, args.positions, args.seed)
        seen, random = view(states), game_seeds(args.seed + 1, len(states))
        actions = agent(seen, random)
        regrets: Floats = np.array(
            [
                compute_regret(search, seen.select(np.array([n])), int(actions[n]), args.deals, random[n])
                for n in range(len(states))
            ]
        )
    table = Table(f"{args.agent}, {rules.players} seats", "positions", "regret")
    means = {}
    for name, rows in [("all", thirds >= 0), *((name, thirds == n) for n, name in enumerate(PHASES))]:
        some = regrets[rows]
        means[name] = float(some.mean())
        table.add_row(name, str(len(some)), f"{means[name]:.4f} ± {1.96 * some.std() / len(some) ** 0.5:.4f}")
    Console().print(table)
    return means


if __name__ == "__main__":
    with handle_signals("regret"):
        main(tyro.cli(Args))
