"""Whom a learner trains against: scripted agents and its own past selves, those that are hard to beat more often."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genial_env import Policy
from genial_env.envs.opponents import Pool
from genial_env.policies.registry import make_policy

FLOOR = 0.05
"""The least weight of an opponent within its group, so that none is forgotten; the greatest is 1."""

EVEN = 0.5
"""The win rate that is assumed of an opponent that nothing is known of."""


@dataclass
class Opponent:
    """One of the league.

    Attributes:
        policy: what plays.
        weights: a past self's, from which its policy is made; None for a scripted one.
        win_rate: the learner's against it, a moving average over games.
    """

    policy: Policy
    weights: Any
    win_rate: float = EVEN


class League:
    """Scripted agents and past selves, each with the learner's win rate against it.

    The two groups get their shares of the games whatever happens. Within a group an opponent is drawn in proportion to
    ``(1 - win rate) ** hardness`` ("prioritised fictitious self-play", O. Vinyals and others, "Grandmaster level in
    StarCraft II using multi-agent reinforcement learning", Nature 575, 2019), but at least to 0.05.

    Args:
        scripted: names of policies.
        make_self: from the number of decisions after which a past self was kept and its weights to a policy.
        selves_share: the share of games against past selves; the scripted have the rest, and all while there are none.
        most_selves: how many past selves are kept; of more, the one that is beaten most often goes.
        hardness: 0 treats all alike.
        memory: games over which win rates are averaged.

    Raises:
        ValueError: for a share out of 0 to 1, no scripted agents, or settings below their least.
    """

    def __init__(
        self,
        scripted: Sequence[str],
        make_self: Callable[[int, Any], Policy],
        selves_share: float,
        most_selves: int = 8,
        hardness: float = 2.0,
        memory: int = 200,
    ) -> None:
        if not scripted:
            raise ValueError("the league takes at least one scripted agent: they play until there are past selves")
        if not 0 <= selves_share <= 1:
            raise ValueError(f"selves_share must be 0 to 1, not {selves_share!r}")
        if most_selves < 1 or hardness < 0 or memory < 1:
            raise ValueError(
                "most_selves and memory must be at least 1, hardness at least 0, "
                f"not {most_selves!r}, {memory!r}, {hardness!r}"
            )
        self.scripted = [Opponent(make_policy(name), None) for name in scripted]
        self.selves: list[Opponent] = []
        self._make_self, self._share, self._most = make_self, selves_share, most_selves
        self._hardness, self._memory = hardness, memory
        self._kept_at: list[int] = []
        self._shares: list[float] = []
        self._share_out()

    @property
    def opponents(self) -> list[Opponent]:
        """All of them, the scripted first."""
        return [*self.scripted, *self.selves]

    def tell(self, name: str, result: float) -> None:
        """In place: the learner has played a game against the opponent of that name: 1 won, 0.5 shared, 0 lost."""
        for opponent in self.opponents:
            if opponent.policy.name == name:
                opponent.win_rate += (result - opponent.win_rate) / self._memory

    def keep(self, moves: int, weights: Any) -> None:
        """In place: a past self more, with the learner's weights after so many decisions; and all shares anew."""
        if len(self.selves) == self._most:
            easiest = int(np.argmax([opponent.win_rate for opponent in self.selves]))
            del self.selves[easiest], self._kept_at[easiest]
        self.selves.append(Opponent(self._make_self(moves, weights), weights))
        self._kept_at.append(moves)
        self._share_out()

    def pool(self) -> Pool:
        """For the environment, with the shares as they were last made."""
        return Pool([opponent.policy for opponent in self.opponents], self._shares)

    @property
    def shares(self) -> dict[str, float]:
        """How often each opponent is met, by name, as the shares were last made; they add up to 1."""
        names = [opponent.policy.name for opponent in self.opponents]
        return dict(zip(names, self._shares, strict=True))

    def saved(self) -> dict[str, Any]:
        """All that changes, for :meth:`restore`."""
        return {
            "shares": self._shares,
            "scripted": [opponent.win_rate for opponent in self.scripted],
            "selves": [
                (moves, opponent.weights, opponent.win_rate)
                for moves, opponent in zip(self._kept_at, self.selves, strict=True)
            ],
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """In place: go back to what :meth:`saved` gave."""
        for opponent, win_rate in zip(self.scripted, saved["scripted"], strict=True):
            opponent.win_rate = win_rate
        self._kept_at = [moves for moves, _, _ in saved["selves"]]
        self.selves = [Opponent(self._make_self(moves, w), w, rate) for moves, w, rate in saved["selves"]]
        self._shares = list(saved["shares"])

    def _share_out(self) -> None:
        """In place: shares by today's win rates."""
        share = self._share if self.selves else 0.0
        groups = [((1 - share), self.scripted), (share, self.selves)]
        self._shares = [float(part) for whole, group in groups if group for part in whole * self._within(group)]

    def _within(self, group: list[Opponent]) -> np.ndarray:
        """Weights that add up to 1."""
        lost = np.array([1 - opponent.win_rate for opponent in group])
        weights = np.maximum(lost**self._hardness, FLOOR)
        shares: np.ndarray = weights / weights.sum()
        return shares


def results_of_game(info: Mapping[str, Any], tracks: int) -> list[tuple[str, float]]:
    """Against each opponent by name 1 for a better rank than it, 0.5 for the same, 0 for a worse one.

    Args:
        info: of a finished game: "seat", "ranks", and "opponents" by name.
        tracks: how many there are; in a team the partner is no opponent.
    """
    seat, ranks = info["seat"], info["ranks"]
    names = enumerate(info["opponents"], seat + 1)  # clockwise; tracks go round as often as seats do
    return [
        (name, 0.5 + 0.5 * float(np.sign(ranks[other % tracks] - ranks[seat % tracks])))
        for other, name in names
        if other % tracks != seat % tracks
    ]
