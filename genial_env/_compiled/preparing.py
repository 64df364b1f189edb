"""Compile in a thread what single games need, while they are played in Python.

All functions for a single game take a quarter of a minute to compile, once for a machine. A first step does not wait:
:class:`genial_env.core.engine.SwitchingEngine` plays in Python until they are ready.

At the end of the program the thread finishes the function that it is at, and stops: code that LLVM generates while the
interpreter shuts down would crash. A fork waits for that function, too, as a lock that is held would stay locked in the
child.
"""

import atexit
import logging
import os
import threading

import numpy as np

from genial_env._compiled import deciding, jit, observing, playing
from genial_env._compiled.one_game import CompiledEngine
from genial_env.backends import NUMBA, Backend, using
from genial_env.core import kernel
from genial_env.core.engine import ROW
from genial_env.core.rules import Rules
from genial_env.policies.decisions import decide
from genial_env.policies.greedy import GreedyPolicy

NEEDED = (
    playing.deal_racks,
    playing.play_one,
    observing.observe_one,
    observing.fill_views,
    observing.fill_view_masks,
    deciding.decide,
)
"""The compiled functions of environments for one game with scripted opponents."""

_log = logging.getLogger("genial_env")
_ready, _stopping = threading.Event(), threading.Event()
_thread: threading.Thread | None = None


def is_ready() -> bool:
    """Return whether no function that single games need is still to be compiled."""
    return _ready.is_set()


def prepare() -> bool:
    """Begin to compile in a thread what has never been compiled on this machine; return :func:`is_ready`."""
    global _thread
    if _ready.is_set() or _thread is not None:
        return _ready.is_set()
    if any(entry.needs_compiling for entry in NEEDED):  # it reads all sources, so it is asked once
        _thread = threading.Thread(target=_compile, name="genial_env compiles", daemon=True)
        atexit.register(_stop)
        _thread.start()
    else:
        _ready.set()
    return _ready.is_set()


def _compile() -> None:
    try:
        engine = CompiledEngine(kernel.undealt(Rules()).copy(), Backend(NUMBA))
        for part in (
            lambda: engine.deal(np.zeros(1, dtype=np.uint64)),
            lambda: engine.play(-1),
            lambda: engine.observe_planes(0),
            lambda: engine.view(0),
            lambda: engine.view(0).mask(),
            lambda: decide(GreedyPolicy(), engine.state, ROW, np.zeros(1, dtype=np.uint64)),
        ):
            if _stopping.is_set():
                return
            with using(NUMBA):
                part()
    except Exception:  # games go on in Python
        _log.exception("genial_env: single games are played in Python, as their functions cannot be compiled")
    else:
        _ready.set()


def _stop() -> None:
    """Let the thread end after the function that it is at."""
    _stopping.set()
    if _thread is not None:
        _thread.join()


def _forget_thread() -> None:
    """In a child after a fork: there is no such thread."""
    global _thread
    _thread = None
    jit.lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=jit.lock.acquire, after_in_parent=jit.lock.release, after_in_child=_forget_thread)
