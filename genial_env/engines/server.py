"""Play a policy as an engine: read the messages of the protocol, and answer them."""

from collections.abc import Callable
from typing import IO, Any, Protocol

import numpy as np

from genial_env._util.error_text import describe_error
from genial_env.core.arrays import Bits, Ints
from genial_env.core.rules import Rules
from genial_env.core.views import View
from genial_env.engines.protocol import PROTOCOL, VERSION, format_message, parse_message
from genial_env.notation.moves import format_decision
from genial_env.notation.structs import rules_from_json, view_from_json

__all__ = ["serve"]

Decide = Callable[[View, Bits, Ints | None], Ints]
"""A function of a view of one game, random bits [1], and the game's number [1] or None. It returns an action id [1]."""


class _Reader(Protocol):
    def readline(self) -> bytes: ...


def serve(decide: Decide, prepare: Callable[[Rules], None], incoming: _Reader, outgoing: IO[bytes]) -> None:
    """Answer messages until "quit" or the end of the input.

    Args:
        decide: chooses an action.
        prepare: is called with the rules before the first decision under them. A ValueError says why they cannot be
            played.
        incoming: the requests.
        outgoing: gets the answers.
    """
    session = _Session(decide, prepare)
    while line := incoming.readline():
        try:
            message = parse_message(line)
            if message["type"] == "quit":
                return
            answer = session.answer(message)
        except ValueError as error:
            answer = format_message("error", text=str(error))
        except Exception as error:  # of the policy
            answer = format_message("error", text=describe_error(error))
        outgoing.write(answer)
        outgoing.flush()


class _Session:
    """What an engine knows: the rules and the position."""

    def __init__(self, decide: Decide, prepare: Callable[[Rules], None]) -> None:
        self._decide, self._prepare = decide, prepare
        self._rules: Rules | None = None
        self._position: tuple[View, Ints | None] | None = None

    def answer(self, message: dict[str, Any]) -> bytes:
        """In place: carry out a message; return the answer, b"" if there is none."""
        kind = message["type"]
        if kind == "hello":
            return format_message("hello", protocol=PROTOCOL, version=VERSION)
        if kind == "rules":
            rules = rules_from_json(message["rules"])
            self._prepare(rules)
            self._rules, self._position = rules, None
            return format_message("ready")
        if kind == "position":
            if self._rules is None:
                raise ValueError("expected the rules before a position")
            game = message["game"]
            numbers = None if game is None else np.array([_to_number(game, 63)], dtype=np.int64)
            self._position = view_from_json(self._rules, message["view"], "view"), numbers
            return b""
        if kind == "go":
            if self._position is None:
                raise ValueError("expected a position before 'go'")
            view, numbers = self._position
            random = np.array([_to_number(message["random"], 64)], dtype=np.uint64)
            action = int(self._decide(view, random, numbers)[0])
            if not (0 <= action < view.tables.n_actions and view.mask()[0, action]):
                raise ValueError(f"the agent chose the illegal action {action}")
            return format_message("bestmove", id=message["id"], move=format_decision(view, action, by_slot=True))
        raise ValueError(f"expected hello, rules, position, go or quit, found {kind!r}")


def _to_number(text: str, bits: int) -> int:
    if not (text.isascii() and text.isdigit() and int(text) < 2**bits):
        raise ValueError(f"expected a whole number below 2**{bits} as text, found {text[:40]!r}")
    return int(text)
