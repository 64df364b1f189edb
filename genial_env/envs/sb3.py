"""A Stable-Baselines3 VecEnv that steps all its games in one kernel batch, the opponents' included."""

import time
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from genial_env import chance, kernel
from genial_env.bitsets import Bools, Ints
from genial_env.encodings import Encoding, make_encoding
from genial_env.envs import spaces
from genial_env.envs.rewards import check_scheme, rewards, worst
from genial_env.envs.single import check_illegal_action, check_seat
from genial_env.policies import Policy, act, choice_keys, make_policy
from genial_env.rules import Rules
from genial_env.views import view


class GenialVecEnv(VecEnv):
    """Many games of :class:`~genial_env.envs.single.GenialEnv` at once, natively batched, for Stable-Baselines3.

    A step plays one decision of the learning seat in every game and then everybody else's up to the learner's next one,
    all games together. So a transition runs from an own decision to the next own one, bonus placements included, and
    its reward is all that happened in between. Finished games are dealt anew at once, as SB3 expects: ``infos`` then
    has ``terminal_observation``, ``ranks``, ``scores``, ``game_seed``, ``seat``, ``opponents`` and ``episode`` (return,
    length, time).

    ``env_method("action_masks")`` gives the masks of all games, bool [num_envs, A], as sb3-contrib asks for them.

    Args:
        num_envs: games at a time.
        players, edition, mode: as in :class:`~genial_env.rules.Rules`; `sizes` are its other arguments.
        opponents: a policy, or a pool of them from which every other seat of every game draws its own.
        seat: the learning seat, or "random" to draw it for every game.
        encoding: "planes", "flat", or your own.
        reward: "rank", "margin" or "lowest"; SB3 knows no vectors.
        illegal_action: "end" ends the episode with the worst reward and ``info["illegal_action"]``; "raise" raises.
        seed: every game's seed follows from it, from the number of its environment and of the game in there.

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
        opponents: str | Policy | Sequence[str | Policy] = "random",
        seat: int | str = 0,
        encoding: str | Encoding = "planes",
        reward: str | None = None,
        illegal_action: str = "end",
        seed: int = 0,
        **sizes: Any,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1, not {num_envs}")
        self.rules = Rules(players, edition, mode, **sizes)
        self.scheme = check_scheme(self.rules, reward)
        if self.scheme == "vector":
            raise ValueError(
                "Stable-Baselines3 takes one number a step: reward 'vector' is for Gymnasium's environment"
            )
        self._encoding = make_encoding(encoding)
        self._roster = check_pool(opponents)
        self._wanted_seat = check_seat(seat, self.rules)
        self._illegal_action = check_illegal_action(illegal_action)
        self.render_mode = None
        super().__init__(
            num_envs, spaces.observation_space(self._encoding, self.rules), spaces.action_space(self.rules)
        )
        self._everyone = np.arange(num_envs)
        self._actions: Ints = np.zeros(num_envs, dtype=np.int64)
        self._began = np.zeros(num_envs)
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, dtype=np.int64)
        # What a deal fills in, row by row.
        self._seeds_dealt = np.zeros(num_envs, dtype=np.uint64)
        self._state = kernel.deal(self.rules, np.zeros(num_envs, dtype=np.uint64))
        self._choices = np.zeros((num_envs, players), dtype=np.uint64)  # the seats' streams of choices
        self._seating = np.zeros((num_envs, players + 1), dtype=np.uint64)  # luck: learning seat, then each opponent
        self._assignment = np.zeros((num_envs, players), dtype=np.int64)  # who of the pool plays each seat
        self._seat = np.full(num_envs, self._wanted_seat or 0)
        self._start_streams(seed)

    # What SB3 calls

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Start the streams of games anew; they are dealt by the next reset. None leaves them as they are."""
        if seed is None:
            return [None] * self.num_envs
        self._start_streams(seed)
        return [seed] * self.num_envs

    def reset(self) -> VecEnvObs:
        """Deal a new game everywhere."""
        self._deal(self._everyone)
        observation: VecEnvObs = self._see()
        return observation

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions of the next step, [num_envs]."""
        self._actions = kernel.as_actions(actions, self.num_envs)

    def step_wait(self) -> VecEnvStepReturn:
        """Play them, then the others, and deal finished games anew.

        Raises:
            RuntimeError: before the first reset.
        """
        if not self._games_dealt.all():
            raise RuntimeError("call reset() first: there are no games yet")
        state = self._state
        before = state.scores.copy()
        illegal = ~kernel.is_legal(state, self._actions, self._everyone)
        reasons = {
            int(row): kernel.why_illegal(state, int(row), int(self._actions[row])) for row in np.flatnonzero(illegal)
        }
        playing = np.flatnonzero(~illegal) if self._illegal_action == "end" else self._everyone
        kernel.apply(state, self._actions[playing], playing)
        self._let_others_play(playing)
        earned = rewards(self.scheme, self.rules, before, state.scores, state.over)[self._everyone, self._seat]
        earned[illegal] = worst(self.scheme, self.rules)
        self._returns += earned
        self._lengths += 1
        done = state.over | illegal
        infos: list[dict[str, Any]] = [{} for _ in self._everyone]
        ended = np.flatnonzero(done)
        if ended.size:
            self._tell(infos, ended, reasons)
            self._deal(ended)
        return self._see(), earned.astype(np.float32), done, infos

    def close(self) -> None:
        """Nothing to release."""

    def action_masks(self) -> Bools:
        """[num_envs, A]: the playable actions of every game."""
        return kernel.legal(self._state)

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
        """No game is."""
        return [False] * len(list(self._get_indices(indices)))

    def set_opponents(self, opponents: str | Policy | Sequence[str | Policy]) -> None:
        """In place: change the pool; games that are running get opponents from it too."""
        self._roster = check_pool(opponents)
        self._assignment = chance.below(self._seating[:, 1:], np.full(1, len(self._roster)))

    # The games

    def _start_streams(self, seed: int) -> None:
        """In place: give every environment its stream of game seeds."""
        self._streams = chance.game_seeds(seed, self.num_envs)
        self._games_dealt = np.zeros(self.num_envs, dtype=np.int64)

    def _deal(self, rows: Ints) -> None:
        """In place: new games in some rows, played up to the learner's first decision."""
        seeds = chance.bits(self._streams[rows], self._games_dealt[rows]) >> np.uint64(11)
        self._games_dealt[rows] += 1
        self._seeds_dealt[rows] = seeds
        kernel.redeal(self._state, rows, seeds)
        self._choices[rows] = choice_keys(seeds, self.rules.players)
        self._seating[rows] = chance.seat_keys(seeds, chance.Purpose.SEATING, self.rules.players + 1)
        self._assignment[rows] = chance.below(self._seating[rows, 1:], np.full(1, len(self._roster)))
        if self._wanted_seat is None:
            self._seat[rows] = chance.below(self._seating[rows, 0], np.full(1, self.rules.players))
        self._began[rows], self._returns[rows], self._lengths[rows] = time.perf_counter(), 0.0, 0
        self._let_others_play(rows)

    def _let_others_play(self, rows: Ints) -> None:
        """In place: play in some games up to the learner's next decision or the end."""
        state = self._state
        while True:
            rows = rows[~state.over[rows] & (state.to_play[rows] != self._seat[rows])]
            if not rows.size:
                return
            kernel.apply(state, act(self._roster, self._assignment, state, self._choices, rows), rows)

    def _see(self, rows: Ints | None = None) -> Any:
        rows = self._everyone if rows is None else rows
        return spaces.batch_of(self._encoding.encode(view(self._state, self._seat[rows], rows)))

    def _tell(self, infos: list[dict[str, Any]], ended: Ints, reasons: dict[int, str]) -> None:
        """In place: fill the infos of episodes that have ended."""
        last = self._see(ended)
        ranks = kernel.ranks(self._state.scores[ended])
        now = time.perf_counter()
        for index, row in enumerate(ended.tolist()):
            observation = {k: v[index] for k, v in last.items()} if isinstance(last, dict) else last[index]
            others = [(self._seat[row] + 1 + i) % self.rules.players for i in range(self.rules.players - 1)]
            infos[row] |= {
                "terminal_observation": observation,
                "TimeLimit.truncated": False,
                "ranks": ranks[index].tolist(),
                "scores": self._state.scores[row].tolist(),
                "game_seed": int(self._seeds_dealt[row]),
                "seat": int(self._seat[row]),
                "opponents": [self._roster[self._assignment[row, seat]].name for seat in others],
                "episode": {
                    "r": float(self._returns[row]),
                    "l": int(self._lengths[row]),
                    "t": round(now - float(self._began[row]), 6),
                },
            }
            if row in reasons:
                infos[row]["illegal_action"] = reasons[row]


def check_pool(opponents: str | Policy | Sequence[str | Policy]) -> list[Policy]:
    """A pool of policies.

    Raises:
        ValueError: for an unknown name or an empty pool.
    """
    if isinstance(opponents, str) or callable(opponents):
        return [make_policy(opponents)]
    if not opponents:
        raise ValueError("the pool of opponents is empty")
    return [make_policy(policy) for policy in opponents]
