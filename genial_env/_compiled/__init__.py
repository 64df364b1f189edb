"""Compiled implementations of the functions decorated with :class:`genial_env.backends.accelerated`.

Importing this package imports numba and registers them.
"""

from genial_env._compiled import afterstates, choices, implementations, preparing, value_net, value_search
from genial_env._compiled.jit import cache_directory, entries
from genial_env._compiled.one_game import CompiledEngine

__all__ = [
    "CompiledEngine",
    "afterstates",
    "cache_directory",
    "choices",
    "entries",
    "implementations",
    "preparing",
    "value_net",
    "value_search",
]
