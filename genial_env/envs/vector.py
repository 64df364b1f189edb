"""Gymnasium's vector environment, natively batched."""

import copy
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from gymnasium import spaces as gym_spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from genial_env.core.arrays import Bools, Ints
from genial_env.envs import spaces
from genial_env.envs.action_formats import int8_mask
from genial_env.envs.arguments import (
    LEARNER_DEFAULTS,
    LearnerArguments,
    argument_names,
    check_arguments,
    expand_signature,
)
from genial_env.envs.batch import LearnerGames
from genial_env.envs.learner import read_arguments
from genial_env.envs.rewards import RewardFunction, gives_vectors
from genial_env.envs.saved import check_names, check_saved
from genial_env.envs.streams import SeedStreams
from genial_env.envs.sub_envs import HasSubEnvs, common_attributes
from genial_env.render import RENDER_MODES

__all__ = ["VECTOR_MODES", "GenialSoloVectorEnv", "GenialVectorEnv"]

VECTOR_MODES = [mode for mode in RENDER_MODES if mode != "human"]
"""The render modes of environments of many games."""


class GenialVectorEnv(VectorEnv[Any, Any, Any], HasSubEnvs):
    """Many games of :class:`~genial_env.envs.single.GenialEnv`, stepped in one batch.

    Make it with ``gym.make_vec("genial_env/Genial-v0", num_envs=1024)``. With the same arguments, seeds and actions
    it gives the same observations, rewards, ends and infos as Gymnasium's ``vectorization_mode="sync"`` and
    ``"async"`` with single environments. :meth:`call`, :meth:`get_attr` and :meth:`set_attr` work as there.

    ## Observation space, action space, rewards, episode end

    Those of the single environment, batched. ``info["action_mask"]`` is int8 (num_envs, A); :meth:`action_masks`
    returns it as bool. Rewards are float64 (num_envs,), with reward "vector" (num_envs, C). If an exception or Ctrl-C
    interrupts a step or reset, the next step is a RuntimeError until :meth:`reset`.

    ## Autoreset

    `autoreset_mode`: NEXT_STEP (default) deals a new game in the step after the end, and ignores that step's action.
    SAME_STEP deals it at once, and gives the last observation and info in ``info["final_obs"]`` and
    ``info["final_info"]``. DISABLED leaves it to ``reset(options={"reset_mask": ...})``.

    ## Information

    Arrays with a first axis num_envs, with the same keys at any time: ``action_mask``, ``ranks`` (num_envs, T),
    ``scores`` (num_envs, T, C) and ``illegal_action`` (num_envs,), as in the single environment. Beside each is a
    mask ``"_" + key`` of the games for which it holds. ``get_attr("illegal_reason")`` returns the reasons of the last
    step as text, also of games that SAME_STEP has dealt anew in it.

    ## Arguments

    - num_envs: the number of games;
    - players, edition, mode: as in :class:`~genial_env.core.rules.Rules`;
    - autoreset_mode: an AutoresetMode or its value ("NextStep", "SameStep", "Disabled");
    - all others: :class:`~genial_env.envs.arguments.LearnerArguments`.

    ## Version history

    v0: first version.
    """

    @expand_signature(LEARNER_DEFAULTS)
    def __init__(
        self,
        num_envs: int = 1,
        players: int = 2,
        edition: str = "2025",
        mode: str = "individual",
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **arguments: Unpack[LearnerArguments],
    ) -> None:
        settings = read_arguments(GenialVectorEnv, players, edition, mode, arguments, VECTOR_MODES)
        self.rules, self.render_mode = settings.rules, settings.render_mode
        self._games = LearnerGames(settings, num_envs)
        self.num_envs = num_envs = len(self._games.everyone)
        modes = [mode.value for mode in AutoresetMode]
        if autoreset_mode not in [*AutoresetMode, *modes]:
            raise ValueError(f"autoreset_mode must be one of {', '.join(modes)}, not {autoreset_mode!r}")
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": VECTOR_MODES, "render_fps": 2, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = spaces.observation_space(self._games.encoding, self.rules)
        self.single_action_space = self._games.action_format.space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        if gives_vectors(self._games.scheme):
            self.reward_space: gym_spaces.Box = spaces.reward_space(self.rules, self._games.scheme)
            self.reward_dim = self.rules.colors
        self._streams = SeedStreams(num_envs)
        self._ended: Bools = np.zeros(num_envs, dtype=np.bool_)
        self._sub_env_attributes = common_attributes(self._games)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]  # one for each game, as in SyncVectorEnv
        """The seed that each game's generator was started from."""
        return tuple(self._streams.seeds)

    @property  # type: ignore[misc]  # not to be set
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The generator that each game's seeds are drawn from."""
        return self._streams.generators

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Deal new games.

        Args:
            seed: restarts the streams of game seeds, that of game i from ``seed + i``, or from a list of seeds; None:
                the streams go on.
            options: ``{"reset_mask": bool [num_envs]}`` resets some games only; ``{"game_seed": n}`` deals the game of
                seed n.

        Returns:
            The observations, and the infos; with a reset mask, the infos of the reset games only.

        Raises:
            TypeError, ValueError: if the seeds or the mask do not fit, or for the option "start", which only single
                environments take; then the games have not changed.
            RuntimeError: if the first reset is not of all games.
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
        observation, mask = self._observe()
        return observation, self._infos(rows, mask[rows], np.full(len(rows), -1))

    def step(self, actions: Any) -> tuple[Any, NDArray[np.float64], Bools, Bools, dict[str, Any]]:
        """Play one decision of each learner, then the other seats until its next one.

        Args:
            actions: one for each game: (num_envs,), factored (num_envs, 2).

        Returns:
            Observations, rewards float64 (num_envs,), terminations, truncations (all False), infos.

        Raises:
            RuntimeError: before the first reset, after an interrupted step or reset, or, with autoreset disabled, for
                a game that has ended.
            TypeError, ValueError: if `actions` is not a batch of actions.
            IllegalAction: if one is illegal, with ``illegal_action="raise"``; then nothing has changed.
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
                games.start(done, self._streams.draw(done), in_step=True)
                illegal[done] = -1
        else:
            self._ended = ended.copy()
        observation, mask = self._observe()
        infos = final | self._infos(games.everyone, mask, illegal)
        games.settle()
        return observation, rewards, ended, np.zeros(self.num_envs, dtype=np.bool_), infos

    def action_masks(self) -> Bools:
        """Return the masks of legal actions, bool [num_envs, A] (factored [num_envs, K + 2 + E]).

        All entries of a game that has ended are False.
        """
        return self._games.masks()

    def render(self) -> tuple[Any, ...] | None:
        """Draw each position in the render mode (:func:`genial_env.render.draw`), with the learner's rack."""
        return None if self.render_mode is None else self.call("render")

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of each game, or read an attribute, as Gymnasium's SyncVectorEnv does.

        The games have the attributes of :class:`~genial_env.envs.sub_envs.SubEnv`.

        Returns:
            The results, one for each game.

        Raises:
            AttributeError: if there is no such attribute; the message lists those that exist.
        """
        if name == "action_masks":
            return tuple(self.action_masks())
        found = [getattr(game, name) for game in self._list_sub_envs()]
        return tuple(each(*args, **kwargs) if callable(each) else each for each in found)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of each game."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """In place: set an attribute of each game.

        Args:
            name: the name of the attribute.
            values: a list or a tuple with one value for each game; any other value is set for all games.

        Raises:
            ValueError: for a wrong number of values.
            AttributeError: if the attribute cannot be set.
        """
        each = list(values) if isinstance(values, list | tuple) else [values] * self.num_envs
        if len(each) != self.num_envs:
            raise ValueError(f"values must be one a game, {self.num_envs}, not {len(each)}")
        for game, value in zip(self._list_sub_envs(), each, strict=True):
            setattr(game, name, value)

    def get_state(self) -> dict[str, Any]:
        """Return an independent copy of everything that changes, for :meth:`set_state`."""
        return {"games": self._games.save(), "streams": copy.deepcopy(self._streams), "ended": self._ended.copy()}

    def set_state(self, saved: dict[str, Any]) -> None:
        """In place: go back to what :meth:`get_state` returned. The given state is not changed.

        Raises:
            TypeError, ValueError: for anything else, other rules, or another number of games; then nothing has changed.
        """
        check_names(saved, ["games", "streams", "ended"], "the saved state")
        own = {name: saved[name] for name in ("streams", "ended")}
        check_saved(own, {"streams": self._streams, "ended": self._ended}, "the saved environment")
        self._games.restore(saved["games"])
        self._streams, self._ended = copy.deepcopy(saved["streams"]), saved["ended"].copy()

    def close_extras(self, **kwargs: Any) -> None:
        """Do nothing: there is nothing to release."""

    def _rows_to_reset(self, options: dict[str, Any]) -> Ints:
        """In place: take the reset mask out of the options. Return the rows to reset."""
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

    def _observe(self) -> tuple[Any, NDArray[np.int8]]:
        """Return the observations, and the masks as infos have them."""
        view = self._games.view()
        return spaces.batch_of(self._games.encoding.encode(view)), int8_mask(self._games.action_format, view)

    def _infos(self, rows: Ints, masks: NDArray[np.int8], illegal: Ints) -> dict[str, Any]:
        """Return the infos of some games [G], from their masks [G, entries] and ``illegal_action`` [G]."""
        values: dict[str, NDArray[Any]] = {
            "action_mask": masks,
            **self._games.standings(rows),
            "illegal_action": illegal,
        }
        return _spread(self.num_envs, rows, values)

    def _final(self, done: Ints, illegal: Ints) -> dict[str, Any]:
        """Return the last observations and infos of games that will be dealt anew."""
        view = self._games.view(done)
        arrays = self._games.encoding.encode(view)
        last = np.full(self.num_envs, None, dtype=object)
        for index, row in enumerate(done.tolist()):
            last[row] = spaces.item_of(arrays, index)
        masks = int8_mask(self._games.action_format, view)
        info = self._infos(done, masks, illegal)
        which = np.zeros(self.num_envs, dtype=np.bool_)
        which[done] = True
        return {"final_obs": last, "_final_obs": which, "final_info": info, "_final_info": which.copy()}


_NOT_SOLO = ("num_envs", "players", "edition", "mode", "opponents", "seat", "reward", "rack", "one_bonus_a_tile")
SOLO = argument_names(GenialVectorEnv, without=_NOT_SOLO)
"""The names of the further arguments of the solo environment."""


class GenialSoloVectorEnv(GenialVectorEnv):
    """Many solo games at once: ``gym.make_vec("genial_env/GenialSolo-v0", num_envs=1024)``.

    It is :class:`GenialVectorEnv` for the game of :class:`~genial_env.envs.single.GenialSoloEnv`, with the arguments of
    the latter except `record`, and `num_envs` and `autoreset_mode`.
    """

    def __init__(
        self, num_envs: int = 1, edition: str = "2004", *, reward: str | RewardFunction = "lowest", **arguments: Any
    ) -> None:
        check_arguments(type(self).__name__, arguments, SOLO, lambda: ["num_envs", "edition", "reward", *SOLO])
        super().__init__(num_envs, 1, edition, "solo", opponents=[], reward=reward, **arguments)


def _spread(n_games: int, rows: Ints, values: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return infos that hold for some games: each array [len(rows), ...] spread over all games, beside its mask."""
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
