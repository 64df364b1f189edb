"""Search judged by the value network: deals of what is hidden are played on for a few turns only.

    from genial_env.policies.value_search import ValueSearch
    from genial_env import play

    play([ValueSearch(budget_s=0.2), "value"], games=2, backend="numba")

As :mod:`genial_env.policies.search`, but the candidates are those that the network likes best, everybody plays on as
the agent "value" would, and at an own later turn the network says how the game stands.

How it plays the standard game: with half a second a decision on a busy core it won 22 of 24 games against "value"
(`genial match "value_search(budget_s=0.5)" value --fixed --pairs 12 --seed 77`), with 300 playouts (150 to 300 ms) 38
of 40.
"""

from pathlib import Path

import numpy as np

from genial_env.core import chance, kernel
from genial_env.core.bitsets import Ints
from genial_env.core.chance import Bits
from genial_env.core.determinization import determinize
from genial_env.core.rules import Rules
from genial_env.core.state import Phase, State
from genial_env.core.views import View
from genial_env.core.views import view as view_of
from genial_env.policies.search import Floats, Halving
from genial_env.policies.settings import check_count
from genial_env.policies.value import CANDIDATES, Nets, judge


class ValueSearch(Halving):
    """Plays the action after which the game stands best a few turns on.

    Args:
        playouts: for every decision; 1,000 where no budget is given.
        budget_s: or else seconds for every decision.
        candidates: how many actions are compared: those that the network likes best.
        replies: among how many placements everybody chooses later on.
        turns: at which own turn the network judges, 1 the next; where the game is over before, that counts.
        weights: a file of weights; left out, the one that is shipped for the game's seats and mode.
        name: how tables and records call it.

    Raises:
        FileNotFoundError, TypeError, ValueError: for a file that is none of weights, both playouts and budget_s, or a
            setting of another type or out of its range.
    """

    def __init__(
        self,
        playouts: int | None = None,
        budget_s: float | None = None,
        *,
        candidates: int = 12,
        replies: int = 12,
        turns: int = 1,
        weights: str | Path | None = None,
        name: str = "value_search",
    ) -> None:
        super().__init__(playouts, budget_s, candidates=candidates, name=name)
        self._replies, self._turns = check_count("replies", replies), check_count("turns", turns)
        self._nets = Nets(weights)

    def prepare(self, rules: Rules) -> None:
        """Read the weights for a game; raises what is wrong with them, ValueError where there are none."""
        self._nets.of(rules)

    def moves(self, view: View) -> Ints:
        """[n]: the actions of one game that the network likes best, the best first."""
        judged = judge(view, self._nets.of(view.rules), CANDIDATES)
        best_first = np.argsort(-judged.utility, kind="stable")[: self.candidates]
        return judged.after.actions[best_first]

    def outcomes(self, view: View, actions: Ints, deals: int, random: Bits) -> Floats:
        """[deals, moves]: how the game stands a few turns after each action, in deals of one game."""
        luck = chance.bits(np.repeat(random, deals), np.arange(deals))
        dealt = determinize(view.select(np.zeros(deals, dtype=np.int64)), luck)
        state = dealt.select(np.repeat(np.arange(deals), len(actions)))
        kernel.apply(state, np.tile(actions, deals))
        return self._play_on(state, int(view.seat[0])).reshape(deals, len(actions))

    def _play_on(self, state: State, seat: int) -> Floats:
        """[B]: how games stand for a seat at one of its next turns."""
        net = self._nets.of(state.rules)
        values, turns = np.empty(len(state)), np.zeros(len(state), dtype=np.int64)
        live = np.flatnonzero(~state.over)
        while live.size:
            judged = judge(view_of(state, rows=live), net, self._replies)
            best = judged.best(judged.utility, len(live))
            turns[live] += (state.to_play[live] == seat) & (state.phase[live] == Phase.PLACE)
            arrived = turns[live] == self._turns
            values[live[arrived]] = judged.utility[best[arrived]]
            live, best = live[~arrived], best[~arrived]
            kernel.apply(state, judged.after.actions[best], live)
            live = live[~state.over[live]]
        done = np.flatnonzero(state.over)
        own_first = np.roll(state.scores[done], -(seat % state.rules.tracks), axis=1)
        values[done] = net.outcomes.utility(net.outcomes.of_scores(own_first))
        return values
