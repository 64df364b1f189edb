"""Imitation: a student learns the choices of its teacher, and its weights play."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from agents.ppo.halves_net import HalvesNet
from agents.ppo.imitation import ChoiceTeacher, ValueTeacher, collect_demonstrations, train_student
from experiments import distill
from experiments.distill import WEIGHTS, Args
from genial_env import Rules, make_policy, play, view
from genial_env.core.chance import game_seeds
from genial_env.core.kernel import deal
from genial_env.policies import weight_files
from genial_env.policies.base import NONE
from genial_env.policies.ppo import KIND, PPO
from genial_env.policies.value import Value
from tests.conftest import needs_numba

SMALL = Args(teacher="greedy", rounds=2, games=24, eval_deals=4, side=4, batch_size=64, eval_opponents=("random",))


@pytest.mark.slow
def test_the_student_learns_the_choices_of_the_teacher() -> None:
    torch.manual_seed(0)
    rules = Rules(side=4)
    student, teacher = HalvesNet(rules), ChoiceTeacher(make_policy("greedy"))
    optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)
    shown = collect_demonstrations(student, teacher, 0.5, games=24, seed=1)
    decisions = np.arange(len(shown.outcome))
    assert shown.mask[decisions, shown.targets.actions[:, 0]].all()
    assert set(np.unique(shown.outcome)) <= {-1, 0, 1}
    before = train_student(student, optimizer, shown, seed=2, batch_size=64)
    for _ in range(6):
        after = train_student(student, optimizer, shown, seed=2, batch_size=64)
    assert after["imitation"] < 0.8 * before["imitation"]
    assert after["value"] < before["value"]
    assert after["hits"] > before["hits"]


def test_who_makes_the_decisions() -> None:
    """With share 0 the teacher plays; with share 1 the student does, and the teacher's choices are recorded."""
    rules, teacher = Rules(side=4), ChoiceTeacher(make_policy("points"))
    student = HalvesNet(rules)
    own, students = (collect_demonstrations(student, teacher, share, games=24, seed=3) for share in (0.0, 1.0))
    first = slice(0, 24)
    assert np.array_equal(own.targets.actions[first], students.targets.actions[first])
    assert not np.array_equal(own.targets.actions, students.targets.actions)


def test_a_value_network_teaches_probabilities() -> None:
    """Its most likely action is the one that it values highest, and the others of high value are nearly as likely."""
    state = deal(Rules(), game_seeds(4, 8))
    teacher = ValueTeacher(most=12, temperature=0.02)
    seen = view(state)
    targets = teacher(seen, np.zeros(8, dtype=np.uint64))
    assert targets.actions.shape == targets.probabilities.shape == (8, 14)
    assert np.allclose(targets.probabilities.sum(axis=1), 1)
    assert (targets.probabilities[targets.actions == NONE] == 0).all()
    likeliest = targets.actions[np.arange(8), targets.probabilities.argmax(axis=1)]
    assert np.array_equal(likeliest, Value(candidates=12, prior="denial")(seen, np.zeros(8, dtype=np.uint64)))
    sharper = ValueTeacher(most=12, temperature=0.005)(seen, np.zeros(8, dtype=np.uint64))
    assert (sharper.probabilities.max(axis=1) > targets.probabilities.max(axis=1)).all()


@needs_numba
def test_a_run_leaves_weights_that_play(tmp_path: Path) -> None:
    found = distill.main(replace(SMALL, out=tmp_path))
    assert set(found) == {"random", "greedy"}
    _, about = weight_files.read(tmp_path / WEIGHTS, KIND)
    assert about["teacher"] == "greedy"
    assert len(play([PPO(tmp_path / WEIGHTS), "random"], Rules(side=4), 2)) == 2
    lines = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    assert [line["games"] for line in lines] == [0, 24, 48]
    assert lines[-1]["hits"] > 0
