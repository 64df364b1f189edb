"""Judges: what evaluates actions for reviews and hints.

The project's judge is :class:`RolloutJudge`, at one of three levels. It evaluates all legal actions that lead to
different positions, and not only those that an agent would choose from:

- Where the endgame solver has an answer, the values are its own (:func:`~genial_env.policies.endgame.exact_solutions`).
- Elsewhere they are predictions of the network of the agent "value".
- From the level "normal" on, the actions with the highest predictions are played on to the seat's next turn in many
  deals of the hidden tiles, as "value_search" does it. All are played on in the same deals.

:meth:`RolloutJudge.judge` gets the view of the seat to play. So hidden tiles do not enter into its values.
:meth:`RolloutJudge.judge_open` gets the whole state of a game: the deals have the true racks, only draws are random.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from genial_env._util.stopping import checkpoint
from genial_env.backends import for_one_game, using
from genial_env.core.arrays import Bools, Floats, Ints
from genial_env.core.chance import Purpose, bits, seat_keys
from genial_env.core.placement_values import equivalence_keys
from genial_env.core.rules import Rules
from genial_env.core.state import Phase, State
from genial_env.core.views import View
from genial_env.core.views import view as view_of
from genial_env.policies import weight_files
from genial_env.policies.afterstates import candidates
from genial_env.policies.afterstates.choices import distinct_placements
from genial_env.policies.base import NONE
from genial_env.policies.endgame import OutOfBudget, Solution, exact_solutions, most_placements_left, solve
from genial_env.policies.judgement import Judge, Judgement
from genial_env.policies.registry import make_policy, prepare
from genial_env.policies.search import Deals, deal
from genial_env.policies.settings import check_count, check_name
from genial_env.policies.value import Nets, judge_actions
from genial_env.policies.value_net import ValueNet
from genial_env.policies.value_search import ValueSearch

__all__ = ["LEVELS", "Level", "RolloutJudge", "can_judge", "make_judge"]


@dataclass(frozen=True)
class Level:
    """How thoroughly a judge works.

    Raises:
        TypeError, ValueError: if a number is no whole number or out of range.
    """

    actions: int
    """the number of actions that are played on, those with the highest predictions"""
    deals: int
    """the number of deals in which they are played on, at least 2; 0: none are, and predictions are the values"""
    replies: int = 12
    """the number of placements among which each later decision is made"""
    exact: bool = True
    """whether the solver's values replace the others where it has an answer"""
    patient: bool = True
    """whether the solver is also asked where it may take seconds"""

    def __post_init__(self) -> None:
        if self.deals:
            check_count("actions", self.actions)
            if check_count("deals", self.deals) == 1:
                raise ValueError("deals must be 0 or at least 2, not 1: one deal gives no standard error")
        check_count("replies", self.replies)


LEVELS = {"fast": Level(0, 0, patient=False), "normal": Level(8, 48), "deep": Level(16, 400)}
"""The levels by name."""

OPEN_BUDGET = 50_000
"""The most positions that the solver visits if all racks are known: about two seconds."""


class RolloutJudge:
    """Evaluates all actions by the network, the best of them by rollouts, and the last placements exactly.

    The same view always gets the same values.

    Args:
        level: a name of :data:`LEVELS`, or a level.
        weights: a file of weights of the agent "value", or the arrays; None: the shipped ones.
        name: the name in reviews; None: that of the level.

    Raises:
        FileNotFoundError, ValueError: if the level is unknown, or the file does not hold weights.
    """

    def __init__(
        self, level: str | Level = "normal", weights: weight_files.Source = None, name: str | None = None
    ) -> None:
        if isinstance(level, str) and level not in LEVELS:
            raise ValueError(f"the level must be one of {', '.join(LEVELS)}, not {level!r}")
        self.level = LEVELS[level] if isinstance(level, str) else level
        self.name = check_name(name if name is not None else level if isinstance(level, str) else "judge")
        self._nets = Nets(weights)
        self._search = ValueSearch(replies=self.level.replies, turns=1, weights=weights)

    def prepare(self, rules: Rules) -> None:
        """Read the weights for a game.

        Raises:
            ValueError, OSError: if there are none, or they cannot be used.
        """
        self._nets.of(rules)
        self._search.prepare(rules)

    def judge(self, view: View, also: Ints | None = None) -> Judgement:
        """Evaluate the actions of each game (:class:`~genial_env.policies.judgement.Judge`).

        Args:
            view: G games, seen by the seat to play.
            also: [G] an action of each game that must be among them, in the place of one that leads to the same
                position.

        Returns:
            At the level "fast" all actions that lead to different positions. From "normal" on those that were played
            on, and `also`; all where the solver has an answer.

        Raises:
            ValueError: if a game is over, it is not the seat's turn, or there are no weights for the rules.
        """
        _check_turn(view)
        with using(for_one_game()):
            return self._judge(view, also, None)

    def judge_open(self, state: State, also: Ints | None = None) -> Judgement:
        """Evaluate the actions of each game, all racks known to the judge.

        The true racks stand in all deals; only draws are random. In the rollouts the seats choose by what they see, as
        in :meth:`judge`. Where the solver has an answer, all seats know all racks
        (:func:`~genial_env.policies.endgame.solve`). Never show the values of a game that goes on to its players.

        Args:
            state: G games, judged for the seats to play.
            also: see :meth:`judge`.

        Returns:
            See :meth:`judge`.

        Raises:
            ValueError: see :meth:`judge`; also if the level has no rollouts, as predictions do not use the racks.
        """
        if not self.level.deals:
            raise ValueError(f"judge {self.name} has no rollouts, so open racks would not enter into its values")
        seen = view_of(state)
        _check_turn(seen)
        with using(for_one_game()):
            return self._judge(seen, also, state)

    def _judge(self, view: View, also: Ints | None, known: State | None) -> Judgement:
        """Evaluate the actions of games in which it is the seat's turn.

        Args:
            view: G games.
            also: see :meth:`judge`.
            known: the games with their true racks; None if the judge knows what the seats know.
        """
        net = self._nets.of(view.rules)
        most = max(1, int(distinct_placements(view).sum(axis=(1, 2)).max()))
        actions = candidates(view, most)
        if also is not None:
            actions = _include_action(view, actions, also)
        found = _predict(view, net, actions)
        exact = self._solve(view, known)
        for game in range(len(view)):
            checkpoint()
            rows = np.flatnonzero(found.game == game)
            if game in exact:
                found.set_exact(rows, exact[game], view.rules)
            elif self.level.deals:
                best_first = rows[np.lexsort((-found.order[rows], -found.utility[rows]))]
                close = best_first[: self.level.actions]
                if also is not None:
                    close = np.union1d(close, rows[found.actions[rows] == also[game]])
                alone = view.select(np.array([game]))
                deals = self._deal(alone, None if known is None else known.select(np.array([game])))
                self._play_on(alone, deals, net, found, close)
                found.kept[np.setdiff1d(rows, close)] = False
        return found.as_judgement(len(view))

    def _solve(self, view: View, known: State | None) -> dict[int, Solution]:
        """Return the solver's values of the games for which it has an answer."""
        if not self.level.exact or view.rules.tracks == 1:
            return {}
        if known is None:
            return exact_solutions(view, patient=self.level.patient)
        return _solve_open(known, 3 if self.level.patient else 2)

    def _deal(self, alone: View, known: State | None) -> Deals:
        """Return the deals in which the actions of one game are played on."""
        if known is None:
            return deal(alone, _RANDOM, 0, self.level.deals)
        random = bits(np.repeat(_RANDOM, self.level.deals), np.arange(self.level.deals))
        states = known.select(np.zeros(self.level.deals, dtype=np.int64))
        states.key[:] = seat_keys(bits(random, 1), Purpose.DRAWS, known.rules.players)  # not the draws that came
        return Deals(states, random)

    def _play_on(self, alone: View, deals: Deals, net: ValueNet, found: "_Values", rows: Ints) -> None:
        """Replace predictions of one game by means over rollouts, in place."""
        shape = len(deals), len(rows)
        chances = self._search.predict(alone, found.actions[rows], deals)
        utility, win = net.outcomes.expected(chances)
        utilities: Floats = utility.astype(np.float64).reshape(shape)
        found.utility[rows] = utilities.mean(axis=0)
        found.win[rows] = win.reshape(shape).mean(axis=0)
        found.order[rows] = net.outcomes.utility(chances).reshape(shape).mean(axis=0)
        best = np.lexsort((-found.order[rows], -found.utility[rows]))[0]
        found.error[rows] = (utilities[:, best : best + 1] - utilities).std(axis=0, ddof=1) / np.sqrt(len(deals))


_RANDOM = bits(0, np.zeros(1, dtype=np.int64))
"""The random bits of all rollouts, so that a view always gets the same values."""


@dataclass(eq=False)
class _Values:
    """The values of n actions of G games."""

    game: Ints  # [n]
    actions: Ints  # [n]
    utility: Floats  # [n]
    win: Floats  # [n]
    error: Floats  # [n]
    order: Floats  # [n] which of several actions with the same utility is better
    kept: Bools  # [n] whether the action is in the result

    def set_exact(self, rows: Ints, solution: Solution, rules: Rules) -> None:
        """Replace predictions of one game by exact values, in place."""
        self.utility[rows], self.error[rows] = solution.values_of(self.actions[rows]), 0.0
        self.order[rows] = -self.actions[rows]  # the first of equal ones is played
        if rules.tracks == 2:
            self.win[rows] = (1 + self.utility[rows]) / 2

    def as_judgement(self, games: int) -> Judgement:
        """Return the values as arrays with an axis of games."""
        best_first = np.lexsort((-self.order, -self.utility, self.game))
        best_first = best_first[self.kept[best_first]]
        game = self.game[best_first]
        place = np.arange(len(game)) - np.searchsorted(game, game)
        shape = games, int(place.max(initial=-1)) + 1
        made = Judgement(np.full(shape, NONE), *(np.full(shape, np.nan) for _ in range(3)))
        for name in ("actions", "utility", "win", "error"):
            getattr(made, name)[game, place] = getattr(self, name)[best_first]
        return made


def _solve_open(known: State, most: int) -> dict[int, Solution]:
    """Return the values of games in which all seats know all racks, if at most `most` placements are left.

    Games that the solver does not solve within its budget are left out.
    """
    solutions = {}
    for game in np.flatnonzero(most_placements_left(known) <= most).tolist():
        with suppress(OutOfBudget):
            solutions[game] = solve(known.select(np.array([game])), OPEN_BUDGET)
    return solutions


def _predict(view: View, net: ValueNet, actions: Ints) -> _Values:
    judged = judge_actions(view, net, actions)
    utility, win = (array.astype(np.float64) for array in net.outcomes.expected(judged.chances))
    return _Values(
        game=judged.after.game,
        actions=judged.after.actions,
        utility=utility,
        win=win,
        error=np.full(len(utility), np.nan),
        order=judged.utility.astype(np.float64),
        kept=np.ones(len(utility), dtype=np.bool_),
    )


def _include_action(view: View, actions: Ints, also: Ints) -> Ints:
    """Return the actions with one of each game in the place of the equivalent one: [G, K]."""
    same = equivalence_keys(view, actions) == equivalence_keys(view, also[:, None])
    lacking = np.flatnonzero(~same.any(axis=1))
    if lacking.size:
        raise ValueError(f"game {lacking[0]}: action {also[lacking[0]]} is not legal")
    return np.where(same, also[:, None], actions)


def _check_turn(view: View) -> None:
    over = np.flatnonzero(view.phase == Phase.OVER)
    if over.size:
        raise ValueError(f"game {over[0]} is over: there is nothing to judge")
    others = np.flatnonzero(view.to_play != 0)
    if others.size:
        seat = int(view.seat[others[0]])
        raise ValueError(f"game {others[0]}: it is not the turn of seat {seat}, whose view this is")


def make_judge(judge: str | Judge, rules: Rules) -> Judge:
    """Return a judge that is prepared for a game.

    Args:
        judge: a name of :data:`LEVELS`, an agent with a method `judge`, by its text
            (:func:`genial_env.policies.registry.make_policy`), or a judge.
        rules: the rules of the game.

    Raises:
        ValueError: If the agent is unknown, has no method `judge`, or cannot judge this game.
        TypeError: If the object has no method `judge`.
    """
    made: Any = _make(judge) if isinstance(judge, str) else judge
    if not callable(getattr(made, "judge", None)):
        what = f"agent {judge!r}" if isinstance(judge, str) else repr(judge)
        fault = f"{what} cannot judge: it has no method judge(view, also); the levels {', '.join(LEVELS)} can"
        raise ValueError(fault) if isinstance(judge, str) else TypeError(fault)
    found: Judge = made
    prepare(found, rules, f"the judge {found.name!r} cannot judge this game")
    return found


def _make(judge: str) -> Any:
    return RolloutJudge(judge) if judge in LEVELS else make_policy(judge)


@lru_cache(maxsize=64)
def can_judge(rules: Rules) -> bool:
    """Return whether there are weights with which :class:`RolloutJudge` can judge games with these rules."""
    try:
        make_judge("fast", rules)
    except ValueError:
        return False
    return True
