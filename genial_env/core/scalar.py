"""Scalar implementation of the rules: one game of a batch, one number at a time, without allocating arrays.

It implements the same rules as :mod:`genial_env.core.kernel` on the same arrays. The backend "numba" compiles these
functions (:mod:`genial_env._compiled`). Without numba, the environments for one game run them as plain Python on
memoryviews, which Python indexes several times as fast as arrays (:func:`rows_of`). So the code here may use only what
both numba and plain Python support. The tests play games with all implementations side by side and compare every array.

Arguments: `s` is :class:`Games`, `t` the :class:`Facts` of the rules, `g` the row of the game.
"""

from collections import namedtuple
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from genial_env.core import chance
from genial_env.core.rules import Rules
from genial_env.core.state import EMPTY, FREE, LEVELS, STATE_ARRAYS, End, Phase, State
from genial_env.core.tables import tables

__all__ = [
    "ALL_AT_TOP",
    "BOARD_FULL",
    "BONUS",
    "OVER",
    "PLACE",
    "SWAP",
    "UNFINISHED",
    "Facts",
    "Games",
    "Numbers",
    "Script",
    "add_hidden_tiles",
    "advance",
    "advanced",
    "apply",
    "apply_without_draw",
    "arrived",
    "carry_out",
    "close_turn",
    "cover",
    "draw_kind",
    "facts_of",
    "fill_rack",
    "find_allowed_placements",
    "finish",
    "furthest",
    "has_open",
    "holds",
    "is_allowed",
    "is_bound_by_first_turn",
    "is_legal",
    "is_placing",
    "is_untouched",
    "join_action",
    "lacks_lowest",
    "lowest_marker",
    "may_decline",
    "may_place",
    "may_swap",
    "memory_of",
    "memory_of_facts",
    "near_untouched_symbols",
    "next_stop",
    "place",
    "random_32",
    "return_tile",
    "rows_of",
    "run_from",
    "seat_after",
    "split_action",
    "steps_to_mover",
    "swap",
    "take_from_rack",
    "tiles_held",
    "tiles_left",
    "track_of",
    "turn_closes",
]

PLACE, BONUS, SWAP, OVER = (int(phase) for phase in Phase)
UNFINISHED, BOARD_FULL, ALL_AT_TOP = (int(end) for end in End)

Numbers = Any
"""A numpy array, or in plain Python a list of memoryviews.

Arrays of :class:`Games` are indexed as ``x[g]``, ``x[g][a]`` and ``x[g][a, b]``; arrays of :class:`Facts`, which are
nested lists down to the last axis, as ``x[a][b][c]``.
"""


if TYPE_CHECKING:
    Games = State  # which has the same attributes
    """A named tuple of the arrays of a :class:`~genial_env.core.state.State`, in its order; bitsets as int64."""
else:
    Games = namedtuple("Games", STATE_ARRAYS)


class Facts(NamedTuple):
    """The rules as numbers, and the look-up tables that playing needs, small enough for the processor's first cache."""

    cells: Numbers  # [E, 2] int16 the cells of a placement, of the tile's first and second half
    rays: Numbers  # [N, 6, R] int16 the cells in each direction, the nearest first, then -1 beyond the edge
    kinds: Numbers  # [M, 2] int8 the colors of a kind's halves
    kind_mask: Numbers  # [M] uint8 bit c: the kind shows color c
    near: Numbers  # [E] uint8 bit c: the placement is next to color c's start symbol
    placement_of: Numbers  # [N, 6] int16 (cell, direction) -> placement, -1 over the edge
    grid_index: Numbers  # [N] uint16 the index of a cell on a grid with a border around it, in rows of `width`
    compatible: Numbers  # [E, W] int64 bitsets: the placements that share no cell with a placement
    near_sets: Numbers  # [C, W] int64 bitsets: the placements next to a color's start symbol
    width: int
    n_players: int
    n_tracks: int
    n_colors: int
    n_slots: int
    n_kinds: int
    n_words: int
    n_placements: int
    n_actions: int
    swap_action: int
    decline_action: int
    first_stop: int
    top: int
    bonuses_a_tile: int
    has_swap: int
    may_decline_bonus: int


Script = Numbers
"""[K] the tile kinds to draw, -1 from where on random bits decide."""


# Actions, seats and tracks


def is_placing(t: Facts, action: int) -> bool:
    """Return whether an action places a tile."""
    return 0 <= action < t.swap_action


def split_action(t: Facts, action: int) -> tuple[int, int]:
    """Return slot and placement of an action that places a tile."""
    slot = action // t.n_placements
    return slot, action - slot * t.n_placements


def join_action(t: Facts, slot: int, placement: int) -> int:
    """Return the action that places the tile of a slot on a placement."""
    return slot * t.n_placements + placement


def track_of(t: Facts, seat: int) -> int:
    """Return the score track of a seat; numbers beyond the last seat count on from seat 0."""
    return seat % t.n_tracks


def seat_after(t: Facts, seat: int, steps: int) -> int:
    """Return the seat that is so many steps clockwise of a seat."""
    return (seat + steps) % t.n_players


def steps_to_mover(s: Games, t: Facts, g: int, seat: int) -> int:
    """Return how many steps clockwise of a seat the seat to play is."""
    steps: int = (s.to_play[g] - seat + t.n_players) % t.n_players
    return steps


def next_stop(t: Facts, marker: int) -> int:
    """Return where a marker stops next; a marker at the end of the track stays there."""
    return t.first_stop if marker < t.first_stop else t.top


def furthest(t: Facts, marker: int) -> int:
    """Return how far one tile can move a marker at most; further points are lost."""
    return next_stop(t, marker)


# Legality


def is_legal(s: Games, t: Facts, g: int, action: int) -> bool:
    """Return whether an action is legal; numbers that are no action are not."""
    if action < 0 or action >= t.n_actions:
        return False
    if action == t.swap_action:
        return may_swap(s, g)
    if action == t.decline_action:
        return may_decline(s, t, g)
    slot, placement = split_action(t, action)
    if not may_place(s, g) or s.racks[g][s.to_play[g], slot] == EMPTY:
        return False
    return is_allowed(s, t, g, placement)


def may_place(s: Games, g: int) -> bool:
    """Return whether the decision is a placement."""
    may: bool = s.phase[g] <= BONUS
    return may


def may_swap(s: Games, g: int) -> bool:
    """Return whether swapping the rack is legal."""
    may: bool = s.phase[g] == SWAP
    return may


def may_decline(s: Games, t: Facts, g: int) -> bool:
    """Return whether declining (a swap, or in edition 2009 a bonus placement) is legal."""
    phase = s.phase[g]
    may: bool = phase == SWAP or (phase == BONUS and t.may_decline_bonus != 0)
    return may


def is_allowed(s: Games, t: Facts, g: int, placement: int) -> bool:
    """Return whether a placement is open to the seat to play, first-turn rule included."""
    word = placement >> 6
    if not holds(s.open[g][word], placement):
        return False
    if s.has_placed[g][s.to_play[g]]:
        return True
    return holds(near_untouched_symbols(s, t, g, word), placement) or not is_bound_by_first_turn(s, t, g)


def holds(word: int, number: int) -> bool:
    """Return whether the word of a bitset that has the bit of a number holds the number."""
    return (word >> (number & 63)) & 1 != 0


def is_bound_by_first_turn(s: Games, t: Facts, g: int) -> bool:
    """Return whether the first-turn rule limits the placements of the seat to play.

    A seat's first tile must lie next to a start symbol that no tile lies next to. Where no such placement is open, the
    rule lapses.
    """
    if s.has_placed[g][s.to_play[g]]:
        return False
    for color in range(t.n_colors):
        if is_untouched(s, g, color):
            for word in range(t.n_words):
                if s.open[g][word] & t.near_sets[color][word] != 0:
                    return True
    return False


def is_untouched(s: Games, g: int, color: int) -> bool:
    """Return whether no tile lies next to the start symbol of a color."""
    untouched: bool = (s.symbols_touched[g] >> color) & 1 == 0
    return untouched


def near_untouched_symbols(s: Games, t: Facts, g: int, word: int) -> int:
    """Return one word of the set of placements next to a start symbol that no tile lies next to."""
    near = 0
    for color in range(t.n_colors):
        if is_untouched(s, g, color):
            near |= t.near_sets[color][word]
    return near


def find_allowed_placements(s: Games, t: Facts, g: int, out: Numbers) -> None:
    """Write the set of placements that are open to the seat to play, first-turn rule included, to out [W]."""
    still_open = s.open[g]
    for word in range(t.n_words):
        out[word] = still_open[word]
    if is_bound_by_first_turn(s, t, g):
        for word in range(t.n_words):
            out[word] &= near_untouched_symbols(s, t, g, word)


def add_hidden_tiles(s: Games, t: Facts, g: int, seat: int, counts: Numbers) -> None:
    """Add the tiles in the racks of the other seats to counts [M], in place."""
    racks = s.racks[g]
    for other in range(t.n_players):
        if other != seat:
            for slot in range(t.n_slots):
                kind = racks[other, slot]
                if kind != EMPTY:
                    counts[kind] += 1


def lacks_lowest(s: Games, t: Facts, g: int) -> bool:
    """Return whether the rack of the seat to play holds tiles, and none that shows any of its lowest colors."""
    seat = s.to_play[g]
    track = track_of(t, seat)
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
    """Return the lowest marker of a track."""
    markers, lowest = s.scores[g], t.top
    for color in range(t.n_colors):
        lowest = min(lowest, markers[track, color])
    return lowest


# Playing


def apply(s: Games, t: Facts, g: int, action: int, script: Script) -> None:
    """Play a legal action, in place."""
    s.decisions[g] += 1
    if action == t.swap_action:
        swap(s, t, g, script)
    elif carry_out(s, t, g, action):
        close_turn(s, t, g, script)


def apply_without_draw(s: Games, t: Facts, g: int, action: int) -> None:
    """Play a legal action, in place, without drawing tiles or passing the turn on: the afterstate.

    See :func:`genial_env.core.kernel.apply_without_draw`.
    """
    s.decisions[g] += 1
    if action == t.swap_action:
        for slot in range(t.n_slots):
            kind = take_from_rack(s, t, g, s.to_play[g], slot)
            if kind != EMPTY:
                s.bag[g][kind] += 1
        s.phase[g] = PLACE
    elif carry_out(s, t, g, action):
        s.phase[g] = PLACE


def carry_out(s: Games, t: Facts, g: int, action: int) -> bool:
    """Play an action that is not a swap, in place, up to the draw; return whether the turn closes."""
    if is_placing(t, action):
        slot, placement = split_action(t, action)
        place(s, t, g, slot, placement)
    elif s.phase[g] == BONUS:
        s.pending_bonus[g] -= 1
    else:
        return True  # a swap declined
    return turn_closes(s, t, g)


def place(s: Games, t: Facts, g: int, slot: int, placement: int) -> None:
    """Place a tile, score it and move markers, in place; count bonus placements earned and used in `pending_bonus`."""
    seat = s.to_play[g]
    track = track_of(t, seat)
    kind = take_from_rack(s, t, g, seat, slot)
    first, second = t.cells[placement][0], t.cells[placement][1]
    a, b = t.kinds[kind][0], t.kinds[kind][1]
    gained_a, gained_b = s.points[g][first, a], s.points[g][second, b]
    if a == b:
        arrivals = advance(s, t, g, track, a, gained_a + gained_b)
    else:
        arrivals = advance(s, t, g, track, a, gained_a) + advance(s, t, g, track, b, gained_b)
    if t.bonuses_a_tile != 0:
        earned = min(arrivals, t.bonuses_a_tile)
        s.pending_bonus[g] += earned - 1 if s.phase[g] == BONUS else earned
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
    """Empty a slot, in place, and return its tile, which all seats see: EMPTY if it had none.

    What is recorded about it: see ``_show`` in the numpy implementation.
    """
    kind: int = s.racks[g][seat, slot]
    s.racks[g][seat, slot] = EMPTY
    if kind != EMPTY and s.swapped[g]:
        for newer in range(s.returned[g][seat, slot, kind]):
            s.levels[g][kind, newer] -= 1
        for other in range(t.n_kinds):
            s.returned[g][seat, slot, other] = 0
    return kind


def advance(s: Games, t: Facts, g: int, track: int, color: int, points: int) -> int:
    """Move a marker, in place; return 1 if it arrived at a stop, else 0."""
    before = s.scores[g][track, color]
    after = advanced(before, points, furthest(t, before))
    s.scores[g][track, color] = after
    return 1 if arrived(t, before, after) else 0


def advanced(marker: int, points: int, limit: int) -> int:
    """Return where a marker is after so many points, if `limit` is as far as it can move (:func:`furthest`)."""
    return min(marker + points, limit)


def arrived(t: Facts, before: int, after: int) -> bool:
    """Return whether a move of a marker has brought it to its next stop."""
    return before < next_stop(t, before) <= after


def cover(s: Games, t: Facts, g: int, cell: int, color: int) -> None:
    """Cover a cell with half a tile, in place, and update the points map behind the runs that it lengthens."""
    board, points = s.board[g], s.points[g]
    board[cell] = color
    for axis in range(3):
        run, end = run_from(t, board, cell, axis, color)
        back, back_end = run_from(t, board, cell, axis + 3, color)
        if end >= 0:
            points[end, color] += 1 + back
        if back_end >= 0:
            points[back_end, color] += 1 + run


def run_from(t: Facts, board: Numbers, cell: int, direction: int, color: int) -> tuple[int, int]:
    """Walk along the cells of a color next to a cell in a direction.

    Returns:
        How many cells the run has, and the free cell behind it, -1 if there is none.
    """
    ray, run = t.rays[cell][direction], 0
    beyond = ray[0]
    while beyond >= 0:
        found = board[beyond]
        if found != color:
            return run, (beyond if found == FREE else -1)
        run += 1
        beyond = ray[run]
    return run, -1


# After a placement


def turn_closes(s: Games, t: Facts, g: int) -> bool:
    """Decide what follows a placement that was made or declined, and set the phase in place.

    The game ends, or the next bonus placement is due, or a swap is offered, or else the turn closes.

    Returns:
        Whether the turn closes.
    """
    seat = s.to_play[g]
    if lowest_marker(s, t, g, track_of(t, seat)) == t.top:
        finish(s, g, ALL_AT_TOP)
        return False
    if not has_open(s, t, g):
        finish(s, g, BOARD_FULL)
        return False
    if s.pending_bonus[g] > 0 and tiles_held(s, t, g, seat) > 0:
        s.phase[g] = BONUS
        return False
    s.pending_bonus[g] = 0  # without a tile a bonus lapses
    if t.has_swap != 0 and lacks_lowest(s, t, g):
        s.phase[g] = SWAP
        return False
    return True


def finish(s: Games, g: int, end: int) -> None:
    """End the game, in place."""
    s.end[g] = end
    s.phase[g] = OVER
    s.pending_bonus[g] = 0


def has_open(s: Games, t: Facts, g: int) -> bool:
    """Return whether two adjacent cells are free."""
    for word in range(t.n_words):  # noqa: SIM110  numba compiles no generators
        if s.open[g][word] != 0:
            return True
    return False


def tiles_held(s: Games, t: Facts, g: int, seat: int) -> int:
    """Count the tiles that a seat holds."""
    racks, held = s.racks[g], 0
    for slot in range(t.n_slots):
        if racks[seat, slot] != EMPTY:
            held += 1
    return held


def swap(s: Games, t: Facts, g: int, script: Script) -> None:
    """Set the rack aside, draw a new one, and only then put the old tiles back into the bag, in place."""
    seat = s.to_play[g]
    aside = 0  # the kinds, each in eight bits as kind + 1: a list would be allocated at every call
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
    """Put a swapped tile back into the bag, in place, and record it.

    What is recorded about it: see ``_return_tiles`` in the numpy implementation.
    """
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
    """Fill the rack and pass the turn on to the next seat, in place."""
    seat = s.to_play[g]
    fill_rack(s, t, g, seat, script)
    s.to_play[g] = seat_after(t, seat, 1)
    s.phase[g] = PLACE


def fill_rack(s: Games, t: Facts, g: int, seat: int, script: Script) -> None:
    """Draw a tile for every empty slot, in slot order, in place."""
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
    """Return the kind that the seat's random bits draw from the bag; count the draw, in place."""
    left = (random_32(s.key[g][seat], s.drawn[g][seat]) * tiles_left(s, t, g)) >> 32  # as chance.below
    s.drawn[g][seat] += 1
    bag, kind, last = s.bag[g], 0, t.n_kinds - 1
    while left >= bag[kind] and kind < last:
        left -= bag[kind]
        kind += 1
    return kind


def tiles_left(s: Games, t: Facts, g: int) -> int:
    """Count the tiles in the bag."""
    bag, total = s.bag[g], 0
    for kind in range(t.n_kinds):
        total += bag[kind]
    return total


def random_32(key: int, counter: int) -> int:
    """Return the upper 32 random bits of number `counter` of a stream (:func:`chance.bits`).

    numba compiles another implementation of it.
    """
    block, at = divmod(counter, _BLOCK)
    return _random_block(key, block)[at]


_BLOCK = 64
"""How many numbers of a stream are computed at once: numpy takes as long for one."""


@lru_cache(maxsize=256)
def _random_block(key: int, block: int) -> list[int]:
    counters = np.arange(block * _BLOCK, (block + 1) * _BLOCK)
    numbers: list[int] = (chance.bits(np.uint64(key), counters) >> np.uint64(32)).tolist()
    return numbers


# The arguments of these functions


@lru_cache(maxsize=64)
def facts_of(rules: Rules) -> Facts:
    """Return the facts of these rules. They are cached and read-only."""
    t, width = tables(rules), 2 * rules.side + 1
    rays = np.where(t.rays[:-1, :, 1:] < t.n_cells, t.rays[:-1, :, 1:], FREE)
    facts = Facts(
        cells=t.placements.astype(np.int16),
        rays=np.ascontiguousarray(rays, dtype=np.int16),
        kinds=t.kinds.astype(np.int8),
        kind_mask=t.kind_mask[:-1].copy(),
        near=t.placement_near.copy(),
        placement_of=t.placement_of.astype(np.int16),
        grid_index=((t.cells[:, 1] + rules.side) * width + t.cells[:, 0] + rules.side).astype(np.uint16),
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
        swap_action=t.swap_action,
        decline_action=t.decline_action,
        first_stop=rules.stops[0],
        top=rules.top,
        bonuses_a_tile=rules.bonuses_a_tile,
        has_swap=int(rules.has_swap),
        may_decline_bonus=int(rules.bonus_may_be_declined),
    )
    for value in facts:
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    return facts


def memory_of(state: State) -> Games:
    """Return the arrays of a state as plain Python indexes them fastest (:func:`rows_of`)."""
    arrays = {**state.arrays(), "open": state.open.view(np.int64)}
    rows: dict[str, Any] = {name: rows_of(array, min(array.ndim - 1, 1)) for name, array in arrays.items()}
    return Games(**rows)


@lru_cache(maxsize=64)
def memory_of_facts(rules: Rules) -> Facts:
    """Return the facts of some rules as plain Python indexes them fastest (:func:`rows_of`)."""
    facts = facts_of(rules)
    return Facts(*(rows_of(fact, fact.ndim - 1) if isinstance(fact, np.ndarray) else fact for fact in facts))


def rows_of(array: NDArray[Any], depth: int) -> Any:
    """Return an array as nested lists, `depth` levels deep, of memoryviews, which Python indexes fastest.

    Writing to them writes to the array.
    """
    memory: Any = array
    return [rows_of(part, depth - 1) for part in array] if depth else memoryview(memory)
