"""What the environments for one game at a time share: a game, its seeds, saving it, its record and its picture."""

import copy
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env import kernel
from genial_env.chance import Bits
from genial_env.encodings import AnyEncoding, make_encoding
from genial_env.encodings.planes import Planes
from genial_env.envs import spaces
from genial_env.envs.one import OneGame
from genial_env.envs.rewards import DENSE, check_scheme, nothing, rewards
from genial_env.policies import Policy
from genial_env.record import Recorder
from genial_env.render.ansi import board_text
from genial_env.rules import Rules
from genial_env.state import State
from genial_env.views import View

RENDER_MODES = ["ansi", "human"]


class Game:
    """One game inside an environment.

    Args:
        rules: the rules.
        encoding: of observations: a name, an :class:`~genial_env.encodings.Encoding`, or a function of the views.
        reward: the scheme's name (:mod:`genial_env.envs.rewards`), None for the mode's own.
        render_mode: None, "ansi" (text is returned) or "human" (text is printed).
        record: whether to keep a game record.

    Raises:
        ValueError: for an unknown encoding, reward or render mode, or a reward that the mode does not know.
    """

    def __init__(
        self, rules: Rules, encoding: AnyEncoding, reward: str | None, render_mode: str | None, record: bool
    ) -> None:
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"unknown render mode {render_mode!r}: the modes are None, {', '.join(RENDER_MODES)}")
        self.rules = rules
        self.encoding = make_encoding(encoding)
        self._draws_planes = type(self.encoding) is Planes
        self.scheme = check_scheme(rules, reward)
        self.is_dense = self.scheme in DENSE
        """Whether every turn is rewarded, not the end only."""
        self._no_reward = nothing(self.scheme, rules)
        self._no_reward.setflags(write=False)
        self._render_mode = render_mode
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
        before = state.scores.copy() if self.is_dense else state.scores
        if self._recorder is None:
            one.apply(action)
        else:
            with one.working():
                self._recorder.apply(np.array([action]))
        if not self.is_dense and not one.over:
            return self._no_reward
        earned: NDArray[Any] = rewards(self.scheme, self.rules, before, state.scores, state.over)[0]
        return earned

    def view(self, seat: int) -> View:
        """What a seat sees."""
        return self.one.view(seat)

    def look(self, seat: int) -> tuple[Any, NDArray[np.int8]]:
        """What a seat sees as the encoding has it, and its mask [A]."""
        if self._draws_planes and self.one.compiled is not None:
            planes_and_mask: tuple[Any, NDArray[np.int8]] = self.one.compiled.look(seat)
            return planes_and_mask
        with self.working():
            seen = self.view(seat)
            return self.observe(seen), seen.mask()[0].view(np.int8)

    def observe(self, seen: View) -> Any:
        """A view as the encoding has it, to be called while the game's backend is :meth:`working`."""
        return spaces.item_of(self.encoding.encode(seen), 0)

    def working(self) -> AbstractContextManager[None]:
        """All hot functions by the backend of this game until the end of a ``with`` block."""
        return self.one.working()

    def choose(self, policy: Policy, random: Bits) -> int:
        """What a policy plays for the seat to play, with these random bits [1]."""
        return self.one.choose(policy, random)

    def results(self) -> dict[str, Any]:
        """For infos at the end: the ranks and markers of all tracks."""
        scores = self.current.scores[0]
        return {"ranks": kernel.ranks(scores).tolist(), "scores": scores.tolist()}

    def record(self) -> dict[str, Any]:
        """The game record so far.

        Raises:
            RuntimeError: where none is kept.
        """
        if self._recorder is None:
            raise RuntimeError("no record is kept: make the environment with record=True and reset it")
        return self._recorder.records()[0]

    def render(self, seat: int | None = None) -> str | None:
        """The position as colored text, with the racks that a seat may see (None: all); "human" prints it."""
        if self._render_mode is None:
            return None
        text = board_text(self.current, seat=seat)
        if self._render_mode == "ansi":
            return text
        print(text, end="\n\n")
        return None

    def saved(self) -> dict[str, Any]:
        """An independent copy of all that changes."""
        return copy.deepcopy({"one": self._one, "seed": self.seed, "recorder": self._recorder})

    def restore(self, saved: dict[str, Any]) -> None:
        """In place: go back to what :meth:`saved` gave."""
        kept = copy.deepcopy(saved)
        self._one, self.seed, self._recorder = kept["one"], kept["seed"], kept["recorder"]


def draw_game_seed(rng: np.random.Generator, options: dict[str, Any] | None) -> int:
    """The seed of the next game: ``options["game_seed"]`` where given, or else the next of the environment's stream.

    Other options are passed over, as the libraries' checks and wrappers send some. Whether it is a seed is for
    :func:`genial_env.kernel.deal` to say.
    """
    drawn = int(rng.integers(2**53))  # also where a seed is given, so that the stream goes on alike
    seed: int = (options or {}).get("game_seed", drawn)
    return seed


def as_action(action: Any, n_actions: int) -> int:
    """An action as an int.

    Raises:
        TypeError: for something other than a whole number.
        ValueError: for a number outside 0..A-1.
    """
    if type(action) is int and 0 <= action < n_actions:
        return action
    value = np.asarray(action)
    if value.shape not in ((), (1,)) or value.dtype.kind not in "iu":
        raise TypeError(f"an action must be a whole number, not {action!r} ({type(action).__name__})")
    number = int(value.reshape(()))
    if not 0 <= number < n_actions:
        raise ValueError(f"actions run from 0 to {n_actions - 1}, not {number}")
    return number
