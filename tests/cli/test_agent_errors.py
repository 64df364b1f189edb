"""Errors of a user's own agent in commands that count no forfeits."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genial_env import Rules
from genial_env.cli.agent_errors import GuardedPolicy, make_guarded
from genial_env.core.arrays import Ints
from genial_env.core.views import View
from genial_env.policies.uniform import RandomPolicy
from tests.cli.test_cli import here

AGENTS = "tests.cli.test_agent_errors"
ERRORS = {"KeyError": KeyError("a"), "OSError": OSError(2, "gone"), "RuntimeError": RuntimeError("b")}


class Failing(RandomPolicy):
    """Raises an error at its first decision.

    Args:
        error: a name of :data:`ERRORS`; None for an error of numpy.
    """

    def __init__(self, error: str | None = None) -> None:
        self._error = error

    def __call__(self, view: View, random: Any) -> Ints:
        if self._error is not None:
            raise ERRORS[self._error]
        return np.zeros(len(view) + 2, dtype=np.int64) + np.zeros(len(view) + 1, dtype=np.int64)


def failure(*words: object) -> str:
    """Run a command that ends with an agent's error; its one line."""
    done = here(*words)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    "words",
    [["simulate", "--games", 2, "--agents"], ["puzzles"], ["play", "--seats"]],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("", "ValueError: operands could not be broadcast together"),
        ("(error='OSError')", "FileNotFoundError: [Errno 2] gone"),
        ("(error='KeyError')", "KeyError: 'a'"),
        ("(error='RuntimeError')", "RuntimeError: b"),
    ],
    ids=["ValueError", "OSError", "KeyError", "RuntimeError"],
)
def test_an_error_of_an_agent_is_one_line_that_names_it(words: list[object], settings: str, told: str) -> None:
    agent = f"{AGENTS}:Failing{settings}"
    found = failure(*words, agent if words[0] == "puzzles" else f"{agent},greedy")
    assert found.startswith(f"genial: agent {agent!r} failed: {told}")
    assert "(test_agent_errors.py, line " in found


def test_what_is_no_action_is_a_failure_too() -> None:
    found = failure("simulate", "--agents", "greedy,tests.strange_agents:Wordy")
    assert found.startswith("genial: agent 'tests.strange_agents:Wordy' failed: ")


@pytest.mark.parametrize("words", [["simulate", "--games", 20, "--agents", "greedy,{}"], ["puzzles", "{}"]], ids=str)
def test_an_illegal_action_is_told_with_its_reason(words: list[object]) -> None:
    agent = "tests.strange_agents:Cheating"
    found = failure(*(str(word).format(agent) for word in words))
    assert found.startswith(f"genial: agent {agent!r} failed: IllegalAction: illegal action 1000000 (")
    assert "actions run from 0 to " in found


def test_a_late_error_is_one_line_too(tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    words = ("simulate", "--agents", "random,tests.strange_agents:Crashing", "--batch", 1, "--out", out)
    assert "failed: RuntimeError: out of ideas (strange_agents.py, line " in failure(*words)


def test_only_agents_of_the_user_that_are_called_are_guarded() -> None:
    for agent in ("greedy", "concave(temperature=5)", "tests.strange_agents:make"):
        assert not isinstance(make_guarded(agent, Rules()), GuardedPolicy)
    guarded = make_guarded("tests.strange_agents:Crashing", Rules())
    assert isinstance(guarded, GuardedPolicy)
    assert guarded.name == "crashing"
