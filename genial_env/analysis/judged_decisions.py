"""Loss and luck of all decisions of many games, for tables (:mod:`genial_env.records.frames`).

from genial_env.analysis.judged_decisions import DecisionsJudge

table = to_frame(records, DecisionsJudge("fast"))
"""

import numpy as np

from genial_env.analysis.judge import make_judge
from genial_env.analysis.luck import can_measure_luck, find_draws, luck_of_draws
from genial_env.analysis.state_value import read_full_state_net
from genial_env.core.arrays import Floats
from genial_env.core.views import view
from genial_env.policies.judgement import Judge
from genial_env.records.columns import Judged
from genial_env.records.replay import Decisions

__all__ = ["DecisionsJudge"]

AT_ONCE = 64
"""Decisions, and games whose draws are evaluated, at a time."""


class DecisionsJudge:
    """Computes the loss of each decision, and the luck of the tiles drawn, as a review does.

    Args:
        judge: "fast", "normal", "deep", an agent that can judge, or a judge
            (:func:`genial_env.analysis.judge.make_judge`).

    Calling it with decisions raises a ValueError if the judge is unknown or cannot judge games with these rules. Where
    no weights measure the luck of the rules, the luck is NaN.
    """

    def __init__(self, judge: str | Judge = "fast") -> None:
        self._judge = judge

    def __call__(self, decisions: Decisions) -> Judged:
        """Judge the decisions of games with the same rules."""
        luck, luck_deal = _compute_luck(decisions)
        return Judged(self._compute_loss(decisions), luck, luck_deal)

    def _compute_loss(self, decisions: Decisions) -> Floats:  # [D]
        states, actions = decisions.states, decisions.actions
        judge = make_judge(self._judge, states.rules)
        loss = np.zeros(len(actions))
        for start in range(0, len(actions), AT_ONCE):
            rows = np.arange(start, min(start + AT_ONCE, len(actions)))
            found = judge.judge(view(states, rows=rows), actions[rows])
            is_played = found.actions == actions[rows, None]
            missing = np.flatnonzero(~is_played.any(axis=1))
            if missing.size:
                raise ValueError(f"judge {judge.name} did not judge the action played, {actions[rows[missing[0]]]}")
            played = found.utility[np.arange(len(rows)), is_played.argmax(axis=1)]
            loss[rows] = np.nanmax(found.utility, axis=1) - played
        return loss


def _compute_luck(decisions: Decisions) -> tuple[Floats, Floats]:
    """Compute the luck of each track after each decision [D, T], and of the initial racks [B, T]."""
    rules, games = decisions.final.rules, len(decisions.final)
    if not can_measure_luck(rules):
        return np.full((len(decisions.actions), rules.tracks), np.nan), np.full((games, rules.tracks), np.nan)
    net, found = read_full_state_net(rules), find_draws(decisions)
    of_draws = np.zeros((len(found.games), rules.tracks))
    for start in range(0, len(of_draws), AT_ONCE * AT_ONCE):
        rows = np.arange(start, min(start + AT_ONCE * AT_ONCE, len(of_draws)))
        of_draws[rows] = luck_of_draws(found.draws.select(rows), net).sum(axis=1)
    luck, luck_deal = np.zeros((len(decisions.actions), rules.tracks)), np.zeros((games, rules.tracks))
    is_deal = found.decisions < 0
    luck[found.decisions[~is_deal]] = of_draws[~is_deal]
    np.add.at(luck_deal, found.games[is_deal], of_draws[is_deal])
    return luck, luck_deal
