"""How large is the advantage of the first seat, how often are tiles swapped, and how do games end?

    pip install -e '.[fast,train]'
    python -m experiments.game_statistics

plays games in which the same agent has every seat, and prints, for each agent and number of seats,

- the share of games that the first seat wins (a shared first rank counts in parts), and its mean rank utility, from
  +1 (always first) to -1 (always last), with 95% intervals;
- the mean rank utility of the other seats;
- swaps and bonus placements of all seats together, a game, and the share of games with a swap;
- the share of games that end because a track has all its markers at the end; the others end with a full board.

The answer: docs/measurements.md.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

from genial_env import Rules, ranks
from genial_env._util.files import write_json
from genial_env._util.shutdown import handle_signals
from genial_env.arena.provenance import provenance
from genial_env.backends import current, for_one_game, using
from genial_env.core import kernel
from genial_env.core.arrays import Floats, Ints
from genial_env.core.chance import game_seeds
from genial_env.core.ranking import rank_utility
from genial_env.core.state import End, Phase
from genial_env.policies.decisions import choice_keys
from genial_env.policies.playout import play_on
from genial_env.policies.registry import make_policy


@dataclass
class Args:
    """The options of the command line."""

    agents: tuple[str, ...] = ("greedy", "denial", "value")
    """agents, each against itself"""
    players: tuple[int, ...] = (2, 3, 4)
    """numbers of seats"""
    games: int = 4000
    """games of each agent and number of seats"""
    slow_games: int = 150
    """the same for agents with a network or a search"""
    slow: tuple[str, ...] = ("value",)
    """the agents of which `slow_games` are played"""
    seed: int = 0
    """seed of the deals, which are the same for all agents"""
    out: Path | None = None
    """JSON file for the results"""


@dataclass(frozen=True)
class Found:
    """What the games of an agent against itself show. Means stand with half the width of their 95% intervals."""

    games: int
    first_wins: tuple[float, float]
    """share of games that the first seat wins"""
    utility: list[float]
    """mean rank utility of each seat"""
    first_utility_half: float
    swaps: float
    """a game"""
    games_with_swap: float
    """share"""
    bonuses: float
    """bonus placements a game"""
    turns: float
    """a game"""
    all_at_top: float
    """share of games that a track ended"""


def measure(agent: str, players: int, games: int, seed: int) -> Found:
    """Play the games of an agent against itself."""
    rules = Rules(players)
    seeds = game_seeds(seed, games)
    state = kernel.deal(rules, seeds)
    swap = state.tables.swap_action
    swaps, bonuses, turns = (np.zeros(games, dtype=np.int64) for _ in range(3))

    def count(actions: Ints, rows: Ints) -> None:
        """In place: count the decisions, and play them."""
        phase = state.phase[rows]
        swaps[rows] += actions == swap
        bonuses[rows] += (phase == Phase.BONUS) & (actions < swap)
        turns[rows] += phase == Phase.PLACE
        kernel.apply(state, actions, rows)

    play_on(state, [make_policy(agent)] * players, choice_keys(seeds, players), count)
    found = ranks(state.scores)
    utility = rank_utility(found)
    first = found == 1
    wins = first[:, 0] / first.sum(axis=1)
    return Found(
        games=games,
        first_wins=(float(wins.mean()), _half(wins)),
        utility=utility.mean(axis=0).tolist(),
        first_utility_half=_half(utility[:, 0]),
        swaps=float(swaps.mean()),
        games_with_swap=float((swaps > 0).mean()),
        bonuses=float(bonuses.mean()),
        turns=float(turns.mean()),
        all_at_top=float((state.end == End.ALL_AT_TOP).mean()),
    )


def _half(values: Floats) -> float:
    """Return half the width of the 95% interval of a mean."""
    return float(1.96 * values.std(ddof=1) / np.sqrt(len(values)))


def main(args: Args) -> dict[str, dict[int, Found]]:
    """Play, print, write, and return what was found, by agent and number of seats."""
    found: dict[str, dict[int, Found]] = {}
    with using(for_one_game()):  # numba if it is installed
        for agent in args.agents:
            games = args.slow_games if agent in args.slow else args.games
            found[agent] = {players: measure(agent, players, games, args.seed) for players in args.players}
        about = {"arguments": json.loads(json.dumps(asdict(args), default=str)), **provenance(current())}
    Console(width=140).print(_table(found))  # a row a line, in files too
    if args.out is not None:
        rows = {agent: {str(n): asdict(each) for n, each in by.items()} for agent, by in found.items()}
        write_json(args.out, {"about": about, "found": rows})
    return found


def _table(found: dict[str, dict[int, Found]]) -> Table:
    heads = ("agent", "seats", "games", "first seat wins", "its utility", "others", "swaps", "with a swap", "bonuses")
    table = Table(*heads, "turns", "track ends it")
    for agent, by_players in found.items():
        for players, each in by_players.items():
            table.add_row(
                agent,
                str(players),
                f"{each.games:,}",
                f"{each.first_wins[0]:.1%} ± {each.first_wins[1]:.1%}",
                f"{each.utility[0]:+.3f} ± {each.first_utility_half:.3f}",
                " ".join(f"{utility:+.3f}" for utility in each.utility[1:]),
                f"{each.swaps:.2f}",
                f"{each.games_with_swap:.0%}",
                f"{each.bonuses:.2f}",
                f"{each.turns:.1f}",
                f"{each.all_at_top:.1%}",
            )
    return table


if __name__ == "__main__":
    with handle_signals("game_statistics"):
        main(tyro.cli(Args))
