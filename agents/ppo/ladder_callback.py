"""A callback that plays a model against the scripted agents during training."""

from collections.abc import Sequence

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from agents.ppo.sb3_agent import SB3Agent
from agents.runs.evaluation import play_rotations
from genial_env import Policy, Results, Rules
from genial_env.encodings import AnyEncoding
from genial_env.policies.registry import make_policy
from genial_env.policies.roster import LADDER

__all__ = ["LadderCallback", "compute_games_won"]


class LadderCallback(BaseCallback):
    """Plays a MaskablePPO model against other agents from time to time, and logs the share of games that it wins.

    All games against an opponent are played in batches. The learner plays each deal once from every seat (in teams:
    once for each team); all other seats have the opponent. A shared first rank counts in parts. SB3's logger gets
    ``ladder/NAME`` for each opponent and ``ladder/mean`` for their mean, and writes them at once.

    Args:
        rules: the rules of the games.
        every: decisions of the learner (``num_timesteps``) between two evaluations; the first follows after so many.
        opponents: the opponents, as :func:`genial_env.make_policy` takes them; None: the scripted agents.
        deals: the number of deals against each opponent.
        seed: the seed of the deals, which are the same at every evaluation.
        encoding: the encoding that the model is trained with.
        deterministic: whether the model plays its most likely actions, see :class:`~agents.ppo.sb3_agent.SB3Agent`.

    Raises:
        ValueError: if `every` or `deals` is below 1, for a solo game, or for an unknown opponent.
    """

    model: MaskablePPO

    def __init__(
        self,
        rules: Rules,
        every: int,
        *,
        opponents: Sequence[str | Policy] | None = None,
        deals: int = 50,
        seed: int = 1,
        encoding: AnyEncoding = "planes",
        deterministic: bool = True,
    ) -> None:
        super().__init__()
        if every < 1 or deals < 1:
            raise ValueError(f"every and deals must be at least 1, not {every!r} and {deals!r}")
        if rules.tracks == 1:
            raise ValueError("a solo game has no opponents: measure the lowest marker")
        self._opponents = [make_policy(opponent) for opponent in (LADDER if opponents is None else opponents)]
        self._rules, self._every, self._deals, self._seed = rules, every, deals, seed
        self._encoding, self._deterministic = encoding, deterministic
        self._next = every
        self.games_won: list[tuple[int, dict[str, float]]] = []
        """For each evaluation the number of decisions, and the share of games won against each opponent."""

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._next:
            self._next = self.num_timesteps + self._every
            self._evaluate()
        return True

    def _evaluate(self) -> None:
        """Play, and log the results."""
        learner = SB3Agent(self.model, "learner", self._encoding, deterministic=self._deterministic)
        found = {
            opponent.name: compute_games_won(play_rotations(learner, opponent, self._rules, self._deals, self._seed))
            for opponent in self._opponents
        }
        self.games_won.append((self.num_timesteps, found))
        for name, share in found.items():
            self.logger.record(f"ladder/{name}", share)
        self.logger.record("ladder/mean", float(np.mean(list(found.values()))))
        self.logger.record("time/total_timesteps", self.num_timesteps, exclude="tensorboard")
        self.logger.dump(self.num_timesteps)


def compute_games_won(rotations: Sequence[Results]) -> float:
    """Compute the share of games in which an agent is first; a shared first rank counts in parts.

    Args:
        rotations: what :func:`~agents.runs.evaluation.play_rotations` returned.
    """
    first = [results.ranks == 1 for results in rotations]
    won = [each[:, track] / each.sum(axis=1) for track, each in enumerate(first)]
    return float(np.mean(won))
