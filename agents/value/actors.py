"""Processes that play while a learner learns: on this machine, or as tasks of a Ray cluster.

Results come back in the order in which the work was given, so that what is learned does not depend on who was faster.
"""

import multiprocessing
import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Generic, TypeVar

from genial_env import use_backend
from genial_env._util.shutdown import exit_with_parent, sigint_blocked

W = TypeVar("W")
R = TypeVar("R")


class Actors(Generic[W, R]):
    """A function in other processes.

    Args:
        function: what is to be done with each piece of work; a module's own.
        count: how many processes, at least 1; on a Ray cluster how many tasks at a time.
        backend: that they use.
        ray: an address of a Ray cluster, "local" for one on this machine, with a worker for each of `count`; left out,
            plain processes.

    Raises:
        ValueError: for a count below 1.
        ImportError: for Ray where it is not installed.
    """

    def __init__(self, function: Callable[[W], R], count: int, backend: str, ray: str | None = None) -> None:
        if count < 1:
            raise ValueError(f"there must be at least 1 actor, not {count}")
        self._start: Callable[[W], Any]
        self._wait: Callable[[Any], R]
        self._pool: ProcessPoolExecutor | None = None
        if ray is None:
            for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
                os.environ.setdefault(variable, "1")  # as there is a process for every core; read where numpy is loaded
            self._pool = pool = ProcessPoolExecutor(
                count, multiprocessing.get_context("spawn"), initializer=_begin, initargs=(backend, os.getpid())
            )
            self._start, self._wait = (lambda work: pool.submit(function, work)), (lambda future: future.result())
        else:
            self._start, self._wait = _on_ray(function, count, backend, ray)
        self._running: deque[tuple[W, Any]] = deque()

    def give(self, work: W) -> None:
        """Start some work."""
        with sigint_blocked():
            self._running.append((work, self._start(work)))

    def take(self) -> R:
        """What came of the work given first, of that not yet taken."""
        _, future = self._running.popleft()
        return self._wait(future)

    @property
    def given(self) -> list[W]:
        """The work not yet taken, in order."""
        return [work for work, _ in self._running]

    def close(self) -> None:
        """Stop, whatever is still running."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> "Actors[W, R]":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _begin(backend: str, learner: int) -> None:
    """In a new process: choose the backend, and end with the learner."""
    exit_with_parent(learner)
    use_backend(backend)


def _on_ray(
    function: Callable[[W], R], count: int, backend: str, address: str
) -> tuple[Callable[[W], Any], Callable[[Any], R]]:
    try:
        import ray
    except ImportError as error:
        raise ImportError(f"actors on Ray need it: pip install 'genial-env[rllib]' ({error})") from error
    if not ray.is_initialized():
        where = {"num_cpus": count} if address == "local" else {"address": address}
        ray.init(**where, include_dashboard=False, log_to_driver=False)

    @ray.remote(num_cpus=1)
    def work_with(backend: str, work: Any) -> Any:
        use_backend(backend)
        return function(work)

    return (lambda work: work_with.remote(backend, work)), ray.get
