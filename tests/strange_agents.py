"""Agents that misbehave, for the tests of tournaments, by their "module:factory"."""

import inspect
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from genial_env.core.arrays import Ints
from genial_env.core.state import State
from genial_env.core.views import View
from genial_env.policies.uniform import RandomPolicy


class Crashing(RandomPolicy):
    """Plays at random, but now and then raises."""

    name = "crashing"

    def __call__(self, view: View, random: Any) -> Ints:
        if (random % np.uint64(16) == 0).any():
            raise RuntimeError("out of ideas")
        return super().__call__(view, random)


class Cheating(RandomPolicy):
    """Plays at random, but now and then something that is no action."""

    name = "cheating"

    def __call__(self, view: View, random: Any) -> Ints:
        return np.where(random % np.uint64(16) == 0, 10**6, super().__call__(view, random))


class Remembering(RandomPolicy):
    """Plays at random, and raises if a game's number is not that of the same game all the time."""

    name = "remembering"

    def __init__(self) -> None:
        self.boards: dict[int, Any] = {}
        self.asked = 0

    def decide_in(self, view: View, random: Any, games: Ints) -> Ints:
        self.asked += len(games)
        for game, board in zip(games.tolist(), view.board, strict=True):
            before = self.boards.get(game, np.full_like(board, -1))
            if ((before != -1) & (board != before)).any():
                raise RuntimeError("this is another game")
            self.boards[game] = board.copy()
        return super().__call__(view, random)

    def __call__(self, view: View, random: Any) -> Ints:
        raise RuntimeError("decide_in() is asked instead")


class Wordy(RandomPolicy):
    """Gives something else than actions."""

    name = "wordy"

    def __call__(self, view: View, random: Any) -> Any:
        return ["the best one"] * len(view)


class Faulty(RandomPolicy):
    """Plays at random, but does something bad where its bits say so: one decision in eight.

    Args:
        fault: a name of :data:`FAULTS`.
    """

    name = "faulty"

    def __init__(self, fault: str) -> None:
        self.fault = fault

    def __call__(self, view: View, random: Any) -> Ints:
        if (random % np.uint64(8) == 0).any():
            FAULTS[self.fault]()
        return super().__call__(view, random)


class Unreadable(Exception):
    """An exception whose message cannot be had."""

    def __str__(self) -> str:
        sys.exit(3)


def _raise(error: BaseException) -> None:
    raise error


def _sleep() -> None:
    time.sleep(3600)


FAULTS: dict[str, Callable[[], Any]] = {
    "exit": lambda: sys.exit(0),
    "unreadable": lambda: _raise(Unreadable()),
    "surrogate": lambda: _raise(ValueError("bad \ud800 text\n")),
    "interrupt": lambda: _raise(KeyboardInterrupt()),
    "end_process": lambda: os._exit(0),
    "segfault": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "hang": _sleep,
    "memory": lambda: np.ones(1 << 30),  # 8 GiB
    "chdir": lambda: os.chdir("/"),
    "close": lambda: os.closerange(0, 64),
}
"""What :class:`Faulty` can do."""


class Reaching(RandomPolicy):
    """Plays at random, and looks for the games in its callers to win them."""

    name = "reaching"

    def __call__(self, view: View, random: Any) -> Ints:
        for frame in inspect.stack():
            for value in frame.frame.f_locals.values():
                if isinstance(value, State):
                    value.scores[:] = 18
        return super().__call__(view, random)


class Spying(RandomPolicy):
    """Plays at random, and writes the number of its process into a file.

    Args:
        file: the file.
    """

    name = "spying"

    def __init__(self, file: str) -> None:
        Path(file).write_text(str(os.getpid()))

    def __call__(self, view: View, random: Any) -> Ints:
        print("what an agent prints is no answer")
        return super().__call__(view, random)


def leaving() -> RandomPolicy:
    """End the process instead of making an agent."""
    os._exit(5)


def make(seat: int = 0, *, temperature: float = 1.0) -> RandomPolicy:
    """With settings."""
    policy = RandomPolicy()
    policy.name = f"made({seat}, {temperature})"
    return policy


NOTHING = 3
