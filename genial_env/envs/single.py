"""The Gymnasium environments: one learning seat against policies, and solo."""

import copy
from typing import Any, Unpack

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_integer
from genial_env.core.arrays import Bits, Bools
from genial_env.core.chance import as_seeds, bits
from genial_env.core.minigames import find_mini_game
from genial_env.envs import rewards, spaces
from genial_env.envs.action_formats import FlatActions, explain_illegal
from genial_env.envs.arguments import (
    LEARNER_DEFAULTS,
    VARIANT_DEFAULTS,
    LearnerArguments,
    argument_names,
    as_plain_seed,
    check_arguments,
    expand_signature,
)
from genial_env.envs.game import LEGAL, Game, draw_game_seed
from genial_env.envs.learner import INTERRUPTED, read_arguments
from genial_env.envs.opponents import draw_learner_seats
from genial_env.envs.saved import check_names, check_saved
from genial_env.errors import IllegalAction
from genial_env.policies.decisions import choice_keys
from genial_env.render import RENDER_MODES

__all__ = ["GenialEnv", "GenialMiniEnv", "GenialSoloEnv"]


class GenialEnv(gym.Env[Any, Any]):
    """Génial!/Ingenious with one learning seat. Policies play the other seats.

    ## Description

    A step plays one decision of the learning seat, and then all decisions of the other seats until the learner
    decides again or the game ends. Bonus placements and swaps are decisions of their own. ``docs/rules.md`` has the
    rules of the game.

    ## Observation space

    What the learning seat may know, in the format of the `encoding`: "planes" (default) is a Dict of uint8 arrays,
    "flat" one float32 vector, "tokens" one uint8 array of rows. An :class:`~genial_env.encodings.Encoding` or a
    function of views gives your own.

    ## Action space

    ``Discrete(A)``: ``slot * E + placement`` places a tile, ``K * E`` swaps the rack, ``K * E + 1`` declines. A is
    2882 with 2 seats, 4106 with 3 and 5546 with 4. Legal actions are 1 in ``info["action_mask"]`` (int8, (A,));
    :meth:`action_masks` returns them as bool. With ``action="factored"`` the space is ``MultiDiscrete([K + 2, E])``
    and the mask has K + 2 + E entries (:mod:`genial_env.envs.action_formats`).

    ## Rewards

    By default the final rank, from +1 (first) to -1 (last), at the end of the game. A step's reward covers everything
    between two decisions of the learner. :mod:`genial_env.envs.rewards` has the other schemes.

    ## Starting state

    A full bag, six tiles on each rack, an empty board except for the start symbols, all markers at 0. If another seat
    begins, it has played before ``reset`` returns.

    ## Episode end

    *Terminated*, if no two adjacent cells are free, if a track has all its markers at the end, or (by default) by an
    illegal action. A number outside of the action space is an illegal action, too. *Truncated*: never.

    If an exception or Ctrl-C interrupts a step or reset while the other seats play, the next step is a RuntimeError
    until :meth:`reset`.

    ## Information

    Numbers, with the same keys, shapes and dtypes at every reset and step:

    - ``action_mask``: see the action space;
    - ``ranks`` (T,) int64: the rank of each track; 0 until the game has ended;
    - ``scores`` (T, C) int64: the markers of each track;
    - ``illegal_action`` int64: the id of the illegal action that ended the episode, A for a number outside of the
      action space; -1 for none. :attr:`illegal_reason` says as text why it was illegal.

    ## Arguments

    `players`, `edition` and `mode` as in :class:`~genial_env.core.rules.Rules`. The keyword arguments are those of
    :class:`~genial_env.envs.arguments.LearnerArguments`, and `record`: True keeps a game record for
    :meth:`game_record`. The render mode "human" is known here only: it shows every reset and step.

    ``reset(options={"game_seed": n})`` deals the game of seed n. The learning seat and the opponents follow from the
    seed as well. With the same actions, the game is the same as in :func:`genial_env.play`.

    ## Version history

    v0: first version.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 2}  # noqa: RUF012  as Gymnasium declares it

    @expand_signature(LEARNER_DEFAULTS)
    def __init__(
        self,
        players: int = 2,
        edition: str = "2025",
        mode: str = "individual",
        *,
        record: bool = False,
        **arguments: Unpack[LearnerArguments],
    ) -> None:
        settings = read_arguments(GenialEnv, players, edition, mode, arguments)
        self.rules = settings.rules
        self.render_mode = settings.render_mode
        self._game = Game(self.rules, settings.encoding, settings.scheme, settings.render_mode, record)
        self._opponents = settings.opponents
        self._format = settings.action_format
        self._fixed_seat = settings.seat
        self._raises = settings.raises
        self.illegal_reason: str | None = None
        """Why the action of the last step was illegal; None if it was legal, and after a reset."""
        self._illegal = LEGAL  # info["illegal_action"]
        self._seat = 0
        self._finished = False
        self._settled = True  # False while the other seats play, and after an interruption
        self._players: list[int] = [0] * self.rules.players  # for each seat the opponent, as an index of the roster
        self._choices: Bits = np.zeros(self.rules.players, dtype=np.uint64)  # the keys of the seats' random bits
        self.observation_space = spaces.observation_space(self._game.encoding, self.rules)
        self.action_space = self._format.space
        if rewards.gives_vectors(self._game.scheme):
            self.reward_space = spaces.reward_space(self.rules, self._game.scheme)
            self.reward_dim = self.rules.colors

    @property
    def seat(self) -> int:
        """The learning seat of this game."""
        return self._seat

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deal a new game, and play it until the first decision of the learning seat.

        Args:
            seed: restarts the environment's stream of game seeds; None: the stream goes on.
            options: ``{"game_seed": n}`` deals the game of seed n; ``{"start": state}`` begins at a late position
                (:func:`genial_env.core.kernel.undealt_at`).

        Returns:
            The observation and the info.

        Raises:
            TypeError, ValueError: if the game seed is not a whole number from 0 to 2**64 - 1, or no game can begin at
                the position; then nothing has been dealt, and the game at hand goes on.
        """
        super().reset(seed=as_plain_seed(seed))
        seeds = as_seeds(draw_game_seed(self.np_random, options))
        seat = draw_learner_seats(self._fixed_seat, seeds, self.rules.players)
        players = self._opponents.assign(seeds, seat)[0].tolist()
        names = [self._opponents.roster[player].name if player >= 0 else "learner" for player in players]
        settled, self._settled = self._settled, False
        try:
            self._game.start(int(seeds[0]), names, options)
        except (TypeError, ValueError):
            self._settled = settled
            raise
        self._seat, self._players, self._finished = int(seat[0]), players, False
        self._illegal, self.illegal_reason = LEGAL, None
        self._choices = choice_keys(seeds, self.rules.players)[0]
        self._let_others_play()
        observed = self._observe()
        self._settled = True
        self._show()
        return observed

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play one decision of the learner, and then the other seats until its next one.

        Raises:
            RuntimeError: before the first reset, after the end of the episode, or after an interrupted step or reset.
            TypeError, ValueError: if the action does not have the form of an action.
            IllegalAction: if it is illegal, with ``illegal_action="raise"``; then nothing has changed.
        """
        game = self._game
        if not self._settled:
            raise RuntimeError(INTERRUPTED)
        if self._finished:
            raise RuntimeError("the episode is over: call reset() first")
        state, action_id = game.current, self._format.id(action)
        before = game.current.copy() if game.has_function else None
        self.illegal_reason, self._settled = None, False
        try:
            reward = game.play(action_id)[self._seat]
        except IllegalAction:
            self._settled = True
            reason = explain_illegal(self._format, state, 0, action, action_id)
            if self._raises:
                raise IllegalAction(reason) from None
            self._finished, self._illegal, self.illegal_reason = True, game.illegal_id(action_id), reason
            observation, info = self._observe()
            return observation, _reward(rewards.worst_reward(game.scheme, self.rules)), True, False, info
        reward = reward + self._let_others_play()
        if before is not None:
            reward = game.pay(before, action_id, [self._seat])[0]
        self._finished = game.over
        observation, info = self._observe()
        self._settled = True
        self._show()
        return observation, _reward(reward), self._finished, False, info

    def action_masks(self) -> Bools:
        """Return the mask of legal actions, bool [A] (factored [K + 2 + E]), as sb3-contrib asks for it.

        All entries are False when the game is over.
        """
        with self._game.use_backend():
            mask: Bools = self._format.mask(self._game.view(self._seat))[0]
            return mask.copy()

    def render(self) -> Any:
        """Draw the position in the render mode (:func:`genial_env.render.draw`), with the learner's rack."""
        return self._game.render(self._seat)

    def game_record(self) -> dict[str, Any]:
        """Return the record of the game so far; needs ``record=True``."""
        return self._game.record()

    def get_state(self) -> dict[str, Any]:
        """Return an independent copy of everything that changes, for :meth:`set_state`."""
        own = copy.deepcopy({name: getattr(self, name) for name in _KEPT})
        return {"game": self._game.save(), "own": own}

    def set_state(self, saved: dict[str, Any]) -> None:
        """In place: go back to what :meth:`get_state` returned. The given state is not changed.

        Raises:
            TypeError, ValueError: for anything else, or a game under other rules; then nothing has changed.
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
        """Show the position if the render mode is "human"."""
        if self.render_mode == "human":
            self.render()

    def _observe(self) -> tuple[Any, dict[str, Any]]:
        if isinstance(self._format, FlatActions):
            observation, mask = self._game.observe(self._seat)
        else:
            view = self._game.view(self._seat)
            with self._game.use_backend():
                observation, mask = self._game.encode(view), self._format.mask(view)[0].astype(np.int8)
        return observation, {"action_mask": mask, **self._game.standings(), "illegal_action": self._illegal}

    def _let_others_play(self) -> NDArray[Any] | float:
        """In place: play the other seats until the learner's next decision or the end.

        Returns:
            The learner's reward for that.
        """
        reward: NDArray[Any] | float = 0.0
        game = self._game
        while not game.over and game.to_play != self._seat:
            reward = reward + game.play(self._choose(game.to_play))[self._seat]
        return reward

    def _choose(self, seat: int) -> int:
        """Return the action of the policy on another seat, with the random bits it gets in :func:`genial_env.play`."""
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


_NOT_SOLO = ("players", "edition", "mode", "opponents", "seat", "reward", "rack", "one_bonus_a_tile")
SOLO = argument_names(GenialEnv, without=_NOT_SOLO)
"""The names of the further arguments of the solo environment."""


class GenialSoloEnv(GenialEnv):
    """The solo game: one tile is drawn and must be placed, then the next one. The result is the lowest marker.

    Everything that is not described here is as in :class:`GenialEnv`.

    ## Action space

    ``Discrete(480)``: the placements of the one tile. With ``action="factored"``: ``MultiDiscrete([1, 480])``.

    ## Rewards

    "lowest" (default): growth of the lowest marker, so that the return of an episode is the result, 0 to 36. Or
    "vector": growth of each marker.

    ## Arguments

    `edition`: "2004" (default) or "2009". `side`, `colors`, `tile_sets`, `encoding`, `reward`, `illegal_action`,
    `action`, `render_mode` and `record`.

    ## Version history

    v0: first version.
    """

    def __init__(
        self,
        edition: str = "2004",
        *,
        reward: str | rewards.RewardFunction = "lowest",
        **arguments: Any,
    ) -> None:
        check_arguments(type(self).__name__, arguments, SOLO, lambda: ["edition", "reward", *SOLO])
        super().__init__(1, edition, "solo", opponents=[], reward=reward, **arguments)


MINI = argument_names(GenialEnv, without=("players", "edition", "mode", "record", *VARIANT_DEFAULTS))
"""The names of the further arguments of the environment of mini games."""


class GenialMiniEnv(GenialEnv):
    """A mini game for two: a late position, small enough for exact results (:mod:`genial_env.core.minigames`).

    Everything that is not described here is as in :class:`GenialEnv`. ``docs/exploitability.md`` has the values of the
    games in equilibrium.

    ## Starting state

    The position of the mini game. Racks are dealt from its bag. Seat 0 begins.

    ## Arguments

    - game: the name of the mini game, one of :data:`genial_env.core.minigames.MINI_GAMES`;
    - `opponents`, `seat`, `encoding`, `reward`, `illegal_action`, `action` and `render_mode`.

    ## Version history

    v0: first version.
    """

    def __init__(self, game: str = "pairs", **arguments: Any) -> None:
        check_arguments(type(self).__name__, arguments, MINI, lambda: ["game", *MINI])
        self.mini_game = find_mini_game(game)
        rules = self.mini_game.rules.to_dict()
        super().__init__(**rules, **arguments)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deal a new game, and play it until the first decision of the learning seat, as :class:`GenialEnv` does."""
        return super().reset(seed=seed, options={**(options or {}), "start": self.mini_game.start})


def _reward(value: Any) -> Any:
    """Return a reward as a float, or as a float32 vector."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value, dtype=np.float32)
