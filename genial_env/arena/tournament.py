"""Round-robin tournaments for any number of seats, in parallel processes. An interrupted tournament can be resumed."""

import math
import os
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from genial_env._util.checks import as_integer
from genial_env._util.extras import install_hint
from genial_env._util.files import lock_folder
from genial_env._util.shutdown import exit_with_parent, sigint_blocked
from genial_env.arena._agent_process import warm_up
from genial_env.arena.fingerprints import Fingerprint, fingerprint
from genial_env.arena.games import Game, play_games
from genial_env.arena.isolation import ISOLATED, Isolation, check_agents, end_isolated, isolated
from genial_env.arena.schedule import ScheduledGame, lineups, scheduled_games
from genial_env.arena.store import MAX_GROUPS, Settings, Store, check_directory
from genial_env.backends import Backend, current, for_one_game, using
from genial_env.core.chance import game_seeds
from genial_env.core.rules import Rules
from genial_env.policies.base import Policy
from genial_env.policies.registry import make_policy
from genial_env.records import Record

__all__ = [
    "Jobs",
    "ProgressCallback",
    "WorkerEnded",
    "check_workers",
    "in_parallel",
    "play_job",
    "run",
    "run_within",
]

JOB_S = 5.0
"""The intended time of a worker's job. An interruption loses at most this much work of each worker."""

MAX_JOB_GAMES = 1024
"""The largest number of games in a job."""

ProgressCallback = Callable[[int, int], None]
"""A function that is called with the number of finished games and of all games."""

Played = tuple[list[Game], list[Record], float]
"""Games, their records, and the time in seconds."""


class WorkerEnded(RuntimeError):
    """Raised if a worker process ends while it plays."""


def run(
    settings: Settings,
    directory: Path,
    *,
    workers: int = 1,
    joblib_backend: str = "loky",
    backend: Backend | None = None,
    isolation: Isolation = ISOLATED,
    progress: ProgressCallback = lambda done, total: None,
) -> Store:
    """Play the games of a tournament that are not finished yet.

    Args:
        settings: the settings.
        directory: the tournament's directory. It may hold a part of this tournament. It is locked meanwhile.
        workers: the number of processes.
        joblib_backend: "loky" for processes on this machine, "ray" for those of a Ray cluster.
        backend: the compute backend; None for the current one, or numba if it is installed and none was chosen.
        isolation: whether agents named by ``module:factory`` get processes of their own.
        progress: is told of progress.

    Returns:
        The directory with all games.

    Raises:
        ValueError: If an agent cannot be made, if the directory has other settings or games of an agent whose source or
            weights have changed since, or for fewer than one worker.
        ImportError: If joblib or Ray is needed and not installed.
        FolderInUse: If another process is writing in the directory.
        WorkerEnded: If a worker process ends. Finished games are kept.
    """
    return _run_within(None, settings, directory, workers, joblib_backend, backend, isolation, progress)


def run_within(
    seconds: float,
    settings: Settings,
    directory: Path,
    *,
    workers: int = 1,
    backend: Backend | None = None,
    isolation: Isolation = ISOLATED,
    progress: ProgressCallback = lambda done, total: None,
) -> Store:
    """Play as many deals as fit in about so many seconds, 2 to 1,000,000. See :func:`run` for the other arguments.

    Args:
        seconds: the time.
        settings: the settings; the number of deals is ignored.
        directory: the tournament's directory.
        workers: the number of processes.
        backend: the compute backend.
        isolation: whether agents named by ``module:factory`` get processes of their own.
        progress: is told of progress.

    Raises:
        ValueError, ImportError, FolderInUse, WorkerEnded: See :func:`run`; ValueError also if seconds are not above 0.
    """
    if not 0 < seconds < math.inf:
        raise ValueError(f"seconds must be above 0, not {seconds}")
    return _run_within(seconds, replace(settings, groups=2), directory, workers, "loky", backend, isolation, progress)


def _run_within(
    seconds: float | None,
    settings: Settings,
    directory: Path,
    workers: int,
    joblib_backend: str,
    backend: Backend | None,
    isolation: Isolation,
    progress: ProgressCallback,
) -> Store:
    """Play the deals of the settings, or more and more deals until about `seconds` have passed."""
    directory = directory.absolute()  # an agent may change the working directory
    chosen = backend or for_one_game() or current()
    check_workers(workers, settings.agents, joblib_backend)  # errors are raised before anything is written
    lineups(len(settings.agents), settings.rules)
    check_directory(directory)
    begun = time.perf_counter()
    if settings.from_data:
        for agent in settings.agents:
            settings.make(agent)
    try:
        check_agents(settings.agents, settings.rules, chosen, isolation)
        fingerprints = {agent: fingerprint(agent, settings.rules) for agent in settings.agents}
        if workers > 1:
            end_isolated()  # worker processes start their own
        with lock_folder(directory):
            while True:
                store = _run(settings, directory, workers, joblib_backend, chosen, isolation, fingerprints, progress)
                groups = settings.groups
                fitting = groups if seconds is None else int(seconds * groups / (time.perf_counter() - begun))
                more = min(fitting, 4 * groups, MAX_GROUPS)
                if more < groups + max(1, groups // 4):
                    return store
                settings = replace(settings, groups=more)
    finally:
        end_isolated()


def _run(
    settings: Settings,
    directory: Path,
    workers: int,
    joblib_backend: str,
    backend: Backend,
    isolation: Isolation,
    fingerprints: Mapping[str, Fingerprint],
    progress: ProgressCallback,
) -> Store:
    """Play in a locked directory."""
    store = Store(directory, settings)
    settings, done = store.settings, store.done
    todo = [
        game
        for game in scheduled_games(len(settings.agents), settings.rules, range(settings.groups))
        if game not in done
    ]
    total = len(done) + len(todo)
    store.begin(backend, fingerprints if todo else {})
    progress(len(done), total)
    jobs = Jobs(todo)
    calls = ((settings, job, backend, isolation) for job in jobs)
    with closing(in_parallel(play_job, calls, workers, joblib_backend)) as played:
        for games, records, seconds in played:
            jobs.took(len(games), seconds)
            store.add(games, records)
            progress(len(store.games), total)
    return store


class Jobs:
    """Games in batches of about the intended time. The size follows the speed of earlier batches."""

    def __init__(self, todo: Sequence[ScheduledGame]) -> None:
        self._todo, self._size = todo, 8

    def __iter__(self) -> Iterator[Sequence[ScheduledGame]]:
        """Yield batches of games."""
        at = 0
        while at < len(self._todo):
            batch = self._todo[at : at + self._size]
            at += len(batch)
            yield batch

    def took(self, games: int, seconds: float) -> None:
        """In place: adapt the batch size to the time of a finished batch."""
        fitting = int(JOB_S * games / max(seconds, 1e-9))
        self._size = max(1, min(fitting, 4 * self._size, MAX_JOB_GAMES))


def play_job(settings: Settings, job: Sequence[ScheduledGame], backend: Backend, isolation: Isolation) -> Played:
    """Play some games of a tournament."""
    begun = time.perf_counter()
    groups = np.array([game.group for game in job])
    seeds = np.array([game_seeds(settings.seed, 1, group)[0] for group in groups.tolist()], dtype=np.uint64)
    seated = np.array([game.seats for game in job])
    with using(backend):
        roster = [_player(agent, settings.rules, backend, isolation) for agent in settings.agents]
        games, records = play_games(
            roster, settings.agents, seated, settings.rules, groups, seeds, record=settings.records
        )
    return games, records, time.perf_counter() - begun


def _player(agent: str, rules: Rules, backend: Backend, isolation: Isolation) -> Policy:
    """Return a policy that plays here or in its own process, made and warmed up before it is timed."""
    if not isolation.applies_to(agent):
        return _policy(agent, rules)
    player = isolated(agent, rules, backend, isolation)
    with suppress(ValueError):  # it cannot be made here: it says so again in its games, which it forfeits
        player.start()
    return player


@lru_cache(maxsize=64)
def _policy(agent: str, rules: Rules) -> Policy:
    """Return a policy that is made once in each process, and warmed up before it is timed."""
    policy = make_policy(agent)
    warm_up(policy, rules)
    return policy


def in_parallel(
    work: Callable[..., Any], calls: Iterable[tuple[Any, ...]], workers: int, joblib_backend: str = "loky"
) -> Generator[Any, None, None]:
    """Call a function in parallel processes and yield the results in the order in which they are finished.

    Closing the generator stops the processes.

    Args:
        work: a function that can be imported.
        calls: the arguments of each call. They are consumed as they are needed.
        workers: the number of processes. With 1, the calls run in this process.
        joblib_backend: "loky" for processes on this machine, "ray" for those of a Ray cluster.

    Raises:
        ValueError: For fewer than one worker.
        ImportError: If joblib or Ray is not installed.
        WorkerEnded: If a process of "loky" ends during a call.
    """
    check_workers(workers, joblib_backend=joblib_backend)
    if workers == 1:
        yield from (work(*call) for call in calls)
        return
    from joblib import Parallel, delayed

    if joblib_backend == "ray":
        from ray.util.joblib import register_ray

        register_ray()
        pool, todo = Parallel(workers, backend="ray", batch_size=1), iter(calls)
        while now := list(islice(todo, workers)):  # Ray's processes give back only what is finished together
            yield from pool(delayed(work)(*call) for call in now)
        return
    options = {"return_as": "generator_unordered", "batch_size": 1, "pre_dispatch": workers}
    if joblib_backend == "loky":
        options |= {"initializer": exit_with_parent, "initargs": (os.getpid(),)}
    pool = Parallel(workers, backend=joblib_backend, **options)
    try:
        with sigint_blocked():
            found = pool(delayed(work)(*call) for call in calls)
        with _closing_quietly(found):
            for result in found:  # noqa: UP028  so that closing this generator leaves closing that one to the block
                yield result
    except BrokenProcessPool as error:
        raise WorkerEnded(
            "a worker process has ended while it played: it was killed, memory ran out, or an agent ended it. "
            "What was finished is kept"
        ) from error


@contextmanager
def _closing_quietly(found: Generator[Any, None, None]) -> Iterator[None]:
    """Close joblib's results at the end of a block without its warning about unfinished work, which is intended."""
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found.close()


def check_workers(workers: int, agents: Sequence[str] = (), joblib_backend: str = "loky") -> None:
    """Check the number of workers, and that the libraries that run them are installed.

    Args:
        workers: the number of processes.
        agents: the agents, as :func:`genial_env.make_policy` reads them.
        joblib_backend: "loky" or "ray".

    Raises:
        TypeError: If the number is not whole.
        ImportError: If joblib or Ray is needed and not installed. The message says what to install.
        ValueError: For fewer than one worker, or for several with agents of the module ``__main__``, which other
            processes cannot import.
    """
    if as_integer(workers, "workers", 1) == 1:
        return
    for agent in agents:
        if agent.strip().startswith("__main__:"):
            raise ValueError(
                f"agent {agent!r} is of the script that runs, which other processes cannot import: move its factory "
                f"to a module of its own and name it 'module:factory', or take workers=1"
            )
    if find_spec("joblib") is None:
        raise ImportError(f"more than one worker needs joblib: {install_hint('arena')}")
    if joblib_backend == "ray" and find_spec("ray") is None:
        raise ImportError(f"workers on Ray need Ray: {install_hint('rllib')}")
