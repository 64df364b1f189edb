"""Many games with one learning seat each, all stepped in one kernel batch, the other seats' policies included.

What Gymnasium's VectorEnv and Stable-Baselines3's VecEnv share. A step plays one decision of the learner in every game
and then everybody else's up to the learner's next one, all games together. Game by game it is what
:class:`~genial_env.envs.single.GenialEnv` plays.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray

from genial_env._util.checks import as_integer
from genial_env.core import chance, kernel, ranking
from genial_env.core.arrays import Bools, Ints
from genial_env.core.rules import Rules
from genial_env.core.views import View, view
from genial_env.encodings import AnyEncoding, make_encoding
from genial_env.envs import spaces
from genial_env.envs.arguments import as_plain_seed
from genial_env.envs.forms import make_form, why_illegal
from genial_env.envs.game import draw_game_seed, last_placement
from genial_env.envs.opponents import AnyOpponents, Opponents, check_seat, learner_seats
from genial_env.envs.rewards import check_scheme, compute_rewards, worst_reward, zero_rewards
from genial_env.envs.saved import check_saved
from genial_env.envs.single import BROKEN_OFF, GenialEnv, check_illegal_action
from genial_env.errors import IllegalAction
from genial_env.policies.decisions import act, choice_keys
from genial_env.render import draw
from genial_env.render.svg import Move


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
        render_mode: None or how :meth:`render` draws.

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
        render_mode: str | None = None,
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
        self.reasons: dict[int, str] = {}
        """Why the actions of a row's last step were illegal, by row."""
        self._settled = np.ones(n_games, dtype=np.bool_)  # [B] False where a step or reset was broken off
        self._render_mode = render_mode
        self._moves: list[Move | None] = [None] * n_games  # what was laid last, followed where there is a render mode

    def start(self, rows: Ints, seeds: chance.Bits) -> None:
        """In place: deal new games in some rows, and play them up to the learner's first decision."""
        self._settled[rows] = False
        kernel.redeal(self.state, rows, seeds)
        players = self.rules.players
        self.seeds[rows], self.started[rows] = seeds, True
        self._choices[rows] = choice_keys(seeds, players)
        self.seat[rows] = learner_seats(self._wanted_seat, seeds, players)
        self.assignment[rows] = self.opponents.seated(seeds, self.seat[rows])
        for row in rows.tolist() if self._render_mode else ():
            self._moves[row] = None
        self._let_others_play(rows)
        self._settled[rows] = True

    def replace_opponents(self, opponents: AnyOpponents) -> None:
        """In place: other opponents from now on, in the games that are running too.

        Raises:
            ValueError, TypeError: as for the class; nothing has changed.
        """
        self.opponents = Opponents(opponents, self.rules)
        self.assignment = self.opponents.seated(self.seeds, self.seat)

    def step(self, actions: Any, rows: Ints) -> tuple[NDArray[np.float64], Ints]:
        """In place: play the learner's decision in some rows, and the others' up to its next one.

        No further step is taken before :meth:`settle` says that what this one brought has been handed out.

        Args:
            actions: one a row, in the form of the actions.
            rows: [G].

        Returns:
            The learners' rewards [G] (or [G, C]); and [B] the illegal actions as infos number them: the action id, A
            for an action that there is not, -1 where the action was legal. :attr:`reasons` says why.

        Raises:
            RuntimeError: for a row without a game, or after a step or reset that was broken off.
            TypeError, ValueError: for something that is no batch of actions.
            IllegalAction: where that is asked for; nothing has changed.
        """
        ids = self.form.ids(actions, len(rows))
        if not self.started[rows].all():
            raise RuntimeError("call reset() first: there are no games yet")
        if not self._settled.all():
            raise RuntimeError(f"{BROKEN_OFF} (games {np.flatnonzero(~self._settled).tolist()})")
        state = self.state
        before = state.scores[rows]
        self._settled[:] = False
        illegal = self._play_legal(ids, rows)
        if illegal.size and self._raises:
            self._settled[:] = True
            raise IllegalAction(self._why_illegal(actions, ids, rows, int(illegal[0])))
        reasons = {int(rows[at]): self._why_illegal(actions, ids, rows, at) for at in illegal.tolist()}
        if reasons or self.reasons:
            stepped = set(rows.tolist())
            self.reasons = {row: why for row, why in self.reasons.items() if row not in stepped} | reasons
        self._let_others_play(np.delete(rows, illegal) if reasons else rows)
        by_seat = compute_rewards(self.scheme, self.rules, before, state.scores[rows], state.over[rows])
        earned = by_seat[np.arange(len(rows)), self.seat[rows]]
        refused = np.full(len(self.everyone), -1)
        if reasons:
            earned[illegal] = worst_reward(self.scheme, self.rules)
            n_actions = state.tables.n_actions
            wrong = ids[illegal]
            refused[rows[illegal]] = np.where((wrong >= 0) & (wrong < n_actions), wrong, n_actions)
        return earned, refused

    def settle(self) -> None:
        """In place: the last step is over, with all that was to be done after it."""
        self._settled[:] = True

    def standings(self, rows: Ints) -> dict[str, Ints]:
        """For infos: the ranks of all tracks [G, T], 0 where a game is not over, and their markers [G, T, C]."""
        scores = self.state.scores[rows].astype(np.int64)
        ranks = np.zeros(scores.shape[:2], dtype=np.int64)
        over = np.flatnonzero(self.state.over[rows])
        if over.size:
            ranks[over] = ranking.ranks(scores[over])
        return {"ranks": ranks, "scores": scores}

    def no_reward(self) -> NDArray[np.float64]:
        """[B] zeros (or [B, C])."""
        return np.zeros((len(self.everyone), *zero_rewards(self.scheme, self.rules).shape[1:]))

    def view(self, rows: Ints | None = None) -> View:
        """What the learners of some rows see."""
        rows = self.everyone if rows is None else rows
        return view(self.state, self.seat[rows], rows)

    def masks(self) -> Bools:
        """[B, entries]: the playable actions."""
        return self.form.mask(self.view())

    def others(self) -> Ints:
        """[B, P - 1]: who of the roster plays the other seats, clockwise from the learner."""
        players = self.rules.players
        seats = (self.seat[:, None] + np.arange(1, players)) % players
        return np.take_along_axis(self.assignment, seats, axis=1)

    def names(self, row: int) -> list[str]:
        """The opponents' names, clockwise from the learner."""
        return [self.opponents.roster[number].name for number in self.others()[row]]

    def render(self, row: int) -> Any:
        """A game as the render mode has it (:func:`genial_env.render.draw`), with the learner's rack."""
        if self._render_mode is None:
            return None
        names = [self.opponents.roster[player].name if player >= 0 else "learner" for player in self.assignment[row]]
        seat = int(self.seat[row])
        return draw(self._render_mode, self.state, row, seat=seat, names=names, move=self._moves[row])

    def saved(self) -> dict[str, Any]:
        """An independent copy of all that changes but the opponents, which stay who they are."""
        return copy.deepcopy({name: getattr(self, name) for name in _KEPT})

    def restore(self, saved: dict[str, Any]) -> None:
        """In place: go back to what :meth:`saved` gave.

        Raises:
            TypeError, ValueError: for something else, or games of other rules or another number; nothing has changed.
        """
        kept = check_saved(saved, {name: getattr(self, name) for name in _KEPT}, "the saved games")
        if not ((kept["seat"] >= 0) & (kept["seat"] < self.rules.players)).all():
            raise ValueError(f"the saved games: seats must be 0 to {self.rules.players - 1}, not {kept['seat']}")
        kept = copy.deepcopy(kept)
        for name in _KEPT:
            setattr(self, name, kept[name])
        self.assignment = self.opponents.seated(self.seeds, self.seat)

    def _let_others_play(self, rows: Ints) -> None:
        """In place: play in some rows up to the learner's next decision or the end."""
        state = self.state
        while True:
            rows = rows[~state.over[rows] & (state.to_play[rows] != self.seat[rows])]
            if not rows.size:
                return
            self._play(act(self.opponents.roster, self.assignment, state, self._choices, rows), rows)

    def _why_illegal(self, actions: Any, ids: Ints, rows: Ints, at: int) -> str:
        return why_illegal(self.form, self.state, int(rows[at]), actions[at], int(ids[at]))

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
        if self._render_mode is not None:
            for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
                self._moves[row] = last_placement(self.rules, action, self._moves[row])


_KEPT = ("state", "started", "seeds", "seat", "reasons", "_choices", "_settled", "_moves")


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
        started = {row: seeding.np_random(as_plain_seed(seed)) for row, seed in seeds.items()}
        for row, (generator, seed) in started.items():
            self._generators[row], self.seeds[row] = generator, seed

    @property
    def generators(self) -> tuple[np.random.Generator, ...]:
        """All of them, started where they were not."""
        return tuple(self.generator(row) for row in range(len(self._generators)))

    def check_saved(self, other: Any, what: str) -> None:
        """Check that a saved value is such streams, as many of them.

        Raises:
            TypeError, ValueError: if it is not.
        """
        if not isinstance(other, SeedStreams):
            raise TypeError(f"{what} must be SeedStreams, not {type(other).__name__}")
        check_saved(vars(other), dict.fromkeys(vars(self)), what)
        for value in vars(other).values():
            if not isinstance(value, list) or len(value) != len(self.seeds):
                raise ValueError(f"{what} must have {len(self.seeds)} streams, not {value!r}")

    def draw(self, rows: Ints, options: Sequence[dict[str, Any] | None] | None = None) -> chance.Bits:
        """In place: the seed of the next game in each row, or the one that the row's options name."""
        told = [None] * len(rows) if options is None else options
        drawn = [draw_game_seed(self.generator(row), each) for row, each in zip(rows.tolist(), told, strict=True)]
        return chance.as_seeds(drawn)

    def generator(self, row: int) -> np.random.Generator:
        """The stream of a row, started where it was not."""
        if self._generators[row] is None:
            self.restart({row: None})
        found = self._generators[row]
        assert found is not None
        return found


class OneOfMany:
    """A game of a batch, as those see it who ask an environment of many for attributes of a single one.

    It has what :class:`~genial_env.envs.single.GenialEnv` has, but for what would play on it alone. Other attributes
    can be set, and are kept.

    Args:
        whole: the environment.
        row: the game's number.
    """

    def __init__(self, whole: "OneByOne", row: int) -> None:
        self._whole, self._row = whole, row
        vars(self).update(whole._told_of_one)

    def __getattr__(self, name: str) -> Any:
        """Raise for an attribute that there is not, listing those that there are."""
        if name.startswith("_"):
            raise AttributeError(name)
        known = sorted({name for name in (*dir(type(self)), *vars(self)) if not name.startswith("_")})
        raise AttributeError(f"a game among many has no attribute {name!r}: it has {', '.join(known)}")

    @property
    def unwrapped(self) -> "OneOfMany":
        """Itself."""
        return self

    @property
    def rules(self) -> Rules:
        """The rules."""
        return self._whole._games.rules

    @property
    def seat(self) -> int:
        """The learning seat of this game."""
        return int(self._whole._games.seat[self._row])

    @property
    def illegal_reason(self) -> str | None:
        """Why the action of its last step was illegal; None where it was not."""
        return self._whole._games.reasons.get(self._row)

    @property
    def np_random(self) -> np.random.Generator:
        """Its stream of seeds."""
        return self._whole._streams.generator(self._row)

    @property
    def np_random_seed(self) -> int:
        """What its stream of seeds started from."""
        self._whole._streams.generator(self._row)
        return self._whole._streams.seeds[self._row]

    def action_masks(self) -> Bools:
        """[entries] bool: the playable actions."""
        games = self._whole._games
        mask: Bools = games.form.mask(games.view(np.array([self._row])))[0]
        return mask.copy()

    def render(self) -> Any:
        """The position as the render mode has it, with the learner's rack."""
        return self._whole._games.render(self._row)


def told_of_one(games: LearnerGames, render_mode: str | None) -> dict[str, Any]:
    """What is the same for each game, by the names of the single environment's attributes."""
    told: dict[str, Any] = {
        "action_space": games.form.space,
        "observation_space": spaces.observation_space(games.encoding, games.rules),
        "render_mode": render_mode,
        "metadata": GenialEnv.metadata,
        "spec": None,
    }
    if games.scheme == "vector":
        told |= {"reward_space": spaces.reward_space(games.rules), "reward_dim": games.rules.colors}
    return told


class OneByOne:
    """What environments of many games share that hand out attributes of single ones."""

    _games: LearnerGames
    _streams: "SeedStreams"
    _told_of_one: dict[str, Any]
    """The attributes of each game that never change by themselves."""

    def _each(self) -> list[OneOfMany]:
        """The games one by one, the same objects at every call."""
        if "_all_of_them" not in vars(self):
            self._all_of_them = [OneOfMany(self, row) for row in self._games.everyone.tolist()]
        return self._all_of_them
