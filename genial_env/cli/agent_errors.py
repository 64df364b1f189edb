"""Errors that a user's own agent raises in commands that count no forfeits."""

import sysconfig
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from genial_env._util.error_text import describe_error, printable
from genial_env.core import kernel
from genial_env.core.arrays import Bits, Ints
from genial_env.core.determinization import determinize
from genial_env.core.rules import Rules
from genial_env.core.views import View
from genial_env.engines.protocol import is_engine
from genial_env.errors import AgentError, IllegalAction
from genial_env.policies.base import PlannedPolicy, Policy
from genial_env.policies.registry import make_policy

OTHERS = [Path(__file__).parents[1], *(Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib"))]
"""Folders of code that is not the user's."""


def is_users(agent: str) -> bool:
    """Return whether an agent is named by ``module:factory``."""
    return not is_engine(agent) and ":" in agent.partition("(")[0]


@contextmanager
def agent_errors(agent: str) -> Iterator[None]:
    """Turn what a user's agent raises in the block into an AgentError of one line, which ends the command.

    Args:
        agent: the agent. Other agents than ``module:factory`` have messages of their own.

    Raises:
        AgentError: names the agent, the error, and the line of the user's code.
    """
    try:
        yield
    except (AgentError, BrokenPipeError):
        raise
    except Exception as error:
        if not is_users(agent):
            raise
        raise AgentError(f"agent {agent!r} failed: {describe_error(error).rstrip()}{_describe_place(error)}") from error


def _describe_place(error: Exception) -> str:
    """Return the innermost line of the user's code in a traceback: " (my_agent.py, line 4)"; empty without one."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not any(Path(frame.filename).is_relative_to(folder) for folder in OTHERS)]
    return printable(f" ({Path(own[-1].filename).name}, line {own[-1].lineno})") if own else ""


class GuardedPolicy:
    """A user's policy, whose errors are told in one line.

    Args:
        agent: the policy as the user named it.
        policy: the policy.
    """

    def __init__(self, agent: str, policy: Policy) -> None:
        self._agent, self._policy = agent, policy

    @property
    def name(self) -> str:
        """The policy's name."""
        return self._policy.name

    def prepare(self, rules: Rules) -> None:
        """Let the policy load what it needs for a game (:func:`genial_env.policies.registry.prepare`)."""
        prepare: Callable[[Rules], object] | None = getattr(self._policy, "prepare", None)
        if prepare is not None:
            prepare(rules)

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game.

        Raises:
            AgentError: if the policy fails, gives what is no action, or chooses an illegal one.
        """
        with agent_errors(self._agent):
            actions = kernel.as_actions(self._policy(view, random), len(view))
            _check_legal(view, actions)
        return actions


def _check_legal(view: View, actions: Ints) -> None:
    """Check that actions [G] are legal.

    Raises:
        IllegalAction: if one is not.
    """
    mask = view.mask()
    known = (actions >= 0) & (actions < mask.shape[1])
    legal = known & mask[np.arange(len(view)), np.where(known, actions, 0)]
    wrong = np.flatnonzero(~legal)
    if wrong.size:
        state = determinize(view, np.zeros(len(view), dtype=np.uint64))
        raise IllegalAction(kernel.why_illegal(state, int(wrong[0]), int(actions[wrong[0]])))


def make_guarded(agent: str, rules: Rules | None = None) -> Policy:
    """Make an agent as :func:`genial_env.make_policy` does, and guard it if it is a user's.

    Args:
        agent: the agent.
        rules: the rules; with them a policy that compiled code can play without calling it stays as it is.

    Raises:
        ValueError, TypeError: as :func:`genial_env.make_policy`.
    """
    policy = make_policy(agent)
    planned = rules is not None and isinstance(policy, PlannedPolicy) and policy.plan(rules) is not None
    return policy if planned or not is_users(agent) else GuardedPolicy(agent, policy)
