"""Process isolation of agents: an agent that fails can lose its game but do no other harm to the tournament.

An agent named by ``module:factory`` is untrusted code. Its process receives views and random bits, and returns action
ids as JSON. The games stay in the parent process, so scores follow from the actions alone, and nothing that the agent
sends is executed. The parent detects late answers and processes that have ended. The next decision then gets a new
process.

The child is started by ``python -c`` and not by multiprocessing. So it works in worker processes of joblib and Ray and
on every system, and it does not import the parent's script.
"""

import atexit
import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

import numpy as np

from genial_env._util.shutdown import sigint_blocked
from genial_env._util.strict_json import JSONError, parse_object
from genial_env.arena._agent_errors import AgentError, AgentStopped, printable
from genial_env.arena._agent_process import is_agent_process
from genial_env.backends import Backend
from genial_env.core import kernel
from genial_env.core.arrays import Bits, Ints
from genial_env.core.rules import Rules
from genial_env.core.views import View
from genial_env.policies.registry import make_policy, prepare

__all__ = [
    "ISOLATED",
    "AgentError",
    "AgentStopped",
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

POLL_S = 1.0
"""The interval at which the parent checks that a process without an answer still runs."""


@dataclass(frozen=True)
class Isolation:
    """The settings of process isolation. It applies to agents named by ``module:factory`` only.

    Args:
        on: whether such agents get their own processes. Without isolation a decision is up to a millisecond faster, but
            an agent can end or block the whole run.
        move_time_s: the time limit of a decision in seconds; None for no limit. The decisions of a batch that takes
            longer are repeated one by one.

    Raises:
        ValueError: if `move_time_s` is not above 0.
    """

    on: bool = True
    move_time_s: float | None = 60.0

    def __post_init__(self) -> None:
        if self.move_time_s is not None and not self.move_time_s > 0:
            raise ValueError(f"move_time_s must be above 0, or None for no limit, not {self.move_time_s!r}")

    def applies_to(self, agent: str) -> bool:
        """Return whether an agent gets its own process."""
        return self.on and ":" in agent.partition("(")[0]


ISOLATED = Isolation()
"""The default settings."""


class IsolatedPolicy:
    """A policy that runs in its own process. A process that has failed is replaced.

    Args:
        agent: the agent, as :func:`genial_env.make_policy` reads it.
        rules: the rules of the games.
        backend: the compute backend of the agent.
        move_time_s: the time limit of an answer in seconds; None for no limit.
    """

    def __init__(self, agent: str, rules: Rules, backend: Backend, move_time_s: float | None) -> None:
        self.name = agent
        self._order = (agent, rules, backend)
        self._move_time_s, self._late, self._warms_up = move_time_s, 0, True
        self._process: _Process | None = None

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
        self._process = _Process()
        self._process.send((*self._order, _main_of(self.name)))
        try:
            answer = self._process.answer(START_S)
        except AgentStopped as error:
            raise ValueError(f"agent {self.name!r} cannot be made: {error}") from None
        if "refused" in answer:
            raise ValueError(str(answer["refused"]))

    def _warm_up(self) -> None:
        """In place: warm the agent up. If its process ends, start a new one: only failures in a game count."""
        assert self._process is not None
        self._process.send(())
        try:
            self._process.answer(None if self._move_time_s is None else WARM_UP_MOVES * self._move_time_s)
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
        process = self._process
        assert process is not None
        try:
            process.send((view, random, games))
            answer = process.answer(self._move_time_s)
        except _Late:
            self._late += 1
            self.close()
            raise
        except BaseException:  # with an interruption too: an answer that is still to come would be taken for the next
            self.close()
            raise
        self._late = 0
        if "error" in answer:
            raise AgentError(printable(str(answer["error"])))
        return kernel.as_actions(answer.get("actions", ()), len(view))

    def close(self) -> None:
        """In place: end the process."""
        process, self._process = self._process, None
        if process is not None:
            process.end()


class _Late(AgentStopped):
    """Raised if there is no answer in time."""


class _Process:
    """A child process that runs ``_agent_process.serve``, with its pipes.

    Threads write to and read from the pipes, so that no call blocks without a limit.
    """

    def __init__(self) -> None:
        if is_agent_process():
            raise ValueError(
                "an agent's own process starts no others: a script that holds agents must begin its work under "
                "if __name__ == '__main__'"
            )
        code = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from genial_env.arena import _agent_process"
        command = [sys.executable, "-c", f"{code}; _agent_process.serve({os.getpid()})"]
        with sigint_blocked():
            self._child = subprocess.Popen(
                [*command, json.dumps([str(entry) for entry in sys.path])],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        self._requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._write, self._read)]
        for thread in self._threads:
            thread.start()
        _running.add(self)

    def send(self, request: tuple[Any, ...]) -> None:
        """Send a request."""
        self._requests.put(pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL))

    def answer(self, limit_s: float | None) -> dict[str, Any]:
        """Wait for the answer to the last request.

        Raises:
            AgentStopped: if there is none within the limit, the process ends, or the answer cannot be read.
        """
        line = self._wait(limit_s)
        if not line:
            raise AgentStopped(self._how_it_ended())
        try:
            return parse_object(line.decode("utf-8"))
        except (JSONError, UnicodeDecodeError):
            raise AgentStopped("its process gave an answer that cannot be read") from None

    def _wait(self, limit_s: float | None) -> bytes:
        """Return the next line, or b"" if the process has ended without one."""
        left = float("inf") if limit_s is None else limit_s
        while left > 0:
            with suppress(queue.Empty):
                return self._answers.get(timeout=min(left, POLL_S))
            if self._child.poll() is not None:  # and something that it has started holds the pipe
                return b""
            left -= POLL_S
        raise _Late(f"no answer within {limit_s:g} s")

    def end(self) -> None:
        """Kill the process and close the pipes."""
        _running.discard(self)
        self._child.kill()
        self._child.wait()
        self._requests.put(b"")
        for thread, pipe in zip(self._threads, (self._child.stdin, self._child.stdout), strict=True):
            thread.join(POLL_S)
            if pipe is not None and not thread.is_alive():
                with suppress(OSError):  # of what could not be sent any more
                    pipe.close()

    def _write(self) -> None:
        assert self._child.stdin is not None
        with suppress(OSError):  # the process has ended: what waits for its answer notices
            while request := self._requests.get():
                self._child.stdin.write(request)
                self._child.stdin.flush()

    def _read(self) -> None:
        assert self._child.stdout is not None
        while line := self._child.stdout.readline(LONGEST_ANSWER):
            self._answers.put(line)
        self._answers.put(b"")

    def _how_it_ended(self) -> str:
        try:
            status = self._child.wait(POLL_S)
        except subprocess.TimeoutExpired:
            return "its process closed its pipes"
        if status >= 0:
            return f"its process ended with exit status {status}"
        with suppress(ValueError):
            return f"its process was ended by {signal.Signals(-status).name}"
        return f"its process was ended by signal {-status}"


_running: WeakSet[_Process] = WeakSet()


@atexit.register
def _end_all() -> None:
    for process in list(_running):
        process.end()


class _Mine(threading.local):
    """The isolated policies that a thread has started, by the arguments of :func:`isolated`."""

    def __init__(self) -> None:
        self.policies: dict[tuple[Any, ...], IsolatedPolicy] = {}


_mine = _Mine()


def isolated(agent: str, rules: Rules, backend: Backend, move_time_s: float | None) -> IsolatedPolicy:
    """Return an agent in its own process: the same one for the same arguments, until :func:`end_isolated`."""
    key = (agent, rules, backend, move_time_s)
    if key not in _mine.policies:
        _mine.policies[key] = IsolatedPolicy(*key)
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
            isolated(agent, rules, backend, isolation.move_time_s).start()
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
