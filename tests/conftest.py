"""Fixtures, and what one run of the tests shares among its processes."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from genial_env import backends, use_backend

HAS_NUMBA = find_spec("numba") is not None
needs_numba = pytest.mark.skipif(not HAS_NUMBA, reason="numba is not installed (extra 'fast')")
slow = pytest.mark.slow
posix = pytest.mark.skipif(os.name != "posix", reason="of POSIX: its signals, forks, links, pipes and terminals")

GUARD = 300.0
"""Seconds after which something that a test waits for will not come any more. Never how long it takes."""


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give each worker a half of the tests in their order, so that fixtures of a module are mostly made once."""
    if getattr(config.option, "dist", None) == "load":  # what -n means alone
        config.option.dist = "worksteal"


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile everything once, in one process, before several workers would each do it at the same time."""
    if not getattr(session.config.option, "numprocesses", None):
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the workers fill the cores already
    if HAS_NUMBA and not session.config.option.collectonly:
        subprocess.run([sys.executable, "-m", "genial_env.warmup"], check=True)


if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell's background job ignores Ctrl-C, and so would the commands that tests start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def logs_of_stable_baselines(tmp_path_factory: pytest.TempPathFactory) -> None:
    """It makes a folder for the logs of every model, by default beside the other temporary files of the system."""
    os.environ["SB3_LOGDIR"] = str(tmp_path_factory.mktemp("stable_baselines"))


@pytest.fixture(params=["numpy", pytest.param("numba", marks=needs_numba)], scope="module")
def each_backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Every test of the module once by either backend; single games by "numpy" are played in Python."""
    with use_backend(request.param):
        yield request.param


@pytest.fixture(autouse=True)
def nothing_left_chosen() -> Iterator[None]:
    """A test that chose a backend and left it so would choose it for all tests after it."""
    before = backends.chosen(), backends._blocks.get()
    yield
    assert (backends.chosen(), backends._blocks.get()) == before
