"""Exact results of small games for two: values, best responses, exploitability, and an equilibrium.

    from genial_env.analysis.equilibrium import exploitability, policy_strategy, solve
    from genial_env.analysis.game_tree import build_tree
    from genial_env.core.minigames import MINI_GAMES

    tree = build_tree(MINI_GAMES["pairs"].start)
    print(exploitability(tree, policy_strategy(tree, make_policy("greedy"), samples=16)))

A *strategy* is an array [D] with the probability of each decision of both seats at its information set. The value of a
game is the expected rank utility of seat 0, from +1 to -1.

- The best response is exact. The beliefs about the hidden tiles follow from the strategy that it responds to, what its
  decisions tell about them included: every node counts with the probability that chance and the strategy lead to it.
- The equilibrium is computed by CFR+ (O. Tammelin, "Solving large imperfect information games using CFR+", 2014): with
  alternating updates and linear averaging. Its exploitability says how near it is.
"""

import numpy as np

from genial_env.analysis.game_tree import GameTree, canonical_actions
from genial_env.core import kernel
from genial_env.core.arrays import Floats, Ints
from genial_env.core.chance import bits
from genial_env.core.views import VIEW_SPECS
from genial_env.policies.base import Policy
from genial_env.policies.uniform import RandomPolicy

__all__ = [
    "best_response",
    "exploitability",
    "game_value",
    "policy_strategy",
    "solve",
    "uniform_strategy",
]

SEATS = (0, 1)


def uniform_strategy(tree: GameTree) -> Floats:
    """Return the strategy [D] that takes each decision of an information set with the same probability."""
    widths = np.diff(tree.first)
    strategy: Floats = np.repeat(1.0 / widths, widths)
    return strategy


def game_value(tree: GameTree, strategy: Floats) -> float:
    """Return the expected rank utility of seat 0 if both seats play a strategy [D]."""
    values = tree.utility.copy()
    for level in reversed(range(len(tree.levels))):
        _add_children(tree, level, values, strategy)
    return _mean_at_start(tree, values)


def best_response(tree: GameTree, strategy: Floats, seat: int) -> tuple[float, Floats]:
    """Compute the best response of a seat to the other's strategy.

    Args:
        tree: the game.
        strategy: [D] of which only the other seat's part is read.
        seat: the seat that responds.

    Returns:
        The seat's expected rank utility, and the strategy [D] in which it plays its best response.
    """
    played, weight = strategy.copy(), _reach_of_other(tree, strategy, seat)
    values = _utility_of(tree, seat)
    for level in reversed(range(len(tree.levels))):
        part = tree.decisions_of[level]
        if part.start < part.stop:
            worth = _compute_worth(tree, level, values, weight)
            own = tree.seat[tree.infoset_of_decision[part]] == seat
            played[part] = np.where(own, _pick_first_best(tree, level, worth), played[part])
        _add_children(tree, level, values, played)
    return _mean_at_start(tree, values), played


def exploitability(tree: GameTree, strategy: Floats) -> float:
    """Return how much a best response wins against a strategy [D] in rank utility: the mean over both seats.

    It is 0 for an equilibrium, and at most 1.
    """
    return float(np.mean([best_response(tree, strategy, seat)[0] for seat in SEATS]))


def solve(tree: GameTree, iterations: int = 200) -> Floats:
    """Compute an equilibrium by CFR+.

    Args:
        tree: the game.
        iterations: the number of iterations. The exploitability falls about in proportion to 1 / iterations, or faster.

    Returns:
        The average strategy [D].
    """
    regret, total = np.zeros(tree.n_decisions), np.zeros(tree.n_decisions)
    owner = tree.seat[tree.infoset_of_decision]
    for iteration in range(1, iterations + 1):
        for seat in SEATS:
            strategy = _normalize(tree, regret)
            weight, values = _reach_of_other(tree, strategy, seat), _utility_of(tree, seat)
            worth = np.empty(tree.n_decisions)
            for level in reversed(range(len(tree.levels))):
                worth[tree.decisions_of[level]] = _compute_worth(tree, level, values, weight)
                _add_children(tree, level, values, strategy)
            mean = np.add.reduceat(worth * strategy, tree.first[:-1])[tree.infoset_of_decision]
            own = owner == seat
            regret[own] = np.maximum(regret[own] + worth[own] - mean[own], 0)
            total[own] += iteration * (strategy * _own_reach(tree, strategy)[tree.infoset_of_decision])[own]
    return _normalize(tree, total)


def policy_strategy(
    tree: GameTree,
    policy: Policy,
    *,
    seat: int | None = None,
    against: Floats | None = None,
    samples: int = 1,
    seed: int = 0,
) -> Floats:
    """Ask a policy what it plays at the information sets.

    The policy sees a view of a position, with its rack in the order in which it was drawn. Information sets that its
    own decisions, or those of `against`, never lead to are not asked; there the strategy is uniform.

    Args:
        tree: the game.
        policy: the policy.
        seat: the seat that it plays; None: both.
        against: [D] the strategy of the other seat, which is also that of the result; None: any.
        samples: how often the policy is asked at an information set, each time with other random bits. Its strategy is
            how often it made each decision. For the policy "random" the true probabilities are taken.
        seed: of the random bits.

    Returns:
        The strategy [D].
    """
    strategy = uniform_strategy(tree) if against is None else against.copy()
    reached = np.ones(tree.n_infosets, dtype=np.bool_)
    if against is not None:
        for asked in SEATS if seat is None else (seat,):
            weight = np.bincount(tree.infoset + 1, _reach_of_other(tree, against, asked), tree.n_infosets + 1)[1:]
            reached &= (weight > 0) | (tree.seat != asked)
    if seat is not None:
        reached &= tree.seat == seat
    reached &= np.diff(tree.first) > 1
    own_reach = np.zeros(tree.n_decisions)
    for level in range(len(tree.levels)):
        sets = np.arange(tree.infosets_of[level].start, tree.infosets_of[level].stop)
        before = np.where(tree.previous[sets] < 0, 1.0, own_reach[tree.previous[sets]])
        asked_here = sets[(before > 0) & reached[sets]]
        if asked_here.size:
            _ask(tree, policy, asked_here, samples, seed, strategy)
        part = tree.decisions_of[level]
        own_reach[part] = strategy[part] * before[tree.infoset_of_decision[part] - tree.infosets_of[level].start]
    return strategy


def _ask(tree: GameTree, policy: Policy, sets: Ints, samples: int, seed: int, strategy: Floats) -> None:
    """Write what a policy plays at information sets [G] of one level into a strategy [D]."""
    if type(policy) is RandomPolicy:
        game, actions = np.nonzero(kernel.legal(tree.positions, sets))
        rows = sets[game]
    else:
        first, number = _find_different_views(tree, sets)
        asked = np.repeat(first, samples)
        random = bits(np.uint64(seed), (asked * samples + np.tile(np.arange(samples), len(first))).astype(np.uint64))
        chosen = kernel.as_actions(policy(tree.views(asked), random), len(asked))
        rows = np.repeat(sets, samples)
        actions = chosen.reshape(len(first), samples)[number].ravel()
    actions = canonical_actions(tree.positions, rows, actions)
    n_actions = tree.positions.tables.n_actions
    keys = tree.infoset_of_decision * n_actions + tree.action
    times = np.bincount(np.searchsorted(keys, rows * n_actions + actions), minlength=tree.n_decisions)
    total = np.add.reduceat(times, tree.first[:-1])[tree.infoset_of_decision]
    known = total > 0
    strategy[known] = times[known] / total[known]


def _find_different_views(tree: GameTree, sets: Ints) -> tuple[Ints, Ints]:
    """Return one of the information sets [G] for each different view, and the number of the view of each [G].

    A view has no history, so information sets at which the same position was reached in different ways have one view.
    """
    views = tree.views(sets)
    rows = np.concatenate(
        [np.asarray(getattr(views, name)).reshape(len(sets), -1).view(np.uint8) for name in VIEW_SPECS], axis=1
    )
    whole = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()
    _, first, number = np.unique(whole, return_index=True, return_inverse=True)
    return sets[first], number.ravel()


# Passes over the tree


def _utility_of(tree: GameTree, seat: int) -> Floats:
    """Return a copy of the utilities [n] of a seat."""
    return tree.utility.copy() if seat == 0 else -tree.utility


def _mean_at_start(tree: GameTree, values: Floats) -> float:
    roots = tree.levels[0]
    return float(tree.chance[roots] @ values[roots])


def _add_children(tree: GameTree, level: int, values: Floats, strategy: Floats) -> None:
    """Compute the values of the decisions of a level from those of their children, in place: values [n]."""
    for edges in tree.edges[level]:
        worth = edges.chance * strategy[edges.decision] * values[edges.children]
        values[edges.parents] += np.add.reduceat(worth, edges.starts)


def _compute_worth(tree: GameTree, level: int, values: Floats, weight: Floats) -> Floats:
    """Return the sum of the weighted values behind each decision of a level.

    Args:
        tree: the game.
        level: the level.
        values: [n] complete for all later nodes.
        weight: [n].
    """
    part = tree.decisions_of[level]
    worth = np.zeros(part.stop - part.start)
    for edges in tree.edges[level]:
        each = edges.chance * weight[edges.parent] * values[edges.children]
        worth += np.bincount(edges.decision - part.start, each, len(worth))
    return worth


def _reach_of_other(tree: GameTree, strategy: Floats, seat: int) -> Floats:
    """Return the probability that chance and the other seat lead to each node: [n]."""
    weight = tree.chance.copy()
    for level in range(len(tree.levels)):
        for edges in tree.edges[level]:
            by_other = tree.seat[tree.infoset[edges.parent]] != seat
            played = np.where(by_other, strategy[edges.decision], 1.0)
            weight[edges.children] = weight[edges.parent] * edges.chance * played
    return weight


def _own_reach(tree: GameTree, strategy: Floats) -> Floats:
    """Return the probability that its own decisions lead a seat to each information set: [I]."""
    reach, behind = np.ones(tree.n_infosets), np.empty(tree.n_decisions)
    for sets, part in zip(tree.infosets_of, tree.decisions_of, strict=True):
        before = tree.previous[sets]
        reach[sets] = np.where(before < 0, 1.0, behind[before])
        behind[part] = strategy[part] * reach[tree.infoset_of_decision[part]]
    return reach


def _pick_first_best(tree: GameTree, level: int, worth: Floats) -> Floats:
    """Return 1 for the decision of each information set of a level with the greatest worth, else 0."""
    part, sets = tree.decisions_of[level], tree.infosets_of[level]
    inside = tree.infoset_of_decision[part]
    order = np.lexsort((np.arange(len(worth)), -worth, inside))
    picked = np.zeros(len(worth))
    picked[order[tree.first[sets] - part.start]] = 1
    return picked


def _normalize(tree: GameTree, weights: Floats) -> Floats:
    """Return weights [D] divided by their sum at each information set; uniform where all are 0."""
    total = np.add.reduceat(weights, tree.first[:-1])[tree.infoset_of_decision]
    strategy: Floats = np.where(total > 0, weights / np.where(total > 0, total, 1.0), uniform_strategy(tree))
    return strategy
