"""Who meets whom, on which seats, with which deal.

A deal is a group of games with the same seed. In each group every lineup of different agents meets once in every
rotation: everybody sits in every place with the same deal. With three or more tracks the order around the table also
changes from group to group.
"""

from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement, permutations
from typing import NamedTuple

from genial_env.core.rules import Rules


class Unit(NamedTuple):
    """A game to be played."""

    group: int
    seats: tuple[int, ...]
    """The entrant on each seat."""


def lineups(n_agents: int, rules: Rules) -> list[tuple[int, ...]]:
    """All sets of agents that meet, one a track.

    Where there are fewer agents than tracks, some sit twice: in all ways in which everybody plays.

    Raises:
        ValueError: for fewer than two agents (solo: one).
    """
    least = min(2, rules.tracks)
    if n_agents < least:
        raise ValueError(f"{least} agents are needed, not {n_agents}")
    if n_agents >= rules.tracks:
        return list(combinations(range(n_agents), rules.tracks))
    everybody = tuple(range(n_agents))
    seconds = combinations_with_replacement(everybody, rules.tracks - n_agents)
    return [tuple(sorted(everybody + more)) for more in seconds]


def units(n_agents: int, rules: Rules, groups: range) -> Iterator[Unit]:
    """The games of some groups, group by group."""
    meeting = lineups(n_agents, rules)
    for group in groups:
        for lineup in meeting:
            for tracks in _rotations(lineup, group):
                yield Unit(group, tuple(tracks[seat % rules.tracks] for seat in range(rules.players)))


def is_scheduled(unit: Unit, n_agents: int, rules: Rules, groups: int) -> bool:
    """Tell whether :func:`units` has a game for so many groups, without going through them."""
    tracks = unit.seats[: rules.tracks]
    lineup = tuple(sorted(tracks))
    if not 0 <= unit.group < groups or len(unit.seats) != rules.players or not 0 <= lineup[0] <= lineup[-1] < n_agents:
        return False
    is_lineup = len(set(lineup)) == min(n_agents, rules.tracks)
    seats = tuple(tracks[seat % rules.tracks] for seat in range(rules.players))
    return is_lineup and unit.seats == seats and tracks in _rotations(lineup, unit.group)


def _rotations(lineup: tuple[int, ...], group: int) -> list[tuple[int, ...]]:
    """The lineup in the order around the table that is this group's, turned in every way."""
    orders = list(permutations(lineup[1:]))
    order = lineup[:1] + orders[group % len(orders)]
    turned = [order[turn:] + order[:turn] for turn in range(len(order))]
    return list(dict.fromkeys(turned))
