"""The PettingZoo parallel environment: all agents step at once, and the action of the agent to move is played."""

from typing import Any

from pettingzoo import ParallelEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

from genial_env.envs.game import as_action
from genial_env.envs.zoo import NO_GAME, ZooEnv
from genial_env.errors import IllegalAction

__all__ = ["GenialParallelEnv", "GenialParallelWrapper", "parallel_env"]

Observations = dict[str, dict[str, Any]]
Infos = dict[str, dict[str, Any]]
Step = tuple[Observations, dict[str, Any], dict[str, bool], dict[str, bool], Infos]


class GenialParallelEnv(ZooEnv, ParallelEnv[str, dict[str, Any], int]):  # type: ignore[misc]  # PettingZoo is untyped
    """Génial!/Ingenious for 2 to 4 seats; all agents step at every decision.

    Agents, spaces, state and arguments are those of :class:`~genial_env.envs.aec.GenialAECEnv`.

    ## Description

    The game of :class:`~genial_env.envs.aec.GenialAECEnv`, for libraries that know parallel environments only. What is
    not described here is the same as there.

    A step is one decision of one agent: the agent of the seat ``infos[agent]["to_play"]``, which every agent's info
    names, after a reset too. The action of this agent is played. The actions of the others are ignored, and may be
    left out. All agents stay until the game is over for all.

    ## Observation space

    Each agent gets an observation at every step. ``action_mask`` is all 0 for the agents that are not to move.

    ## Rewards

    The reward of each agent for this step.

    ## Episode end

    All agents are terminated at once. For `max_cycles`, a cycle is one decision. An illegal action of the agent to
    move terminates all agents in ``genial_v0.parallel_env()``, and raises
    :class:`~genial_env.errors.IllegalAction` in ``genial_v0.raw_parallel_env()``. A missing action of this agent is a
    ValueError, and anything that is not a whole number a TypeError, in both.

    ## Version history

    v0: first version.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observations, Infos]:
        """Start a new game.

        Args:
            seed: restarts the environment's stream of game seeds; None: the stream goes on.
            options: ``{"game_seed": n}`` deals the game of seed n.

        Returns:
            Observations and infos, by agent.
        """
        self._deal(seed, options)
        return self._observations(), self._infos(left=False)

    def step(self, actions: dict[str, Any]) -> Step:
        """Play the action of the agent to move.

        Args:
            actions: by agent; those of the other agents are ignored and may be left out.

        Returns:
            Observations, rewards, terminations, truncations and infos, by agent.

        Raises:
            IllegalAction: if the action is masked, or not in the action space; then nothing has changed.
            TypeError: if the action is not a whole number.
            ValueError: if the action of the agent to move is missing, or an agent is unknown.
            TypeError, ValueError: if a reward function returns something else than rewards; then reset.
            RuntimeError: before the first reset, or when the game is over.
        """
        if not self.agents:
            raise RuntimeError(NO_GAME)
        mover = self._mover
        self._check_actions(actions, mover)
        self._played, self.illegal_reason = as_action(actions[mover]), None
        before = self._game.current.copy() if self._game.has_function else None
        earned = self._game.play(self._played)
        if before is not None:
            earned = self._game.pay(before, self._played, range(self.rules.players))
        truncated = self._is_truncated(steps_in_cycle=1)
        return self._outcome(self._by_agent(earned), self._infos(truncated), self._game.over, truncated)

    def end_illegally(self, error: IllegalAction) -> Step:
        """In place: terminate all agents after an illegal action of the agent to move. The game does not change.

        The agent gets the worst reward, and ``infos[agent]["illegal_action"]`` holds the id of the action.

        Returns:
            The same as :meth:`step`.
        """
        return self._outcome(*self._penalize(error), terminated=True, truncated=False)

    def _outcome(self, rewards: dict[str, Any], infos: Infos, terminated: bool, truncated: bool) -> Step:
        """In place: remove all agents if the game is over. Return the results of the step."""
        terminations, truncations = dict.fromkeys(self.agents, terminated), dict.fromkeys(self.agents, truncated)
        observations = self._observations()
        if terminated or truncated:
            self.agents = []
        return observations, rewards, terminations, truncations, infos

    def _observations(self) -> Observations:
        return {agent: self.observe(agent) for agent in self.agents}

    def _check_actions(self, actions: dict[str, Any], mover: str) -> None:
        """Check that the agent to move has an action, and that all agents exist.

        Raises:
            TypeError, ValueError: if not.
        """
        if not isinstance(actions, dict):
            raise TypeError(f"actions must be a dict by agent, not {actions!r} ({type(actions).__name__})")
        if mover not in actions:
            raise ValueError(f"{mover} is to play, and there is no action of it: there are {list(actions)}")
        for agent in actions:
            if agent not in self._seat:
                raise ValueError(f"unknown agent {agent!r}: the agents are {', '.join(self.possible_agents)}")


class GenialParallelWrapper(wrappers.BaseParallelWrapper):  # type: ignore[misc]  # PettingZoo is untyped
    """Terminates all agents after an illegal action of the agent to move."""

    env: GenialParallelEnv

    def step(self, actions: dict[str, Any]) -> Step:
        """Play as :meth:`GenialParallelEnv.step` does, but terminate all agents if that raises IllegalAction."""
        try:
            return self.env.step(actions)
        except IllegalAction as error:
            EnvLogger.warn_on_illegal_move()
            return self.env.end_illegally(error)


def parallel_env(**arguments: Any) -> GenialParallelWrapper:
    """Make the wrapped environment, in which an illegal action terminates all agents."""
    return GenialParallelWrapper(GenialParallelEnv(**arguments))
