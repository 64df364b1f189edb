"""A Gymnasium environment that draws the rules of each game from a pool: for a curriculum over board sizes and colors.

    env = RulesPoolEnv([Rules(side=4, colors=4, rack=3), Rules()], weights=[1, 0], opponents="greedy")
    ...                                 # later
    env.set_weights([1, 3])

Observations and actions have the shapes of the largest sizes in the pool, so one network plays all of its games.
"""

from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_integer
from genial_env.core.actions import placement_id
from genial_env.core.arrays import Bools, Ints
from genial_env.core.rules import SIZE_LIMITS, Rules
from genial_env.core.tables import tables
from genial_env.encodings.padded import PaddedPlanes, check_fits
from genial_env.envs.arguments import as_plain_seed
from genial_env.envs.game import as_action
from genial_env.envs.single import GenialEnv

__all__ = ["RulesPoolEnv", "find_largest", "map_actions"]


class RulesPoolEnv(gym.Env[Any, Any]):
    """Génial!/Ingenious with one learning seat, under rules that are drawn from a pool at every reset.

    Observations are those of :class:`~genial_env.encodings.padded.PaddedPlanes`. The action space is ``Discrete(A)`` of
    the largest sizes in the pool. Actions that the game at hand lacks are illegal, and 0 in ``info["action_mask"]``.
    Infos are those of :class:`~genial_env.envs.single.GenialEnv`, with the markers of missing colors 0; and ``rules``
    (int64), the index of the rules in the pool.

    Args:
        pool: the rules. They may differ in side, colors, rack and tile sets only.
        weights: the relative probability of each; None: all are equally likely.
        arguments: those of :class:`~genial_env.envs.single.GenialEnv`, but for the rules, `encoding` and `action`.

    Raises:
        ValueError: for an empty pool, rules that differ otherwise, or weights that do not fit.
        TypeError: for an unknown argument.
    """

    metadata = GenialEnv.metadata

    def __init__(self, pool: Sequence[Rules], weights: Sequence[float] | None = None, **arguments: Any) -> None:
        for name in ("encoding", "action"):
            if name in arguments:
                raise TypeError(f"RulesPoolEnv takes no argument {name!r}: its observations are padded planes")
        self.pool = tuple(pool)
        self.largest = find_largest(self.pool)
        encoding = PaddedPlanes(self.largest)
        self._envs = [GenialEnv(**_values(rules), encoding=encoding, **arguments) for rules in self.pool]
        self._maps = [map_actions(rules, self.largest) for rules in self.pool]
        self._index = 0
        self.set_weights(np.ones(len(self.pool)) if weights is None else weights)
        self.render_mode = self._envs[0].render_mode
        self.observation_space = self._envs[0].observation_space
        self._n_actions = tables(self.largest).n_actions
        self.action_space = gym.spaces.Discrete(self._n_actions)

    @property
    def rules(self) -> Rules:
        """The rules of the game at hand."""
        return self.pool[self._index]

    @property
    def env(self) -> GenialEnv:
        """The environment of the game at hand."""
        return self._envs[self._index]

    def set_weights(self, weights: Sequence[float] | NDArray[Any]) -> None:
        """In place: change the relative probabilities of the rules, from the next reset on.

        Raises:
            ValueError: if they are not one number of at least 0 for each of the rules, not all 0.
        """
        shares = np.asarray(weights, dtype=np.float64)
        if shares.shape != (len(self.pool),) or not (shares >= 0).all() or not 0 < shares.sum() < np.inf:
            raise ValueError(
                f"weights must be {len(self.pool)} numbers of at least 0, not all 0, one for each of the rules, "
                f"not {weights!r}"
            )
        self._shares = shares / shares.sum()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Draw the rules and deal a new game, as :class:`~genial_env.envs.single.GenialEnv` does.

        Args:
            seed: restarts the streams of rules and of game seeds; None: they go on.
            options: those of the environment; ``{"rules": i}`` chooses the rules by their index.

        Raises:
            TypeError, ValueError: if the index is not a whole number, or there are no rules of that index; see also the
                environment. Then nothing has been dealt, and the game at hand goes on.
        """
        left = dict(options or {})
        index = left.pop("rules", None)
        if index is not None:
            index = as_integer(index, "options['rules']", 0, len(self.pool) - 1)
        super().reset(seed=as_plain_seed(seed))
        if index is None:
            index = int(self.np_random.choice(len(self.pool), p=self._shares))
        observation, info = self._envs[index].reset(seed=int(self.np_random.integers(2**32)), options=left)
        self._index = index
        return observation, self._pad_info(info)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play one decision of the learner; see :class:`~genial_env.envs.single.GenialEnv`."""
        given = as_action(action)
        known = self._maps[self._index]
        found = np.flatnonzero(known == given)
        outside = len(known)  # no action of this game, and so illegal
        observation, reward, terminated, truncated, info = self.env.step(int(found[0]) if found.size else outside)
        info = self._pad_info(info)
        if info["illegal_action"] >= 0:
            info["illegal_action"] = np.int64(given if 0 <= given < self._n_actions else self._n_actions)
        return observation, reward, terminated, truncated, info

    def action_masks(self) -> Bools:
        """Return the mask of legal actions, bool [A], as sb3-contrib asks for it."""
        mask = np.zeros(self._n_actions, dtype=np.bool_)
        mask[self._maps[self._index]] = self.env.action_masks()
        return mask

    def render(self) -> Any:
        """Draw the position of the game at hand."""
        return self.env.render()

    def close(self) -> None:
        """Close the environments of all rules."""
        for env in self._envs:
            env.close()

    def _pad_info(self, info: dict[str, Any]) -> dict[str, Any]:
        """Return the info with the shapes of the largest sizes."""
        mask = np.zeros(self._n_actions, dtype=info["action_mask"].dtype)
        mask[self._maps[self._index]] = info["action_mask"]
        scores = np.zeros((self.largest.tracks, self.largest.colors), dtype=info["scores"].dtype)
        scores[:, : self.rules.colors] = info["scores"]
        return {**info, "action_mask": mask, "scores": scores, "rules": np.int64(self._index)}


def find_largest(pool: Sequence[Rules]) -> Rules:
    """Return rules with the largest side, number of colors, rack and number of tile sets of some rules.

    Raises:
        ValueError: if there are none, or they differ in more than these sizes.
    """
    if not pool:
        raise ValueError("the pool of rules is empty")
    first = pool[0]
    sizes = {name: max(getattr(rules, name) for rules in pool) for name in SIZE_LIMITS}
    least = sizes.pop("tile_sets")
    largest = None
    for tile_sets in range(least, SIZE_LIMITS["tile_sets"][1] + 1):
        try:  # together, the sizes may need more tiles than any of the games
            largest = Rules(
                first.players,
                first.edition,
                first.mode,
                **sizes,
                tile_sets=tile_sets,
                one_bonus_a_tile=first.one_bonus_a_tile,
            )
        except ValueError:
            continue
        break
    assert largest is not None  # 12 boxes suffice for every size
    for rules in pool:
        check_fits(rules, largest)
    return largest


@lru_cache(maxsize=64)
def map_actions(rules: Rules, largest: Rules) -> Ints:
    """Return for each action id of a game that of the larger game: the same slot and the same cells (q, r).

    Args:
        rules: the game.
        largest: the larger game.
    """
    t, large = tables(rules), tables(largest)
    cells = t.cells[t.placements].tolist()
    placements = np.array([placement_id(largest, tuple(first), tuple(second)) for first, second in cells])
    found = (np.arange(rules.rack)[:, None] * large.n_placements + placements).ravel()
    if rules.has_swap:
        found = np.concatenate([found, [large.swap_action, large.decline_action]])
    mapped: Ints = found.astype(np.int64)
    mapped.setflags(write=False)
    return mapped


def _values(rules: Rules) -> dict[str, Any]:
    return {field.name: getattr(rules, field.name) for field in fields(rules)}
