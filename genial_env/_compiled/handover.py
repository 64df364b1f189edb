"""Pass states to compiled functions, and share work among threads."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np

from genial_env._compiled import core
from genial_env.core.bitsets import Ints
from genial_env.core.rules import Rules
from genial_env.core.scalar import Games, facts_of
from genial_env.core.state import State

# Handing over

_get_arrays = attrgetter(*Games._fields)
_OPEN = Games._fields.index("open")


def arrays(state: State) -> tuple[Any, ...]:
    """As :func:`genial_env.core.scalar.arrays_of`, as a plain tuple."""
    found = list(_get_arrays(state))
    found[_OPEN] = found[_OPEN].view(np.int64)
    return tuple(found)


@lru_cache(maxsize=64)
def facts(rules: Rules) -> tuple[Any, ...]:
    """As :func:`genial_env.core.scalar.facts_of`, as a plain tuple."""
    return tuple(facts_of(rules))


@lru_cache(maxsize=64)
def no_script(rules: Rules) -> Ints:
    """[1, K]: luck decides on every draw."""
    return np.full((1, rules.rack), -1)


class _Memory(threading.local):
    def __init__(self) -> None:
        self.by_rules: dict[Rules, tuple[Any, ...]] = {}


_memory = _Memory()


def scratch(rules: Rules) -> tuple[Any, ...]:
    """This thread's memory to think with."""
    kept = _memory.by_rules
    if rules not in kept:
        kept[rules] = tuple(core.make_scratch(rules))
    return kept[rules]


# Threads


FEWEST = 1024
"""Games that are worth a thread, where there is one step of each to do."""


def share(threads: int, n: int, work: Callable[[int, int], Any], fewest: int | None = None) -> list[Any]:
    """Do some work on the numbers from 0 to n - 1, in equal parts lo to hi - 1, one a thread; what each returns."""
    threads = min(threads, n // (fewest or FEWEST))
    if threads < 2:
        return [work(0, n)]
    ends = [n * part // threads for part in range(threads + 1)]
    parts = [(lo, hi) for lo, hi in pairwise(ends) if lo < hi]
    work_first = parts[0]
    others = [_pool(threads, os.getpid()).submit(work, *part) for part in parts[1:]]
    return [work(*work_first), *(other.result() for other in others)]


@lru_cache(maxsize=8)
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Threads of this process: after a fork those of the parent are gone."""
    return ThreadPoolExecutor(threads - 1, thread_name_prefix=f"genial_env-{process}")
