"""Round robins between any agents, for any number of seats, shared among processes, and resumable."""

import math
import os
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from genial_env._util.checks import as_integer
from genial_env._util.files import lock_folder
from genial_env._util.shutdown import exit_with_parent, sigint_blocked
from genial_env.arena.games import Game, play_games
from genial_env.arena.isolation import ISOLATED, Isolation, check_agents, end_isolated, isolated, warm_up
from genial_env.arena.schedule import Unit, lineups, units
from genial_env.arena.store import Settings, Store, check_directory
from genial_env.backends import Backend, current, for_one_game, using
from genial_env.core.chance import game_seeds
from genial_env.core.rules import Rules
from genial_env.policies.base import Policy
from genial_env.policies.registry import make_policy
from genial_env.records import Record

MISSING = "more than one worker needs joblib: pip install 'genial-env[arena]'"

JOB_S = 5.0
"""How long a worker's job should take: as much is lost when a run is broken off."""

MOST_GAMES = 1024
"""In one job."""

Tell = Callable[[int, int], None]
"""Is told how many games are finished, of how many."""

Played = tuple[list[Game], list[Record], float]
"""Games, their records, and the seconds that they took."""


class WorkerEnded(RuntimeError):
    """A worker process has ended while it played."""


def run(
    settings: Settings,
    directory: Path,
    *,
    workers: int = 1,
    joblib_backend: str = "loky",
    backend: Backend | None = None,
    isolation: Isolation = ISOLATED,
    tell: Tell = lambda done, total: None,
) -> Store:
    """Play what is not yet played of a tournament.

    Args:
        settings: what is to be played.
        directory: where it is kept; one that holds a part of this tournament is gone on with. It is locked meanwhile.
        workers: processes.
        joblib_backend: who runs them: "loky" on this machine, "ray" on all machines of a Ray cluster.
        backend: who plays the games; left out, numba where it is installed and nobody has chosen.
        isolation: whether agents named by ``module:factory`` get processes of their own.
        tell: is told of progress.

    Returns:
        All games.

    Raises:
        ValueError: for agents that cannot be made, settings that are not the directory's, or fewer than one worker.
        ImportError: without joblib, or Ray, where they are needed.
        FolderInUse: if another process is writing in the directory.
        WorkerEnded: if a worker process ends; the games that were finished are kept.
    """
    return _run_within(None, settings, directory, workers, joblib_backend, backend, isolation, tell)


def run_within(
    seconds: float,
    settings: Settings,
    directory: Path,
    *,
    workers: int = 1,
    backend: Backend | None = None,
    isolation: Isolation = ISOLATED,
    tell: Tell = lambda done, total: None,
) -> Store:
    """As :func:`run`, with as many deals as can be played in about so many seconds, and at least two.

    Args:
        seconds: how long.
        settings: its number of groups does not matter.
        directory: where it is kept.
        workers: processes.
        backend: who plays.
        isolation: as for :func:`run`.
        tell: is told of progress.

    Raises:
        ValueError, ImportError, FolderInUse, WorkerEnded: as :func:`run`; ValueError for seconds that are not above 0.
    """
    if not 0 < seconds < math.inf:
        raise ValueError(f"seconds must be above 0, not {seconds}")
    return _run_within(seconds, replace(settings, groups=2), directory, workers, "loky", backend, isolation, tell)


def _run_within(
    seconds: float | None,
    settings: Settings,
    directory: Path,
    workers: int,
    joblib_backend: str,
    backend: Backend | None,
    isolation: Isolation,
    tell: Tell,
) -> Store:
    """Play the settings' groups; with `seconds` then more of them, until about so much time has passed."""
    directory = directory.absolute()  # wherever an agent may go
    chosen = backend or for_one_game() or current()
    check_workers(workers, settings.agents)  # what is wrong shows before anything is written
    lineups(len(settings.agents), settings.rules)
    check_directory(directory)
    begun = time.perf_counter()
    if settings.from_data:
        for agent in settings.agents:
            settings.make(agent)
    try:
        check_agents(settings.agents, settings.rules, chosen, isolation)
        if workers > 1:
            end_isolated()  # others play
        with lock_folder(directory):
            while True:
                store = _run(settings, directory, workers, joblib_backend, chosen, isolation, tell)
                groups = settings.groups
                fitting = groups if seconds is None else int(seconds * groups / (time.perf_counter() - begun))
                if fitting < groups + max(1, groups // 4):
                    return store
                settings = replace(settings, groups=min(fitting, 4 * groups))
    finally:
        end_isolated()


def _run(
    settings: Settings,
    directory: Path,
    workers: int,
    joblib_backend: str,
    backend: Backend,
    isolation: Isolation,
    tell: Tell,
) -> Store:
    """Play in a directory that is locked."""
    store = Store(directory, settings)
    settings, done = store.settings, store.done
    todo = [unit for unit in units(len(settings.agents), settings.rules, range(settings.groups)) if unit not in done]
    total = len(done) + len(todo)
    store.begin(backend)
    tell(len(done), total)
    jobs = Jobs(todo)
    calls = ((settings, job, backend, isolation) for job in jobs)
    with closing(in_parallel(play_job, calls, workers, joblib_backend)) as played:
        for games, records, seconds in played:
            jobs.took(len(games), seconds)
            store.add(games, records)
            tell(len(store.games), total)
    return store


class Jobs:
    """Games in portions that take about as long as they should, going by those before."""

    def __init__(self, todo: Sequence[Unit]) -> None:
        self._todo, self._size = todo, 8

    def __iter__(self) -> Iterator[Sequence[Unit]]:
        """Portion by portion."""
        at = 0
        while at < len(self._todo):
            portion = self._todo[at : at + self._size]
            at += len(portion)
            yield portion

    def took(self, games: int, seconds: float) -> None:
        """In place: learn from a portion that is finished."""
        fitting = int(JOB_S * games / max(seconds, 1e-9))
        self._size = max(1, min(fitting, 4 * self._size, MOST_GAMES))


def play_job(settings: Settings, job: Sequence[Unit], backend: Backend, isolation: Isolation) -> Played:
    """Play some games of a tournament."""
    begun = time.perf_counter()
    groups = np.array([unit.group for unit in job])
    seeds = np.array([game_seeds(settings.seed, 1, group)[0] for group in groups.tolist()], dtype=np.uint64)
    seated = np.array([unit.seats for unit in job])
    with using(backend):
        roster: list[Policy] = [
            isolated(agent, settings.rules, backend, isolation.move_time_s)
            if isolation.applies_to(agent)
            else _policy(agent, settings.rules)
            for agent in settings.agents
        ]
        games, records = play_games(
            roster, settings.agents, seated, settings.rules, groups, seeds, record=settings.records
        )
    return games, records, time.perf_counter() - begun


@lru_cache(maxsize=64)
def _policy(agent: str, rules: Rules) -> Policy:
    """Made once in each process, and asked once before its time counts."""
    policy = make_policy(agent)
    warm_up(policy, rules)
    return policy


def in_parallel(
    work: Callable[..., Any], calls: Iterable[tuple[Any, ...]], workers: int, joblib_backend: str = "loky"
) -> Generator[Any, None, None]:
    """What some work returns for each of the calls, as they are finished, in processes. Closing it stops them.

    Args:
        work: a function that can be imported.
        calls: arguments; taken as they are needed.
        workers: how many processes; 1 is this one.
        joblib_backend: "loky" on this machine, "ray" on all machines of a Ray cluster.

    Raises:
        ValueError: for fewer than one worker.
        ImportError: without joblib, or Ray.
        WorkerEnded: if a process of "loky" ends at its work.
    """
    check_workers(workers)
    if workers == 1:
        yield from (work(*call) for call in calls)
        return
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise ImportError(MISSING) from error
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
    """Close joblib's results at the end of a block without its warning that there is work left: that is meant."""
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found.close()


def check_workers(workers: int, agents: Sequence[str] = ()) -> None:
    """Refuse a number of workers that cannot play.

    Args:
        workers: how many processes.
        agents: who plays, as :func:`genial_env.make_policy` reads them.

    Raises:
        TypeError: for a number that is not whole.
        ValueError: for fewer than one, or for more than one with agents of the module ``__main__``: in another process
            that is another module.
    """
    if as_integer(workers, "workers", 1) == 1:
        return
    for agent in agents:
        if agent.strip().startswith("__main__:"):
            raise ValueError(
                f"agent {agent!r} is of the script that runs, which other processes cannot import: move its factory "
                f"to a module of its own and name it 'module:factory', or take workers=1"
            )
