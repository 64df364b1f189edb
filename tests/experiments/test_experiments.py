"""Small versions of all experiments run (the test of the quickstart is in test_sb3.py)."""

import json
from pathlib import Path

import pytest

from agents.runs.model_cards import make_card
from experiments import (
    ablate_features,
    challenge,
    env_speed,
    game_statistics,
    judge_levels,
    ladder,
    leaderboard,
    long_masks,
    ppo_speed,
    rate_puzzles,
    reference_curves,
    sequential,
    serve_load,
    speed,
    train_luck,
    variance,
)
from genial_env import Rules, genial_v0
from genial_env.analysis.judge import LEVELS, Level
from genial_env.analysis.puzzles import SHIPPED
from genial_env.analysis.state_value import read_full_state_net
from tests.conftest import needs_numba


def test_long_masks(capsys: pytest.CaptureFixture[str]) -> None:
    args = long_masks.Args(total_timesteps=64, n_envs=4, n_steps=8, batch_size=32, n_epochs=1)
    assert long_masks.main(args) == 64
    assert "64 decisions among 5,546 actions" in capsys.readouterr().out


@pytest.mark.slow
def test_ppo_speed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = ppo_speed.Args(n_envs=4, n_steps=16, updates=1, backend="numpy", out=tmp_path / "found.json")
    found = ppo_speed.main(args)
    assert "lean and packed" in capsys.readouterr().out
    assert all(0 < rates["with_training"] < rates["collecting"] for rates in found.values())
    assert found["free, sb3-contrib, 512 x 4"]["masks_mb"] > 30 * found["free, lean and packed, 512 x 4"]["masks_mb"]
    assert set(json.loads((tmp_path / "found.json").read_text())) == {"found", "made_by"}


@pytest.mark.slow
def test_env_speed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    env_speed.main(env_speed.Args(seconds=0.01, copies=3, out=tmp_path / "found.json"))
    shown = capsys.readouterr().out
    assert "gym.make_vec, 1,024 games" in shown
    assert "State.copy, all at once" in shown
    found = json.loads((tmp_path / "found.json").read_text())
    assert all(row["steps_per_s"] > 0 and row["written_bytes"] > 2882 for row in found["steps"].values())
    assert found["steps"]["gym.make_vec, 64 games"]["held_mb"] < 10


@pytest.mark.slow
@needs_numba
def test_speed(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """MOMAland is not among what the tests install, so another environment stands in for its own."""
    monkeypatch.setattr(speed, "momaland_env", genial_v0.env)
    speed.main(speed.Args(batch=16, seconds=0.03, out=tmp_path / "found.json"))
    assert "MOMAland" in capsys.readouterr().out
    found = json.loads((tmp_path / "found.json").read_text())["found"]
    assert {row["by"] for row in found} == {"MOMAland", "Python", "numpy", "numba", "numba, 2 threads"}
    assert all(row["moves_per_s"] > 0 for row in found)


@needs_numba
def test_ablate_features(capsys: pytest.CaptureFixture[str]) -> None:
    args = ablate_features.Args(games=60, test_games=20, steps=40, seeds=2, groups=("tile kinds", "replies"))
    found = ablate_features.main(args)
    assert set(found) == {"", "tile kinds", "replies"}
    assert all((losses > 0.3).all() and (losses < 1).all() for losses in found.values())
    assert "without tile kinds" in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"the group must be one of .*, not 'colors'"):
        ablate_features.find_columns(Rules(), "colors")
    solo = Rules(1, "2009", "solo")
    assert ablate_features.list_groups(solo) == list(ablate_features.GROUPS)
    assert set(ablate_features.GROUPS) - set(ablate_features.list_groups(Rules())) == {"parts of lines"}
    assert ablate_features.find_columns(solo, "parts of lines").sum() == 6 * 35


@needs_numba
def test_judge_levels(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, deals in (("normal", 4), ("deep", 8)):
        monkeypatch.setitem(LEVELS, name, Level(actions=3, deals=deals))
    shares = judge_levels.main(judge_levels.Args(late=5, positions=8))
    assert all(with_solver == 1 >= without >= 0 for with_solver, without in shares.values())
    shown = capsys.readouterr().out
    assert "5 late positions" in shown
    assert "same as deep" in shown


@needs_numba
def test_challenge(capsys: pytest.CaptureFixture[str]) -> None:
    found = challenge.main(challenge.Args("denial", "random", deals=10))
    assert (found.games, found.mean) == (30, 1)
    assert "1.000 ± " in capsys.readouterr().out
    team = challenge.Args("denial", "denial", players=4, mode="team", edition="2009", deals=4)
    assert challenge.main(team).games == 8
    assert "of the games won in 8 games" in capsys.readouterr().out


def test_ladder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ladder.main(ladder.Args(games=20, out=tmp_path / "found.json"))
    assert "solo denial: mean lowest marker" in capsys.readouterr().out
    found = json.loads((tmp_path / "found.json").read_text())["found"]
    assert found["greedy among random"]["2 seats"][0] > 0.9


def test_reference_curves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = reference_curves.Args(
        steps=(32, 64), seeds=(0,), opponents=("random",), deals=4, n_envs=4, n_steps=8, batch_size=32, n_epochs=1
    )
    args.out = tmp_path / "found.json"
    first = reference_curves.main(args)
    assert set(first["0"]) == {"32", "64"}
    kept = json.loads(args.out.read_text())
    kept["runs"]["0"]["64"]["random"] = 0.125
    args.out.write_text(json.dumps(kept))
    args.seeds = (0, 1)  # goes on with what is missing
    found = reference_curves.main(args)
    assert found["0"]["64"]["random"] == 0.125
    assert set(found) == {"0", "1"}
    shown = capsys.readouterr().out
    assert "seed 1, 64 steps: " in shown
    assert f"Results: {args.out}" in shown
    args.deals = 6
    with pytest.raises(ValueError, match="holds results of other options"):
        reference_curves.main(args)


def test_leaderboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The page is made from the stored results, and a small leaderboard can be played."""
    assert leaderboard.PAGE.read_text() == leaderboard.make_page()
    monkeypatch.setattr(leaderboard, "STORED", tmp_path / "stored")
    monkeypatch.setattr(leaderboard, "PAGE", tmp_path / "page.md")
    little = leaderboard.Board("Solo", Rules(1, "2004", "solo"), ("random", "greedy"), 10)
    monkeypatch.setattr(leaderboard, "BOARDS", {"solo": little})
    leaderboard.main(leaderboard.Args(play=True, boards=("solo",), share=0.5, out=tmp_path / "runs"))
    text = (tmp_path / "page.md").read_text()
    assert "## Solo" in text
    assert "10 games (5 deals" in text
    with pytest.raises(SystemExit, match="unknown board 'chess'"):
        leaderboard.main(leaderboard.Args(boards=("chess",)))


def test_game_statistics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = game_statistics.Args(("greedy", "random"), (2, 3), games=30, slow_games=20, slow=("random",))
    args.out = tmp_path / "found.json"
    found = game_statistics.main(args)
    assert "greedy" in capsys.readouterr().out
    for agent, games in (("greedy", 30), ("random", 20)):
        for players in (2, 3):
            each = found[agent][players]
            assert each.games == games
            assert sum(each.utility) == pytest.approx(0)
            assert 0 <= each.first_wins[0] <= 1
            assert each.turns > 20
            assert 0 <= each.games_with_swap <= min(1, each.swaps)
            assert each.all_at_top == 0
    assert json.loads(args.out.read_text())["found"]["greedy"]["3"]["games"] == 30


def test_variance_and_sequential(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for matches, deals in ((("greedy points",), 12), (("greedy greedy",), 30)):
        variance.main(variance.Args(matches, deals=deals, folder=tmp_path))
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    variance.main(variance.Args(("greedy greedy",), deals=30, folder=tmp_path))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept
    printed = capsys.readouterr().out
    assert "greedy against greedy" in printed
    assert "luck of choices" in printed
    with pytest.raises(FileNotFoundError, match="no games of greedy against greedy"):
        sequential.main(sequential.Args(folder=tmp_path))
    (tmp_path / "greedy-greedy-9-0-30.npz").rename(tmp_path / "greedy-greedy-9-0.npz")
    sequential.main(sequential.Args(matches=2, most_pairs=30, folder=tmp_path))
    assert "corrected" in capsys.readouterr().out


def test_train_luck(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = {"games": 12, "n_envs": 6, "candidates": 4, "n_epochs": 1, "batch_size": 64, "eval_games": 4}
    share, error = train_luck.main(train_luck.Args(out=tmp_path, **small))
    assert share <= 1
    assert error >= 0
    assert "luck explains" in capsys.readouterr().out
    weights = tmp_path / train_luck.WEIGHTS
    assert "luck explains" in make_card(weights)
    assert read_full_state_net(Rules(), weights).rules == Rules()


@pytest.mark.slow
def test_serve_load(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = serve_load.Args(sessions=3, decisions=3, side=4, think_s=0.01, out=tmp_path / "found.json")
    found = serve_load.main(args)
    assert found["errors"] == {}
    assert found["answers"] >= 9
    assert 0 < found["answer_median_s"] <= found["answer_p99_s"]
    assert "3 sessions against greedy" in capsys.readouterr().out
    assert json.loads((tmp_path / "found.json").read_text())["settings"]["sessions"] == 3


def test_rate_puzzles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few, out = tmp_path / "few.jsonl", tmp_path / "ratings.json"
    few.write_text("".join(SHIPPED.read_text().splitlines(keepends=True)[:2]))
    rate_puzzles.main(["--puzzles", str(few), "--out", str(out)])
    assert "2 puzzles, ratings from" in capsys.readouterr().out
    assert len(json.loads(out.read_text())) == 2
