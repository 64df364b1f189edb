"""The game inside an environment for one game at a time: its seed, record, picture and saved states."""

import copy
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_integer
from genial_env.backends import using
from genial_env.core import kernel, ranking
from genial_env.core.actions import Place, decode
from genial_env.core.arrays import Bits
from genial_env.core.chance import as_seeds
from genial_env.core.engine import ROW, Engine, make_engine
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.encodings import AnyEncoding, make_encoding
from genial_env.encodings.planes import Planes
from genial_env.envs import spaces
from genial_env.envs.rewards import DENSE, AnyReward, OwnReward, check_scheme, compute_rewards, zero_rewards
from genial_env.envs.saved import check_games, check_names
from genial_env.errors import IllegalAction
from genial_env.policies.base import Policy
from genial_env.policies.decisions import decide
from genial_env.records import Recorder
from genial_env.render import check_mode, draw
from genial_env.render.svg import Move

__all__ = ["LEGAL", "Game", "as_action", "draw_game_seed", "last_placement"]

LEGAL = np.int64(-1)
"""The value of ``info["illegal_action"]`` for no illegal action. A numpy number, as TorchRL's reader needs it."""


class Game:
    """One game inside an environment. The rules are played by an :class:`~genial_env.core.engine.Engine`.

    Args:
        rules: the rules.
        encoding: of observations: a name, an :class:`~genial_env.encodings.Encoding`, or a function of views.
        reward: the name of a reward scheme (:mod:`genial_env.envs.rewards`), or a function; None: the mode's default.
        render_mode: None or one of :data:`genial_env.render.RENDER_MODES`.
        record: whether to keep a game record.

    Raises:
        ValueError: for an unknown encoding, reward or render mode, or a reward that does not exist in the mode.
    """

    def __init__(
        self, rules: Rules, encoding: AnyEncoding, reward: AnyReward, render_mode: str | None, record: bool
    ) -> None:
        check_mode(render_mode)
        self.rules = rules
        self.encoding = make_encoding(encoding)
        self._is_planes = type(self.encoding) is Planes
        self._n_actions = tables(rules).n_actions
        self.scheme = check_scheme(rules, reward)
        self.is_dense = isinstance(self.scheme, OwnReward) or self.scheme in DENSE
        """Whether rewards come at every step, not only at the end."""
        self.has_function = isinstance(self.scheme, OwnReward)
        """Whether rewards come from a function, by :meth:`pay`."""
        self._no_reward = zero_rewards(self.scheme, rules)
        self._no_reward.setflags(write=False)
        self._render_mode = render_mode
        self._names: list[str] = []
        self._move: Move | None = None
        self.keeps_record = record
        self.seed = 0
        self._engine: Engine | None = None
        self._recorder: Recorder | None = None

    def start(self, seed: int, names: list[str], options: Mapping[str, Any] | None = None) -> None:
        """In place: deal a new game.

        Args:
            seed: a whole number from 0 to 2**64 - 1.
            names: one name a seat, for the record and the picture.
            options: ``{"start": state}``: the late position that the game begins at, as
                :func:`genial_env.core.kernel.undealt_at` takes it. Other options are ignored.

        Raises:
            TypeError, ValueError: if the seed is not such a number, or no game can begin at the position; then nothing
                has changed.
        """
        seeds = as_seeds(as_integer(seed, "a seed", 0, 2**64 - 1))
        engine = make_engine(self._read_start(options).copy())
        engine.deal(seeds)
        self._engine, self.seed = engine, int(seed)
        self._names, self._move = names, None
        self._recorder = Recorder(engine.state, names, seeds) if self.keeps_record else None

    def _read_start(self, options: Mapping[str, Any] | None) -> State:
        """Return the game before any tile is drawn."""
        given = (options or {}).get("start")
        if given is None:
            return kernel.undealt(self.rules)
        if not isinstance(given, State):
            raise TypeError(f"options['start'] must be a State, not {given!r} ({type(given).__name__})")
        check_games(given, self.rules, 1, "options['start']")
        if self.keeps_record:
            raise ValueError("no record is kept of games that begin at a late position: make it with record=False")
        return kernel.undealt_at(given)

    @property
    def engine(self) -> Engine:
        """The engine that plays the game.

        Raises:
            RuntimeError: before the first reset.
        """
        if self._engine is None:
            raise RuntimeError("call reset() first: there is no game yet")
        return self._engine

    @property
    def current(self) -> State:
        """The state of the game.

        Raises:
            RuntimeError: before the first reset.
        """
        return self.engine.state

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.engine.over

    @property
    def to_play(self) -> int:
        """The seat to play; after the end, the seat that played last."""
        return self.engine.to_play

    def play(self, action: int) -> NDArray[Any]:
        """In place: play an action.

        Returns:
            The reward of each seat for this action, [P] (or [P, C]), which may be read-only; with a reward function
            zeros: see :meth:`pay`.

        Raises:
            IllegalAction: if the action is illegal; then nothing has changed.
            RuntimeError: before the first reset.
        """
        engine = self._engine or self.engine
        state = engine.state
        before = state.scores.copy() if self.is_dense else state.scores
        if not 0 <= action < self._n_actions:  # it may be too large for an array
            raise IllegalAction(kernel.why_illegal(state, 0, action))
        if self._recorder is not None:
            with self.use_backend():
                self._recorder.apply(np.array([action]))
        elif not engine.play(action):
            raise IllegalAction(kernel.why_illegal(state, 0, action))
        if self._render_mode is not None:
            self._move = last_placement(self.rules, action, self._move)
        if self.has_function or (not self.is_dense and not engine.over):
            return self._no_reward
        assert isinstance(self.scheme, str)
        return compute_rewards(self.scheme, self.rules, before, state.scores, state.over)[0]  # type: ignore[no-any-return]

    def pay(self, before: State, action: int, seats: Sequence[int]) -> NDArray[np.float64]:
        """Return the rewards of a reward function for some seats, [G] (or [G, C]).

        Args:
            before: a copy of :attr:`current` before the action.
            action: the action that was played then.
            seats: [G].

        Raises:
            TypeError, ValueError: if the function returns something else than rewards.
        """
        assert isinstance(self.scheme, OwnReward)
        n = len(seats)
        rows = np.zeros(n, dtype=np.int64)
        return self.scheme(before.select(rows), np.full(n, action), self.current.select(rows), np.array(seats))

    def view(self, seat: int) -> View:
        """Return what a seat may know."""
        return self.engine.view(seat)

    def observe(self, seat: int) -> tuple[Any, NDArray[np.int8]]:
        """Return a seat's observation, and its mask [A]."""
        if self._is_planes:
            observed = self.engine.observe_planes(seat)
            if observed is not None:
                return observed
        with self.use_backend():
            view = self.engine.view(seat)
            return self.encode(view), view.mask()[0].astype(np.int8)

    def encode(self, view: View) -> Any:
        """Return the observation of a view, newly made; to be called inside :meth:`use_backend`."""
        return spaces.item_of(self.encoding.encode(view), 0)

    def use_backend(self) -> AbstractContextManager[None]:
        """Return a context in which functions on batches compute on the backend of this game."""
        backend = self.engine.backend
        return _NO_CHANGE if backend is None else using(backend)

    def choose(self, policy: Policy, random: Bits) -> int:
        """Return the action that a policy chooses for the seat to play.

        Args:
            policy: the policy.
            random: [1] random bits.
        """
        engine = self.engine
        if engine.backend is None:
            return int(kernel.as_actions(policy(engine.view(engine.to_play), random), 1)[0])
        return int(decide.on(engine.backend)(policy, engine.state, ROW, random)[0])

    def standings(self) -> dict[str, NDArray[np.int64]]:
        """Return `ranks` [T] (0 until the game is over) and `scores` [T, C] for infos, as new arrays."""
        engine = self.engine
        scores = engine.state.scores[0].astype(np.int64)
        ranks = ranking.ranks(scores) if engine.over else np.zeros(len(scores), dtype=np.int64)
        return {"ranks": ranks, "scores": scores}

    def illegal_id(self, action: int) -> np.int64:
        """Return the value of ``info["illegal_action"]`` for an illegal action: its id; A if it is out of range."""
        return np.int64(action if 0 <= action < self._n_actions else self._n_actions)

    def record(self) -> dict[str, Any]:
        """Return the game record so far.

        Raises:
            RuntimeError: if no record is kept.
        """
        if self._recorder is None:
            raise RuntimeError("no record is kept: make the environment with record=True and reset it")
        return self._recorder.records()[0]

    def render(self, seat: int | None = None) -> Any:
        """Draw the position in the render mode (:func:`genial_env.render.draw`).

        Args:
            seat: whose rack is shown; None: all racks.
        """
        if self._render_mode is None:
            return None
        return draw(self._render_mode, self.current, seat=seat, names=self._names, move=self._move)

    def save(self) -> dict[str, Any]:
        """Return an independent copy of everything that changes, for :meth:`restore`."""
        return copy.deepcopy(
            {"engine": self._engine, "seed": self.seed, "recorder": self._recorder, "shown": (self._names, self._move)}
        )

    def restore(self, saved: dict[str, Any]) -> None:
        """In place: go back to what :meth:`save` returned.

        Raises:
            TypeError, ValueError: for anything else, or a game under other rules; then nothing has changed.
        """
        self._check_saved(saved)
        kept = copy.deepcopy(saved)
        self._engine, self.seed, self._recorder = kept["engine"], kept["seed"], kept["recorder"]
        self._names, self._move = kept["shown"]

    def _check_saved(self, saved: Any) -> None:
        check_names(saved, ["engine", "seed", "recorder", "shown"], "the saved game")
        engine, recorder, shown = saved["engine"], saved["recorder"], saved["shown"]
        as_integer(saved["seed"], "the saved game's seed", 0, 2**64 - 1)
        if engine is not None:
            if not isinstance(engine, Engine):
                raise TypeError(f"the saved game must be one that get_state() gave, not {type(engine).__name__}")
            check_games(engine.state, self.rules, 1, "the saved game")
        is_kept = self.keeps_record and engine is not None
        has_its_own = isinstance(recorder, Recorder) and engine is not None and recorder.state is engine.state
        if not (has_its_own if is_kept else recorder is None):
            raise ValueError(f"the saved game must have {'its' if is_kept else 'no'} record, as the environment has")
        if not isinstance(shown, tuple) or len(shown) != 2 or not isinstance(shown[1], Move | None):
            raise ValueError("the saved game must say what is shown of it, as get_state() does")
        if not isinstance(shown[0], list) or not all(isinstance(name, str) for name in shown[0]):
            raise ValueError(f"the saved game must have a list of names, not {shown[0]!r}")


_NO_CHANGE = nullcontext()


def last_placement(rules: Rules, action: int, before: Move | None) -> Move | None:
    """Return the placement to mark in a picture after an action: the action's own; `before` if it places no tile."""
    decoded = decode(rules, action)
    return Move(decoded.first, decoded.second) if isinstance(decoded, Place) else before


def draw_game_seed(rng: np.random.Generator, options: Mapping[str, Any] | None) -> int:
    """Return the seed of the next game: ``options["game_seed"]`` if given, else the next of the environment's stream.

    Other options are ignored, because the checks and wrappers of some libraries pass options of their own.

    Raises:
        TypeError: if the options are not a dict, or the seed is not one whole number; nothing has been drawn.
        ValueError: if the seed does not lie in 0 to 2**64 - 1.
    """
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"options must be a dict or None, not {options!r} ({type(options).__name__})")
    given = None
    if options and "game_seed" in options:
        given = as_integer(options["game_seed"], "options['game_seed']", 0, 2**64 - 1)
    drawn = int(rng.integers(2**53))  # drawn even if a seed is given, so that the stream advances equally
    return drawn if given is None else given


def as_action(action: Any) -> int:
    """Return an action as an int. A number outside of the action space is allowed here: it is an illegal action.

    Raises:
        TypeError: if it is not one whole number of 64 bits.
    """
    if type(action) is int and -(2**63) <= action < 2**63:
        return action
    value = np.asarray(action)
    if value.shape not in ((), (1,)) or value.dtype.kind not in "iu":
        raise TypeError(f"an action must be a whole number, not {action!r} ({type(action).__name__})")
    return int(value.reshape(()))
