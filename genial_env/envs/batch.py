"""Many games with one learning seat each, all stepped in one kernel batch, the other seats' policies included.

What Gymnasium's VectorEnv and Stable-Baselines3's VecEnv share. A step plays one decision of the learner in every game
and then everybody else's up to the learner's next one, all games together. Game by game it is what
:class:`~genial_env.envs.single.GenialEnv` plays.
"""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray

from genial_env import chance, kernel
from genial_env.bitsets import Bools, Ints
from genial_env.checks import as_integer
from genial_env.encodings import AnyEncoding, make_encoding
from genial_env.envs.forms import make_form
from genial_env.envs.game import draw_game_seed
from genial_env.envs.opponents import AnyOpponents, Opponents, check_seat, learner_seats, seating_luck
from genial_env.envs.rewards import check_scheme, nothing, rewards, worst
from genial_env.envs.single import check_illegal_action
from genial_env.policies import act, choice_keys
from genial_env.rules import Rules
from genial_env.views import View, view


class LearnerGames:
    """B games, each with a learning seat.

    Args:
        rules: the rules.
        n_games: B.
        opponents: one for all other seats, or one for each, clockwise from the learner.
        seat: the learning seat, or "random" to draw it for every game.
        encoding: of the observations.
        reward: the scheme's name, None for the mode's own.
        illegal_action: "end" leaves the game as it is and pays the worst reward; "raise" raises.
        action: the form of the actions, "flat" or "factored".

    Raises:
        ValueError, TypeError: for arguments that do not fit the rules.
    """

    def __init__(
        self,
        rules: Rules,
        n_games: int,
        opponents: AnyOpponents,
        seat: int | str,
        encoding: AnyEncoding,
        reward: str | None,
        illegal_action: str,
        action: str,
    ) -> None:
        n_games = as_integer(n_games, "num_envs", 1)
        self.rules = rules
        self.scheme = check_scheme(rules, reward)
        self.encoding = make_encoding(encoding)
        self.form = make_form(action, rules)
        self.opponents = Opponents(opponents, rules)
        self._wanted_seat = check_seat(seat, rules)
        self._raises = check_illegal_action(illegal_action) == "raise"
        self.everyone = np.arange(n_games)
        self.state = kernel.deal(rules, np.zeros(n_games, dtype=np.uint64))
        self.started = np.zeros(n_games, dtype=np.bool_)  # [B] whether a game has been dealt
        self.seeds = np.zeros(n_games, dtype=np.uint64)  # [B] what the games were dealt from
        self.seat: Ints = np.zeros(n_games, dtype=np.int64)  # [B] the learning seats
        self.assignment: Ints = np.zeros((n_games, rules.players), dtype=np.int64)  # [B, P] who plays which seat
        self._choices = np.zeros((n_games, rules.players), dtype=np.uint64)  # [B, P] the seats' streams of choices
        self._seating = np.zeros((n_games, rules.players + 1), dtype=np.uint64)  # [B, P + 1]

    def start(self, rows: Ints, seeds: chance.Bits) -> None:
        """In place: deal new games in some rows, and play them up to the learner's first decision."""
        kernel.redeal(self.state, rows, seeds)
        players = self.rules.players
        self.seeds[rows], self.started[rows] = seeds, True
        self._choices[rows] = choice_keys(seeds, players)
        self._seating[rows] = seating_luck(seeds, players)
        self.seat[rows] = learner_seats(self._wanted_seat, self._seating[rows], players)
        self.assignment[rows] = self.opponents.seated(self._seating[rows], self.seat[rows])
        self._let_others_play(rows)

    def replace_opponents(self, opponents: AnyOpponents) -> None:
        """In place: other opponents from now on, in the games that are running too.

        Raises:
            ValueError, TypeError: as for the class; nothing has changed.
        """
        self.opponents = Opponents(opponents, self.rules)
        self.assignment = self.opponents.seated(self._seating, self.seat)

    def step(self, actions: Any, rows: Ints) -> tuple[NDArray[np.float64], dict[int, str]]:
        """In place: play the learner's decision in some rows, and the others' up to its next one.

        Args:
            actions: one a row, in the form of the actions.
            rows: [G].

        Returns:
            The learners' rewards [G] (or [G, C]), and for each illegal action the row and the reason.

        Raises:
            RuntimeError: for a row without a game.
            TypeError, ValueError: for something that is no batch of actions.
            IllegalAction: where that is asked for; nothing has changed.
        """
        ids = self.form.ids(actions, len(rows))
        if not self.started[rows].all():
            raise RuntimeError("call reset() first: there are no games yet")
        state = self.state
        before = state.scores[rows]
        illegal = np.zeros(len(rows), dtype=np.bool_)
        if not self._raises:
            illegal = ~kernel.is_legal(state, ids, rows)
        reasons = {
            int(rows[at]): kernel.why_illegal(state, int(rows[at]), int(ids[at])) for at in np.flatnonzero(illegal)
        }
        playing = rows[~illegal] if reasons else rows
        kernel.apply(state, ids[~illegal] if reasons else ids, playing)
        self._let_others_play(playing)
        by_seat = rewards(self.scheme, self.rules, before, state.scores[rows], state.over[rows])
        earned = by_seat[np.arange(len(rows)), self.seat[rows]]
        if reasons:
            earned[illegal] = worst(self.scheme, self.rules)
        return earned, reasons

    def no_reward(self) -> NDArray[np.float64]:
        """[B] zeros (or [B, C])."""
        return np.zeros((len(self.everyone), *nothing(self.scheme, self.rules).shape[1:]))

    def view(self, rows: Ints | None = None) -> View:
        """What the learners of some rows see."""
        rows = self.everyone if rows is None else rows
        return view(self.state, self.seat[rows], rows)

    def masks(self) -> Bools:
        """[B, entries]: the playable actions."""
        return self.form.mask(self.view())

    def names(self, row: int) -> list[str]:
        """The opponents' names, clockwise from the learner."""
        players, seat = self.rules.players, int(self.seat[row])
        others = [(seat + other) % players for other in range(1, players)]
        return [self.opponents.roster[self.assignment[row, other]].name for other in others]

    def saved(self) -> dict[str, Any]:
        """An independent copy of all that changes but the opponents, which stay who they are."""
        return copy.deepcopy({name: getattr(self, name) for name in _KEPT})

    def restore(self, saved: dict[str, Any]) -> None:
        """In place: go back to what :meth:`saved` gave."""
        for name, value in copy.deepcopy(saved).items():
            setattr(self, name, value)
        self.assignment = self.opponents.seated(self._seating, self.seat)

    def _let_others_play(self, rows: Ints) -> None:
        """In place: play in some rows up to the learner's next decision or the end."""
        state = self.state
        while True:
            rows = rows[~state.over[rows] & (state.to_play[rows] != self.seat[rows])]
            if not rows.size:
                return
            kernel.apply(state, act(self.opponents.roster, self.assignment, state, self._choices, rows), rows)


_KEPT = ("state", "started", "seeds", "seat", "_choices", "_seating")


class SeedStreams:
    """A stream of game seeds for each of B environments, as Gymnasium seeds a single environment."""

    def __init__(self, n_games: int) -> None:
        self._generators: list[np.random.Generator | None] = [None] * n_games
        self.seeds = [-1] * n_games
        """What each stream started from."""

    def restart(self, seeds: Mapping[int, int | None]) -> None:
        """In place: start the streams of some rows anew, from seeds of their own or (None) from anywhere.

        Raises:
            gymnasium.error.Error: for something that is no seed; nothing has changed.
        """
        started = {row: seeding.np_random(seed) for row, seed in seeds.items()}
        for row, (generator, seed) in started.items():
            self._generators[row], self.seeds[row] = generator, seed

    @property
    def generators(self) -> tuple[np.random.Generator, ...]:
        """All of them, started where they were not."""
        return tuple(self._generator(row) for row in range(len(self._generators)))

    def draw(self, rows: Ints, options: dict[str, Any] | None = None) -> chance.Bits:
        """In place: the seed of the next game in each row, or the one that the options name."""
        drawn = [draw_game_seed(self._generator(row), options) for row in rows.tolist()]
        return chance.as_seeds(drawn)

    def _generator(self, row: int) -> np.random.Generator:
        if self._generators[row] is None:
            self.restart({row: None})
        found = self._generators[row]
        assert found is not None
        return found
