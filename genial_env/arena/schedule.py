"""The schedule of a tournament: the seats of the agents in each game of each deal.

A deal is a group of games with the same seed. In each deal every lineup plays once in every rotation of the seats, so
every agent has every seat. With three or more tracks the order around the table also changes from deal to deal.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement, permutations
from typing import NamedTuple

from genial_env.core.rules import Rules

__all__ = [
    "ScheduledGame",
    "is_scheduled",
    "lineups",
    "scheduled_games",
]


class ScheduledGame(NamedTuple):
    """A game of the schedule."""

    group: int
    seats: tuple[int, ...]
    """The entrant on each seat."""


def lineups(n_agents: int, rules: Rules) -> list[tuple[int, ...]]:
    """Return all lineups, one agent for each track.

    With fewer agents than tracks, agents play on several tracks: in all combinations that include every agent.

    Raises:
        ValueError: If there are fewer than two agents (solo: one).
    """
    minimum = min(2, rules.tracks)
    if n_agents < minimum:
        raise ValueError(f"{minimum} agents are needed, not {n_agents}")
    if n_agents >= rules.tracks:
        return list(combinations(range(n_agents), rules.tracks))
    everybody = tuple(range(n_agents))
    seconds = combinations_with_replacement(everybody, rules.tracks - n_agents)
    return [tuple(sorted(everybody + more)) for more in seconds]


def scheduled_games(n_agents: int, rules: Rules, groups: range) -> Iterator[ScheduledGame]:
    """Yield the games of some deals, deal by deal."""
    all_lineups = lineups(n_agents, rules)
    for group in groups:
        for lineup in all_lineups:
            for tracks in _rotations(lineup, group):
                yield ScheduledGame(group, _seats(tracks, rules))


def is_scheduled(game: ScheduledGame, n_agents: int, rules: Rules, groups: int) -> bool:
    """Return whether a game is one of :func:`scheduled_games` for so many deals, without generating them."""
    tracks = game.seats[: rules.tracks]
    lineup = tuple(sorted(tracks))
    if not 0 <= game.group < groups or len(game.seats) != rules.players or not 0 <= lineup[0] <= lineup[-1] < n_agents:
        return False
    is_lineup = len(set(lineup)) == min(n_agents, rules.tracks)
    return is_lineup and game.seats == _seats(tracks, rules) and tracks in _rotations(lineup, game.group)


def _seats(tracks: Sequence[int], rules: Rules) -> tuple[int, ...]:
    """Return the entrant on each seat from the entrant on each track."""
    return tuple(tracks[rules.track_of(seat)] for seat in range(rules.players))


def _rotations(lineup: tuple[int, ...], group: int) -> list[tuple[int, ...]]:
    """Return all rotations of the lineup in the deal's order around the table."""
    orders = list(permutations(lineup[1:]))
    order = lineup[:1] + orders[group % len(orders)]
    rotated = [order[turn:] + order[:turn] for turn in range(len(order))]
    return list(dict.fromkeys(rotated))
