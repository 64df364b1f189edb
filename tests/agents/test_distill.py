"""Imitation: a student learns what its teacher does, and what comes of it plays and trains on."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from agents.ppo.halves_net import HalvesNet
from experiments import distill
from experiments.distill import WEIGHTS, Args, learn, play_round
from genial_env import Rules, make_policy, play
from genial_env.policies import weight_files
from genial_env.policies.ppo import KIND, PPO
from tests.conftest import needs_numba

LITTLE = Args(teacher="greedy", rounds=2, games=24, deals=4, side=4, batch_size=64, opponents=("random",))


@pytest.mark.slow
def test_the_student_comes_to_do_as_the_teacher_does() -> None:
    torch.manual_seed(0)
    rules = Rules(side=4)
    student, teacher = HalvesNet(rules), make_policy("greedy")
    optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)
    lessons = play_round(student, teacher, 0.5, LITTLE, seed=1)
    assert lessons.mask[np.arange(len(lessons.actions)), lessons.actions].all()
    assert set(np.unique(lessons.outcome)) <= {-1, 0, 1}
    before = learn(student, optimizer, lessons, LITTLE, seed=2)
    for _ in range(6):
        after = learn(student, optimizer, lessons, LITTLE, seed=2)
    assert after["imitation"] < 0.8 * before["imitation"]
    assert after["value"] < before["value"]
    assert after["hits"] > before["hits"]


def test_who_makes_the_decisions() -> None:
    """With no share the games are the teacher's own; with all they are the student's, and the teacher only advises."""
    rules, teacher = Rules(side=4), make_policy("points")
    student = HalvesNet(rules)
    own, students = (play_round(student, teacher, share, LITTLE, seed=3) for share in (0.0, 1.0))
    first = slice(0, LITTLE.games)
    assert np.array_equal(own.actions[first], students.actions[first])
    assert not np.array_equal(own.actions, students.actions)


@needs_numba
def test_a_run_leaves_weights_that_play(tmp_path: Path) -> None:
    found = distill.main(replace(LITTLE, out=tmp_path))
    assert set(found) == {"random", "greedy"}
    _, about = weight_files.read(tmp_path / WEIGHTS, KIND)
    assert about["teacher"] == "greedy"
    assert len(play([PPO(tmp_path / WEIGHTS), "random"], Rules(side=4), 2)) == 2
    lines = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    assert [line["games"] for line in lines] == [0, 24, 48]
    assert lines[-1]["hits"] > 0
