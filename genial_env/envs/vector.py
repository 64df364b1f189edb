"""Gymnasium's vector environment, natively batched."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces as gym_spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from genial_env.core.arrays import Bools, Ints
from genial_env.encodings import AnyEncoding
from genial_env.envs import spaces
from genial_env.envs.arguments import arguments_of, check_arguments, make_rules
from genial_env.envs.batch import LearnerGames, OneByOne, SeedStreams, told_of_one
from genial_env.envs.forms import numeric_mask
from genial_env.envs.opponents import AnyOpponents
from genial_env.envs.saved import check_names, check_saved
from genial_env.render import RENDER_MODES, check_mode

VECTOR_MODES = [mode for mode in RENDER_MODES if mode != "human"]


class GenialVectorEnv(VectorEnv[Any, Any, Any], OneByOne):
    """Many games of :class:`~genial_env.envs.single.GenialEnv` at once, natively batched:
    ``gym.make_vec("genial_env/Genial-v0", num_envs=1024)``.

    With the same arguments, seeds and actions it plays the same games, and tells the same, as Gymnasium's
    ``vectorization_mode="sync"`` and ``"async"`` do with single environments, many times as fast. :meth:`call`,
    :meth:`get_attr` and :meth:`set_attr` are theirs, too.

    **Masks.** ``info["action_mask"]`` int8 (num_envs, A), and :meth:`action_masks` bool.

    **Resets.** ``autoreset_mode``: NEXT_STEP (default) starts a game anew in the step after its end, whose action is
    ignored; SAME_STEP does so at once, and has the last observation and info in ``info["final_obs"]`` and
    ``info["final_info"]``; DISABLED leaves it to ``reset(options={"reset_mask": ...})``.

    **Infos** are arrays with a first axis num_envs, the same ones at any time: ``action_mask``, ``ranks``
    (num_envs, T), ``scores`` (num_envs, T, C) and ``illegal_action`` (num_envs,), as in the single environment. Beside
    each is a mask ``"_" + name`` that says for which games it holds. ``get_attr("illegal_reason")`` has the texts.

    **Interruptions.** Where a step or reset is broken off, by an exception in an opponent or by Ctrl-C, the next step
    is a RuntimeError until :meth:`reset`.

    Args:
        num_envs: games at a time.
        players, edition, mode: as in :class:`~genial_env.core.rules.Rules`; `sizes` are its other arguments.
        opponents, seat, encoding, reward, illegal_action, action: as for the single environment; with reward "vector"
            rewards are (num_envs, C).
        autoreset_mode: an AutoresetMode or its value ("NextStep", "SameStep", "Disabled").
        render_mode: None, "ansi", "svg" or "rgb_array"; :meth:`render` gives one picture a game.

    Raises:
        ValueError: for arguments that do not fit the rules.
    """

    def __init__(
        self,
        num_envs: int = 1,
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
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **sizes: Any,
    ) -> None:
        check_mode(render_mode, VECTOR_MODES)
        self.rules = make_rules(GenialVectorEnv, players, edition, mode, sizes)
        self._games = LearnerGames(
            self.rules, num_envs, opponents, seat, encoding, reward, illegal_action, action, render_mode
        )
        self.num_envs = num_envs = len(self._games.everyone)
        self.render_mode = render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": VECTOR_MODES, "render_fps": 2, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = spaces.observation_space(self._games.encoding, self.rules)
        self.single_action_space = self._games.form.space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        if self._games.scheme == "vector":
            self.reward_space: gym_spaces.Box = spaces.reward_space(self.rules)
            self.reward_dim = self.rules.colors
        self._streams = SeedStreams(num_envs)
        self._ended: Bools = np.zeros(num_envs, dtype=np.bool_)
        self._told_of_one = told_of_one(self._games, render_mode)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]  # one for each game, as in SyncVectorEnv
        """What each game's stream of seeds started from."""
        return tuple(self._streams.seeds)

    @property  # type: ignore[misc]  # not to be set
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """Each game's stream of seeds."""
        return self._streams.generators

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Deal new games.

        Args:
            seed: starts the streams of games anew, game i's with ``seed + i``, or one each; left out, they go on.
            options: ``{"reset_mask": bool [num_envs]}`` resets some games only; ``{"game_seed": n}`` deals the game of
                that seed.

        Returns:
            The observations, and the infos; with a reset mask only of the games reset.

        Raises:
            ValueError, TypeError: for seeds or a mask that do not fit.
        """
        options = dict(options or {})
        rows = self._rows_to_reset(options)
        seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int | np.integer) else seed
        if seeds is not None and len(seeds) != self.num_envs:
            raise ValueError(f"seeds must be one a game, {self.num_envs}, not {len(seeds)}")
        if not self._games.started[~np.isin(self._games.everyone, rows)].all():
            raise RuntimeError("the first reset must be of all games")
        if seeds is not None:
            self._streams.restart({row: seeds[row] for row in rows.tolist() if seeds[row] is not None})
        self._games.start(rows, self._streams.draw(rows, [options] * len(rows)))
        self._ended[rows] = False
        observation, mask = self._see()
        return observation, self._infos(rows, mask[rows], np.full(len(rows), -1))

    def step(self, actions: Any) -> tuple[Any, NDArray[np.float64], Bools, Bools, dict[str, Any]]:
        """Play one decision of every learner, and the others up to its next one.

        Args:
            actions: one for each game: (num_envs,), factored (num_envs, 2).

        Returns:
            Observations, rewards float64 (num_envs,), terminations, truncations (never), infos.

        Raises:
            RuntimeError: before the first reset, after a step or reset that was broken off, or, with autoreset
                disabled, for a game that has ended.
            TypeError, ValueError: for something that is no batch of actions.
            IllegalAction: with ``illegal_action="raise"``; nothing has changed.
        """
        games, actions = self._games, np.asarray(actions)
        if self._ended.any() and self.autoreset_mode == AutoresetMode.DISABLED:
            raise RuntimeError(f"reset the games that have ended first: {np.flatnonzero(self._ended).tolist()}")
        rows = np.flatnonzero(~self._ended)
        rewards = games.no_reward()
        rewards[rows], illegal = games.step(actions[rows] if len(rows) < self.num_envs else actions, rows)
        if len(rows) < self.num_envs:
            anew = np.flatnonzero(self._ended)
            games.start(anew, self._streams.draw(anew))
        ended = np.zeros(self.num_envs, dtype=np.bool_)
        ended[rows] = games.state.over[rows]
        ended |= illegal >= 0
        final: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            done = np.flatnonzero(ended)
            if done.size:
                final = self._final(done, illegal[done])
                games.start(done, self._streams.draw(done))
                illegal[done] = -1
        else:
            self._ended = ended.copy()
        observation, mask = self._see()
        infos = final | self._infos(games.everyone, mask, illegal)
        games.settle()
        return observation, rewards, ended, np.zeros(self.num_envs, dtype=np.bool_), infos

    def action_masks(self) -> Bools:
        """[num_envs, A] bool (factored: one entry a value): the playable actions; none where a game has ended."""
        return self._games.masks()

    def render(self) -> tuple[Any, ...] | None:
        """Each position as the render mode has it (:func:`genial_env.render.draw`), with the learner's rack."""
        return None if self.render_mode is None else self.call("render")

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """What a method of each game returns, or its attribute, as in Gymnasium's SyncVectorEnv.

        The games have what single environments have, but for what would play on one alone
        (:class:`~genial_env.envs.batch.OneOfMany`).

        Raises:
            AttributeError: for one that there is not, listing those that there are.
        """
        if name == "action_masks":
            return tuple(self.action_masks())
        found = [getattr(game, name) for game in self._each()]
        return tuple(each(*args, **kwargs) if callable(each) else each for each in found)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of each game."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """In place: an attribute for each game.

        Args:
            name: of the attribute.
            values: a list or a tuple with one a game; anything else is for all of them.

        Raises:
            ValueError: for a wrong number of values.
            AttributeError: for an attribute that cannot be set.
        """
        each = list(values) if isinstance(values, list | tuple) else [values] * self.num_envs
        if len(each) != self.num_envs:
            raise ValueError(f"values must be one a game, {self.num_envs}, not {len(each)}")
        for game, value in zip(self._each(), each, strict=True):
            setattr(game, name, value)

    def get_state(self) -> dict[str, Any]:
        """An independent copy of all that changes, for :meth:`set_state`."""
        return {"games": self._games.saved(), "streams": copy.deepcopy(self._streams), "ended": self._ended.copy()}

    def set_state(self, saved: dict[str, Any]) -> None:
        """In place: go back to what :meth:`get_state` gave; the state given stays as it is.

        Raises:
            TypeError, ValueError: for something else, or games of other rules or another number; nothing has changed.
        """
        check_names(saved, ["games", "streams", "ended"], "the saved state")
        own = {name: saved[name] for name in ("streams", "ended")}
        check_saved(own, {"streams": self._streams, "ended": self._ended}, "the saved environment")
        self._games.restore(saved["games"])
        self._streams, self._ended = copy.deepcopy(saved["streams"]), saved["ended"].copy()

    def close_extras(self, **kwargs: Any) -> None:
        """Nothing to release."""

    def _rows_to_reset(self, options: dict[str, Any]) -> Ints:
        """In place: takes the reset mask out of the options."""
        if "reset_mask" not in options:
            return self._games.everyone
        mask = options.pop("reset_mask")
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"options['reset_mask'] must be a numpy array of bools, not {mask!r}")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(
                f"options['reset_mask'] must have the shape ({self.num_envs},) and a True, not {mask.shape} {mask!r}"
            )
        return np.flatnonzero(mask)

    def _see(self) -> tuple[Any, NDArray[np.int8]]:
        seen = self._games.view()
        return spaces.batch_of(self._games.encoding.encode(seen)), numeric_mask(self._games.form, seen)

    def _infos(self, rows: Ints, masks: NDArray[np.int8], illegal: Ints) -> dict[str, Any]:
        """Infos that hold for some games, from their masks [G, entries] and illegal actions [G]."""
        told: dict[str, NDArray[Any]] = {"action_mask": masks, **self._games.standings(rows), "illegal_action": illegal}
        return _of_some(self.num_envs, rows, told)

    def _final(self, done: Ints, illegal: Ints) -> dict[str, Any]:
        """Last observations and infos of games that are about to be dealt anew."""
        seen = self._games.view(done)
        arrays = self._games.encoding.encode(seen)
        last = np.full(self.num_envs, None, dtype=object)
        for index, row in enumerate(done.tolist()):
            last[row] = spaces.item_of(arrays, index)
        masks = numeric_mask(self._games.form, seen)
        info = self._infos(done, masks, illegal)
        which = np.zeros(self.num_envs, dtype=np.bool_)
        which[done] = True
        return {"final_obs": last, "_final_obs": which, "final_info": info, "_final_info": which.copy()}


_NOT_SOLO = ("num_envs", "players", "edition", "mode", "opponents", "seat", "reward", "rack")
SOLO = arguments_of(GenialVectorEnv, without=_NOT_SOLO)
"""The names of the solo environment's further arguments."""


class GenialSoloVectorEnv(GenialVectorEnv):
    """Many solo games at once: ``gym.make_vec("genial_env/GenialSolo-v0", num_envs=1024)``.

    As :class:`GenialVectorEnv`, with the arguments of :class:`~genial_env.envs.single.GenialSoloEnv`.
    """

    def __init__(self, num_envs: int = 1, edition: str = "2004", *, reward: str = "lowest", **arguments: Any) -> None:
        check_arguments(type(self).__name__, arguments, SOLO, lambda: ["num_envs", "edition", "reward", *SOLO])
        super().__init__(num_envs, 1, edition, "solo", opponents=[], reward=reward, **arguments)


def _of_some(n_games: int, rows: Ints, values: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Infos that hold for some games: every array [len(rows), ...] spread over all of them, beside its mask."""
    infos: dict[str, Any] = {}
    for name, value in values.items():
        which = np.zeros(n_games, dtype=np.bool_)
        which[rows] = True
        if len(rows) == n_games:
            whole = value
        else:
            whole = np.zeros((n_games, *value.shape[1:]), dtype=value.dtype)
            whole[rows] = value
        infos |= {name: whole, f"_{name}": which}
    return infos
