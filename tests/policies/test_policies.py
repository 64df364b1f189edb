"""What "concave" and "denial" think a placement worth, against counting it from the definitions, one by one."""

from dataclasses import replace

import numpy as np
import pytest

from genial_env import Rules, State, play, view
from genial_env.core import kernel
from genial_env.core.state import EMPTY, FREE
from genial_env.core.views import View
from genial_env.policies import seat_counts
from genial_env.policies.concave import ConcavePolicy
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.greedy import GreedyPolicy
from genial_env.policies.heuristic import HalfWeights, HeuristicPolicy
from genial_env.policies.prior import STOP_VALUE, PlacementPrior, check_prior, compute_prior_values
from tests.positions import ONE_BONUS, STANDARD, VARIANTS, every, near_stops, random_play

SOME = [STANDARD[2], STANDARD[4], STANDARD[9], STANDARD[11], *VARIANTS[:5]]
ALL = every("rules", SOME, SOME[::3])


def moved(rules: Rules, marker: int, points: int) -> int:
    """Where a marker stands after so many points."""
    return min(marker + points, 18 if marker < 18 else rules.top)


def raises(seen: View) -> np.ndarray:
    """[N, C, N]: by how many points coloring a free cell raises what each other free cell is worth in that color."""
    rules, points = seen.rules, seen.points[0].astype(int)
    free = seen.board[0] == FREE
    found = np.zeros((len(free), rules.colors, len(free)), dtype=int)
    for color in range(rules.colors):
        boards = np.repeat(seen.board, free.sum(), axis=0)
        boards[np.arange(len(boards)), np.flatnonzero(free)] = color
        after = kernel.recount_points(rules, boards, backend="numpy")[:, :, color]
        found[free, color] = np.where(boards == FREE, after - points[:, color], 0)
    return found


def worth_of(policy: HeuristicPolicy, seen: View, raised: np.ndarray, slot: int, placement: int) -> int:
    """What laying the tile of a slot on a placement is worth in the one game, in eighths; `raised` as from above."""
    rules, worth = seen.rules, [int(number) for number in policy.marker_values(seen.rules)]
    cells = seen.tables.placements[placement].tolist()
    colors = seen.tables.kinds[seen.rack[0, slot]].tolist()
    points = dict.fromkeys(colors, 0)
    for cell, color in zip(cells, colors, strict=True):
        points[color] += int(seen.points[0, cell, color])
    markers = seen.scores[0].tolist()
    value = 8 * sum(worth[moved(rules, markers[0][c], p)] - worth[markers[0][c]] for c, p in points.items())
    arrivals = sum(markers[0][c] < moved(rules, markers[0][c], p) in rules.stops for c, p in points.items())
    if arrivals > 1 and rules.one_bonus_a_tile:
        value -= 8 * policy.arrival_value(rules)
    weights = policy.weights(rules)
    halves = zip(cells, colors, strict=True)
    return value + sum(extra(weights, worth, seen, raised[cell, color], cell, color) for cell, color in halves)


def extra(weights: HalfWeights, worth: list[int], seen: View, raised: np.ndarray, cell: int, color: int) -> int:
    """What half a tile counts for besides its points."""
    rules, markers, points = seen.rules, seen.scores[0].tolist(), seen.points[0]
    total = 0
    for track in range(rules.tracks):
        gains = [
            worth[moved(rules, markers[track][c], int(points[cell, c]))] - worth[markers[track][c]]
            for c in range(rules.colors)
        ]
        in_all, at_most = (
            (weights.denied_total, weights.denied_max) if track else (-weights.forgone_total, -weights.forgone_max)
        )
        total += in_all * sum(gains) + at_most * max(gains)
    for end in np.flatnonzero(raised > 0).tolist():
        for track in range(rules.tracks):
            now = moved(rules, markers[track][color], int(points[end, color]))
            slope = worth[moved(rules, now, 1)] - worth[now] if now < moved(rules, markers[track][color], 99) else 0
            weight = weights.opened if track == 0 else -weights.opened_to_others
            total += int(raised[end]) * slope * weight
    return min(max(total, -7000), 7000)


def positions(rules: Rules) -> list[State]:
    """Each of one game in which a tile is to be laid."""
    found = []
    for steps in (0, 6, 15, 33):
        state = random_play(rules, games=2, seed=steps, steps=steps)
        found += [state.select(np.array([row])) for row in np.flatnonzero(state.phase <= 1)]
    return found


@ALL
@pytest.mark.parametrize(
    "policy",
    [ConcavePolicy(), ConcavePolicy(2.5), DenialPolicy(), DenialPolicy(6, 0.8, 40, HalfWeights(-2, 5, 40, 60, 3, 4))],
    ids=["concave", "hot", "denial", "odd"],
)
def test_values_are_what_the_definitions_say(rules: Rules, policy: HeuristicPolicy) -> None:
    for state in positions(rules):
        seen = view(state)
        values, raised = policy.values(seen)[0], raises(seen)
        for slot in np.flatnonzero(seen.rack[0] != EMPTY):
            for placement in np.flatnonzero(seen.placements[0])[::11]:
                assert values[slot, placement] == worth_of(policy, seen, raised, int(slot), int(placement))


ODD = DenialPolicy(arrival=50)


@pytest.mark.parametrize("rules", [Rules(one_bonus_a_tile=True), ONE_BONUS], ids=str)
def test_where_one_bonus_is_earned_the_second_arrival_does_not_count(rules: Rules) -> None:
    state = near_stops(rules, games=20, seed=0, steps=8)
    state = state.select(np.flatnonzero(state.phase <= 1))
    seen, printed = view(state), replace(rules, one_bonus_a_tile=False)
    differences, priors = (
        values(seen).astype(int) - values(replace(seen, rules=printed))
        for values in (ODD.values, lambda view: compute_prior_values(ODD, view))
    )
    fine = seen.slots[:, :, None] & seen.placements[:, None, :]
    assert set(differences[fine]) == {0, -8 * 50}
    assert set(priors[fine]) == {0, -8 * 50 - STOP_VALUE}
    assert ((differences < 0) == (priors < 0))[fine].all()
    for game in range(4):
        one = view(state.select(np.array([game])))
        raised = raises(one)
        for slot in np.flatnonzero(one.rack[0] != EMPTY).tolist():
            for placement in np.flatnonzero(one.placements[0])[::17].tolist():
                assert ODD.values(one)[0, slot, placement] == worth_of(ODD, one, raised, slot, placement)


@ALL
def test_greedy_is_the_policy_whose_worths_are_the_points(rules: Rules) -> None:
    for state in positions(rules):
        seen = view(state)
        general = HeuristicPolicy.values(GreedyPolicy(), seen)
        open_now = seen.slots[:, :, None] & seen.placements[:, None, :]
        assert (general[open_now] == 8 * GreedyPolicy().values(seen)[open_now].astype(int)).all()


@pytest.mark.parametrize(
    ("stronger", "weaker", "at_least"),
    [("greedy", "random", 0.97), ("concave", "greedy", 0.52), ("denial", "concave", 0.58)],
)
def test_the_ladder_stands(stronger: str, weaker: str, at_least: float) -> None:
    """600 seat-swapped games; the bounds are four standard errors below what thousands of games say."""
    wins = 0.0
    for seat, roster in enumerate(([stronger, weaker], [weaker, stronger])):
        ranks = play(roster, games=300, seed=11).ranks
        wins += (ranks[:, seat] < ranks[:, 1 - seat]).sum() + 0.5 * (ranks[:, 0] == ranks[:, 1]).sum()
    assert wins / 600 > at_least


@pytest.mark.parametrize("policy", [ConcavePolicy, DenialPolicy])
def test_a_seat_count_without_settings_is_refused(policy: type[ConcavePolicy], monkeypatch: pytest.MonkeyPatch) -> None:
    for table in ("_CONCAVE_TEMPERATURES", "_DENIAL_SETTINGS"):
        monkeypatch.setattr(seat_counts, table, {})
    with pytest.raises(ValueError, match=r"no settings for 3 seats with 3 tracks: .*seat_counts\.py"):
        policy().marker_values(Rules(3))
    assert len(ConcavePolicy(2.5).marker_values(Rules(3))) == 19
    assert len(DenialPolicy(2.5, 1.0, 0).marker_values(Rules(3))) == 19


@every("rules", STANDARD, STANDARD[::2])
def test_the_prior_has_settings_for_every_game(rules: Rules) -> None:
    prior, seen = PlacementPrior(), view(random_play(rules, games=2, seed=1, steps=6))
    expected = DenialPolicy(*seat_counts.prior_settings(rules))
    assert np.array_equal(prior.values(seen), expected.values(seen))
    assert isinstance(check_prior(None), PlacementPrior)


def test_a_prior_may_be_named() -> None:
    named = check_prior("denial(temperature=3)")
    assert isinstance(named, DenialPolicy)
    assert named.temperature == 3
