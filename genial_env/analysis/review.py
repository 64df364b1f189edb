"""Review a recorded game: compute the loss of each decision with a judge (:mod:`genial_env.analysis.judge`).

    found = review(next(read_records("game.jsonl")), "normal")
    for decision in found.blunders():
        print(decision.text, decision.loss, decision.alternatives[0].text)

A judge gets the view of the seat that decided. So unlucky draws do not count as mistakes. How lucky they were is a part
of the review of its own (:mod:`genial_env.analysis.luck`). After the game it may see all
racks instead (`open_racks`); then a decision may lose although nobody could have known better. Axes: see
:mod:`genial_env.core.state`; G is the number of games in a batch, K the number of judged actions of each.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from genial_env.analysis.judge import make_judge
from genial_env.analysis.luck import GameLuck, can_measure_luck, measure_luck
from genial_env.core.arrays import Ints
from genial_env.core.placement_values import equivalence_keys
from genial_env.core.rules import Rules
from genial_env.core.state import End, State
from genial_env.core.views import view
from genial_env.policies.base import NONE
from genial_env.policies.judgement import Judge, Judgement
from genial_env.records import Decisions, replay_decisions
from genial_env.render.sentences import describe_action, describe_event, points_by_color

__all__ = [
    "ALTERNATIVES",
    "RACKS",
    "THRESHOLDS",
    "VERDICTS",
    "Alternative",
    "Judged",
    "Review",
    "accuracy",
    "review",
    "verdict",
]


ALTERNATIVES = 3
"""The number of other actions that are shown with each decision."""

AT_ONCE = 2
"""The number of decisions that are judged in one batch, between two calls of `progress`."""

VERDICTS = ("best", "good", "inaccuracy", "mistake", "blunder")
"""The verdicts on decisions, from the smallest loss to the largest."""

RACKS = ("hidden", "open")
"""The words for reviews by what the seats knew, and by all racks."""

THRESHOLDS = {"rank utility": (0.002, 0.05, 0.1, 0.2), "lowest marker": (0.02, 0.25, 0.5, 1.0)}
"""The losses, by unit, from which a decision is no longer "best", "good", "inaccuracy" or "mistake"."""


@dataclass(frozen=True)
class Alternative:
    """A legal action that was not played."""

    action: int
    text: str  # the action for people
    cells: tuple[int, ...]  # the cell numbers of the two halves; empty for actions other than placements
    points: dict[str, int]  # by the colors' letters
    utility: float  # the judge's expected utility


@dataclass(frozen=True)
class Judged:
    """A decision with the judge's evaluation."""

    event: int  # the index among the events of the record
    seat: int
    action: int
    text: str  # the action for people
    utility: float  # the judge's expected utility of the action
    best: float  # the utility of the best action
    loss: float  # best - utility
    error: float  # standard error of the loss; exact: 0; nan if the judge only predicts
    win: float  # the probability of the first rank after the action; nan for solo games
    alternatives: tuple[Alternative, ...]  # the best other actions, best first, one for each resulting position
    verdict: str  # one of VERDICTS


@dataclass(frozen=True)
class Review:
    """A game with the evaluation of every decision."""

    rules: Rules
    agents: tuple[str, ...]  # the agents' names by seat
    judge: str
    decisions: tuple[Judged, ...]
    open_racks: bool = False
    """whether the judge saw all racks; else what the seat knew that decided"""
    luck: GameLuck | None = None
    """the parts of the result; None for unfinished games and rules without weights"""

    @property
    def unit(self) -> str:
        """The unit of utilities and losses: "rank utility" (+1 first to -1 last), or "lowest marker" (solo)."""
        return _unit(self.rules)

    def blunders(self) -> list[Judged]:
        """Return the decisions with the verdict "blunder", in order."""
        return [decision for decision in self.decisions if decision.verdict == "blunder"]

    def mean_loss(self) -> list[float]:
        """Return the mean loss of each seat's decisions [P]; nan for a seat without decisions."""
        return self._means(lambda decision: decision.loss)

    def accuracy(self) -> list[float]:
        """Return the mean :func:`accuracy` of each seat's decisions, in percent [P]; nan without decisions."""
        return self._means(lambda decision: accuracy(decision.loss, self.rules))

    def _means(self, number: Callable[[Judged], float]) -> list[float]:
        """Return the mean number of each seat's decisions [P]; nan for a seat without decisions."""
        numbers = [[number(each) for each in self.decisions if each.seat == seat] for seat in range(self.rules.players)]
        return [sum(each) / len(each) if each else math.nan for each in numbers]

    def to_dict(self) -> dict[str, Any]:
        """Return the review as JSON values, with None for nan."""
        return {
            "rules": self.rules.to_dict(),
            "agents": list(self.agents),
            "judge": self.judge,
            "racks": RACKS[self.open_racks],
            "unit": self.unit,
            "mean_loss": [_or_none(loss) for loss in self.mean_loss()],
            "accuracy": [_or_none(share) for share in self.accuracy()],
            "luck": None if self.luck is None else self.luck.to_dict(),
            "decisions": [
                asdict(each) | {"win": _or_none(each.win), "error": _or_none(each.error)} for each in self.decisions
            ],
        }


def review(
    record: dict[str, Any],
    judge: str | Judge = "normal",
    progress: Callable[[int, int], None] | None = None,
    *,
    open_racks: bool = False,
) -> Review:
    """Judge every decision of a recorded game, and measure the luck of the draws.

    Args:
        record: the record of a finished or unfinished game (docs/records.md).
        judge: "fast", "normal", "deep", or another judge (:func:`genial_env.analysis.judge.make_judge`).
        progress: is called at the start and after each batch with the number of judged decisions and the number of all
            decisions. An exception that it raises cancels the review.
        open_racks: whether the judge sees all racks, instead of what the seat knew that decided
            (:meth:`genial_env.analysis.judge.RolloutJudge.judge_open`). The game must be finished.

    Raises:
        RecordError: if the record is invalid.
        ValueError: if the judge is unknown, has no method `judge`, or cannot judge this game; with open racks also if
            the game is unfinished, or the judge cannot use them.
        TypeError: if the object has no method `judge`.
    """
    found = replay_decisions(record)
    if open_racks and record["end"] == End.UNFINISHED.words:
        raise ValueError("open racks are for finished games: this game is unfinished, and its racks are still hidden")
    rules, total = found.states.rules, len(found.actions)
    judging = make_judge(judge, rules)
    ask = _find_method(judging, open_racks)
    judged: list[Judged] = []
    if progress is not None:
        progress(0, total)
    for start in range(0, total, AT_ONCE):
        rows = np.arange(start, min(start + AT_ONCE, total))
        judgement = ask(found.states, rows, found.actions[rows])
        for index, row in enumerate(rows.tolist()):
            ranked = _Ranked(found.states.select(rows[index : index + 1]), judgement, index)
            judged.append(_make_judged(record, found, row, ranked, judging.name))
        if progress is not None:
            progress(len(judged), total)
    luck = measure_luck(record) if found.final.over[0] and can_measure_luck(rules) else None
    return Review(rules, tuple(record["agents"]), judging.name, tuple(judged), open_racks, luck)


def _find_method(judging: Judge, open_racks: bool) -> Callable[[State, Ints, Ints], Judgement]:
    """Return a function that judges some rows of a state, with an action of each that must be among the judged ones.

    Raises:
        ValueError: if the judge cannot use open racks.
    """
    if not open_racks:
        return lambda states, rows, also: judging.judge(view(states, rows=rows), also)
    judge_open = getattr(judging, "judge_open", None)
    if not callable(judge_open):
        raise ValueError(f"judge {judging.name} cannot use open racks: it has no method judge_open(state, also)")
    return lambda states, rows, also: judge_open(states.select(rows), also)


class _Ranked:
    """A judge's actions [K] for one game, best first, without actions that lead to the same position."""

    def __init__(self, state: State, judgement: Judgement, row: int) -> None:
        self.state = state
        actions = judgement.actions[row]
        self._keys = equivalence_keys(view(state), actions[None])[0]
        first = np.sort(np.unique(self._keys, return_index=True)[1])
        self.indices = first[actions[first] != NONE].tolist()
        self.actions, self.utility = actions, judgement.utility[row]
        self.win, self.error = judgement.win[row], judgement.error[row]

    def find(self, action: int) -> int | None:
        """Return the index of the action that leads to the same position; None if there is none."""
        key = int(equivalence_keys(view(self.state), np.array([[action]]))[0, 0])
        return next((index for index in self.indices if self._keys[index] == key), None)


def _make_judged(record: dict[str, Any], found: Decisions, row: int, ranked: _Ranked, judge: str) -> Judged:
    action, event = int(found.actions[row]), int(found.events[row])
    rules = found.states.rules
    own = ranked.find(action)
    if own is None:
        raise ValueError(f"judge {judge} did not judge the action that was played, {action}")
    utility, best = float(ranked.utility[own]), float(ranked.utility[ranked.indices].max())
    others = [index for index in ranked.indices if index != own][:ALTERNATIVES]
    loss = best - utility
    return Judged(
        event=event,
        seat=int(found.states.to_play[row]),
        action=action,
        text=describe_event(rules, record["events"][event]),
        utility=utility,
        best=best,
        loss=loss,
        error=float(ranked.error[own]),
        win=float(ranked.win[own]),
        alternatives=tuple(_make_alternative(ranked, index) for index in others),
        verdict=verdict(loss, rules),
    )


def _make_alternative(ranked: _Ranked, index: int) -> Alternative:
    state, action = ranked.state, int(ranked.actions[index])
    t = state.tables
    return Alternative(
        action=action,
        text=describe_action(state, action),
        cells=tuple(t.placements[t.split_action(action)[1]].tolist()) if t.is_placing(action) else (),
        points=points_by_color(state, action),
        utility=float(ranked.utility[index]),
    )


def verdict(loss: float, rules: Rules) -> str:
    """Return the verdict for a loss, one of :data:`VERDICTS`."""
    return VERDICTS[sum(loss >= threshold for threshold in THRESHOLDS[_unit(rules)])]


def accuracy(loss: float, rules: Rules) -> float:
    """Return how accurate a decision with this loss is, in percent: 100 without a loss, 64 for the least blunder.

    The formula is the one by which lichess turns lost winning chances into accuracy (https://lichess.org/page/accuracy).
    A loss of 0.2 of rank utility counts as 10 percentage points, and so does a loss of 1 of the lowest marker (solo).
    """
    points = 10 * loss / THRESHOLDS[_unit(rules)][-1]
    return min(max(103.1668 * math.exp(-0.04354 * points) - 3.1669, 0.0), 100.0)


def _unit(rules: Rules) -> str:
    return "lowest marker" if rules.tracks == 1 else "rank utility"


def _or_none(number: float) -> float | None:
    return None if math.isnan(number) else number
