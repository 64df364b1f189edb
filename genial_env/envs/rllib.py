"""RLlib: a MultiAgentEnv, a PPO module that applies action masks, and a module that plays one of the policies.

RLlib pins an older version of Gymnasium, so install it, with the extra ``rllib``, in a virtual environment of its own.

    from ray.rllib.algorithms.ppo import PPOConfig
    from genial_env.envs import rllib

    rllib.register()
    config = PPOConfig().environment("genial_env", env_config={"players": 3})

``experiments/train_rllib.py`` is a complete training script.
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
from genial_env.envs.rewards import gives_vectors
from genial_env.errors import IllegalAction
from genial_env.policies.registry import make_policy

__all__ = ["GenialMultiAgentEnv", "MaskedPPOModule", "PolicyModule", "register"]

AgentDict = dict[str, Any]


class GenialMultiAgentEnv(MultiAgentEnv):  # type: ignore[misc]  # ray has no types to build on
    """Génial!/Ingenious for 2 to 4 seats, one decision of one agent at a time.

    Only the agent to move gets an observation, so RLlib asks only this agent for an action. A turn may take several
    steps of the same agent: its placement, bonus placements, and the decision on a swap.

    A reward comes together with an observation. It is the sum of what the agent has earned since its own last action,
    so RLlib credits it to that action. (In a team, a seat can earn something before its first action, through its
    partner. RLlib drops that.) At the end of a game, or where `max_cycles` truncates it, each agent gets its last
    observation and its reward. Infos are those of :class:`~genial_env.envs.aec.GenialAECEnv`.

    An observation is ``{"observation": ..., "action_mask": int8 (A,)}``. RLlib's own check of environments plays
    without masks, so by default an illegal action terminates all agents, with the worst reward for its own agent.
    ``illegal_reason`` says as text why it was illegal.

    Args:
        config: the arguments of :class:`~genial_env.envs.aec.GenialAECEnv` by name, and ``illegal_action``, "end"
            (default) or "raise". The default of ``encoding`` is "flat" here, because RLlib's networks take one vector.
            ``reward="vector"`` is refused, and a function that returns one number a color, because RLlib takes one
            number.

    Raises:
        ValueError, TypeError: if the arguments do not describe a game.
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__()
        arguments = {"encoding": "flat", **(config or {})}
        check_arguments(type(self).__name__, arguments, [*argument_names(GenialAECEnv), "illegal_action"])
        self._raises = should_raise(arguments.pop("illegal_action", "end"))
        self._env = GenialAECEnv(**arguments)
        if gives_vectors(self._env._game.scheme):
            raise ValueError(
                "RLlib takes one number a step, and this reward is one number a color: give a reward function that "
                "returns [G]"
            )
        self.agents = self.possible_agents = list(self._env.possible_agents)
        self.observation_spaces: dict[str, Dict] = self._env.observation_spaces
        self.action_spaces = self._env.action_spaces

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[AgentDict, AgentDict]:
        """Start a new game.

        Args:
            seed: restarts the environment's stream of game seeds; None: the stream goes on.
            options: ``{"game_seed": n}`` deals the game of seed n.

        Returns:
            The observation of the agent to move, and its info.
        """
        env = self._env
        env.reset(seed=seed, options=options)
        mover = env.agent_selection
        return {mover: env.observe(mover)}, {mover: env.infos[mover]}

    @property
    def illegal_reason(self) -> str | None:
        """Why the last action was illegal; None if it was legal, and after a reset."""
        return self._env.illegal_reason

    def step(self, action_dict: AgentDict) -> tuple[AgentDict, AgentDict, AgentDict, AgentDict, AgentDict]:
        """Play the action of the agent to move.

        Returns:
            Observations, rewards, terminateds, truncateds and infos, by agent: of the agent to move next; of all agents
            once the game is over or truncated. Terminateds also have "__all__". Truncateds have nothing else, because
            RLlib takes an episode for terminated if each agent is marked as truncated.

        Raises:
            ValueError: if there is not exactly one action, of the agent to move.
            IllegalAction: if it is illegal, with ``illegal_action="raise"``; then nothing has changed.
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
        over, truncated = all(env.terminations.values()), all(env.truncations.values())
        agents = self.possible_agents if over or truncated else [env.agent_selection]
        observations = {agent: env.observe(agent) for agent in agents}
        infos = {agent: env.infos[agent] for agent in agents}
        rewards = {agent: env._cumulative_rewards[agent] for agent in agents}  # since the agent's own last step
        terminateds = dict.fromkeys([*agents, "__all__"], over)
        return observations, rewards, terminateds, {"__all__": truncated}, infos


class MaskedPPOModule(DefaultPPOTorchRLModule):  # type: ignore[misc]  # ray has no types to build on
    """RLlib's PPO networks with action masks.

    The networks get the ``observation`` part. The logits of actions that ``action_mask`` excludes are set to the lowest
    number, so that these actions are never sampled.
    """

    def __init__(self, *, observation_space: Dict, **arguments: Any) -> None:
        super().__init__(observation_space=observation_space["observation"], **arguments)
        self.observation_space = observation_space

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return self._apply_mask(batch, super()._forward(_bare(batch), **kwargs))

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return self._apply_mask(batch, super()._forward_train(_bare(batch), **kwargs))

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        """Compute the values of the observations, [batch]."""
        return super().compute_values(_bare(batch), embeddings)

    @staticmethod
    def _apply_mask(batch: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
        excluded = batch[Columns.OBS]["action_mask"] == 0
        outputs[Columns.ACTION_DIST_INPUTS] = outputs[Columns.ACTION_DIST_INPUTS].masked_fill(excluded, FLOAT_MIN)
        return outputs


class PolicyModule(RLModule):  # type: ignore[misc]  # ray has no types to build on
    """A module that plays one of this project's policies, as an opponent. It is never trained.

    ``model_config`` holds ``policy``, an argument of :func:`~genial_env.policies.registry.make_policy`; ``rules``, the
    result of their ``to_dict``; and ``encoding``, that of the environment. The encoding must be decodable: "flat",
    "planes", "tokens" or a :class:`~genial_env.encodings.Decodable` of your own. The policy's random bits come from
    numpy's global generator, which RLlib seeds.

    Raises:
        ValueError: for an unknown policy or encoding.
        TypeError: for an encoding that cannot be decoded.
    """

    framework = "torch"

    def setup(self) -> None:
        """In place: make the policy. RLlib calls this method."""
        self._policy = make_policy(self.model_config["policy"])
        self._rules = Rules.from_dict(self.model_config["rules"])
        encoding = make_encoding(self.model_config["encoding"])
        if not isinstance(encoding, Decodable):
            raise TypeError(f"policies take views, which cannot be read from the encoding {encoding!r}")
        self._encoding = encoding

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        observation = batch[Columns.OBS]["observation"]
        fields = observation if isinstance(observation, dict) else {"": observation}
        view = self._encoding.decode(self._rules, {name: value.numpy(force=True) for name, value in fields.items()})
        random = np.random.randint(2**64, size=len(view), dtype=np.uint64)  # noqa: NPY002  RLlib seeds this
        return {Columns.ACTIONS: self._policy(view, random)}

    def compile(self, *arguments: Any) -> None:
        """Do nothing: there is nothing to compile. RLlib calls this method."""


def register() -> None:
    """Register the environment in Ray as "genial_env"."""
    register_env("genial_env", GenialMultiAgentEnv)


def _bare(batch: dict[str, Any]) -> dict[str, Any]:
    """Return the batch with its observations without masks; the batch itself if it has no masks."""
    observation = batch[Columns.OBS]
    return {**batch, Columns.OBS: observation["observation"]} if isinstance(observation, dict) else batch
