"""Process isolation of agents: an agent that fails can lose its game but do no other harm to the tournament.

An agent named by ``module:factory`` is untrusted code. Its process receives views and random bits, and returns action
ids as JSON. The games stay in the parent process, so scores follow from the actions alone, and nothing that the agent
sends is executed. The parent detects late answers and processes that have ended. The next decision then gets a new
process.

The child is started by ``python -c`` and not by multiprocessing. So it works in worker processes of joblib and Ray and
on every system, and it does not import the parent's script.
"""

import json
import os
import pickle
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genial_env._util.checks import as_integer
from genial_env._util.error_text import printable
from genial_env._util.strict_json import JSONError, parse_object
from genial_env.arena._agent_process import is_agent_process
from genial_env.backends import Backend
from genial_env.core import kernel
from genial_env.core.arrays import Bits, Ints
from genial_env.core.rules import Rules
from genial_env.core.views import View
from genial_env.engines.client import Engine
from genial_env.engines.clock import GameClock
from genial_env.engines.process import LIMITS_MEMORY, ChildProcess
from genial_env.engines.protocol import is_engine
from genial_env.errors import AgentError, AgentLate, AgentStopped
from genial_env.policies.registry import make_policy, prepare

__all__ = [
    "ISOLATED",
    "IsolatedPolicy",
    "Isolation",
    "check_agents",
    "end_isolated",
    "isolated",
]

START_S = 300.0
"""The time limit for importing and making an agent."""

WARM_UP_MOVES = 5
"""The time limit of the warm-up decision, in multiples of the limit of a move."""

PATIENCE = 3
"""The number of successive late answers after which an agent is not asked again."""

LONGEST_ANSWER = 1 << 24
"""The largest size of an answer in bytes."""


@dataclass(frozen=True)
class Isolation:
    """The settings of process isolation. It applies to agents named by ``module:factory``, and to engines.

    Args:
        on: whether agents ``module:factory`` get their own processes; engines always have one. Without isolation a
            decision is up to a millisecond faster, but an agent can end or block the whole run.
        move_time_s: the time limit of a decision in seconds; None for no limit. The decisions of a batch that takes
            longer are repeated one by one.
        game_time_s: the time limit of all decisions of a seat in a game in seconds; None for no limit. The time of a
            batch is divided evenly among its games.
        memory_mib: the largest amount of memory of an agent's process in MiB; None for no limit. It is a limit of
            private writable memory: what programs and libraries consist of does not count. Only on Linux.

    Raises:
        TypeError, ValueError: if a limit is not above 0, that of memory is not whole, or there is one of memory on
            another system.
    """

    on: bool = True
    move_time_s: float | None = 60.0
    game_time_s: float | None = None
    memory_mib: int | None = None

    def __post_init__(self) -> None:
        for name in ("move_time_s", "game_time_s"):
            limit = getattr(self, name)
            if limit is not None and not limit > 0:
                raise ValueError(f"{name} must be above 0, or None for no limit, not {limit!r}")
        if self.memory_mib is not None:
            object.__setattr__(self, "memory_mib", as_integer(self.memory_mib, "memory_mib", 1))
            if not LIMITS_MEMORY:
                raise ValueError(f"the memory of a process can be limited on Linux only, not on {sys.platform}")

    def applies_to(self, agent: str) -> bool:
        """Return whether an agent gets its own process."""
        return is_engine(agent) or (self.on and ":" in agent.partition("(")[0])


ISOLATED = Isolation()
"""The default settings."""


class IsolatedPolicy:
    """A policy that runs in its own process. A process that has failed is replaced.

    Args:
        agent: the agent, as :func:`genial_env.make_policy` reads it.
        rules: the rules of the games.
        backend: the compute backend of the agent.
        move_time_s: the time limit of an answer in seconds; None for no limit.
        game_time_s: the time limit of all answers of a game in seconds; None for no limit.
        memory_mib: the largest amount of memory of the process in MiB, as for :class:`Isolation`; None for no limit.
    """

    def __init__(
        self,
        agent: str,
        rules: Rules,
        backend: Backend,
        move_time_s: float | None,
        game_time_s: float | None = None,
        memory_mib: int | None = None,
    ) -> None:
        self.name = agent
        self._order = (agent, rules, backend)
        self._move_time_s, self._late, self._warms_up = move_time_s, 0, True
        self._clock, self._memory_mib = GameClock(game_time_s), memory_mib
        self._process: ChildProcess | None = None

    def start(self) -> None:
        """In place: start the process if none runs, and wait until the agent is made.

        Raises:
            ValueError: if the agent cannot be made; says why.
        """
        if self._process is not None:
            return
        try:
            self._make()
            if self._warms_up:
                self._warm_up()
        except BaseException:
            self.close()
            raise

    def _make(self) -> None:
        """In place: start a new process and make the agent in it."""
        try:
            self._process = _start_process(self._memory_mib)
        except OSError as error:
            raise ValueError(f"agent {self.name!r} cannot be made: {error}") from None
        self._send((*self._order, _main_of(self.name)))
        try:
            answer = self._answer(START_S)
        except AgentStopped as error:
            raise ValueError(f"agent {self.name!r} cannot be made: {error}") from None
        if "refused" in answer:
            raise ValueError(str(answer["refused"]))

    def _warm_up(self) -> None:
        """In place: warm the agent up. If its process ends, start a new one: only failures in a game count."""
        self._send(())
        try:
            self._answer(None if self._move_time_s is None else WARM_UP_MOVES * self._move_time_s)
        except AgentStopped:
            self._warms_up = False
            self.close()
            self._make()

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game. See :meth:`decide_in`."""
        return self.decide_in(view, random, np.arange(len(view)))

    def decide_in(self, view: View, random: Bits, games: Ints) -> Ints:
        """Choose an action in each game, as :func:`genial_env.arena.games.ask` does, in the agent's process.

        Raises:
            AgentStopped: if the process ends, or gives no answer in time.
            AgentError: if the agent raises something, or gives what is no action.
        """
        if self._late >= PATIENCE:
            raise AgentStopped(f"no answer within {self._move_time_s:g} s, {PATIENCE} times in a row: not asked again")
        try:
            self.start()
        except ValueError as error:
            raise AgentStopped(str(error)) from None
        left_s = self._clock.left_s(games)
        if left_s is not None and left_s <= 0:
            raise AgentLate(f"more than {self._clock.limit_s:g} s for its decisions in this game")
        limit_s, begun = self._limit_s(left_s, len(view)), time.perf_counter()
        try:
            self._send((view, random, games))
            answer = self._answer(limit_s)
        except AgentLate:
            self._late += limit_s == self._move_time_s
            self.close()
            raise
        except BaseException:  # with an interruption too: an answer that is still to come would be taken for the next
            self.close()
            raise
        self._late = 0
        self._clock.add(games, time.perf_counter() - begun)
        if "error" in answer:
            limit = f" (the limit is {self._memory_mib} MiB)" if answer.get("memory") and self._memory_mib else ""
            raise AgentError(printable(f"{answer['error']}{limit}"))
        return kernel.as_actions(answer.get("actions", ()), len(view))

    def _limit_s(self, left_s: float | None, n_games: int) -> float | None:
        """Return the time limit of the decisions in a batch of games, the least of whose times left is given."""
        limits = [self._move_time_s, None if left_s is None else n_games * left_s]
        return min((limit for limit in limits if limit is not None), default=None)

    def _send(self, request: tuple[Any, ...]) -> None:
        assert self._process is not None
        self._process.send(pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL))

    def _answer(self, limit_s: float | None) -> dict[str, Any]:
        """Wait for the answer to the last request.

        Raises:
            AgentStopped: if there is none within the limit, the process ends, or the answer cannot be read.
        """
        assert self._process is not None
        line = self._process.read_line(limit_s)
        try:
            return parse_object(line.decode("utf-8"))
        except (JSONError, UnicodeDecodeError):
            raise AgentStopped("its process gave an answer that cannot be read") from None

    def close(self) -> None:
        """In place: end the process."""
        process, self._process = self._process, None
        if process is not None:
            process.end()


def _start_process(memory_mib: int | None) -> ChildProcess:
    """Return a child process that runs ``_agent_process.serve``."""
    if is_agent_process():
        raise ValueError(
            "an agent's own process starts no others: a script that holds agents must begin its work under "
            "if __name__ == '__main__'"
        )
    code = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from genial_env.arena import _agent_process"
    command = [sys.executable, "-c", f"{code}; _agent_process.serve({os.getpid()})"]
    return ChildProcess([*command, json.dumps([str(entry) for entry in sys.path])], LONGEST_ANSWER, memory_mib)


class _Mine(threading.local):
    """The policies with a process that a thread has started, by the arguments of :func:`isolated`."""

    def __init__(self) -> None:
        self.policies: dict[tuple[Any, ...], IsolatedPolicy | Engine] = {}


_mine = _Mine()


def isolated(agent: str, rules: Rules, backend: Backend, isolation: Isolation) -> IsolatedPolicy | Engine:
    """Return an agent in its own process: the same one for the same arguments, until :func:`end_isolated`."""
    key = (agent, rules, backend, isolation)
    if key not in _mine.policies:
        limits = isolation.move_time_s, isolation.game_time_s, isolation.memory_mib
        made = Engine(agent, rules, *limits) if is_engine(agent) else IsolatedPolicy(agent, rules, backend, *limits)
        _mine.policies[key] = made
    return _mine.policies[key]


def end_isolated() -> None:
    """End the processes of all agents that this thread has started."""
    while _mine.policies:
        _mine.policies.popitem()[1].close()


def check_agents(agents: Sequence[str], rules: Rules, backend: Backend, isolation: Isolation) -> None:
    """Make every agent once, in the process in which it will play, so that errors are raised before any game.

    Agents that play in this process also load what they need for the game.

    Raises:
        ValueError: if one cannot be made, or has no weights for the game or nothing to read them; says which and why.
        TypeError: if one is no policy.
    """
    for agent in agents:
        if isolation.applies_to(agent):
            isolated(agent, rules, backend, isolation).start()
        else:
            prepare(make_policy(agent), rules)


def _main_of(agent: str) -> tuple[str, str] | None:
    """Return how a child can import the agent's main program: ("module", name) or ("path", path); None if not needed.

    Raises:
        ValueError: if it cannot.
    """
    if agent.partition(":")[0].strip() != "__main__":
        return None
    main = sys.modules["__main__"]
    if (spec := getattr(main, "__spec__", None)) is not None:
        return "module", spec.name
    if (path := getattr(main, "__file__", None)) is not None and os.path.exists(path):
        return "path", os.path.abspath(path)
    raise ValueError(
        f"agent {agent!r}: a process of its own cannot import what was typed in (python -c, a notebook, standard "
        "input): put the agent into a module, or isolate nothing"
    )
