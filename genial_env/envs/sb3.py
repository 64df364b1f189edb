"""A Stable-Baselines3 VecEnv that steps all its games in one batch, the opponents' moves included."""

import copy
import time
import warnings
from collections.abc import Sequence
from typing import Any, Unpack

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from genial_env.core.arrays import Bits, Bools, Ints
from genial_env.envs import spaces
from genial_env.envs.arguments import LEARNER_DEFAULTS, LearnerArguments, expand_signature
from genial_env.envs.batch import LearnerGames
from genial_env.envs.central import count_tiles
from genial_env.envs.learner import read_arguments
from genial_env.envs.opponents import AnyOpponents
from genial_env.envs.rewards import gives_vectors
from genial_env.envs.saved import check_names, check_saved
from genial_env.envs.streams import SeedStreams, refuse_start
from genial_env.envs.sub_envs import HasSubEnvs, SubEnv, common_attributes
from genial_env.envs.vector import VECTOR_MODES

__all__ = ["GenialVecEnv"]


class GenialVecEnv(VecEnv, HasSubEnvs):
    """Many games of :class:`~genial_env.envs.single.GenialEnv`, stepped in one batch, for Stable-Baselines3.

    With the same arguments and seeds it plays the same games as a DummyVecEnv of single environments in Monitors, and
    it has the same attributes and methods, except those that would play on one game alone.

    ## Observation space, action space, episode end

    Those of the single environment. A finished game is dealt anew in the same step, as SB3 expects. If an exception
    or Ctrl-C interrupts a step or reset, the next step is a RuntimeError until :meth:`reset`.
    ``env_method("action_masks")`` returns the masks of all games, bool [num_envs, A], as sb3-contrib asks for them.

    ## Rewards

    "rank", "margin" or "lowest", or a :data:`~genial_env.envs.rewards.RewardFunction`; float32 (num_envs,). SB3 takes
    one number a step, so "vector" is refused, and a function that returns one number a color. A reward covers
    everything between two decisions of the learner, bonus placements included.

    ## Information

    Numbers, with the same keys at any time; for resets in :attr:`reset_infos`: ``ranks``, ``scores`` and
    ``illegal_action`` as in the single environment, ``seat``, ``opponents`` (indices of :attr:`opponent_names`,
    clockwise from the learner), and ``game_seed``, 0 until the game has ended. At the end of an episode, as SB3
    expects it, also ``terminal_observation`` and ``episode`` (return, length, time). ``get_attr("illegal_reason")``
    returns the reasons of the last step as text.

    ## Arguments

    - num_envs: the number of games;
    - players, edition, mode: as in :class:`~genial_env.core.rules.Rules`;
    - seed: the stream of game seeds of game i starts from ``seed + i``;
    - all others: :class:`~genial_env.envs.arguments.LearnerArguments`.
    """

    @expand_signature(LEARNER_DEFAULTS)
    def __init__(
        self,
        num_envs: int,
        players: int = 2,
        edition: str = "2025",
        mode: str = "individual",
        *,
        seed: int = 0,
        **arguments: Unpack[LearnerArguments],
    ) -> None:
        settings = read_arguments(GenialVecEnv, players, edition, mode, arguments, VECTOR_MODES)
        self.rules = settings.rules
        games = LearnerGames(settings, num_envs)
        num_envs = len(games.everyone)
        if gives_vectors(games.scheme):
            raise ValueError(
                "Stable-Baselines3 takes one number a step, and this reward is one number a color: give a reward "
                "function that returns [G], or take gym.make_vec('genial_env/GenialMO-v0', ...) and a learner for "
                "many objectives"
            )
        self._games = games
        self._streams = SeedStreams(num_envs)
        self._sub_env_attributes = common_attributes(games)
        super().__init__(num_envs, self._sub_env_attributes["observation_space"], games.action_format.space)
        self.metadata = self._sub_env_attributes["metadata"]
        self._everyone = games.everyone
        self._actions: Any = None
        self._began = np.zeros(num_envs)
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, dtype=np.int64)
        self.seed(seed)

    # The interface of VecEnv

    def reset(self) -> VecEnvObs:
        """Deal all games anew, with the seeds and options set by :meth:`seed` and :meth:`set_options`.

        Raises:
            TypeError, ValueError: if a seed or option is not valid; then the games have not changed.
        """
        self._streams.restart({row: seed for row, seed in enumerate(self._seeds) if seed is not None})
        seeds = self._streams.draw(self._everyone, self._options)
        self._deal(self._everyone, seeds)
        self._reset_seeds()
        self._reset_options()
        observation: VecEnvObs = self._observe()
        return observation

    def set_options(self, options: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        """Set the options of the next reset: those of the single environment, without "start".

        Args:
            options: a dict for all games, or a list with one for each game.

        Raises:
            ValueError: for the option "start", which only single environments take; then nothing has changed.
        """
        for each in options if isinstance(options, list) else [options]:
            refuse_start(each)
        super().set_options(options)

    def step_async(self, actions: np.ndarray) -> None:
        """Store the actions of the next step: [num_envs], factored [num_envs, 2]."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Play the stored actions, then the other seats, and deal finished games anew.

        Returns:
            Observations, rewards, dones and infos.

        Raises:
            RuntimeError: before the first reset, or after an interrupted step or reset.
            TypeError, ValueError: if the actions are not a batch of actions.
            IllegalAction: if one is illegal, with ``illegal_action="raise"``; then nothing has changed.
        """
        games = self._games
        earned, illegal = games.step(self._actions, self._everyone)
        self._returns += earned
        self._lengths += 1
        done = games.state.over | (illegal >= 0)
        infos = self._infos(self._everyone, illegal, done)
        ended = np.flatnonzero(done)
        if ended.size:
            self._add_end_infos(infos, ended)
            self._deal(ended, self._streams.draw(ended), in_step=True)
        observation = self._observe()
        games.settle()
        return observation, earned.astype(np.float32), done, infos

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def action_masks(self) -> Bools:
        """Return the masks of legal actions, bool [num_envs, A] (factored [num_envs, K + 2 + E])."""
        return self._games.masks()

    def count_tiles(self) -> NDArray[np.uint8]:
        """Count the tiles of each kind in the racks, clockwise from the learner's, and in the bag.

        The counts are [num_envs, P + 1, M]. No seat may know this. It is for centralized critics in training.
        """
        return count_tiles(self._games.state, self._games.seat)

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> Any:
        """Call a method of some games, or of all.

        The games have the attributes of :class:`~genial_env.envs.sub_envs.SubEnv`.

        Returns:
            A list with one result for each game; for ``"action_masks"`` an array with the games as first axis.

        Raises:
            AttributeError: if there is no such method; the message lists those that exist.
        """
        if method_name == "action_masks":
            return self.action_masks() if indices is None else self.action_masks()[list(self._get_indices(indices))]
        return [getattr(game, method_name)(*args, **kwargs) for game in self._select_sub_envs(indices)]

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of some games, or of all.

        Raises:
            AttributeError: if there is no such attribute; the message lists those that exist.
        """
        return [getattr(game, attr_name) for game in self._select_sub_envs(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """In place: set an attribute of some games, or of all.

        Raises:
            AttributeError: if it cannot be set.
        """
        for game in self._select_sub_envs(indices):
            setattr(game, attr_name, value)

    def env_is_wrapped(self, wrapper_class: type[gym.Wrapper], indices: VecEnvIndices = None) -> list[bool]:
        """Return whether the games are wrapped: True for Monitor, whose ``episode`` the infos have, else False."""
        return [issubclass(Monitor, wrapper_class)] * len(self._select_sub_envs(indices))

    def get_images(self) -> Sequence[np.ndarray | None]:
        """Return a picture of each game with ``render_mode="rgb_array"``; else warn and return a None for each."""
        if self.render_mode != "rgb_array":
            warnings.warn(f"get_images() needs render_mode='rgb_array', not {self.render_mode!r}", stacklevel=2)
        return [game.render() if self.render_mode == "rgb_array" else None for game in self._list_sub_envs()]

    def get_state(self) -> dict[str, Any]:
        """Return an independent copy of everything that changes, for :meth:`set_state`."""
        own = copy.deepcopy({name: getattr(self, name) for name in _KEPT})
        return {"games": self._games.save(), "own": own}

    def set_state(self, saved: dict[str, Any]) -> None:
        """In place: go back to what :meth:`get_state` returned. The given state is not changed.

        Raises:
            TypeError, ValueError: for anything else, other rules, or another number of games; then nothing has changed.
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
        """The names of the current opponents; ``info["opponents"]`` holds indices of this list."""
        return [policy.name for policy in self._games.opponents.roster]

    def set_opponents(self, opponents: AnyOpponents) -> None:
        """In place: replace the opponents, in running games too."""
        self._games.replace_opponents(opponents)

    # The games

    def _deal(self, rows: Ints, seeds: Bits, *, in_step: bool = False) -> None:
        """In place: deal new games in some rows, and play them until the learner's first decision.

        Args:
            rows: [G].
            seeds: [G].
            in_step: as in :meth:`LearnerGames.start <genial_env.envs.batch.LearnerGames.start>`.
        """
        self._games.start(rows, seeds, in_step=in_step)
        self._began[rows], self._returns[rows], self._lengths[rows] = time.perf_counter(), 0.0, 0
        for row, info in zip(rows.tolist(), self._infos(rows, np.full(self.num_envs, -1)), strict=True):
            self.reset_infos[row] = info

    def _observe(self) -> Any:
        """Return the observations of all games."""
        return spaces.batch_of(self._games.encoding.encode(self._games.view()))

    def _select_sub_envs(self, indices: VecEnvIndices) -> list[SubEnv]:
        """Return some of the games, or all."""
        games = self._list_sub_envs()
        return games if indices is None else [games[row] for row in self._get_indices(indices)]

    def _infos(self, rows: Ints, illegal: Ints, done: Bools | None = None) -> list[dict[str, Any]]:
        """Return the infos of some rows, one dict each.

        Args:
            rows: [G].
            illegal: [B] the values of ``illegal_action``.
            done: [B] which episodes have ended; None: none.
        """
        games = self._games
        seeds = np.zeros_like(games.seeds) if done is None else np.where(done, games.seeds, np.uint64(0))
        values = {
            **games.standings(rows),
            "illegal_action": illegal[rows],
            "seat": games.seat[rows],
            "opponents": games.others()[rows],
            "game_seed": seeds[rows],
        }
        parts = [value if value.ndim == 1 else [row.copy() for row in value] for value in values.values()]
        columns = zip(*parts, strict=True)
        return [{**dict(zip(values, column, strict=True)), "TimeLimit.truncated": False} for column in columns]

    def _add_end_infos(self, infos: list[dict[str, Any]], ended: Ints) -> None:
        """In place: add to the infos what SB3 expects at the end of an episode."""
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
