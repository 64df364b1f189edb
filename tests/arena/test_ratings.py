"""Ratings recover the strengths that games were drawn from, and their intervals cover them."""

import json
import subprocess
import sys
from math import sqrt
from typing import Any

import numpy as np
import pytest

from genial_env.arena._rating_intervals import count_wins
from genial_env.arena.ratings import Ratings, rate, sorted_markers, strengths
from genial_env.core.ranking import rank_utility

pytest.importorskip("choix")

ELO = np.array([-250.0, -60.0, 0.0, 90.0, 220.0])


def competition_ranks(values: np.ndarray) -> np.ndarray:
    """[G, T]: 1 = largest, equal values share a rank."""
    return 1 + (values[:, None, :] > values[:, :, None]).sum(axis=-1)


def plackett_luce(elo: np.ndarray, entrants: np.ndarray, rng: np.random.Generator, ties: float = 0) -> np.ndarray:
    """[G, T] ranks: strength plus Gumbel noise, in order (Luce's and Plackett's model); in steps of `ties`, if any."""
    values = elo[entrants] * np.log(10) / 400 + rng.gumbel(size=entrants.shape)
    return competition_ranks(np.floor(values / ties) if ties else values)


def tables(n_agents: int, tracks: int, games: int, rng: np.random.Generator) -> np.ndarray:
    """[G, T]: different agents at each table."""
    return rng.permuted(np.tile(np.arange(n_agents), (games, 1)), axis=1)[:, :tracks]


def played(tracks: int, games: int = 300, ties: float = 0, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entrants and ranks [G, T], and groups [G] of two games each."""
    rng = np.random.default_rng(seed)
    entrants = tables(len(ELO), tracks, games, rng)
    return entrants, plackett_luce(ELO, entrants, rng, ties), np.arange(games) // 2


def wins_of(entrants: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """[N, N] the comparisons that row won against column, over all games."""
    found: np.ndarray = count_wins(entrants, ranks, np.zeros(len(entrants), dtype=np.int64), len(ELO))[0]
    return found


@pytest.mark.parametrize("tracks", [2, 3, 4])
def test_strengths_are_recovered(tracks: int) -> None:
    entrants, ranks, _ = played(tracks, games=40_000)
    found = strengths(wins_of(entrants, ranks))
    assert found == pytest.approx(ELO - ELO.mean(), abs=15)
    assert found.mean() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("tracks", [2, 4])
def test_intervals_of_a_tournament(tracks: int) -> None:
    entrants, ranks, groups = played(tracks, games=600)
    found = rate(entrants, ranks, groups, len(ELO), anchor=(2, 1000))
    assert found.rating.value[2] == found.rating.low[2] == found.rating.high[2] == 1000
    for interval in (found.rating, found.utility):
        assert (interval.low <= interval.value).all()
        assert (interval.value <= interval.high).all()
    assert (found.rating.low <= ELO + 1000).all()
    assert (found.rating.high >= ELO + 1000).all()
    again = rate(entrants, ranks, groups, len(ELO))
    assert again.rating.value == pytest.approx(found.rating.value - found.rating.value.mean())


def test_more_games_narrow_the_intervals() -> None:
    widths = []
    for games in (100, 900):
        found = rate(*played(3, games), len(ELO))
        widths.append((found.rating.high - found.rating.low).mean())
    assert widths[0] / widths[1] == pytest.approx(3, rel=0.25)


def test_a_group_counts_as_one() -> None:
    """Copies of every game in its group add nothing; taken as independent they would."""
    entrants, ranks, groups = played(3)
    once = rate(entrants, ranks, groups, len(ELO), prior=1e-9)
    copied = [np.tile(each, (4, 1)) for each in (entrants, ranks)]
    fourfold = rate(*copied, np.tile(groups, 4), len(ELO), prior=1e-9)
    for name in ("rating", "utility", "win_rate"):
        assert np.allclose(
            getattr(fourfold, name), getattr(once, name), atol=0.5 if name == "rating" else 1e-4, equal_nan=True
        )
    apart = rate(*copied, np.arange(len(copied[0])), len(ELO), prior=1e-9)
    assert (apart.rating.high - apart.rating.low).mean() < 0.65 * (once.rating.high - once.rating.low).mean()


@pytest.mark.slow
def test_intervals_cover_the_truth() -> None:
    """Groups of three games that share their luck: each agent has a good or a bad deal in all of them."""
    elo, tournaments = np.array([-100.0, 0.0, 100.0]), 40
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(60), 3)
    covered = np.zeros(3)
    for _ in range(tournaments):
        entrants = np.array([rng.permutation(3) for _ in groups])
        values = elo[entrants] * np.log(10) / 400 + rng.gumbel(size=(60, 3))[groups[:, None], entrants]
        shared = rng.random(60)[groups] < 0.3
        own = elo[entrants] * np.log(10) / 400 + rng.gumbel(size=entrants.shape)
        ranks = competition_ranks(np.where(shared[:, None], values, own))
        found = rate(entrants, ranks, groups, 3).rating
        covered += (found.low <= elo) & (elo <= found.high)
    assert covered.mean() / tournaments >= 0.95 - 4 * sqrt(0.95 * 0.05 / (2 * tournaments))


def test_two_agents_are_as_in_elo() -> None:
    wins = np.array([[0, 75], [25, 0]])
    found = strengths(wins)
    assert found[0] - found[1] == pytest.approx(400 * np.log10(75.5 / 25.5))
    assert strengths(wins, 1e-9) @ [1, -1] == pytest.approx(400 * np.log10(3))


def test_ties() -> None:
    entrants, ranks = [[0, 1, 2, 3]], [[2, 1, 2, 4]]
    expected = [[0, 0, 0.5, 1], [1, 0, 1, 1], [0.5, 0, 0, 1], [0, 0, 0, 0]]
    assert rate(entrants, ranks, [0], 4).wins.tolist() == expected
    even = rate([[0, 1], [1, 2]] * 5, [[1, 1]] * 10, np.arange(10), 3)
    for found, middle in ((even.rating, 0), (even.utility, 0)):
        assert found.value == pytest.approx(np.full(3, middle))
        assert (found.low < middle - 0.1).all()  # ties only tell little of what else may come
        assert found.low == pytest.approx(-found.high, abs=0.01)
    assert even.win_rate.value[0, 1] == 0.5
    entrants, ranks, _ = played(4, games=4000, ties=1.0)
    order = strengths(wins_of(entrants, ranks))
    assert (np.diff(order) > 30).all()
    assert np.ptp(order) < np.ptp(ELO)


def test_meeting_a_copy_of_oneself() -> None:
    found = rate([[0, 0, 1], [1, 0, 0], [1, 1, 1]], [[1, 2, 3], [2, 1, 3], [1, 2, 3]], [0, 1, 2], 2)
    assert found.wins.tolist() == [[0, 3], [1, 0]]
    found = rate([[0, 0, 1]], [[1, 2, 3]], [7], 2)
    assert found.plays.tolist() == [2, 1]
    assert found.meetings.tolist() == [[0, 2], [2, 0]]
    assert found.utility.value.tolist() == [0.5, -1]


@pytest.mark.parametrize("games", [1, 20, 10_000])
def test_unbeaten_and_winless_agents_are_finite(games: int) -> None:
    wins = np.triu(np.full((6, 6), games), 1)
    found = strengths(wins)
    assert np.isfinite(found).all()
    assert (np.diff(found) < 0).all()
    assert found == pytest.approx(-found[::-1])  # who lost all is as far below as who won all is above
    entrants = tables(4, 2, 60, np.random.default_rng(2))
    rating = rate(entrants, competition_ranks(-entrants), np.arange(60), 4, anchor=(1, 0.0)).rating
    assert np.isfinite(rating.value).all()
    assert np.isinf([rating.high[0], rating.low[2], rating.low[3]]).all()
    direct = ((entrants == 0).any(axis=1) & (entrants == 1).any(axis=1)).sum()
    least = 0.025 ** (1 / direct)  # what wins all games between the two in 2.5% of the cases
    assert rating.low[0] == pytest.approx(400 * np.log10(least / (1 - least)), abs=1)
    assert rating.value[2] < rating.high[2] < np.inf


def test_few_games_of_one_agent() -> None:
    """Resamples without it say nothing of it, and are no error."""
    entrants, ranks, groups = played(2, games=60)
    found = rate([*entrants, [0, 5]], [*ranks, [1, 2]], [*groups, 1000], 6)
    assert np.isfinite(found.rating.value).all()
    assert found.rating.low[5] == -np.inf
    assert found.utility.value[5] == found.utility.low[5] == -1
    assert found.utility.high[5] > 0.9  # a game lost in one deal does not say much


def test_agents_that_never_met() -> None:
    entrants, ranks = [[0, 2], [1, 3], [3, 4]], [[1, 2]] * 3
    with pytest.raises(ValueError, match=r"never met: 0, 2 \| 1, 3, 4"):
        rate(entrants, ranks, [0, 1, 2], 5)
    with pytest.raises(ValueError, match=r"never met: a, c \| b, d, e \| f"):
        rate(entrants, ranks, [0, 1, 2], 6, names=list("abcdef"))
    chain = np.diag(np.ones(19), 1)
    assert np.isfinite(strengths(chain)).all()
    assert np.isfinite(rate([*entrants, [2, 4]], [*ranks, [1, 2]], range(4), 5).rating.value).all()


def test_utility() -> None:
    entrants, ranks, groups = played(4)
    found = rate(entrants, ranks, groups, len(ELO))
    for agent in range(len(ELO)):
        assert found.utility.value[agent] == pytest.approx(rank_utility(ranks)[entrants == agent].mean())
    assert found.utility.value @ found.plays == pytest.approx(0)
    by_group = [rank_utility(ranks)[(entrants == 0) & (groups == g)[:, None]] for g in range(groups.max() + 1)]
    spread = np.sqrt(sum((u - found.utility.value[0]).sum() ** 2 for u in by_group)) / found.plays[0]
    assert found.utility.high[0] - found.utility.low[0] == pytest.approx(3.92 * spread, rel=0.2)


def test_win_rates() -> None:
    """Games of deals of their own: the intervals of Clopper and Pearson, 8 of 10 and 10 of 10."""
    entrants = [[0, 1]] * 10 + [[1, 2]] * 10
    found = rate(entrants, [[1, 2]] * 8 + [[2, 1]] * 2 + [[1, 2]] * 10, np.arange(20), 3).win_rate
    assert found.value[0, 1] == 0.8
    assert (found.low[0, 1], found.high[0, 1]) == pytest.approx((0.4439, 0.9748), abs=1e-4)
    assert (found.low[1, 2], found.high[1, 2]) == pytest.approx((0.6915, 1), abs=1e-4)
    assert found.low[2, 1] == 0
    met = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert found.value + found.value.T == pytest.approx(np.where(met, 1, np.nan), nan_ok=True)
    assert found.low + found.high.T == pytest.approx(np.where(met, 1, np.nan), nan_ok=True)


def test_sorted_markers() -> None:
    scores = np.array([[[3, 1, 2], [9, 9, 0]], [[5, 5, 5], [1, 3, 2]]], dtype=np.int8)
    found = sorted_markers([[0, 1], [1, 0]], scores, 3)
    assert found[:2].tolist() == [[1, 2, 3], [2.5, 7, 7]]
    assert np.isnan(found[2]).all()


def test_json() -> None:
    entrants, ranks, groups = played(3)
    scores = np.random.default_rng(3).integers(0, 19, (*entrants.shape, 6))
    found = rate(entrants, ranks, groups, len(ELO), scores=scores, names=list("abcde"), anchor=(0, 0.0))
    stored = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert stored["names"] == list("abcde")
    assert stored["rating"]["high"] == found.rating.high.tolist()
    assert stored["win_rate"]["value"][0][0] is None
    assert stored["win_rate"]["value"][0][1] == found.win_rate.value[0, 1]
    assert np.array(stored["markers"]).shape == (5, 6)
    assert stored["anchor"] == [0, 0.0]
    assert sum(stored["plays"]) == entrants.size
    assert np.array_equal(np.array(stored["meetings"]), found.wins + found.wins.T)


def test_a_single_deal_tells_little() -> None:
    entrants, ranks, groups = played(2, games=100)
    alone = rate(entrants, ranks, groups * 0, 5)
    assert np.array_equal(alone.rating.value, rate(entrants, ranks, groups, 5).rating.value)
    assert np.isinf([alone.rating.low, alone.rating.high]).all()
    assert np.array_equal([alone.utility.low, alone.utility.high], [[-1] * 5, [1] * 5])
    assert alone.to_dict()["rating"]["low"] == [None] * 5
    big = rate(entrants, ranks, groups.astype(np.uint64) + np.uint64(2**64 - 100), 5)
    assert np.array_equal(big.rating, rate(entrants, ranks, groups, 5).rating)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"entrants": [0, 1]}, r"\[G, T\] .* not \[2\]"),
        ({"entrants": [[0], [1]]}, r"T >= 2 tracks, not \[2, 1\]"),
        ({"entrants": np.zeros((0, 2), dtype=int)}, "G >= 1"),
        ({"entrants": [[0, 1], [1, 3]]}, "0 to 2, not 3"),
        ({"entrants": [[0, 1], [1, -1]]}, "0 to 2, not -1"),
        ({"entrants": [[0, 1], [1, 2.5]]}, "integers, not float64"),
        ({"ranks": [[1, 2]]}, r"\[2, 2\], not \[1, 2\]"),
        ({"ranks": [[1, 2], [0, 1]]}, r"\[0, 1\] in game 1"),
        ({"ranks": [[2, 2], [1, 2]]}, r"\[2, 2\] in game 0"),
        ({"groups": [0]}, r"groups are integers \[2\]"),
        ({"groups": [0, 0.5]}, "not float64"),
        ({"scores": np.zeros((2, 3, 6))}, r"\[G, T, C\], not \[2, 3, 6\]"),
        ({"names": ["a"]}, "3 names, not 1"),
        ({"anchor": (3, 0)}, "0 to 2 .* not"),
        ({"anchor": (0, float("nan"))}, "finite"),
        ({"prior": 0}, "above 0, not 0"),
    ],
    ids=str,
)
def test_refusals(wrong: dict[str, Any], told: str) -> None:
    right = {"entrants": [[0, 1], [1, 2]], "ranks": [[1, 2], [1, 2]], "groups": [0, 1], "n_agents": 3}
    assert isinstance(rate(**right), Ratings)
    with pytest.raises(ValueError, match=told):
        rate(**right | wrong)


@pytest.mark.parametrize("wins", [[0, 1], [[0]], [[0, -1], [1, 0]], [[1, 1], [1, 0]], [[0, np.nan], [1, 0]]], ids=str)
def test_refused_wins(wins: Any) -> None:
    with pytest.raises(ValueError, match="wins are"):
        strengths(wins)


def test_without_choix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "choix", None)
    with pytest.raises(ImportError, match=r"pip install .*\[arena\]"):
        strengths([[0, 1], [1, 0]])


def test_importing_is_light() -> None:
    code = "import sys, genial_env.arena.ratings, genial_env.arena.sprt; print([*{'choix', 'scipy'} & {*sys.modules}])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
