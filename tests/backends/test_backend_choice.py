"""Choosing a backend, doing without numba, and where compiled code is kept."""

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from genial_env import Backend, Rules, backends, genial_v0, use_backend
from genial_env._util.extras import install_hint
from genial_env.core import kernel
from genial_env.warmup import warm_up
from tests.conftest import GUARD, needs_numba, posix


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As a process starts."""
    monkeypatch.delenv(backends.BACKEND_VARIABLE, raising=False)
    monkeypatch.delenv(backends.THREADS_VARIABLE, raising=False)
    backends._from_environment.cache_clear()
    yield
    backends._from_environment.cache_clear()
    assert backends.current() == Backend("numpy")


@needs_numba
def test_ways_to_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    assert backends.current() == Backend("numpy")
    with use_backend("numba", threads=2) as inside:
        assert inside == backends.current() == Backend("numba", 2)
        with use_backend("numpy"):
            assert backends.current() == Backend("numpy")
        assert backends.current() == Backend("numba", 2)
        with use_backend(Backend("numba", 4), threads=1):
            assert backends.current() == Backend("numba")
    monkeypatch.setenv(backends.BACKEND_VARIABLE, "numba")
    monkeypatch.setenv(backends.THREADS_VARIABLE, "3")
    backends._from_environment.cache_clear()
    assert backends.current() == Backend("numba", 3)
    with use_backend("numpy"):
        assert backends.current() == Backend("numpy")
    backends._from_environment.cache_clear()
    monkeypatch.setenv(backends.BACKEND_VARIABLE, "fortran")
    with pytest.raises(ValueError, match=r"GENIAL_ENV_BACKEND=fortran, .*unknown backend 'fortran'"):
        kernel.deal(Rules(), 0)
    monkeypatch.delenv(backends.BACKEND_VARIABLE)
    with pytest.raises(ValueError, match="GENIAL_ENV_THREADS=3: the backend 'numpy' works in one thread"):
        backends.current()
    monkeypatch.delenv(backends.THREADS_VARIABLE)


def test_what_is_no_backend() -> None:
    for make, error, said in (
        (lambda: use_backend("jax"), ValueError, "unknown backend 'jax': the backends are numpy, numba"),
        (lambda: use_backend("numpy", threads=2), ValueError, "'numpy' works in one thread, not 2"),
        (lambda: Backend("numba", 0), ValueError, "threads must be at least 1, not 0"),
        (lambda: Backend("numba", 1.5), TypeError, "threads must be a whole number, not 1.5"),
        (lambda: kernel.deal(Rules(), 0, backend=3), TypeError, "a backend is a name or a Backend, not 3"),
    ):
        with pytest.raises(error, match=said):
            make()


@needs_numba
def test_single_games_take_numba_where_nobody_chose() -> None:
    warm_up()
    env = genial_v0.raw_env()
    env.reset(seed=0)
    assert env._game.engine.backend == Backend("numba")
    with use_backend("numpy"):
        env.reset(seed=0)
        assert env._game.engine.backend is None


def run(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A Python of its own."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        timeout=GUARD,
        check=False,
    )


WITHOUT = "import sys; sys.modules['numba'] = None\n"


def test_without_numba() -> None:
    """All is as before, but for a clear message to who asks for it."""
    done = run(
        WITHOUT
        + "import gymnasium, genial_env\n"
        + "env = gymnasium.make('genial_env/Genial-v0', opponents='greedy')\n"
        + "observation, info = env.reset(seed=0)\n"
        + "env.step(info['action_mask'].argmax())\n"
        + "print(env.unwrapped._game.engine.backend)\n"
        + "genial_env.use_backend('numba')"
    )
    assert done.stdout == "None\n"
    assert f"ImportError: the backend 'numba' needs numba: {install_hint('fast')}" in done.stderr
    done = run(WITHOUT + "import runpy; runpy.run_module('genial_env.warmup', run_name='__main__')")
    assert done.returncode == 1
    assert install_hint("fast") in done.stderr


def test_a_numba_that_does_not_work_is_told_of_once() -> None:
    broken = (
        "import sys, types, importlib.machinery\n"
        "sys.modules['numba'] = numba = types.ModuleType('numba')\n"
        "numba.__spec__ = importlib.machinery.ModuleSpec('numba', None)\n"
        "from genial_env import genial_v0\n"
        "env = genial_v0.env()\n"
        "for seed in range(3): env.reset(seed=seed)\n"
        "print(env.unwrapped._game.engine.backend)"
    )
    done = subprocess.run([sys.executable, "-c", broken], capture_output=True, text=True, timeout=GUARD, check=True)
    assert done.stdout == "None\n"
    assert done.stderr.count("RuntimeWarning: single games are played without numba") == 1


# Compiled code on the disk

SMALL = (
    "from genial_env import Rules, kernel; "
    "kernel.recount_points(Rules(), kernel.undealt(Rules()).board, backend='numba')"
)
COUNTED = (
    "from numba.core import event\n"
    "with event.install_recorder('numba:compile') as compiled:\n"
    f"    {SMALL}\n"
    "print(len(compiled.buffer))"
)


@needs_numba
@pytest.mark.slow
class TestCache:
    def test_a_second_process_compiles_nothing(self, tmp_path: Path) -> None:
        first, second = (run(COUNTED, GENIAL_ENV_CACHE_DIR=str(tmp_path)) for _ in range(2))
        assert int(first.stdout) > 0, first.stderr
        assert int(second.stdout) == 0, second.stderr
        assert len(list(tmp_path.glob("genial_env-*/*/*.nbi"))) == 1

    def test_another_copy_of_the_package_compiles_nothing(self, tmp_path: Path) -> None:
        cache, copy = tmp_path / "cache", tmp_path / "copy"
        shutil.copytree(
            Path(backends.__file__).parent, copy / "genial_env", ignore=shutil.ignore_patterns("__pycache__")
        )
        assert int(run(COUNTED, GENIAL_ENV_CACHE_DIR=str(cache)).stdout) > 0
        at_copy = (
            f"import sys; sys.path.insert(0, {str(copy)!r})\n{COUNTED}\nimport genial_env; print(genial_env.__file__)"
        )
        other = run(at_copy, GENIAL_ENV_CACHE_DIR=str(cache))
        number, file = other.stdout.splitlines()
        assert int(number) == 0, other.stderr
        assert Path(file).is_relative_to(copy)

    def test_damaged_files_are_made_anew(self, tmp_path: Path) -> None:
        run(SMALL, GENIAL_ENV_CACHE_DIR=str(tmp_path))
        for path in tmp_path.rglob("*.nb?"):
            path.write_bytes(path.read_bytes()[:50])
        done = run(COUNTED, GENIAL_ENV_CACHE_DIR=str(tmp_path))
        assert int(done.stdout) > 0, done.stderr
        run(SMALL, GENIAL_ENV_CACHE_DIR=str(tmp_path))
        assert int(run(COUNTED, GENIAL_ENV_CACHE_DIR=str(tmp_path)).stdout) == 0

    def test_other_sources_have_another_place(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from genial_env._compiled import jit

        monkeypatch.setenv(jit.CACHE_VARIABLE, str(tmp_path))
        before = jit.cache_directory()
        monkeypatch.setattr(jit, "CONSTANTS_FROM", jit.CONSTANTS_FROM[:-1])
        assert jit.cache_directory() != before

    def test_where_nothing_can_be_written_it_compiles_all_the_same(self, tmp_path: Path) -> None:
        nowhere = tmp_path / "file"
        nowhere.touch()
        places = dict.fromkeys(("GENIAL_ENV_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"), str(nowhere))
        done = run(COUNTED, **places)
        assert int(done.stdout) > 0, done.stderr
        assert "(not kept, as no cache directory can be written)" in done.stderr

    def test_it_is_logged_once(self, tmp_path: Path) -> None:
        said = run(SMALL, GENIAL_ENV_CACHE_DIR=str(tmp_path)).stderr
        assert said.count("genial_env: compiling for this machine, once") == 1
        assert str(tmp_path) in said
        assert run(SMALL, GENIAL_ENV_CACHE_DIR=str(tmp_path)).stderr == ""
        quiet = f"import logging; logging.getLogger('genial_env').setLevel('ERROR'); {SMALL}"
        assert run(quiet, GENIAL_ENV_CACHE_DIR=str(tmp_path / "other")).stderr == ""

    @posix
    def test_single_games_do_not_wait(self, tmp_path: Path) -> None:
        """They begin in Python, in a child that was forked meanwhile, too; and the program ends as it should."""
        code = (
            "import os, sys\n"
            "import gymnasium as gym\n"
            "import genial_env\n"
            "env = gym.make('genial_env/Genial-v0', opponents='greedy')\n"
            "def play():\n"
            "    env.reset(seed=1)\n"
            "    for _ in range(3): env.step(env.unwrapped.action_masks().argmax())\n"
            "    return env.unwrapped._game.engine\n"
            "print(type(play()).__name__, flush=True)\n"
            "child = os.fork()\n"
            "if not child:\n"
            "    print(type(play()).__name__, flush=True)\n"
            "    os._exit(0)\n"
            "print(os.waitpid(child, 0)[1], flush=True)\n"
        )
        done = run(code, GENIAL_ENV_CACHE_DIR=str(tmp_path))
        assert (done.stdout, done.returncode) == ("SwitchingEngine\nSwitchingEngine\n0\n", 0), done.stderr


@needs_numba
def test_warming_up_makes_every_function_ready() -> None:
    from genial_env._compiled.jit import ENTRIES

    assert warm_up() == len(ENTRIES)
    assert all(entry._compiled is not None for entry in ENTRIES)


@needs_numba
def test_games_need_nothing_but_what_warming_up_compiles() -> None:
    done = run(
        "from genial_env import Rules, play\n"
        "from genial_env._compiled.jit import ENTRIES\n"
        "from genial_env.warmup import warm_up\n"
        "warm_up()\n"
        "play(['value', 'value_search(playouts=24)'], games=2, backend='numba')\n"
        "play(['value', 'greedy', 'search(playouts=12)'], Rules(3), games=1, backend='numba')\n"
        "print({entry.name: len(entry._compiled.signatures) for entry in ENTRIES})"
    )
    counts = ast.literal_eval(done.stdout)
    assert set(counts.values()) == {1}, counts
