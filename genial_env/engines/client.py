"""The policy that asks an engine: a program in any language, in a process of its own."""

import time
from contextlib import suppress
from typing import Any

import numpy as np

from genial_env._util.checks import as_integer, as_number
from genial_env._util.error_text import printable
from genial_env._util.strict_json import JSONError
from genial_env.core.arrays import Bits, Ints
from genial_env.core.rules import Rules
from genial_env.core.views import View
from genial_env.engines.clock import GameClock
from genial_env.engines.process import ChildProcess
from genial_env.engines.protocol import (
    LONGEST_MESSAGE,
    PROTOCOL,
    VERSION,
    format_message,
    parse_message,
    split_command,
)
from genial_env.errors import AgentError, AgentLate, AgentStopped
from genial_env.notation.moves import read_decision
from genial_env.notation.structs import rules_to_json, view_to_json

__all__ = ["Engine"]

START_S = 300.0
"""The time limit for starting the program, for its greeting, and for its preparation for the rules."""

MOVE_TIME_S = 60.0
"""The default time limit of a decision in seconds."""

PATIENCE = 3
"""The number of successive late answers after which an engine is not asked again."""

MOST_INFOS = 1000
"""The most messages without meaning before an answer."""

QUIT_S = 1.0
"""How long an engine may take to end after "quit"; then it is killed."""


class Engine:
    """A policy that asks a program for its decisions, one game after the other.

    The program is started at the first decision, or by :meth:`prepare`, and started again after it has ended or has
    been late. It ends with this object, with :meth:`close`, or with this process.

    Args:
        agent: "engine:" and the command of the program, as a shell would split it; no shell is started.
        rules: the rules for :meth:`start`; None: they are known from the first decision.
        move_time_s: the time limit of a decision in seconds; None for no limit.
        game_time_s: the time limit of all decisions of a game in seconds; None for no limit. It holds where games are
            known by their numbers (:meth:`decide_in`).
        memory_mib: the largest amount of memory of the program in MiB, as for :class:`ChildProcess`; None for no limit.

    Raises:
        TypeError, ValueError: if there is no command, a limit is not above 0, or that of memory is not whole.
    """

    def __init__(
        self,
        agent: str,
        rules: Rules | None = None,
        move_time_s: float | None = MOVE_TIME_S,
        game_time_s: float | None = None,
        memory_mib: int | None = None,
    ) -> None:
        for name, value in (("move_time_s", move_time_s), ("game_time_s", game_time_s)):
            if value is not None:
                as_number(value, name, 0, above=True)
        self.name = agent.strip()
        self._command, self._rules = split_command(agent), rules
        self._move_time_s, self._clock = move_time_s, GameClock(game_time_s)
        self._memory_mib = None if memory_mib is None else as_integer(memory_mib, "memory_mib", 1)
        self._process: ChildProcess | None = None
        self._late, self._asked = 0, 0

    def prepare(self, rules: Rules) -> None:
        """In place: start the program if it does not run, and tell it the rules.

        Raises:
            ValueError: if it cannot be started, does not speak the protocol, or cannot play by these rules.
        """
        try:
            if self._process is None:
                self._greet()
                self._rules = None
            if self._rules != rules:
                self._tell_rules(rules)
        except AgentError as error:
            self._late += isinstance(error, AgentLate)
            self.close(0.0)
            raise ValueError(f"agent {self.name!r}: {error}") from None
        except BaseException:
            self.close(0.0)
            raise

    def start(self) -> None:
        """In place: :meth:`prepare` for the rules with which the policy was made."""
        if self._rules is not None:
            self.prepare(self._rules)

    def _greet(self) -> None:
        try:
            self._process = ChildProcess(self._command, LONGEST_MESSAGE, self._memory_mib)
        except OSError as error:
            raise AgentStopped(f"cannot start {self._command[0]!r}: {error.strerror or error}") from None
        hello = self._request("hello", "hello", START_S, protocol=PROTOCOL, version=VERSION)
        if (hello["protocol"], hello["version"]) != (PROTOCOL, VERSION):
            found = printable(f"{hello['protocol']} {hello['version']}")
            raise AgentError(f"expected the protocol {PROTOCOL} {VERSION}, found {found}")

    def _tell_rules(self, rules: Rules) -> None:
        self._rules = None
        self._request("rules", "ready", START_S, rules=rules_to_json(rules))
        self._rules = rules

    def _request(self, kind: str, expected: str, limit_s: float | None, **values: Any) -> dict[str, Any]:
        """Send a message and return the answer.

        Raises:
            AgentStopped: if there is none in time, or the process ends.
            AgentError: if the engine reports an error, or answers something else than expected.
        """
        assert self._process is not None
        self._process.send(format_message(kind, **values))
        deadline = None if limit_s is None else time.monotonic() + limit_s
        for _ in range(MOST_INFOS):
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                line = self._process.read_line(left)
            except AgentLate:
                raise AgentLate(f"no answer within {limit_s:g} s") from None
            try:
                answer = parse_message(line)
            except JSONError as error:
                raise AgentError(printable(f"its answer cannot be read: {error}")) from None
            if answer["type"] == "error":
                raise AgentError(printable(answer["text"]))
            if answer["type"] == expected:
                return answer
            if answer["type"] != "info":
                raise AgentError(f"expected the answer {expected!r} to {kind!r}, found {answer['type']!r}")
        raise AgentError(f"more than {MOST_INFOS} messages of the type 'info' before an answer")

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game: [G]. It is not said which games they are. See :meth:`decide_in`."""
        return np.array([self._decide(view, row, int(random[row]), None) for row in range(len(view))], dtype=np.int64)

    def decide_in(self, view: View, random: Bits, games: Ints) -> Ints:
        """Choose an action in each game: [G].

        Args:
            view: the views.
            random: [G] random bits.
            games: [G] a number for each seat of each game, the same at all its decisions.

        Raises:
            AgentStopped: if the process ends, gives no answer in time, or has no time left in a game.
            AgentError: if the engine reports an error, or its answer is no legal action.
        """
        return np.array(
            [self._decide(view, row, int(random[row]), int(games[row])) for row in range(len(view))], dtype=np.int64
        )

    def _decide(self, view: View, row: int, random: int, game: int | None) -> int:
        if self._late >= PATIENCE:
            raise AgentStopped(f"no answer in time, {PATIENCE} times in a row: not asked again")
        one = view.select(np.array([row]))
        numbers = np.array([] if game is None else [game], dtype=np.int64)
        left_s = None if game is None else self._clock.left_s(numbers)
        if left_s is not None and left_s <= 0:
            raise AgentLate(f"more than {self._clock.limit_s:g} s for its decisions in this game")
        try:
            self.prepare(view.rules)
        except ValueError as error:
            raise AgentStopped(str(error)) from None
        begun = time.perf_counter()
        try:
            move = self._ask(one, random, game, left_s)
        except AgentLate:
            self._late += self._is_move_limit(left_s)
            self.close(0.0)
            raise
        except BaseException:  # with an interruption too: an answer that is still to come would be taken for the next
            self.close(0.0)
            raise
        self._late = 0
        self._clock.add(numbers, time.perf_counter() - begun)
        try:
            return read_decision(one, move.lower().split())
        except ValueError as error:
            raise AgentError(printable(f"move {move!r}: {error}")) from None

    def _ask(self, view: View, random: int, game: int | None, left_s: float | None) -> str:
        """Return the move of the engine in one game."""
        assert self._process is not None
        self._asked += 1
        name = None if game is None else str(game)
        self._process.send(format_message("position", game=name, view=view_to_json(view)))
        answer = self._request(
            "go",
            "bestmove",
            self._move_time_s if self._is_move_limit(left_s) else left_s,
            id=self._asked,
            move_time_ms=_to_ms(self._move_time_s),
            game_time_ms=_to_ms(left_s),
            random=str(random),
        )
        if answer["id"] != self._asked:
            raise AgentError(f"expected the answer to request {self._asked}, found that to {answer['id']}")
        move: str = answer["move"]
        return move

    def _is_move_limit(self, left_s: float | None) -> bool:
        """Return whether the limit of a move binds, and not that of the game."""
        return left_s is None or (self._move_time_s is not None and self._move_time_s <= left_s)

    def close(self, patience_s: float = QUIT_S) -> None:
        """In place: end the program. The next decision starts it again.

        Args:
            patience_s: how long it may take to end after "quit"; then it is killed.
        """
        process, self._process = self._process, None
        if process is not None:
            process.send(format_message("quit"))
            process.end(patience_s)

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle without the process."""
        return {**self.__dict__, "_process": None}

    def __del__(self) -> None:
        """End the program."""
        with suppress(Exception):
            self.close(0.0)


def _to_ms(seconds: float | None) -> int | None:
    return None if seconds is None else int(1000 * seconds)
