"""Make policies from text: a name or ``"module:factory"``, with or without settings, or ``"engine:COMMAND"``.

    greedy    concave(temperature=5)    my_agents:make    my_agents:Net(file="net.zip", greedy=True)
    engine:./my_agent --flag

There are two functions. :func:`make_policy` is for text that the user types or passes in code; it may import modules,
open files and start programs. :func:`make_known_policy` is for text that comes with data: a record, a session's file, a
tournament's folder, an upload or a request. It accepts only the names of
:data:`genial_env.policies.roster.ROSTER`, and runs nothing else that the data name.
"""

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from genial_env.core.rules import Rules
from genial_env.engines.client import Engine
from genial_env.engines.protocol import PREFIX, is_engine
from genial_env.policies.base import Policy
from genial_env.policies.judgement import Judge
from genial_env.policies.roster import LADDER, ROSTER

__all__ = [
    "MOST_CHARACTERS",
    "expand",
    "known_names",
    "make_known_policy",
    "make_policies",
    "make_policy",
    "parse_agent",
    "prepare",
    "split_names",
]

MOST_CHARACTERS = 1000
"""The greatest length of an agent's text, settings included."""


def make_policy(policy: str | Policy) -> Policy:
    """Make a policy from text that a user wrote; return a policy unchanged.

    Never pass text that came with data: it could run any code. Use :func:`make_known_policy` for it.

    Args:
        policy: ``"name"`` or ``"module:factory"``, with or without ``"(setting=value, ...)"``; values are Python
            literals. A factory is a class or function that is called with the settings and returns a policy. Or
            ``"engine:COMMAND"`` for a program that speaks the protocol of docs/engine_protocol.md.

    Raises:
        ValueError: if the name is unknown, the text cannot be parsed, the module or factory does not exist, or the
            factory does not accept the settings.
        TypeError: if the result is not a policy.
    """
    if not isinstance(policy, str):
        return _check(policy, "a policy")
    if is_engine(policy):
        return Engine(policy)
    return _make(policy, *parse_agent(policy))


def make_policies(policies: Sequence[str | Policy]) -> list[Policy]:
    """Make each of several policies (:func:`make_policy`).

    Raises:
        TypeError: if they are one text, or no sequence.
        ValueError, TypeError: see :func:`make_policy`.
    """
    if isinstance(policies, str) or not isinstance(policies, Iterable):
        raise TypeError(f"expected a list of agents, such as ['greedy', 'random'], not {policies!r}")
    return [make_policy(policy) for policy in policies]


def make_known_policy(text: Any) -> Policy:
    """Make a policy from text that came with data, which anybody may have written.

    Args:
        text: a name of :func:`known_names`, with or without settings that are numbers, True, False or None. Text in
            settings is refused, because it could name files and other agents.

    Raises:
        ValueError: for anything else; the message says what is allowed.
    """
    if not isinstance(text, str):
        raise ValueError(f"expected the name of an agent, found {_short(text)}")
    name, settings = parse_agent(text)
    known = known_names()
    if name not in known:
        raise ValueError(
            f"agent {_short(text)}: expected one of {', '.join(known)}, as the name comes with data; whoever trusts "
            f"another agent names it on the command line or in code"
        )
    for setting, value in settings.items():
        if value is not None and not isinstance(value, bool | int | float):
            raise ValueError(
                f"agent {_short(text)}: {setting} must be a number, True, False or None, as the settings come with "
                f"data, not {_short(value)}"
            )
    try:
        return _make(text, name, settings)
    except TypeError as error:
        raise ValueError(str(error)) from error


def _make(text: str, name: str, settings: dict[str, Any]) -> Policy:
    factory = _find_factory(name)
    _check_settings(text, factory, settings)
    try:
        made = factory(**settings)
    except (TypeError, ValueError, OSError) as error:  # OSError: of files that settings name
        raise ValueError(f"agent {text!r}: {error}") from error
    return _check(made, f"agent {text!r}")


def _check_settings(text: str, factory: Callable[..., Any], settings: dict[str, Any]) -> None:
    """Check that a factory takes the settings by these names.

    Raises:
        ValueError: if it does not; the message lists those that it takes.
    """
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):  # a factory in C has no signature
        return
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return
    names = [each.name for each in parameters if each.kind is not each.POSITIONAL_ONLY]
    for name in settings.keys() - set(names):
        known = f"its settings are {', '.join(names)}" if names else "it has no settings"
        raise ValueError(f"agent {text!r}: there is no setting {name!r}; {known}")


def _short(value: Any) -> str:
    """Return a value for a message, cut to 120 characters."""
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def prepare(agent: Policy | Judge, rules: Rules, fault: str | None = None) -> None:
    """Let an agent load what it needs for a game, by calling its method ``prepare(rules)`` if it has one.

    Args:
        agent: a policy or a judge.
        rules: the rules of the game.
        fault: how the message of an error begins; None: "NAME cannot play this game".

    Raises:
        ValueError: if it cannot; the message says why.
    """
    try:
        getattr(agent, "prepare", _nothing_to_prepare)(rules)
    except (ValueError, OSError, ImportError) as error:  # OSError: of files, ImportError: of a library
        raise ValueError(f"{fault or f'{agent.name} cannot play this game'}: {error}") from error


def _nothing_to_prepare(rules: Rules) -> None:
    pass


def known_names() -> list[str]:
    """Return the names of the agents of the package."""
    return list(ROSTER)


def split_names(text: str) -> list[str]:
    """Split agents separated by commas; commas in brackets, and in quotation marks of an engine, do not separate.

    What follows a bracket or quotation mark that is not closed is one part, and :func:`parse_agent` refuses it.

    >>> split_names("greedy, search(playout='denial(shape=1, arrival=2)'), my_agents:make")
    ['greedy', "search(playout='denial(shape=1, arrival=2)')", 'my_agents:make']
    """
    parts, start = [], 0
    depth, quote, is_escaped = 0, "", False  # open brackets, the open quotation mark, whether a backslash was before
    for at, character in enumerate(text):
        if is_escaped:
            is_escaped = False
        elif quote:
            is_escaped = character == "\\"
            quote = "" if character == quote else quote
        elif character in "'\"" and (depth or is_engine(text[start:at])):  # elsewhere it is an apostrophe
            quote = character
        elif character == "(":
            depth += 1
        elif character == ")":
            depth = max(0, depth - 1)
        elif character == "," and not depth:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def _check(made: Any, what: str) -> Policy:
    if not callable(made) or not isinstance(getattr(made, "name", None), str):
        raise TypeError(
            f"{what} must be a callable with a name: called as policy(view, random), with an attribute `name`, "
            f"not {made!r}"
        )
    found: Policy = made
    return found


def parse_agent(text: str) -> tuple[str, dict[str, Any]]:
    """Return an agent's name, which may be ``module:factory``, and the settings in brackets.

    An engine has no settings; its name is the whole text.

    Raises:
        ValueError: if the text is not of this form.
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"an agent is written in at most {MOST_CHARACTERS} characters, not {len(text)}")
    if is_engine(text):
        return text.strip(), {}
    found = re.fullmatch(r"\s*([\w.:-]+)\s*(\(.*\))?\s*", text, flags=re.DOTALL)
    if found is None:
        raise ValueError(f"an agent is written name or module:factory, with or without (setting=value), not {text!r}")
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
        raise ValueError(
            f"agent {text!r}: settings are written (setting=value, ...), each a number, True, False, None or text "
            f"in quotation marks"
        ) from error


def _find_factory(name: str) -> Callable[..., Any]:
    target = name if ":" in name else ROSTER.get(name)
    if target is None:
        raise ValueError(
            f"unknown agent {name!r}: the agents are {', '.join(known_names())}; write your own as module:factory, or "
            f"as {PREFIX}COMMAND"
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


def expand(text: str) -> list[str]:
    """Split agents separated by commas and drop duplicates; "ladder" stands for all of ``roster.LADDER``."""
    named = [LADDER if name == "ladder" else [name] for name in split_names(text)]
    return list(dict.fromkeys(name for names in named for name in names))
