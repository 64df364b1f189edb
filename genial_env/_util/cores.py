"""How many processor cores there are."""

import os

__all__ = ["count_cores"]


def count_cores() -> int:
    """Return how many processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
