"""What the environments for one game at a time share: a game, its seeds, saving it, its record and its picture."""

import copy
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_integer
from genial_env.core import kernel, ranking
from genial_env.core.actions import Place, decode
from genial_env.core.chance import Bits
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.encodings import AnyEncoding, make_encoding
from genial_env.encodings.planes import Planes
from genial_env.envs import spaces
from genial_env.envs.one import OneGame
from genial_env.envs.rewards import DENSE, check_scheme, nothing, rewards
from genial_env.envs.saved import check_games, check_names
from genial_env.errors import IllegalAction
from genial_env.policies.base import Policy
from genial_env.records import Recorder
from genial_env.render import check_mode, draw
from genial_env.render.svg import Move


class Game:
    """One game inside an environment.

    Args:
        rules: the rules.
        encoding: of observations: a name, an :class:`~genial_env.encodings.Encoding`, or a function of the views.
        reward: the scheme's name (:mod:`genial_env.envs.rewards`), None for the mode's own.
        render_mode: None or one of :data:`genial_env.render.RENDER_MODES`.
        record: whether to keep a game record.

    Raises:
        ValueError: for an unknown encoding, reward or render mode, or a reward that the mode does not know.
    """

    def __init__(
        self, rules: Rules, encoding: AnyEncoding, reward: str | None, render_mode: str | None, record: bool
    ) -> None:
        check_mode(render_mode)
        self.rules = rules
        self.encoding = make_encoding(encoding)
        self._draws_planes = type(self.encoding) is Planes
        self._n_actions = tables(rules).n_actions
        self.scheme = check_scheme(rules, reward)
        self.is_dense = self.scheme in DENSE
        """Whether every turn is rewarded, not the end only."""
        self._no_reward = nothing(self.scheme, rules)
        self._no_reward.setflags(write=False)
        self._render_mode = render_mode
        self._names: list[str] = []
        self._move: Move | None = None
        self.keeps_record = record
        self.seed = 0
        self._one: OneGame | None = None
        self._recorder: Recorder | None = None

    def start(self, seed: int, agents: list[str]) -> None:
        """Deal a new game.

        Raises:
            TypeError, ValueError: for a seed that is not a whole number from 0 to 2**64 - 1; nothing has changed.
        """
        dealt = OneGame.deal(self.rules, seed)
        self._one, self.seed = dealt, int(seed)
        self._names, self._move = agents, None
        seeds = np.array([seed], dtype=np.uint64)
        self._recorder = Recorder(dealt.state, agents, seeds) if self.keeps_record else None

    @property
    def one(self) -> OneGame:
        """What the game is played by.

        Raises:
            RuntimeError: before the first reset.
        """
        if self._one is None:
            raise RuntimeError("call reset() first: there is no game yet")
        return self._one

    @property
    def current(self) -> State:
        """The game as it stands.

        Raises:
            RuntimeError: before the first reset.
        """
        return self.one.state

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.one.over

    @property
    def to_play(self) -> int:
        """The seat whose decision it is."""
        return self.one.to_play

    def play(self, action: int) -> NDArray[Any]:
        """In place: play an action; the reward of each seat, [P] (or [P, C]), not to be written to.

        Raises:
            IllegalAction: and nothing has changed.
        """
        one = self.one
        state = one.state
        if not 0 <= action < self._n_actions:  # it may be too large for an array
            raise IllegalAction(kernel.why_illegal(state, 0, action))
        before = state.scores.copy() if self.is_dense else state.scores
        move = self._move if self._render_mode is None else move_of(self.rules, action, self._move)
        if self._recorder is None:
            one.apply(action)
        else:
            with one.working():
                self._recorder.apply(np.array([action]))
        self._move = move
        if not self.is_dense and not one.over:
            return self._no_reward
        earned: NDArray[Any] = rewards(self.scheme, self.rules, before, state.scores, state.over)[0]
        return earned

    def view(self, seat: int) -> View:
        """What a seat sees."""
        return self.one.view(seat)

    def observe(self, seat: int) -> tuple[Any, NDArray[np.int8]]:
        """What a seat sees as the encoding has it, and its mask [A]."""
        if self._draws_planes and self.one.compiled is not None:
            planes_and_mask: tuple[Any, NDArray[np.int8]] = self.one.compiled.observe(seat)
            return planes_and_mask
        with self.working():
            seen = self.view(seat)
            return self.encode(seen), seen.mask()[0].astype(np.int8)

    def encode(self, seen: View) -> Any:
        """A view as the encoding has it, newly made, to be called while the game's backend is :meth:`working`."""
        return spaces.item_of(self.encoding.encode(seen), 0)

    def working(self) -> AbstractContextManager[None]:
        """All hot functions by the backend of this game until the end of a ``with`` block."""
        return self.one.working()

    def choose(self, policy: Policy, random: Bits) -> int:
        """What a policy plays for the seat to play, with these random bits [1]."""
        return self.one.choose(policy, random)

    def standings(self) -> dict[str, NDArray[np.int64]]:
        """For infos, as new arrays: the ranks of all tracks [T], 0 until the game is over, and their markers [T, C]."""
        scores = self.current.scores[0].astype(np.int64)
        ranks = ranking.ranks(scores) if self.over else np.zeros(len(scores), dtype=np.int64)
        return {"ranks": ranks, "scores": scores}

    def numbered(self, action: int) -> np.int64:
        """For infos: an illegal action's id; A for an action that there is not."""
        return np.int64(action if 0 <= action < self._n_actions else self._n_actions)

    def record(self) -> dict[str, Any]:
        """The game record so far.

        Raises:
            RuntimeError: where none is kept.
        """
        if self._recorder is None:
            raise RuntimeError("no record is kept: make the environment with record=True and reset it")
        return self._recorder.records()[0]

    def render(self, seat: int | None = None) -> Any:
        """The position as the render mode has it (:func:`genial_env.render.draw`), with the racks that a seat may see
        (None: all).
        """
        if self._render_mode is None:
            return None
        return draw(self._render_mode, self.current, seat=seat, names=self._names, move=self._move)

    def saved(self) -> dict[str, Any]:
        """An independent copy of all that changes."""
        return copy.deepcopy(
            {"one": self._one, "seed": self.seed, "recorder": self._recorder, "shown": (self._names, self._move)}
        )

    def restore(self, saved: dict[str, Any]) -> None:
        """In place: go back to what :meth:`saved` gave.

        Raises:
            TypeError, ValueError: for something else, or a game of other rules; nothing has changed.
        """
        self._check_saved(saved)
        kept = copy.deepcopy(saved)
        self._one, self.seed, self._recorder = kept["one"], kept["seed"], kept["recorder"]
        self._names, self._move = kept["shown"]

    def _check_saved(self, saved: Any) -> None:
        check_names(saved, ["one", "seed", "recorder", "shown"], "the saved game")
        one, recorder, shown = saved["one"], saved["recorder"], saved["shown"]
        as_integer(saved["seed"], "the saved game's seed", 0, 2**64 - 1)
        if one is not None:
            if not isinstance(one, OneGame):
                raise TypeError(f"the saved game must be one that get_state() gave, not {type(one).__name__}")
            check_games(one.state, self.rules, 1, "the saved game")
        is_kept = self.keeps_record and one is not None
        has_its_own = isinstance(recorder, Recorder) and one is not None and recorder.state is one.state
        if not (has_its_own if is_kept else recorder is None):
            raise ValueError(f"the saved game must have {'its' if is_kept else 'no'} record, as the environment has")
        if not isinstance(shown, tuple) or len(shown) != 2 or not isinstance(shown[1], Move | None):
            raise ValueError("the saved game must say what is shown of it, as get_state() does")
        if not isinstance(shown[0], list) or not all(isinstance(name, str) for name in shown[0]):
            raise ValueError(f"the saved game must have a list of names, not {shown[0]!r}")


LEGAL = np.int64(-1)
"""For infos: no illegal action. TorchRL's reader wants numpy's numbers."""


def move_of(rules: Rules, action: int, before: Move | None) -> Move | None:
    """The tile that an action lays; where it lays none, the one laid before."""
    words = decode(rules, action)
    return Move(words.first, words.second) if isinstance(words, Place) else before


def draw_game_seed(rng: np.random.Generator, options: Mapping[str, Any] | None) -> int:
    """The seed of the next game: ``options["game_seed"]`` where given, or else the next of the environment's stream.

    Other options are passed over, as the libraries' checks and wrappers send some.

    Raises:
        TypeError: for options that are no dict, or a seed that is not one whole number; nothing has been drawn.
        ValueError: for a seed out of 0 to 2**64 - 1.
    """
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"options must be a dict or None, not {options!r} ({type(options).__name__})")
    given = None
    if options and "game_seed" in options:
        given = as_integer(options["game_seed"], "options['game_seed']", 0, 2**64 - 1)
    drawn = int(rng.integers(2**53))  # also where a seed is given, so that the stream goes on alike
    return drawn if given is None else given


def as_action(action: Any) -> int:
    """An action as an int, which may lie outside of the action space: then it is illegal.

    Raises:
        TypeError: for something other than one whole number of 64 bits.
    """
    if type(action) is int and -(2**63) <= action < 2**63:
        return action
    value = np.asarray(action)
    if value.shape not in ((), (1,)) or value.dtype.kind not in "iu":
        raise TypeError(f"an action must be a whole number, not {action!r} ({type(action).__name__})")
    return int(value.reshape(()))
