"""Reward schemes, computed for all seats of a batch of games.

==========  =========================================================  ==============
scheme      reward                                                     range
==========  =========================================================  ==============
"rank"      at the end: the final rank as zero-sum utility, from +1    -1 to 1
            (first) to -1 (last) in equal steps; ties share the mean
            of their ranks; in a team both seats get their team's
"margin"    at the end: own lowest marker minus the best other's       -top to top
"lowest"    every step: growth of the own lowest marker                0 to top
"vector"    every step: growth of each of the own markers, shape (C,)  0 to top
==========  =========================================================  ==============

An illegal action that ends an episode gets the worst reward: -1 for "rank", else -top (for "vector" in each color).
No growth of the markers in a game can outweigh it.

A function of your own can take the place of a name (:data:`RewardFunction`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core import kernel
from genial_env.core.arrays import Bools, Ints
from genial_env.core.ranking import rank_utility, ranks
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.views import view

__all__ = [
    "DENSE",
    "SCHEMES",
    "AnyReward",
    "OwnReward",
    "RewardFunction",
    "Scheme",
    "check_scheme",
    "compute_rewards",
    "gives_vectors",
    "worst_reward",
    "zero_rewards",
]

Scores = NDArray[Any]  # [G, T, C]
Rewards = NDArray[np.float64]  # [G, P], "vector": [G, P, C]


def _rank(rules: Rules, before: Scores, after: Scores, over: Bools) -> Rewards:
    return rank_utility(ranks(after)) * over[:, None]


def _margin(rules: Rules, before: Scores, after: Scores, over: Bools) -> Rewards:
    lowest = after.min(axis=2).astype(np.float64)
    others = np.where(np.eye(rules.tracks, dtype=np.bool_), -np.inf, lowest[:, None, :]).max(axis=2)
    margin: Rewards = (lowest - others) * over[:, None]
    return margin


def _lowest(rules: Rules, before: Scores, after: Scores, over: Bools) -> Rewards:
    growth: Rewards = (after.min(axis=2) - before.min(axis=2)).astype(np.float64)
    return growth


def _vector(rules: Rules, before: Scores, after: Scores, over: Bools) -> Rewards:
    return (after - before).astype(np.float64)


SCHEMES: dict[str, Callable[[Rules, Scores, Scores, Bools], Rewards]] = {
    "rank": _rank,
    "margin": _margin,
    "lowest": _lowest,
    "vector": _vector,
}


DENSE = ("lowest", "vector")
"""The schemes with a reward at every step; the others have a reward at the end only."""


RewardFunction = Callable[[State, Ints, State, Ints], Any]
"""A reward of your own: ``reward(before, actions, after, seats)`` for G seats in G games.

- `before`: a State of G games at a decision. In the environments with a learning seat it is a decision of the learner;
  in the PettingZoo environments that of ``before.to_play``.
- `actions`: [G] int64, the ids of the actions that were played there.
- `after`: a State of the same G games at the next decision of that kind, or at the end (``after.over``, [G] bool). In
  the PettingZoo environments it is the game after this one action.
- `seats`: [G] int64, the seats that get the rewards. In the PettingZoo environments the G games are P copies of one
  game, and `seats` are 0 to P - 1.

The states are copies, and hold what is hidden in the game. The function returns [G] finite numbers, or [G, C], one for
each color as the scheme "vector" does. It is called once with games of its own when an environment is made, which shows
the shape. Its attribute ``worst_reward``, a number, is the reward of an illegal action that ends an episode (for each
color); without it that is -1.
"""


class OwnReward:
    """A reward function, with checks of what it returns.

    Args:
        function: the function.
        rules: the rules of the games.

    Raises:
        TypeError: if the function, tried on some games, or its attribute ``worst_reward`` gives what is no number.
        ValueError: if it gives numbers of another shape, or numbers that are not finite.
    """

    def __init__(self, function: RewardFunction, rules: Rules) -> None:
        self.function = function
        self._rules = rules
        self._name = getattr(function, "__name__", type(function).__name__)
        self.worst = self._check(np.asarray(getattr(function, "worst_reward", -1.0)), [()], "worst_reward").item()
        self.gives_vectors = self._try().ndim == 2

    def __call__(self, before: State, actions: Ints, after: State, seats: Ints) -> Rewards:
        """Return the rewards, float64 [G] or [G, C].

        Raises:
            TypeError, ValueError: as the constructor.
        """
        n = len(seats)
        shape = (n, self._rules.colors) if self.gives_vectors else (n,)
        return self._check(self.function(before, actions, after, seats), [shape], f"{n} games")

    def _try(self) -> Rewards:
        """Call the function for the first move of some games."""
        n = _TRIED_GAMES
        before = kernel.deal(self._rules, np.arange(n, dtype=np.uint64))
        after = before.copy()
        actions = view(before).mask().argmax(axis=1)
        kernel.apply(after, actions, np.arange(n))
        found = self.function(before, actions, after, np.arange(n) % self._rules.players)
        return self._check(found, [(n,), (n, self._rules.colors)], f"{n} games")

    def _check(self, found: Any, shapes: list[tuple[int, ...]], what: str) -> Rewards:
        where = f"the reward function {self._name!r}, {what}"
        try:
            array = np.asarray(found)
        except ValueError as error:  # of lists of different lengths
            raise ValueError(f"{where}: expected an array, found {found!r}") from error
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{where}: expected numbers, found {array.dtype}: {found!r}")
        if array.shape not in shapes:
            expected = " or ".join(map(str, shapes))
            raise ValueError(f"{where}: expected the shape {expected}, found {array.shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"{where}: expected finite numbers, found {array[~np.isfinite(array)][0]}")
        return array.astype(np.float64)


_TRIED_GAMES = 7
"""More games than there are colors, so that one number a color of one game does not pass for one number a game."""

Scheme = str | OwnReward
"""A checked reward: a name of :data:`SCHEMES` or a function."""

AnyReward = str | RewardFunction | None
"""The type of the argument `reward`: a name, a function, or None for the mode's default."""


def check_scheme(rules: Rules, scheme: AnyReward) -> Scheme:
    """Return the scheme; None: "rank", in solo "lowest".

    Raises:
        ValueError: for an unknown name, in solo for a scheme that compares with others, or as :class:`OwnReward`.
        TypeError: for what is neither a name nor a function, or as :class:`OwnReward`.
    """
    if isinstance(scheme, OwnReward):
        return scheme
    if callable(scheme):
        return OwnReward(scheme, rules)
    if not isinstance(scheme, str | None):
        raise TypeError(f"reward must be a name, a function or None, not {scheme!r}")
    if scheme is None:
        return "lowest" if rules.tracks == 1 else "rank"
    if scheme not in SCHEMES:
        raise ValueError(f"unknown reward {scheme!r}: the rewards are {', '.join(SCHEMES)}")
    if rules.tracks == 1 and scheme in ("rank", "margin"):
        raise ValueError(f"reward {scheme!r} compares with others, and solo has none: take 'lowest' or 'vector'")
    return scheme


def compute_rewards(scheme: str, rules: Rules, before: Scores, after: Scores, over: Bools) -> Rewards:
    """Compute each seat's reward for what happened between two moments.

    Args:
        scheme: the name of a scheme.
        rules: the rules.
        before: [G, T, C] the markers at the first moment.
        after: [G, T, C] the markers at the second moment.
        over: [G] whether the game ended in between.

    Returns:
        [G, P] float64; "vector": [G, P, C].
    """
    by_track = SCHEMES[scheme](rules, before, after, over)
    return by_track[:, rules.track_of(np.arange(rules.players))]


def gives_vectors(scheme: Scheme) -> bool:
    """Return whether a reward is one number a color instead of one number."""
    return scheme.gives_vectors if isinstance(scheme, OwnReward) else scheme == "vector"


def zero_rewards(scheme: Scheme, rules: Rules) -> Rewards:
    """Return a reward of zero for each seat, [P]; one number a color: [P, C]."""
    return np.zeros((rules.players, rules.colors) if gives_vectors(scheme) else rules.players)


def worst_reward(scheme: Scheme, rules: Rules) -> float | NDArray[np.float64]:
    """Return the reward of an illegal action that ends an episode."""
    worst = scheme.worst if isinstance(scheme, OwnReward) else -1.0 if scheme == "rank" else -float(rules.top)
    return np.full(rules.colors, worst) if gives_vectors(scheme) else worst
