"""The compiled twins of the hot functions, by the same names and on the same arrays (:mod:`genial_env.backends`).

Importing it imports numba. What is compiled is in :mod:`genial_env._compiled.core`; here arrays are handed over and
threads are started. Each twin does what its namesake's docstring says.
"""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._compiled import core
from genial_env._compiled.jit import ENTRIES, directory
from genial_env.core import chance, kernel
from genial_env.core.bitsets import Bitsets, Bools, Ints
from genial_env.core.rules import Rules
from genial_env.core.scalar import Games, facts_of
from genial_env.core.state import LEVELS, State
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.encodings.planes import Planes, places
from genial_env.errors import IllegalAction
from genial_env.policies import base as policies
from genial_env.policies.base import Policy, RandomPolicy, plan_of
from genial_env.simulation import play_out as play_out_in_numpy


def entries() -> list[str]:
    """The names of all compiled functions."""
    return [entry.name for entry in ENTRIES]


def cache_directory() -> Path | None:
    """Where compiled code is kept; None where nothing can be written."""
    return directory()


def twin(name: str, threads: int) -> Callable[..., Any]:
    """The twin of a hot function by its name, for so many threads."""
    return _TWINS[name] if threads == 1 else _in_threads(name, threads)


@lru_cache(maxsize=64)
def _in_threads(name: str, threads: int) -> Callable[..., Any]:
    return partial(_TWINS[name], threads=threads)


# The kernel


def deal_racks(state: State, rows: Ints, seeds: chance.Bits, threads: int = 1) -> None:
    """As in :mod:`genial_env.core.kernel`."""
    state.key[rows] = chance.seat_keys(seeds, chance.Purpose.DRAWS, state.rules.players)
    game, script = (arrays(state), facts(state.rules), rows), _no_script(state.rules)[0]
    share(threads, len(rows), lambda lo, hi: core.deal_racks(*game, script, lo, hi))


def play_actions(state: State, rows: Ints, actions: Ints, script: Ints | None, threads: int = 1) -> int:
    """As in :mod:`genial_env.core.kernel`."""
    scripts = _no_script(state.rules) if script is None else np.ascontiguousarray(script)
    actions = np.ascontiguousarray(actions)
    game = arrays(state), facts(state.rules), rows, actions, scripts, script is not None
    if threads == 1 or len(rows) < 2 * FEWEST:
        wrong: int = core.play(*game, True, True, 0, len(rows))
        return wrong
    found = share(threads, len(rows), lambda lo, hi: core.play(*game, True, False, lo, hi))
    wrong = min((place for place in found if place >= 0), default=-1)
    if wrong < 0:
        share(threads, len(rows), lambda lo, hi: core.play(*game, False, True, lo, hi))
    return wrong


def are_legal(state: State, actions: Ints, rows: Ints, threads: int = 1) -> Bools:
    """As in :mod:`genial_env.core.kernel`."""
    out = np.empty(len(rows), dtype=np.bool_)
    game = arrays(state), facts(state.rules), rows, np.ascontiguousarray(actions, dtype=np.int64), out
    share(threads, len(rows), lambda lo, hi: core.are_legal(*game, lo, hi))
    return out


def fill_masks(state: State, rows: Ints | None, mask: Bools, threads: int = 1) -> None:
    """As in :mod:`genial_env.core.kernel`."""
    rows = np.arange(len(state)) if rows is None else rows
    game, out = (arrays(state), facts(state.rules)), mask.view(np.int8)
    share(threads, len(rows), lambda lo, hi: core.fill_masks(*game, scratch(state.rules), rows, out, lo, hi))


def open_placements(state: State, rows: Ints, threads: int = 1) -> Bitsets:
    """As in :mod:`genial_env.core.kernel`."""
    out = np.empty((len(rows), state.open.shape[1]), dtype=np.uint64)
    game = arrays(state), facts(state.rules), rows, out.view(np.int64)
    share(threads, len(rows), lambda lo, hi: core.open_placements(*game, lo, hi))
    return out


def count_points(rules: Rules, board: NDArray[Any], threads: int = 1) -> NDArray[np.int8]:
    """As in :mod:`genial_env.core.kernel`."""
    boards = np.ascontiguousarray(board, dtype=np.int64)
    out = np.zeros((*boards.shape, rules.colors), dtype=np.int8)
    share(threads, len(boards), lambda lo, hi: core.count_points(facts(rules), boards, out, lo, hi))
    return out


# Views and planes


def see(state: State, rows: Ints, seat: Ints, threads: int = 1) -> View:
    """As in :mod:`genial_env.core.views`."""
    rules, n = state.rules, len(rows)
    seat = seat.copy()
    seen = [np.zeros((n, *shape), dtype) for shape, dtype in _seen_layout(rules)]
    game, into = (arrays(state), facts(rules)), (rows, seat, tuple(seen))
    share(threads, n, lambda lo, hi: core.see(*game, scratch(rules), *into, lo, hi))
    return View(rules, seat, *seen)


def masks_of(view: View, mask: Bools, threads: int = 1) -> None:
    """As in :mod:`genial_env.core.views`."""
    factors = facts(view.rules), view.slots, view.placements, view.may_swap, view.may_decline
    share(threads, len(view), lambda lo, hi: core.masks_of(*factors, mask.view(np.int8), lo, hi))


def encode_planes(view: View, threads: int = 1) -> dict[str, NDArray[Any]]:
    """As in :mod:`genial_env.encodings.planes`."""
    rules, n = view.rules, len(view)
    flat, *shapes = _plane_shapes(rules, ("board", "rack", "to_play", "phase"))
    board = np.zeros((n, *_grid_shape(rules)), np.uint8)
    rack, to_play, phase = (np.zeros((n, *shape), np.uint8) for shape in shapes)
    source = view.board, view.points, view.rack, view.to_play, view.phase
    out = board.reshape(n, *flat), rack, to_play, phase
    share(threads, n, lambda lo, hi: core.encode_planes(facts(rules), places(rules), source, out, lo, hi))
    return {
        "board": board,
        "rack": rack,
        "markers": view.scores.astype(np.uint8),
        "unseen": view.unseen.copy(),
        **({"returned": view.returned.copy(), "levels": view.levels.copy()} if rules.has_swap else {}),
        "rack_sizes": view.rack_sizes.astype(np.uint8),
        "has_placed": view.has_placed.astype(np.uint8),
        "to_play": to_play,
        "phase": phase,
        "owed": view.owed[:, None].astype(np.uint8),
    }


class OneGame:
    """One game, handed over once and not at every call, which for one game would take longer than playing.

    Args:
        state: of one game; its arrays must not be replaced.
    """

    def __init__(self, state: State) -> None:
        rules = state.rules
        self._game = arrays(state), facts(rules)
        self._rules, self._n_actions = rules, state.tables.n_actions
        self._script, self._places = _no_script(rules)[0], places(rules)
        self._flat, *self._shapes = _plane_shapes(rules, core.Planes._fields)  # the board's planes are the first
        self._grid = _grid_shape(rules)

    def apply(self, action: int) -> bool:
        """In place: play an action if it is legal; whether it was."""
        fine: bool = core.play_one(*self._game, action, self._script)
        return fine

    def look(self, seat: int) -> tuple[dict[str, NDArray[Any]], NDArray[np.int8]]:
        """What a seat sees in the encoding "planes", and its mask [A], without a view in between."""
        zeros, number = np.zeros, np.uint8
        board, made = zeros(self._grid, number), [zeros(shape, number) for shape in self._shapes]
        mask = np.empty(self._n_actions, np.int8)
        out = board.reshape(self._flat), *made
        core.look_at_one(*self._game, scratch(self._rules), self._places, seat, out, mask)
        planes = dict(zip(core.Planes._fields, (board, *made), strict=True))
        if not self._rules.has_swap:
            del planes["returned"], planes["levels"]
        return planes, mask


# Decisions


def decide(policy: Policy, state: State, rows: Ints, random: chance.Bits, threads: int = 1) -> Ints:
    """As in :mod:`genial_env.policies.base`; a policy without a plan is asked itself."""
    plan = plan_of(policy, state.rules)
    if plan is None:
        return policies.decide(policy, state, rows, random)
    if random.shape != rows.shape:
        raise ValueError(f"random bits must be one for each of {len(rows)} games, not of shape {random.shape}")
    out = np.empty(len(rows), dtype=np.int64)
    game, wanted = (arrays(state), facts(state.rules)), (tuple(plan), rows, np.ascontiguousarray(random), out)
    share(threads, len(rows), lambda lo, hi: core.decide(*game, scratch(state.rules), *wanted, lo, hi))
    return out


def random_actions(state: State, rows: Ints, random: chance.Bits, threads: int = 1) -> Ints:
    """As in :mod:`genial_env.policies.base`."""
    return decide(RandomPolicy(), state, rows, random, threads)


def play_out(state: State, roster: Sequence[Policy], keys: chance.Bits, threads: int = 1) -> None:
    """As in :mod:`genial_env.simulation`; policies without a plan are asked themselves."""
    plans = [plan for plan in (plan_of(policy, state.rules) for policy in roster) if plan is not None]
    if len(plans) < len(roster):
        play_out_in_numpy(state, roster, keys)
        return
    stuck = np.empty(len(state), dtype=np.int64)
    worths, weights = np.array([plan.worth for plan in plans]), np.array([plan.weights for plan in plans])
    game = arrays(state), facts(state.rules)
    how = worths, weights, np.ascontiguousarray(keys), _no_script(state.rules)[0], stuck
    found = share(
        threads, len(state), lambda lo, hi: core.play_out(*game, scratch(state.rules), *how, lo, hi), fewest=1
    )
    for row in found:
        if row >= 0:
            raise IllegalAction(kernel.why_illegal(state, row, int(stuck[row])))


_TWINS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        deal_racks,
        play_actions,
        are_legal,
        fill_masks,
        open_placements,
        count_points,
        see,
        masks_of,
        encode_planes,
        decide,
        random_actions,
        play_out,
    )
}


# Handing over

_get_arrays = attrgetter(*Games._fields)
_OPEN = Games._fields.index("open")


def arrays(state: State) -> tuple[Any, ...]:
    """As :func:`genial_env.core.scalar.arrays_of`, as a plain tuple."""
    found = list(_get_arrays(state))
    found[_OPEN] = found[_OPEN].view(np.int64)
    return tuple(found)


@lru_cache(maxsize=64)
def facts(rules: Rules) -> tuple[Any, ...]:
    """As :func:`genial_env.core.scalar.facts_of`, as a plain tuple."""
    return tuple(facts_of(rules))


@lru_cache(maxsize=64)
def _seen_layout(rules: Rules) -> list[tuple[tuple[int, ...], type[np.generic]]]:
    """Shape (without G) and dtype of the arrays of a view, in the order of :class:`core.Seen`."""
    t = tables(rules)
    seen = core.Seen(
        board=((t.n_cells,), np.int8),
        points=((t.n_cells, rules.colors), np.int8),
        scores=((rules.tracks, rules.colors), np.int8),
        rack=((rules.rack,), np.int8),
        unseen=((t.n_kinds,), np.uint8),
        returned=((rules.players, rules.rack, t.n_kinds), np.uint8),
        levels=((t.n_kinds, LEVELS), np.uint8),
        rack_sizes=((rules.players,), np.int64),
        has_placed=((rules.players,), np.bool_),
        to_play=((), np.int64),
        phase=((), np.int8),
        owed=((), np.int64),
        slots=((rules.rack,), np.bool_),
        placements=((t.n_placements,), np.bool_),
        may_swap=((), np.bool_),
        may_decline=((), np.bool_),
    )
    return list(seen)


@lru_cache(maxsize=64)
def _grid_shape(rules: Rules) -> tuple[int, ...]:
    """Of the board's planes for one game."""
    return Planes().fields(rules)["board"].shape


@lru_cache(maxsize=64)
def _plane_shapes(rules: Rules, names: tuple[str, ...]) -> list[tuple[int, ...]]:
    """Of fields of the encoding "planes" for one game; the board's planes as one axis."""
    shapes = {name: field.shape for name, field in Planes().fields(rules).items()}
    shapes["board"] = (shapes["board"][0], shapes["board"][1] * shapes["board"][2])
    shapes.setdefault("returned", (rules.players, rules.rack, tables(rules).n_kinds))
    shapes.setdefault("levels", (tables(rules).n_kinds, LEVELS))
    return [shapes[name] for name in names]


@lru_cache(maxsize=64)
def _no_script(rules: Rules) -> Ints:
    """[1, K]: luck decides on every draw."""
    return np.full((1, rules.rack), -1)


class _Memory(threading.local):
    def __init__(self) -> None:
        self.by_rules: dict[Rules, tuple[Any, ...]] = {}


_memory = _Memory()


def scratch(rules: Rules) -> tuple[Any, ...]:
    """This thread's memory to think with."""
    kept = _memory.by_rules
    if rules not in kept:
        kept[rules] = tuple(core.make_scratch(rules))
    return kept[rules]


# Threads


FEWEST = 1024
"""Games that are worth a thread, where there is one step of each to do."""


def share(threads: int, n: int, work: Callable[[int, int], Any], fewest: int | None = None) -> list[Any]:
    """Do some work on the numbers from 0 to n - 1, in equal parts lo to hi - 1, one a thread; what each returns."""
    threads = min(threads, n // (fewest or FEWEST))
    if threads < 2:
        return [work(0, n)]
    ends = [n * part // threads for part in range(threads + 1)]
    parts = [(lo, hi) for lo, hi in pairwise(ends) if lo < hi]
    work_first = parts[0]
    others = [_pool(threads, os.getpid()).submit(work, *part) for part in parts[1:]]
    return [work(*work_first), *(other.result() for other in others)]


@lru_cache(maxsize=8)
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Threads of this process: after a fork those of the parent are gone."""
    return ThreadPoolExecutor(threads - 1, thread_name_prefix=f"genial_env-{process}")
