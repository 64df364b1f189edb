"""What a seat cannot see is dealt as the rules and all that it has seen say: against counting histories of draws, and
against real games.
"""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from genial_env import Rules, State, determinize, view
from genial_env.core import kernel, posterior
from genial_env.core.determinization import hidden_tiles
from genial_env.core.posterior import Hidden
from genial_env.core.state import EMPTY, LEVELS, Phase
from genial_env.core.views import View
from tests.core.test_reference_games import action_words, drawn, tiles
from tests.positions import random_actions
from tests.reference import PlainGame

SMALL = [
    Rules(2, side=3, colors=3, rack=2),
    Rules(2, side=4, colors=3, rack=3),
    Rules(2, side=4, colors=4, rack=2),
    Rules(3, "2009", side=4, colors=3, rack=2),
    Rules(4, "2004", "team", side=3, colors=2, rack=2),
]


def play_with_swaps(
    rules: Rules, games: int, seed: int, look: Callable[[State, list[PlainGame]], None], share: float = 0.3
) -> None:
    """Random games, with reference games beside them, in which many a turn is a swap whether or not the rack allows it;
    all that is offered is made or declined by chance.
    """
    state, rng = kernel.deal(rules, np.arange(seed, seed + games)), np.random.default_rng(seed)
    words = action_words(rules)
    references = [
        PlainGame(
            [tiles(rules, rack) for rack in racks],
            players=rules.players,
            edition=rules.edition,
            mode=rules.mode,
            side=rules.side,
            colors=rules.colors,
            rack=rules.rack,
            tile_sets=rules.tile_sets,
        )
        for racks in state.racks
    ]
    while not state.over.all():
        rows = np.flatnonzero(~state.over)
        swapping = (rng.random(len(rows)) < share) & (state.phase[rows] == Phase.PLACE)
        state.phase[rows[swapping]] = Phase.SWAP
        actions = np.where(swapping, state.tables.swap_action, random_actions(state, rows, rng))
        before = state.racks.copy()
        kernel.apply(state, actions, rows)
        for row, action, forced in zip(rows.tolist(), actions.tolist(), swapping.tolist(), strict=True):
            reference, seat = references[row], references[row].to_play
            reference.phase = "swap" if forced else reference.phase
            reference.step(words[action], drawn(state, row, seat, before[row, seat], action))
        look(state, references)


def seen_order(state: State, row: int, seat: int) -> list[int]:
    """The filled slots of a seat, the longest filled first, as a view has them."""
    ages = state.returned[row, seat].sum(axis=1, dtype=np.int64)
    order = np.argsort(-ages, kind="stable")
    return [int(slot) for slot in order if state.racks[row, seat, slot] != EMPTY]


def counted(state: State, row: int, reference: PlainGame, viewer: int) -> dict[tuple[int, ...], float]:
    """The probability of every deal of the filled slots, in the order of the view, by counting histories."""
    rules, t = state.rules, state.tables
    others = [(viewer + ahead) % rules.players for ahead in range(1, rules.players)]
    wanted = [(seat, slot) for seat in others for slot in seen_order(state, row, seat)]
    places = [reference.hidden_slots(viewer).index(slot) for slot in wanted]
    ways = reference.deals(viewer)
    total = sum(ways.values())
    return {tuple(int(t.kind_of[deal[p]]) for p in places): number / total for deal, number in ways.items()}


def sampled_exactly(hidden: Hidden) -> tuple[dict[tuple[int, ...], float], float]:
    """The probability of every deal of one game that the sampler has, and how often it keeps one."""
    plan = posterior.make_plan(hidden)
    slots = np.flatnonzero(hidden.filled[0])
    n_kinds = hidden.unseen.shape[1]
    all_kinds = np.stack(np.meshgrid(*[np.arange(n_kinds)] * len(slots), indexing="ij"), axis=-1)
    wanted = np.full((n_kinds ** len(slots), hidden.filled.shape[1]), EMPTY)
    wanted[:, slots] = all_kinds.reshape(-1, len(slots))
    proposed = np.ones(len(wanted))
    rows = np.arange(len(wanted))

    def choose(turn: int, upto: np.ndarray) -> np.ndarray:
        kinds = wanted[:, plan.order[0, turn]]
        weights = np.diff(upto, axis=1, prepend=0)
        possible = proposed > 0
        assert (upto[possible, -1] <= plan.bounds[0, turn] * (1 + 1e-9)).all()
        share = weights[rows, kinds] / np.where(upto[:, -1] > 0, upto[:, -1], 1)
        proposed[:] *= share
        return np.where(share > 0, kinds, (upto > 0).argmax(axis=1))

    hands, _, keep = posterior.deal(plan, np.zeros(len(wanted), dtype=np.int64), choose)
    found = proposed * keep
    assert (hands[found > 0] == wanted[found > 0]).all()
    kept = float(found.sum())
    deals = {tuple(hand[slots].tolist()): chance / kept for hand, chance in zip(wanted, found, strict=True) if chance}
    return deals, kept


@pytest.mark.parametrize("rules", SMALL, ids=str)
def test_every_deal_is_as_likely_as_it_has_histories(rules: Rules) -> None:
    """Exactly, at many positions of games with swaps in which returned kinds are drawn again."""
    rng = np.random.default_rng(0)
    reached = Counter[str]()

    def look(state: State, references: list[PlainGame]) -> None:
        for row in np.flatnonzero(rng.random(len(state)) < 0.35).tolist():
            viewer = int(rng.integers(rules.players))
            hidden = hidden_tiles(view(state, viewer, np.array([row])))
            expected = counted(state, row, references[row], viewer)
            found, kept = sampled_exactly(hidden)
            assert found == pytest.approx(expected, abs=1e-12)
            assert set(found) == set(expected)
            assert kept > 0.05
            reached["told by returns"] += bool((hidden.returned > 0).any())
            reached["limited"] += bool(hidden.limited.any())

    play_with_swaps(rules, games=6, seed=5, look=look)
    assert reached["told by returns"] >= 15
    assert reached["limited"] >= 1


def test_the_sampler_draws_from_these_probabilities() -> None:
    """Its random numbers, at one position where weights differ: chi-square over all deals."""
    found: list[tuple[View, dict[tuple[int, ...], float]]] = []

    def look(state: State, references: list[PlainGame]) -> None:
        hidden = hidden_tiles(view(state, 0))
        for row in np.flatnonzero(hidden.uneven & (hidden.filled.sum(axis=1) == 3)).tolist():
            deals, kept = sampled_exactly(hidden.select(np.array([row])))
            if kept < 0.95 and len(found) < 3:
                found.append((view(state, 0, np.array([row])), deals))

    play_with_swaps(SMALL[1], games=6, seed=1, look=look)
    assert len(found) == 3
    n = 4000
    for seen, deals in found:
        racks = determinize(seen.select(np.zeros(n, dtype=np.int64)), np.random.default_rng(2)).racks[:, 1]
        assert set(map(tuple, racks.tolist())) <= set(deals)
        expected = n * np.array(list(deals.values()))
        counts = np.array([(racks == deal).all(axis=1).sum() for deal in deals])
        often = expected >= 5
        sums = [np.append(values[often], values[~often].sum()) for values in (counts, expected)]
        degrees = int(often.sum())
        assert ((sums[0] - sums[1]) ** 2 / np.maximum(sums[1], 1)).sum() < degrees + 4 * np.sqrt(2 * degrees)


def test_a_returned_tile_drawn_again() -> None:
    """Two RR are out of sight of seat 0. Seat 1 swaps one of them away, seat 0 draws one. The two slots of seat 1 hold
    the other RR in 3 ways, at each of which 1 RR was in the bag after the swap, and do not in 3 ways, with 2 RR.
    """
    rules = Rules(2, side=4, colors=4, rack=2)
    rr, returned, a, b, c = 0, 3, 7, 8, 9
    bag = np.bincount([rr, a, b, c], minlength=10)
    racks = np.array([[[1, 2], [rr, returned]]])
    board = kernel.undealt(rules).board
    state = kernel.position(rules, board, racks=racks, bag=bag, to_play=1, phase=Phase.SWAP)
    kernel.apply(state, [state.tables.swap_action], draws=[[a, b]])
    assert state.levels[0, rr].tolist() == [2, *[0] * (LEVELS - 1)]
    assert state.returned[0, :, :, rr].tolist() == [[1, 1], [1, 1]]
    kernel.apply(state, [int(np.flatnonzero(kernel.legal(state)[0])[0])], draws=[[rr, -1]])
    seen = view(state, 0)
    assert seen.unseen[0, rr] == 1
    assert seen.returned[0, :, :, rr].tolist() == [[0, 1], [1, 1]]
    deals, _ = sampled_exactly(hidden_tiles(seen))
    assert sum(chance for deal, chance in deals.items() if rr in deal) == pytest.approx(1 / 3)
    assert not any(returned in deal for deal in deals)
    racks = determinize(seen.select(np.zeros(3000, dtype=np.int64)), np.random.default_rng(0)).racks[:, 1]
    assert abs((racks == rr).any(axis=1).mean() - 1 / 3) < 4 * np.sqrt(2 / 9 / 3000)


def test_a_tile_that_leaves_an_old_slot_is_accounted_for() -> None:
    """What a return left counts only tiles that nobody has seen since."""
    rules = Rules(2, side=4, colors=4, rack=2)
    rr, gg, a, b = 0, 4, 7, 8
    racks = np.array([[[rr, gg], [rr, a]]])
    state = kernel.position(
        rules, kernel.undealt(rules).board, racks=racks, bag=np.full(10, 2), to_play=1, phase=Phase.SWAP
    )
    kernel.apply(state, [state.tables.swap_action], draws=[[b, rr]])
    assert state.levels[0, rr, :2].tolist() == [4, 0]  # two in the bag, one in each rack
    lay = int(np.flatnonzero(kernel.legal(state)[0])[0])
    kernel.apply(state, [lay], draws=[[rr, -1]])  # seat 0 lays its RR, and draws one that may be the returned one
    assert state.levels[0, rr, :2].tolist() == [3, 0]
    assert view(state, 1).levels[0, rr, 0] == 3
    assert hidden_tiles(view(state, 1)).levels[0, rr, 0] == 2  # without the one that it holds itself
    assert hidden_tiles(view(state, 0)).levels[0, rr, 0] == 3


def test_real_games_deal_what_is_dealt_anew() -> None:
    """Games in which no choice depends on a rack (slots and placements by chance, turns swapped by chance, no offer
    taken). Given what seat 0 sees, the truth and a determinization must then be alike: here in how many slots of seat 1
    hold a kind that was returned after they were filled, over all and where the kind has been drawn again.
    """
    rules, games = Rules(2, side=4, colors=3, rack=3), 3000
    state, rng = kernel.deal(rules, np.arange(games)), np.random.default_rng(4)
    for _ in range(14):
        rows = np.flatnonzero(~state.over)
        offered = state.phase[rows] == Phase.SWAP
        swapping = (rng.random(len(rows)) < 0.3) & (state.phase[rows] == Phase.PLACE)
        state.phase[rows[swapping]] = Phase.SWAP
        actions = np.where(swapping, state.tables.swap_action, random_actions(state, rows, rng))
        kernel.apply(state, np.where(offered, state.tables.decline_action, actions), rows)
    rows = np.flatnonzero(~state.over & (state.phase == Phase.PLACE))
    seen = view(state, 0, rows)
    hidden = hidden_tiles(seen)
    again = (hidden.levels[:, :, 0] > seen.unseen)[:, None]
    order = [seen_order(state, row, 1) for row in rows.tolist()]
    true = np.array([state.racks[row, 1, slots].tolist() for row, slots in zip(rows.tolist(), order, strict=True)])
    rounds = 10
    for which in (hidden.returned > 0, (hidden.returned > 0) & again):
        truth = np.take_along_axis(which, true[:, :, None].astype(np.int64), axis=2).sum(axis=(1, 2))
        mean = np.zeros(len(rows))
        for number in range(rounds):
            racks = determinize(seen, np.random.default_rng(number)).racks[:, 1]
            mean += np.take_along_axis(which, racks[:, :, None].astype(np.int64), axis=2).sum(axis=(1, 2)) / rounds
        assert truth.sum() > 150
        difference = truth - mean
        assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(len(rows))


def test_more_returns_than_are_kept() -> None:
    """Seat 0 swaps over and over. The oldest returns are forgotten; the true racks stay possible, as every view has
    deals and the count of no return falls to 0.
    """
    rules = Rules(2, side=6, colors=2, tile_sets=12)
    state, rng = kernel.deal(rules, np.arange(6)), np.random.default_rng(0)
    for turn in range(14):
        if turn < 9:
            state.to_play[:], state.phase[:] = 0, Phase.SWAP
            actions = np.full(6, state.tables.swap_action)
        else:
            state.phase[:] = Phase.PLACE
            actions = random_actions(state, np.arange(6), rng)
        kernel.apply(state, actions)
        for seat in range(2):
            seen = view(state, seat)
            possible = determinize(seen, rng)
            assert (view(possible, seat).levels == seen.levels).all()
            assert (possible.bag.sum(axis=1) == state.bag.sum(axis=1)).all()
        if turn == 8:
            assert (state.returned[:, 1].max(axis=2) == LEVELS).all()
            assert (state.levels > 0).all(axis=2).any()
