"""The tuned settings of policies, by number of seats and of score tracks.

To add a number of seats, add an entry to all tables. How the policies play with them: docs/policies.md.
"""

from typing import NamedTuple, TypeVar

from genial_env.core.rules import Rules
from genial_env.policies.heuristic import HalfWeights

__all__ = [
    "DenialSettings",
    "SearchSettings",
    "concave_temperature",
    "denial_settings",
    "prior_settings",
    "search_settings",
    "value_candidates",
]

Settings = TypeVar("Settings")


class DenialSettings(NamedTuple):
    """The settings of :class:`~genial_env.policies.denial.DenialPolicy`, and of what derives from it."""

    temperature: float
    shape: float
    arrival: int
    weights: HalfWeights


class SearchSettings(NamedTuple):
    """The settings of :class:`~genial_env.policies.value_search.ValueSearch` that depend on the game."""

    replies: int
    """placements among which each later decision is made"""
    turns: int
    """the own turn at which the network evaluates, 1: the next"""
    trust: int
    """the number of deals for which the network's value of an action counts"""


_CONCAVE_TEMPERATURES = {(1, 1): 4.0, (2, 2): 10.0, (3, 3): 30.0, (4, 4): 60.0, (4, 2): 60.0}

_DENIAL_SETTINGS = {
    (1, 1): DenialSettings(4.0, 0.86, 0, HalfWeights(0, 0, -1, 0, 1, 0)),
    (2, 2): DenialSettings(3.2, 1.27, 0, HalfWeights(2, 4, 2, 3, 1, 2)),
    (3, 3): DenialSettings(13.0, 1.09, 34, HalfWeights(0, 1, 1, 1, 0, 2)),
    (4, 4): DenialSettings(56.0, 0.91, 27, HalfWeights(0, 0, 2, 1)),
    (4, 2): DenialSettings(4.9, 1.08, 23, HalfWeights(0, 5, 1, 2, 1, 0)),
}

_PRIOR_SETTINGS = {
    (1, 1): DenialSettings(4.0, 0.86, 0, HalfWeights(0, 0, -1, 0, 1, 0)),
    (2, 2): DenialSettings(5.5, 1.17, 3, HalfWeights(3, 1, 2, 3, 0, 4)),
    (3, 3): DenialSettings(6.2, 1.23, 16, HalfWeights(1, 0, 1, 1, -1, 3)),
    (4, 4): DenialSettings(8.7, 1.23, 17, HalfWeights(1, 0, 2, 1, 0, 3)),
    (4, 2): DenialSettings(11.0, 1.15, 0, HalfWeights(2, 3, 4, 5, -3, 7)),
}

_VALUE_CANDIDATES = {(1, 1): 32, (2, 2): 128, (3, 3): 128, (4, 4): 128, (4, 2): 128}

_SEARCH_SETTINGS = {
    (1, 1): SearchSettings(6, 5, 0),
    (2, 2): SearchSettings(8, 1, 8),
    (3, 3): SearchSettings(12, 1, 0),
    (4, 4): SearchSettings(12, 1, 0),
    (4, 2): SearchSettings(12, 1, 0),
}


def concave_temperature(rules: Rules) -> float:
    """Return the tuned temperature of the policy "concave".

    Raises:
        ValueError: if there is none for these seats and tracks.
    """
    return _look_up(_CONCAVE_TEMPERATURES, rules, "concave")


def denial_settings(rules: Rules) -> DenialSettings:
    """Return the tuned settings of the policy "denial".

    Raises:
        ValueError: if there are none for these seats and tracks.
    """
    return _look_up(_DENIAL_SETTINGS, rules, "denial")


def prior_settings(rules: Rules) -> DenialSettings:
    """Return the settings of :class:`~genial_env.policies.prior.PlacementPrior`, by which searches order placements.

    Raises:
        ValueError: if there are none for these seats and tracks.
    """
    return _look_up(_PRIOR_SETTINGS, rules, "prior")


def value_candidates(rules: Rules) -> int:
    """Return the number of placements that the agent "value" evaluates.

    With several seats 128 were stronger than 32, solo not (docs/measurements.md).

    Raises:
        ValueError: if there is none for these seats and tracks.
    """
    return _look_up(_VALUE_CANDIDATES, rules, "value")


def search_settings(rules: Rules) -> SearchSettings:
    """Return the settings of the agent "value_search" (docs/measurements.md).

    Raises:
        ValueError: if there is nothing for these seats and tracks.
    """
    return _look_up(_SEARCH_SETTINGS, rules, "value_search")


def _look_up(table: dict[tuple[int, int], Settings], rules: Rules, name: str) -> Settings:
    if (rules.players, rules.tracks) not in table:
        raise ValueError(
            f"the policy {name!r} has no settings for {rules.players} seats with {rules.tracks} tracks: give all of "
            f"them, or add an entry to genial_env/policies/seat_counts.py"
        )
    return table[rules.players, rules.tracks]
