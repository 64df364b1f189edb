"""A Stable-Baselines3 VecEnv that steps all its games in one kernel batch, the opponents' included."""

import copy
import time
import warnings
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from genial_env.core.arrays import Bits, Bools, Ints
from genial_env.encodings import AnyEncoding
from genial_env.envs import spaces
from genial_env.envs.arguments import make_rules
from genial_env.envs.batch import LearnerGames, OneByOne, OneOfMany, SeedStreams, told_of_one
from genial_env.envs.opponents import AnyOpponents
from genial_env.envs.saved import check_names, check_saved
from genial_env.envs.vector import VECTOR_MODES
from genial_env.render import check_mode


class GenialVecEnv(VecEnv, OneByOne):
    """Many games of :class:`~genial_env.envs.single.GenialEnv` at once, natively batched, for Stable-Baselines3.

    A step plays one decision of the learning seat in every game and then everybody else's up to the learner's next one,
    all games together. So a transition runs from an own decision to the next own one, bonus placements included, and
    its reward is all that happened in between. Finished games are dealt anew at once, as SB3 expects.

    **Infos** are numbers, the same ones at any time, at resets in :attr:`reset_infos`: ``ranks``, ``scores`` and
    ``illegal_action`` as in the single environment, ``seat``, ``opponents`` (numbers of :attr:`opponent_names`,
    clockwise from the learner), and ``game_seed``, 0 until the game has ended. At the end, as SB3 wants it, besides:
    ``terminal_observation`` and ``episode`` (return, length, time). ``get_attr("illegal_reason")`` has the texts.

    ``env_method("action_masks")`` gives the masks of all games, bool [num_envs, A], as sb3-contrib asks for them.

    With the same arguments and seeds it plays the same games as a DummyVecEnv of single environments in Monitors, and
    has the same attributes and methods, but for what would play on one game alone.

    **Interruptions.** Where a step or reset is broken off, by an exception in an opponent or by Ctrl-C, the next step
    is a RuntimeError until :meth:`reset`.

    Args:
        num_envs: games at a time.
        players, edition, mode: as in :class:`~genial_env.core.rules.Rules`; `sizes` are its other arguments.
        opponents, seat, encoding, action: as for the single environment.
        reward: "rank", "margin" or "lowest"; SB3 knows no vectors.
        illegal_action: "end" ends the episode with the worst reward; "raise" raises.
        render_mode: None, "ansi", "svg" or "rgb_array", of which :meth:`get_images` and :meth:`render` make pictures.
        seed: of the streams of games, game i's being ``seed + i``.

    Raises:
        ValueError: for arguments that do not fit the rules.
    """

    def __init__(
        self,
        num_envs: int,
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
        seed: int = 0,
        **sizes: Any,
    ) -> None:
        check_mode(render_mode, VECTOR_MODES)
        self.rules = make_rules(GenialVecEnv, players, edition, mode, sizes)
        games = LearnerGames(
            self.rules, num_envs, opponents, seat, encoding, reward, illegal_action, action, render_mode
        )
        num_envs = len(games.everyone)
        if games.scheme == "vector":
            raise ValueError(
                "Stable-Baselines3 takes one number a step: reward 'vector' is for Gymnasium's environments"
            )
        self._games = games
        self._streams = SeedStreams(num_envs)
        self._told_of_one = told_of_one(games, render_mode)
        super().__init__(num_envs, self._told_of_one["observation_space"], games.form.space)
        self.metadata = self._told_of_one["metadata"]
        self._everyone = games.everyone
        self._actions: Any = None
        self._began = np.zeros(num_envs)
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, dtype=np.int64)
        self.seed(seed)

    # What SB3 calls

    def reset(self) -> VecEnvObs:
        """Deal a new game everywhere, with what :meth:`seed` and :meth:`set_options` have said for this reset.

        Raises:
            TypeError, ValueError: for seeds or options that are none; the games stay as they were.
        """
        self._streams.restart({row: seed for row, seed in enumerate(self._seeds) if seed is not None})
        seeds = self._streams.draw(self._everyone, self._options)
        self._deal(self._everyone, seeds)
        self._reset_seeds()
        self._reset_options()
        observation: VecEnvObs = self._see()
        return observation

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions of the next step, [num_envs]; factored [num_envs, 2]."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Play them, then the others, and deal finished games anew.

        Raises:
            RuntimeError: before the first reset, or after a step or reset that was broken off.
            TypeError, ValueError: for something that is no batch of actions.
            IllegalAction: with ``illegal_action="raise"``; nothing has changed.
        """
        games = self._games
        earned, illegal = games.step(self._actions, self._everyone)
        self._returns += earned
        self._lengths += 1
        done = games.state.over | (illegal >= 0)
        infos = self._infos(self._everyone, illegal, done)
        ended = np.flatnonzero(done)
        if ended.size:
            self._tell_ends(infos, ended)
            self._deal(ended, self._streams.draw(ended))
        observation = self._see()
        games.settle()
        return observation, earned.astype(np.float32), done, infos

    def close(self) -> None:
        """Nothing to release."""

    def action_masks(self) -> Bools:
        """[num_envs, A] (factored: one entry a value): the playable actions of every game."""
        return self._games.masks()

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> Any:
        """What a method of single games returns, of all or of some: for ``"action_masks"`` an array with a first axis
        for the games, else a list.

        The games have what single environments have, but for what would play on one alone
        (:class:`~genial_env.envs.batch.OneOfMany`).

        Raises:
            AttributeError: for a method that there is not, listing those that there are.
        """
        if method_name == "action_masks":
            return self.action_masks() if indices is None else self.action_masks()[list(self._get_indices(indices))]
        return [getattr(game, method_name)(*args, **kwargs) for game in self._some(indices)]

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of each game asked about.

        Raises:
            AttributeError: for one that there is not, listing those that there are.
        """
        return [getattr(game, attr_name) for game in self._some(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """In place: an attribute of each game named.

        Raises:
            AttributeError: for one that cannot be set.
        """
        for game in self._some(indices):
            setattr(game, attr_name, value)

    def env_is_wrapped(self, wrapper_class: type[gym.Wrapper], indices: VecEnvIndices = None) -> list[bool]:
        """Whether the games are wrapped: in Monitor as good as, since infos have its ``episode``; else not."""
        return [issubclass(Monitor, wrapper_class)] * len(self._some(indices))

    def get_images(self) -> Sequence[np.ndarray | None]:
        """A picture of each game, with ``render_mode="rgb_array"``; else None each, and a warning."""
        if self.render_mode != "rgb_array":
            warnings.warn(f"get_images() needs render_mode='rgb_array', not {self.render_mode!r}", stacklevel=2)
        return [game.render() if self.render_mode == "rgb_array" else None for game in self._each()]

    def get_state(self) -> dict[str, Any]:
        """An independent copy of all that changes, for :meth:`set_state`."""
        own = copy.deepcopy({name: getattr(self, name) for name in _KEPT})
        return {"games": self._games.saved(), "own": own}

    def set_state(self, saved: dict[str, Any]) -> None:
        """In place: go back to what :meth:`get_state` gave; the state given stays as it is.

        Raises:
            TypeError, ValueError: for something else, or games of other rules or another number; nothing has changed.
        """
        check_names(saved, ["games", "own"], "the saved state")
        known = {name: getattr(self, name) for name in _KEPT} | {"_actions": None}
        own = check_saved(saved["own"], known, "the saved environment")
        self._games.restore(saved["games"])
        own = copy.deepcopy(own)
        for name in _KEPT:
            setattr(self, name, own[name])

    @property
    def opponent_names(self) -> list[str]:
        """The names of the policies that ``info["opponents"]`` numbers; of those that play now."""
        return [policy.name for policy in self._games.opponents.roster]

    def set_opponents(self, opponents: AnyOpponents) -> None:
        """In place: other opponents from now on; games that are running get them too."""
        self._games.replace_opponents(opponents)

    # The games

    def _deal(self, rows: Ints, seeds: Bits) -> None:
        """In place: new games in some rows, played up to the learner's first decision."""
        self._games.start(rows, seeds)
        self._began[rows], self._returns[rows], self._lengths[rows] = time.perf_counter(), 0.0, 0
        for row, info in zip(rows.tolist(), self._infos(rows, np.full(self.num_envs, -1)), strict=True):
            self.reset_infos[row] = info

    def _see(self) -> Any:
        return spaces.batch_of(self._games.encoding.encode(self._games.view()))

    def _some(self, indices: VecEnvIndices) -> list[OneOfMany]:
        """The games asked about."""
        games = self._each()
        return games if indices is None else [games[row] for row in self._get_indices(indices)]

    def _infos(self, rows: Ints, illegal: Ints, done: Bools | None = None) -> list[dict[str, Any]]:
        """An info for each of some rows.

        Args:
            rows: [G].
            illegal: [B] illegal actions as infos number them.
            done: [B] which episodes have ended; left out, none.
        """
        games = self._games
        seeds = np.zeros_like(games.seeds) if done is None else np.where(done, games.seeds, np.uint64(0))
        told = {
            **games.standings(rows),
            "illegal_action": illegal[rows],
            "seat": games.seat[rows],
            "opponents": games.others()[rows],
            "game_seed": seeds[rows],
        }
        parts = [value if value.ndim == 1 else [row.copy() for row in value] for value in told.values()]
        columns = zip(*parts, strict=True)
        return [{**dict(zip(told, values, strict=True)), "TimeLimit.truncated": False} for values in columns]

    def _tell_ends(self, infos: list[dict[str, Any]], ended: Ints) -> None:
        """In place: add what SB3 wants to know of episodes that have ended."""
        games = self._games
        last = games.encoding.encode(games.view(ended))
        now = time.perf_counter()
        for index, row in enumerate(ended.tolist()):
            infos[row] |= {
                "terminal_observation": spaces.item_of(last, index),
                "episode": {
                    "r": round(float(self._returns[row]), 6),
                    "l": int(self._lengths[row]),
                    "t": round(now - float(self._began[row]), 6),
                },
            }


_KEPT = ("_actions", "_began", "_returns", "_lengths", "_streams", "_seeds", "_options", "reset_infos")
