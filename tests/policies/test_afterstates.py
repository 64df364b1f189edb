"""Candidates and afterstates: both backends make the same ones, they follow the rules, and colors are all alike.

What the features of tile kinds and of lines say, and how many placements are left, is computed once more in slow, plain
Python.
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from genial_env import Rules, use_backend, view
from genial_env.core import kernel
from genial_env.core.arrays import Ints
from genial_env.core.state import EMPTY, Phase, State
from genial_env.core.symmetry import random_symmetries
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.policies.afterstates import (
    Afterstates,
    afterstates,
    candidates,
    color_features,
    game_features,
    kind_features,
    split_features,
    width,
)
from genial_env.policies.afterstates.features import FEW_CELLS
from genial_env.policies.base import NONE
from genial_env.policies.concave import ConcavePolicy
from genial_env.policies.decisions import act
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.greedy import GreedyPolicy
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.prior import PlacementPrior, compute_prior_values
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
    names = color_features(rules), kind_features(rules), game_features(rules)
    for own, times in zip(names, (rules.colors, tables(rules).n_kinds, 1), strict=True):
        if number < len(own) * times:
            return own[number % len(own)]
        number -= len(own) * times
    raise AssertionError("there are no more features")


def game_numbers(after: Afterstates, rules: Rules) -> dict[str, np.ndarray]:
    """The features of the whole game by name: [n] each."""
    return dict(zip(game_features(rules), split_features(rules, after.features)[2].T, strict=True))


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
        numbers = game_numbers(after, rules)
        assert np.array_equal(numbers["free cells"], (then.board < 0).sum(axis=1))
        still_to_play = played.to_play == seat
        pending_bonus = np.where(still_to_play & ~played.over, then.pending_bonus, 0)
        assert np.array_equal(numbers["pending bonus placements"], pending_bonus)
        if rules.has_swap:
            assert np.array_equal(numbers["may swap"], then.may_swap)
        by_color = split_features(rules, after.features)[0]
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
        numbers = game_numbers(after, rules)
        held = (seen.rack[offered] != EMPTY).sum(axis=1)
        assert (numbers["tiles in the rack"][::2] == 0).all()
        assert np.array_equal(numbers["tiles in the rack"][1::2], held)
        assert (numbers["may swap"] == 0).all()
        unseen, kinds, _ = split_features(rules, after.features)
        came_back = kinds[::2, :, 1] - kinds[1::2, :, 1]
        assert np.array_equal(came_back, kernel.count_kinds(seen.rack[offered], t.n_kinds))
        halves = [color_features(rules).index(name) for name in ("unseen tiles with one half", "unseen doubles")]
        more = (unseen[::2] - unseen[1::2])[:, :, halves].astype(int) @ [1, 2]  # halves that came back
        assert np.array_equal(more.sum(axis=1), 2 * held)
    assert found > 0


@every("rules", GAMES[:5], EVERYDAY)
def test_colors_and_sides_make_no_difference(rules: Rules) -> None:
    """Turned, mirrored and recolored, the numbers are the same, those of a color or kind with its new name."""
    t = tables(rules)
    is_moved = False
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
        colors, kinds, whole = split_features(rules, before)
        colors_after, kinds_after, whole_after = split_features(rules, after)
        assert np.array_equal(whole, whole_after)
        assert np.array_equal(colors, np.take_along_axis(colors_after, image.colors[:, :, None], axis=1))
        new_kinds = t.kind_of[image.colors[:, t.kinds[:, 0]], image.colors[:, t.kinds[:, 1]]]
        assert np.array_equal(kinds, np.take_along_axis(kinds_after, new_kinds[:, :, None].astype(np.int64), axis=1))
        is_moved |= bool((new_kinds != np.arange(t.n_kinds)).any())
    assert is_moved


class PlainPosition:
    """An afterstate in plain Python: its free cells, and what tiles gain on them.

    Args:
        then: the game after the action, seen by the seat that has played.
        game: its row.
    """

    def __init__(self, then: View, game: int) -> None:
        self.t, self.rules = then.tables, then.rules
        self.points, self.scores = then.points[game].tolist(), then.scores[game].tolist()
        free = {cell for cell, color in enumerate(then.board[game].tolist()) if color < 0}
        self.beside = {cell: free & set(self.t.neighbours[cell].tolist()) for cell in sorted(free)}
        self.fitting = [cell for cell, beside in self.beside.items() if beside]
        self.values = DenialPolicy().marker_values(self.rules).tolist()

    def gain(self, track: int, cell: int, color: int) -> int:
        """What a half gains on a cell."""
        marker = self.scores[track][color]
        moved = min(marker + self.points[cell][color], int(self.t.furthest[marker]))
        return int(self.values[moved] - self.values[marker])

    def placements(self, track: int, kind: int) -> dict[tuple[int, int], int]:
        """What a tile gains, by the cells of its first and its second half."""
        a, b = self.t.kinds[kind].tolist()
        return {(x, y): self.gain(track, x, a) + self.gain(track, y, b) for x in self.fitting for y in self.beside[x]}

    def greatest_gain(self, track: int, kind: int) -> int:
        """The greatest gain of a tile for a track."""
        return max(self.placements(track, kind).values(), default=0)

    def greatest_gain_elsewhere(self, kind: int) -> int:
        """The greatest own gain on a cell that is more than two cells away from a cell of a best placement."""
        gains = self.placements(0, kind)
        best = {cell for pair, gain in gains.items() for cell in pair if gain == max(gains.values())}
        far = {cell for cell in self.fitting if any(self.distance(cell, other) > 2 for other in best)}
        return max((gain for pair, gain in gains.items() if far & set(pair)), default=0)

    def distance(self, one: int, other: int) -> int:
        """The number of steps from cell to cell."""
        q, r = (self.t.cells[one] - self.t.cells[other]).tolist()
        return max(abs(q), abs(r), abs(q + r))

    def placements_left(self) -> int:
        """Half the cells of each region, rounded down; half of all cells if they are many."""
        if len(self.fitting) // 2 > FEW_CELLS // 2:
            return len(self.fitting) // 2
        left, waiting = 0, set(self.fitting)
        while waiting:
            region, edge = set(), {waiting.pop()}
            while edge:
                region |= edge
                edge = {other for cell in edge for other in self.beside[cell]} - region
            waiting -= region
            left += len(region) // 2
        return left


PLAIN = [
    Rules(2, "2009", side=4, colors=4, rack=3),
    Rules(3, "2009", side=4, colors=4, rack=3),
    Rules(1, "2004", "solo", side=4, colors=5),
    Rules(4, "2009", "team", side=4, colors=3, tile_sets=2),
    Rules(),
]


@pytest.mark.parametrize("backend", ["numpy", pytest.param("numba", marks=needs_numba)])
@every("rules", PLAIN, PLAIN[:3])
def test_kinds_and_placements_left_in_plain_python(rules: Rules, backend: str) -> None:
    t, lefts, gains_elsewhere = tables(rules), set(), set()
    for step, (state, seen) in enumerate(positions(rules, games=3)):
        if step % 3 and (seen.board < 0).sum(axis=1).min() > 20:
            continue  # plain Python is slow
        with use_backend(backend):
            after = looked_at(seen, 2)
        played = state.select(after.game)
        seats = played.to_play.copy()
        kernel.apply(played, after.actions)
        then, kinds = view(played, seats), split_features(rules, after.features)[1]
        left = game_numbers(after, rules)["most placements left"]
        parity = game_numbers(after, rules)["most placements left, modulo 2"]
        for row, (game, action) in enumerate(zip(after.game.tolist(), after.actions.tolist(), strict=True)):
            position = PlainPosition(then, row)
            assert left[row] == position.placements_left()
            assert parity[row] == left[row] % 2
            lefts.add(int(left[row]))
            rack = [kind for kind in seen.rack[game].tolist() if kind != EMPTY]
            unseen = seen.unseen[game].tolist()
            if action == t.swap_action:
                unseen = [n + rack.count(kind) for kind, n in enumerate(unseen)]
                rack = []
            elif action < t.swap_action:
                rack.remove(int(seen.rack[game, action // t.n_placements]))
            for kind in range(t.n_kinds):
                is_held, is_unseen = kind in rack, unseen[kind] > 0
                expected = [
                    rack.count(kind),
                    unseen[kind],
                    position.greatest_gain(0, kind) if is_held or is_unseen else 0,
                    position.greatest_gain_elsewhere(kind) if is_held else 0,
                    *(position.greatest_gain(track, kind) if is_unseen else 0 for track in range(1, rules.tracks)),
                ]
                named = dict(zip(kind_features(rules), expected, strict=True))
                assert dict(zip(kind_features(rules), kinds[row, kind].tolist(), strict=True)) == named
                gains_elsewhere.add(expected[3])
    assert (len(gains_elsewhere) > 2) == (rules.rack > 1)  # solo the rack is empty after a placement
    assert {0, 1, 2} <= lefts


SOLO = [Rules(1, "2009", "solo"), Rules(1, "2004", "solo", side=4, colors=5)]


@pytest.mark.parametrize("backend", ["numpy", pytest.param("numba", marks=needs_numba)])
@pytest.mark.parametrize("rules", SOLO, ids=str)
def test_parts_of_lines_in_plain_python(rules: Rules, backend: str) -> None:
    names, found = color_features(rules), set()
    first = next(place for place, name in enumerate(names) if name.startswith("parts of lines"))
    for step, (state, seen) in enumerate(positions(rules, games=2)):
        if step % 4:
            continue  # plain Python is slow
        with use_backend(backend):
            after = looked_at(seen, 3)
        played = state.select(after.game)
        kernel.apply(played, after.actions)
        numbers = split_features(rules, after.features)[0][:, :, first:]
        for board, of_colors in zip(played.board.tolist(), numbers.tolist(), strict=True):
            for color, row in enumerate(of_colors):
                counted = count_parts(rules, board, color)
                assert dict(zip(names[first:], row, strict=True)) == {name: counted[name] for name in names[first:]}
                found |= set(counted)
    assert len(found & set(names)) > 30


def count_parts(rules: Rules, board: list[int], color: int) -> Counter[str]:
    """How often each pattern of four cells in a row occurs whose middle two are on the board."""
    cells = {(int(q), int(r)): board[cell] for cell, (q, r) in enumerate(tables(rules).cells)}
    counted: Counter[str] = Counter()
    for q, r in cells:
        for way_q, way_r in ((1, 0), (0, 1), (1, -1)):
            if (q + way_q, r + way_r) not in cells:
                continue
            shown = [cells.get((q + way_q * at, r + way_r * at), "closed") for at in (-1, 0, 1, 2)]
            words = [{-1: "free", color: "own"}.get(one, "closed") for one in shown]
            order = ["free", "own", "closed"]
            counted["parts of lines: " + ", ".join(min(words, words[::-1], key=lambda w: [*map(order.index, w)]))] += 1
    return counted


@pytest.mark.parametrize(
    "prior", [PlacementPrior(), DenialPolicy(), GreedyPolicy(), ConcavePolicy(temperature=5)], ids=lambda p: p.name
)
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
            return kernel.count_kinds(view.rack, view.tables.n_kinds)[:, :1, None] + np.zeros(
                (len(view), view.rules.rack, view.tables.n_placements), dtype=np.int16
            )

    seen = view(kernel.deal(Rules(), range(3)))
    with use_backend("numpy"):
        assert (candidates(seen, 4, Own())[:, :4] >= 0).all()
