"""Policies by what users write: a name, ``"module:factory"``, and either with settings in brackets.

    greedy    concave(temperature=5)    my_agents:make    my_agents:Net(file="net.zip", greedy=True)

There are two ways in. :func:`make_policy` reads what the user types or passes in code; it may import modules and open
files. :func:`make_known_policy` reads what comes with data (a record, a session's file, a tournament's folder, an
upload, a request); it knows agents with a name only, and runs nothing that the data name.

The names are those of :data:`genial_env.policies.roster.ROSTER`.
"""

import ast
import importlib
import re
from collections.abc import Callable
from typing import Any

from genial_env.core.rules import Rules
from genial_env.policies.base import Policy
from genial_env.policies.roster import LADDER, ROSTER

MOST_CHARACTERS = 1000
"""The longest name of an agent, settings included."""


def make_policy(policy: str | Policy) -> Policy:
    """Make a policy from what a user wrote; a policy itself is handed through.

    Never give it words that came with data: they could run any code (:func:`make_known_policy`).

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
    return _made(policy, *_parsed(policy))


def make_known_policy(words: Any) -> Policy:
    """Make a policy from words that came with data, which anybody may have written.

    Args:
        words: a name of :func:`known_names`, with or without settings that are numbers, True, False or None. Text is
            refused in settings, as it names files and other agents.

    Raises:
        ValueError: for anything else, saying what is allowed.
    """
    if not isinstance(words, str):
        raise ValueError(f"expected the name of an agent, found {_short(words)}")
    name, settings = _parsed(words)
    known = known_names()
    if name not in known:
        raise ValueError(
            f"agent {_short(words)}: expected one of {', '.join(known)}, as the name comes with data; whoever trusts "
            f"another agent names it on the command line or in code"
        )
    for setting, value in settings.items():
        if value is not None and not isinstance(value, bool | int | float):
            raise ValueError(
                f"agent {_short(words)}: {setting} must be a number, True, False or None, as the settings come with "
                f"data, not {_short(value)}"
            )
    try:
        return _made(words, name, settings)
    except TypeError as error:
        raise ValueError(str(error)) from error


def _made(words: str, name: str, settings: dict[str, Any]) -> Policy:
    factory = _factory(name)
    try:
        made = factory(**settings)
    except (TypeError, ValueError, OSError) as error:  # OSError: of files that settings name
        raise ValueError(f"agent {words!r}: {error}") from error
    return _checked(made, f"agent {words!r}")


def _short(value: Any) -> str:
    """A value for a message, cut short."""
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


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
    """The names that need no module."""
    return list(ROSTER)


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
    if len(words) > MOST_CHARACTERS:
        raise ValueError(f"an agent is written in at most {MOST_CHARACTERS} characters, not {len(words)}")
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
        named = [word.arg for word in call.keywords]
        if len(set(named)) < len(named):
            raise ValueError("every setting is given once")
        return name, {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"agent {words!r}: settings are written (setting=value, ...), each value a literal") from error


def _factory(name: str) -> Callable[..., Any]:
    target = name if ":" in name else ROSTER.get(name)
    if target is None:
        raise ValueError(
            f"unknown agent {name!r}: the agents are {', '.join(known_names())}; write your own as module:factory"
        )
    if not isinstance(target, str):
        return target
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


def expand(words: str) -> list[str]:
    """Agents separated by commas, nobody twice; "ladder" stands for all of ``roster.LADDER``."""
    named = [LADDER if name == "ladder" else [name] for name in split_names(words)]
    return list(dict.fromkeys(name for names in named for name in names))
