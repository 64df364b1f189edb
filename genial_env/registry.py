"""Policies by what users write: a name, ``"module:factory"``, and either with settings in brackets.

    greedy    concave(temperature=5)    my_agents:make    my_agents:Net(file="net.zip", greedy=True)

Besides the built-in names those of the roster are known (``ROSTER`` in ``agents/roster.py``) wherever it can be
imported, as in a clone of the repository: an arrow that points up, and only when such a name is used.
"""

import ast
import importlib
import importlib.util
import re
from collections.abc import Callable
from typing import Any

from genial_env.policies import BUILT_IN, Policy
from genial_env.rules import Rules

ROSTER_MODULE = "agents.roster"


def make_policy(policy: str | Policy) -> Policy:
    """A policy by what a user wrote; a policy itself is handed through.

    Args:
        policy: ``"name"`` or ``"module:factory"``, with or without ``"(setting=value, ...)"``; values are Python
            literals. A factory is called with the settings and returns a policy; a class will do. Or a policy.

    Raises:
        ValueError: for an unknown name, words that cannot be read, a module or factory that there is not, or settings
            that the factory does not take.
        TypeError: for something that is no policy.
    """
    if not isinstance(policy, str):
        return _checked(policy, "a policy")
    name, settings = _parsed(policy)
    factory = _factory(name)
    try:
        made = factory(**settings)
    except (TypeError, ValueError, OSError) as error:  # OSError: of files that settings name
        raise ValueError(f"agent {policy!r}: {error}") from error
    return _checked(made, f"agent {policy!r}")


def prepare(policy: Policy, rules: Rules) -> None:
    """Let a policy read what it needs for a game, by its method ``prepare(rules)`` where it has one.

    Raises:
        ValueError: where it cannot play it, saying why.
    """
    try:
        getattr(policy, "prepare", _nothing_to_prepare)(rules)
    except (ValueError, OSError, ImportError) as error:  # OSError: of files, ImportError: of what reads them
        raise ValueError(f"{policy.name} cannot play this game: {error}") from error


def _nothing_to_prepare(rules: Rules) -> None:
    pass


def known_names() -> list[str]:
    """The names that need no module: the built-in ones and the roster's."""
    return [*BUILT_IN, *(name for name in _roster() if name not in BUILT_IN)]


def split_names(words: str) -> list[str]:
    """Agents separated by commas; commas in brackets do not count.

    >>> split_names("greedy, concave(temperature=5), my_agents:make")
    ['greedy', 'concave(temperature=5)', 'my_agents:make']
    """
    return [part.strip() for part in re.split(r",(?![^(]*\))", words) if part.strip()]


def _checked(made: Any, what: str) -> Policy:
    if not callable(made) or not isinstance(getattr(made, "name", None), str):
        raise TypeError(f"{what} must be a callable with a name, not {made!r}")
    found: Policy = made
    return found


def _parsed(words: str) -> tuple[str, dict[str, Any]]:
    """The name, and the settings in its brackets."""
    found = re.fullmatch(r"\s*([\w.:-]+)\s*(\(.*\))?\s*", words, flags=re.DOTALL)
    if found is None:
        raise ValueError(f"an agent is written name or module:factory, with or without (setting=value), not {words!r}")
    name, brackets = found.groups()
    try:
        call = ast.parse(f"f{brackets or '()'}", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError("one pair of brackets")
        if call.args or any(word.arg is None for word in call.keywords):
            raise ValueError("settings need their names")
        return name, {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"agent {words!r}: settings are written (setting=value, ...), each value a literal") from error


def _factory(name: str) -> Callable[..., Any]:
    if name in BUILT_IN:
        return BUILT_IN[name]
    target = name if ":" in name else _roster().get(name)
    if target is None:
        raise ValueError(
            f"unknown agent {name!r}: the agents are {', '.join(known_names())}; write your own as module:factory"
        )
    module_name, _, attribute = target.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise ValueError(f"agent {name!r}: cannot import {module_name!r}: {error}") from error
    factory = getattr(module, attribute, None)
    if not callable(factory):
        raise ValueError(f"agent {name!r}: module {module_name!r} has no factory {attribute!r}")
    found: Callable[..., Any] = factory
    return found


def _roster() -> dict[str, str]:
    """The roster's names, each with its "module:factory"; empty where there is no roster."""
    try:
        if importlib.util.find_spec(ROSTER_MODULE) is None:
            return {}
    except ModuleNotFoundError:
        return {}
    roster: dict[str, str] = importlib.import_module(ROSTER_MODULE).ROSTER
    return roster


def ladder() -> list[str]:
    """The scripted agents, the weaker first: the roster's ``LADDER``, else the built-in ones."""
    if not _roster():
        return list(BUILT_IN)
    names: list[str] = importlib.import_module(ROSTER_MODULE).LADDER
    return list(names)


def expand(words: str) -> list[str]:
    """Agents separated by commas, "ladder" among them standing for all of :func:`ladder`, nobody twice."""
    named = [ladder() if name == "ladder" else [name] for name in split_names(words)]
    return list(dict.fromkeys(name for names in named for name in names))
