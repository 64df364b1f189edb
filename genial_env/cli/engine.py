"""The command that plays an agent as an engine."""

import sys
from contextlib import redirect_stdout
from typing import Annotated

import numpy as np
import typer

from genial_env.arena._agent_process import warm_up
from genial_env.backends import for_one_game, using
from genial_env.cli.common import BackendName, app, choose_backend, one_line_errors
from genial_env.core.arrays import Bits, Ints
from genial_env.core.rules import Rules
from genial_env.core.views import View
from genial_env.engines.server import serve
from genial_env.policies.base import Policy
from genial_env.policies.registry import make_policy, prepare


@app.command("engine")
def serve_engine(
    agent: Annotated[str, typer.Argument(help="Agent: a name or module:factory.")],
    backend: BackendName = None,
) -> None:
    """Play an agent for another program: a line protocol over standard input and output (docs/engine_protocol.md)."""
    outgoing = sys.stdout.buffer
    with one_line_errors(), using(choose_backend(backend, 1) or for_one_game()), redirect_stdout(sys.stderr):
        policy = make_policy(agent)

        def decide(view: View, random: Bits, games: Ints | None) -> Ints:
            return _decide(policy, view, random, games)

        def make_ready(rules: Rules) -> None:
            prepare(policy, rules)
            warm_up(policy, rules)

        serve(decide, make_ready, sys.stdin.buffer, outgoing)


def _decide(policy: Policy, view: View, random: Bits, games: Ints | None) -> Ints:
    """Ask a policy, by its method ``decide_in`` if it has one and the game is known by its number."""
    decide_in = getattr(policy, "decide_in", None)
    actions = policy(view, random) if decide_in is None or games is None else decide_in(view, random, games)
    return np.asarray(actions)
