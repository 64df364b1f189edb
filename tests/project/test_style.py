"""Lint, format and types, so that one command checks everything."""

import subprocess
import sys

import pytest

from tests.paths import ROOT


@pytest.mark.parametrize("command", [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]], ids=" ".join)
def test_style(command: list[str]) -> None:
    found = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
