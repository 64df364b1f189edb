"""The endgame solver against recursion in the plainest way, against all deals one by one, and against sampling."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import perm

import numpy as np
import pytest

from genial_env import Rules, State, determinize, view
from genial_env.core import kernel, ranking
from genial_env.core.determinization import hidden_tiles
from genial_env.core.posterior import Hidden
from genial_env.core.ranking import rank_utility
from genial_env.core.state import Phase
from genial_env.policies.endgame import (
    OutOfBudget,
    most_placements_left,
    solve,
    solve_all,
    value_over_all_deals,
)
from genial_env.policies.endgame._hands import HiddenHand
from tests.core.test_posterior import play_with_swaps
from tests.positions import random_actions
from tests.reference import PlainGame

SMALL = [
    Rules(2, side=3, colors=2, rack=2, tile_sets=2),
    Rules(2, "2009", side=3, colors=2, rack=2, tile_sets=2),
    Rules(3, "2009", side=3, colors=2, rack=2, tile_sets=2),
    Rules(4, "2004", "team", side=3, colors=2, rack=2, tile_sets=2),
    Rules(1, "2004", "solo", side=3, colors=3),
    Rules(2, side=3, colors=2, rack=2, tile_sets=2, one_bonus_a_tile=True),
]
LARGE = [Rules(2), Rules(2, "2009"), Rules(3), Rules(4), Rules(4, "2009", "team"), Rules(1, "2004", "solo")]


def late(rules: Rules, games: int, most: int, seed: int = 0, near_top: bool = True) -> State:
    """Positions of random play in which at most so many tiles can be laid, markers near the end."""
    state = kernel.deal(rules, np.arange(seed, seed + games))
    rng = np.random.default_rng(seed)
    if near_top:
        state.scores[:] = rng.integers(rules.top - 8, rules.top, size=state.scores.shape)
    kept = np.zeros(len(state), dtype=np.bool_)
    while not (kept | state.over).all():
        live = np.flatnonzero(~kept & ~state.over)
        kernel.apply(state, random_actions(state, live, rng), live)
        kept |= ~state.over & (most_placements_left(state) <= most)
    return state.select(kept)


# The plainest way


def plain_values(state: State, action: int, asking: int) -> np.ndarray:
    """[T]: the utilities after an action, by recursion, one position at a time."""
    found, total = np.zeros(state.rules.tracks), 0.0
    for child, chance in after(state, action):
        found += chance * plain_utilities(child, asking)
        total += chance
    assert total == pytest.approx(1)
    return found


def plain_utilities(state: State, asking: int) -> np.ndarray:
    if state.over[0]:
        return final_utilities(state)[0]
    return chosen(state, [plain_values(state, action, asking) for action in legal(state)], asking)


def plain_utilities_without_luck(states: State, asking: int) -> np.ndarray:
    """[n, T]: the same for positions of which it does not matter what is drawn, all of them at a time."""
    found = final_utilities(states)
    rows, actions = np.nonzero(kernel.legal(states))
    if rows.size:
        values = plain_utilities_without_luck(played(states.select(rows), actions), asking)
    for row in np.flatnonzero(~states.over):
        found[row] = chosen(states.select(np.array([row])), values[rows == row], asking)
    return found


def chosen(state: State, results: Sequence[np.ndarray], asking: int) -> np.ndarray:
    """[T]: the best of some results for the seat to play; of equal ones the worst for the one who asks."""
    own = int(state.to_play[0]) % state.rules.tracks
    most = max(result[own] for result in results)
    equal = [result for result in results if result[own] > most - 1e-9]
    return min(equal, key=lambda result: float(result[asking]))


def legal(state: State) -> list[int]:
    """The actions of the first game."""
    return np.flatnonzero(kernel.legal(state, np.array([0]))[0]).tolist()


def final_utilities(states: State) -> np.ndarray:
    """[n, T]: of games that are over."""
    rules = states.rules
    if rules.tracks > 1:
        return rank_utility(ranking.ranks(states.scores))
    markers = np.sort(states.scores[:, 0].astype(float), axis=1)
    return (markers / (rules.top + 1) ** np.arange(rules.colors)).sum(axis=1, keepdims=True)


def after(state: State, action: int) -> Iterator[tuple[State, float]]:
    """What an action leads to, with its chances: each order of drawn tiles by itself."""
    drawn = int((played(state, action).drawn - state.drawn).sum())
    orders: list[tuple[list[int], float]] = [([], 1.0)]
    for _ in range(drawn):
        longer = []
        for kinds, chance in orders:
            bag = state.bag[0].astype(int) - np.bincount(kinds, minlength=state.bag.shape[1])[: state.bag.shape[1]]
            longer += [([*kinds, kind], chance * bag[kind] / bag.sum()) for kind in np.flatnonzero(bag).tolist()]
        orders = longer
    children = played(state.select(np.zeros(len(orders), dtype=np.int64)), action, [kinds for kinds, _ in orders])
    return one_by_one(children, [chance for _, chance in orders])


def played(states: State, actions: int | np.ndarray, draws: list[list[int]] | None = None) -> State:
    """The games [n] after an action each, or all after the same, with these draws or any."""
    children = states.copy()
    script = None if draws is None else [kinds + [-1] * (states.rules.rack - len(kinds)) for kinds in draws]
    kernel.apply(children, np.broadcast_to(actions, len(states)), draws=script)
    return children


def one_by_one(states: State, chances: Iterable[float]) -> Iterator[tuple[State, float]]:
    return ((states.select(np.array([row])), chance) for row, chance in enumerate(chances))


def assert_solved_as_plainly(state: State, luck: bool) -> None:
    solution = solve(state)
    own = int(state.to_play[0]) % state.rules.tracks
    assert solution.actions.tolist() == legal(state)
    if luck:
        expected = [plain_values(state, action, own)[own] for action in solution.actions.tolist()]
    else:
        children = played(state.select(np.zeros(len(solution.actions), dtype=np.int64)), solution.actions)
        expected = plain_utilities_without_luck(children, own)[:, own]
    assert solution.values == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("rules", SMALL, ids=str)
def test_as_plainly_with_every_draw(rules: Rules) -> None:
    for game in range(len(states := late(rules, 5, 2))):
        assert_solved_as_plainly(states.select(np.array([game])), luck=True)


@pytest.mark.parametrize("rules", LARGE[:5], ids=str)
def test_as_plainly_where_draws_do_not_matter(rules: Rules) -> None:
    states = late(rules, 8, 1)
    states = State.concat([states, late(rules, 2, 2, seed=8)])
    for game in np.flatnonzero((states.phase == Phase.PLACE) | (most_placements_left(states) == 1))[:9]:
        assert_solved_as_plainly(states.select(np.array([game])), luck=False)


@pytest.mark.parametrize("rules", SMALL[3:4], ids=str)
def test_three_placements(rules: Rules) -> None:
    states = late(rules, 2, 3)
    assert_solved_as_plainly(states.select(np.array([0])), luck=True)


# All deals


@dataclass
class Deals:
    """States [n] that one seat cannot tell apart, and how likely each of them is [n]."""

    states: State
    chances: np.ndarray

    def after(self, action: int) -> "Deals":
        """After an action, whatever is drawn."""
        return Deals(played(self.states, action), self.chances)


def brute_force(deals: Deals) -> dict[int, float]:
    """The mover's value of each action over deals with their chances; it does not know which it is."""
    return {action: over_deals(deals, action) for action in legal(deals.states)}


def over_deals(deals: Deals, action: int) -> float:
    mover = int(deals.states.to_play[0])
    children = deals.after(action)
    if children.states.over[0]:
        return float(final_utilities(children.states)[0, mover])
    if children.states.to_play[0] == mover:
        return max(brute_force(children).values())
    each = one_by_one(deals.states, deals.chances.tolist())
    return sum(chance * replied(merged(after(state, action)), mover) for state, chance in each)


def merged(draws: Iterator[tuple[State, float]]) -> Deals:
    """The same tiles drawn in different orders taken together."""
    chances: dict[bytes, float] = {}
    states: dict[bytes, State] = {}
    for state, chance in draws:
        racks = np.sort(state.racks).tobytes()
        states.setdefault(racks, state)
        chances[racks] = chances.get(racks, 0.0) + chance
    return Deals(State.concat(list(states.values())), np.array([chances[racks] for racks in states]))


def replied(draws: Deals, mover: int) -> float:
    """The mover's value when the opponent plays as is best on average over the tiles that the mover has drawn."""
    results = []
    for action in legal(draws.states):
        children = draws.after(action)
        if children.states.over[0] or children.states.to_play[0] == mover:
            results.append(children.chances @ plain_utilities_without_luck(children.states, mover)[:, mover])
        else:
            results.append(replied(children, mover))
    return min(results)


def histories(hidden: Hidden, hand: tuple[int, ...]) -> int:
    """In how many ways, up to a factor, tiles were drawn so that the slots hold these kinds: of each kind those that
    the bag lost, times the number that was in it after every return (:mod:`genial_env.core.posterior`).
    """
    number = 1
    for kind, unseen in enumerate(hidden.unseen[0].tolist()):
        since = hidden.returned[0, :, kind]
        holds = np.array(hand) == kind
        number *= perm(unseen, int(holds.sum()))
        for newer in range(int(since.max())):
            number *= max(int(hidden.levels[0, kind, newer]) - int((holds & (since > newer)).sum()), 0)
    return number


def all_deals(state: State) -> Deals:
    """The deals of what the mover of a game for two does not see, with their chances."""
    other = 1 - int(state.to_play[0])
    hidden = hidden_tiles(view(state))
    hands = Counter[tuple[int, ...]]()
    for hand in product(range(state.tables.n_kinds), repeat=hidden.filled.shape[1]):
        hands[tuple(sorted(hand))] += histories(hidden, hand)
    hands = +hands
    deals = state.select(np.zeros(len(hands), dtype=np.int64))
    deals.racks[:, other] = list(hands)
    deals.bag[:] = [hidden.unseen[0] - np.bincount(hand, minlength=state.tables.n_kinds) for hand in hands]
    counts = np.array(list(hands.values()), dtype=np.float64)
    return Deals(deals, counts / counts.sum())


@pytest.mark.parametrize("rules", [Rules(2, side=4, colors=3, rack=3), Rules(2, side=3, colors=3, rack=4)], ids=str)
def test_chances_of_a_hidden_hand(rules: Rules) -> None:
    """After many swaps, against all hands one by one: of every hand, and of holding none of some kinds."""
    rng, told_of = np.random.default_rng(0), 0

    def look(state: State, twins: list[PlainGame]) -> None:
        nonlocal told_of
        for row in np.flatnonzero(~state.over & (state.phase != Phase.SWAP) & (rng.random(len(state)) < 0.4)).tolist():
            hidden = hidden_tiles(view(state, 0, np.array([row])))
            size, n_kinds = int(hidden.filled.sum()), state.tables.n_kinds
            ways = Counter[tuple[int, ...]]()
            for hand in product(range(n_kinds), repeat=size):
                held = np.full(rules.rack, -1)
                held[:size] = hand
                ways[tuple(np.bincount(hand, minlength=n_kinds).tolist())] += histories(hidden, tuple(held))
            total = ways.total()
            known = HiddenHand(hidden)
            told_of += bool(known.revealed.any())
            hands, chances = known.hands(np.arange(n_kinds))
            found = dict(zip(map(tuple, hands.tolist()), chances.tolist(), strict=True))
            assert found == pytest.approx({hand: number / total for hand, number in ways.items() if number})
            order = rng.permutation(n_kinds)
            none = [
                sum(number for hand, number in ways.items() if not any(hand[kind] for kind in order[:first])) / total
                for first in range(n_kinds + 1)
            ]
            assert known.none_probabilities(order) == pytest.approx(none)

    play_with_swaps(rules, games=6, seed=8, look=look)
    assert told_of >= 8


@pytest.mark.parametrize("shown", [False, True])
@pytest.mark.parametrize("rules", SMALL[:2], ids=str)
@pytest.mark.parametrize("phase", [Phase.PLACE, Phase.BONUS, Phase.SWAP])
def test_over_all_deals_one_by_one(rules: Rules, phase: Phase, shown: bool) -> None:
    """Also where swaps have shown that a rack cannot hold some tiles."""
    states = late(rules, 150, 2, seed=5)
    told = view(states).returned[:, 1:].any(axis=(1, 2, 3))
    fitting = np.flatnonzero((states.phase == phase) & (told == shown) & (most_placements_left(states) == 2))
    quickest = fitting[np.argsort(kernel.legal_count(states, fitting), kind="stable")]
    for game in quickest[:1]:
        assert_as_by_brute_force(states.select(np.array([game])))


def test_over_all_deals_with_three_placements_left() -> None:
    states = late(SMALL[0], 60, 3, seed=11)
    fitting = np.flatnonzero((states.phase == Phase.PLACE) & (most_placements_left(states) == 3))
    assert_as_by_brute_force(states.select(fitting[kernel.legal_count(states, fitting).argsort(kind="stable")[1:2]]))


def assert_as_by_brute_force(state: State) -> None:
    actions, values = value_over_all_deals(view(state))
    expected = brute_force(all_deals(state))
    assert dict(zip(actions.tolist(), values.tolist(), strict=True)) == pytest.approx(expected, abs=1e-9)


def test_over_all_deals_by_sampling() -> None:
    """The standard game: the mean over sampled deals, each solved."""
    states = late(Rules(), 20, 2, near_top=False)
    game = np.flatnonzero((states.phase == Phase.PLACE) & (most_placements_left(states) == 2))[0]
    state = states.select(np.array([game]))
    state.scores[:] = 10 + np.random.default_rng(1).integers(0, 3, size=state.scores.shape)
    actions, values = value_over_all_deals(view(state))
    assert len(np.unique(values.round(6))) > 2
    deals = determinize(view(state).select(np.zeros(400, dtype=np.int64)), np.random.default_rng(0))
    sampled = np.mean([solution.values for solution in solve_all(deals)], axis=0)
    assert np.abs(sampled - values).max() < 4 / 400**0.5
    assert actions.tolist() == np.flatnonzero(kernel.legal(state)[0]).tolist()


def test_most_placements_left() -> None:
    """Never less than any way to fill the board, and some way reaches it where few cells are left."""
    states = late(Rules(), 30, 4)
    most = most_placements_left(states)
    laid = np.zeros((40, len(states)), dtype=np.int64)
    for attempt in range(len(laid)):
        rest, rng = states.copy(), np.random.default_rng(attempt)
        while (live := np.flatnonzero(rest.phase <= Phase.BONUS)).size:
            rest.racks[live] = 0
            rest.scores[:] = 0
            rest.phase[live] = Phase.PLACE
            kernel.apply(rest, random_actions(rest, live, rng), live)
            rest.phase[~rest.over] = Phase.PLACE
            laid[attempt, live] += 1
    assert (laid.max(axis=0) == most).all()


def test_refusals() -> None:
    state = kernel.deal(Rules(), [1, 2])
    with pytest.raises(ValueError, match="one game"):
        solve(state)
    with pytest.raises(OutOfBudget, match="more than 10 positions"):
        solve(late(Rules(), 1, 2), budget=10)
    with pytest.raises(ValueError, match="one view"):
        value_over_all_deals(view(state))
    one = state.select(np.array([0]))
    with pytest.raises(ValueError, match="that of the seat to play"):
        value_over_all_deals(view(one, 1))
    with pytest.raises(ValueError, match="at most 3 placements left, not 42"):
        value_over_all_deals(view(one))
    one.phase[:] = Phase.OVER
    with pytest.raises(ValueError, match="over"):
        solve(one)


def test_what_swaps_have_shown_about_several_racks_is_refused() -> None:
    states = late(Rules(3), 20, 2, near_top=False)
    game = np.flatnonzero((states.phase == Phase.PLACE) & (most_placements_left(states) == 2))[0]
    seen = view(states.select(np.array([game])))
    other = np.setdiff1d(np.flatnonzero(seen.unseen[0]), seen.rack[0])
    seen.returned[0, 1, 0, other] = 1
    seen.levels[0, other, 0] = seen.unseen[0, other]
    with pytest.raises(ValueError, match="not all deals are equally likely"):
        value_over_all_deals(seen)
