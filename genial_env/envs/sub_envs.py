"""The attributes of the single environments inside an environment of many games.

Gymnasium's ``get_attr``, ``set_attr`` and ``call``, and Stable-Baselines3's ``get_attr``, ``set_attr`` and
``env_method``, ask for attributes of each sub-environment. The batched environments have no such objects, so they hand
out a :class:`SubEnv` for each game.
"""

from typing import Any

import numpy as np

from genial_env.core.arrays import Bools
from genial_env.core.rules import Rules
from genial_env.envs import spaces
from genial_env.envs.batch import LearnerGames
from genial_env.envs.rewards import gives_vectors
from genial_env.envs.single import GenialEnv
from genial_env.envs.streams import SeedStreams

__all__ = ["HasSubEnvs", "SubEnv", "common_attributes"]


class SubEnv:
    """One game of a batch, with the attributes of :class:`~genial_env.envs.single.GenialEnv`.

    Attributes that would play on this game alone (``reset``, ``step``, ``get_state``, ``set_state``) are missing.
    Other attributes can be set, and are kept.

    Args:
        whole: the environment of many games.
        row: the row of the game.
    """

    def __init__(self, whole: "HasSubEnvs", row: int) -> None:
        self._whole, self._row = whole, row
        vars(self).update(whole._sub_env_attributes)

    def __getattr__(self, name: str) -> Any:
        """Raise an AttributeError that lists the attributes that exist."""
        if name.startswith("_"):
            raise AttributeError(name)
        known = sorted({name for name in (*dir(type(self)), *vars(self)) if not name.startswith("_")})
        raise AttributeError(f"a game among many has no attribute {name!r}: it has {', '.join(known)}")

    @property
    def unwrapped(self) -> "SubEnv":
        """This object itself."""
        return self

    @property
    def rules(self) -> Rules:
        """The rules."""
        return self._whole._games.rules

    @property
    def seat(self) -> int:
        """The learning seat of this game."""
        return int(self._whole._games.seat[self._row])

    @property
    def illegal_reason(self) -> str | None:
        """Why the action of the game's last step was illegal; None if it was legal, and after a reset.

        A game that is dealt anew in the step in which it ends keeps the reason until the next step.
        """
        return self._whole._games.reasons.get(self._row)

    @property
    def np_random(self) -> np.random.Generator:
        """The generator that game seeds are drawn from."""
        return self._whole._streams.generator(self._row)

    @property
    def np_random_seed(self) -> int:
        """The seed that the generator was started from."""
        self._whole._streams.generator(self._row)
        return self._whole._streams.seeds[self._row]

    def action_masks(self) -> Bools:
        """Return the mask of legal actions, bool [entries]."""
        games = self._whole._games
        mask: Bools = games.action_format.mask(games.view(np.array([self._row])))[0]
        return mask.copy()

    def render(self) -> Any:
        """Draw the position in the render mode, with the learner's rack."""
        return self._whole._games.render(self._row)


class HasSubEnvs:
    """The base of environments of many games that hand out attributes of single ones."""

    _games: LearnerGames
    _streams: SeedStreams
    _sub_env_attributes: dict[str, Any]
    """The attributes that are the same for each game, and that change only if they are set."""

    def _list_sub_envs(self) -> list[SubEnv]:
        """Return a :class:`SubEnv` for each game, the same objects at every call."""
        if "_sub_envs" not in vars(self):
            self._sub_envs = [SubEnv(self, row) for row in self._games.everyone.tolist()]
        return self._sub_envs


def common_attributes(games: LearnerGames) -> dict[str, Any]:
    """Return the attributes of the single environment that are the same for each game, by name."""
    attributes: dict[str, Any] = {
        "action_space": games.action_format.space,
        "observation_space": spaces.observation_space(games.encoding, games.rules),
        "render_mode": games.render_mode,
        "metadata": GenialEnv.metadata,
        "spec": None,
    }
    if gives_vectors(games.scheme):
        attributes |= {"reward_space": spaces.reward_space(games.rules, games.scheme), "reward_dim": games.rules.colors}
    return attributes
