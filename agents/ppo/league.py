"""The opponents of a learner: scripted agents and its own past selves, the hard ones more often."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.runs.evaluation import make_opponents
from genial_env import Policy, Rules
from genial_env.core.tables import tables
from genial_env.envs.opponents import Pool

__all__ = ["League", "LeagueOptions", "Opponent", "compute_results"]

MIN_WEIGHT = 0.05
"""The least weight of an opponent within its group, so that none is forgotten; the greatest is 1."""

INITIAL_WIN_RATE = 0.5
"""The win rate that is assumed before the first game."""


@dataclass
class LeagueOptions:
    """The options of the league; trainers have them as options of the command line."""

    scripted: tuple[str, ...] = ("denial", "greedy")
    """scripted opponents"""
    past_self_share: float = 0.3
    """share of the games against past selves, once there is one"""
    max_past_selves: int = 4
    """number of past selves that are kept"""
    pfsp_power: float = 2.0
    """exponent of prioritized fictitious self-play: how much more often hard opponents are met; 0: all alike"""
    win_rate_horizon: int = 200
    """time constant, in games, of the moving average of the win rate against each opponent"""
    snapshot_every: int = 50
    """updates between two snapshots of the learner that join the league as past selves"""


@dataclass
class Opponent:
    """An opponent in the league.

    Attributes:
        policy: the policy that plays.
        weights: the weights of a past self's network; None for a scripted opponent.
        win_rate: moving average of the learner's results against it.
    """

    policy: Policy
    weights: Any
    win_rate: float = INITIAL_WIN_RATE


class League:
    """Scripted opponents and past selves, each with the learner's win rate against it.

    The two groups have fixed shares of the games. Within a group the probability of an opponent is proportional to
    ``max((1 - win rate) ** pfsp_power, 0.05)`` (prioritized fictitious self-play: O. Vinyals and others, "Grandmaster
    level in StarCraft II using multi-agent reinforcement learning", Nature 575, 2019). While there are no past selves,
    all games are against scripted opponents. Of more past selves than allowed, the one with the highest win rate
    against it is removed.

    Args:
        options: the options.
        make_past_self: creates a policy from the number of decisions at the snapshot and the weights.

    Raises:
        ValueError: for options out of their range, or scripted opponents of the same name, as results go by names.
    """

    def __init__(self, options: LeagueOptions, make_past_self: Callable[[int, Any], Policy]) -> None:
        _check(options)
        self.options = options
        self.scripted = [Opponent(policy, None) for policy in make_opponents(options.scripted)]
        self.past_selves: list[Opponent] = []
        self._make_past_self = make_past_self
        self._snapshot_moves: list[int] = []
        self._shares: list[float] = []
        self._update_shares()

    @property
    def opponents(self) -> list[Opponent]:
        """All opponents, the scripted ones first."""
        return [*self.scripted, *self.past_selves]

    def record_result(self, name: str, result: float) -> None:
        """Update the win rate against an opponent in place.

        Args:
            name: the name of the opponent's policy.
            result: the learner's result of a game: 1 won, 0.5 tied, 0 lost.
        """
        for opponent in self.opponents:
            if opponent.policy.name == name:
                opponent.win_rate += (result - opponent.win_rate) / self.options.win_rate_horizon

    def add_past_self(self, moves: int, weights: Any) -> None:
        """Add a snapshot of the learner in place and compute all shares anew.

        Args:
            moves: the number of decisions that the learner has trained on.
            weights: its weights.
        """
        if len(self.past_selves) == self.options.max_past_selves:
            easiest = int(np.argmax([opponent.win_rate for opponent in self.past_selves]))
            del self.past_selves[easiest], self._snapshot_moves[easiest]
        self.past_selves.append(Opponent(self._make_past_self(moves, weights), weights))
        self._snapshot_moves.append(moves)
        self._update_shares()

    def make_pool(self) -> Pool:
        """Create the opponents of an environment, with the current shares."""
        return Pool([opponent.policy for opponent in self.opponents], self._shares)

    @property
    def shares(self) -> dict[str, float]:
        """The share of games against each opponent by name, as computed at the last snapshot. The sum is 1."""
        names = [opponent.policy.name for opponent in self.opponents]
        return dict(zip(names, self._shares, strict=True))

    def get_state(self) -> dict[str, Any]:
        """Return everything that changes, for :meth:`set_state`."""
        return {
            "shares": self._shares,
            "scripted": [opponent.win_rate for opponent in self.scripted],
            "past_selves": [
                (moves, opponent.weights, opponent.win_rate)
                for moves, opponent in zip(self._snapshot_moves, self.past_selves, strict=True)
            ],
        }

    def set_state(self, saved: dict[str, Any]) -> None:
        """Restore in place what :meth:`get_state` returned."""
        for opponent, win_rate in zip(self.scripted, saved["scripted"], strict=True):
            opponent.win_rate = win_rate
        snapshots = saved["past_selves"]
        self._snapshot_moves = [moves for moves, _, _ in snapshots]
        self.past_selves = [Opponent(self._make_past_self(moves, w), w, win_rate) for moves, w, win_rate in snapshots]
        self._shares = list(saved["shares"])

    def _update_shares(self) -> None:
        """Compute the shares in place from the current win rates."""
        share = self.options.past_self_share if self.past_selves else 0.0
        groups = [((1 - share), self.scripted), (share, self.past_selves)]
        self._shares = [float(part) for whole, group in groups if group for part in whole * self._weigh(group)]

    def _weigh(self, group: list[Opponent]) -> np.ndarray:
        """Compute the probabilities of the opponents within a group."""
        lost = np.array([1 - opponent.win_rate for opponent in group])
        weights = np.maximum(lost**self.options.pfsp_power, MIN_WEIGHT)
        shares: np.ndarray = weights / weights.sum()
        return shares


def _check(options: LeagueOptions) -> None:
    if not options.scripted:
        raise ValueError("the league needs at least one scripted opponent, to play until there is a past self")
    if not 0 <= options.past_self_share <= 1:
        raise ValueError(f"past_self_share must be 0 to 1, not {options.past_self_share!r}")
    for name, least in (("max_past_selves", 1), ("win_rate_horizon", 1), ("pfsp_power", 0)):
        if getattr(options, name) < least:
            raise ValueError(f"{name} must be at least {least}, not {getattr(options, name)!r}")


def compute_results(info: Mapping[str, Any], rules: Rules) -> list[tuple[str, float]]:
    """Compute the learner's result against each opponent of a finished game.

    Args:
        info: of the game: "seat" (the learner's), "ranks" by track, and "opponents" by name, clockwise from the
            learner.
        rules: the rules; in teams the partner is no opponent.

    Returns:
        Name and result of each opponent: 1 for a better rank than the opponent's, 0.5 for the same, 0 for a worse one.
    """
    own, *others = tables(rules).seats_from[info["seat"]]
    own_track, ranks = rules.track_of(own), info["ranks"]
    return [
        (name, 0.5 + 0.5 * float(np.sign(ranks[rules.track_of(other)] - ranks[own_track])))
        for name, other in zip(info["opponents"], others, strict=True)
        if rules.track_of(other) != own_track
    ]
