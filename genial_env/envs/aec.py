"""The PettingZoo AEC environment: one decision of one agent at a time."""

from typing import Any, ClassVar

from pettingzoo import AECEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

from genial_env.envs.game import as_action
from genial_env.envs.zoo import NO_GAME, ZooEnv
from genial_env.errors import IllegalAction

__all__ = ["GenialAECEnv", "GenialWrapper", "env"]


class GenialAECEnv(ZooEnv, AECEnv[str, dict[str, Any], int]):  # type: ignore[misc]  # PettingZoo is untyped
    """Génial!/Ingenious for 2 to 4 seats, one decision of one agent at a time.

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

    ## Description

    Players place tiles of two colored halves on a hexagonal board. Each half scores the unbroken lines of its own
    color. A player's result is the lowest of six markers. ``docs/rules.md`` has the rules.

    A turn may take several steps of the same agent: its placement, bonus placements, and the decision to swap its
    rack. So ``agent_selection`` may stay the same from one step to the next.

    ## Observation space

    A Dict of ``observation``, what the agent's seat may know in the format of the `encoding`, and ``action_mask``. The
    agent's own seat and track come first. The encodings are "planes" (a Dict of uint8 arrays), "flat" (the same in one
    float32 vector), "tokens" (one uint8 array of rows), or your own, a class or a function. "planes" with 2 seats:

    | Field           | Shape        | Content                                                                  |
    |-----------------|--------------|--------------------------------------------------------------------------|
    | `board`         | (14, 11, 11) | in play; free; the cells of each color; what each color would score      |
    | `rack`          | (6, 2, 6)    | the own tiles, each half's color one-hot                                 |
    | `markers`       | (2, 6)       | 0 to 18 (in teams 36)                                                    |
    | `unseen`        | (21,)        | tiles of each kind in the bag and the racks of the others                |
    | `returned`      | (2, 6, 21)   | tiles returned by swaps since each slot was filled                       |
    | `levels`        | (21, 12)     | tiles of each kind in the bag and in older slots after its last returns  |
    | `rack_sizes`    | (2,)         | tiles held                                                               |
    | `has_placed`    | (2,)         | whether the seat has placed its first tile                               |
    | `to_play`       | (2,)         | whose decision it is, one-hot                                            |
    | `phase`         | (4,)         | place, bonus, swap, over, one-hot                                        |
    | `pending_bonus` | (1,)         | bonus placements to be made                                              |

    :mod:`genial_env.encodings.planes` describes each field.

    **Legal actions mask.** ``action_mask`` is 1 for legal actions. It is all 0 for an agent that is not to move.

    ## Action space

    With K rack slots and E oriented placements (K = 6; E = 480, 684, 924 for 2, 3, 4 seats):

    | Action ID              | Action                                                                            |
    |------------------------|-----------------------------------------------------------------------------------|
    | ``slot * E + place``   | place the tile of rack slot 0 to K - 1 on oriented placement 0 to E - 1           |
    | ``K * E``              | swap the rack                                                                     |
    | ``K * E + 1``          | decline (a swap, in edition 2009 also a bonus placement)                          |

    :func:`genial_env.core.actions.decode` returns an action in words.

    ## Rewards

    By default the final rank, from +1 (first) to -1 (last), at the end of the game. Ties share the mean; partners both
    get their team's. :mod:`genial_env.envs.rewards` has the other schemes. "vector" gives an array with one number for
    each color, which not every library accepts.

    ## Starting state

    A full bag, six tiles on each rack, an empty board except for the start symbols, all markers at 0. ``player_0``
    begins.

    ## Episode end

    *Terminated*, all agents at once, if no two adjacent cells are free or if a track has all its markers at the end.
    *Truncated* by `max_cycles`; such a game has no ranks, and not the reward that its end would bring.

    **Illegal actions.** ``genial_v0.env()`` terminates all agents: the agent gets the worst reward of the scheme, the
    others 0. ``genial_v0.raw_env()`` raises :class:`~genial_env.errors.IllegalAction`. A number outside of the action
    space is an illegal action. Anything that is not a whole number (None, a fraction) is a TypeError in both.

    ## Information

    Numbers, with the same keys, shapes and dtypes at any time:

    - ``to_play`` int64: the seat of the selected agent, -1 when the game is over;
    - ``ranks`` (T,) int64: the rank of each track; 0 until the game has ended;
    - ``scores`` (T, C) int64: the markers of each track;
    - ``illegal_action`` int64: for an agent whose illegal action ended the game its id, A for a number outside of the
      action space; else -1. ``env.unwrapped.illegal_reason`` says as text why it was illegal.

    ## State

    :meth:`state` returns one vector of what all agents together know, for centralized critics
    (:mod:`genial_env.envs.central`).

    ## Arguments

    ``genial_v0.env(players=2, edition="2025", mode="individual", encoding="planes", reward="rank",
    render_mode=None, record=False, max_cycles=None)``

    - players: 2 to 4; edition: "2004", "2009" or "2025"; mode: "individual" or (4 players, not in 2025) "team";
    - side, colors, rack, tile_sets, one_bonus_a_tile: variants, see :class:`~genial_env.core.rules.Rules`;
    - encoding: "planes", "flat", "tokens", or your own;
    - reward: "rank", "margin", "lowest" or "vector", or a :data:`~genial_env.envs.rewards.RewardFunction`;
    - render_mode: None, "human", "ansi", "svg" or "rgb_array": how :meth:`render` draws the position, with all racks
      (:func:`genial_env.render.draw`);
    - record: True keeps a game record for :meth:`game_record`;
    - max_cycles: truncate the game after this many cycles. As in PettingZoo, a cycle is one step for each agent: as
      many decisions as there are seats. None: play to the end, which every game reaches.

    ``reset(options={"game_seed": n})`` deals the game of seed n.

    ## Version history

    v0: first version.
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
            seed: restarts the environment's stream of game seeds; None: the stream goes on.
            options: ``{"game_seed": n}`` deals the game of seed n.
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
            TypeError, ValueError: if a reward function returns something else than rewards; then reset.
            RuntimeError: before the first reset, or when no agent is left.
        """
        if not self.agents:
            raise RuntimeError(NO_GAME)
        game, agent = self._game, self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._played, self.illegal_reason = as_action(action), None
        before = game.current.copy() if game.has_function else None
        earned = game.play(self._played)
        if before is not None:
            earned = game.pay(before, self._played, range(self.rules.players))
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
    """Enforces the order of calls, and terminates all agents after an illegal action, as PettingZoo's classic games do.

    PettingZoo uses three nested wrappers for that. Each passes every attribute on to the next, which takes longer than
    a step of the game, so this is one wrapper. An action is checked by the game itself, not by an earlier mask.
    """

    env: GenialAECEnv

    def step(self, action: int | None) -> None:
        """Play as :meth:`GenialAECEnv.step` does, but terminate all agents if that raises IllegalAction."""
        try:
            super().step(action)
        except IllegalAction as error:
            EnvLogger.warn_on_illegal_move()
            self.env.end_illegally(error)

    def last(self, observe: bool = True) -> tuple[dict[str, Any] | None, Any, bool, bool, dict[str, Any]]:
        """Return observation, reward since its own last step, terminated, truncated and info of the selected agent."""
        if not self._has_reset:
            EnvLogger.error_observe_before_reset()
        found: tuple[dict[str, Any] | None, Any, bool, bool, dict[str, Any]] = self.env.last(observe)
        return found

    @property
    def agents(self) -> list[str]:
        """The agents that are neither terminated nor truncated, and those whose dead step is due."""
        return self.env.agents if self._has_reset else self.__getattr__("agents")

    @property
    def agent_selection(self) -> str:
        """The agent that steps next."""
        return self.env.agent_selection if self._has_reset else self.__getattr__("agent_selection")

    def __str__(self) -> str:
        return str(self.env)


def env(**arguments: Any) -> GenialWrapper:
    """Make the wrapped environment, in which an illegal action terminates all agents."""
    return GenialWrapper(GenialAECEnv(**arguments))
