"""Compile everything in advance: ``python -m genial_env.warmup``.

The backend "numba" compiles each function at its first call, a few seconds each, and caches it on disk. This module
does all of it at once, for a container image or the start of a cluster job, with a process for each core. Then it
prints where the cache is.
"""

import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from genial_env import backends
from genial_env._util.cores import count_cores
from genial_env.backends import NUMBA, NUMPY, using
from genial_env.core.engine import make_engine
from genial_env.core.kernel import apply, deal, is_legal, legal, legal_placements, recount_points
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.views import view
from genial_env.encodings.planes import Planes
from genial_env.policies.decisions import choice_keys, decide
from genial_env.policies.greedy import GreedyPolicy
from genial_env.policies.playout import play_out
from genial_env.policies.value import Nets, judge
from genial_env.policies.value_search import predict_later

__all__ = ["main", "warm_up"]

SEEDS = np.arange(2, dtype=np.uint64)
"""Of the games that the functions are called with."""


def warm_up() -> int:
    """Call every compiled function once; return how many there are.

    Raises:
        ImportError: if numba cannot be imported; the message says how to install it.
    """
    entries: list[str] = backends.compiled().entries()
    for part in _PARTS:
        part()
    return len(entries)


def main() -> None:
    """Compile everything and print a summary."""
    start = time.perf_counter()
    try:
        kept_at = backends.compiled().cache_directory()
        if kept_at is not None:
            _compile_in_processes()
        number = warm_up()
    except ImportError as error:
        sys.exit(str(error))
    where = f"kept in {kept_at}" if kept_at else "not kept, as no cache directory can be written"
    print(f"{number} functions ready in {time.perf_counter() - start:.0f} s, {where}")


def _compile_in_processes() -> None:
    """Compile the parts in other processes, as one process compiles one function at a time."""
    workers = min(count_cores(), len(_PARTS))
    if workers > 1:
        with ProcessPoolExecutor(workers, get_context("spawn")) as executor:
            for done in [executor.submit(part) for part in _PARTS]:
                done.result()


def _deal() -> State:
    with using(NUMPY):  # what a part does not compile itself
        return deal(Rules(), SEEDS)


def _search() -> None:
    state = _deal()
    with using(NUMBA):
        predict_later(state, np.arange(2), Nets().of(state.rules), 1, 1)


def _value() -> None:
    state = _deal()
    with using(NUMPY):
        seen = view(state)
    with using(NUMBA):
        judge(seen, Nets().of(state.rules), 1)


def _policies() -> None:
    state = _deal()
    with using(NUMBA):
        decide(GreedyPolicy(), state, np.arange(2), SEEDS)
        play_out(state, [GreedyPolicy()] * state.rules.players, choice_keys(SEEDS, state.rules.players))


def _game() -> None:
    with using(NUMBA):
        state = deal(Rules(), SEEDS)
        recount_points(state.rules, state.board)
        legal_placements(state)
        actions = legal(state).argmax(axis=1)
        is_legal(state, actions, np.arange(2))
        seen = view(state)
        seen.mask()
        Planes().encode(seen)
        engine = make_engine(state.select(np.array([0])))
        engine.observe_planes(0)
        engine.play(-1)
        apply(state, actions)


_PARTS: tuple[Callable[[], None], ...] = (_search, _value, _policies, _game)
"""Functions that call each compiled function, those that take longest first."""


if __name__ == "__main__":
    main()
