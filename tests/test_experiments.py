"""Every experiment runs, in little (the quickstart's test is in test_sb3.py)."""

import json
from pathlib import Path

import pytest

from experiments import env_speed, long_masks


def test_long_masks(capsys: pytest.CaptureFixture[str]) -> None:
    args = long_masks.Args(total_steps=64, num_envs=4, num_steps=8, batch_size=32, epochs=1)
    assert long_masks.main(args) == 64
    assert "64 decisions among 5,546 actions" in capsys.readouterr().out


def test_env_speed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    env_speed.main(env_speed.Args(seconds=0.01, copies=3, out=tmp_path / "found.json"))
    shown = capsys.readouterr().out
    assert "gym.make_vec, 1,024 games" in shown
    assert "State.copy, all at once" in shown
    found = json.loads((tmp_path / "found.json").read_text())
    assert all(row["steps_per_s"] > 0 and row["written_bytes"] > 2882 for row in found["steps"].values())
    assert found["steps"]["gym.make_vec, 64 games"]["held_mb"] < 10
