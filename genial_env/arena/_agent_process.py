"""The main function of an agent's own process. :mod:`genial_env.arena.isolation` starts these processes."""

import json
import os
import pickle
import queue
import runpy
import sys
import threading
import types
from typing import IO, Any

import numpy as np

from genial_env._util.error_text import describe_error, printable
from genial_env._util.shutdown import Terminated, exit_with_parent
from genial_env.arena.games import ask
from genial_env.backends import using
from genial_env.core import kernel
from genial_env.core.rules import Rules
from genial_env.core.views import view
from genial_env.policies.base import Policy
from genial_env.policies.decisions import act, choice_keys, decide
from genial_env.policies.registry import make_policy
from genial_env.policies.uniform import RandomPolicy

_is_agent_process = False


def is_agent_process() -> bool:
    """Return whether this process is an agent's own one."""
    return _is_agent_process


def serve(parent: int) -> None:
    """Run an agent's process: answer requests from standard input until it is closed.

    The first request says which agent; what is printed goes to standard error.
    """
    global _is_agent_process
    _is_agent_process = True
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
                    seen, random, games = request
                    actions = kernel.as_actions(ask(policy, seen, random, games), len(seen)).tolist()
            except BaseException as error:
                _answer(outgoing, error=describe_error(error), memory=isinstance(error, MemoryError))
            else:
                _answer(outgoing, actions=actions)


def warm_up(policy: Policy, rules: Rules) -> None:
    """Ask a policy for some decisions before it is timed, since the first ones compile and load many things.

    They are the first one of a random game, one in the middle, and the last but one, where agents solve the game.
    """
    row = np.zeros(1, dtype=np.int64)
    game, positions = kernel.deal(rules, [0]), []
    keys = choice_keys(np.zeros(1, dtype=np.uint64), rules.players)
    while not game.over[0]:
        positions.append(game.copy())
        kernel.apply(game, act([RandomPolicy()], np.zeros((1, rules.players), dtype=np.int64), game, keys, row), row)
    try:
        for at in sorted({0, len(positions) // 2, max(0, len(positions) - 2)}):
            position = positions[at]
            if hasattr(policy, "decide_in"):
                actions = ask(policy, view(position, rows=row), np.zeros(1, dtype=np.uint64), np.array([at]))
            else:
                actions = decide(policy, position, row, np.zeros(1, dtype=np.uint64))
            kernel.is_legal(position, kernel.as_actions(actions, 1), row)
    except (KeyboardInterrupt, Terminated):
        raise
    except BaseException:
        pass  # it will raise it again in a game


def _take_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Return the pipes of standard input and output, and hide them from the agent."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(incoming, "rb"), os.fdopen(outgoing, "wb")


def _receive(incoming: IO[bytes], requests: queue.SimpleQueue[Any]) -> None:
    """Put requests into the queue. Exit when the parent has closed the pipe, whatever the agent is doing."""
    try:
        while True:
            requests.put(pickle.load(incoming))
    finally:
        os._exit(0)


def _answer(outgoing: IO[bytes], **answer: Any) -> None:
    outgoing.write(json.dumps(answer).encode() + b"\n")
    outgoing.flush()


def _import_main(main: tuple[str, str] | None) -> None:
    """Import the parent's main program as ``__main__`` under the name ``__mp_main__``, as multiprocessing does."""
    if main is None:
        return
    kind, what = main
    run = runpy.run_module if kind == "module" else runpy.run_path
    module = types.ModuleType("__mp_main__")
    sys.modules["__mp_main__"] = sys.modules["__main__"] = module
    module.__dict__.update(run(what, run_name="__mp_main__"))
