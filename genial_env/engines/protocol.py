"""The messages of the line protocol between the package and engines (docs/engine_protocol.md).

Each message is a JSON object in one line. Its key `type` says which it is.
"""

import json
import os
import shlex
from typing import Any

from genial_env._util.strict_json import JSONError, decode_text, parse_object
from genial_env._util.validators import STRING, Validator, any_value, integer, json_object, optional

__all__ = [
    "LONGEST_MESSAGE",
    "PREFIX",
    "PROTOCOL",
    "VERSION",
    "format_message",
    "is_engine",
    "parse_message",
    "split_command",
]

PROTOCOL, VERSION = "genialprotocol", 1

PREFIX = "engine:"
"""What stands before the command of an engine where an agent is named."""

LONGEST_MESSAGE = 1 << 16
"""The largest size of a message in bytes."""

_MESSAGES: dict[str, Validator] = {
    "hello": json_object(any_value, type=STRING, protocol=STRING, version=integer(1)),
    "ready": json_object(any_value, type=STRING),
    "bestmove": json_object(any_value, type=STRING, id=integer(), move=STRING),
    "error": json_object(any_value, type=STRING, text=STRING),
    "info": json_object(any_value, type=STRING),
    "rules": json_object(type=STRING, rules=any_value),
    "position": json_object(type=STRING, game=optional(STRING), view=any_value),
    "go": json_object(
        any_value,
        type=STRING,
        id=integer(),
        random=STRING,
    ),
    "quit": json_object(type=STRING),
}
"""The validator of each message. Engines may add keys to theirs."""


def format_message(kind: str, **values: Any) -> bytes:
    """Return a message as a line."""
    return json.dumps({"type": kind, **values}, separators=(",", ":")).encode() + b"\n"


def parse_message(line: bytes) -> dict[str, Any]:
    """Return the message of a line.

    Raises:
        ValueError: if the line is no message of the protocol; the message says what was expected and found.
    """
    found = parse_object(decode_text(line))
    validator = _MESSAGES.get(kind) if isinstance(kind := found.get("type"), str) else None
    if validator is None:
        raise JSONError(f"expected a message of the type {', '.join(_MESSAGES)}, found the type {kind!r}")
    message: dict[str, Any] = validator(found, f"message {kind}")
    return message


def is_engine(agent: str) -> bool:
    """Return whether an agent is named by the command of an engine: "engine:./my_agent --flag"."""
    return agent.lstrip().startswith(PREFIX)


def split_command(agent: str, windows: bool = os.name == "nt") -> list[str]:
    """Return the program and the arguments of an engine.

    Args:
        agent: the agent.
        windows: whether a backslash is a part of a path, and not a mark before another character.

    Raises:
        ValueError: if there is no command, or a quotation mark is not closed.
    """
    try:
        words = agent.strip().removeprefix(PREFIX)
        command = shlex.split(words.replace("\\", "\\\\") if windows else words)
    except ValueError as error:
        raise ValueError(f"agent {agent!r}: the command cannot be read: {error}") from error
    if not command:
        raise ValueError(f"agent {agent!r}: an engine is written {PREFIX}COMMAND, such as {PREFIX}./my_agent --flag")
    return command
