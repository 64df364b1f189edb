"""RLlib: the game as a MultiAgentEnv, a PPO module that plays by its masks, and one that plays what a policy chooses.

RLlib pins an older Gymnasium, so it wants a virtual environment of its own, with the extra ``rllib``.

    from ray.rllib.algorithms.ppo import PPOConfig
    from genial_env.envs import rllib

    rllib.register()
    config = PPOConfig().environment("genial_env", env_config={"players": 3})

``experiments/train_rllib.py`` is a whole training script.
"""

from typing import Any

import numpy as np
from gymnasium.spaces import Dict
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModule
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.utils.torch_utils import FLOAT_MIN
from ray.tune.registry import register_env

from genial_env.core.rules import Rules
from genial_env.encodings import Decodable, make_encoding
from genial_env.envs.aec import GenialAECEnv
from genial_env.envs.arguments import argument_names, check_arguments
from genial_env.envs.learner import should_raise
from genial_env.errors import IllegalAction
from genial_env.policies.registry import make_policy

AgentDict = dict[str, Any]


class GenialMultiAgentEnv(MultiAgentEnv):  # type: ignore[misc]  # ray has no types to build on
    """Génial!/Ingenious for 2 to 4 seats, a decision at a time.

    Only the agent to move gets an observation, so RLlib asks it alone. In a turn it may be asked several times: for its
    placement, bonus placements and the decision on a swap. A reward comes with an observation: it is all that the agent
    has earned since its own last action, to which RLlib credits it however it cuts its episodes. (What a seat earns
    before its first action, in a team by its partner, belongs to none and is dropped by RLlib.) At the end every agent
    gets its last observation and its reward. Infos are those of :class:`~genial_env.envs.aec.GenialAECEnv`.

    An observation is ``{"observation": ..., "action_mask": int8 (A,)}``. RLlib's own check of environments plays
    without masks, so an illegal action ends the game for all by default, with the worst reward for its agent.
    ``illegal_reason`` says why, as text.

    Args:
        config: the arguments of :class:`~genial_env.envs.aec.GenialAECEnv`, by name, and ``illegal_action``, "end"
            (default) or "raise". Here ``encoding`` is "flat" if left out, since RLlib's networks take one vector, and
            ``reward="vector"`` is none that RLlib knows.

    Raises:
        ValueError, TypeError: for arguments that cannot be played.
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__()
        arguments = {"encoding": "flat", **(config or {})}
        check_arguments(type(self).__name__, arguments, [*argument_names(GenialAECEnv), "illegal_action"])
        if arguments.get("reward") == "vector":
            raise ValueError("RLlib takes one number a step: reward 'vector' is for Gymnasium's environments")
        self._raises = should_raise(arguments.pop("illegal_action", "end"))
        self._env = GenialAECEnv(**arguments)
        self.agents = self.possible_agents = list(self._env.possible_agents)
        self.observation_spaces: dict[str, Dict] = self._env.observation_spaces
        self.action_spaces = self._env.action_spaces

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[AgentDict, AgentDict]:
        """Start a new game.

        Args:
            seed: starts the environment's stream of games anew; left out, the stream goes on.
            options: ``{"game_seed": n}`` deals the game of that seed.

        Returns:
            The observation of the agent to move, and its info.
        """
        env = self._env
        env.reset(seed=seed, options=options)
        mover = env.agent_selection
        return {mover: env.observe(mover)}, {mover: env.infos[mover]}

    @property
    def illegal_reason(self) -> str | None:
        """Why the action of the last step was illegal; None where it was not."""
        return self._env.illegal_reason

    def step(self, action_dict: AgentDict) -> tuple[AgentDict, AgentDict, AgentDict, AgentDict, AgentDict]:
        """Play the action of the agent to move.

        Returns:
            Observations, rewards, terminateds, truncateds (never) and infos, by agent.

        Raises:
            ValueError: for actions of other agents, or none.
            IllegalAction: with ``illegal_action="raise"``; nothing has changed.
        """
        env = self._env
        mover = env.agent_selection
        if set(action_dict) != {mover}:
            raise ValueError(f"{mover} is to move, and it alone: there are actions of {sorted(action_dict)}")
        try:
            env.step(action_dict[mover])
        except IllegalAction as error:
            if self._raises:
                raise
            env.end_illegally(error)
        over = all(env.terminations.values())
        told = self.possible_agents if over else [env.agent_selection]
        observations = {agent: env.observe(agent) for agent in told}
        infos = {agent: env.infos[agent] for agent in told}
        ends = dict.fromkeys(told, over)
        rewards = {agent: env._cumulative_rewards[agent] for agent in told}  # since the agent's own last step
        return observations, rewards, {**ends, "__all__": over}, {"__all__": False}, infos


class MaskedPPOModule(DefaultPPOTorchRLModule):  # type: ignore[misc]  # ray has no types to build on
    """RLlib's PPO networks on the ``observation`` part, the logits of actions that ``action_mask`` excludes set to the
    least number, so that they are never drawn.
    """

    def __init__(self, *, observation_space: Dict, **arguments: Any) -> None:
        super().__init__(observation_space=observation_space["observation"], **arguments)
        self.observation_space = observation_space

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return self._masked(batch, super()._forward(_bare(batch), **kwargs))

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return self._masked(batch, super()._forward_train(_bare(batch), **kwargs))

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        """[batch]: values of the observations."""
        return super().compute_values(_bare(batch), embeddings)

    @staticmethod
    def _masked(batch: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
        excluded = batch[Columns.OBS]["action_mask"] == 0
        found[Columns.ACTION_DIST_INPUTS] = found[Columns.ACTION_DIST_INPUTS].masked_fill(excluded, FLOAT_MIN)
        return found


class PolicyModule(RLModule):  # type: ignore[misc]  # ray has no types to build on
    """A policy of this project among the modules, to be played against; it is never trained.

    ``model_config`` holds ``policy``, what :func:`~genial_env.policies.registry.make_policy` reads; ``rules``, as their
    ``to_dict`` gives them; and ``encoding``, the environment's, from which views must be readable: "flat", "planes",
    "tokens" or a :class:`~genial_env.encodings.Decodable` of your own. Its luck is numpy's, which
    RLlib seeds.

    Raises:
        ValueError: for an unknown policy or encoding.
        TypeError: for an encoding from which no views can be read.
    """

    framework = "torch"

    def setup(self) -> None:
        """In place: make what plays. RLlib calls it."""
        self._policy = make_policy(self.model_config["policy"])
        self._rules = Rules.from_dict(self.model_config["rules"])
        encoding = make_encoding(self.model_config["encoding"])
        if not isinstance(encoding, Decodable):
            raise TypeError(f"policies take views, which cannot be read from the encoding {encoding!r}")
        self._encoding = encoding

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]["observation"]
        fields = seen if isinstance(seen, dict) else {"": seen}
        view = self._encoding.decode(self._rules, {name: value.numpy(force=True) for name, value in fields.items()})
        luck = np.random.randint(2**64, size=len(view), dtype=np.uint64)  # noqa: NPY002  what RLlib seeds
        return {Columns.ACTIONS: self._policy(view, luck)}

    def compile(self, *arguments: Any) -> None:
        """Nothing to compile; RLlib asks for it."""


def register() -> None:
    """Make the environment known to Ray as "genial_env"."""
    register_env("genial_env", GenialMultiAgentEnv)


def _bare(batch: dict[str, Any]) -> dict[str, Any]:
    """The same batch with observations without masks; where there are none already, itself."""
    observation = batch[Columns.OBS]
    return {**batch, Columns.OBS: observation["observation"]} if isinstance(observation, dict) else batch
