"""Compare the kernel with the reference implementation in every mask, point, marker, bonus, swap right, draw, end and
rank, and the compiled implementation with the kernel in every array.
"""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from genial_env import Rules
from genial_env.core import kernel, ranking
from genial_env.core.actions import Place, decode
from genial_env.core.state import End, Phase, State
from genial_env.core.tables import tables
from tests.conftest import HAS_NUMBA
from tests.positions import ONE_BONUS, STANDARD, VARIANTS, every_rules, near_stops, same
from tests.reference import Action, PlainGame, Tile


def games_of(rules: Rules, greedy: bool) -> int:
    """So many that what should come up does: small boards see rare ends more often, large ones take long."""
    if rules not in STANDARD:
        return 4 if rules.side > 8 else 20
    return 10 if greedy else 6


@lru_cache(maxsize=32)
def action_words(rules: Rules) -> list[Action]:
    """Return every action id as the reference implementation writes it."""

    def word(action: int) -> Action:
        decoded = decode(rules, action)
        if isinstance(decoded, Place):
            return ("place", decoded.slot, decoded.first, decoded.second)
        return (str(decoded),)

    return [word(action) for action in range(tables(rules).n_actions)]


def tiles(rules: Rules, kinds: np.ndarray) -> list[Tile | None]:
    """Return rack slots as the reference implementation writes them."""
    return [tuple(tables(rules).kinds[kind].tolist()) if kind >= 0 else None for kind in kinds]


def reference_of(state: State, row: int) -> PlainGame:
    """Return a reference game in the position of a game of the kernel."""
    rules, t = state.rules, state.tables
    reference = PlainGame(
        [[(0, 0)] * rules.rack] * rules.players,
        players=rules.players,
        edition=rules.edition,
        mode=rules.mode,
        side=rules.side,
        colors=rules.colors,
        rack=rules.rack,
        tile_sets=12,
        one_bonus_a_tile=rules.one_bonus_a_tile,
    )
    for (q, r), color in zip(t.cells.tolist(), state.board[row].tolist(), strict=True):
        reference.board[q, r] = None if color < 0 else color
        if color >= 0 and (q, r) not in reference.start_symbols:
            reference.tiled.add((q, r))
    reference.scores = state.scores[row].tolist()
    reference.racks = [tiles(rules, rack) for rack in state.racks[row]]
    reference.bag.clear()
    reference.bag.update({tuple(t.kinds[m].tolist()): int(n) for m, n in enumerate(state.bag[row]) if n})
    reference.to_play = int(state.to_play[row])
    reference.phase = Phase(int(state.phase[row])).name.lower()
    reference.pending_bonus = int(state.pending_bonus[row])
    reference.has_placed = state.has_placed[row].tolist()
    return reference


@dataclass
class Choices:
    """How the games are played: at random, or by points with a little chance; what may be declined is, now and then."""

    greedy: bool
    seed: int

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def __call__(self, state: State, rows: np.ndarray, masks: np.ndarray) -> np.ndarray:
        value = self.rng.random(masks.shape)
        if self.greedy:
            t = state.tables
            racks = kernel.own_racks(state, rows)
            for slot in range(state.rules.rack):
                colors = t.kinds[racks[:, slot]]
                first, second = t.placements.T
                points = state.points[rows][:, first, :], state.points[rows][:, second, :]
                gained = sum(half[np.arange(len(rows)), :, colors[:, i]] for i, half in enumerate(points))
                value[:, slot * t.n_placements : (slot + 1) * t.n_placements] += gained
            if state.rules.has_swap:  # there is something to decline
                value[self.rng.random(len(rows)) < 0.1, t.decline_action] = 1000
        return np.where(masks, value, -1.0).argmax(axis=1)


def play_both(rules: Rules, games: int, choose: Choices) -> Counter[str]:
    """Play games with the kernel and the reference implementation side by side, and compare them at every step.

    Returns:
        how often every kind of decision was made, as "phase action", how many bonus placements tiles have earned, as
        "earns number", and how the games ended.
    """
    state = kernel.deal(rules, np.arange(choose.seed, choose.seed + games))
    references = [reference_of(state, row) for row in range(games)]
    reached = compare(state, references, choose)
    assert state.over.all()
    return reached + Counter(reference.end() for reference in references)


def compare(state: State, references: list[PlainGame], choose: Choices, steps: int = 1000) -> Counter[str]:
    """Play on, and compare masks, points, and all that a decision changes; count the kinds of decisions."""
    rules, beside, reached = state.rules, state.copy(), Counter[str]()
    words = action_words(rules)
    for _ in range(steps):
        if state.over.all():
            break
        rows = np.flatnonzero(~state.over)
        masks = kernel.legal(state, rows, backend="numpy")
        if HAS_NUMBA:
            assert (kernel.legal(beside, rows, backend="numba") == masks).all()
        assert (masks.sum(axis=1) == kernel.legal_count(state, rows)).all()
        for row, mask in zip(rows.tolist(), masks, strict=True):
            assert {words[action] for action in np.flatnonzero(mask)} == references[row].legal()
        actions = choose(state, rows, masks)
        points_before, racks_before = state.points.copy(), state.racks.copy()
        kernel.apply(state, actions, rows, backend="numpy")
        assert (state.points == kernel.recount_points(rules, state.board, backend="numpy")).all()
        if HAS_NUMBA:
            kernel.apply(beside, actions, rows, backend="numba")
            assert same(state, beside)
            assert (state.points == kernel.recount_points(rules, state.board, backend="numba")).all()
        for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
            reference, seat = references[row], references[row].to_play
            if action < state.tables.swap_action:
                check_points(reference, words[action], points_before[row], rules)
            reached[f"{reference.phase} {words[action][0]}"] += 1
            owed = reference.pending_bonus - (reference.phase == "bonus")
            reference.step(words[action], drawn(state, row, seat, racks_before[row, seat], action))
            check_same(state, row, reference)
            if reference.phase == "bonus":
                reached[f"earns {reference.pending_bonus - owed}"] += 1
    return reached


def check_points(reference: PlainGame, word: Action, points: np.ndarray, rules: Rules) -> None:
    """Check the points map against the points that the reference implementation counts."""
    _, slot, first, second = word
    index = tables(rules).cell_index
    expected = reference.points(slot, first, second)
    found: dict[int, int] = {}
    for color, cell in zip(reference.racks[reference.to_play][slot], (first, second), strict=True):
        found[color] = found.get(color, 0) + int(points[index[cell], color])
    assert {color: n for color, n in found.items() if n} == expected


def drawn(state: State, row: int, seat: int, before: np.ndarray, action: int) -> list[Tile]:
    """The tiles that an action made a seat draw, in slot order."""
    before = before.copy()
    if action < state.tables.swap_action:
        before[action // state.tables.n_placements] = -1
    elif action == state.tables.swap_action:
        before[:] = -1
    after = state.racks[row, seat]
    return tiles(state.rules, after[(before < 0) & (after >= 0)])


def check_same(state: State, row: int, reference: PlainGame) -> None:
    """Check that a game of the kernel and a reference game are in the same position."""
    rules, t = state.rules, state.tables
    assert state.scores[row].tolist() == reference.scores
    assert [tiles(rules, rack) for rack in state.racks[row]] == reference.racks
    assert {m: int(n) for m, n in enumerate(state.bag[row]) if n} == {
        int(t.kind_of[tile]): n for tile, n in reference.bag.items() if n
    }
    assert (int(state.to_play[row]), int(state.pending_bonus[row])) == (reference.to_play, reference.pending_bonus)
    assert Phase(int(state.phase[row])).name.lower() == reference.phase
    assert state.has_placed[row].tolist() == reference.has_placed
    if reference.phase == "over":
        assert End(int(state.end[row])).words == reference.end()
        assert ranking.ranks(state.scores[row]).tolist() == reference.ranks()
        board = [reference.board[q, r] for q, r in t.cells.tolist()]
        assert state.board[row].tolist() == [-1 if color is None else color for color in board]


@pytest.mark.parametrize("greedy", [False, True], ids=["random", "greedy"])
@every_rules
def test_kernel_agrees_with_reference(rules: Rules, greedy: bool) -> None:
    """Other games for each set of rules, in which what should come up does."""
    standard, number = rules in STANDARD, (STANDARD + VARIANTS).index(rules)
    reached = play_both(rules, games_of(rules, greedy), Choices(greedy, seed=100 * number + int(greedy)))
    wanted = {"place place"} | ({"board full"} if standard else set())
    if greedy and standard and rules.has_bonus:
        wanted |= {"bonus place", "swap swap", "swap decline"}
    if greedy and rules.bonus_may_be_declined:
        wanted |= {"bonus decline"}
    if greedy and rules.side > 8:
        wanted |= {"bonus place", "all markers at the end"}
    assert not wanted - set(reached), reached


@pytest.mark.parametrize(
    "rules",
    [Rules(), Rules(one_bonus_a_tile=True), Rules(4, "2009", "team"), ONE_BONUS, Rules(3, one_bonus_a_tile=True)],
)
def test_two_arrivals_with_one_tile(rules: Rules) -> None:
    """They earn two bonus placements, or one."""
    state = near_stops(rules, games=12, seed=rules.players, steps=3 * rules.players)
    reached = compare(
        state, [reference_of(state, row) for row in range(len(state))], Choices(greedy=True, seed=0), steps=3
    )
    assert reached["earns 1"]
    assert bool(reached["earns 2"]) == (not rules.one_bonus_a_tile)


@st.composite
def odd_positions(draw: st.DrawFn) -> State:
    """Positions that no game need reach: any colors anywhere, any markers, racks with gaps, any decision."""
    rules = draw(st.sampled_from(STANDARD + VARIANTS))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    t = tables(rules)
    filled = draw(st.floats(0.0, 0.9))
    board = np.where(rng.random(t.n_cells) < filled, rng.integers(0, rules.colors, t.n_cells), -1)
    board[t.start_symbols] = np.arange(rules.colors)
    low = draw(st.integers(0, rules.top))
    racks = rng.integers(0, t.n_kinds, (1, rules.players, rules.rack))
    seat = int(rng.integers(rules.players))
    racks[0, seat, rng.random(rules.rack) < draw(st.sampled_from([0.0, 0.3, 0.9]))] = -1
    if (racks[0, seat] < 0).all():
        racks[0, seat, 0] = 0
    bonus = rules.has_bonus and draw(st.booleans())
    scores = rng.integers(low, rules.top + 1, (1, rules.tracks, rules.colors))
    assume((board[t.placements] < 0).all(axis=1).any() and (scores < rules.top).any(axis=2).all())  # else it is over
    return kernel.position(
        rules,
        board,
        scores=scores,
        racks=racks,
        bag=np.full((1, t.n_kinds), 8),
        to_play=seat,
        phase=Phase.BONUS if bonus else None,
        pending_bonus=int(rng.integers(1, 3)) if bonus else 0,
        has_placed=rng.random((1, rules.players)) < 0.8,
        seeds=int(rng.integers(2**32)),
        any_tiles=True,
    )


@settings(max_examples=150, deadline=None)
@given(odd_positions(), st.integers(0, 2**32 - 1))
def test_odd_positions(state: State, seed: int) -> None:
    """Play three decisions from the position and compare them with the reference implementation."""
    assume(not state.over.any())
    compare(state, [reference_of(state, 0)], Choices(greedy=False, seed=seed), steps=3)
