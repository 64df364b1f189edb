"""The PettingZoo parallel environment: all agents step at once, and the mover's action counts."""

from typing import Any

from pettingzoo import ParallelEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

from genial_env.envs.game import as_action
from genial_env.envs.zoo import NO_GAME, ZooEnv
from genial_env.errors import IllegalAction

Observations = dict[str, dict[str, Any]]
Infos = dict[str, dict[str, Any]]
Step = tuple[Observations, dict[str, Any], dict[str, bool], dict[str, bool], Infos]


class GenialParallelEnv(ZooEnv, ParallelEnv[str, dict[str, Any], int]):  # type: ignore[misc]  # PettingZoo is untyped
    """Génial!/Ingenious for 2 to 4 seats, every agent stepping at every decision.

    | Import             | ``from genial_env import genial_v0``                                     |
    |--------------------|--------------------------------------------------------------------------|
    | Actions            | Discrete                                                                 |
    | Parallel API       | Yes: ``genial_v0.parallel_env()``                                        |
    | Manual Control     | No                                                                       |
    | Agents             | ``["player_0", "player_1"]``, up to ``"player_3"``                       |
    | Number of agents   | 2, 3 or 4                                                                |
    | Action Shape       | ``()``                                                                   |
    | Action Values      | ``Discrete(2882)``; 4106 with 3 seats, 5546 with 4                       |
    | Observation Shape  | ``{"observation": by the encoding, "action_mask": (A,)}``                |
    | Observation Values | uint8 from 0, or float32 in [0, 1]; the mask int8, 0 or 1                |
    | State Shape        | ``(1369,)``; ``(1917,)`` with 3 seats, ``(2543,)`` with 4, 2531 in teams |
    | State Values       | float32 in [0, 1]                                                        |

    The game and all that is not said here are as in :class:`~genial_env.envs.aec.GenialAECEnv`, for libraries that
    know parallel environments only.

    **Turns.** A step is one decision of one agent, that of the seat that ``infos[agent]["to_play"]`` names (to every
    agent, at the reset too; -1 when the game is over). Its action is played; those of the others are ignored, whatever
    they are, and may be left out. All agents stay until the game is over for all.

    **Observation space.** As there; every agent gets one at every step. ``action_mask`` is all 0 for those not to
    move, so a mask with a 1 in it says the same as ``to_play``.

    **Rewards.** Every agent's own of this step; as there.

    **Illegal actions.** Where the mover's action is illegal, ``genial_v0.parallel_env()`` ends the game for all: the
    mover gets the worst reward of the scheme and the action's number in ``infos[agent]["illegal_action"]``, the others
    0 and -1. ``genial_v0.raw_parallel_env()`` raises :class:`~genial_env.errors.IllegalAction`. No action of the mover,
    or something that is no whole number, is a ValueError or a TypeError in both.

    **Arguments.** As there; a cycle of `max_cycles`, a step for every agent, is one decision here.

    **AEC.** Take ``genial_v0.env()``: of this one PettingZoo's ``parallel_to_aec`` makes an environment in which all
    agents step in turn before one of their actions is played.

    **Version history.** v0: first version.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observations, Infos]:
        """Start a new game.

        Args:
            seed: starts the environment's stream of games anew; left out, the stream goes on.
            options: ``{"game_seed": n}`` deals the game of that seed.

        Returns:
            Observations and infos.
        """
        self._deal(seed, options)
        return self._observations(), self._infos(left=False)

    def step(self, actions: dict[str, Any]) -> Step:
        """Play the action of the agent to play.

        Args:
            actions: by agent; those of agents not to play are ignored and may be left out.

        Returns:
            Observations, rewards, terminations, truncations and infos, each with an entry for every agent.

        Raises:
            IllegalAction: for an action that the mover's mask excludes, or outside of the space; nothing has changed.
            TypeError, ValueError: for something that is no whole number, no action of the mover, or for unknown agents.
            RuntimeError: before the first reset, or when the game is over.
        """
        if not self.agents:
            raise RuntimeError(NO_GAME)
        mover = self._mover
        self._check_actions(actions, mover)
        self._played, self.illegal_reason = as_action(actions[mover]), None
        earned = self._game.play(self._played)
        truncated = self._is_truncated(steps_in_cycle=1)
        return self._outcome(self._by_agent(earned), self._infos(truncated), self._game.over, truncated)

    def end_illegally(self, error: IllegalAction) -> Step:
        """In place: end the game for all after an illegal action of the mover, who gets the worst reward and
        its number in ``infos[agent]["illegal_action"]``. The game itself stays as it was. Returns what :meth:`step`
        does.
        """
        return self._outcome(*self._penalize(error), terminated=True, truncated=False)

    def _outcome(self, rewards: dict[str, Any], infos: Infos, terminated: bool, truncated: bool) -> Step:
        """In place: dismiss all agents where the game is over."""
        terminations, truncations = dict.fromkeys(self.agents, terminated), dict.fromkeys(self.agents, truncated)
        observations = self._observations()
        if terminated or truncated:
            self.agents = []
        return observations, rewards, terminations, truncations, infos

    def _observations(self) -> Observations:
        return {agent: self.observe(agent) for agent in self.agents}

    def _check_actions(self, actions: dict[str, Any], mover: str) -> None:
        """Raise where there is no action of the mover, or one of nobody."""
        if not isinstance(actions, dict):
            raise TypeError(f"actions must be a dict by agent, not {actions!r} ({type(actions).__name__})")
        if mover not in actions:
            raise ValueError(f"{mover} is to play, and there is no action of it: there are {list(actions)}")
        for agent in actions:
            if agent not in self._seat:
                raise ValueError(f"unknown agent {agent!r}: the agents are {', '.join(self.possible_agents)}")


class GenialParallelWrapper(wrappers.BaseParallelWrapper):  # type: ignore[misc]  # PettingZoo is untyped
    """An illegal action of the mover ends the game for all, with the worst reward for its agent."""

    env: GenialParallelEnv

    def step(self, actions: dict[str, Any]) -> Step:
        """As :meth:`GenialParallelEnv.step`, but ending the game for all where that raises IllegalAction."""
        try:
            return self.env.step(actions)
        except IllegalAction as error:
            EnvLogger.warn_on_illegal_move()
            return self.env.end_illegally(error)


def parallel_env(**arguments: Any) -> GenialParallelWrapper:
    """The environment in which an illegal action of the mover ends the game for all."""
    return GenialParallelWrapper(GenialParallelEnv(**arguments))
