"""Experiments whose libraries are not installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from experiments import EXTRAS

HIDE = "import sys; sys.modules[{!r}] = None; import experiments.{}"
"""A program in which a library cannot be imported."""


def run_without(library: str, experiment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HIDE.format(library, experiment)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("library", "experiment", "extra"),
    [("tyro", "speed", "train"), ("torch", "train_ppo", "train"), ("cmaes", "fit_prior", "tune")],
)
def test_a_missing_library_is_one_line_with_its_extra(library: str, experiment: str, extra: str) -> None:
    done = run_without(library, experiment)
    assert done.returncode == 1
    assert done.stderr.startswith(f"this experiment needs {library}: pip install ")
    assert f"[{extra}]" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_other_errors_are_pythons() -> None:
    done = run_without("genial_env.simulation", "ladder")
    assert done.returncode == 1
    assert "Traceback" in done.stderr


def test_every_library_has_its_extra() -> None:
    """Every library that an experiment or a learner imports at its top is the package's, or of a known extra."""
    folder = Path(__file__).parents[2]
    own = {"experiments", "agents", "genial_env", "tests"}
    base = {"gymnasium", "numpy", "pettingzoo", "rich", "safetensors", "typer", "threadpoolctl"}
    found = {
        line.split()[1].partition(".")[0]
        for path in (*folder.glob("experiments/*.py"), *folder.glob("agents/**/*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith(("import ", "from "))
    }
    assert found - own - base - set(sys.stdlib_module_names) <= set(EXTRAS)
