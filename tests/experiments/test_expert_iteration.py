"""Expert iteration: a small run, and a network that got weaker."""

from pathlib import Path

import numpy as np
import pytest

import experiments.expert_iteration as module
from agents.runs.evaluation import Measured
from agents.runs.run import read_runs
from experiments.expert_iteration import WEIGHTS, Args, main
from genial_env import Rules
from genial_env.policies import weight_files
from genial_env.policies.value import KIND
from genial_env.policies.value_net import ValueNet
from tests.conftest import needs_numba

pytestmark = needs_numba


def small(folder: Path, **options: int) -> Args:
    return Args(
        out=folder,
        games=8,
        games_a_task=4,
        share=0.1,
        candidates=3,
        deals=2,
        turns=1,
        epochs=1,
        eval_deals=4,
        **{"iterations": 2, **options},
    )


def test_a_small_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "compare", lambda *_: Measured(8, 1.0, 0.5))
    main(small(tmp_path))
    run = read_runs(tmp_path)[0]
    assert [line["games"] for line in run.curve] == [8, 16]
    assert run.about["finished"] is not None
    arrays, about = weight_files.read(tmp_path / WEIGHTS, KIND, Rules(1, "2009", "solo"), ValueNet.layout_of)
    shipped = weight_files.Weights(KIND, ValueNet.layout_of).of(Rules(1, "2009", "solo"))
    assert any(not np.array_equal(arrays[name], shipped[name]) for name in arrays)
    assert "alone" in about["results"]


def test_a_clearly_weaker_network_ends_the_run_with_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "compare", lambda *_: Measured(8, -1.0, 0.5))
    main(small(tmp_path))
    assert [line["games"] for line in read_runs(tmp_path)[0].curve] == [8]
    arrays, _ = weight_files.read(tmp_path / WEIGHTS, KIND)
    shipped = weight_files.Weights(KIND, ValueNet.layout_of).of(Rules(1, "2009", "solo"))
    assert all(np.array_equal(arrays[name], shipped[name]) for name in arrays)


def test_a_run_without_searched_decisions_says_so(tmp_path: Path) -> None:
    args = small(tmp_path)
    args.share = 0.0
    with pytest.raises(ValueError, match=r"got 0 in all: raise --games or --share"):
        main(args)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"iterations": 0}, "--iterations must be at least 1, not 0"),
        ({"eval_deals": 1}, "--eval-deals must be at least 2, not 1"),
        ({"players": 2}, "solo"),
    ],
)
def test_options_out_of_range(options: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Args(**options).check()
