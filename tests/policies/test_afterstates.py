"""Candidates and afterstates: both backends make the same ones, they follow the rules, and colors are all alike."""

from collections.abc import Iterator

import numpy as np
import pytest

from genial_env import Rules, use_backend, view
from genial_env.core import kernel
from genial_env.core.arrays import Ints
from genial_env.core.state import EMPTY, Phase, State
from genial_env.core.symmetry import random_symmetries
from genial_env.core.views import View
from genial_env.policies import afterstates as module
from genial_env.policies.afterstates import (
    Afterstates,
    afterstates,
    candidates,
    color_features,
    game_features,
    width,
)
from genial_env.policies.base import NONE
from genial_env.policies.concave import ConcavePolicy
from genial_env.policies.decisions import act
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.greedy import GreedyPolicy
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.prior import compute_prior_values
from genial_env.policies.uniform import RandomPolicy
from tests.conftest import needs_numba
from tests.positions import every, random_play

GAMES = [
    Rules(),
    Rules(3),
    Rules(4, "2009"),
    Rules(4, "2009", "team"),
    Rules(1, "2004", "solo"),
    Rules(2, "2009", side=4, colors=4, rack=3),
]
EVERYDAY = [GAMES[0], GAMES[4], GAMES[5]]
each_game = every("rules", GAMES, EVERYDAY)


def positions(rules: Rules, games: int = 10) -> Iterator[tuple[State, View]]:
    """Positions all through games of strong against weak players, so that bonuses and swaps occur."""
    state = kernel.deal(rules, seeds=range(games))
    roster = [GreedyPolicy(), RandomPolicy()]
    assignment = np.broadcast_to(np.arange(rules.players) % 2, (games, rules.players))
    keys = np.arange(games * rules.players, dtype=np.uint64).reshape(games, rules.players)
    live = np.arange(games)
    while live.size:
        yield state.select(live), view(state, rows=live)
        kernel.apply(state, act(roster, assignment, state, keys, live), live)
        live = live[~state.over[live]]


def looked_at(seen: View, most: int, prior: HeuristicPolicy | None = None) -> Afterstates:
    """The afterstates of all candidates."""
    actions = candidates(seen, most, prior)
    game, place = np.nonzero(actions != NONE)
    return afterstates(seen, game, actions[game, place])


@needs_numba
@each_game
def test_both_backends_agree(rules: Rules) -> None:
    phases = set()
    for state, seen in positions(rules):
        phases |= set(state.phase.tolist())
        with use_backend("numpy"):
            slow_choices, slow = candidates(seen, 10), looked_at(seen, 10)
        with use_backend("numba"):
            fast_choices, fast = candidates(seen, 10), looked_at(seen, 10)
        assert np.array_equal(slow_choices, fast_choices)
        for name in ("game", "actions", "over", "scores"):
            assert np.array_equal(getattr(slow, name), getattr(fast, name)), name
        unequal = np.argwhere(slow.features != fast.features)
        assert not len(unequal), (named(rules, unequal[0][1]), slow.features[*unequal[0]], fast.features[*unequal[0]])
    assert phases >= {Phase.PLACE} | ({Phase.BONUS, Phase.SWAP} if rules.has_bonus else set())


def named(rules: Rules, number: int) -> str:
    """What a feature says."""
    colors = len(color_features(rules)) * rules.colors
    if number < colors:
        return color_features(rules)[number % len(color_features(rules))]
    return game_features(rules)[number - colors]


@each_game
def test_afterstates_are_what_playing_leads_to(rules: Rules) -> None:
    """Board, markers and the end are those of the game after the action; what else there is to see, too."""
    for state, seen in positions(rules, games=6):
        after = looked_at(seen, 4)
        played = state.select(after.game)
        seat = played.to_play.copy()
        kernel.apply(played, after.actions)
        then = view(played, seat)
        assert np.array_equal(after.over, played.over)
        assert np.array_equal(after.scores, then.scores)
        numbers = dict(zip(game_features(rules), after.features[:, -len(game_features(rules)) :].T, strict=True))
        assert np.array_equal(numbers["free cells"], (then.board < 0).sum(axis=1))
        still_to_play = played.to_play == seat
        pending_bonus = np.where(still_to_play & ~played.over, then.pending_bonus, 0)
        assert np.array_equal(numbers["pending bonus placements"], pending_bonus)
        if rules.has_swap:
            assert np.array_equal(numbers["may swap"], then.may_swap)
        by_color = after.features[:, : -len(game_features(rules))].reshape(len(after), rules.colors, -1)
        most = color_features(rules).index("most points on a cell")
        neighbours = np.append(then.board < 0, np.zeros((len(after), 1), bool), axis=1)
        fits = (then.board < 0) & neighbours[:, then.tables.neighbours[:-1]].any(axis=2)
        assert np.array_equal(by_color[:, :, most], np.where(fits[:, :, None], then.points, 0).max(axis=1))


def test_what_is_told_of_a_swap() -> None:
    """A swap leaves an empty rack, its tiles among those unseen; declining leaves both as they are."""
    rules = Rules()
    found = 0
    for state, seen in positions(rules, games=60):
        offered = np.flatnonzero(state.phase == Phase.SWAP)
        if not offered.size:
            continue
        found += len(offered)
        t = state.tables
        after = afterstates(seen, np.repeat(offered, 2), np.tile([t.swap_action, t.decline_action], len(offered)))
        numbers = dict(zip(game_features(rules), after.features[:, -len(game_features(rules)) :].T, strict=True))
        held = (seen.rack[offered] != EMPTY).sum(axis=1)
        assert (numbers["tiles in the rack"][::2] == 0).all()
        assert np.array_equal(numbers["tiles in the rack"][1::2], held)
        assert (numbers["may swap"] == 0).all()
        unseen = after.features[:, : -len(game_features(rules))].reshape(len(after), rules.colors, -1)
        halves = [color_features(rules).index(name) for name in ("unseen tiles with one half", "unseen doubles")]
        more = (unseen[::2] - unseen[1::2])[:, :, halves].astype(int) @ [1, 2]  # halves that came back
        assert np.array_equal(more.sum(axis=1), 2 * held)
    assert found > 0


@every("rules", GAMES[:5], EVERYDAY)
def test_colors_and_sides_make_no_difference(rules: Rules) -> None:
    """Turned, mirrored and recolored, the numbers are the same, those of a color with its new name."""
    per_color = len(color_features(rules))
    for _, seen in positions(rules, games=4):
        playing = seen.select(np.flatnonzero(seen.slots.any(axis=1)))
        if not len(playing):
            continue
        image = random_symmetries(rules, len(playing), np.random.default_rng(1), keep_start_symbols=True)
        moved = image.view(playing)
        actions = candidates(playing, 1)[:, 0]
        games = np.arange(len(playing))
        before = afterstates(playing, games, actions).features
        after = afterstates(moved, games, image.actions(actions, playing.rack)).features
        assert np.array_equal(before[:, rules.colors * per_color :], after[:, rules.colors * per_color :])
        rows = before[:, : rules.colors * per_color].reshape(len(playing), rules.colors, per_color)
        rows_after = after[:, : rules.colors * per_color].reshape(len(playing), rules.colors, per_color)
        assert np.array_equal(rows, np.take_along_axis(rows_after, image.colors[:, :, None], axis=1))


@pytest.mark.parametrize("prior", [DenialPolicy(), GreedyPolicy(), ConcavePolicy(temperature=5)], ids=lambda p: p.name)
def test_candidates_are_the_priors_best_and_different(prior: HeuristicPolicy) -> None:
    state = random_play(Rules(), games=8, seed=3, steps=12)
    seen = view(state, rows=np.flatnonzero(state.phase <= Phase.BONUS)[:1])
    t = seen.tables
    actions = without_none(candidates(seen, 3000, prior)[0])
    values = compute_prior_values(prior, seen)[0].reshape(-1)
    assert (np.diff(values[actions].astype(int)) <= 0).all()
    tiles = set()
    for action in actions.tolist():
        slot, placement = divmod(action, t.n_placements)
        halves = zip(t.placements[placement].tolist(), t.kinds[seen.rack[0, slot]].tolist(), strict=True)
        tiles.add(tuple(sorted(halves)))
    assert len(tiles) == len(actions)
    everything = np.flatnonzero(seen.mask()[0])
    assert {values[action] for action in everything} == set(values[actions])
    assert candidates(seen, 3, prior)[0, :3].tolist() == actions[:3].tolist()


def without_none(actions: Ints) -> Ints:
    return actions[actions != NONE]


def test_other_choices_are_candidates_too() -> None:
    found = set()
    for state, seen in positions(Rules(2, "2009"), games=60):
        actions = candidates(seen, 2)
        for game in np.flatnonzero(state.phase != Phase.PLACE):
            found.add(int(state.phase[game]))
            own = without_none(actions[game])
            assert seen.mask()[game][own].all()
            assert seen.tables.decline_action in own
            assert (seen.tables.swap_action in own) == (state.phase[game] == Phase.SWAP)
    assert found == {Phase.BONUS, Phase.SWAP}


def test_nothing_to_look_at() -> None:
    seen = view(kernel.deal(Rules(), range(3)))
    nothing = np.empty(0, dtype=np.int64)
    assert afterstates(seen, nothing, nothing).features.shape == (0, width(Rules()))
    assert candidates(seen.select(nothing), 4).shape == (0, 6)


def test_a_prior_of_ones_own_works_on_both_backends() -> None:
    class Own(HeuristicPolicy):
        name = "own"

        def values(self, view: View) -> np.ndarray:
            return module.kernel.count_kinds(view.rack, view.tables.n_kinds)[:, :1, None] + np.zeros(
                (len(view), view.rules.rack, view.tables.n_placements), dtype=np.int16
            )

    seen = view(kernel.deal(Rules(), range(3)))
    with use_backend("numpy"):
        assert (candidates(seen, 4, Own())[:, :4] >= 0).all()
