"""Compiled implementation of :func:`genial_env.policies.value_search.predict_later`, which computes the same numbers.

Every decision is made without a view: the game is copied to a game that has what the seat to play knows
(:mod:`genial_env._compiled.seats`).
"""

from typing import Any, NamedTuple

import numpy as np

from genial_env._compiled.afterstates import describe_game, write_afterstate
from genial_env._compiled.choices import Ranking, arrival_value, rank_one, ranking_for
from genial_env._compiled.feature_buffers import Buffers, buffers_for
from genial_env._compiled.handover import arrays, facts, no_script, share
from genial_env._compiled.jit import Entry, helper
from genial_env._compiled.primitives import Array, Arrays, copy, fill, flat, sort
from genial_env._compiled.rules import (
    apply,
    may_decline,
    may_place,
    may_swap,
    seat_after,
    tiles_held,
)
from genial_env._compiled.scratch import Scratch, per_thread, scratch
from genial_env._compiled.seats import take_over, take_seat, two_games
from genial_env._compiled.value_net import Layers, Net, layers_for, net_arrays, predict_one, utility_of
from genial_env.core.arrays import Floats32, Ints
from genial_env.core.rules import Rules
from genial_env.core.scalar import OVER, PLACE, Facts, Games
from genial_env.core.state import State
from genial_env.policies import value_search
from genial_env.policies.afterstates.gains import denial_marker_values
from genial_env.policies.afterstates.layout import width
from genial_env.policies.base import Plan
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.prior import check_prior
from genial_env.policies.value_net import Outcomes, ValueNet


class Decision(NamedTuple):
    """Scratch buffers of one thread for a decision."""

    actions: Array  # [replies + 2] int64 the candidates
    others: Array  # [P - 1] int64 the number of tiles of each other seat
    features: Array  # [W] int16
    chances: Array  # [H, K] float32 the outcomes predicted after a candidate
    best_chances: Array  # [H, K] float32 those after the best one so far
    markers: Array  # [T, C] int8 sorted upwards


@per_thread
def decision_for(rules: Rules, replies: int) -> Arrays:
    """Return the scratch buffers of this thread."""
    outcomes = Outcomes(rules)
    made = Decision(
        actions=np.empty(replies + 2, np.int64),
        others=np.empty(max(rules.players - 1, 1), np.int64),
        features=np.empty(width(rules), np.int16),
        chances=np.empty((outcomes.heads, outcomes.classes), np.float32),
        best_chances=np.empty((outcomes.heads, outcomes.classes), np.float32),
        markers=np.empty((rules.tracks, rules.colors), np.int8),
    )
    return tuple(made)


@helper
def write_outcomes(o: Games, t: Facts, markers: Array, out: Array) -> None:
    """Write the outcomes of the finished one game to out [H, K]; `markers` [T, C] is a buffer.

    They are those of :meth:`genial_env.policies.value_net.Outcomes.of_scores`.
    """
    for track in range(t.n_tracks):
        sort(o.scores[0, track], markers[track])
    for head in range(out.shape[0]):
        row = out[head]
        fill(row, 0)
        if t.n_tracks == 1:
            row[markers[0, head]] = 1
            continue
        better, tied = np.int64(0), np.int64(0)
        for track in range(t.n_tracks):
            order = compare(markers[track], markers[head])
            better += order > 0
            tied += order == 0
        for k in range(better, better + tied):
            row[k] = np.float32(1.0 / np.float64(tied))


@helper
def compare(one: Array, other: Array) -> Any:
    """Return 1 if sorted markers rank above others, -1 if below, 0 if they tie."""
    for at in range(len(one)):
        if one[at] != other[at]:
            return 1 if one[at] > other[at] else -1
    return 0


class Player(NamedTuple):
    """What a thread needs to decide as the policy "value" does: a network, the prior of its candidates, and buffers."""

    before: Games  # one game, as the seat to play knows it
    after: Games  # the same after an action
    scratch: Scratch
    ranking: Ranking
    buffers: Buffers
    decision: Decision
    net: Net
    layers: Layers
    plan: Arrays  # of the prior
    arrival: int  # what the prior adds for an arrival
    values: Array  # [top + 1] the value of a marker


def player_for(rules: Rules, net: ValueNet, replies: int, plan: Plan) -> Arrays:
    """Return the player of this thread (:class:`Player`), in plain tuples."""
    return (
        *two_games(rules),
        scratch(rules),
        ranking_for(rules, replies),
        buffers_for(rules),
        decision_for(rules, replies),
        net_arrays(net),
        layers_for(net),
        tuple(plan),
        arrival_value(rules),
        denial_marker_values(rules),
    )


@helper
def decide(s: Games, t: Facts, g: int, p: Player) -> Any:
    """Return the action that the network values highest; write the outcomes predicted after it to `best_chances`."""
    d = p.decision
    take_seat(s, t, g, p.before)
    for other in range(1, t.n_players):
        d.others[other - 1] = tiles_held(s, t, g, seat_after(t, s.to_play[g], other))
    n_found = list_candidates(s, t, g, p)
    describe_game(p.before, t, p.buffers, p.values)
    best, highest = np.int64(-1), np.float32(0)
    for i in range(n_found):
        write_afterstate(p.before, p.after, t, p.buffers, p.values, d.actions[i], d.others, d.features)
        if p.after.phase[0] == OVER:
            write_outcomes(p.after, t, d.markers, d.chances)
        else:
            predict_one(t, p.net, p.layers, d.features, d.chances)
        utility = utility_of(p.net, d.chances)
        if best < 0 or utility > highest:
            best, highest = d.actions[i], utility
            copy(flat(d.chances), flat(d.best_chances))
    return best


@helper
def list_candidates(s: Games, t: Facts, g: int, p: Player) -> Any:
    """Write the actions that :func:`genial_env.policies.afterstates.candidates` returns; return how many they are."""
    actions, n_found = p.decision.actions, 0
    if may_place(s, g):
        placements = actions[: len(actions) - 2]
        n_found = rank_one(p.before, t, 0, p.plan, p.arrival, p.scratch, p.ranking, placements)
    if may_swap(s, g):
        actions[n_found] = t.swap_action
        n_found += 1
    if may_decline(s, t, g):
        actions[n_found] = t.decline_action
        n_found += 1
    return n_found


@Entry
def play_to_turn(
    state: Arrays,
    facts: Arrays,
    player: Arrays,
    script: Array,
    seats: Array,
    turns: int,
    out: Array,
    lo: int,
    hi: int,
) -> None:
    """Play games on, in place, and write the outcomes predicted for a seat at a later turn to out [B, H, K].

    Args:
        state: B games.
        facts: of their rules.
        player: plays all seats.
        script: of no scripted draws.
        seats: [B] the seats.
        turns: the turn of the seat at which a game is evaluated.
        out: [B, H, K].
        lo: the first game.
        hi: the game behind the last one.
    """
    s, t = Games(*state), Facts(*facts)
    before, after, buffers_1, buffers_2, buffers_3, buffers_4, net, layers, plan, arrival, values = player
    p = Player(
        Games(*before),
        Games(*after),
        Scratch(*buffers_1),
        Ranking(*buffers_2),
        Buffers(*buffers_3),
        Decision(*buffers_4),
        Net(*net),
        Layers(*layers),
        plan,
        arrival,
        values,
    )
    chances = p.decision.best_chances
    for g in range(lo, hi):
        reached, seat = np.int64(0), seats[g]
        while s.phase[g] != OVER:
            reached += s.to_play[g] == seat and s.phase[g] == PLACE
            action = decide(s, t, g, p)
            if reached == turns:
                break
            apply(s, t, g, action, script)
        if s.phase[g] == OVER:
            take_over(s, t, g, seat, p.after)
            write_outcomes(p.after, t, p.decision.markers, chances)
        copy(flat(chances), flat(out[g]))


@value_search.predict_later.compiled
def predict_later(
    threads: int,
    state: State,
    seats: Ints,
    net: ValueNet,
    replies: int,
    turns: int,
    prior: HeuristicPolicy | None = None,
) -> Floats32:
    """Compute it in compiled code; in numpy if the prior has no plan."""
    rules, outcomes, plan = state.rules, net.outcomes, check_prior(prior).plan(state.rules)
    if plan is None:
        return value_search.predict_later.numpy(state, seats, net, replies, turns, prior)
    out = np.empty((len(state), outcomes.heads, outcomes.classes), dtype=np.float32)
    game = arrays(state), facts(rules)
    how = no_script(rules)[0], np.ascontiguousarray(seats), turns, out

    def work(lo: int, hi: int) -> None:
        play_to_turn(*game, player_for(rules, net, replies, plan), *how, lo, hi)

    share(threads, len(state), work, fewest=1)
    return out
