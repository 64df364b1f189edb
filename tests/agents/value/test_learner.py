"""The value trainer: an interrupted run ends with the same weights, and weaker networks are rejected."""

import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import tyro

from agents.runs.run import read_runs
from agents.value.learner import Learner
from agents.value.replay_buffer import ReplayBuffer
from agents.value.self_play import Samples
from experiments.train_value import CHECKPOINT, WEIGHTS, Args, main
from genial_env import use_backend
from genial_env.policies import weight_files
from genial_env.policies.value import KIND
from genial_env.policies.value_net import Widths
from tests import stopping
from tests.conftest import GUARD, needs_numba

pytestmark = needs_numba
SETTINGS = shlex.split(
    "--games 96 --warmup-games 32 --n-envs 16 --eval-every 32 --eval-deals 4 --eval-opponents greedy --candidates 4 "
    "--side 4 --colors 4 --rack 3 --buffer-size 4000 --batch-size 64 "
    "--widths.first 8 --widths.kind 8 --widths.second 8 --widths.third 8 --widths.fourth 8"
)


def command(folder: Path) -> list[str]:
    return [sys.executable, "-m", "experiments.train_value", "--out", str(folder), *SETTINGS]


def settings(folder: Path) -> Args:
    """Return the same options for a run in this process."""
    return tyro.cli(Args, args=command(folder)[3:])


def children_of(process: int) -> list[int]:
    """Return the child processes of a process, from Linux's /proc."""
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
def test_a_killed_run_ends_with_the_same_weights(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    main(settings(whole))
    process = stopping.start(broken / CHECKPOINT, *command(broken)[2:])
    actors = children_of(process.pid)
    assert actors
    process.kill()
    process.wait()
    deadline = time.monotonic() + GUARD
    while any(Path(f"/proc/{actor}").exists() for actor in actors):  # they end with the learner
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert read_runs(broken)[0].about["finished"] is None
    main(settings(broken))
    runs = [read_runs(folder)[0] for folder in (whole, broken)]
    assert len(runs[1].about["sessions"]) == 2
    for run in runs:
        assert run.about["finished"] is not None
        for line in run.curve:
            line["wall_s"] = line["cpu_s"] = 0
    assert runs[0].curve == runs[1].curve
    assert [line["games"] for line in runs[0].curve] == [32, 64, 96, 128]
    arrays, about = weight_files.read(whole / WEIGHTS, KIND)
    again, _ = weight_files.read(broken / WEIGHTS, KIND)
    assert all(np.array_equal(arrays[name], again[name]) for name in arrays)
    assert "greedy" in about["results"]
    main(settings(broken))  # it is finished: nothing to do
    assert [line["games"] for line in read_runs(broken)[0].curve] == [32, 64, 96, 128]


def test_a_run_on_ray_ends_with_the_same_weights(tmp_path: Path) -> None:
    """On two workers; only where Ray is installed, as in RLlib's environment."""
    pytest.importorskip("ray")
    here, on_ray = ([*command(tmp_path / name), "--actors", "2"] for name in ("here", "ray"))
    for words in (here, [*on_ray, "--ray", "local"]):
        subprocess.run(words, check=True, capture_output=True, timeout=GUARD)
    arrays, again = (weight_files.read(tmp_path / name / WEIGHTS, KIND)[0] for name in ("here", "ray"))
    assert all(np.array_equal(arrays[name], again[name]) for name in arrays)


@pytest.mark.parametrize(
    ("game", "even"),
    [
        ({"side": 4, "replay_ratio": 60}, 0.5),
        ({"players": 1, "mode": "solo", "edition": "2009", "side": 5, "replay_ratio": 120}, 0),
    ],
    ids=["two seats", "solo"],
)
def test_a_weaker_network_is_rejected(game: dict[str, Any], even: float) -> None:
    """One that chooses the lowest values. Solo its lowest markers are less in the same deals."""
    args = Args(
        **game,
        warmup_games=256,
        n_envs=256,
        buffer_size=8000,
        widths=Widths(8, 8, 8, 8, 8),
        eval_deals=40,
    )
    with use_backend("numba"):
        learner = Learner.start(args)
        assert learner.gate() is None  # nothing before it
        good = learner.average.arrays()
        with torch.no_grad():
            learner.average.out.neg_()
        found = learner.gate()
        assert found is not None
        assert found.mean + found.half < even
        assert learner.rejected == 1
        assert len(learner.past_selves) == 1
        for net in (learner.net, learner.average):
            assert all(np.array_equal(array, good[name]) for name, array in net.arrays().items())
        found = learner.gate()
        assert found is not None
        assert found.mean == even  # against itself
        assert len(learner.past_selves) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eval_deals": 1}, "--eval-deals must be at least 2, not 1"),
        ({"seed": 2**31}, "--seed must be 0 to 2147483647, not 2147483648"),
        ({"seed": -1}, "--seed must be 0 to 2147483647, not -1"),
        (
            {"players": 1, "mode": "solo", "edition": "2009", "best_response_to": Path("some.safetensors")},
            "--best-response-to: expected a game with opponents, got solo",
        ),
        ({"eval_opponents": ("denial", "denial")}, "2 are named 'denial'"),
    ],
)
def test_options_that_an_evaluation_would_refuse_are_refused_first(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Args(**options).check()


def test_the_buffer_keeps_the_newest() -> None:
    buffer = ReplayBuffer(np.zeros((5, 2), dtype=np.int16), np.zeros((5, 1, 2), dtype=np.float16))
    for start in (0, 3, 6):
        numbers = np.arange(start, start + 3)
        buffer.add(
            Samples(
                np.repeat(numbers[:, None], 2, axis=1).astype(np.int16),
                np.tile(numbers[:, None, None], (1, 1, 2)).astype(np.float32),
                game=np.zeros(3, dtype=np.int64),
                games=1,
                moves=3,
                cpu_s=0.0,
            )
        )
    assert buffer.filled == 5
    assert sorted(buffer.features[:, 0].tolist()) == [4, 5, 6, 7, 8]
    features, targets = buffer.sample(100, np.random.default_rng(0))
    assert torch.equal(features[:, 0].float(), targets[:, 0, 0])
