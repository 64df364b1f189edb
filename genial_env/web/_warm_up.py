"""Compile the game's code for this machine when the server starts. Meanwhile numpy computes."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec

from genial_env.backends import BACKEND_VARIABLE, NUMPY, using


class WarmUp:
    """Compiles in another process, so that requests are answered meanwhile. The compiled code is cached on the disk."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def in_progress(self) -> bool:
        """Whether code is being compiled."""
        process = self._process
        return process is not None and process.poll() is None

    def start(self) -> None:
        """Begin to compile, if numba is installed and may be used. If all code is cached, this ends in seconds."""
        if find_spec("numba") is None or os.environ.get(BACKEND_VARIABLE) == NUMPY:
            return
        with self._lock:
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "genial_env.warmup"],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,  # Ctrl-C does not reach it, and it ends with its own processes
                )

    def stop(self) -> None:
        """End the compilation now. What is compiled already stays cached."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None and process.poll() is None:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
            process.wait()

    @contextmanager
    def fallback(self) -> Iterator[None]:
        """Compute with numpy in the block if code is being compiled when it begins."""
        with using(NUMPY if self.in_progress else None):
            yield


WARM_UP = WarmUp()
"""The compilation of this process: compiled code belongs to the machine, not to a server."""
