"""Review of a recorded game: the loss of each decision, according to a judge that evaluates actions.

    found = review(next(read_records("game.jsonl")), "value")
    for decision in found.blunders():
        print(decision.words, decision.loss, decision.alternatives[0].words)

A judge gets the view of the seat that decided, so unlucky draws are not counted as mistakes. Axes: see
:mod:`genial_env.core.state`; G views that are judged in one batch, K actions of each.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.placement_values import equivalence_keys
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.views import view
from genial_env.policies.judgement import NONE, Judge, Judgement
from genial_env.policies.registry import make_policy, prepare
from genial_env.records import Decisions, replay_decisions
from genial_env.render.sentences import describe_action, describe_event, points_by_color

__all__ = [
    "ALTERNATIVES",
    "THRESHOLDS",
    "VERDICTS",
    "Alternative",
    "Judged",
    "Review",
    "make_judge",
    "review",
    "verdict",
]

Floats = NDArray[np.floating[Any]]

ALTERNATIVES = 3
"""The number of other actions that are shown with each decision."""

AT_ONCE = 8
"""The number of decisions that are judged in one batch."""

VERDICTS = ("best", "good", "inaccuracy", "mistake", "blunder")

THRESHOLDS = {"rank utility": (0.002, 0.05, 0.1, 0.2), "lowest marker": (0.02, 0.25, 0.5, 1.0)}
"""The losses, by unit, from which a decision is no longer "best", "good", "inaccuracy" or "mistake"."""


@dataclass(frozen=True)
class Alternative:
    """Another action that was possible."""

    action: int
    words: str
    cells: tuple[int, ...]  # where the halves go, as cell numbers; none for other than placements
    points: dict[str, int]  # by the colors' letters
    utility: float


@dataclass(frozen=True)
class Judged:
    """A decision with the judge's evaluation."""

    event: int  # of the record
    seat: int
    action: int
    words: str
    utility: float  # of what was played
    best: float  # of the best action
    loss: float  # the difference; 0 where there was no choice
    win: float  # the chance of the first rank after what was played; solo nan
    alternatives: tuple[Alternative, ...]  # the best others, the best first; what comes to the same counts once
    verdict: str  # one of VERDICTS


@dataclass(frozen=True)
class Review:
    """A game with the evaluation of every decision."""

    rules: Rules
    agents: tuple[str, ...]  # one name a seat
    judge: str
    decisions: tuple[Judged, ...]

    @property
    def unit(self) -> str:
        """Of utilities and losses: "rank utility", +1 first to -1 last, or "lowest marker" (solo)."""
        return _unit(self.rules)

    def blunders(self) -> list[Judged]:
        """Return the decisions with the verdict "blunder", in order."""
        return [decision for decision in self.decisions if decision.verdict == "blunder"]

    def mean_loss(self) -> list[float]:
        """Return the mean loss of each seat's decisions [P]; nan for a seat without decisions."""
        losses = [[each.loss for each in self.decisions if each.seat == seat] for seat in range(self.rules.players)]
        return [sum(loss) / len(loss) if loss else math.nan for loss in losses]

    def to_dict(self) -> dict[str, Any]:
        """Return the review as JSON values, with None for nan."""
        return {
            "rules": self.rules.to_dict(),
            "agents": list(self.agents),
            "judge": self.judge,
            "unit": self.unit,
            "mean_loss": [_or_none(loss) for loss in self.mean_loss()],
            "decisions": [asdict(each) | {"win": _or_none(each.win)} for each in self.decisions],
        }


def review(
    record: dict[str, Any], judge: str | Judge = "value", progress: Callable[[int, int], None] | None = None
) -> Review:
    """Judge every decision of a recorded game.

    Args:
        record: the game (docs/records.md), finished or broken off.
        judge: who judges: an agent as :func:`genial_env.policies.registry.make_policy` reads it, or a :class:`Judge`.
        progress: called with the decisions judged so far and their number, whenever some more are.

    Raises:
        RecordError: where the record does not replay.
        ValueError: for an agent that there is not, that is no judge, or that cannot play this game, saying why.
        TypeError: for something else that is no judge.
    """
    found = replay_decisions(record)
    rules, total = found.states.rules, len(found.actions)
    judging = make_judge(judge, rules)
    judged: list[Judged] = []
    for start in range(0, total, AT_ONCE):
        rows = np.arange(start, min(start + AT_ONCE, total))
        judgement = judging.judge(view(found.states, rows=rows), found.actions[rows])
        for index, row in enumerate(rows.tolist()):
            ranked = _Ranked(found.states.select(rows[index : index + 1]), judgement, index)
            judged.append(_judged(record, found, row, ranked, judging.name))
        if progress is not None:
            progress(len(judged), total)
    return Review(rules, tuple(record["agents"]), judging.name, tuple(judged))


def make_judge(judge: str | Judge, rules: Rules) -> Judge:
    """Return the judge with a name, prepared for a game. A judge object is prepared and returned.

    Raises:
        ValueError: If the agent is unknown, has no method `judge`, or cannot play this game.
        TypeError: If the object has no method `judge`.
    """
    made: Any = make_policy(judge) if isinstance(judge, str) else judge
    if not callable(getattr(made, "judge", None)):
        what = f"agent {judge!r}" if isinstance(judge, str) else repr(judge)
        fault = f"{what} cannot judge: it has no method judge(view, also), as the agent 'value' has"
        raise ValueError(fault) if isinstance(judge, str) else TypeError(fault)
    prepare(made, rules)
    found: Judge = made
    return found


class _Ranked:
    """A judge's actions [K] for one game, best first, without actions that lead to the same position."""

    def __init__(self, state: State, judgement: Judgement, row: int) -> None:
        self.state = state
        actions = judgement.actions[row]
        self._keys = equivalence_keys(view(state), actions[None])[0]
        first = np.sort(np.unique(self._keys, return_index=True)[1])
        self.places = first[actions[first] != NONE].tolist()
        self.actions, self.utility, self.win = actions, judgement.utility[row], judgement.win[row]

    def place(self, action: int) -> int | None:
        """Return the index of the action that leads to the same position; None if there is none."""
        key = int(equivalence_keys(view(self.state), np.array([[action]]))[0, 0])
        return next((place for place in self.places if self._keys[place] == key), None)


def _judged(record: dict[str, Any], found: Decisions, row: int, ranked: _Ranked, judge: str) -> Judged:
    action, event = int(found.actions[row]), int(found.events[row])
    rules = found.states.rules
    own = ranked.place(action)
    if own is None:
        raise ValueError(f"judge {judge}: the action that was played, {action}, must be among those it judges")
    utility, best = float(ranked.utility[own]), float(ranked.utility[ranked.places].max())
    others = [place for place in ranked.places if place != own][:ALTERNATIVES]
    loss = best - utility
    return Judged(
        event=event,
        seat=int(found.states.to_play[row]),
        action=action,
        words=describe_event(rules, record["events"][event]),
        utility=utility,
        best=best,
        loss=loss,
        win=float(ranked.win[own]),
        alternatives=tuple(_alternative(ranked, place) for place in others),
        verdict=verdict(loss, rules),
    )


def _alternative(ranked: _Ranked, place: int) -> Alternative:
    state, action = ranked.state, int(ranked.actions[place])
    t = state.tables
    return Alternative(
        action=action,
        words=describe_action(state, action),
        cells=tuple(t.placements[t.split_action(action)[1]].tolist()) if t.is_placing(action) else (),
        points=points_by_color(state, action),
        utility=float(ranked.utility[place]),
    )


def verdict(loss: float, rules: Rules) -> str:
    """Return the verdict for a loss, one of :data:`VERDICTS`."""
    return VERDICTS[sum(loss >= threshold for threshold in THRESHOLDS[_unit(rules)])]


def _unit(rules: Rules) -> str:
    return "lowest marker" if rules.tracks == 1 else "rank utility"


def _or_none(number: float) -> float | None:
    return None if math.isnan(number) else number
