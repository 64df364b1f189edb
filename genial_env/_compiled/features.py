"""Compiled implementation of :mod:`genial_env.policies.afterstates.features`, which computes the same numbers."""

from typing import Any

import numpy as np

from genial_env._compiled.choices import is_duplicate
from genial_env._compiled.deciding import best_neighbours
from genial_env._compiled.feature_buffers import Buffers
from genial_env._compiled.gains import best_sum, expect, find_unseen, greatest, value_kinds
from genial_env._compiled.jit import helper
from genial_env._compiled.layout import (
    BEST,
    BEST_IN_RACK,
    BEST_UNSEEN,
    COUNTS,
    EXPECTED_DRAW,
    FITTING_CELLS,
    FREE_CELLS,
    GAIN,
    GAIN_ELSEWHERE,
    HELD,
    LEFT,
    LEFT_PARITY,
    MAY_SWAP,
    MOST_ON_CELL,
    MOST_ON_TWO,
    NEXT_STOP,
    OF_MARKER,
    OF_RIVAL,
    OF_RIVALS,
    OF_TRACKS,
    PAIRS,
    PENDING_BONUS,
    RACK,
    RACK_TILES,
    RIVALS,
    SECOND_BEST,
    UNSEEN,
    UNSEEN_TILES,
    count_rivals,
    size_of_color,
    size_of_kind,
    start_of_game,
    start_of_kinds,
)
from genial_env._compiled.primitives import Array, fill, flat, sort, table
from genial_env._compiled.rules import may_swap, next_stop
from genial_env.core.scalar import Facts, Games
from genial_env.core.state import EMPTY
from genial_env.policies.afterstates.features import FEW_CELLS


@helper
def write_constants(o: Games, t: Facts, r: Buffers, out: Array) -> None:
    """Write the features of the one game that a placement does not change to out [W].

    They are those of the other tracks' markers, and the numbers of unseen tiles.
    """
    colors, kinds = table(out, 0, size_of_color(t)), table(out, start_of_kinds(t), size_of_kind(t))
    for track in range(1, t.n_tracks):
        write_markers(o, t, track, out)
    unseen = OF_MARKER * t.n_tracks + UNSEEN_TILES
    for color in range(t.n_colors):
        colors[color, unseen], colors[color, unseen + 1] = 0, 0
    for kind in range(t.n_kinds):
        a, b = t.kinds[kind, 0], t.kinds[kind, 1]
        colors[a, unseen + np.int64(a == b)] += o.bag[0, kind]
        if a != b:
            colors[b, unseen] += o.bag[0, kind]
        kinds[kind, UNSEEN] = o.bag[0, kind]


@helper
def write_markers(o: Games, t: Facts, track: int, out: Array) -> None:
    """Write the features of a track's markers to out [W]."""
    colors, markers = table(out, 0, size_of_color(t)), o.scores[0, track]
    in_order = out[start_of_game(t) + track * t.n_colors :]
    sort(markers, in_order)
    for color in range(t.n_colors):
        marker, lower = np.int64(markers[color]), np.int64(0)
        for other in range(t.n_colors):
            lower += markers[other] < marker
        at = OF_MARKER * track
        colors[color, at], colors[color, at + 1] = marker, marker - in_order[0]
        colors[color, at + 2], colors[color, at + 3] = lower, marker == t.top


@helper
def write_features(
    o: Games,
    t: Facts,
    r: Buffers,
    others: Array,
    n_removed: int,
    n_fitting: int,
    n_pairs: int,
    n_free: int,
    out: Array,
) -> None:
    """Write the features of the one game to out [W] that :func:`write_constants` does not write.

    They are those of :func:`genial_env.policies.afterstates.features.compute_features`.
    """
    n_held = count_held(o, t, r)
    best_neighbours(t.width, flat(r.numbers), flat(r.near))
    for track in range(t.n_tracks):
        value_kinds(o, t, r, track)
    write_markers(o, t, 0, out)
    for color in range(t.n_colors):
        describe_color(o, t, r, color, out)
    game = out[start_of_game(t) + t.n_tracks * t.n_colors :]
    game[BEST], game[SECOND_BEST] = describe_rack(o, t, r, out)
    describe_kinds(t, r, out)
    n_unseen = np.int64(0)
    for kind in range(t.n_kinds):
        n_unseen += o.bag[0, kind]
    for rival in range(count_rivals(t)):
        size = np.int64(others[rival]) if t.n_players > 1 else np.int64(1)
        most = find_unseen(o, t, r, r.tracks[rival + 1])
        best_by_color(t, r, OF_MARKER * t.n_tracks + OF_RIVALS + rival, out)
        at = RIVALS + OF_RIVAL * rival
        game[at], game[at + 1], game[at + 2] = expect(t, r, r.chances[size, n_unseen]), most, size
    last = game[RIVALS + OF_RIVAL * count_rivals(t) :]
    last[FREE_CELLS], last[FITTING_CELLS], last[PAIRS] = n_free, n_fitting, n_pairs
    last[PENDING_BONUS], last[RACK], last[MAY_SWAP] = o.pending_bonus[0], n_held, may_swap(o, 0)
    last[BEST_UNSEEN] = find_unseen(o, t, r, 0)
    last[EXPECTED_DRAW] = expect(t, r, r.chances[t.n_slots - n_held, n_unseen])
    left = count_placements_left(r, n_removed, n_fitting)
    last[LEFT], last[LEFT_PARITY] = left, left & 1


@helper
def count_held(o: Games, t: Facts, r: Buffers) -> Any:
    """Write how many tiles of each kind are in hand to `held`; return how many there are."""
    fill(r.held, 0)
    n_held = 0
    for slot in range(t.n_slots):
        kind = o.racks[0, 0, slot]
        if kind != EMPTY:
            r.held[kind] += 1
            n_held += 1
    return n_held


@helper
def describe_color(o: Games, t: Facts, r: Buffers, color: int, out: Array) -> None:
    """Write the features of the points that a color offers to out [W]."""
    row = out[color * size_of_color(t) + OF_MARKER * t.n_tracks :]
    marker: Any = np.int64(o.scores[0, 0, color])
    row[NEXT_STOP] = np.int64(next_stop(t, marker)) - marker
    for n in range(8):  # the last of them is written over by the next feature
        row[COUNTS + n] = r.counts[color, n]
    points = r.numbers[0, color]
    row[MOST_ON_CELL] = greatest(t.width, points)
    row[MOST_ON_TWO] = best_sum(t.width, points, r.near[0, color])


@helper
def describe_rack(o: Games, t: Facts, r: Buffers, out: Array) -> Any:
    """Write the features of colors that tell of the tiles in hand to out [W].

    Returns:
        The values of the best placements of the best two kinds in hand.
    """
    colors, start = table(out, 0, size_of_color(t)), OF_MARKER * t.n_tracks
    tiles, best_gain = start + RACK_TILES, start + BEST_IN_RACK
    for color in range(t.n_colors):
        colors[color, tiles], colors[color, tiles + 1], colors[color, best_gain] = 0, 0, 0
    best, second = np.int64(0), np.int64(0)
    for slot in range(t.n_slots):
        kind = np.int64(o.racks[0, 0, slot])
        if kind == EMPTY:
            continue
        a, b = np.int64(t.kinds[kind, 0]), np.int64(t.kinds[kind, 1])
        value = np.int64(r.by_kind[0, kind])
        for half in range(2 - np.int64(a == b)):
            shown: Any = b if half else a
            colors[shown, tiles + np.int64(a == b)] += 1
            colors[shown, best_gain] = max(colors[shown, best_gain], value)
        if not is_duplicate(o, 0, slot):
            second = max(second, min(best, value))
            best = max(best, value)
    return best, second


@helper
def describe_kinds(t: Facts, r: Buffers, out: Array) -> None:
    """Write the features of the kinds to out [W]."""
    kinds = table(out, start_of_kinds(t), size_of_kind(t))
    for kind in range(t.n_kinds):
        row = kinds[kind]
        row[HELD], row[GAIN], row[GAIN_ELSEWHERE] = r.held[kind], r.by_kind[0, kind], r.elsewhere[kind]
    for track in range(1, t.n_tracks):
        for kind in range(t.n_kinds):
            kinds[kind, OF_TRACKS + track - 1] = r.by_kind[track, kind]


@helper
def best_by_color(t: Facts, r: Buffers, feature: int, out: Array) -> None:
    """Write the greatest of `unseen_values` of the kinds with each color to a feature of the colors in out [W]."""
    colors = table(out, 0, size_of_color(t))
    for color in range(t.n_colors):
        best = np.int16(0)
        for other in range(t.n_colors):
            best = max(best, r.unseen_values[r.kind_of[color, other]])
        colors[color, feature] = best


@helper
def count_placements_left(r: Buffers, n_removed: int, n_fitting: int) -> Any:
    """Return an upper bound of the placements left (:mod:`genial_env.policies.afterstates.features`)."""
    left = n_fitting >> 1
    if left > FEW_CELLS >> 1:
        return left
    left = 0
    for i in range(r.sizes[0]):
        r.waiting[r.cells[i]] = True
    for i in range(n_removed):
        r.waiting[r.removed[i]] = False
    for i in range(r.sizes[0]):
        start = r.cells[i]
        if not r.waiting[start]:
            continue
        r.waiting[start] = False
        r.stack[0], n_stack, size = start, 1, 0
        while n_stack > 0:
            n_stack -= 1
            index = np.int64(r.stack[n_stack])
            size += 1
            for direction in range(6):
                other = index + r.steps[direction]
                if r.waiting[other]:
                    r.waiting[other] = False
                    r.stack[n_stack] = other
                    n_stack += 1
        left += size >> 1
    return left
