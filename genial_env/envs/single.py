"""The Gymnasium environments: one learning seat against policies, and solo."""

import copy
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_integer
from genial_env.core.bitsets import Bools
from genial_env.core.chance import Bits, as_seeds, bits
from genial_env.encodings import AnyEncoding
from genial_env.envs import rewards, spaces
from genial_env.envs.arguments import arguments_of, as_plain_seed, check_arguments, make_rules
from genial_env.envs.forms import Flat, make_form, why_illegal
from genial_env.envs.game import LEGAL, Game, draw_game_seed
from genial_env.envs.opponents import AnyOpponents, Opponents, check_seat, learner_seats
from genial_env.envs.saved import check_names, check_saved
from genial_env.errors import IllegalAction
from genial_env.policies.decisions import choice_keys
from genial_env.render import RENDER_MODES

ILLEGAL_ACTION = ("end", "raise")

BROKEN_OFF = "the last step or reset was broken off, so the others may not have played: call reset() first"


class GenialEnv(gym.Env[Any, Any]):
    """Génial!/Ingenious as a single-agent environment: one learning seat, the others played by policies.

    **Observation.** What the seat may know, by the chosen encoding: "planes" (a Dict of uint8 arrays, default), "flat"
    (one float32 vector), "tokens" (one uint8 array of rows), an :class:`~genial_env.encodings.Encoding` of your own, or
    a function from views to arrays.

    **Actions.** ``Discrete(A)``: ``slot * E + placement``, then swap, then decline; A is 2882, with 3 seats 4106, with
    4 seats 5546. The playable ones are in ``info["action_mask"]`` (int8, shape (A,)) and :meth:`action_masks` (bool).
    With ``action="factored"`` it is ``MultiDiscrete([K + 2, E])`` and the mask has K + 2 + E entries
    (:mod:`genial_env.envs.forms`).

    **Steps.** A step plays one decision of the learning seat, bonus placements and swaps included, and then everybody
    else's up to its next one. So a step's reward is all that happened between two own decisions.

    **Rewards.** By default +1 for the first rank to -1 for the last, at the end. The others:
    :mod:`genial_env.envs.rewards`.

    **Termination.** When the game ends: no two adjacent free cells are left, or a track has all markers at its end. It
    is never truncated.

    **Infos** are numbers, the same names, shapes and types at any time: ``action_mask``; ``ranks`` (T,) int64, 0 until
    the game has ended; ``scores`` (T, C) int64, the markers now; ``illegal_action``, the id of an illegal action that
    ended the episode, A for one outside of the action space, else -1. :attr:`illegal_reason` says why, as text.

    **Interruptions.** Where a step or reset is broken off, by an exception in an opponent or by Ctrl-C, the next step
    is a RuntimeError until :meth:`reset`.

    **Arguments.** Those of :class:`~genial_env.core.rules.Rules`, and

    - opponents: "random" (default), "greedy", "concave", "denial", a policy, a
      :class:`~genial_env.envs.opponents.Pool` of them to draw from for every game, or a list with one of these for each
      other seat, clockwise from the learner;
    - seat: 0 (default) to P - 1, or "random" to draw it for every game;
    - encoding: "planes" (default), "flat", "tokens", or your own;
    - action: "flat" (default) or "factored";
    - reward: "rank" (default), "margin", "lowest", "vector";
    - illegal_action: "end" (default) ends the episode with the worst reward, the game
      unchanged; "raise" raises :class:`~genial_env.errors.IllegalAction`. A number outside of the action space is an
      illegal action, too;
    - render_mode: None; "ansi", "svg" or "rgb_array": :meth:`render` returns text, a vector drawing or pixels, with the
      rack that the seat may see; "human": shown at every step (:func:`genial_env.render.draw`);
    - record: True keeps a game record for :meth:`game_record`.

    ``reset(options={"game_seed": n})`` deals the game of that seed, learning seat and opponents drawn from it too: with
    the same actions it goes as in :func:`genial_env.play`.

    **Version history.** v0: first version.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 2}  # noqa: RUF012  as Gymnasium declares it

    def __init__(
        self,
        players: int = 2,
        edition: str = "2025",
        mode: str = "individual",
        *,
        opponents: AnyOpponents = "random",
        seat: int | str = 0,
        encoding: AnyEncoding = "planes",
        reward: str | None = None,
        illegal_action: str = "end",
        action: str = "flat",
        render_mode: str | None = None,
        record: bool = False,
        **sizes: Any,
    ) -> None:
        self.rules = make_rules(GenialEnv, players, edition, mode, sizes)
        self.render_mode = render_mode
        self._game = Game(self.rules, encoding, reward, render_mode, record)
        self._opponents = Opponents(opponents, self.rules)
        self._form = make_form(action, self.rules)
        self._wanted_seat = check_seat(seat, self.rules)
        self._illegal_action = check_illegal_action(illegal_action)
        self.illegal_reason: str | None = None
        """Why the action of the last step was illegal; None where it was not."""
        self._illegal = LEGAL  # the illegal action that ended the episode, as infos number it
        self._seat = 0
        self._finished = False
        self._settled = True  # False where a step or reset was broken off
        self._players: list[int] = [0] * self.rules.players  # who of the opponents' roster plays each seat
        self._choices: Bits = np.zeros(self.rules.players, dtype=np.uint64)  # the seats' streams of choices
        self.observation_space = spaces.observation_space(self._game.encoding, self.rules)
        self.action_space = self._form.space
        if self._game.scheme == "vector":
            self.reward_space = spaces.reward_space(self.rules)
            self.reward_dim = self.rules.colors

    @property
    def seat(self) -> int:
        """The learning seat of this game."""
        return self._seat

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deal a new game and play up to the learning seat's first decision.

        Args:
            seed: starts the environment's stream of games anew; left out, the stream goes on.
            options: ``{"game_seed": n}`` deals the game of that seed.

        Returns:
            The observation and the info.

        Raises:
            TypeError, ValueError: for a game seed that is none; nothing has been dealt.
        """
        super().reset(seed=as_plain_seed(seed))
        seeds = as_seeds(draw_game_seed(self.np_random, options))
        seat = learner_seats(self._wanted_seat, seeds, self.rules.players)
        players = self._opponents.seated(seeds, seat)[0].tolist()
        names = [self._opponents.roster[player].name if player >= 0 else "learner" for player in players]
        self._settled = False
        self._game.start(int(seeds[0]), names)
        self._seat, self._players, self._finished, self._illegal = int(seat[0]), players, False, LEGAL
        self._choices = choice_keys(seeds, self.rules.players)[0]
        self._let_others_play()
        seen = self._see()
        self._settled = True
        self._show()
        return seen

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play one decision, and the others up to the next one.

        Raises:
            RuntimeError: before the first reset, when the episode is over, or after a step or reset was broken off.
            TypeError, ValueError: for something that does not have the form of an action.
            IllegalAction: with ``illegal_action="raise"``; nothing has changed.
        """
        game = self._game
        if not self._settled:
            raise RuntimeError(BROKEN_OFF)
        if self._finished:
            raise RuntimeError("the episode is over: call reset() first")
        state, number = game.current, self._form.id(action)
        self.illegal_reason, self._settled = None, False
        try:
            reward = game.play(number)[self._seat]
        except IllegalAction:
            self._settled = True
            reason = why_illegal(self._form, state, 0, action, number)
            if self._illegal_action == "raise":
                raise IllegalAction(reason) from None
            self._finished, self._illegal, self.illegal_reason = True, game.illegal_id(number), reason
            observation, info = self._see()
            return observation, _reward(rewards.worst_reward(game.scheme, self.rules)), True, False, info
        reward = reward + self._let_others_play()
        self._finished = game.over
        observation, info = self._see()
        self._settled = True
        self._show()
        return observation, _reward(reward), self._finished, False, info

    def action_masks(self) -> Bools:
        """[A] bool (factored: one entry a value): the playable actions, as sb3-contrib asks for them; none when the
        game is over.
        """
        with self._game.use_backend():
            mask: Bools = self._form.mask(self._game.view(self._seat))[0]
            return mask.copy()

    def render(self) -> Any:
        """The position as the render mode has it (:func:`genial_env.render.draw`), "human" shown by every step, too."""
        return self._game.render(self._seat)

    def game_record(self) -> dict[str, Any]:
        """The record of the game so far; needs ``record=True``."""
        return self._game.record()

    def get_state(self) -> dict[str, Any]:
        """An independent copy of all that changes, for :meth:`set_state`."""
        own = copy.deepcopy({name: getattr(self, name) for name in _KEPT})
        return {"game": self._game.save(), "own": own}

    def set_state(self, saved: dict[str, Any]) -> None:
        """In place: go back to what :meth:`get_state` gave; the state given stays as it is.

        Raises:
            TypeError, ValueError: for something else, or games of other rules or another number; nothing has changed.
        """
        check_names(saved, ["game", "own"], "the saved state")
        own = check_saved(saved["own"], {name: getattr(self, name) for name in _KEPT}, "the saved environment")
        as_integer(own["_seat"], "the saved seat", 0, self.rules.players - 1)
        for player in own["_players"]:
            as_integer(player, "the saved opponents", -1, max(0, len(self._opponents.roster) - 1))
        if len(own["_players"]) != self.rules.players:
            raise ValueError(f"the saved opponents must be {self.rules.players}, not {len(own['_players'])}")
        self._game.restore(saved["game"])
        own = copy.deepcopy(own)
        for name in _KEPT:
            setattr(self, name, own[name])

    def _show(self) -> None:
        """Human mode shows every step by itself."""
        if self.render_mode == "human":
            self.render()

    def _see(self) -> tuple[Any, dict[str, Any]]:
        if isinstance(self._form, Flat):
            observation, mask = self._game.observe(self._seat)
        else:
            view = self._game.view(self._seat)
            with self._game.use_backend():
                observation, mask = self._game.encode(view), self._form.mask(view)[0].astype(np.int8)
        return observation, {"action_mask": mask, **self._game.standings(), "illegal_action": self._illegal}

    def _let_others_play(self) -> NDArray[Any] | float:
        """In place: play up to the learner's next decision or the end; what that brought the learner."""
        brought: NDArray[Any] | float = 0.0
        game = self._game
        while not game.over and game.to_play != self._seat:
            brought = brought + game.play(self._choose(game.to_play))[self._seat]
        return brought

    def _choose(self, seat: int) -> int:
        """What the policy of another seat plays, with the luck it has in :func:`genial_env.play`."""
        policy = self._opponents.roster[self._players[seat]]
        return self._game.choose(policy, bits(self._choices[seat], self._game.current.decisions))


_KEPT = (
    "_seat",
    "_finished",
    "_settled",
    "_illegal",
    "illegal_reason",
    "_players",
    "_choices",
    "_np_random",
    "_np_random_seed",
)


SOLO = arguments_of(GenialEnv, without=("players", "edition", "mode", "opponents", "seat", "reward", "rack"))
"""The names of the solo environment's further arguments."""


class GenialSoloEnv(GenialEnv):
    """The solo game: one tile is drawn and must be laid, then the next; the lowest marker at the end counts, 0 to 36.

    As :class:`GenialEnv` without opponents. ``Discrete(480)`` actions, all of them placements of the one tile.

    **Rewards.** "lowest" (default): growth of the lowest marker, so that an episode's return is the result; or
    "vector".

    **Arguments.** edition ("2004", default, or "2009"), side, colors, tile_sets; encoding, reward, illegal_action,
    action, render_mode and record as there.

    **Version history.** v0: first version.
    """

    def __init__(
        self,
        edition: str = "2004",
        *,
        reward: str = "lowest",
        **arguments: Any,
    ) -> None:
        check_arguments(type(self).__name__, arguments, SOLO, lambda: ["edition", "reward", *SOLO])
        super().__init__(1, edition, "solo", opponents=[], reward=reward, **arguments)


def check_illegal_action(choice: str) -> str:
    """What is to be done about illegal actions.

    Raises:
        ValueError: for an unknown choice.
    """
    if choice not in ILLEGAL_ACTION:
        raise ValueError(f"illegal_action must be 'end' or 'raise', not {choice!r}")
    return choice


def _reward(value: Any) -> Any:
    """A float, or a vector of float32."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value, dtype=np.float32)
