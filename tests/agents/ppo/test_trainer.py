"""The PPO trainer: files of a run, resuming, networks."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.ppo import trainer
from agents.ppo.trainer import WEIGHTS, name_former_value
from experiments import train_ppo
from genial_env import Rules, play
from genial_env.policies import weight_files
from genial_env.policies.ppo import KIND, PPO
from tests import stopping
from tests.positions import FORMER_PPO

SMALL = train_ppo.Args(
    total_timesteps=8 * 64,
    n_envs=8,
    n_steps=8,
    choices=4,
    candidates=6,
    batch_size=32,
    n_epochs=1,
    scripted=("denial", "greedy"),
    eval_opponents=("greedy", "denial"),
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
    _, metadata = weight_files.read(uninterrupted / WEIGHTS, KIND)
    assert json.loads(metadata["moves"]) == 512
    assert play([PPO(uninterrupted / WEIGHTS), "greedy"], games=2).agents == ["ppo", "greedy"]


@pytest.mark.slow
def test_kill_in_the_middle_loses_nothing(uninterrupted: Path, tmp_path: Path) -> None:
    """A run that was killed after a checkpoint and one more line of the curve ends the same, bit for bit."""
    options = [f"--{name.replace('_', '-')}={value}" for name, value in vars(SMALL).items() if is_number(value)]
    options += ["--scripted", *SMALL.scripted, "--eval-opponents", *SMALL.eval_opponents]
    curve = tmp_path / "curve.jsonl"  # has a line more than the checkpoint that was written before it
    child = stopping.start(curve, "experiments.train_ppo", *options, "--backend=numpy", f"--out={tmp_path}")
    child.kill()
    child.wait()
    train_ppo.main(replace(SMALL, out=tmp_path))
    found, expected = (weight_files.read(out / WEIGHTS, KIND)[0] for out in (tmp_path, uninterrupted))
    assert all(np.array_equal(found[name], expected[name]) for name in expected)
    assert curve_of(tmp_path) == curve_of(uninterrupted)
    evaluations, others = np.load(tmp_path / "evaluations.npz"), np.load(uninterrupted / "evaluations.npz")
    assert all(np.array_equal(evaluations[name], others[name]) for name in others)
    assert len(json.loads((tmp_path / "run.json").read_text())["sessions"]) == 2


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@pytest.mark.parametrize("kind", ["ppo", "value"])
def test_start_from_weights(kind: str, uninterrupted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The start is in the league, and without training the weights stay the same, up to the scale of the inputs."""
    monkeypatch.setattr(trainer, "FINAL_EVAL_FACTOR", 1)
    file = uninterrupted / WEIGHTS if kind == "ppo" else weight_files.find_shipped("value", Rules())
    train_ppo.main(replace(SMALL, total_timesteps=0, start_from=file, out=tmp_path))
    found, expected = (weight_files.read(path, words)[0] for path, words in ((tmp_path / WEIGHTS, KIND), (file, kind)))
    assert all(np.allclose(found[name], expected[name], atol=1e-5) for name in expected)
    assert "self@0" in curve_of(tmp_path)[-1]["win_rates"]


@pytest.mark.slow
@pytest.mark.parametrize(("players", "mode", "edition"), [(3, "individual", "2025"), (4, "team", "2009")])
def test_other_numbers_of_seats(
    players: int, mode: str, edition: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer, "FINAL_EVAL_FACTOR", 1)
    game = {"players": players, "mode": mode, "edition": edition}
    train_ppo.main(replace(SMALL, total_timesteps=64, eval_opponents=(), out=tmp_path, **game))
    rules = Rules(players, edition, mode)
    assert list(curve_of(tmp_path)[-1]["against"])[-1] == name_former_value(rules)[0].split("'")[-2]
    play([PPO(tmp_path / WEIGHTS)] * players, rules, 2)


def test_a_finished_run_is_left_as_it_is(uninterrupted: Path) -> None:
    before = {path: path.read_bytes() for path in (uninterrupted / "curve.jsonl", uninterrupted / WEIGHTS)}
    train_ppo.main(replace(SMALL, out=uninterrupted))
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.slow
@pytest.mark.parametrize(("network", "augment"), [("halves", False), ("structured", False), ("plain", True)])
def test_other_networks(network: str, augment: bool, tmp_path: Path) -> None:
    """They train and play against past selves; their weights are not mistaken for those of "ppo"."""
    args = replace(SMALL, network=network, augment=augment, width=8, total_timesteps=5 * 64, out=tmp_path)
    run = train_ppo.main(args)
    assert run.folder == tmp_path
    (line,) = [line for line in curve_of(tmp_path) if line["moves"] == 320]
    assert any(name.startswith("self@") for name in line["win_rates"])
    if network == "halves":
        assert play([PPO(tmp_path / WEIGHTS), "greedy"], games=2).agents == ["ppo", "greedy"]
        train_ppo.main(replace(args, total_timesteps=0, start_from=tmp_path / WEIGHTS, out=tmp_path / "again"))
        return
    weight_files.read(tmp_path / WEIGHTS, f"{KIND}-{network}")
    with pytest.raises(ValueError, match=f"must hold weights of kind 'ppo', not 'ppo-{network}'"):
        PPO(tmp_path / WEIGHTS)


def test_refused_networks(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="--network: expected one of afterstates, halves, structured, plain, got 'deep'"
    ):
        train_ppo.main(replace(SMALL, network="deep", out=tmp_path / "deep"))
    with pytest.raises(ValueError, match="--augment does nothing for the network 'afterstates'"):
        train_ppo.main(replace(SMALL, augment=True, out=tmp_path / "augmented"))
    shipped = weight_files.find_shipped("value", Rules())
    with pytest.raises(ValueError, match="must hold weights of kind 'ppo', not 'value'"):
        train_ppo.main(replace(SMALL, network="halves", start_from=shipped, out=tmp_path / "halves"))
    with pytest.raises(ValueError, match="expected the tensor 'color', found"):
        train_ppo.main(replace(SMALL, start_from=FORMER_PPO, out=tmp_path / "of halves"))
    with pytest.raises(ValueError, match="mode 'solo' has none"):
        train_ppo.main(replace(SMALL, players=1, mode="solo", edition="2009", out=tmp_path / "solo"))
