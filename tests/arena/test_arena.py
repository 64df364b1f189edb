"""Tournaments and matches: who meets whom, forfeits, interruptions, reports, verdicts."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genial_env import Rules, play
from genial_env.arena import report
from genial_env.arena.games import Game, play_games
from genial_env.arena.match import play_match, write_match
from genial_env.arena.schedule import lineups, scheduled_games
from genial_env.arena.sprt import Sprt
from genial_env.arena.store import GAMES, RECORDS, Settings, Store
from genial_env.arena.tournament import Jobs, run, run_within
from genial_env.core.chance import game_seeds
from genial_env.core.ranking import rank_utility
from genial_env.policies.registry import make_policy
from genial_env.records import read_records, verify

SOLO, TEAM = Rules(1, "2004", "solo"), Rules(4, "2004", "team")
SMALL = Rules(side=4, colors=4, rack=3)


# Who meets whom


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("rules", [Rules(), Rules(3), Rules(4), TEAM, SOLO], ids=str)
def test_everybody_sits_everywhere_equally_often(rules: Rules, n: int) -> None:
    played = list(scheduled_games(n, rules, range(6)))
    assert len(set(played)) == len(played)
    if n >= rules.tracks:
        for seat in range(rules.players):
            assert len(set(Counter(unit.seats[seat] for unit in played).values())) == 1
    assert {entrant for unit in played for entrant in unit.seats} == set(range(n))
    assert all(unit.seats[0] == unit.seats[2] for unit in played if rules.mode == "team")


def test_lineups() -> None:
    assert lineups(4, Rules()) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert lineups(2, Rules(3)) == [(0, 0, 1), (0, 1, 1)]
    assert lineups(3, SOLO) == [(0,), (1,), (2,)]
    with pytest.raises(ValueError, match="2 agents are needed, not 1"):
        lineups(1, Rules())


def test_around_three_seats_both_orders_are_played() -> None:
    seats = {unit.seats for unit in scheduled_games(3, Rules(3), range(2))}
    assert seats == {(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)}


# Games


def some_games(agents: list[str], seated: list[list[int]], rules: Rules = SMALL) -> list[Game]:
    roster = [make_policy(agent) for agent in agents]
    groups = np.arange(len(seated))
    seeds = game_seeds(5, len(seated))
    return play_games(roster, agents, np.array(seated), rules, groups, seeds, record=False)[0]


def test_games_are_those_of_play(each_backend: str) -> None:
    games = some_games(["greedy", "random"], [[0, 1]] * 20)
    results = play(["greedy", "random"], SMALL, games=20, seed=5)
    assert [game.scores for game in games] == results.scores.tolist()
    assert [game.ranks for game in games] == results.ranks.tolist()
    assert [sum(game.moves) for game in games] == results.decisions.tolist()
    assert all(game.forfeit is None and min(game.seconds) > 0 for game in games)


@pytest.mark.parametrize(
    ("name", "reason"), [("Crashing", "out of ideas"), ("Cheating", "1000000"), ("Wordy", "whole")]
)
def test_who_cannot_play_forfeits_and_nobody_else_is_disturbed(name: str, reason: str) -> None:
    agents = [f"tests.strange_agents:{name}", "random", "greedy"]
    seated = [[0, 1], [2, 1], [1, 0], [1, 2]] * 8
    games = some_games(agents, seated)
    harmless = some_games(["random", "random", "greedy"], seated)
    forfeited = [game for game in games if game.forfeit is not None]
    assert len(forfeited) >= 4
    for game, twin in zip(games, harmless, strict=True):
        if game.forfeit is None:
            assert (game.scores, game.ranks, game.moves) == (twin.scores, twin.ranks, twin.moves)
        else:
            loser = game.forfeit["seat"]
            assert game.seats[loser] == 0
            assert game.ranks[loser] == 2
            assert game.ranks[1 - loser] == 1
            assert reason in game.forfeit["reason"]


def test_with_more_seats_the_others_share_the_first_rank() -> None:
    rules = Rules(3, side=4, colors=4, rack=2)
    games = some_games(["tests.strange_agents:Wordy", "random"], [[1, 0, 1]], rules)
    assert games[0].ranks == [1, 3, 1]
    team = some_games(["tests.strange_agents:Wordy", "random"], [[1, 0, 1, 0]], TEAM)
    assert team[0].ranks == [1, 2]


# Tournaments


def outcome(store: Store) -> list[tuple[Any, ...]]:
    """The games in an order of their own, without what the clock says."""
    return sorted((game.group, game.seats, game.seed, game.scores, game.ranks, game.moves) for game in store.games)


SETTINGS = Settings(("random", "greedy", "points"), SMALL, groups=4, seed=3)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return run(SETTINGS, tmp_path_factory.mktemp("whole") / "tournament")


def test_everything_is_played_and_kept(whole: Store) -> None:
    assert len(whole.games) == 4 * 3 * 2
    again = Store(whole.directory)
    assert again.settings == SETTINGS
    assert outcome(again) == outcome(whole)
    records = list(read_records(whole.directory / RECORDS))
    assert not any(verify(records))
    for game, record in zip(again.games, records, strict=True):
        assert record["seed"] == game.seed
        assert record["agents"] == [SETTINGS.agents[entrant] for entrant in game.seats]
        assert record["scores"] == game.scores


def test_an_interrupted_tournament_goes_on_where_it_was(whole: Store, tmp_path: Path) -> None:
    told: list[int] = []

    def stop(done: int, total: int) -> None:
        told.append(done)
        if done >= 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(SETTINGS, tmp_path / "t", progress=stop)
    kept = len((tmp_path / "t" / GAMES).read_text().splitlines())
    assert kept == told[-1] == 8
    with (tmp_path / "t" / GAMES).open("a") as file:
        file.write('{"group": 2, "sea')  # the power failed
    with (tmp_path / "t" / RECORDS).open("a") as file:
        file.write((whole.directory / RECORDS).read_text().splitlines(keepends=True)[8] + '{"form')
    told.clear()
    store = run(SETTINGS, tmp_path / "t", progress=lambda done, total: told.append(done))
    assert told[0] == 8
    assert outcome(store) == outcome(whole)
    assert outcome(Store(tmp_path / "t")) == outcome(whole)
    assert len(list(read_records(tmp_path / "t" / RECORDS))) == len(whole.games)
    assert len(store.sessions) == 2
    finished = run(SETTINGS, tmp_path / "t")
    assert outcome(finished) == outcome(whole)


def test_more_deals_are_added(whole: Store, tmp_path: Path) -> None:
    run(Settings(SETTINGS.agents, SMALL, groups=1, seed=3), tmp_path / "t")
    assert outcome(run(SETTINGS, tmp_path / "t")) == outcome(whole)


def test_processes_play_the_same_games(whole: Store, tmp_path: Path) -> None:
    assert outcome(run(SETTINGS, tmp_path / "t", workers=2)) == outcome(whole)


def test_other_settings_and_other_directories_are_refused(whole: Store, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="seed 3, not 4"):
        run(Settings(SETTINGS.agents, SMALL, groups=4, seed=4), whole.directory)
    with pytest.raises(ValueError, match="agents"):
        run(Settings(("random", "greedy"), SMALL, groups=4, seed=3), whole.directory)
    (tmp_path / "letters").write_text("dear")
    with pytest.raises(ValueError, match="something else"):
        run(SETTINGS, tmp_path)
    with pytest.raises(ValueError, match="no tournament"):
        Store(tmp_path)
    with pytest.raises(ValueError, match="unknown agent"):
        run(Settings(("random", "nobody"), SMALL), tmp_path / "none")
    assert not (tmp_path / "none").exists()
    with pytest.raises(ValueError, match="named once, and random"):
        Settings(("random", "greedy", "random"), SMALL)
    with pytest.raises(ValueError, match="groups must be 1 to 1000000, not 0"):
        Settings(("random", "greedy"), SMALL, groups=0)
    with pytest.raises(ValueError, match="workers must be at least 1"):
        run(SETTINGS, tmp_path / "none", workers=0)


def test_damaged_lines_are_named(whole: Store, tmp_path: Path) -> None:
    run(SETTINGS, tmp_path / "t")
    lines = (tmp_path / "t" / GAMES).read_text().splitlines(keepends=True)
    (tmp_path / "t" / GAMES).write_text("".join([*lines[:2], "{}\n", *lines[3:]]))
    with pytest.raises(ValueError, match=r"games.jsonl:3: expected the key 'group', found none"):
        Store(tmp_path / "t")


def test_portions_follow_the_time_they_take() -> None:
    jobs = Jobs(list(scheduled_games(2, SMALL, range(2000))))
    sizes = []
    for job in jobs:
        sizes.append(len(job))
        jobs.took(len(job), 0.1 * len(job) if len(sizes) > 4 else 0.001)
    assert sizes[:4] == [8, 32, 128, 512]
    assert set(sizes[5:-1]) == {50}
    assert sum(sizes) == 4000


def test_within_some_seconds(tmp_path: Path) -> None:
    store = run_within(0.5, Settings(("random", "points"), SMALL, records=False), tmp_path / "t")
    assert store.settings.groups >= 2
    assert len(store.games) == 2 * store.settings.groups
    with pytest.raises(ValueError, match="above 0"):
        run_within(0, SETTINGS, tmp_path / "u")


def test_within_some_seconds_there_is_a_most_of_deals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("store", "tournament"):
        monkeypatch.setattr(f"genial_env.arena.{module}.MAX_GROUPS", 3)
    store = run_within(3600, Settings(("random", "points"), SMALL, groups=2, records=False), tmp_path / "t")
    assert store.settings.groups == 3
    assert len(store.games) == 6


# Reports


@pytest.mark.parametrize(
    ("agents", "rules"),
    [
        (("random", "greedy", "tests.strange_agents:Cheating"), SMALL),
        (("random", "greedy"), Rules(3, side=4, colors=4, rack=2)),
        (("random", "greedy"), TEAM),
        (("random", "greedy", "concave"), SOLO),
    ],
    ids=["two", "three", "team", "solo"],
)
def test_reports(agents: tuple[str, ...], rules: Rules, tmp_path: Path) -> None:
    store = run(Settings(agents, rules, groups=6), tmp_path / "t")
    found = report.write(store, anchor=("random", 100.0))
    assert found == json.loads((tmp_path / "t" / report.RESULTS).read_text())
    assert found["ratings"]["rating"]["value"][0] == pytest.approx(100)
    assert found["ratings"]["rating"]["value"][1] > 100
    assert report.best_first(found)[0] > 0
    assert all(ms > 0 for ms in found["ms_per_move"])
    text = (tmp_path / "t" / report.TABLES).read_text()
    for words in (*agents, f"{len(store.games)} games", found["sessions"][0]["machine"]["python"]):
        assert words in text
    for name in ("ratings", "wins", "lowest"):
        assert (tmp_path / "t" / f"{name}.png").stat().st_size > 5000
    if len(agents) == 3 and rules is SMALL:
        assert found["forfeits"][2] > 0 == found["forfeits"][0]
        assert "forfeited: illegal action" in text


def test_solo_results_are_compared_deal_by_deal(tmp_path: Path) -> None:
    store = run(Settings(("random", "greedy"), SOLO, groups=5), tmp_path / "t")
    entrants, scores, ranks, groups = report.compared(store.settings, store.games)
    assert entrants.tolist() == [[0, 1]] * 5
    assert sorted(groups.tolist()) == list(range(5))
    for row, group in enumerate(groups.tolist()):
        own = {game.seats[0]: sorted(game.scores[0]) for game in store.games if game.group == group}
        assert (ranks[row, 0] < ranks[row, 1]) == (own[0] > own[1])
        assert sorted(scores[row, 0].tolist()) == own[0]
    with pytest.raises(ValueError, match="the anchor 'denial' did not play"):
        report.report(store, ("denial", 0.0))


# Matches


def test_a_match_ends_with_a_verdict_that_does_not_depend_on_processes(tmp_path: Path) -> None:
    sprt = Sprt(0, 100)
    found = play_match("greedy", "random", SMALL, sprt=sprt, seed=2)
    assert found.verdict == "H1"
    assert sprt.min_pairs <= found.counts.sum() < 100
    assert found.estimate.elo > 100
    other = play_match("greedy", "random", SMALL, sprt=sprt, seed=2, workers=2)
    assert (other.counts == found.counts).all()
    turned = play_match("random", "greedy", SMALL, sprt=sprt, seed=2)
    assert turned.verdict == "H0"
    write_match(tmp_path / "match.json", found)
    kept = json.loads((tmp_path / "match.json").read_text())
    assert kept["verdict"] == "H1"
    assert kept["counts"] == found.counts.tolist()
    assert kept["provenance"]["machine"]["python"]


def test_equals_score_a_half_in_pairs_of_the_same_deal() -> None:
    """The same policy under two names: every pair is the same game twice, won once each."""
    found = play_match("greedy", "genial_env.policies.greedy:GreedyPolicy", SMALL, pairs=30)
    assert found.verdict is None
    assert found.counts.tolist() == [0, 0, 30, 0, 0]


def test_utilities_corrected_for_luck(tmp_path: Path) -> None:
    store = run(Settings(("greedy", "denial", "random"), Rules(), groups=6, seed=2), tmp_path / "t")
    found = report.report(store, variance_reduction=True).corrected
    assert found is not None
    for agent in range(3):
        own = [
            rank_utility(np.array(game.ranks))[seat]
            for game in store.games
            for seat, entrant in enumerate(game.seats)
            if entrant == agent
        ]
        assert found.mean.low[agent] < found.mean.value[agent] < found.mean.high[agent]
        assert found.mean.value[agent] == pytest.approx(
            np.mean(own), abs=found.mean.high[agent] - found.mean.low[agent]
        )
    assert found.mean.value.sum() == pytest.approx(0, abs=1e-9)
    report.write(store, variance_reduction=True, pictures=False)
    again = report.read_report(tmp_path / "t" / report.RESULTS)
    assert again["corrected"]["explained"] == found.explained


def test_an_interrupted_tournament_corrected_for_luck(tmp_path: Path) -> None:
    run(Settings(("greedy", "random"), Rules(), groups=3, seed=2), tmp_path)
    games, records = ((tmp_path / name).read_text().splitlines(keepends=True) for name in (GAMES, RECORDS))
    (tmp_path / GAMES).write_text("".join(games[:4]))
    (tmp_path / RECORDS).write_text("".join(records[:5]) + records[5][:100])
    found = report.report(Store(tmp_path), variance_reduction=True).corrected
    (tmp_path / RECORDS).write_text("".join(records[:4]))
    expected = report.report(Store(tmp_path), variance_reduction=True).corrected
    assert found is not None
    assert expected is not None
    assert found.to_dict() == expected.to_dict()


def test_lowest_markers_corrected_for_luck(tmp_path: Path) -> None:
    """In solo the correction leaves much less variance."""
    store = run(Settings(("greedy", "denial"), Rules(1, "2009", "solo"), groups=40, seed=2), tmp_path / "t")
    found = report.report(store, variance_reduction=True).corrected
    assert found is not None
    assert found.unit == "lowest marker"
    assert found.explained > 0.2
    lowest = [np.mean([min(game.scores[0]) for game in store.games if game.seats == [agent]]) for agent in range(2)]
    assert found.mean.value == pytest.approx(lowest, abs=3)


def test_a_match_corrected_for_luck() -> None:
    found = play_match("denial", "greedy", pairs=30, seed=3, variance_reduction=True)
    plain = play_match("denial", "greedy", pairs=30, seed=3)
    assert plain.corrected is None
    assert found.counts.tolist() == plain.counts.tolist()
    assert found.corrected is not None
    assert found.corrected.low < found.corrected.score < found.corrected.high
    assert found.to_dict()["corrected"]["score"] == found.corrected.score
    turned = play_match("greedy", "denial", pairs=30, seed=3, variance_reduction=True)
    assert turned.corrected is not None
    assert turned.corrected.score == pytest.approx(1 - found.corrected.score)


def test_a_test_of_corrected_scores() -> None:
    found = play_match("greedy", "random", sprt=Sprt(0, 100), pairs=60, seed=3, variance_reduction=True)
    assert found.verdict == "H1"
    assert found.llr is not None
    assert found.llr >= Sprt(0, 100).bounds[1]
    assert found.to_dict()["sprt"]["llr"] == found.llr


def test_a_correction_needs_weights_for_the_rules() -> None:
    with pytest.raises(ValueError, match="the network of full states for 5 colors and 2 seats"):
        play_match("denial", "greedy", Rules(2, colors=5), pairs=2, variance_reduction=True)


def test_matches_between_teams_and_of_cheats() -> None:
    found = play_match("greedy", "random", TEAM, pairs=8)
    assert found.counts.sum() == 8
    assert found.estimate.score > 0.8
    cheats = play_match("random", "tests.strange_agents:Wordy", SMALL, pairs=4)
    assert cheats.counts.tolist() == [0, 0, 0, 0, 4]
    assert cheats.forfeits == (0, 8)


def test_matches_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="named once"):
        play_match("greedy", "greedy")
    with pytest.raises(ValueError, match="two tracks"):
        play_match("greedy", "random", Rules(3))
    with pytest.raises(ValueError, match="pairs must be at least 1"):
        play_match("greedy", "random", pairs=0)
    with pytest.raises(ValueError, match="unknown agent"):
        play_match("greedy", "nobody")
