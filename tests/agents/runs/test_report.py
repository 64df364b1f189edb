"""The page of learning curves: stored runs, their statistics computed by hand, the README of the weights."""

import re
import sys
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.runs import formatting, stored_runs, strength
from agents.runs.evaluation import Measured
from agents.runs.model_cards import make_cards
from agents.runs.run import ROOT, Run, make_command, make_portable, read_runs
from agents.runs.stored_runs import Stored, group_runs, store
from agents.runs.strength import bootstrap_interval, collect_lines, compute_band, compute_final_strength
from experiments import report
from genial_env import Rules
from genial_env.policies import weight_files


@dataclass
class Args:
    out: Path
    seed: int = 0
    players: int = 2
    rate: float = 0.5
    actors: int = 1


def stored(label: str, seed: int, curve: list[dict[str, Any]], **arguments: Any) -> Stored:
    """Return an invented run; :func:`evaluation` makes the lines of its curve."""
    versions = {"python": "3.11", "numpy": "2.0", "numba": "none", "genial_env": "0.1.0"}
    machine = {"cpu": "Abacus", "cores": 2, **versions}
    totals = {"moves": curve[-1]["moves"], "wall_s": curve[-1]["wall_s"], "cpu_s": 30.0 + seed}
    settings = {"players": 2, "edition": "2025", "seed": seed, **arguments}
    command = f"python -m experiments.train_value --seed {seed} --games 9"
    made_by = {"date": "then", "commit": "0123456789abcdef+", "backend": "numpy", "libraries": {}}
    sessions = [{**made_by, "machine": machine}]
    return Stored(label, "value", seed, command, settings, "then", "now", sessions, totals, curve)


def evaluation(moves: int, wall_s: float, **against: float) -> dict[str, Any]:
    found = {name: {"games": 40, "mean": mean, "half": 0.03} for name, mean in against.items()}
    return {"wall_s": wall_s, "cpu_s": wall_s, "moves": moves, "games": moves // 40, "against": found}


FINAL = (0.2, 0.9, 0.4, 0.1, 0.5)


def five(label: str = "value", **arguments: Any) -> list[Stored]:
    """Return five seeds that take different times."""
    return [
        stored(label, seed, [evaluation(1000, 10, denial=0.0), evaluation(3000, 30 + seed, denial=end)], **arguments)
        for seed, end in enumerate(FINAL)
    ]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the script write everything to a folder of the test."""
    (tmp_path / "weights").mkdir()
    monkeypatch.setattr(stored_runs, "FOLDER", tmp_path / "training")
    monkeypatch.setattr(report, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(report, "CARDS", tmp_path / "weights" / "README.md")
    return tmp_path


def finished(folder: Path, seed: int = 0, rate: float = 0.5) -> Run:
    run = Run(folder, "value", Args(folder, seed, rate=rate))
    run.set_state({"wall_s": 5.0, "cpu_s": 3.0, "lines": 0})  # as if it had taken 5 s
    run.add_evaluation(100, 7, {"greedy": Measured(20, 0.75, 0.1)}, loss=0.25)
    run.finish(120, 8)
    return run


# The files of the repository.


def test_the_page_is_that_of_the_stored_runs() -> None:
    """After storing runs or changing the page run `python -m experiments.report`."""
    runs = stored_runs.read(stored_runs.FOLDER)
    assert report.PAGE.read_text() == report.make_page(runs)
    games = report.group_by_rules(runs)
    pictures = {report.name_picture(rules) for rules in games}
    assert {path.name for path in stored_runs.FOLDER.glob("*.svg")} == pictures
    for rules, groups in games.items():
        assert report.describe_source(groups) in (stored_runs.FOLDER / report.name_picture(rules)).read_text()


def test_the_cards_are_those_of_the_shipped_weights() -> None:
    assert report.CARDS.read_text() == make_cards(report.CARDS.parent)


# The numbers.


def test_final_strength_by_hand() -> None:
    found = compute_final_strength(five(), "denial")
    assert found is not None
    assert found.seeds == 5
    assert found.value == pytest.approx((0.2 + 0.4 + 0.5) / 3)  # without 0.1 and 0.9
    middles = [np.mean(sorted(drawn)[1:4]) for drawn in product(FINAL, repeat=5)]  # all 3,125 resamples
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(middles, [0.025, 0.975])), abs=0.02)
    assert compute_final_strength(five(), "greedy") is None


def test_few_seeds_have_the_interval_of_their_games() -> None:
    runs = five()[:2]
    runs[1].curve[-1]["against"]["denial"]["half"] = 0.04
    found = compute_final_strength(runs, "denial")
    assert found is not None
    half = 0.05 / 2  # the root of 0.03² + 0.04², over two
    assert (found.seeds, found.value, found.low, found.high) == pytest.approx((2, 0.55, 0.55 - half, 0.55 + half))


def test_what_the_documentation_says_of_few_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strength, "RESAMPLES", 1000)
    for seeds, share in ((5, 0.91), (10, 0.94)):
        low, high = bootstrap_interval(np.random.default_rng(1).normal(size=(seeds, 1000)))
        assert np.mean((low <= 0) & (high >= 0)) == pytest.approx(share, abs=0.03)


def test_a_band_by_hand() -> None:
    runs = five()
    band = compute_band(collect_lines(runs, "denial", "moves"))
    assert band is not None
    assert band.x.tolist() == [1000, 3000]
    assert band.value == pytest.approx([0, 1.1 / 3])
    assert (band.low <= band.value).all()
    assert (band.value <= band.high).all()
    band = compute_band(collect_lines(runs, "denial", "wall_s"))
    assert band is not None
    assert band.x.tolist() == [10, 30, 34]  # the first seed is at its end after 30 s, the last one after 34
    on_the_way = sorted(end * 20 / (20 + seed) for seed, end in enumerate(FINAL))
    assert band.value == pytest.approx([0, np.mean(on_the_way[1:4]), 1.1 / 3])
    assert compute_band(collect_lines(runs[:4], "denial", "moves")) is None


def test_a_band_of_seeds_with_different_evaluations() -> None:
    runs = five()
    late = [evaluation(2000, 20, denial=0.6), evaluation(2500, 25, greedy=0.1), evaluation(4000, 40, denial=0.8)]
    runs[0] = replace(runs[0], curve=late)
    runs[1].curve.insert(1, evaluation(2200, 22, denial=0.45))
    runs.append(stored("value", 5, [evaluation(500, 5, greedy=1.0)]))  # never met denial
    lines = collect_lines(runs, "denial", "moves")
    assert len(lines) == 5
    band = compute_band(lines)
    assert band is not None
    assert band.x.tolist() == [2000, 2200, 3000, 4000]  # begins where the last one does
    assert band.value[-1] == pytest.approx((0.4 + 0.5 + 0.8) / 3)  # of 0.8 0.9 0.4 0.1 0.5


# The page.


def test_the_page(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [
        *five(),
        *five("no past selves", rate=0.1)[:1],
        *(stored("three", seed, [evaluation(5_000_000, 9000, denial=0.25)], players=3) for seed in range(5)),
        stored("solo", 0, [evaluation(2000, 10, alone=21.3)], players=1, edition="2004", mode="solo"),
    ]
    runs[1].curve[-1]["against"]["greedy"] = {"games": 80, "mean": 0.75, "half": 0.05}
    store(runs, place / "training")
    report.main(report.Args())
    assert "page.md" in capsys.readouterr().out
    page = (place / "page.md").read_text()
    solo, two, three = page.split("\n## ")[1:]
    low, high = (f"{end:.1%}" for end in bootstrap_interval(np.array(FINAL)))
    greedy = "75.0%† (70.0% to 80.0%, 1 of 5 seeds)"
    assert f"| value | 5 | 36.7% ({low} to {high}) | {greedy} | 3,000 | 32 s | 32 s |" in two
    assert "| no past selves | 1 | 20.0%† (17.0% to 23.0%) | – | 3,000 | 30 s | 30 s |" in two
    assert "† fewer than 5 seeds" in two
    assert "- **value**: `python -m experiments.train_value --games 9` with `--seed` 0, 1, 2, 3, 4; commit " in two
    assert "commit 0123456789ab+; Abacus, 2 cores. Last evaluation: 40 or 80 games per opponent." in two
    assert "| three | 5 | +0.25 (+0.25 to +0.25) | 5 million | 2 h 30 min | 32 s |" in three
    assert "†" not in three
    assert "| group | seeds | alone |" in solo
    assert "| solo | 1 | 21.3† (21.3 to 21.3) |" in solo
    pictures = re.findall(r"\(training/(.*\.svg)\)", page)
    assert pictures == ["solo-edition-2004.svg", "two-seats-edition-2025.svg", "three-seats-edition-2025.svg"]
    svg = (place / "training" / "two-seats-edition-2025.svg").read_text()
    for text in ("value (5 seeds)", "no past selves (1 seed only)", "against denial", "wall time in seconds"):
        assert f">{text}<" in svg
    assert report.describe_source(report.group_by_rules(runs)[Rules()]) in svg


def test_pictures_of_games_that_are_gone_go(place: Path) -> None:
    [path] = store(five()[:1], place / "training")
    report.main(report.Args())
    assert len(list((place / "training").glob("*.svg"))) == 1
    path.unlink()
    report.main(report.Args())
    assert list((place / "training").iterdir()) == []
    assert (place / "page.md").read_text() == report.HEAD


def test_formatting() -> None:
    assert formatting.make_game_title(Rules(4, "2009", "team")) == "Teams, edition 2009"
    assert (
        formatting.make_game_title(Rules(side=4, colors=4, rack=3))
        == "Two seats, edition 2025, side 4, colors 4, rack 3"
    )
    assert [formatting.format_duration(seconds) for seconds in (12.4, 60, 3599, 7199)] == [
        "12 s",
        "1 min",
        "1 h 00 min",
        "2 h 00 min",
    ]
    assert [formatting.format_count(n) for n in (999_999, 5_135_732)] == ["999,999", "5.14 million"]


# Storing.


def test_storing_runs(place: Path) -> None:
    for seed in (0, 1):
        finished(place / "runs" / str(seed), seed)
    report.main(report.Args(store=(place / "runs",), label="value, two seats"))
    first, second = stored_runs.read(place / "training")
    assert (first.label, first.trainer, first.seed, second.seed) == ("value, two seats", "value", 0, 1)
    assert first.file == "value-two-seats-0.json"
    kept = read_runs(place / "runs" / "0")[0]
    assert first.curve == kept.curve
    assert (first.totals, first.finished) == (kept.about["totals"], kept.about["finished"])
    assert first.arguments == {"seed": 0, "players": 2, "rate": 0.5, "actors": 1}
    assert str(place) not in (place / "training" / first.file).read_text()
    assert "value, two seats" in (place / "page.md").read_text()


def test_what_is_not_stored(place: Path) -> None:
    again = report.Args(store=(place / "runs",), label="value")
    with pytest.raises(ValueError, match=r"no runs in .*runs"):
        report.main(again)
    finished(place / "runs" / "a")
    report.main(again)
    with pytest.raises(FileExistsError, match=r"value-0\.json exists already: --replace"):
        report.main(again)
    report.main(replace(again, replace=True))
    with pytest.raises(ValueError, match="--store needs --label"):
        report.main(replace(again, label=""))
    with pytest.raises(ValueError, match="--label and --replace need --store"):
        report.main(report.Args(label="value"))
    before = (place / "training" / "value-0.json").read_text()
    finished(place / "other", seed=1, rate=0.25)
    with pytest.raises(ValueError, match=r"differ in their seeds only, but seed 0 has rate 0\.5, seed 1 0\.25"):
        report.main(report.Args(store=(place / "other",), label="value"))
    Run(place / "runs" / "b", "value", Args(place, seed=2))
    with pytest.raises(ValueError, match=r"runs/b is not finished"):
        report.main(replace(again, replace=True))
    Run(place / "never", "value", Args(place)).finish(1, 1)
    with pytest.raises(ValueError, match="has no evaluations"):
        report.main(report.Args(store=(place / "never",), label="value"))
    assert [path.name for path in (place / "training").glob("*.json")] == ["value-0.json"]
    assert (place / "training" / "value-0.json").read_text() == before


def test_groups() -> None:
    runs = five()
    assert list(group_runs([*five("b"), *reversed(runs)])) == ["b", "value"]
    assert [run.seed for run in group_runs(reversed(runs))["value"]] == [0, 1, 2, 3, 4]
    elsewhere = replace(runs[1], arguments=runs[1].arguments | {"actors": 7})
    assert len(group_runs([runs[0], elsewhere])["value"]) == 2
    with pytest.raises(ValueError, match="group 'value' has two runs with seed 3"):
        group_runs([*runs, runs[3]])
    with pytest.raises(ValueError, match="trainers 'value' and 'ppo'"):
        group_runs([runs[0], replace(runs[1], trainer="ppo")])


def test_commands_have_no_paths_of_a_machine() -> None:
    words = ["/usr/bin/python3", "-m", "experiments.train_value", "--out", "/tmp/runs/7", "--games", "9"]
    assert make_command(words) == "python -m experiments.train_value --games 9"
    assert make_command(["python3.11", "train.py", "--out=runs/7"]) == "python train.py --out runs/7"
    assert make_command(["python", f"{ROOT}/experiments/x.py", f"--out={ROOT}/runs/7"]).endswith("x.py --out runs/7")
    weights = f"value(weights='{ROOT}/genial_env/policies/weights/a.st')"
    assert make_portable({"opponents": [weights, "denial"], "start_from": "/home/me/net.st", "rate": 0.5}) == {
        "opponents": ["value(weights='genial_env/policies/weights/a.st')", "denial"],
        "start_from": "net.st",
        "rate": 0.5,
    }
    assert make_portable("ray://10.0.0.1:10001 runs/a --x=/a/b") == "ray://10.0.0.1:10001 runs/a --x=b"


def test_a_run_knows_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["/bin/python", "-m", "experiments.x", "--seed", "3"])
    assert finished(tmp_path).command == "python -m experiments.x --seed 3"


# Cards.


ABOUT = {"command": "python -m experiments.train_value", "seed": 3, "moves": 5_135_732, "wall_s": 1560}


def test_a_card(tmp_path: Path) -> None:
    arrays = {"out": np.zeros(3, dtype=np.float32)}
    results = {"denial": "0.9513 ± 0.0205 (400 games)"}
    path = tmp_path / "value-2.safetensors"
    weight_files.write(path, "value", Rules(), arrays, **ABOUT, results=results, games=116_736, cpu_s=968)
    weight_files.write(tmp_path / "value-3.safetensors", "value", Rules(3), arrays, **ABOUT, results={})
    found = make_cards(tmp_path)
    for row in (
        "## value-2.safetensors",
        "| rules | Two seats, edition 2025 |",
        "| command | `python -m experiments.train_value` |",
        "| seed | 3 |",
        "| trained on | 5.14 million moves in 116,736 games |",
        "| training time | 26 min of wall time, 16 min of CPU |",
        "| against denial | 0.9513 ± 0.0205 (400 games) |",
        f"| size | {path.stat().st_size:,} bytes |",
        "| training time | 26 min of wall time |",
    ):
        assert f"\n{row}\n" in found
    assert len(re.findall(r"SHA-256 \| `[0-9a-f]{64}`", found)) == 2


def test_weights_that_do_not_say_enough(tmp_path: Path) -> None:
    weight_files.write(tmp_path / "a.safetensors", "value", Rules(), {"out": np.zeros(1)}, seed=1, command="python")
    with pytest.raises(ValueError, match="lacks moves, wall_s, results: shipped weights have kind, rules"):
        make_cards(tmp_path)
