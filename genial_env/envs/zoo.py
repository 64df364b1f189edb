"""What the two PettingZoo environments share: one game whose seats are agents, their spaces and what they see."""

import copy
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray

from genial_env._util.checks import as_integer
from genial_env.encodings import AnyEncoding
from genial_env.envs import rewards, spaces
from genial_env.envs.arguments import make_rules
from genial_env.envs.central import central_length, central_state
from genial_env.envs.game import LEGAL, Game, as_action, draw_game_seed
from genial_env.envs.saved import check_names, check_saved
from genial_env.errors import IllegalAction
from genial_env.render import RENDER_MODES


class ZooEnv:
    """One game whose seats are agents; what playing a step means is for its subclasses to say.

    Args:
        players, edition, mode: as in :class:`~genial_env.core.rules.Rules`; `sizes` are its other arguments.
        encoding: "planes", "flat", "tokens", or your own: an :class:`~genial_env.encodings.Encoding` or a function.
        reward: "rank", "margin", "lowest" or "vector" (:mod:`genial_env.envs.rewards`).
        render_mode: None, "human", "ansi", "svg" or "rgb_array".
        record: whether to keep a game record.
        max_cycles: truncates longer games; None plays every game to its end.

    Raises:
        ValueError: for arguments that cannot be played.
        TypeError: for arguments of the wrong type.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "genial_v0",
        "render_modes": RENDER_MODES,
        "is_parallelizable": False,  # for aec_to_parallel, which expects every agent to step once in a cycle
        "render_fps": 2,
    }

    _kept: ClassVar[tuple[str, ...]] = ("agents", "_rng", "illegal_reason")
    """The names of the attributes that change, besides the game."""

    def __init__(
        self,
        players: int = 2,
        edition: str = "2025",
        mode: str = "individual",
        *,
        encoding: AnyEncoding = "planes",
        reward: str = "rank",
        render_mode: str | None = None,
        record: bool = False,
        max_cycles: int | None = None,
        **sizes: Any,
    ) -> None:
        super().__init__()
        rules = make_rules(type(self), players, edition, mode, sizes)
        if rules.players == 1:
            raise ValueError(
                "the PettingZoo environment is for 2 to 4 players; solo is gymnasium's genial_env/GenialSolo-v0"
            )
        self.rules = rules
        self.render_mode = render_mode
        self.max_cycles = check_max_cycles(max_cycles)
        self._game = Game(rules, encoding, reward, render_mode, record)
        self._rng = np.random.default_rng()
        self._played = -1  # the action of the last step
        self.illegal_reason: str | None = None
        """Why the action of the last step was illegal; None where it was not."""
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
        # Spaces have random state of their own, so every agent gets its own.
        self.observation_spaces = {agent: copy.deepcopy(observation_space) for agent in self.possible_agents}
        self.action_spaces = {agent: copy.deepcopy(action_space) for agent in self.possible_agents}
        self.state_space = Box(0, 1, (central_length(rules),), dtype=np.float32)

    @property
    def np_random(self) -> np.random.Generator:
        """The stream of games, as Gymnasium's environments have it; ``reset(seed=...)`` starts it anew."""
        return self._rng

    def observation_space(self, agent: str) -> Dict:
        """The agent's observation space, the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """The agent's action space, the same object at every call."""
        return self.action_spaces[agent]

    def observe(self, agent: str) -> dict[str, Any]:
        """What the agent may know now, as fresh arrays."""
        observation, mask = self._game.observe(self._seat[agent])
        return {"observation": observation, "action_mask": mask}

    def state(self) -> NDArray[np.float32]:
        """[L] what all agents together know, newly made: for centralized critics (:mod:`genial_env.envs.central`)."""
        state: NDArray[np.float32] = central_state(self._game.current)[0]
        return state.copy()

    def render(self) -> Any:
        """The position as the render mode has it (:func:`genial_env.render.draw`), with all racks."""
        return self._game.render()

    def close(self) -> None:
        """Nothing to release."""

    def game_record(self) -> dict[str, Any]:
        """The record of the game so far; needs ``record=True``."""
        return self._game.record()

    def get_state(self) -> dict[str, Any]:
        """An independent copy of the game and its bookkeeping, for :meth:`set_state`."""
        kept = {name: vars(self)[name] for name in self._kept if name in vars(self)}  # not all before the first reset
        return {"game": self._game.saved(), "kept": copy.deepcopy(kept)}

    def set_state(self, saved: dict[str, Any]) -> None:
        """In place: go back to what :meth:`get_state` gave; the state given stays as it is.

        Raises:
            TypeError, ValueError: for something else, or games of other rules or another number; nothing has changed.
        """
        check_names(saved, ["game", "kept"], "the saved state")
        self._check_kept(saved["kept"])
        self._game.restore(saved["game"])
        for name in self._kept:
            vars(self).pop(name, None)
            if name in saved["kept"]:
                vars(self)[name] = copy.deepcopy(saved["kept"][name])

    def _check_kept(self, kept: Any) -> None:
        """Raise a TypeError or a ValueError for what is no bookkeeping of such an environment."""
        is_new = isinstance(kept, dict) and set(kept) == set(ZooEnv._kept)  # saved before the first reset
        names = ZooEnv._kept if is_new else self._kept
        found = check_saved(kept, {name: vars(self).get(name) for name in names}, "the saved environment")
        agents = [*found["agents"], *(found[name] for name in ("agent_selection",) if name in found)]
        for agent in agents:
            if agent not in self.possible_agents:
                raise ValueError(f"the saved agents must be of {', '.join(self.possible_agents)}, not {agent!r}")

    def _deal(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """In place: start a new game with all agents, as ``reset`` says."""
        if seed is not None:
            self._rng = np.random.default_rng(as_integer(seed, "seed", 0))
        self._game.start(draw_game_seed(self._rng, options), self.possible_agents)
        self.agents = list(self.possible_agents)

    def _play(self, action: Any) -> NDArray[Any]:
        """In place: play an action of the agent to move; the reward of each seat.

        Raises:
            IllegalAction, TypeError: as ``step`` does.
        """
        self._played, self.illegal_reason = as_action(action), None
        return self._game.play(self._played)

    def _check_live(self) -> None:
        """Raise a RuntimeError where there is nothing to play."""
        if not self.agents:
            raise RuntimeError("call reset() first: there is no game, or it is over for every agent")

    def _is_truncated(self, steps_in_cycle: int) -> bool:
        """Whether the game, not over, has reached the number of cycles at which it is to be left."""
        if self.max_cycles is None or self._game.over:
            return False
        return bool(self._game.current.decisions[0] >= self.max_cycles * steps_in_cycle)

    @property
    def _mover(self) -> str:
        """The agent whose decision it is; after the end, whose it last was."""
        return self.possible_agents[self._game.to_play]

    def _infos(self, left: bool) -> dict[str, dict[str, Any]]:
        """A new info for every agent: numbers, the same names, shapes and types at any time, so that libraries can make
        arrays of them.

        Args:
            left: whether the game is left though it is not over.
        """
        game = self._game
        to_play = np.int64(-1 if left or game.over else game.to_play)
        return {agent: {"to_play": to_play, **game.standings(), "illegal_action": LEGAL} for agent in self.agents}

    def _fine(self, error: IllegalAction) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """What an illegal action brings every agent: rewards and infos."""
        offender = self._mover
        fine = {**self._nothing(), offender: rewards.worst(self._game.scheme, self.rules)}
        infos = self._infos(left=True)
        infos[offender]["illegal_action"] = self._game.numbered(self._played)
        self.illegal_reason = str(error)
        return fine, infos

    def _zero(self) -> Any:
        """No reward, newly made."""
        return np.zeros(self.rules.colors) if self._game.scheme == "vector" else 0.0

    def _nothing(self) -> dict[str, Any]:
        """No reward for any agent."""
        return {agent: self._zero() for agent in self.agents}

    def _by_agent(self, earned: NDArray[Any]) -> dict[str, Any]:
        """One float an agent, for a vector reward one array."""
        parts = earned.tolist() if earned.ndim == 1 else [row.copy() for row in earned]
        return dict(zip(self.possible_agents, parts, strict=True))


def check_max_cycles(max_cycles: int | None) -> int | None:
    """The number of cycles, None for as many as the game takes.

    Raises:
        TypeError: for something other than a whole number.
        ValueError: for a number below 1.
    """
    return None if max_cycles is None else as_integer(max_cycles, "max_cycles", 1)
