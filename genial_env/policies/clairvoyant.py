"""Solo play that knows the coming tiles: no agent, but the yardstick that agents are measured by.

A solo game's tiles come in one order whatever is played, so a copy of the game tells which. Nested Monte-Carlo search
(T. Cazenave, "Nested Monte-Carlo search", IJCAI 2009) looks for the best line: at level 0 the agent "value" plays the
game to its end; at a higher level every candidate of every decision is tried by a search one level lower, and the best
line found so far is followed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from genial_env.core import kernel
from genial_env.core.bitsets import Ints
from genial_env.core.state import State
from genial_env.core.views import view
from genial_env.policies.settings import check_count
from genial_env.policies.value import ValueNet, judge

END = -1
"""In a line: the game is over."""


@dataclass(eq=False)
class Lines:
    """The best lines found for B games."""

    utility: NDArray[np.float64]  # [B] as the network's outcomes count it
    actions: Ints  # [B, most placements] from the given position on, END behind the last

    def take(self, other: "Lines", rows: Ints, where: Ints, step: int, first: Ints) -> None:
        """In place: for some games (rows) take over other lines (where), which go on after an action at a step."""
        self.utility[rows] = other.utility[where]
        self.actions[rows, step] = first
        self.actions[rows, step + 1 :] = other.actions[where, : self.actions.shape[1] - step - 1]


def clairvoyant(state: State, net: ValueNet, level: int = 1, candidates: int = 8) -> Lines:
    """The best lines that nested search finds with the luck that each game will have.

    Args:
        state: B solo games; they are not changed.
        net: what chooses candidates and plays lines to their ends.
        level: how deep searches are nested; every level takes some hundred times as long.
        candidates: how many placements are tried for a decision, those that "denial" thinks worth most.

    Raises:
        ValueError: for games of more than one seat, or a level below 0.
    """
    if state.rules.players != 1:
        raise ValueError(f"clairvoyant play is for 1 seat, not {state.rules.players}")
    if level < 0:
        raise ValueError(f"level must be at least 0, not {level}")
    check_count("candidates", candidates)
    return _nested(state.copy(), net, level, candidates)


def _nested(state: State, net: ValueNet, level: int, candidates: int) -> Lines:
    """In place: play the games to their ends by the best lines found."""
    longest = state.rules.most_placements
    found = Lines(np.full(len(state), -np.inf), np.full((len(state), longest), END))
    for step in range(longest):
        live = np.flatnonzero(~state.over)
        if not live.size:
            break
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
