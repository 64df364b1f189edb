"""The strength of an agent against others. The agent plays every deal once from every seat."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from genial_env import Policy, Results, Rules, play
from genial_env.arena.intervals import mean_interval
from genial_env.core.arrays import Floats
from genial_env.core.ranking import rank_utility
from genial_env.policies.registry import make_policy, prepare

__all__ = [
    "ALONE",
    "Measured",
    "check_opponents",
    "compare",
    "compute_deal_values",
    "compute_game_values",
    "format_results",
    "is_weaker",
    "make_opponents",
    "measure",
    "play_rotations",
    "summarize",
    "summarize_deals",
]

ALONE = "alone"
"""The opponent's name in results of solo agents."""


@dataclass(frozen=True)
class Measured:
    """The result of an evaluation.

    Attributes:
        games: number of games played.
        mean: mean value of a deal, see :func:`compute_deal_values`.
        half: distance from the mean to the further end of its 95% interval. The interval counts deals, not games. For
            bounded values (everything except the lowest marker in solo) it is the interval of
            :mod:`genial_env.arena.intervals`, which has a positive width even if all games were won.
    """

    games: int
    mean: float
    half: float


def check_opponents(opponents: Sequence[str | Policy], rules: Rules) -> None:
    """Check that opponents can be made and can play a game, before hours of training for an evaluation by them.

    Raises:
        ValueError, TypeError: if one cannot, or two have the same name; the message names it.
    """
    for policy in make_opponents(opponents):
        prepare(policy, rules)


def make_opponents(opponents: Sequence[str | Policy]) -> list[Policy]:
    """Make the opponents of an agent, whose results are told apart by their names.

    Raises:
        ValueError, TypeError: if one cannot be made, or two have the same name; the message names it.
    """
    policies = [make_policy(opponent) for opponent in opponents]
    for name, count in Counter(policy.name for policy in policies).items():
        if count > 1:
            raise ValueError(f"opponents must have different names, as results go by them; {count} are named {name!r}")
    return policies


def measure(
    agent: str | Policy, opponents: Sequence[str | Policy], rules: Rules, deals: int, seed: int
) -> dict[str, Measured]:
    """Measure an agent against each opponent.

    Args:
        agent: a policy, or a name for :func:`genial_env.make_policy`.
        opponents: likewise; none in solo.
        rules: the rules.
        deals: number of deals against each opponent, at least 2. Each is played once for every track.
        seed: seed of the deals, which are the same against every opponent.

    Returns:
        The results by the opponent's name; in solo by :data:`ALONE`.

    Raises:
        ValueError: if there are fewer than 2 deals, if solo games have opponents or other games have none, if a name is
            unknown, or if two opponents have the same name.
    """
    if deals < 2:
        raise ValueError(f"an interval needs at least 2 deals, not {deals}")
    if (rules.players == 1) != (len(opponents) == 0):
        raise ValueError(f"{rules.players} seats do not go with the opponents {list(opponents)}")
    if rules.players == 1:
        return {ALONE: summarize([play([agent], rules, deals, seed)])}
    agent, policies = make_policy(agent), make_opponents(opponents)
    return {policy.name: summarize(play_rotations(agent, policy, rules, deals, seed)) for policy in policies}


def play_rotations(
    agent: str | Policy, opponent: str | Policy, rules: Rules, deals: int, seed: int
) -> list[Results]:  # [T]
    """Play the same deals once for every track. In entry t the agent has the seats of track t."""
    by_seat = [
        [agent if rules.track_of(seat) == track else opponent for seat in range(rules.players)]
        for track in range(rules.tracks)
    ]
    return [play(policies, rules, deals, seed) for policies in by_seat]


def compute_deal_values(rotations: Sequence[Results]) -> Floats:  # [deals]
    """Compute the agent's value of each deal, the mean over its seats.

    With two tracks a game counts 1 won, 0.5 tied, 0 lost; with more tracks the rank utility from +1 (first) to -1
    (last); solo the lowest marker.

    Args:
        rotations: what :func:`play_rotations` returned.
    """
    values: Floats = np.mean([compute_game_values(results, track) for track, results in enumerate(rotations)], axis=0)
    return values


def compute_game_values(results: Results, track: int) -> Floats:  # [games]
    """Compute the value of each game for a track, see :func:`compute_deal_values`."""
    tracks = results.rules.tracks
    if tracks == 1:
        lowest: Floats = results.scores[:, track].min(axis=1).astype(np.float64)
        return lowest
    utility = rank_utility(results.ranks)[:, track]
    return 0.5 + 0.5 * utility if tracks == 2 else utility


def summarize(rotations: Sequence[Results]) -> Measured:
    """Summarize what :func:`play_rotations` returned."""
    games = sum(len(results) for results in rotations)
    return summarize_deals(compute_deal_values(rotations), rotations[0].rules.tracks, games)


def summarize_deals(values: Floats, tracks: int, games: int) -> Measured:
    """Summarize values of deals, those of :func:`compute_deal_values`; solo also differences of them.

    Args:
        values: [deals] the values.
        tracks: the number of tracks; it tells the range of a value.
        games: the number of games that were played.
    """
    mean = float(values.mean())
    if tracks == 1:
        half = 1.96 * float(values.std(ddof=1)) / sqrt(len(values))
    else:
        ends = mean_interval(values, np.ones(len(values)), (0.0 if tracks == 2 else -1.0, 1.0))
        half = max(abs(end - mean) for end in ends)
    return Measured(games, mean, half)


def compare(new: Policy, old: Policy, rules: Rules, deals: int, seed: int) -> Measured:
    """Compare an agent with another one, which has all other seats; solo both play the same deals.

    Returns:
        The result of the first, solo by how much its lowest marker is higher.
    """
    if rules.tracks > 1:
        return measure(new, [old], rules, deals, seed)[old.name]
    ours, theirs = (compute_game_values(play([agent], rules, deals, seed), 0) for agent in (new, old))
    return summarize_deals(ours - theirs, 1, 2 * deals)


def is_weaker(found: Measured, rules: Rules) -> bool:
    """Return whether :func:`compare` shows the first agent to be weaker: the interval lies below an even result."""
    return found.mean + found.half < (0.5 if rules.tracks == 2 else 0.0)


def format_results(found: Mapping[str, Measured]) -> dict[str, str]:
    """Format results by opponent for the metadata of weight files."""
    return {name: f"{each.mean:.4f} ± {each.half:.4f} ({each.games} games)" for name, each in found.items()}
