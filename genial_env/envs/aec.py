"""The PettingZoo AEC environment."""

import copy
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from genial_env.encodings import Encoding
from genial_env.envs import rewards, spaces
from genial_env.envs.game import RENDER_MODES, Game, as_action, draw_game_seed
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
        self._seen: dict[str, dict[str, Any]] = {}  # observations of the current position, made when asked for
        action_space = spaces.action_space(rules)
        observation_space = Dict(
            {
                "observation": spaces.observation_space(self._game.encoding, rules),
                "action_mask": Box(0, 1, (int(action_space.n),), dtype=np.int8),
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
        self._seen = {}
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
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
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        earned = self._game.play(as_action(action, int(self.action_spaces[agent].n)))
        self._seen = {}
        self._cumulative_rewards[agent] = 0.0
        over = self._game.over
        if over or self._game.is_dense:
            self.rewards = dict(zip(self.possible_agents, _plain(earned), strict=True))
            self._accumulate_rewards()
        else:
            self._clear_rewards()
        if over:
            self.terminations = dict.fromkeys(self.agents, True)
            self.infos = {agent: self._game.results() for agent in self.agents}
        self.agent_selection = self.possible_agents[self._game.to_play]
        if over:
            self._deads_step_first()

    def observe(self, agent: str) -> dict[str, Any]:
        """What the agent may know now, as fresh arrays."""
        if agent not in self._seen:
            view = self._game.view(self._seat[agent])
            self._seen[agent] = {
                "observation": self._game.observe(view),
                "action_mask": view.mask()[0].view(np.int8),
            }
        return _copied(self._seen[agent])

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
        self._seen = {}


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


def env(**arguments: Any) -> AECEnv[str, Any, Any]:
    """The environment in the wrappers of PettingZoo's classic games.

    An illegal action ends the game for all, and its agent gets the worst reward of the scheme.
    """
    raw = GenialAECEnv(**arguments)
    worst = float(np.min(rewards.worst(raw._game.scheme, raw.rules)))
    wrapped = wrappers.TerminateIllegalWrapper(raw, illegal_reward=worst)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


def _plain(earned: NDArray[Any]) -> list[Any]:
    """One float a seat, for a vector reward one array."""
    return earned.tolist() if earned.ndim == 1 else list(earned)


def _copied(observation: dict[str, Any]) -> dict[str, Any]:
    return {name: _copied(value) if isinstance(value, dict) else value.copy() for name, value in observation.items()}
