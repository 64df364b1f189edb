"""A Stable-Baselines3 VecEnv that steps all its games in one kernel batch, the opponents' included."""

import copy
import time
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from genial_env import kernel
from genial_env.bitsets import Bools, Ints
from genial_env.encodings import AnyEncoding
from genial_env.envs import spaces
from genial_env.envs.batch import LearnerGames, SeedStreams
from genial_env.envs.opponents import AnyOpponents
from genial_env.rules import Rules


class GenialVecEnv(VecEnv):
    """Many games of :class:`~genial_env.envs.single.GenialEnv` at once, natively batched, for Stable-Baselines3.

    A step plays one decision of the learning seat in every game and then everybody else's up to the learner's next one,
    all games together. So a transition runs from an own decision to the next own one, bonus placements included, and
    its reward is all that happened in between. Finished games are dealt anew at once, as SB3 expects: ``infos`` then
    has ``terminal_observation``, ``ranks``, ``scores``, ``game_seed``, ``seat``, ``opponents`` and ``episode`` (return,
    length, time).

    ``env_method("action_masks")`` gives the masks of all games, bool [num_envs, A], as sb3-contrib asks for them.

    With the same arguments and seeds it plays the same games as a DummyVecEnv of single environments.

    Args:
        num_envs: games at a time.
        players, edition, mode: as in :class:`~genial_env.rules.Rules`; `sizes` are its other arguments.
        opponents, seat, encoding, action: as for the single environment.
        reward: "rank", "margin" or "lowest"; SB3 knows no vectors.
        illegal_action: "end" ends the episode with the worst reward and ``info["illegal_action"]``; "raise" raises.
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
        seed: int = 0,
        **sizes: Any,
    ) -> None:
        self.rules = Rules(players, edition, mode, **sizes)
        games = LearnerGames(self.rules, num_envs, opponents, seat, encoding, reward, illegal_action, action)
        if games.scheme == "vector":
            raise ValueError(
                "Stable-Baselines3 takes one number a step: reward 'vector' is for Gymnasium's environments"
            )
        self._games = games
        self.render_mode = None
        super().__init__(num_envs, spaces.observation_space(games.encoding, self.rules), games.form.space)
        self._everyone = games.everyone
        self._actions: Any = None
        self._began = np.zeros(num_envs)
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, dtype=np.int64)
        self._streams = SeedStreams(num_envs)
        self.seed(seed)

    # What SB3 calls

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Start the streams of games anew, game i's with ``seed + i`` as SB3 does; they are dealt by the next reset.
        None leaves them as they are.
        """
        if seed is None:
            return [None] * self.num_envs
        self._streams.restart({row: seed + row for row in range(self.num_envs)})
        return list(self._streams.seeds)

    def reset(self) -> VecEnvObs:
        """Deal a new game everywhere."""
        self._deal(self._everyone)
        observation: VecEnvObs = self._see()
        return observation

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions of the next step, [num_envs]; factored [num_envs, 2]."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Play them, then the others, and deal finished games anew.

        Raises:
            RuntimeError: before the first reset.
            TypeError, ValueError: for something that is no batch of actions.
            IllegalAction: with ``illegal_action="raise"``; nothing has changed.
        """
        earned, reasons = self._games.step(self._actions, self._everyone)
        self._returns += earned
        self._lengths += 1
        done = self._games.state.over.copy()
        done[list(reasons)] = True
        infos: list[dict[str, Any]] = [{} for _ in self._everyone]
        ended = np.flatnonzero(done)
        if ended.size:
            self._tell(infos, ended, reasons)
            self._deal(ended)
        return self._see(), earned.astype(np.float32), done, infos

    def close(self) -> None:
        """Nothing to release."""

    def action_masks(self) -> Bools:
        """[num_envs, A] (factored: one entry a value): the playable actions of every game."""
        return self._games.masks()

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> Any:
        """``"action_masks"``, for all games or some; nothing else can be called on single games.

        Raises:
            AttributeError: for another name.
        """
        if method_name != "action_masks":
            raise AttributeError(f"the games of GenialVecEnv have the method 'action_masks' only, not {method_name!r}")
        return self.action_masks() if indices is None else self.action_masks()[list(self._get_indices(indices))]

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of the whole, once for each game asked about."""
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Refused: the games have no attributes of their own."""
        raise AttributeError(f"the games of GenialVecEnv have no attribute {attr_name!r} to set; use set_opponents()")

    def env_is_wrapped(self, wrapper_class: type[gym.Wrapper], indices: VecEnvIndices = None) -> list[bool]:
        """Whether the games are wrapped: in Monitor as good as, since infos have its ``episode``; else not."""
        return [issubclass(wrapper_class, Monitor)] * len(list(self._get_indices(indices)))

    def get_state(self) -> dict[str, Any]:
        """An independent copy of all that changes, for :meth:`set_state`."""
        own = copy.deepcopy({name: getattr(self, name) for name in _KEPT})
        return {"games": self._games.saved(), "own": own}

    def set_state(self, saved: dict[str, Any]) -> None:
        """In place: go back to what :meth:`get_state` gave; the state given stays as it is."""
        self._games.restore(saved["games"])
        for name, value in copy.deepcopy(saved["own"]).items():
            setattr(self, name, value)

    def set_opponents(self, opponents: AnyOpponents) -> None:
        """In place: other opponents from now on; games that are running get them too."""
        self._games.replace_opponents(opponents)

    # The games

    def _deal(self, rows: Ints) -> None:
        """In place: new games in some rows, played up to the learner's first decision."""
        self._games.start(rows, self._streams.draw(rows))
        self._began[rows], self._returns[rows], self._lengths[rows] = time.perf_counter(), 0.0, 0

    def _see(self) -> Any:
        return spaces.batch_of(self._games.encoding.encode(self._games.view()))

    def _tell(self, infos: list[dict[str, Any]], ended: Ints, reasons: dict[int, str]) -> None:
        """In place: fill the infos of episodes that have ended."""
        games = self._games
        last = games.encoding.encode(games.view(ended))
        scores = games.state.scores[ended].astype(np.int64)
        ranks = kernel.ranks(scores)
        now = time.perf_counter()
        for index, row in enumerate(ended.tolist()):
            infos[row] |= {
                "terminal_observation": spaces.item_of(last, index),
                "TimeLimit.truncated": False,
                "ranks": ranks[index],
                "scores": scores[index],
                "game_seed": int(games.seeds[row]),
                "seat": int(games.seat[row]),
                "opponents": games.names(row),
                "episode": {
                    "r": float(self._returns[row]),
                    "l": int(self._lengths[row]),
                    "t": round(now - float(self._began[row]), 6),
                },
            }
            if row in reasons:
                infos[row]["illegal_action"] = reasons[row]


_KEPT = ("_actions", "_began", "_returns", "_lengths", "_streams")
