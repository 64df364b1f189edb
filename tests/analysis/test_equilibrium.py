"""Exact results of small games: against enumeration in plain Python, against OpenSpiel, and against what agents win."""

from collections import defaultdict
from itertools import product

import numpy as np
import pytest

from genial_env import Rules, make_policy
from genial_env.analysis.equilibrium import (
    best_response,
    exploitability,
    game_value,
    policy_strategy,
    solve,
    uniform_strategy,
)
from genial_env.analysis.game_tree import GameTree, build_tree
from genial_env.analysis.learned_response import learn_response
from genial_env.core import kernel
from genial_env.core.arrays import Floats
from genial_env.core.state import Phase, State
from genial_env.core.tables import tables
from genial_env.policies.exploit_search import ExploitSearch


def late_position(free: int, seed: int, colors: int = 2, markers: tuple[int, int] = (0, 18)) -> State:
    """A position at the beginning of a turn with so many free cells, reached by random play, with random markers."""
    rng, state = np.random.default_rng(seed), kernel.deal(Rules(side=3, colors=colors, rack=2), seeds=[seed])
    while (state.board[0] == -1).sum() > free or state.phase[0] != Phase.PLACE:
        kernel.apply(state, np.array([rng.choice(np.flatnonzero(kernel.legal(state)[0]))]))
    state.scores[:] = rng.integers(*markers, state.scores.shape)
    return state


def short_game(kinds: dict[int, int], scores: list[list[int]], free: tuple[int, ...] = (8, 9, 10, 13, 14)) -> State:
    """A position with six colors, in which few cells are free and the bag holds a few tiles."""
    rules = Rules(side=3, rack=2)
    t = tables(rules)
    board = np.arange(t.n_cells) % 3
    board[t.start_symbols], board[list(free)] = np.arange(6), -1
    bag = np.bincount(list(kinds), list(kinds.values()), t.n_kinds).astype(np.int64)
    return kernel.position(rules, board, scores=scores, racks=-1, bag=bag, any_tiles=True)


def values_by_hand(tree: GameTree, strategy: Floats) -> float:
    """Seat 0's expected utility, by a recursion over the nodes."""
    children = defaultdict(list)
    for level in tree.edges:
        for edges in level:
            for at, parent in enumerate(edges.parent.tolist()):
                children[parent].append((edges.first_child + at, int(edges.decision[at]), float(edges.chance[at])))

    def value(node: int) -> float:
        if tree.infoset[node] < 0:
            return float(tree.utility[node])
        return sum(chance * strategy[decision] * value(child) for child, decision, chance in children[node])

    roots = range(tree.levels[0].start, tree.levels[0].stop)
    return sum(float(tree.chance[root]) * value(root) for root in roots)


@pytest.fixture(scope="module")
def tiny() -> GameTree:
    return build_tree(late_position(free=4, seed=1, markers=(5, 9)))


def test_a_learner_finds_the_best_response() -> None:
    tree = build_tree(short_game({0: 3, 1: 2, 7: 2}, [[5, 5, 5, 18, 18, 18], [6, 5, 5, 18, 18, 18]]))
    strategy = uniform_strategy(tree)
    for seat, sign in ((0, 1), (1, -1)):
        best, _ = best_response(tree, strategy, seat)
        learned = learn_response(tree, strategy, seat, games=40_000, seed=1)
        other = tree.seat[tree.infoset_of_decision] != seat
        np.testing.assert_array_equal(learned[other], strategy[other])
        assert set(learned[~other].tolist()) <= {0.0, 1.0}
        assert best - 0.05 < sign * game_value(tree, learned) <= best + 1e-9
        few = learn_response(tree, strategy, seat, games=1, seed=1)
        assert sign * game_value(tree, few) < sign * game_value(tree, learned)
        np.testing.assert_array_equal(learn_response(tree, strategy, seat, games=1, seed=1), few)


def test_a_learner_needs_a_seat_and_games(tiny: GameTree) -> None:
    with pytest.raises(ValueError, match="seat must be"):
        learn_response(tiny, uniform_strategy(tiny), 2)
    with pytest.raises(ValueError, match="games must be"):
        learn_response(tiny, uniform_strategy(tiny), 0, games=0)


def test_a_best_response_is_the_best_of_all_pure_strategies(tiny: GameTree) -> None:
    """Against a strategy that is no mixture of equal parts, for both seats, by enumeration."""
    rng = np.random.default_rng(0)
    strategy = rng.random(tiny.n_decisions)
    strategy /= np.add.reduceat(strategy, tiny.first[:-1])[tiny.infoset_of_decision]
    for seat in (0, 1):
        own = np.flatnonzero(tiny.seat == seat)
        widths = np.diff(tiny.first)[own]
        assert np.prod(widths) < 2000
        found = []
        for choice in product(*map(range, widths)):
            pure = strategy.copy()
            for infoset, picked in zip(own.tolist(), choice, strict=True):
                pure[tiny.first[infoset] : tiny.first[infoset + 1]] = 0
                pure[tiny.first[infoset] + picked] = 1
            found.append(values_by_hand(tiny, pure) * (1 if seat == 0 else -1))
        value, played = best_response(tiny, strategy, seat)
        assert value == pytest.approx(max(found))
        assert game_value(tiny, played) * (1 if seat == 0 else -1) == pytest.approx(value)


def test_chance_and_strategies_are_probabilities() -> None:
    tree = build_tree(short_game({0: 3, 1: 2, 7: 2}, [[5, 5, 5, 18, 18, 18], [6, 5, 5, 18, 18, 18]]))
    assert tree.chance[tree.levels[0]].sum() == pytest.approx(1)
    ends = tree.infoset < 0
    reach = tree.chance.copy()
    strategy = uniform_strategy(tree)
    for level in tree.edges:
        for edges in level:
            reach[edges.children] = reach[edges.parent] * edges.chance * strategy[edges.decision]
    assert reach[ends].sum() == pytest.approx(1)
    assert game_value(tree, strategy) == pytest.approx(values_by_hand(tree, strategy))


def test_openspiel_finds_the_same() -> None:
    """Its uniformly random policy has the same value and the same exploitability."""
    pytest.importorskip("pyspiel", reason="needs open_spiel: pip install -e '.[openspiel]'")
    from open_spiel.python import policy
    from open_spiel.python.algorithms import expected_game_score
    from open_spiel.python.algorithms import exploitability as openspiel_exploitability

    from genial_env.envs import openspiel

    position = late_position(free=4, seed=1, markers=(12, 18))
    tree, game = build_tree(position), openspiel.start_at(position)
    ours, theirs = policy_strategy(tree, make_policy("random")), policy.UniformRandomPolicy(game)
    value = expected_game_score.policy_value(game.new_initial_state(), [theirs] * 2)[0]
    assert game_value(tree, ours) == pytest.approx(value)
    assert exploitability(tree, ours) == pytest.approx(openspiel_exploitability.exploitability(game, theirs))


def test_an_equilibrium_cannot_be_exploited() -> None:
    tree = build_tree(short_game({0: 3, 1: 2, 7: 2}, [[5, 5, 5, 18, 18, 18], [6, 5, 5, 18, 18, 18]]))
    equilibrium = solve(tree, 100)
    assert 0 <= exploitability(tree, equilibrium) < 1e-3
    assert exploitability(tree, uniform_strategy(tree)) > 0.05


def test_nobody_wins_more_than_the_best_response() -> None:
    """Neither an agent nor the search that asks its opponent; and the search wins at least something near it."""
    tree = build_tree(short_game({0: 3, 1: 2, 7: 2}, [[5, 5, 5, 18, 18, 18], [6, 5, 5, 18, 18, 18]]))
    greedy = policy_strategy(tree, make_policy("greedy"), samples=4)
    for seat, sign in ((0, 1), (1, -1)):
        best = best_response(tree, greedy, seat)[0]
        for policy in (make_policy("denial"), ExploitSearch("greedy", 600, candidates=30, turns=2)):
            found = policy_strategy(tree, policy, seat=seat, against=greedy)
            assert sign * game_value(tree, found) <= best + 1e-9
        assert sign * game_value(tree, found) > best - 0.05


def test_what_is_no_small_game_for_two_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 100 nodes"):
        build_tree(late_position(free=5, seed=5, markers=(12, 18)), most_nodes=100)
    with pytest.raises(ValueError, match="for two seats, not for 3"):
        build_tree(kernel.deal(Rules(3), [0]))
    with pytest.raises(ValueError, match="one position, not 2"):
        build_tree(kernel.deal(Rules(), [0, 1]))
