"""The interface of agents that evaluate actions, for reviews and hints."""

from dataclasses import dataclass
from typing import Protocol

from genial_env.core.arrays import AnyFloats, Ints
from genial_env.core.views import View

__all__ = ["Judge", "Judgement"]


@dataclass(frozen=True, eq=False)
class Judgement:
    """The evaluations of some actions of G games for the seats to play, K actions each, the best first."""

    actions: Ints  # [G, K] action ids, NONE after the last
    utility: AnyFloats  # [G, K] expected rank utility, +1 first to -1 last; solo the expected lowest marker
    win: AnyFloats  # [G, K] the probability of the first rank; solo nan
    error: AnyFloats  # [G, K] standard error of the best utility less this one; exact: 0; a prediction alone: nan


class Judge(Protocol):
    """Evaluates actions. The project's own is :class:`genial_env.analysis.judge.RolloutJudge`."""

    @property
    def name(self) -> str:
        """The name in reviews."""

    def judge(self, view: View, also: Ints | None = None) -> Judgement:
        """Evaluate actions of each game.

        Args:
            view: G games in which it is the seat's turn.
            also: [G] an action of each game that must be among them.
        """
