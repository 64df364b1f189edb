"""Compiled implementation of :mod:`genial_env.policies.afterstates.states`, which computes the same numbers.

It plays actions on a copy of one game with the compiled rules.
"""

import numpy as np

from genial_env._compiled.cells import describe_cells, describe_cells_of_color, find_removed, remove_cells
from genial_env._compiled.feature_buffers import Buffers, buffers_for
from genial_env._compiled.features import write_constants, write_features
from genial_env._compiled.handover import arrays, facts, share
from genial_env._compiled.jit import Entry, helper
from genial_env._compiled.lines import count_patterns, recount_patterns
from genial_env._compiled.primitives import Array, Arrays, copy, flat
from genial_env._compiled.rules import apply_without_draw, is_placing, split_action
from genial_env._compiled.seats import take_over, two_games
from genial_env.core.scalar import OVER, Facts, Games
from genial_env.core.views import View
from genial_env.policies.afterstates import states
from genial_env.policies.afterstates.gains import denial_marker_values
from genial_env.policies.afterstates.states import Afterstates, make_states


@Entry
def fill_features(
    state: Arrays,
    facts: Arrays,
    before: Arrays,
    after: Arrays,
    buffers: Arrays,
    values: Array,
    game: Array,
    actions: Array,
    others: Array,
    features: Array,
    over: Array,
    scores: Array,
    lo: int,
    hi: int,
) -> None:
    """Write the afterstates of actions [n] of some games [n].

    Args:
        state: G games, as :func:`genial_env.policies.afterstates.states.make_states` makes them.
        facts: of their rules.
        before: a state of one game, to copy games to.
        after: another one, to play on.
        buffers: scratch buffers.
        values: [top + 1] the value of a marker.
        game: [n] indices of games. Fastest if the actions of a game follow each other.
        actions: [n].
        others: [G, P - 1] how many tiles the other seats hold.
        features: [n, W] out.
        over: [n] out: whether the game is over.
        scores: [n, T, C] out.
        lo: the first index in `actions`.
        hi: the index behind the last one.
    """
    s, t, p, o, r = Games(*state), Facts(*facts), Games(*before), Games(*after), Buffers(*buffers)
    last = -1
    for i in range(lo, hi):
        g = game[i]
        if g != last:
            take_over(s, t, g, 0, p)
            describe_game(p, t, r, values)
            last = g
        write_afterstate(p, o, t, r, values, actions[i], others[g], features[i])
        over[i] = o.phase[0] == OVER
        copy(flat(o.scores), flat(scores[i]))


@helper
def describe_game(p: Games, t: Facts, r: Buffers, values: Array) -> None:
    """Compute what the afterstates of the one game have in common: what its cells offer, and some features."""
    describe_cells(p, t, r, values)
    write_constants(p, t, r, r.constants)
    count_patterns(p, t, r, r.constants)


@helper
def write_afterstate(
    p: Games, o: Games, t: Facts, r: Buffers, values: Array, action: int, others: Array, out: Array
) -> None:
    """Play an action of the game `p` in the game `o`, and write its features to out [W].

    `p` must have been described (:func:`describe_game`).
    """
    take_over(p, t, 0, 0, o)
    apply_without_draw(o, t, 0, action)
    copy(flat(r.before), flat(r.numbers))
    copy(flat(r.counts_before), flat(r.counts))
    copy(r.constants, out)
    n_fitting, n_pairs, n_free = r.sizes[0], r.sizes[1], r.sizes[2]
    n_removed = 0
    if is_placing(t, action):
        slot, placement = split_action(t, action)
        kind = p.racks[0, 0, slot]
        a, b = np.int64(t.kinds[kind, 0]), np.int64(t.kinds[kind, 1])
        first, second = np.int64(t.cells[placement, 0]), np.int64(t.cells[placement, 1])
        for half in range(2 - np.int64(a == b)):
            describe_cells_of_color(o, t, r, values, b if half else a, r.numbers, r.counts)
        recount_patterns(p, o, t, r, first, second, out)
        one, other = np.int64(t.grid_index[first]), np.int64(t.grid_index[second])
        n_free -= 2
        n_pairs -= np.int64(r.beside[one]) + r.beside[other] - 1
        n_removed = find_removed(r, one, other)
        n_fitting -= n_removed
        remove_cells(t, r, n_removed)
    elif action == t.swap_action:
        write_constants(o, t, r, out)
    write_features(o, t, r, others, n_removed, n_fitting, n_pairs, n_free, out)


@states.fill_afterstates.compiled
def fill_afterstates(threads: int, view: View, made: Afterstates) -> None:
    """Compute it in compiled code."""
    rules = view.rules
    game = arrays(make_states(view)), facts(rules)
    others = np.ascontiguousarray(view.rack_sizes[:, 1:])
    games, actions = np.ascontiguousarray(made.game), np.ascontiguousarray(made.actions)
    wanted = games, actions, others, made.features, made.over.view(np.uint8), made.scores
    values = denial_marker_values(rules)

    def work(lo: int, hi: int) -> None:
        fill_features(*game, *two_games(rules), buffers_for(rules), values, *wanted, lo, hi)

    share(threads, len(made), work)
