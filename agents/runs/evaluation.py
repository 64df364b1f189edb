"""How an agent does against others: every deal is played with the agent on every seat."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from genial_env import Policy, Results, Rules, play
from genial_env.arena.intervals import mean_interval
from genial_env.core.ranking import rank_utility
from genial_env.policies.registry import make_policy

ALONE = "alone"
"""What a solo agent is measured against."""


@dataclass(frozen=True)
class Measured:
    """What an agent made of its games.

    Attributes:
        games: how many were played.
        mean: of what a deal brought, see :func:`values_of_deals`.
        half: how far the further end of its 95% interval is away; the interval counts deals, not games. Of what is
            bounded (all but the lowest marker of solo games) it is that of :mod:`genial_env.arena.intervals`, so an
            agent that won everything has one too.
    """

    games: int
    mean: float
    half: float


def measure(
    agent: str | Policy, opponents: Sequence[str | Policy], rules: Rules, deals: int, seed: int
) -> dict[str, Measured]:
    """How an agent does against each opponent, by the opponent's name; solo takes no opponents and knows "alone" only.

    Args:
        agent: a policy or what :func:`genial_env.make_policy` reads.
        opponents: likewise.
        rules: the rules.
        deals: how many are played against each opponent, at least 2; each is a game for every track.
        seed: of the deals, which are the same against every opponent.

    Raises:
        ValueError: for fewer than 2 deals, opponents in solo or none elsewhere, or an unknown name.
    """
    if deals < 2:
        raise ValueError(f"an interval takes at least 2 deals, not {deals}")
    if (rules.players == 1) != (len(opponents) == 0):
        raise ValueError(f"{rules.players} seats do not go with the opponents {list(opponents)}")
    if rules.players == 1:
        return {ALONE: measured([play([agent], rules, deals, seed)])}
    agent, policies = make_policy(agent), [make_policy(opponent) for opponent in opponents]
    return {policy.name: measured(play_rotations(agent, policy, rules, deals, seed)) for policy in policies}


def play_rotations(
    agent: str | Policy, opponent: str | Policy, rules: Rules, deals: int, seed: int
) -> list[Results]:  # [T]
    """The same deals once for every track: in entry t the agent has the seats of track t, the opponent all others."""
    by_seat = [
        [agent if seat % rules.tracks == track else opponent for seat in range(rules.players)]
        for track in range(rules.tracks)
    ]
    return [play(policies, rules, deals, seed) for policies in by_seat]


def values_of_deals(rotations: Sequence[Results]) -> NDArray[np.float64]:  # [deals]
    """What the agent made of each deal, the mean over its seats.

    A game between two tracks is worth 1 won, 0.5 shared, 0 lost; between more of them the rank utility, +1 first to
    -1 last; alone the lowest marker.

    Args:
        rotations: as :func:`play_rotations` gives them.
    """
    return np.mean([values_of_games(results, track) for track, results in enumerate(rotations)], axis=0)


def values_of_games(results: Results, track: int) -> NDArray[np.float64]:  # [games]
    """What the track made of each game, as in :func:`values_of_deals`."""
    tracks = results.rules.tracks
    if tracks == 1:
        return results.scores[:, track].min(axis=1).astype(np.float64)
    utility = rank_utility(results.ranks)[:, track]
    return 0.5 + 0.5 * utility if tracks == 2 else utility


def measured(rotations: Sequence[Results]) -> Measured:
    """Rotations, as :func:`play_rotations` gives them, in three numbers."""
    values = values_of_deals(rotations)
    mean, tracks = float(values.mean()), rotations[0].rules.tracks
    if tracks == 1:
        half = 1.96 * float(values.std(ddof=1)) / sqrt(len(values))
    else:
        ends = mean_interval(values, np.ones(len(values)), (0.0 if tracks == 2 else -1.0, 1.0))
        half = max(abs(end - mean) for end in ends)
    return Measured(sum(len(results) for results in rotations), mean, half)


def results_in_words(found: Mapping[str, Measured]) -> dict[str, str]:
    """What was measured, by opponent, as files of weights keep it."""
    return {name: f"{each.mean:.4f} ± {each.half:.4f} ({each.games} games)" for name, each in found.items()}
