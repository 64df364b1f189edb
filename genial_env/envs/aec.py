"""The PettingZoo AEC environment: a decision at a time."""

from typing import Any, ClassVar

from pettingzoo import AECEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

from genial_env.envs.game import as_action
from genial_env.envs.zoo import NO_GAME, ZooEnv
from genial_env.errors import IllegalAction


class GenialAECEnv(ZooEnv, AECEnv[str, dict[str, Any], int]):  # type: ignore[misc]  # PettingZoo is untyped
    """Génial!/Ingenious for 2 to 4 seats, a decision at a time.

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

    Tiles of two colored halves are laid on a hexagonal board; each half scores the unbroken lines of its own color. A
    player's result is the lowest of six markers. ``docs/rules.md`` has the rules.

    **Turns.** A turn may take several steps of the same agent: its placement, bonus placements, and the decision to
    swap its rack. So ``agent_selection`` may stay where it is. ``infos[agent]["to_play"]`` is the seat of the agent
    selected, in every agent's info, -1 when the game is over.

    **Observation space.** ``observation`` is what the agent's seat may know, by the chosen encoding, own seat and track
    first: "planes" (a Dict of uint8 arrays: :mod:`genial_env.encodings.planes` has the table), "flat" (the same in one
    float32 vector), "tokens" (one uint8 array of rows), or your own, a class or a function. With 2 seats:

    | Field        | Shape        | Content                                                                     |
    |--------------|--------------|-----------------------------------------------------------------------------|
    | board        | (14, 11, 11) | in play, free, each color's cells, what each color would score on each cell |
    | rack         | (6, 2, 6)    | the own tiles, each half's color one-hot                                    |
    | markers      | (2, 6)       | 0 to 18 (in teams 36)                                                       |
    | unseen       | (21,)        | tiles of each kind in the bag and the others' racks                         |
    | returned     | (2, 6, 21)   | tiles that swaps have returned since each slot was filled                   |
    | levels       | (21, 12)     | what the latest returns left in the bag and in slots filled before          |
    | ...          |              | rack sizes, first tiles laid, to play, phase, bonus placements owed         |

    **Legal actions mask.** ``action_mask`` marks the playable actions with 1; it is all 0 for an agent that is not to
    move.

    **Action space.** With K rack slots and E oriented placements (E = 480, 684, 924 for 2, 3, 4 seats; K = 6):

    | Action ID              | Action                                                                           |
    |------------------------|----------------------------------------------------------------------------------|
    | ``slot * E + place``   | lay the tile of rack slot 0..K-1 on oriented placement 0..E-1                    |
    | ``K * E``              | swap the rack                                                                    |
    | ``K * E + 1``          | decline (a swap, in edition 2009 a bonus placement)                              |

    :func:`genial_env.core.actions.decode` puts an action into words.

    **Rewards.** By default +1 for the first rank to -1 for the last, at the end; ties share, in a team both get their
    team's. The others: :mod:`genial_env.envs.rewards`; "vector" is an array, one number a color, which not every
    library takes.

    **End.** When no two adjacent free cells are left, or a track has all markers at its end. Every agent then gets its
    reward, and ``infos[agent]["ranks"]`` (T,) holds the ranks of all tracks, which are 0 until then; ``"scores"``
    (T, C) holds their markers at any time, both int64. A game truncated by `max_cycles` has no ranks, and no reward
    that the end would bring.

    **State.** :meth:`state` is a vector of what all agents together know, for centralized critics; its parts are in
    :mod:`genial_env.envs.central`.

    **Illegal actions.** ``genial_v0.env()`` ends the game for all: the agent gets the worst reward of the scheme, the
    others 0. ``infos[agent]["illegal_action"]`` is the action's id, A for a number outside of the action space; for the
    others, and at any other time, it is -1. ``env.unwrapped.illegal_reason`` says why, as text.
    ``genial_v0.raw_env()`` raises :class:`~genial_env.errors.IllegalAction`. What is no whole number (None, a fraction)
    is a TypeError in both.

    **Parallel.** Take ``genial_v0.parallel_env()``, see :class:`~genial_env.envs.parallel.GenialParallelEnv`.
    PettingZoo's ``turn_based_aec_to_parallel`` makes the same of this one in a longer way; ``aec_to_parallel`` refuses
    it, as it expects every agent to step once in a cycle.

    **Arguments.** ``genial_v0.env(players=2, edition="2025", mode="individual", encoding="planes", reward="rank",
    render_mode=None, record=False, max_cycles=None)``

    - players: 2 to 4; edition: "2004", "2009" or "2025"; mode: "individual" or (4 players, not in 2025) "team";
    - side, colors, rack, tile_sets: other sizes, see :class:`~genial_env.core.rules.Rules`;
    - encoding: "planes", "flat", "tokens", or your own;
    - reward: "rank", "margin", "lowest", "vector";
    - render_mode: None, "human", "ansi", "svg" or "rgb_array": how :meth:`render` shows the position, with all racks
      (:func:`genial_env.render.draw`);
    - record: True keeps a game record for :meth:`game_record`;
    - max_cycles: truncates the game after so many cycles. A cycle is, as PettingZoo counts, a step for every agent:
      here as many decisions as there are seats. None plays to the end, which always comes.

    ``reset(options={"game_seed": n})`` deals the game of that seed.

    **Version history.** v0: first version.
    """

    _kept: ClassVar[tuple[str, ...]] = (
        *ZooEnv._kept,
        "rewards",
        "_cumulative_rewards",
        "terminations",
        "truncations",
        "infos",
        "agent_selection",
        "_skip_agent_selection",
    )

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game.

        Args:
            seed: starts the environment's stream of games anew; left out, the stream goes on.
            options: ``{"game_seed": n}`` deals the game of that seed.
        """
        self._deal(seed, options)
        self.rewards = self._zero_rewards()
        self._cumulative_rewards = self._zero_rewards()
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = self._infos(left=False)
        self._skip_agent_selection = None
        self.agent_selection = self._mover

    def step(self, action: int | None) -> None:
        """Play the action of the selected agent; None for an agent that is terminated or truncated.

        Raises:
            IllegalAction: if the action is masked, or not in the action space; then nothing has changed.
            TypeError: if it is not a whole number.
            RuntimeError: before the first reset, or when no agent is left.
        """
        if not self.agents:
            raise RuntimeError(NO_GAME)
        game, agent = self._game, self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._played, self.illegal_reason = as_action(action), None
        earned = game.play(self._played)
        over, truncated = game.over, self._is_truncated(steps_in_cycle=len(self.possible_agents))
        self._cumulative_rewards[agent] = self._zero_reward()
        if over or game.is_dense:
            self.rewards = self._by_agent(earned)
            self._accumulate_rewards()
        self.agent_selection = self._mover
        self.infos = self._infos(truncated)
        if over or truncated:
            self._finish(truncated)

    def end_illegally(self, error: IllegalAction) -> None:
        """In place: terminate all agents after an illegal action of the selected agent. The game does not change.

        The agent gets the worst reward, and ``infos[agent]["illegal_action"]`` holds the id of the action.
        """
        self._cumulative_rewards[self.agent_selection] = self._zero_reward()
        self.rewards, self.infos = self._penalize(error)
        self._accumulate_rewards()
        self._finish(truncated=False)

    def _finish(self, truncated: bool) -> None:
        """In place: terminate or truncate all agents."""
        self.terminations = dict.fromkeys(self.agents, not truncated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self._deads_step_first()


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

    def __str__(self) -> str:
        return str(self.env)


def env(**arguments: Any) -> GenialWrapper:
    """The environment as PettingZoo's classic games hand it out: wrapped, an illegal action ending the game for all."""
    return GenialWrapper(GenialAECEnv(**arguments))
