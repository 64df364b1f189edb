"""The PPO trainer: files of a run, resuming, networks."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments import train_ppo
from genial_env import play
from genial_env.policies import weight_files
from genial_env.policies.ppo import KIND, PPO
from tests import stopping

SMALL = train_ppo.Args(
    total_timesteps=8 * 64,
    n_envs=8,
    n_steps=8,
    batch_size=32,
    n_epochs=1,
    snapshot_every=2,
    max_past_selves=2,
    eval_every=3,
    eval_deals=2,
    save_every=2,
    backend="numpy",
)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("uninterrupted")
    train_ppo.main(replace(SMALL, out=out))
    return out


def curve_of(out: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (out / "curve.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name not in ("wall_s", "cpu_s")} for line in lines]


def test_a_run_leaves_what_it_says(uninterrupted: Path) -> None:
    about = json.loads((uninterrupted / "run.json").read_text())
    assert about["totals"]["moves"] == 512
    assert about["finished"] is not None
    curve = curve_of(uninterrupted)
    assert [line["moves"] for line in curve] == [192, 384, 512]
    assert curve[-1]["against"]["denial"]["games"] == 40
    assert len(curve[-1]["win_rates"]) == 4  # two scripted agents, two past selves
    assert np.load(uninterrupted / "evaluations.npz")["timesteps"].tolist() == [192, 384]
    assert (uninterrupted / "best_model.zip").exists()
    assert list((uninterrupted / "tensorboard").iterdir())
    _, metadata = weight_files.read(uninterrupted / "policy.safetensors", KIND)
    assert json.loads(metadata["moves"]) == 512
    assert play([PPO(uninterrupted / "policy.safetensors"), "greedy"], games=2).agents == ["ppo", "greedy"]


@pytest.mark.slow
def test_kill_in_the_middle_loses_nothing(uninterrupted: Path, tmp_path: Path) -> None:
    """A run that was killed after a checkpoint and one more line of the curve ends the same, bit for bit."""
    options = [f"--{name.replace('_', '-')}={value}" for name, value in vars(SMALL).items() if is_number(value)]
    curve = tmp_path / "curve.jsonl"  # has a line more than the checkpoint that was written before it
    child = stopping.start(curve, "experiments.train_ppo", *options, "--backend=numpy", f"--out={tmp_path}")
    child.kill()
    child.wait()
    train_ppo.main(replace(SMALL, out=tmp_path))
    found, expected = (weight_files.read(out / "policy.safetensors", KIND)[0] for out in (tmp_path, uninterrupted))
    assert all(np.array_equal(found[name], expected[name]) for name in expected)
    assert curve_of(tmp_path) == curve_of(uninterrupted)
    evaluations, others = np.load(tmp_path / "evaluations.npz"), np.load(uninterrupted / "evaluations.npz")
    assert all(np.array_equal(evaluations[name], others[name]) for name in others)
    assert len(json.loads((tmp_path / "run.json").read_text())["sessions"]) == 2


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def test_start_from_weights(uninterrupted: Path, tmp_path: Path) -> None:
    args = replace(SMALL, total_timesteps=0, start_from=uninterrupted / "policy.safetensors", out=tmp_path)
    train_ppo.main(args)
    found, expected = (weight_files.read(out / "policy.safetensors", KIND)[0] for out in (tmp_path, uninterrupted))
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


def test_a_finished_run_is_left_as_it_is(uninterrupted: Path) -> None:
    before = {path: path.read_bytes() for path in (uninterrupted / "curve.jsonl", uninterrupted / "policy.safetensors")}
    train_ppo.main(replace(SMALL, out=uninterrupted))
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.slow
@pytest.mark.parametrize(("network", "augment"), [("structured", False), ("plain", True)])
def test_other_networks(network: str, augment: bool, tmp_path: Path) -> None:
    """They train and play against past selves; their weights are not mistaken for those of "ppo"."""
    args = replace(SMALL, network=network, augment=augment, width=8, total_timesteps=5 * 64, out=tmp_path)
    run = train_ppo.main(args)
    assert run.folder == tmp_path
    (line,) = [line for line in curve_of(tmp_path) if line["moves"] == 320]
    assert any(name.startswith("self@") for name in line["win_rates"])
    weight_files.read(tmp_path / "policy.safetensors", f"{KIND}-{network}")
    with pytest.raises(ValueError, match=f"must hold weights of kind 'ppo', not 'ppo-{network}'"):
        PPO(tmp_path / "policy.safetensors")


def test_refused_networks(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be one of halves, structured, plain, not 'deep'"):
        train_ppo.main(replace(SMALL, network="deep", out=tmp_path / "deep"))
    with pytest.raises(ValueError, match="--augment does nothing for the network 'halves'"):
        train_ppo.main(replace(SMALL, augment=True, out=tmp_path / "augmented"))
