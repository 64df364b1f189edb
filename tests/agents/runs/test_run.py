"""Training runs on disk, and how agents are measured."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from agents.runs.evaluation import Measured, compute_deal_values, measure, play_rotations
from agents.runs.run import Run, read_runs
from genial_env import Rules, play


@dataclass
class Args:
    seed: int = 3
    rate: float = 0.5
    steps: int = 10
    out: Path = Path("somewhere")


FOUND = {"greedy": Measured(20, 0.75, 0.1)}


def test_a_run_is_kept_and_read(tmp_path: Path) -> None:
    run = Run(tmp_path / "a", "ppo", Args())
    line = run.add_evaluation(100, 7, FOUND, loss=0.25)
    run.finish(120, 8, updates=5)
    Run(tmp_path / "b" / "c", "value", Args(seed=4))
    first, second = read_runs(tmp_path)
    assert first.folder == tmp_path / "a"
    assert first.curve == [line]
    assert line["against"] == {"greedy": {"games": 20, "mean": 0.75, "half": 0.1}}
    assert (line["moves"], line["games"], line["loss"]) == (100, 7, 0.25)
    about = first.about
    assert (about["trainer"], about["seed"], about["arguments"]) == ("ppo", 3, {**vars(Args()), "out": "somewhere"})
    assert about["totals"].items() >= {"moves": 120, "games": 8, "updates": 5}.items()
    assert about["finished"] is not None
    assert "machine" in about["sessions"][0]
    assert (second.about["trainer"], second.about["finished"], second.curve) == ("value", None, [])


def test_going_on_cuts_off_what_came_after_the_checkpoint(tmp_path: Path) -> None:
    run = Run(tmp_path, "ppo", Args())
    assert not run.is_resumed
    run.add_evaluation(100, 7, FOUND)
    saved = json.loads(json.dumps(run.get_state()))
    saved |= {"wall_s": 1000.0, "cpu_s": 900.0}  # as if it had taken so long
    run.add_evaluation(200, 14, FOUND)
    with (tmp_path / "curve.jsonl").open("a") as file:
        file.write('{"half a li')
    again = Run(tmp_path, "ppo", Args(steps=20), may_change=("steps",))
    assert again.is_resumed
    again.set_state(saved)
    line = again.add_evaluation(201, 15, FOUND)
    assert line["wall_s"] >= 1000
    assert line["cpu_s"] >= 900
    kept = read_runs(tmp_path)[0]
    assert [line["moves"] for line in kept.curve] == [100, 201]
    assert len(kept.about["sessions"]) == 2
    assert kept.about["arguments"]["steps"] == 20
    again.set_state(None)
    assert read_runs(tmp_path)[0].curve == []
    assert again.wall_s < 900


@pytest.mark.parametrize("result", ["evaluation", "checkpoint", "end"])
def test_other_runs_are_refused(result: str, tmp_path: Path) -> None:
    run = Run(tmp_path, "ppo", Args())
    if result == "evaluation":
        run.add_evaluation(100, 7, FOUND)
    elif result == "checkpoint":
        (tmp_path / "checkpoint.pt").touch()
    else:
        run.finish(0, 0)
    with pytest.raises(FileExistsError, match=r"a run with rate 0\.5, not 0\.25: choose another folder"):
        Run(tmp_path, "ppo", Args(rate=0.25), may_change=("steps",))
    with pytest.raises(FileExistsError, match="with trainer 'ppo', not 'value'"):
        Run(tmp_path, "value", Args())


def test_a_run_without_results_is_replaced(tmp_path: Path) -> None:
    Run(tmp_path, "ppo", Args()).set_state(None)
    again = Run(tmp_path, "value", Args(rate=0.25))
    assert not again.is_resumed
    about = read_runs(tmp_path)[0].about
    assert (about["trainer"], about["arguments"]["rate"], len(about["sessions"])) == ("value", 0.25, 1)


def test_a_run_holds_no_nan(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        Run(tmp_path / "run", "ppo", Args(rate=float("nan")))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("rules", "worst"),
    [(Rules(), 0.0), (Rules(players=3), -1.0), (Rules(4, "2009"), -1.0), (Rules(4, "2009", "team"), 0.0)],
    ids=str,
)
def test_measuring(rules: Rules, worst: float) -> None:
    found = measure("greedy", ["random", "greedy"], rules, 5, seed=1)
    unbeaten = 1 - 0.025 ** (1 / 5)  # how far Clopper and Pearson's interval reaches where five of five deals are won
    half = found["random"].half
    assert found["random"] == Measured(5 * rules.tracks, 1.0, half)
    assert half == pytest.approx((1 - worst) * unbeaten, rel=1e-4)
    assert worst < found["greedy"].mean < 1.0
    rotations = play_rotations("random", "greedy", rules, 5, seed=1)
    last = compute_deal_values(rotations)
    assert last.shape == (5,)
    assert (last == worst).all()


def test_measuring_alone() -> None:
    rules = Rules(1, "2009", "solo")
    found = measure("greedy", [], rules, 6, seed=2)
    lowest = play(["greedy"], rules, 6, 2).scores[:, 0].min(axis=1)
    assert list(found) == ["alone"]
    assert found["alone"].mean == pytest.approx(lowest.mean())
    assert found["alone"].half == pytest.approx(1.96 * np.std(lowest, ddof=1) / np.sqrt(6))


def test_what_cannot_be_measured() -> None:
    with pytest.raises(ValueError, match="at least 2 deals, not 1"):
        measure("greedy", ["random"], Rules(), 1, seed=0)
    with pytest.raises(ValueError, match=r"opponents must have different names, .*; 2 are named 'concave'"):
        measure("greedy", ["concave(temperature=2)", "concave(temperature=50)"], Rules(), 2, seed=0)
    with pytest.raises(ValueError, match="2 seats do not go with the opponents"):
        measure("greedy", [], Rules(), 2, seed=0)
    with pytest.raises(ValueError, match="1 seats do not go with the opponents"):
        measure("greedy", ["greedy"], Rules(1, "2009", "solo"), 2, seed=0)
