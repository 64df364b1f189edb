"""Is one agent stronger than others that have all other seats?

    python -m experiments.challenge value denial --players 3

plays every deal once with the agent in each seat; the others have all other seats (for teams: the other team's). It
prints the share of games won with two tracks, with more the rank utility from +1 (first) to -1 (last), with a 95%
interval over deals. Among equal agents they are 0.5 and 0.

The answer: docs/measurements.md.
"""

from dataclasses import dataclass

import tyro

from agents.runs.evaluation import Measured, measure
from genial_env import Rules, use_backend
from genial_env._util.shutdown import handle_signals


@dataclass
class Args:
    """The options of the command line."""

    agent: tyro.conf.Positional[str]
    """the agent"""
    others: tyro.conf.Positional[str]
    """the agent in the other seats"""
    players: int = 3
    """number of seats"""
    mode: str = "individual"
    """"individual" or "team" (four seats)"""
    edition: str = "2025"
    """edition of the rules; team is in "2004" and "2009" """
    deals: int = 400
    """number of deals"""
    seed: int = 77
    """seed of the deals"""


def main(args: Args) -> Measured:
    """Play, print and return the result."""
    rules = Rules(args.players, args.edition, args.mode)
    with use_backend("numba"):
        (found,) = measure(args.agent, [args.others], rules, args.deals, args.seed).values()
    unit = "of the games won" if rules.tracks == 2 else "rank utility"
    print(f"{found.mean:.3f} ± {found.half:.3f} {unit} in {found.games:,} games")
    return found


if __name__ == "__main__":
    with handle_signals("challenge"):
        main(tyro.cli(Args))
