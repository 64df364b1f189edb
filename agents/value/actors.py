"""Processes that play while the learner learns: on this machine, or as tasks of a Ray cluster.

Results come back in the order in which tasks were submitted, so training does not depend on which process is faster.
"""

import multiprocessing
import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Generic, TypeVar

from genial_env import use_backend
from genial_env._util.extras import install_hint
from genial_env._util.shutdown import exit_with_parent, sigint_blocked

__all__ = ["Actors"]

T = TypeVar("T")
R = TypeVar("R")


class Actors(Generic[T, R]):
    """A function that runs in other processes.

    Args:
        function: computes the result of a task; must be a function of a module.
        count: number of processes, at least 1; on a Ray cluster, number of tasks that run at a time.
        backend: the compute backend of the processes.
        ray: address of a Ray cluster; "local" starts one on this machine with `count` workers. None: plain processes.

    Raises:
        ValueError: if `count` is below 1.
        ImportError: if Ray is needed and not installed.
    """

    def __init__(self, function: Callable[[T], R], count: int, backend: str, ray: str | None = None) -> None:
        if count < 1:
            raise ValueError(f"there must be at least 1 actor, not {count}")
        self._start: Callable[[T], Any]
        self._wait: Callable[[Any], R]
        self._pool: ProcessPoolExecutor | None = None
        if ray is None:
            for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
                os.environ.setdefault(variable, "1")  # one process a core; numpy reads it when it is loaded
            self._pool = pool = ProcessPoolExecutor(
                count, multiprocessing.get_context("spawn"), initializer=_initialize, initargs=(backend, os.getpid())
            )
            self._start, self._wait = (lambda task: pool.submit(function, task)), (lambda future: future.result())
        else:
            self._start, self._wait = _on_ray(function, count, backend, ray)
        self._running: deque[tuple[T, Any]] = deque()

    def submit(self, task: T) -> None:
        """Start a task."""
        with sigint_blocked():
            self._running.append((task, self._start(task)))

    def take_result(self) -> R:
        """Wait for the oldest task whose result was not yet taken, and return its result."""
        _, future = self._running.popleft()
        return self._wait(future)

    @property
    def pending(self) -> list[T]:
        """The tasks whose results were not yet taken, oldest first."""
        return [task for task, _ in self._running]

    def close(self) -> None:
        """Stop without waiting for running tasks."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> "Actors[T, R]":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _initialize(backend: str, learner: int) -> None:
    """Set up a new process: choose the backend, and exit together with the learner."""
    exit_with_parent(learner)
    use_backend(backend)


def _on_ray(
    function: Callable[[T], R], count: int, backend: str, address: str
) -> tuple[Callable[[T], Any], Callable[[Any], R]]:
    try:
        import ray
    except ImportError as error:
        raise ImportError(f"actors on Ray need Ray: {install_hint('rllib')} ({error})") from error
    if not ray.is_initialized():
        where = {"num_cpus": count} if address == "local" else {"address": address}
        ray.init(**where, include_dashboard=False, log_to_driver=False)

    def run(backend: str, task: T) -> R:
        use_backend(backend)
        return function(task)

    remote = ray.remote(num_cpus=1)(run)
    return (lambda task: remote.remote(backend, task)), ray.get
