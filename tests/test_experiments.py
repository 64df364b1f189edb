"""Every experiment runs, in little (the quickstart's test is in test_sb3.py)."""

import json
from pathlib import Path

import pytest

from experiments import env_speed, ladder, long_masks, speed
from genial_env import genial_v0
from tests.conftest import needs_numba


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


@needs_numba
def test_speed(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """MOMAland is not among what the tests install, so another environment stands in for its own."""
    monkeypatch.setattr(speed, "momaland_env", genial_v0.env)
    speed.main(speed.Args(batch=16, seconds=0.03, out=tmp_path / "found.json"))
    assert "MOMAland" in capsys.readouterr().out
    found = json.loads((tmp_path / "found.json").read_text())["found"]
    assert {row["by"] for row in found} == {"MOMAland", "Python", "numpy", "numba", "numba, 2 threads"}
    assert all(row["moves_per_s"] > 0 for row in found)


def test_ladder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ladder.main(ladder.Args(games=20, out=tmp_path / "found.json"))
    assert "solo denial: mean lowest marker" in capsys.readouterr().out
    found = json.loads((tmp_path / "found.json").read_text())["found"]
    assert found["greedy among random"]["2 seats"][0] > 0.9
