"""Blocks of a backend in threads and tasks, and numba where it is told to compile nothing."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from genial_env import Backend, backends, use_backend
from genial_env.backends import current, using
from tests.conftest import needs_numba

NUMPY, NUMBA = Backend("numpy"), Backend("numba")


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a process starts; afterwards as before."""
    monkeypatch.delenv(backends.BACKEND_VARIABLE, raising=False)
    monkeypatch.delenv(backends.THREADS_VARIABLE, raising=False)
    monkeypatch.setattr(backends, "_calls", [])
    backends._from_environment.cache_clear()


def in_a_thread(work: Callable[[], Any]) -> Any:
    """What a new thread finds."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


@needs_numba
class TestBlocks:
    def test_other_threads_see_nothing_of_a_block(self) -> None:
        with use_backend("numba", threads=2):
            assert current() == Backend("numba", 2)
            assert in_a_thread(current) == NUMPY
        assert current() == in_a_thread(current) == NUMPY

    def test_all_threads_see_a_plain_call(self) -> None:
        use_backend("numba")
        assert current() == in_a_thread(current) == NUMBA
        with use_backend("numpy"):
            assert (current(), in_a_thread(current)) == (NUMPY, NUMBA)
        assert current() == NUMBA

    def test_a_plain_call_inside_a_block_is_the_process_s(self) -> None:
        with use_backend("numpy"):
            use_backend("numba")
            assert (current(), in_a_thread(current)) == (NUMPY, NUMBA)
        assert current() == NUMBA

    def test_blocks_that_overlap_in_threads_leave_nothing_behind(self) -> None:
        """In all orders of entering and leaving: the first in is the first out."""
        inside, apply_without_draw = threading.Barrier(2), threading.Event()
        seen: list[Backend] = []

        def first() -> None:
            with use_backend("numba"):
                inside.wait()
                seen.append(current())
            apply_without_draw.set()

        def second() -> None:
            inside.wait()
            with use_backend("numba", threads=2):
                apply_without_draw.wait()
                seen.append(current())

        threads = [threading.Thread(target=work) for work in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(seen, key=lambda backend: backend.threads) == [NUMBA, Backend("numba", 2)]
        assert current() == in_a_thread(current) == NUMPY
        assert backends.chosen() is None

    def test_blocks_that_overlap_in_tasks(self) -> None:
        async def play(backend: Backend, mine: asyncio.Event, others: asyncio.Event) -> Backend:
            with use_backend(backend):
                mine.set()
                await others.wait()
                return current()

        async def both() -> list[Backend]:
            one, other = asyncio.Event(), asyncio.Event()
            return await asyncio.gather(play(NUMBA, one, other), play(Backend("numba", 3), other, one))

        assert asyncio.run(both()) == [NUMBA, Backend("numba", 3)]
        assert current() == NUMPY

    def test_an_object_may_be_kept_and_entered_again(self) -> None:
        kept = use_backend("numba")
        assert current() == NUMBA
        for _ in range(2):
            with kept as inside:
                assert inside == current() == NUMBA
                with use_backend("numpy"), kept:
                    assert current() == NUMBA
                assert in_a_thread(lambda: entered(kept)) == NUMBA
            assert current() == NUMPY

    def test_a_block_ends_where_an_exception_leaves_it(self) -> None:
        with pytest.raises(KeyError), use_backend("numba"):
            raise KeyError
        assert current() == NUMPY

    def test_a_call_s_backend_goes_before_the_block_s_and_none_changes_nothing(self) -> None:
        with use_backend("numba"), using("numpy"):
            assert current() == NUMPY
            with using(None):
                assert current() == NUMPY
        with using(None):
            use_backend("numba")
            assert current() == NUMBA

    def test_plain_calls_do_not_pile_up(self) -> None:
        for threads in range(1, 200):
            use_backend("numba", threads=threads)
        assert len(backends._calls) < 4
        assert current() == Backend("numba", 199)


def entered(kept: use_backend) -> Backend:
    with kept as inside:
        return inside


def test_a_backend_that_is_none_leaves_all_as_it_was() -> None:
    for wrong in ("jax", Backend("numpy", 1)):
        try:
            use_backend(wrong, threads=2)
        except ValueError:
            continue
        pytest.fail("no error")
    assert backends.chosen() is None


# Numba told to compile nothing


def run(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A Python of its own."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", **variables}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)


PLAYS = """
import numpy as np
from genial_env import Backend, Rules, backends, kernel, play, use_backend
from genial_env.envs.single import GenialEnv
env = GenialEnv(side=3, colors=3, rack=2)
env.reset(seed=0)
assert env._game.engine.backend is None
rules = Rules(side=3, colors=3, rack=2)
print(play(["greedy", "search(playouts=4)"], rules, games=2, seed=1).scores.tolist())
print("asked", flush=True)
with use_backend("numba", threads=2):
    env.reset(seed=0)
    assert env._game.engine.backend is None
    print(backends.current(), play(["greedy", "search(playouts=4)"], rules, games=2, seed=1).scores.tolist())
kernel.deal(rules, [1], backend="numba")
kernel.deal(rules, [1], backend=Backend("numba"))
"""


@needs_numba
def test_a_numba_that_compiles_nothing_means_numpy(tmp_path: Path) -> None:
    """Silently where nobody asked for numba, else with one warning; and no file is touched."""
    kept = tmp_path / "genial_env-kept" / "file.nbi"
    kept.parent.mkdir()
    kept.touch()
    done = run(PLAYS, GENIAL_ENV_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    before, _, after = done.stdout.splitlines()
    assert after == f"Backend(name='numpy', threads=1) {before}"
    warning = "RuntimeWarning: numba compiles nothing (NUMBA_DISABLE_JIT=1): numpy computes instead"
    assert done.stderr.count(warning) == 1
    assert list(tmp_path.rglob("*.nb?")) == [kept]
    quiet = PLAYS.partition('print("asked"')[0]
    assert run(quiet).stderr == ""


@needs_numba
def test_ways_to_ask_for_a_numba_that_compiles_nothing() -> None:
    code = "from genial_env import Rules, kernel; kernel.deal(Rules(), 0); kernel.deal(Rules(), 1)"
    done = run(code, GENIAL_ENV_BACKEND="numba")
    assert (done.returncode, done.stderr.count("RuntimeWarning")) == (0, 1), done.stderr
    done = run("import runpy; runpy.run_module('genial_env.warmup', run_name='__main__')")
    assert (done.returncode, done.stderr) == (
        1,
        "the backend 'numba' compiles, and numba is told not to (NUMBA_DISABLE_JIT=1)\n",
    )


# Files of compiled code


@needs_numba
class TestFiles:
    @pytest.fixture(autouse=True)
    def apart(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from genial_env._compiled import jit

        monkeypatch.setenv(jit.CACHE_VARIABLE, str(tmp_path))
        monkeypatch.setattr(jit, "ENTRIES", [])

    def test_only_files_that_cannot_be_read_are_made_anew(self, tmp_path: Path) -> None:
        from genial_env._compiled.jit import Entry

        for function in (double, triple):
            assert Entry(function)(4) in (8, 12)
        files = {path: path.stat() for path in tmp_path.rglob("*.nb?")}
        damaged = [path for path in files if ".double-" in path.name]
        assert (len(files), len(damaged)) == (4, 2)
        for path in damaged:
            path.write_bytes(path.read_bytes()[:50])
        assert Entry(double)(4) == 8
        assert set(tmp_path.rglob("*.nb?")) == set(files)
        for path, before in files.items():
            after = path.stat()
            if path in damaged:
                assert after.st_size == before.st_size
            else:
                assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)

    def test_what_cannot_be_compiled_is_said_and_no_file_is_touched(self, tmp_path: Path) -> None:
        from genial_env._compiled.jit import Entry

        assert Entry(double)(4) == 8
        files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}
        for function, argument in ((beyond_numba, 4), (double, object())):
            with pytest.raises(Exception, match=r"(?i)type"):
                Entry(function)(argument)
        assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")} == files


def double(x: int) -> int:
    return x * 2


def triple(x: int) -> int:
    return x * 3


def beyond_numba(x: int) -> Any:
    return os.environ[str(x)]
