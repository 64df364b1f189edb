"""Pass states to compiled functions, and share work among threads."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np

from genial_env.core.arrays import Ints
from genial_env.core.rules import Rules
from genial_env.core.scalar import facts_of
from genial_env.core.state import STATE_ARRAYS, State

# Arguments

_get_arrays = attrgetter(*STATE_ARRAYS)
_OPEN = STATE_ARRAYS.index("open")


def arrays(state: State) -> tuple[Any, ...]:
    """Return the arrays of a state, not copied, as a plain tuple in their order; bitsets as int64."""
    found = list(_get_arrays(state))
    found[_OPEN] = found[_OPEN].view(np.int64)
    return tuple(found)


@lru_cache(maxsize=64)
def facts(rules: Rules) -> tuple[Any, ...]:
    """Return the facts of some rules as a plain tuple."""
    return tuple(facts_of(rules))


@lru_cache(maxsize=64)
def no_script(rules: Rules) -> Ints:
    """Return a script [1, K] without scripted draws."""
    return np.full((1, rules.rack), -1)


# Threads


FEWEST = 1024
"""Fewest games for each thread in a call that makes one step of each game."""


def share(threads: int, n: int, work: Callable[[int, int], Any], fewest: int | None = None) -> list[Any]:
    """Call ``work(lo, hi)`` for equal parts of the numbers from 0 to n - 1, each part in a thread.

    Args:
        threads: how many threads at most.
        n: how many numbers.
        work: does the numbers from lo to hi - 1.
        fewest: how many numbers each thread gets at least; None: :data:`FEWEST`.

    Returns:
        What the calls return, in the order of the parts.
    """
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
    """Return the threads of a process. The process is an argument because threads do not survive a fork."""
    return ThreadPoolExecutor(threads - 1, thread_name_prefix=f"genial_env-{process}")
