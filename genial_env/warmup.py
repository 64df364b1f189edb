"""Compile everything in advance: ``python -m genial_env.warmup``.

The backend "numba" compiles each function at its first call, a few seconds each, and caches it on disk. This module
does all of it at once, for a container image or the start of a cluster job, and prints where the cache is.
"""

import sys
import time

import numpy as np

from genial_env import backends
from genial_env.backends import NUMBA, using
from genial_env.core.engine import make_engine
from genial_env.core.kernel import apply, deal, is_legal, legal, legal_placements, recount_points
from genial_env.core.rules import Rules
from genial_env.core.views import view
from genial_env.encodings.planes import Planes
from genial_env.policies.decisions import decide
from genial_env.policies.greedy import GreedyPolicy
from genial_env.policies.value import Nets, judge
from genial_env.policies.value_search import predict_later
from genial_env.simulation import play

__all__ = ["main", "warm_up"]


def warm_up() -> int:
    """Call every compiled function once; return how many there are.

    Raises:
        ImportError: if numba cannot be imported; the message says how to install it.
    """
    entries: list[str] = backends.compiled().entries()
    with using(NUMBA):
        state = deal(Rules(), range(2))
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
        decide(GreedyPolicy(), state, np.arange(2), np.zeros(2, dtype=np.uint64))
        net = Nets().of(state.rules)
        judge(seen, net, 1)
        predict_later(state.copy(), np.arange(2), net, 1, 1)
        apply(state, actions)
        play(["random", "denial"], games=1)
    return len(entries)


def main() -> None:
    """Compile everything and print a summary."""
    start = time.perf_counter()
    try:
        number = warm_up()
    except ImportError as error:
        sys.exit(str(error))
    kept_at = backends.compiled().cache_directory()
    where = f"kept in {kept_at}" if kept_at else "not kept, as no cache directory can be written"
    print(f"{number} functions ready in {time.perf_counter() - start:.0f} s, {where}")


if __name__ == "__main__":
    main()
