"""Solo play that knows the order of the draws: an upper bound for agents, not a policy that can be played.

The draws of a solo game do not depend on the actions, so playing on in a copy of the game reveals them. Nested
Monte-Carlo search (T. Cazenave, "Nested Monte-Carlo search", IJCAI 2009) looks for the best sequence of actions with
these draws. At level 0 the agent "value" plays the game to its end. At a higher level each candidate of each decision
is tried by a search one level lower, and the best sequence found so far is followed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from genial_env.core import kernel
from genial_env.core.arrays import Ints
from genial_env.core.state import State
from genial_env.core.views import view
from genial_env.policies.settings import check_count
from genial_env.policies.value import judge
from genial_env.policies.value_net import ValueNet

__all__ = ["END", "Lines", "clairvoyant"]

END = -1
"""Fills a line after the last action."""


@dataclass(eq=False)
class Lines:
    """The best lines found for B games."""

    utility: NDArray[np.float64]  # [B] the utility of the final markers (:meth:`Outcomes.utility`)
    actions: Ints  # [B, most placements] from the given position on, END after the last

    def take(self, other: "Lines", rows: Ints, where: Ints, step: int, first: Ints) -> None:
        """In place: replace the lines of some games from a step on.

        Args:
            other: lines that begin after the step.
            rows: the games here.
            where: the lines there.
            step: the number of the decision.
            first: the action at the step for each of the games.
        """
        self.utility[rows] = other.utility[where]
        self.actions[rows, step] = first
        self.actions[rows, step + 1 :] = other.actions[where, : self.actions.shape[1] - step - 1]


def clairvoyant(state: State, net: ValueNet, level: int = 1, candidates: int = 8) -> Lines:
    """Find the best lines for the draws that each game will have, by nested search.

    Args:
        state: B solo games; they are not changed.
        net: chooses candidates and plays lines to their ends.
        level: the nesting depth; each level takes some hundred times as long.
        candidates: the number of placements tried for each decision, those with the highest prior values.

    Raises:
        ValueError: if the games have more than one seat, or the level is below 0.
    """
    if state.rules.players != 1:
        raise ValueError(f"clairvoyant play is for 1 seat, not {state.rules.players}")
    if level < 0:
        raise ValueError(f"level must be at least 0, not {level}")
    check_count("candidates", candidates)
    return _nested(state.copy(), net, level, candidates)


def _nested(state: State, net: ValueNet, level: int, candidates: int) -> Lines:
    """In place: play the games to their ends by the best lines found; return the lines."""
    longest = state.rules.most_placements
    found = Lines(np.full(len(state), -np.inf), np.full((len(state), longest), END))
    for step, live in enumerate(kernel.live_games(state)):
        judged = judge(view(state, rows=live), net, candidates)
        if level == 0:
            found.actions[live, step] = judged.after.actions[judged.best(judged.utility, len(live))]
        else:
            children = state.select(live[judged.after.game])
            kernel.apply(children, judged.after.actions)
            below = _nested(children, net, level - 1, candidates)
            best = judged.best(below.utility, len(live))
            better = below.utility[best] > found.utility[live]
            found.take(below, live[better], best[better], step, judged.after.actions[best[better]])
        kernel.apply(state, found.actions[live, step], live)
    if level == 0:
        found.utility[:] = net.outcomes.utility(net.outcomes.of_scores(state.scores))
    return found
