"""Agents in processes of their own: what one does there can end its game and nothing else.

An agent that is named by ``module:factory`` is anybody's code. Its process gets views and random bits, and gives back
the numbers of actions as JSON. The games stay with the parent, so scores follow from the actions alone, and nothing
that the agent sends is executed. The parent notices an answer that does not come in time and a process that has ended.
The next decision then gets a new process.

The child is ``python -c`` with this module's :func:`serve`, and no child of multiprocessing: it works the same in
worker processes of joblib and Ray, on every system, and does not import the parent's script.
"""

import atexit
import json
import os
import pickle
import queue
import runpy
import signal
import subprocess
import sys
import threading
import types
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any
from weakref import WeakSet

import numpy as np

from genial_env._util.shutdown import Terminated, exit_with_parent, sigint_blocked
from genial_env._util.strict_json import JSONError, parse_object
from genial_env.backends import Backend, using
from genial_env.core import kernel
from genial_env.core.bitsets import Ints
from genial_env.core.chance import Bits
from genial_env.core.rules import Rules
from genial_env.core.views import View
from genial_env.policies.base import Policy
from genial_env.policies.decisions import decide
from genial_env.policies.registry import make_policy

START_S = 300.0
"""How long an agent may take to be imported and made."""

WARM_UP_MOVES = 5
"""So many times as long as a move may take a first decision that does not count, as it loads many things."""

PATIENCE = 3
"""So many times in a row an agent may fail to answer in time; then it is not asked again."""

LONGEST_REASON = 500
"""Characters of what an agent says of its failure."""

LONGEST_ANSWER = 1 << 24
"""Bytes."""

POLL_S = 1.0
"""How often the parent looks whether a silent process still runs, beside waiting for its answer."""


@dataclass(frozen=True)
class Isolation:
    """Whether agents named by ``module:factory`` get processes of their own. Named agents never do.

    Args:
        on: whether they do. Without, a decision is up to a millisecond faster, and an agent can end or hang the whole
            run.
        move_time_s: seconds that a decision may take there; None for no limit. A batch of decisions that takes longer
            is asked for again one by one.

    Raises:
        ValueError: if `move_time_s` is not above 0.
    """

    on: bool = True
    move_time_s: float | None = 60.0

    def __post_init__(self) -> None:
        if self.move_time_s is not None and not self.move_time_s > 0:
            raise ValueError(f"move_time_s must be above 0, or None for no limit, not {self.move_time_s!r}")

    def applies_to(self, agent: str) -> bool:
        """Tell whether an agent gets a process of its own."""
        return self.on and ":" in agent.partition("(")[0]


ISOLATED = Isolation()
"""As it is where nobody says otherwise."""


class AgentStopped(RuntimeError):
    """An agent's process has ended, or gave no answer in time."""


class AgentError(RuntimeError):
    """An agent raised something in its process; the message says what."""


def describe_error(error: BaseException) -> str:
    """Describe what an agent raised, in one printable line of limited length, whatever its message is made of."""
    name = type(error).__name__
    try:
        text = f"{name}: {error}"
    except Terminated:
        raise
    except BaseException as another:
        text = f"{name}, whose message cannot be read ({type(another).__name__})"
    return printable(text)


def printable(text: str) -> str:
    """Escape what cannot be printed or stored (line ends, control characters, lone surrogates); cut long text."""
    text = text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON]}..."
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


# The parent's side


class IsolatedPolicy:
    """A policy whose decisions are made in a process of its own; a process that has failed is replaced.

    Args:
        agent: as :func:`genial_env.make_policy` reads it.
        rules: the games'.
        backend: that it uses.
        move_time_s: seconds for an answer; None for no limit.
    """

    def __init__(self, agent: str, rules: Rules, backend: Backend, move_time_s: float | None) -> None:
        self.name = agent
        self._order = (agent, rules, backend)
        self._move_time_s, self._late, self._warms_up = move_time_s, 0, True
        self._process: _Process | None = None

    def start(self) -> None:
        """In place: start the process, where none runs, and wait until the agent is made.

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
        """In place: a new process with the agent."""
        self._process = _Process()
        self._process.send((*self._order, _main_of(self.name)))
        try:
            answer = self._process.answer(START_S)
        except AgentStopped as error:
            raise ValueError(f"agent {self.name!r} cannot be made: {error}") from None
        if "refused" in answer:
            raise ValueError(str(answer["refused"]))

    def _warm_up(self) -> None:
        """In place: ask for a decision that does not count. An agent that stops is made anew, to stop in a game."""
        assert self._process is not None
        self._process.send(())
        try:
            self._process.answer(None if self._move_time_s is None else WARM_UP_MOVES * self._move_time_s)
        except AgentStopped:
            self._warms_up = False
            self.close()
            self._make()

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game.

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
            process.send((view, random))
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
    """No answer in time."""


class _Process:
    """A child that runs :func:`serve`, and the pipes to it. Threads write and read, so that nothing waits for ever."""

    def __init__(self) -> None:
        if _IS_CHILD:
            raise ValueError(
                "an agent's own process starts no others: a script that holds agents must begin its work under "
                "if __name__ == '__main__'"
            )
        code = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from genial_env.arena import isolation"
        command = [sys.executable, "-c", f"{code}; isolation.serve({os.getpid()})"]
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
        """The next line; b"" where the process has ended without one."""
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
_IS_CHILD = False


@atexit.register
def _end_all() -> None:
    for process in list(_running):
        process.end()


class _Mine(threading.local):
    """The agents' processes that a thread has started, by what they were started for."""

    def __init__(self) -> None:
        self.policies: dict[tuple[Any, ...], IsolatedPolicy] = {}


_mine = _Mine()


def isolated(agent: str, rules: Rules, backend: Backend, move_time_s: float | None) -> IsolatedPolicy:
    """Return an agent in a process of its own; the same one for the same arguments, until :func:`end_isolated`."""
    key = (agent, rules, backend, move_time_s)
    if key not in _mine.policies:
        _mine.policies[key] = IsolatedPolicy(*key)
    return _mine.policies[key]


def end_isolated() -> None:
    """End the processes of all agents that this thread has asked for."""
    while _mine.policies:
        _mine.policies.popitem()[1].close()


def check_agents(agents: Sequence[str], rules: Rules, backend: Backend, isolation: Isolation) -> None:
    """Make every agent once, each where it is to play, so that what is wrong shows before anything is played.

    Raises:
        ValueError: if one cannot be made, saying which and why.
        TypeError: if one is no policy.
    """
    for agent in agents:
        if isolation.applies_to(agent):
            isolated(agent, rules, backend, isolation.move_time_s).start()
        else:
            make_policy(agent)


def _main_of(agent: str) -> tuple[str, str] | None:
    """How a child can import the program of which an agent is a part: ("module" or "path", what); None for others.

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


# The child's side


def serve(parent: int) -> None:
    """Be an agent's process: answer requests from standard input until it ends.

    The first request says which agent; what is printed goes to standard error.
    """
    global _IS_CHILD
    _IS_CHILD = True
    exit_with_parent(parent)
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    incoming, outgoing = _take_pipes()
    threading.Thread(target=_receive, args=(incoming, requests), daemon=True).start()
    agent, rules, backend, main = requests.get()
    with using(backend):
        try:
            _import_main(main)
            policy = make_policy(agent)
        except BaseException as error:
            told = str(error) if isinstance(error, ValueError | TypeError) else None
            _answer(outgoing, refused=printable(told or f"agent {agent!r} cannot be made: {describe_error(error)}"))
            return
        _answer(outgoing, made=True)
        while True:
            request = requests.get()
            try:
                if not request:
                    warm_up(policy, rules)
                    actions = []
                else:
                    view, random = request
                    actions = kernel.as_actions(policy(view, random), len(view)).tolist()
            except BaseException as error:
                _answer(outgoing, error=describe_error(error))
            else:
                _answer(outgoing, actions=actions)


def warm_up(policy: Policy, rules: Rules) -> None:
    """Ask a policy once before its time counts, as many things are loaded the first time."""
    try:
        decide(policy, kernel.deal(rules, [0]), np.arange(1), np.zeros(1, dtype=np.uint64))
    except (KeyboardInterrupt, Terminated):
        raise
    except BaseException:
        pass  # it will raise it again in a game


def _take_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Standard input and output, which the agent then does not find there."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(incoming, "rb"), os.fdopen(outgoing, "wb")


def _receive(incoming: IO[bytes], requests: queue.SimpleQueue[Any]) -> None:
    """Pass on what comes; end this process when the parent has closed the pipe, whatever the agent is doing."""
    try:
        while True:
            requests.put(pickle.load(incoming))
    finally:
        os._exit(0)


def _answer(outgoing: IO[bytes], **answer: Any) -> None:
    outgoing.write(json.dumps(answer).encode() + b"\n")
    outgoing.flush()


def _import_main(main: tuple[str, str] | None) -> None:
    """Run the parent's program under another name, as multiprocessing does, and let ``__main__`` be it."""
    if main is None:
        return
    kind, what = main
    run = runpy.run_module if kind == "module" else runpy.run_path
    module = types.ModuleType("__mp_main__")
    sys.modules["__mp_main__"] = sys.modules["__main__"] = module
    module.__dict__.update(run(what, run_name="__mp_main__"))
