"""Clairvoyant solo play: its lines are playable and worth what it says, and thinking deeper finds no worse ones."""

from pathlib import Path

import numpy as np
import pytest

from experiments import solo
from genial_env import Rules
from genial_env.core import kernel
from genial_env.policies.clairvoyant import END, clairvoyant
from genial_env.policies.value_net import ValueNet
from tests.conftest import needs_numba
from tests.policies.test_value import random_net, weights_of

SMALL = Rules(1, "2009", "solo", side=3, colors=3)


def test_its_lines_bring_what_it_says() -> None:
    net = ValueNet(SMALL, random_net(SMALL).arrays())
    state = kernel.deal(SMALL, range(12))
    before = state.copy()
    utility = []
    for level in (0, 1, 2):
        lines = clairvoyant(state, net, level, candidates=3)
        assert all(np.array_equal(array, before.arrays()[name]) for name, array in state.arrays().items())
        played = state.copy()
        for step in range(lines.actions.shape[1]):
            rows = np.flatnonzero(lines.actions[:, step] != END)
            kernel.apply(played, lines.actions[rows, step], rows)
        assert played.over.all()
        assert np.allclose(lines.utility, net.outcomes.utility(net.outcomes.of_scores(played.scores)))
        utility.append(lines.utility)
    assert (utility[1] >= utility[0]).all()
    assert (utility[2] >= utility[1]).all()
    assert utility[2].mean() > utility[1].mean() > utility[0].mean()


def test_it_is_for_one_seat() -> None:
    net = ValueNet(SMALL, random_net(SMALL).arrays())
    with pytest.raises(ValueError, match="for 1 seat, not 2"):
        clairvoyant(kernel.deal(Rules(), 0), net)
    with pytest.raises(ValueError, match="level must be at least 0, not -1"):
        clairvoyant(kernel.deal(SMALL, 0), net, level=-1)


@needs_numba
def test_regret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solo, "RULES", SMALL)
    file, out = weights_of(SMALL, tmp_path / "net.safetensors"), tmp_path / "solo.json"
    found = solo.main(solo.Args(agents=("random", "greedy"), deals=30, candidates=3, weights=file, out=out))
    assert list(found) == ["clairvoyant", "random", "greedy"]
    assert found["clairvoyant"].regret == 0
    assert found["random"].regret == pytest.approx(found["clairvoyant"].mean - found["random"].mean)
    assert found["random"].regret > found["random"].regret_half
    assert "greedy" in out.read_text()
