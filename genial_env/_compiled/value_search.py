"""Compiled implementation of :func:`genial_env.policies.value_search.predict_later`, which computes the same numbers.

Every decision is made without a view: the game is copied to a game of one seat, which has what that seat knows, as
:func:`genial_env.policies.afterstates.make_states` makes it of a view.
"""

import threading
from typing import Any, NamedTuple

import numpy as np

from genial_env._compiled.afterstates import Buffers, buffers_for, describe_cells, rank_one, two_games, write_afterstate
from genial_env._compiled.handover import arrays, facts, no_script, scratch, share
from genial_env._compiled.jit import Entry, helper
from genial_env._compiled.primitives import Array, Arrays, copy
from genial_env._compiled.rules import (
    add_hidden_tiles,
    apply,
    may_decline,
    may_place,
    may_swap,
    seat_after,
    tiles_held,
    track_of,
)
from genial_env._compiled.scratch import Scratch
from genial_env._compiled.value_net import Layers, Net, layers_for, net_arrays, predict_one, utility_of
from genial_env.core.arrays import Floats32, Ints
from genial_env.core.rules import Rules
from genial_env.core.scalar import OVER, PLACE, Facts, Games
from genial_env.core.state import State
from genial_env.policies import value_search
from genial_env.policies.afterstates import denial_marker_values, width
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.prior import STOP_VALUE
from genial_env.policies.value import Outcomes, ValueNet


class Decision(NamedTuple):
    """Scratch buffers of one thread for a decision."""

    actions: Array  # [replies + 2] int64 the candidates
    others: Array  # [P - 1] int64 the number of tiles of each other seat
    features: Array  # [W] int16
    chances: Array  # [H, K] float32 the outcomes predicted after a candidate
    best_chances: Array  # [H, K] float32 those after the best one so far
    markers: Array  # [T, C] int8 sorted upwards


def make_decision(rules: Rules, replies: int) -> Arrays:
    """Allocate the scratch buffers of one thread."""
    outcomes = Outcomes(rules)
    return Decision(
        actions=np.empty(replies + 2, np.int64),
        others=np.empty(max(rules.players - 1, 1), np.int64),
        features=np.empty(width(rules), np.int16),
        chances=np.empty((outcomes.heads, outcomes.classes), np.float32),
        best_chances=np.empty((outcomes.heads, outcomes.classes), np.float32),
        markers=np.empty((rules.tracks, rules.colors), np.int8),
    )


@helper
def take_seat(s: Games, t: Facts, g: int, o: Games) -> None:
    """Make the one game what the seat to play knows of a game, in place; the seat is its seat 0."""
    seat = s.to_play[g]
    copy(s.board[g], o.board[0])
    for cell in range(s.board.shape[1]):
        copy(s.points[g, cell], o.points[0, cell])
    copy(s.open[g], o.open[0])
    for track in range(t.n_tracks):
        copy(s.scores[g, track_of(t, seat + track)], o.scores[0, track])
    copy(s.racks[g, seat], o.racks[0, 0])
    copy(s.bag[g], o.bag[0])
    add_hidden_tiles(s, t, g, seat, o.bag[0])
    o.symbols_touched[0] = s.symbols_touched[g]
    o.has_placed[0, 0] = s.has_placed[g, seat]
    o.to_play[0], o.phase[0], o.pending_bonus[0] = 0, s.phase[g], s.pending_bonus[g]


@helper
def write_outcomes(o: Games, t: Facts, markers: Array, out: Array) -> None:
    """Write the outcomes of the finished one game to out [H, K] (:meth:`genial_env.policies.value.Outcomes.of_scores`).

    `markers` [T, C] is a buffer.
    """
    for track in range(t.n_tracks):
        row = markers[track]
        for color in range(t.n_colors):
            marker, at = o.scores[0, track, color], color
            while at > 0 and row[at - 1] > marker:
                row[at] = row[at - 1]
                at -= 1
            row[at] = marker
    for head in range(out.shape[0]):
        row = out[head]
        for k in range(len(row)):
            row[k] = 0
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


@helper
def decide(
    s: Games,
    t: Facts,
    g: int,
    before: Games,
    after: Games,
    m: Scratch,
    r: Buffers,
    d: Decision,
    net: Net,
    layers: Layers,
    plan: Arrays,
    arrival: int,
    values: Array,
) -> Any:
    """Return the action that the network values highest; write the outcomes predicted after it to `best_chances`."""
    take_seat(s, t, g, before)
    for other in range(1, t.n_players):
        d.others[other - 1] = tiles_held(s, t, g, seat_after(t, s.to_play[g], other))
    n_found = 0
    if may_place(s, g):
        n_found = rank_one(before, t, 0, plan, arrival, m, r, d.actions[: len(d.actions) - 2])
    if may_swap(s, g):
        d.actions[n_found] = t.swap_action
        n_found += 1
    if may_decline(s, t, g):
        d.actions[n_found] = t.decline_action
        n_found += 1
    describe_cells(before, t, r, values)
    best, highest = np.int64(-1), np.float32(0)
    for i in range(n_found):
        write_afterstate(before, after, t, r, values, d.actions[i], d.others, d.features)
        if after.phase[0] == OVER:
            write_outcomes(after, t, d.markers, d.chances)
        else:
            predict_one(t, net, layers, d.features, d.chances)
        utility = utility_of(net, d.chances)
        if best < 0 or utility > highest:
            best, highest = d.actions[i], utility
            for head in range(d.chances.shape[0]):
                copy(d.chances[head], d.best_chances[head])
    return best


@Entry
def play_to_turn(
    state: Arrays,
    facts: Arrays,
    games: tuple[Arrays, Arrays],
    scratch: Arrays,
    buffers: Arrays,
    decision: Arrays,
    weights: Arrays,
    layers: Arrays,
    plan: Arrays,
    arrival: int,
    values: Array,
    script: Array,
    seats: Array,
    turns: int,
    out: Array,
    lo: int,
    hi: int,
) -> None:
    """Play games on, in place, and write the outcomes predicted for a seat at a later turn to out [B, H, K]."""
    s, t, m, r, d = Games(*state), Facts(*facts), Scratch(*scratch), Buffers(*buffers), Decision(*decision)
    net, w, before, after = Net(*weights), Layers(*layers), Games(*games[0]), Games(*games[1])
    for g in range(lo, hi):
        reached, seat = np.int64(0), seats[g]
        while s.phase[g] != OVER:
            reached += s.to_play[g] == seat and s.phase[g] == PLACE
            action = decide(s, t, g, before, after, m, r, d, net, w, plan, arrival, values)
            if reached == turns:
                break
            apply(s, t, g, action, script)
        if s.phase[g] == OVER:
            for track in range(t.n_tracks):
                copy(s.scores[g, track_of(t, seat + track)], after.scores[0, track])
            write_outcomes(after, t, d.markers, d.best_chances)
        for head in range(out.shape[1]):
            copy(d.best_chances[head], out[g, head])


class _Decisions(threading.local):
    def __init__(self) -> None:
        self.by_size: dict[tuple[Rules, int], Arrays] = {}


_decisions = _Decisions()


def _decision_for(rules: Rules, replies: int) -> Arrays:
    """Return the scratch buffers of this thread, which are allocated at the first call."""
    kept = _decisions.by_size
    if (rules, replies) not in kept:
        kept[rules, replies] = tuple(make_decision(rules, replies))
    return kept[rules, replies]


@value_search.predict_later.compiled
def predict_later(threads: int, state: State, seats: Ints, net: ValueNet, replies: int, turns: int) -> Floats32:
    """Compute it in compiled code."""
    rules, outcomes = state.rules, net.outcomes
    out = np.empty((len(state), outcomes.heads, outcomes.classes), dtype=np.float32)
    game, weights = (arrays(state), facts(rules)), net_arrays(net)
    plan, arrival = DenialPolicy().plan(rules), STOP_VALUE if rules.has_bonus else 0
    how = (
        tuple(plan),
        arrival,
        denial_marker_values(rules),
        no_script(rules)[0],
        np.ascontiguousarray(seats),
        turns,
        out,
    )

    def work(lo: int, hi: int) -> None:
        buffers = scratch(rules), buffers_for(rules, replies), _decision_for(rules, replies)
        play_to_turn(*game, two_games(rules), *buffers, weights, layers_for(net), *how, lo, hi)

    share(threads, len(state), work, fewest=1)
    return out
