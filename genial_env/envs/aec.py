"""The PettingZoo AEC environment."""

import copy
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

from genial_env.encodings import Encoding
from genial_env.envs import rewards, spaces
from genial_env.envs.game import RENDER_MODES, Game, as_action, draw_game_seed
from genial_env.errors import IllegalAction
from genial_env.rules import Rules


class GenialAECEnv(AECEnv[str, dict[str, Any], int]):  # type: ignore[misc]  # PettingZoo is untyped
    """Génial!/Ingenious for 2 to 4 seats, a decision at a time.

    | Import             | ``from genial_env import genial_v0``                            |
    |--------------------|-----------------------------------------------------------------|
    | Actions            | Discrete                                                        |
    | Parallel API       | no                                                              |
    | Agents             | ``player_0`` to ``player_3``, as many as there are seats        |
    | Action shape       | ``Discrete(2882)``; 4106 with 3 seats, 5546 with 4              |
    | Observation        | ``{"observation": ..., "action_mask": int8 (A,)}``              |

    **Turns.** A turn may take several steps of the same agent: its placement, bonus placements, and the decision to
    swap its rack. So ``agent_selection`` may stay where it is.

    **Observation.** ``observation`` is what the agent's seat may know, by the chosen encoding: "planes" (a Dict of
    uint8 arrays), "flat" (one float32 vector), or an :class:`~genial_env.encodings.Encoding` of your own.
    ``action_mask`` marks the playable actions with 1; it is all 0 for an agent that is not to move.

    **Actions.** ``slot * E + placement``, then swap, then decline: see :mod:`genial_env.actions`.

    **Rewards.** By default +1 for the first rank to -1 for the last, at the end. The others:
    :mod:`genial_env.envs.rewards`.

    **End.** When no two adjacent free cells are left, or a track has all markers at its end. Every agent then gets its
    reward, and ``infos[agent]`` holds ``"ranks"`` and ``"scores"`` of all tracks.

    **Illegal actions.** ``genial_v0.env()`` ends the game for all: the agent gets the worst reward of the scheme and
    ``infos[agent]["illegal_action"]``, the others 0. ``genial_v0.raw_env()`` raises
    :class:`~genial_env.errors.IllegalAction`. What is no action at all (None, a fraction, a number out of range) is a
    TypeError or a ValueError in both.

    **Arguments.** Those of :class:`~genial_env.rules.Rules`, and

    - encoding: "planes" (default), "flat", or your own;
    - reward: "rank" (default), "margin", "lowest", "vector";
    - render_mode: None, "ansi" or "human": colored text of the position, with all racks, returned or printed;
    - record: True keeps a game record for :meth:`game_record`.

    ``reset(options={"game_seed": n})`` deals the game of that seed.

    **Version history.** v0: first version.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "genial_v0",
        "render_modes": RENDER_MODES,
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        players: int = 2,
        edition: str = "2025",
        mode: str = "individual",
        *,
        encoding: str | Encoding = "planes",
        reward: str = "rank",
        render_mode: str | None = None,
        record: bool = False,
        **sizes: Any,
    ) -> None:
        super().__init__()
        rules = Rules(players, edition, mode, **sizes)
        if rules.players == 1:
            raise ValueError(
                "the PettingZoo environment is for 2 to 4 players; solo is gymnasium's genial_env/GenialSolo-v0"
            )
        self.rules = rules
        self.render_mode = render_mode
        self._game = Game(rules, encoding, reward, render_mode, record)
        self._rng = np.random.default_rng()
        self.possible_agents = [f"player_{seat}" for seat in range(rules.players)]
        self.agents: list[str] = []
        self._seat = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        action_space = spaces.action_space(rules)
        self._n_actions = int(action_space.n)
        observation_space = Dict(
            {
                "observation": spaces.observation_space(self._game.encoding, rules),
                "action_mask": Box(0, 1, (self._n_actions,), dtype=np.int8),
            }
        )
        # Spaces have random state of their own, so every agent gets its own.
        self.observation_spaces = {agent: copy.deepcopy(observation_space) for agent in self.possible_agents}
        self.action_spaces = {agent: copy.deepcopy(action_space) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Dict:
        """The agent's observation space, the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """The agent's action space, the same object at every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game.

        Args:
            seed: starts the environment's stream of games anew; left out, the stream goes on.
            options: ``{"game_seed": n}`` deals the game of that seed.
        """
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._game.start(draw_game_seed(self._rng, options), self.possible_agents)
        self.agents = list(self.possible_agents)
        self.rewards = self._nothing()
        self._cumulative_rewards = self._nothing()
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self.agent_selection = self.possible_agents[self._game.to_play]

    def step(self, action: int | None) -> None:
        """Play an action of the agent selected; None for one whose game is over.

        Raises:
            IllegalAction: for an action that the mask excludes; nothing has changed.
            TypeError, ValueError: for something that is no action.
            RuntimeError: before the first reset, or when no agent is left.
        """
        game = self._game
        if not self.agents:
            raise RuntimeError("call reset() first: there is no game, or it is over for every agent")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        earned = game.play(as_action(action, self._n_actions))
        over = game.over
        self._cumulative_rewards[agent] = self._zero()
        if over or game.is_dense:
            self.rewards = dict(zip(self.possible_agents, _plain(earned), strict=True))
            self._accumulate_rewards()
        self.agent_selection = self.possible_agents[game.to_play]
        if over:
            self._finish([game.results() for _ in self.agents])

    def end_illegally(self, error: IllegalAction) -> None:
        """In place: end the game for all after an illegal action of the agent selected, who gets the worst reward and
        ``infos[agent]["illegal_action"]``. The game itself stays as it was.
        """
        offender = self.agent_selection
        self._cumulative_rewards[offender] = self._zero()
        self.rewards = self._nothing()
        self.rewards[offender] = rewards.worst(self._game.scheme, self.rules)
        self._accumulate_rewards()
        self._finish([{"illegal_action": str(error)} if agent == offender else {} for agent in self.agents])

    def observe(self, agent: str) -> dict[str, Any]:
        """What the agent may know now, as fresh arrays."""
        view = self._game.view(self._seat[agent])
        return {"observation": self._game.observe(view), "action_mask": view.mask()[0].view(np.int8)}

    def render(self) -> str | None:
        """The position as colored text: returned in render mode "ansi", printed in "human"."""
        return self._game.render()

    def close(self) -> None:
        """Nothing to release."""

    def game_record(self) -> dict[str, Any]:
        """The record of the game so far; needs ``record=True``."""
        return self._game.record()

    def get_state(self) -> dict[str, Any]:
        """An independent copy of the game and its bookkeeping, for :meth:`set_state`."""
        return {"game": self._game.saved(), "turns": copy.deepcopy({name: getattr(self, name) for name in _KEPT})}

    def set_state(self, saved: dict[str, Any]) -> None:
        """In place: go back to what :meth:`get_state` gave; the state given stays as it is."""
        self._game.restore(saved["game"])
        for name, value in copy.deepcopy(saved["turns"]).items():
            setattr(self, name, value)

    def _finish(self, infos: list[dict[str, Any]]) -> None:
        """In place: terminate all agents, with these infos."""
        self.terminations = dict.fromkeys(self.agents, True)
        self.infos = dict(zip(self.agents, infos, strict=True))
        self._deads_step_first()

    def _zero(self) -> Any:
        """No reward, newly made."""
        return np.zeros(self.rules.colors) if self._game.scheme == "vector" else 0.0

    def _nothing(self) -> dict[str, Any]:
        """No reward for any agent."""
        return {agent: self._zero() for agent in self.agents}


_KEPT = (
    "agents",
    "rewards",
    "_cumulative_rewards",
    "terminations",
    "truncations",
    "infos",
    "agent_selection",
    "_skip_agent_selection",
    "_rng",
)


class GenialWrapper(wrappers.OrderEnforcingWrapper):  # type: ignore[misc]  # PettingZoo is untyped
    """What PettingZoo's classic games are wrapped in, in one: the order of calls is enforced, and an illegal action
    ends the game for all, with the worst reward for its agent.

    In one, because three wrappers around each other pass every attribute on three times, which takes longer than
    playing does. And the mask that an action is checked against is always the position's own.
    """

    env: GenialAECEnv

    def step(self, action: int | None) -> None:
        """As :meth:`GenialAECEnv.step`, but ending the game for all where that raises IllegalAction."""
        try:
            super().step(action)
        except IllegalAction as error:
            EnvLogger.warn_on_illegal_move()
            self.env.end_illegally(error)

    def last(self, observe: bool = True) -> tuple[dict[str, Any] | None, Any, bool, bool, dict[str, Any]]:
        """Observation, reward since the agent's own last step, terminated, truncated and info of the agent selected."""
        if not self._has_reset:
            EnvLogger.error_observe_before_reset()
        found: tuple[dict[str, Any] | None, Any, bool, bool, dict[str, Any]] = self.env.last(observe)
        return found

    @property
    def agents(self) -> list[str]:
        """The agents whose game is not over."""
        return self.env.agents if self._has_reset else self.__getattr__("agents")

    @property
    def agent_selection(self) -> str:
        """The agent whose step is next."""
        return self.env.agent_selection if self._has_reset else self.__getattr__("agent_selection")


def env(**arguments: Any) -> GenialWrapper:
    """The environment as PettingZoo's classic games hand it out: wrapped, an illegal action ending the game for all."""
    return GenialWrapper(GenialAECEnv(**arguments))


def _plain(earned: NDArray[Any]) -> list[Any]:
    """One float a seat, for a vector reward one array."""
    return earned.tolist() if earned.ndim == 1 else list(earned)
