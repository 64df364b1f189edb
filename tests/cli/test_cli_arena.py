"""The commands that compare agents, as a user meets them."""

import json
import re
from pathlib import Path

import pytest

from genial_env import Rules
from genial_env._util.files import LOCK
from genial_env.arena.report import RESULTS, TABLES
from genial_env.arena.tables import TABLE_FILES
from genial_env.policies.uniform import RandomPolicy
from tests.cli.test_cli import ROOT, genial, mistake
from tests.paths import PUZZLES


def test_a_tournament_from_the_command_line(tmp_path: Path) -> None:
    out = tmp_path / "t"
    words = ("tournament", out, "--agents", "random,greedy,points", "--groups", 3, "--seed", 4)
    done = genial(*words)
    assert done.stderr == ""
    for word in ("18 games", "rating", "random", "greedy", "points", "forfeits", str(out)):
        assert word in done.stdout
    names = {path.name for path in out.iterdir()}
    assert names == {
        LOCK,
        "tournament.json",
        "games.jsonl",
        "records.jsonl",
        RESULTS,
        TABLES,
        *TABLE_FILES,
        "ratings.png",
        "wins.png",
        "lowest.png",
    }
    assert "18 games, all replay" in genial("verify", out / "records.jsonl").stdout
    before = (out / "games.jsonl").read_bytes()
    assert genial(*words).stdout == done.stdout
    assert (out / "games.jsonl").read_bytes() == before
    assert "not 5: take another directory" in genial(*words[:-1], 5, status=2).stderr


def test_a_tournament_without_extras(tmp_path: Path) -> None:
    out = tmp_path / "t"
    words = ("tournament", out, "--agents", "random,greedy", "--groups", 2, "--no-records", "--no-pictures")
    genial(*words, "--players", 3)
    names = {path.name for path in out.iterdir()}
    assert names == {LOCK, "tournament.json", "games.jsonl", RESULTS, TABLES, *TABLE_FILES}
    genial(*words[:-1], "--players", 3, "--pictures-as", "svg,pdf")
    drawn = {f"{name}.{kind}" for name in ("ratings", "wins", "lowest") for kind in ("svg", "pdf")}
    assert {path.name for path in out.iterdir()} == names | drawn
    assert "pictures are png, svg, pdf, not 'gif'" in genial(*words, "--pictures-as", "gif", status=2).stderr


def test_a_match_from_the_command_line(tmp_path: Path) -> None:
    out = tmp_path / "match.json"
    done = genial("match", "greedy", "random", "--sprt", 0, 100, "--out", out)
    assert "verdict: greedy is better than random (H1: by 100 Elo)" in done.stdout
    assert json.loads(out.read_text())["verdict"] == "H1"
    assert "no verdict after 3 pairs" in genial("match", "greedy", "random", "--pairs", 3).stdout
    fixed = genial("match", "random", "greedy", "--pairs", 4, "--fixed", "--mode", "team", "--edition", "2004")
    assert "no test: 4 pairs played" in fixed.stdout


def test_a_newcomer_is_rated(tmp_path: Path) -> None:
    words = ("rate", "tests.strange_agents:make", "--against", "random,greedy", "--seconds", 1)
    done = genial(*words, "--out", tmp_path / "t")
    assert "tests.strange_agents:make: place" in done.stdout
    assert (tmp_path / "t" / RESULTS).exists()


def test_small_boards(tmp_path: Path) -> None:
    small = ("--side", 4, "--colors", 4, "--rack", 3)
    rules = "players 2, edition 2025, mode individual, side 4, colors 4, rack 3"
    words = ("tournament", tmp_path / "t", "--agents", "random,greedy", "--groups", 2, "--no-pictures")
    match = ("match", "random", "greedy", "--fixed", "--pairs", 2)
    rate = ("rate", "random", "--against", "greedy", "--seconds", 0.5)
    for command in (words, match, rate):
        assert rules in " ".join(genial(*command, *small).stdout.split())  # titles are wrapped


def test_results_corrected_for_luck(tmp_path: Path) -> None:
    out = tmp_path / "t"
    words = ("tournament", out, "--agents", "random,greedy,denial", "--groups", 4, "--no-pictures")
    done = genial(*words, "--variance-reduction")
    assert "corrected" in done.stdout
    corrected = json.loads((out / RESULTS).read_text())["corrected"]
    assert len(corrected["mean"]["value"]) == 3
    assert "corrected for luck" in (out / TABLES).read_text()
    match = genial("match", "greedy", "denial", "--fixed", "--pairs", 4, "--variance-reduction")
    assert "score corrected for luck" in match.stdout
    rated = genial("rate", "denial", "--against", "greedy", "--seconds", 1, "--variance-reduction")
    assert "corrected" in rated.stdout


def test_what_cannot_be_corrected_for_luck(tmp_path: Path) -> None:
    words = ("tournament", tmp_path / "t", "--agents", "random,greedy", "--groups", 2, "--variance-reduction")
    assert "needs their records" in genial(*words, "--no-records", status=2).stderr
    small = genial(*words, "--colors", 5, status=2)
    assert "the network of full states for 5 colors" in small.stderr
    assert not (tmp_path / "t").exists()


def test_forfeits_are_told(tmp_path: Path) -> None:
    words = ("tournament", tmp_path / "t", "--agents", "random,tests.strange_agents:Crashing", "--groups", 3)
    told = "tests.strange_agents:Crashing forfeited, for example: RuntimeError: out of ideas"
    assert told in genial(*words).stdout
    out = tmp_path / "match.json"
    assert told in genial("match", *words[3].split(","), "--fixed", "--pairs", 3, "--out", out).stdout
    assert json.loads(out.read_text())["reasons"] == {"1": "RuntimeError: out of ideas"}


def test_more_deals_than_asked_for_are_told(tmp_path: Path) -> None:
    out = tmp_path / "t"
    words = ("tournament", out, "--agents", "random,greedy", "--no-pictures", "--groups")
    assert "--groups: all are shown" not in genial(*words, 3).stdout
    assert f"{out} holds 3 deals, more than the 2 of --groups: all are shown\n" in genial(*words, 2).stdout


def test_an_agent_may_be_one_of_the_ladder(tmp_path: Path) -> None:
    words = ("tournament", tmp_path / "t", "--agents", "greedy,ladder", "--groups", 1, "--no-pictures", *SMALL)
    assert genial(*words).stdout.count(" greedy ") == 1


def test_puzzles_from_the_command_line(tmp_path: Path) -> None:
    done = genial("puzzles", "greedy", "--verbose")
    for word in ("endgame", "swap", "all", "genial_env/analysis/puzzles.jsonl:", "best is"):
        assert word in done.stdout
    assert re.search(r"played [RGBOYP]{2} on [A-M]\d+ [A-M]\d+, points: ", done.stdout)
    assert "Place(" not in done.stdout
    (tmp_path / "empty.jsonl").write_text("{}\n")
    assert "empty.jsonl:1" in genial("puzzles", "greedy", "--file", tmp_path / "empty.jsonl", status=2).stderr


AGENTS = "tests.cli.test_cli_arena"
SMALL = ("--side", 4, "--colors", 4, "--rack", 3)


class OnlyTwoSeats(RandomPolicy):
    """An agent that cannot play every game."""

    def prepare(self, rules: Rules) -> None:
        if rules.players > 2:
            raise ValueError(f"no weights for {rules.players} seats")


class Nothing(RandomPolicy):
    """An agent that cannot play any game."""

    def prepare(self, rules: Rules) -> None:
        raise ValueError("no weights")


def test_puzzles_of_other_games_are_skipped(tmp_path: Path) -> None:
    """They keep their numbers."""
    by_players = {json.loads(line)["record"]["rules"]["players"]: line for line in PUZZLES.read_text().splitlines()}
    some = tmp_path / "some.jsonl"
    some.write_text(f"{by_players[3]}\n{by_players[2]}\n")
    lines = genial("puzzles", f"{AGENTS}:OnlyTwoSeats", "--file", some, "--verbose").stdout.splitlines()
    assert "OnlyTwoSeats on 1 " in lines[0]
    assert "1 puzzles are skipped: random cannot play this game: no weights for 3 seats" in lines
    assert all(line.startswith(f"{some}:2: ") for line in lines if line.startswith(str(tmp_path)))
    refused = genial("puzzles", f"{AGENTS}:Nothing", "--file", some, status=2)
    assert "random cannot play this game: no weights" in refused.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["tournament", "DIR", "--agents", "random,nobody"], "unknown agent 'nobody'"),
        (["tournament", "DIR", "--agents", "random"], "2 agents are needed, not 1"),
        (["tournament", "DIR", "--agents", "greedy,greedy"], "named once, and greedy is named more often"),
        (["rate", "greedy", "--against", "greedy"], "greedy is named more often: it is among its opponents"),
        (["tournament", ROOT], "something else than a tournament"),
        (["tournament", ROOT / "README.md"], "README.md"),
        (["tournament", "DIR", "--workers", "0"], "workers must be 1 to 1024, not 0"),
        (["tournament", "DIR", "--mode", "team"], "edition '2025' has no mode 'team'"),
        (["tournament", "DIR", "--memory-limit", "-1"], "memory-limit must be 0 to"),
        (["match", "random", "greedy", "--move-time", "-1"], "--move-time must be 0 to 1,000,000, not -1"),
        (["match", "random", "random"], "named once"),
        (["match", "random", "greedy", "--sprt", "9", "3"], "elo0 < elo1"),
        (["match", "random", "greedy", "--alpha", "2"], "alpha must be between"),
        (["match", "random", "greedy", "--pairs", "0"], "pairs must be 1 to 1000000, not 0"),
        (["match", "random", "greedy", "--pairs", "1000001"], "pairs must be 1 to 1000000, not 1000001"),
        (["tournament", "DIR", "--groups", "1000001"], "groups must be 1 to 1000000, not 1000001"),
        (["rate", "nowhere:make"], "cannot import 'nowhere'"),
        (["rate", "random", "--seconds", "-1"], "seconds must be above 0"),
        (["puzzles", "nobody"], "unknown agent 'nobody'"),
        (["puzzles", "random", "--file", "none.jsonl"], "none.jsonl"),
    ],
)
def test_mistakes_are_one_line(
    words: list[object],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [tmp_path / "t" if word == "DIR" else word for word in words]
    assert told in mistake(words, monkeypatch, capsys)
    assert not (tmp_path / "t").exists()
