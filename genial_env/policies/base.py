"""What a policy is: a callable with a name that chooses an action for each of a batch of views."""

from typing import Any, NamedTuple, Protocol

from genial_env.core.arrays import Bits, Ints
from genial_env.core.rules import Rules
from genial_env.core.views import View

__all__ = ["NONE", "Plan", "PlannedPolicy", "Policy"]

NONE = -1
"""Stands for no action where an array has a place for one."""


class Policy(Protocol):
    """A callable with a name that plays a seat.

    All randomness of a policy comes from the random bits that it is given. They are a function of the game's seed, the
    seat and the number of the decision, so a game is the same in a batch of any size. The seed cannot be computed from
    them.
    """

    @property
    def name(self) -> str:
        """The name in tables and records."""

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game.

        Args:
            view: G games, each seen by the seat to play.
            random: [G] 64 random bits for each game.

        Returns:
            [G] action ids.
        """


class Plan(NamedTuple):
    """The numbers from which compiled code decides as a policy does."""

    marker_values: Ints  # [top + 1] the value of an own marker by where it stands
    weights: Ints
    """[9] the factor of the gain (0: uniformly random play), the six of
    :class:`~genial_env.policies.heuristic.HalfWeights`, the most by which the value of a double can exceed the
    values of its two halves, and what is subtracted if both colors of a tile arrive at a stop.
    """


class PlannedPolicy:
    """A policy that compiled code can play without calling it.

    A subclass that overrides ``__call__`` or ``values`` has no plan unless it overrides :meth:`plan` too. Then the
    backend "numba" calls the policy, as numpy does.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if {"__call__", "values"} & vars(cls).keys() and "plan" not in vars(cls):
            cls.plan = _no_plan  # type: ignore[assignment, method-assign]

    def plan(self, rules: Rules) -> Plan | None:
        """Return the numbers that compiled code decides by; None if it must call the policy."""
        return None


def _no_plan(policy: PlannedPolicy, rules: Rules) -> Plan | None:
    return None
