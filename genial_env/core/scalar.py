"""The rules for one game of a batch, one number at a time.

The same rules as :mod:`genial_env.core.kernel`, on the same arrays, told the way a processor likes them best: no call
over many games, no array made. numba compiles these functions for the backend "numba" (:mod:`genial_env._compiled`);
without numba the environments for one game at a time run them as they stand, in Python, on memoryviews, which Python
reads several times as fast as arrays (:func:`rows_of`). So nothing here may use what only one of the two knows. The
tests play all of them side by side and compare every array.

`s` are the :class:`Games`, `t` the :class:`Facts` of their rules, `g` the number of the game.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from genial_env.core import chance
from genial_env.core.rules import TRACK_END, Rules
from genial_env.core.state import EMPTY, FREE, LEVELS, End, Phase, State
from genial_env.core.tables import tables

PLACE, BONUS, SWAP, OVER = (int(phase) for phase in Phase)
UNFINISHED, BOARD_FULL, ALL_AT_TOP = (int(end) for end in End)
FIRST_STOP = int(TRACK_END)

Numbers = Any
"""A numpy array; for Python a list of memoryviews. Either is read and written as ``x[g]``, ``x[g][a]``, ``x[g][a, b]``;
of :class:`Facts`, which are nested all the way, ``x[a][b][c]``.
"""


class Games(NamedTuple):
    """The arrays of a :class:`~genial_env.core.state.State`, in its order; bitsets as int64."""

    board: Numbers  # [B, N]
    points: Numbers  # [B, N, C]
    open: Numbers  # [B, W]
    symbols_touched: Numbers  # [B]
    scores: Numbers  # [B, T, C]
    racks: Numbers  # [B, P, K]
    bag: Numbers  # [B, M]
    key: Numbers  # [B, P]
    drawn: Numbers  # [B, P]
    has_placed: Numbers  # [B, P]
    returned: Numbers  # [B, P, K, M]
    levels: Numbers  # [B, M, X]
    swapped: Numbers  # [B]
    to_play: Numbers  # [B]
    phase: Numbers  # [B]
    pending_bonus: Numbers  # [B]
    decisions: Numbers  # [B]
    end: Numbers  # [B]


class Facts(NamedTuple):
    """The rules in numbers, and those look-up tables that play needs, small enough for the fastest cache."""

    cells: Numbers  # [E, 2] int16 the cells of a placement's halves
    rays: Numbers  # [N, 6, R] int16 the cells in each direction, the nearest first, FREE from the edge on
    kinds: Numbers  # [M, 2] int8 the colors of a kind's halves
    kind_mask: Numbers  # [M] uint8 bit c: the kind shows color c
    near: Numbers  # [E] uint8 bit c: the placement is next to color c's printed symbol
    placement_of: Numbers  # [N, 6] int16 (cell, direction) -> placement, -1 over the edge
    places: Numbers  # [N] uint16 where a cell lies on a grid with an edge around it, rows of `width`
    compatible: Numbers  # [E, W] int64 bitsets: the placements that share no cell with a placement
    near_sets: Numbers  # [C, W] int64 bitsets: the placements next to a color's printed symbol
    width: int
    n_players: int
    n_tracks: int
    n_colors: int
    n_slots: int
    n_kinds: int
    n_words: int
    n_placements: int
    n_actions: int
    top: int
    has_bonus: int
    has_swap: int
    may_decline_bonus: int


Script = Numbers
"""[K] the tiles to be drawn, -1 where luck decides."""


# What is allowed


def is_legal(s: Games, t: Facts, g: int, action: int) -> bool:
    """Whether an action may be played."""
    swap_action = t.n_slots * t.n_placements
    if action < 0 or action >= t.n_actions:
        return False
    if action >= swap_action:
        return may_swap(s, g) if action == swap_action else may_decline(s, t, g)
    seat, slot = s.to_play[g], action // t.n_placements
    placement = action - slot * t.n_placements
    if not may_place(s, g) or s.racks[g][seat, slot] == EMPTY or not _holds(s.open[g][placement >> 6], placement):
        return False
    symbols_touched = s.symbols_touched[g]
    if s.has_placed[g][seat] or (t.near[placement] | symbols_touched) != symbols_touched:
        return True
    return not first_turn_binds(s, t, g)


def may_place(s: Games, g: int) -> bool:
    """Whether the decision is a placement."""
    places: bool = s.phase[g] <= BONUS
    return places


def may_swap(s: Games, g: int) -> bool:
    """Whether the rack may be swapped."""
    offered: bool = s.phase[g] == SWAP
    return offered


def may_decline(s: Games, t: Facts, g: int) -> bool:
    """Whether a swap, or by the rules a bonus placement, may be declined."""
    return s.phase[g] == SWAP or (s.phase[g] == BONUS and t.may_decline_bonus != 0)


def _holds(word: int, number: int) -> bool:
    """Whether the word of a bitset holds a number."""
    return (word >> (number & 63)) & 1 != 0


def first_turn_binds(s: Games, t: Facts, g: int) -> bool:
    """Whether some open placement lies next to a printed symbol that no tile lies next to; else the rule lapses."""
    symbols_touched = s.symbols_touched[g]
    for color in range(t.n_colors):
        if (symbols_touched >> color) & 1 == 0:
            for word in range(t.n_words):
                if s.open[g][word] & t.near_sets[color][word] != 0:
                    return True
    return False


def is_bound_by_first_turn(s: Games, t: Facts, g: int) -> bool:
    """Whether the first-turn rule limits where the seat to play may place."""
    return not s.has_placed[g][s.to_play[g]] and first_turn_binds(s, t, g)


def find_allowed_placements(s: Games, t: Facts, g: int, out: Numbers) -> None:
    """Write the open placements under the first-turn rule, as a bitset, into `out` [W]."""
    still_open, symbols_touched = s.open[g], s.symbols_touched[g]
    is_bound = is_bound_by_first_turn(s, t, g)
    for word in range(t.n_words):
        out[word] = still_open[word]
        if is_bound:
            near = 0
            for color in range(t.n_colors):
                if (symbols_touched >> color) & 1 == 0:
                    near |= t.near_sets[color][word]
            out[word] &= near


def add_hidden_tiles(s: Games, t: Facts, g: int, seat: int, counts: Numbers) -> None:
    """In place: add the tiles in the racks of the other seats to `counts` [M]."""
    racks = s.racks[g]
    for other in range(t.n_players):
        if other != seat:
            for slot in range(t.n_slots):
                kind = racks[other, slot]
                if kind != EMPTY:
                    counts[kind] += 1


def lacks_lowest(s: Games, t: Facts, g: int) -> bool:
    """Whether the mover's rack holds tiles, and none that shows any of its lowest colors."""
    seat = s.to_play[g]
    track = seat % t.n_tracks
    shown = 0
    for slot in range(t.n_slots):
        kind = s.racks[g][seat, slot]
        if kind != EMPTY:
            shown |= t.kind_mask[kind]
    if shown == 0:
        return False
    lowest = lowest_marker(s, t, g, track)
    for color in range(t.n_colors):  # noqa: SIM110  numba compiles no generators
        if s.scores[g][track, color] == lowest and (shown >> color) & 1 != 0:
            return False
    return True


def lowest_marker(s: Games, t: Facts, g: int, track: int) -> int:
    """The lowest marker of a track."""
    markers, lowest = s.scores[g], t.top
    for color in range(t.n_colors):
        lowest = min(lowest, markers[track, color])
    return lowest


# Playing


def apply(s: Games, t: Facts, g: int, action: int, script: Script) -> None:
    """In place: play an action, which must be legal."""
    s.decisions[g] += 1
    if action < t.n_slots * t.n_placements:
        slot = action // t.n_placements
        lay(s, t, g, slot, action - slot * t.n_placements)
        go_on(s, t, g, script)
    elif action == t.n_slots * t.n_placements:
        swap(s, t, g, script)
    elif s.phase[g] == BONUS:
        s.pending_bonus[g] -= 1
        go_on(s, t, g, script)
    else:
        close_turn(s, t, g, script)


def lay(s: Games, t: Facts, g: int, slot: int, placement: int) -> None:
    """In place: lay a tile, score it, move markers; bonus placements earned and used are counted in `pending_bonus`."""
    seat = s.to_play[g]
    track = seat % t.n_tracks
    kind = take_from_rack(s, t, g, seat, slot)
    first, second = t.cells[placement][0], t.cells[placement][1]
    a, b = t.kinds[kind][0], t.kinds[kind][1]
    gained_a, gained_b = s.points[g][first, a], s.points[g][second, b]
    if a == b:
        arrivals = advance(s, t, g, track, a, gained_a + gained_b)
    else:
        arrivals = advance(s, t, g, track, a, gained_a) + advance(s, t, g, track, b, gained_b)
    if t.has_bonus != 0:
        if s.phase[g] == BONUS:
            arrivals -= 1
        s.pending_bonus[g] += arrivals
    cover(s, t, g, first, a)
    cover(s, t, g, second, b)
    points = s.points[g]
    for color in range(t.n_colors):
        points[first, color] = 0
        points[second, color] = 0
    still_open, compatible = s.open[g], t.compatible[placement]
    for word in range(t.n_words):
        still_open[word] &= compatible[word]
    s.symbols_touched[g] |= t.near[placement]
    s.has_placed[g][seat] = True


def take_from_rack(s: Games, t: Facts, g: int, seat: int, slot: int) -> int:
    """In place: empty a slot and return its tile, which everybody sees: see ``kernel._show``."""
    kind: int = s.racks[g][seat, slot]
    s.racks[g][seat, slot] = EMPTY
    if kind != EMPTY and s.swapped[g]:
        for newer in range(s.returned[g][seat, slot, kind]):
            s.levels[g][kind, newer] -= 1
        for other in range(t.n_kinds):
            s.returned[g][seat, slot, other] = 0
    return kind


def advance(s: Games, t: Facts, g: int, track: int, color: int, points: int) -> int:
    """In place: move a marker; 1 if it arrived at a stop."""
    before = s.scores[g][track, color]
    stop = FIRST_STOP if before < FIRST_STOP else t.top
    after = min(before + points, stop)
    s.scores[g][track, color] = after
    return 1 if before < after and after == stop else 0


def cover(s: Games, t: Facts, g: int, cell: int, color: int) -> None:
    """In place: lay half a tile, and bring the points map up to date behind the runs that it lengthens."""
    s.board[g][cell] = color
    for axis in range(3):
        run, end = run_from(s, t, g, cell, axis, color)
        back, back_end = run_from(s, t, g, cell, axis + 3, color)
        if end >= 0:
            s.points[g][end, color] += 1 + back
        if back_end >= 0:
            s.points[g][back_end, color] += 1 + run


def run_from(s: Games, t: Facts, g: int, cell: int, direction: int, color: int) -> tuple[int, int]:
    """How many cells of a color follow a cell in a direction, and the free cell behind them, -1 if there is none."""
    board, ray, run = s.board[g], t.rays[cell][direction], 0
    beyond = ray[0]
    while beyond >= 0:
        seen = board[beyond]
        if seen != color:
            return run, (beyond if seen == FREE else -1)
        run += 1
        beyond = ray[run]
    return run, -1


def go_on(s: Games, t: Facts, g: int, script: Script) -> None:
    """In place: after a placement made or declined, the game ends, the bonus chain goes on, a swap is offered, or the
    turn closes.
    """
    seat = s.to_play[g]
    if lowest_marker(s, t, g, seat % t.n_tracks) == t.top:
        finish(s, g, ALL_AT_TOP)
    elif not has_open(s, t, g):
        finish(s, g, BOARD_FULL)
    elif s.pending_bonus[g] > 0 and tiles_held(s, t, g, seat) > 0:
        s.phase[g] = BONUS
    else:
        s.pending_bonus[g] = 0  # without a tile a bonus lapses
        if t.has_swap != 0 and lacks_lowest(s, t, g):
            s.phase[g] = SWAP
        else:
            close_turn(s, t, g, script)


def finish(s: Games, g: int, end: int) -> None:
    """In place: the game is over."""
    s.end[g] = end
    s.phase[g] = OVER
    s.pending_bonus[g] = 0


def has_open(s: Games, t: Facts, g: int) -> bool:
    """Whether two free cells lie side by side."""
    for word in range(t.n_words):  # noqa: SIM110  numba compiles no generators
        if s.open[g][word] != 0:
            return True
    return False


def tiles_held(s: Games, t: Facts, g: int, seat: int) -> int:
    """How many tiles a seat holds."""
    racks, held = s.racks[g], 0
    for slot in range(t.n_slots):
        if racks[seat, slot] != EMPTY:
            held += 1
    return held


def swap(s: Games, t: Facts, g: int, script: Script) -> None:
    """In place: set the rack aside, draw a new one, and only then put the old tiles back into the bag."""
    seat = s.to_play[g]
    aside = 0  # the kinds, each in eight bits as kind + 1: a list would be made anew at every call
    for slot in range(t.n_slots):
        aside = aside << 8 | (take_from_rack(s, t, g, seat, slot) + 1)
    close_turn(s, t, g, script)
    while aside > 0:
        kind = (aside & 255) - 1
        aside >>= 8
        if kind >= 0:
            return_tile(s, t, g, kind)
    s.swapped[g] = True


def return_tile(s: Games, t: Facts, g: int, kind: int) -> None:
    """In place: put a swapped tile back into the bag, and note it: see ``kernel._return_tiles``."""
    s.bag[g][kind] += 1
    hidden = s.bag[g][kind]
    for seat in range(t.n_players):
        for slot in range(t.n_slots):
            held = s.racks[g][seat, slot]
            if held != EMPTY:
                since = s.returned[g][seat, slot, kind]
                s.returned[g][seat, slot, kind] = min(since + 1, LEVELS)
                if held == kind:
                    hidden += 1
    levels = s.levels[g]
    for older in range(LEVELS - 1, 0, -1):
        levels[kind, older] = levels[kind, older - 1]
    levels[kind, 0] = hidden


def close_turn(s: Games, t: Facts, g: int, script: Script) -> None:
    """In place: fill the rack and give the turn to the next seat."""
    seat = s.to_play[g]
    fill_rack(s, t, g, seat, script)
    s.to_play[g] = (seat + 1) % t.n_players
    s.phase[g] = PLACE


def fill_rack(s: Games, t: Facts, g: int, seat: int, script: Script) -> None:
    """In place: draw a tile for every empty slot, in slot order."""
    racks, drawn = s.racks[g], 0
    for slot in range(t.n_slots):
        if racks[seat, slot] == EMPTY:
            kind = draw_kind(s, t, g, seat)
            if script[drawn] >= 0:
                kind = script[drawn]
            s.bag[g][kind] -= 1
            racks[seat, slot] = kind
            drawn += 1


def draw_kind(s: Games, t: Facts, g: int, seat: int) -> int:
    """In place, the seat's counter: the kind that its luck draws from the bag."""
    left = (luck(s.key[g][seat], s.drawn[g][seat]) * tiles_left(s, t, g)) >> 32  # as chance.below
    s.drawn[g][seat] += 1
    bag, kind, last = s.bag[g], 0, t.n_kinds - 1
    while left >= bag[kind] and kind < last:
        left -= bag[kind]
        kind += 1
    return kind


def tiles_left(s: Games, t: Facts, g: int) -> int:
    """How many tiles are in the bag."""
    bag, total = s.bag[g], 0
    for kind in range(t.n_kinds):
        total += bag[kind]
    return total


def luck(key: int, counter: int) -> int:
    """The upper 32 of the random bits number `counter` (:func:`chance.bits`). numba gets one of its own."""
    block, at = divmod(counter, _LUCK_BLOCK)
    return _lucks(key, block)[at]


_LUCK_BLOCK = 64


@lru_cache(maxsize=256)
def _lucks(key: int, block: int) -> list[int]:
    counters = np.arange(block * _LUCK_BLOCK, (block + 1) * _LUCK_BLOCK)
    lucks: list[int] = (chance.bits(np.uint64(key), counters) >> np.uint64(32)).tolist()
    return lucks


# For numba, and for Python


def arrays_of(state: State) -> Games:
    """The arrays of a state; writing to them is writing to it."""
    arrays = state.arrays()
    return Games(**{**arrays, "open": state.open.view(np.int64)})


@lru_cache(maxsize=64)
def facts_of(rules: Rules) -> Facts:
    """The facts of these rules, made on first use."""
    t, width = tables(rules), 2 * rules.side + 1
    rays = np.where(t.rays[:-1, :, 1:] < t.n_cells, t.rays[:-1, :, 1:], FREE)
    facts = Facts(
        cells=t.placements.astype(np.int16),
        rays=np.ascontiguousarray(rays, dtype=np.int16),
        kinds=t.kinds.astype(np.int8),
        kind_mask=t.kind_mask[:-1].copy(),
        near=t.placement_near.copy(),
        placement_of=t.placement_of.astype(np.int16),
        places=((t.cells[:, 1] + rules.side) * width + t.cells[:, 0] + rules.side).astype(np.uint16),
        compatible=t.compatible.view(np.int64).copy(),
        near_sets=t.near.view(np.int64).copy(),
        width=width,
        n_players=rules.players,
        n_tracks=rules.tracks,
        n_colors=rules.colors,
        n_slots=rules.rack,
        n_kinds=t.n_kinds,
        n_words=t.near.shape[1],
        n_placements=t.n_placements,
        n_actions=t.n_actions,
        top=rules.top,
        has_bonus=int(rules.has_bonus),
        has_swap=int(rules.has_swap),
        may_decline_bonus=int(rules.bonus_may_be_declined),
    )
    for value in facts:
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    return facts


def rows_of(array: NDArray[Any], depth: int) -> Any:
    """An array as Python indexes it fastest: its parts' memory in lists so many deep, to be read and written to."""
    memory: Any = array
    return [rows_of(part, depth - 1) for part in array] if depth else memoryview(memory)
