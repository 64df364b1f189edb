"""Run a module as ``python -m`` does, and stop its process as soon as a file exists.

    python -m tests.stopping FILE MODULE [ARGUMENT...]

So a test that kills a program in mid-run does not have to be faster than it.
"""

import os
import runpy
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.paths import ROOT


def start(path: Path, module: str, *words: str) -> subprocess.Popen[bytes]:
    """Run a module in a process and return the process, which is stopped by then.

    The test is skipped where processes cannot be stopped.

    Raises:
        ChildProcessError: if it ended before the file existed.
    """
    if os.name != "posix":
        pytest.skip("only POSIX stops processes")
    command = [sys.executable, "-m", __name__, str(path), module, *words]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    status = os.waitpid(process.pid, os.WUNTRACED)[1]
    if not os.WIFSTOPPED(status):
        process.returncode = os.waitstatus_to_exitcode(status)
        raise ChildProcessError(f"{module} ended with {process.returncode} before {path} was there")
    return process


def main(path: str, module: str) -> None:
    """Run the module; stop when it opens a file, renames one or starts a process while the file exists."""
    own = os.getpid()

    def stop(event: str, _: Any) -> None:
        if event in ("open", "os.rename", "subprocess.Popen") and os.getpid() == own and os.path.exists(path):
            os.kill(own, signal.SIGSTOP)

    sys.addaudithook(stop)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _, path, module, *words = sys.argv
    sys.argv = [module, *words]
    main(path, module)
