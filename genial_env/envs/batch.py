"""Many games with one learning seat each, stepped in one kernel batch together with the policies of the other seats.

This is what Gymnasium's VectorEnv and Stable-Baselines3's VecEnv are built on. Each game is played the same as in
:class:`~genial_env.envs.single.GenialEnv`.
"""

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_integer
from genial_env.core import kernel, ranking
from genial_env.core.arrays import Bits, Bools, Ints
from genial_env.core.state import State
from genial_env.core.views import View, view
from genial_env.envs.action_formats import explain_illegal
from genial_env.envs.game import last_placement
from genial_env.envs.learner import INTERRUPTED, LearnerSettings
from genial_env.envs.opponents import AnyOpponents, Opponents, draw_learner_seats
from genial_env.envs.rewards import OwnReward, compute_rewards, worst_reward, zero_rewards
from genial_env.envs.saved import check_saved
from genial_env.errors import IllegalAction
from genial_env.policies.decisions import act, choice_keys
from genial_env.render import draw
from genial_env.render.svg import Move

__all__ = ["LearnerGames"]


class LearnerGames:
    """B games with a learning seat each. A step plays one decision of each learner, then the others until its next.

    Args:
        settings: the settings that all games share.
        n_games: B.

    Raises:
        TypeError, ValueError: if `n_games` is not a whole number from 1 on.
    """

    def __init__(self, settings: LearnerSettings, n_games: int) -> None:
        n_games = as_integer(n_games, "num_envs", 1)
        self.rules = settings.rules
        self.scheme = settings.scheme
        self.encoding = settings.encoding
        self.action_format = settings.action_format
        self.render_mode = settings.render_mode
        self.opponents = settings.opponents
        self._fixed_seat = settings.seat
        self._raises = settings.raises
        players = self.rules.players
        self.everyone = np.arange(n_games)
        self.state = kernel.deal(self.rules, np.zeros(n_games, dtype=np.uint64))
        self.started = np.zeros(n_games, dtype=np.bool_)  # [B] whether a game has been dealt
        self.seeds = np.zeros(n_games, dtype=np.uint64)  # [B] the seeds of the games
        self.seat: Ints = np.zeros(n_games, dtype=np.int64)  # [B] the learning seats
        self.assignment: Ints = np.zeros((n_games, players), dtype=np.int64)  # [B, P] of opponents, -1: the learner
        self._choices = np.zeros((n_games, players), dtype=np.uint64)  # [B, P] the keys of the seats' random bits
        self.reasons: dict[int, str] = {}
        """Why the action of a row's last step was illegal, by row."""
        self._settled = np.ones(n_games, dtype=np.bool_)  # [B] False during a step or reset, and after an interruption
        self._moves: list[Move | None] = [None] * n_games  # [B] the last placements, followed if there is a render mode

    def start(self, rows: Ints, seeds: Bits, *, in_step: bool = False) -> None:
        """In place: deal new games in some rows, and play them until the learner's first decision.

        Args:
            rows: [G].
            seeds: [G] the seeds of the games.
            in_step: whether this belongs to the step in which the games have ended; :attr:`reasons` of that step are
                kept then.
        """
        self._settled[rows] = False
        kernel.redeal(self.state, rows, seeds)
        if not in_step:
            self._forget_reasons(rows)
        players = self.rules.players
        self.seeds[rows], self.started[rows] = seeds, True
        self._choices[rows] = choice_keys(seeds, players)
        self.seat[rows] = draw_learner_seats(self._fixed_seat, seeds, players)
        self.assignment[rows] = self.opponents.assign(seeds, self.seat[rows])
        for row in rows.tolist() if self.render_mode else ():
            self._moves[row] = None
        self._let_others_play(rows)
        self._settled[rows] = True

    def replace_opponents(self, opponents: AnyOpponents) -> None:
        """In place: replace the opponents, in running games too.

        Raises:
            ValueError, TypeError: as :class:`~genial_env.envs.opponents.Opponents`; then nothing has changed.
        """
        self.opponents = Opponents(opponents, self.rules)
        self.assignment = self.opponents.assign(self.seeds, self.seat)

    def step(self, actions: Any, rows: Ints) -> tuple[NDArray[np.float64], Ints]:
        """In place: play the learner's decision in some rows, then the others until its next one.

        The caller must call :meth:`settle` when it has handed out the results. Until then, a further step raises.

        Args:
            actions: one for each row, in the action format.
            rows: [G].

        Returns:
            The learners' rewards, [G] (or [G, C]), and the values of ``info["illegal_action"]``, [B]: the id of an
            illegal action, A for a number outside of the action space, -1 for a legal action. :attr:`reasons` explains
            them.

        Raises:
            RuntimeError: for a row without a game, or after an interrupted step or reset.
            TypeError, ValueError: if `actions` is not a batch of actions; also if a reward function returns something
                else than rewards, which leaves the step interrupted.
            IllegalAction: if illegal actions raise and there is one; then nothing has changed.
        """
        ids = self.action_format.ids(actions, len(rows))
        if not self.started[rows].all():
            raise RuntimeError("call reset() first: there are no games yet")
        if not self._settled.all():
            raise RuntimeError(f"{INTERRUPTED} (games {np.flatnonzero(~self._settled).tolist()})")
        state = self.state
        before = state.select(rows) if isinstance(self.scheme, OwnReward) else state.scores[rows]
        self._settled[:] = False
        illegal = self._play_legal(ids, rows)
        if illegal.size and self._raises:
            self._settled[:] = True
            raise IllegalAction(self._why_illegal(actions, ids, rows, int(illegal[0])))
        reasons = {int(rows[at]): self._why_illegal(actions, ids, rows, at) for at in illegal.tolist()}
        self._forget_reasons(rows)
        self.reasons |= reasons
        self._let_others_play(np.delete(rows, illegal) if reasons else rows)
        earned = self._pay(before, ids, rows, np.delete(np.arange(len(rows)), illegal))
        illegal_ids = np.full(len(self.everyone), -1)
        if reasons:
            earned[illegal] = worst_reward(self.scheme, self.rules)
            n_actions = state.tables.n_actions
            given = ids[illegal]
            illegal_ids[rows[illegal]] = np.where((given >= 0) & (given < n_actions), given, n_actions)
        return earned, illegal_ids

    def settle(self) -> None:
        """In place: note that the results of the last step have been handed out."""
        self._settled[:] = True

    def standings(self, rows: Ints) -> dict[str, Ints]:
        """Return `ranks` [G, T] (0 until a game is over) and `scores` [G, T, C] for infos."""
        scores = self.state.scores[rows].astype(np.int64)
        ranks = np.zeros(scores.shape[:2], dtype=np.int64)
        over = np.flatnonzero(self.state.over[rows])
        if over.size:
            ranks[over] = ranking.ranks(scores[over])
        return {"ranks": ranks, "scores": scores}

    def no_reward(self) -> NDArray[np.float64]:
        """Return rewards of zero, [B] (or [B, C])."""
        return np.zeros((len(self.everyone), *zero_rewards(self.scheme, self.rules).shape[1:]))

    def view(self, rows: Ints | None = None) -> View:
        """Return what the learners of some rows may know; None: of all rows."""
        rows = self.everyone if rows is None else rows
        return view(self.state, self.seat[rows], rows)

    def masks(self) -> Bools:
        """Return the masks of legal actions, bool [B, entries]."""
        return self.action_format.mask(self.view())

    def others(self) -> Ints:
        """Return the opponents as indices of the roster, clockwise from the learner: [B, P - 1]."""
        seats = self.state.tables.seats_from[self.seat, 1:]
        return np.take_along_axis(self.assignment, seats, axis=1)

    def names(self, row: int) -> list[str]:
        """Return the names of the opponents, clockwise from the learner."""
        return [self.opponents.roster[number].name for number in self.others()[row]]

    def render(self, row: int) -> Any:
        """Draw a game in the render mode (:func:`genial_env.render.draw`), with the learner's rack."""
        if self.render_mode is None:
            return None
        names = [self.opponents.roster[player].name if player >= 0 else "learner" for player in self.assignment[row]]
        seat = int(self.seat[row])
        return draw(self.render_mode, self.state, row, seat=seat, names=names, move=self._moves[row])

    def save(self) -> dict[str, Any]:
        """Return an independent copy of everything that changes, except the opponents."""
        return copy.deepcopy({name: getattr(self, name) for name in _KEPT})

    def restore(self, saved: dict[str, Any]) -> None:
        """In place: go back to what :meth:`save` returned.

        Raises:
            TypeError, ValueError: for anything else, other rules, or another number of games; then nothing has changed.
        """
        kept = check_saved(saved, {name: getattr(self, name) for name in _KEPT}, "the saved games")
        if not ((kept["seat"] >= 0) & (kept["seat"] < self.rules.players)).all():
            raise ValueError(f"the saved games: seats must be 0 to {self.rules.players - 1}, not {kept['seat']}")
        kept = copy.deepcopy(kept)
        for name in _KEPT:
            setattr(self, name, kept[name])
        self.assignment = self.opponents.assign(self.seeds, self.seat)

    def _forget_reasons(self, rows: Ints) -> None:
        """In place: remove some rows from :attr:`reasons`."""
        if self.reasons:
            for row in rows.tolist():
                self.reasons.pop(row, None)

    def _let_others_play(self, rows: Ints) -> None:
        """In place: play the other seats of some rows until the learner's next decision or the end."""
        state = self.state
        while True:
            rows = rows[~state.over[rows] & (state.to_play[rows] != self.seat[rows])]
            if not rows.size:
                return
            self._play(act(self.opponents.roster, self.assignment, state, self._choices, rows), rows)

    def _pay(self, before: State | NDArray[Any], actions: Ints, rows: Ints, legal: Ints) -> NDArray[np.float64]:
        """Return the learners' rewards, [G] (or [G, C]).

        Args:
            before: the games before the step; their markers [G, T, C] unless there is a reward function.
            actions: [G].
            rows: [G].
            legal: the indices, in `rows`, of legal actions; a reward function is asked about these only.
        """
        state, scheme, seats = self.state, self.scheme, self.seat[rows]
        if isinstance(scheme, OwnReward):
            assert isinstance(before, State)
            earned = self.no_reward()[rows]
            if legal.size:
                after = state.select(rows[legal])
                earned[legal] = scheme(before.select(legal), actions[legal], after, seats[legal])
            return earned
        assert not isinstance(before, State)
        by_seat = compute_rewards(scheme, self.rules, before, state.scores[rows], state.over[rows])
        earned = by_seat[np.arange(len(rows)), seats]
        return earned

    def _why_illegal(self, actions: Any, ids: Ints, rows: Ints, at: int) -> str:
        return explain_illegal(self.action_format, self.state, int(rows[at]), actions[at], int(ids[at]))

    def _play_legal(self, actions: Ints, rows: Ints) -> Ints:
        """In place: play the learners' legal actions; none of them if illegal actions raise and there is one.

        All actions are played at once, which checks each of them once. They are checked again only if there is an
        illegal one, which masks make rare.

        Returns:
            The indices, in `rows`, of the illegal actions.
        """
        try:
            self._play(actions, rows)
        except IllegalAction:
            legal = kernel.is_legal(self.state, actions, rows)
            if not self._raises:
                self._play(actions[legal], rows[legal])
            return np.flatnonzero(~legal)
        return np.empty(0, dtype=np.int64)

    def _play(self, actions: Ints, rows: Ints) -> None:
        """In place: play actions in some rows.

        Raises:
            IllegalAction: if one is illegal; then none has been played.
        """
        kernel.apply(self.state, actions, rows)
        if self.render_mode is not None:
            for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
                self._moves[row] = last_placement(self.rules, action, self._moves[row])


_KEPT = ("state", "started", "seeds", "seat", "reasons", "_choices", "_settled", "_moves")
"""The attributes that change, except what follows from the opponents."""
