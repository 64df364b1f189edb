"""The base class of the two PettingZoo environments: a game whose seats are agents."""

import copy
from typing import Any, ClassVar, Unpack

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray

from genial_env._util.checks import as_integer
from genial_env.encodings import AnyEncoding
from genial_env.envs import rewards, spaces
from genial_env.envs.arguments import VARIANT_DEFAULTS, VariantArguments, expand_signature, make_rules
from genial_env.envs.central import central_length, central_state
from genial_env.envs.game import LEGAL, Game, draw_game_seed
from genial_env.envs.saved import check_names, check_saved
from genial_env.errors import IllegalAction
from genial_env.render import RENDER_MODES

__all__ = ["NO_GAME", "ZooEnv", "check_max_cycles"]


class ZooEnv:
    """A game whose seats are agents. Subclasses define ``reset`` and ``step``.

    Args:
        players: the number of seats.
        edition: the rule sheet.
        mode: "individual", "team" or "solo"; like the two before and `variant`, as in
            :class:`~genial_env.core.rules.Rules`.
        encoding: "planes", "flat", "tokens", or your own: an :class:`~genial_env.encodings.Encoding` or a function.
        reward: "rank", "margin", "lowest" or "vector" (:mod:`genial_env.envs.rewards`), or a
            :data:`~genial_env.envs.rewards.RewardFunction`.
        render_mode: None, "human", "ansi", "svg" or "rgb_array".
        record: whether to keep a game record.
        max_cycles: the number of cycles after which a game is truncated; None: never.

    Raises:
        ValueError: if the arguments do not describe a game.
        TypeError: if an argument has a wrong type, or is unknown.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "genial_v0",
        "render_modes": RENDER_MODES,
        "is_parallelizable": False,  # for aec_to_parallel, which expects every agent to step once in a cycle
        "render_fps": 2,
    }

    _kept: ClassVar[tuple[str, ...]] = ("agents", "_rng", "illegal_reason")
    """The attributes that change, besides the game."""

    @expand_signature(VARIANT_DEFAULTS)
    def __init__(
        self,
        players: int = 2,
        edition: str = "2025",
        mode: str = "individual",
        *,
        encoding: AnyEncoding = "planes",
        reward: str | rewards.RewardFunction = "rank",
        render_mode: str | None = None,
        record: bool = False,
        max_cycles: int | None = None,
        **variant: Unpack[VariantArguments],
    ) -> None:
        super().__init__()
        rules = make_rules(type(self), players, edition, mode, variant)
        if rules.players == 1:
            raise ValueError(
                "the PettingZoo environment is for 2 to 4 players; solo is gymnasium's genial_env/GenialSolo-v0"
            )
        self.rules = rules
        self.render_mode = render_mode
        self.max_cycles = check_max_cycles(max_cycles)
        self._game = Game(rules, encoding, reward, render_mode, record)
        self._rng = np.random.default_rng()
        self._played = -1  # the last action given, legal or not
        self.illegal_reason: str | None = None
        """Why the last action was illegal; None if it was legal, and after a reset."""
        self.possible_agents = [f"player_{seat}" for seat in range(rules.players)]
        self.agents: list[str] = []
        self._seat = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        action_space = spaces.action_space(rules)
        observation_space = Dict(
            {
                "observation": spaces.observation_space(self._game.encoding, rules),
                "action_mask": Box(0, 1, (int(action_space.n),), dtype=np.int8),
            }
        )
        # Each agent gets its own spaces, because a space has a random generator of its own.
        self.observation_spaces = {agent: copy.deepcopy(observation_space) for agent in self.possible_agents}
        self.action_spaces = {agent: copy.deepcopy(action_space) for agent in self.possible_agents}
        self.state_space = Box(0, 1, (central_length(rules),), dtype=np.float32)

    @property
    def np_random(self) -> np.random.Generator:
        """The generator that game seeds are drawn from; ``reset(seed=...)`` restarts it."""
        return self._rng

    def observation_space(self, agent: str) -> Dict:
        """Return the agent's observation space, the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Return the agent's action space, the same object at every call."""
        return self.action_spaces[agent]

    def observe(self, agent: str) -> dict[str, Any]:
        """Return what the agent may know now, as new arrays."""
        observation, mask = self._game.observe(self._seat[agent])
        return {"observation": observation, "action_mask": mask}

    def state(self) -> NDArray[np.float32]:
        """Return the central state, a new array [L], for centralized critics (:mod:`genial_env.envs.central`)."""
        state: NDArray[np.float32] = central_state(self._game.current)[0]
        return state.copy()

    def render(self) -> Any:
        """Draw the position in the render mode (:func:`genial_env.render.draw`), with all racks."""
        return self._game.render()

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def game_record(self) -> dict[str, Any]:
        """Return the record of the game so far; needs ``record=True``."""
        return self._game.record()

    def get_state(self) -> dict[str, Any]:
        """Return an independent copy of everything that changes, for :meth:`set_state`."""
        kept = {name: vars(self)[name] for name in self._kept if name in vars(self)}  # not all before the first reset
        return {"game": self._game.save(), "kept": copy.deepcopy(kept)}

    def set_state(self, saved: dict[str, Any]) -> None:
        """In place: go back to what :meth:`get_state` returned. The given state is not changed.

        Raises:
            TypeError, ValueError: for anything else, or a game under other rules; then nothing has changed.
        """
        check_names(saved, ["game", "kept"], "the saved state")
        self._check_kept(saved["kept"])
        self._game.restore(saved["game"])
        for name in self._kept:
            vars(self).pop(name, None)
            if name in saved["kept"]:
                vars(self)[name] = copy.deepcopy(saved["kept"][name])

    def _check_kept(self, kept: Any) -> None:
        """Check the saved attributes of the environment.

        Raises:
            TypeError, ValueError: if they are not those of such an environment.
        """
        is_new = isinstance(kept, dict) and set(kept) == set(ZooEnv._kept)  # saved before the first reset
        names = ZooEnv._kept if is_new else self._kept
        found = check_saved(kept, {name: vars(self).get(name) for name in names}, "the saved environment")
        agents = [*found["agents"], *(found[name] for name in ("agent_selection",) if name in found)]
        for agent in agents:
            if agent not in self.possible_agents:
                raise ValueError(f"the saved agents must be of {', '.join(self.possible_agents)}, not {agent!r}")

    def _deal(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """In place: start a new game with all agents, as ``reset`` describes."""
        if seed is not None:
            self._rng = np.random.default_rng(as_integer(seed, "seed", 0))
        self._game.start(draw_game_seed(self._rng, options), self.possible_agents, options)
        self.agents, self.illegal_reason = list(self.possible_agents), None

    def _is_truncated(self, steps_in_cycle: int) -> bool:
        """Return whether a game that goes on has reached the limit of `max_cycles`."""
        if self.max_cycles is None or self._game.over:
            return False
        return bool(self._game.current.decisions[0] >= self.max_cycles * steps_in_cycle)

    @property
    def _mover(self) -> str:
        """The agent to move; after the end, the agent that moved last."""
        return self.possible_agents[self._game.to_play]

    def _infos(self, left: bool) -> dict[str, dict[str, Any]]:
        """Return a new info for each agent. Keys, shapes and dtypes never change, so that libraries can stack them.

        Args:
            left: whether the game is left before its end, by truncation or an illegal action.
        """
        game = self._game
        to_play = np.int64(-1 if left or game.over else game.to_play)
        return {agent: {"to_play": to_play, **game.standings(), "illegal_action": LEGAL} for agent in self.agents}

    def _penalize(self, error: IllegalAction) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """In place: note an illegal action. Return the rewards and infos that it leads to, by agent."""
        offender = self._mover
        penalty = {**self._zero_rewards(), offender: rewards.worst_reward(self._game.scheme, self.rules)}
        infos = self._infos(left=True)
        infos[offender]["illegal_action"] = self._game.illegal_id(self._played)
        self.illegal_reason = str(error)
        return penalty, infos

    def _zero_reward(self) -> Any:
        """Return a new reward of zero."""
        return np.zeros(self.rules.colors) if rewards.gives_vectors(self._game.scheme) else 0.0

    def _zero_rewards(self) -> dict[str, Any]:
        """Return a reward of zero for each agent."""
        return {agent: self._zero_reward() for agent in self.agents}

    def _by_agent(self, earned: NDArray[Any]) -> dict[str, Any]:
        """Return the rewards [P] (or [P, C]) by agent: one float each, or one array each."""
        parts = earned.tolist() if earned.ndim == 1 else [row.copy() for row in earned]
        return dict(zip(self.possible_agents, parts, strict=True))


NO_GAME = "call reset() first: there is no game, or it is over for every agent"
"""The message of the RuntimeError for a step without a game."""


def check_max_cycles(max_cycles: int | None) -> int | None:
    """Return the number of cycles after which a game is truncated; None: never.

    Raises:
        TypeError: if it is not a whole number.
        ValueError: if it is below 1.
    """
    return None if max_cycles is None else as_integer(max_cycles, "max_cycles", 1)
