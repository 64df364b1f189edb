"""Compiled implementations of the functions of the kernel, views, planes and policies."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._compiled import core, handover
from genial_env._compiled.handover import arrays, facts, no_script, scratch, share
from genial_env.core import chance, kernel, views
from genial_env.core._kernel import board, dealing, legality, playing
from genial_env.core.bitsets import Bitsets, Bools, Ints
from genial_env.core.rules import Rules
from genial_env.core.state import LEVELS, State
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.encodings import planes
from genial_env.encodings.planes import Planes, places
from genial_env.errors import IllegalAction
from genial_env.policies import decisions, playout, uniform
from genial_env.policies.base import Plan, PlannedPolicy, Policy
from genial_env.policies.uniform import RandomPolicy

# The kernel


@dealing.deal_racks.compiled
def deal_racks(threads: int, state: State, rows: Ints, seeds: chance.Bits) -> None:
    """Compute it in compiled code."""
    state.key[rows] = chance.seat_keys(seeds, chance.Purpose.DRAWS, state.rules.players)
    game, script = (arrays(state), facts(state.rules), rows), no_script(state.rules)[0]
    share(threads, len(rows), lambda lo, hi: core.deal_racks(*game, script, lo, hi))


@playing.apply_unchecked.compiled
def apply_unchecked(threads: int, state: State, rows: Ints, actions: Ints, script: Ints | None) -> int:
    """Compute it in compiled code."""
    scripts = no_script(state.rules) if script is None else np.ascontiguousarray(script)
    actions = np.ascontiguousarray(actions)
    game = arrays(state), facts(state.rules), rows, actions, scripts, script is not None
    if threads == 1 or len(rows) < 2 * handover.FEWEST:
        wrong: int = core.play(*game, True, True, 0, len(rows))
        return wrong
    found = share(threads, len(rows), lambda lo, hi: core.play(*game, True, False, lo, hi))
    wrong = min((place for place in found if place >= 0), default=-1)
    if wrong < 0:
        share(threads, len(rows), lambda lo, hi: core.play(*game, False, True, lo, hi))
    return wrong


@legality.is_legal_unchecked.compiled
def is_legal_unchecked(threads: int, state: State, actions: Ints, rows: Ints) -> Bools:
    """Compute it in compiled code."""
    out = np.empty(len(rows), dtype=np.bool_)
    game = arrays(state), facts(state.rules), rows, np.ascontiguousarray(actions, dtype=np.int64), out
    share(threads, len(rows), lambda lo, hi: core.are_legal(*game, lo, hi))
    return out


@legality.fill_masks.compiled
def fill_masks(threads: int, state: State, rows: Ints | None, mask: Bools) -> None:
    """Compute it in compiled code."""
    rows = np.arange(len(state)) if rows is None else rows
    game, out = (arrays(state), facts(state.rules)), mask.view(np.int8)
    share(threads, len(rows), lambda lo, hi: core.fill_masks(*game, scratch(state.rules), rows, out, lo, hi))


@legality.placement_sets_unchecked.compiled
def placement_sets_unchecked(threads: int, state: State, rows: Ints) -> Bitsets:
    """Compute it in compiled code."""
    out = np.empty((len(rows), state.open.shape[1]), dtype=np.uint64)
    game = arrays(state), facts(state.rules), rows, out.view(np.int64)
    share(threads, len(rows), lambda lo, hi: core.open_placements(*game, lo, hi))
    return out


@board.recount_points_unchecked.compiled
def recount_points_unchecked(threads: int, rules: Rules, board: NDArray[Any]) -> NDArray[np.int8]:
    """Compute it in compiled code."""
    boards = np.ascontiguousarray(board, dtype=np.int64)
    out = np.zeros((*boards.shape, rules.colors), dtype=np.int8)
    share(threads, len(boards), lambda lo, hi: core.count_points(facts(rules), boards, out, lo, hi))
    return out


# Views and planes


@views.view_unchecked.compiled
def view_unchecked(threads: int, state: State, rows: Ints, seat: Ints) -> View:
    """Compute it in compiled code."""
    rules, n = state.rules, len(rows)
    seat = seat.copy()
    seen = [np.zeros((n, *shape), dtype) for shape, dtype in _seen_layout(rules)]
    game, into = (arrays(state), facts(rules)), (rows, seat, tuple(seen))
    share(threads, n, lambda lo, hi: core.fill_views(*game, scratch(rules), *into, lo, hi))
    return View(rules, seat, *seen)


@views.fill_view_masks.compiled
def fill_view_masks(threads: int, view: View, mask: Bools) -> None:
    """Compute it in compiled code."""
    factors = facts(view.rules), view.slots, view.placements, view.may_swap, view.may_decline
    share(threads, len(view), lambda lo, hi: core.masks_of(*factors, mask.view(np.int8), lo, hi))


@planes.encode_planes.compiled
def encode_planes(threads: int, view: View) -> dict[str, NDArray[Any]]:
    """Compute it in compiled code."""
    rules, n = view.rules, len(view)
    flat, *shapes = plane_shapes(rules, ("board", "rack", "to_play", "phase"))
    board = np.zeros((n, *grid_shape(rules)), np.uint8)
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
        "pending_bonus": view.pending_bonus[:, None].astype(np.uint8),
    }


# Decisions


def _plan_of(policy: Policy, rules: Rules) -> Plan | None:
    return policy.plan(rules) if isinstance(policy, PlannedPolicy) else None


@decisions.decide.compiled
def decide(threads: int, policy: Policy, state: State, rows: Ints, random: chance.Bits) -> Ints:
    """Compute it in compiled code; a policy without a plan is called."""
    plan = _plan_of(policy, state.rules)
    if plan is None:
        return decisions.decide.numpy(policy, state, rows, random)
    if random.shape != rows.shape:
        raise ValueError(f"random bits must be one for each of {len(rows)} games, not of shape {random.shape}")
    out = np.empty(len(rows), dtype=np.int64)
    game, wanted = (arrays(state), facts(state.rules)), (tuple(plan), rows, np.ascontiguousarray(random), out)
    share(threads, len(rows), lambda lo, hi: core.decide(*game, scratch(state.rules), *wanted, lo, hi))
    return out


@uniform.random_actions.compiled
def random_actions(threads: int, state: State, rows: Ints, random: chance.Bits) -> Ints:
    """Compute it in compiled code."""
    return decide(threads, RandomPolicy(), state, rows, random)


@playout.play_out.compiled
def play_out(threads: int, state: State, roster: Sequence[Policy], keys: chance.Bits) -> None:
    """Compute it in compiled code if all policies have a plan, else in numpy."""
    plans = [plan for plan in (_plan_of(policy, state.rules) for policy in roster) if plan is not None]
    if len(plans) < len(roster):
        playout.play_out.numpy(state, roster, keys)
        return
    stuck = np.empty(len(state), dtype=np.int64)
    worths, weights = np.array([plan.marker_values for plan in plans]), np.array([plan.weights for plan in plans])
    game = arrays(state), facts(state.rules)
    how = worths, weights, np.ascontiguousarray(keys), no_script(state.rules)[0], stuck
    found = share(
        threads, len(state), lambda lo, hi: core.play_out(*game, scratch(state.rules), *how, lo, hi), fewest=1
    )
    for row in found:
        if row >= 0:
            raise IllegalAction(kernel.why_illegal(state, row, int(stuck[row])))


@lru_cache(maxsize=64)
def _seen_layout(rules: Rules) -> list[tuple[tuple[int, ...], type[np.generic]]]:
    """Shape (without G) and dtype of the arrays of a view, in the order of :class:`core.ViewArrays`."""
    t = tables(rules)
    seen = core.ViewArrays(
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
        pending_bonus=((), np.int64),
        slots=((rules.rack,), np.bool_),
        placements=((t.n_placements,), np.bool_),
        may_swap=((), np.bool_),
        may_decline=((), np.bool_),
    )
    return list(seen)


@lru_cache(maxsize=64)
def grid_shape(rules: Rules) -> tuple[int, ...]:
    """Of the board's planes for one game."""
    return Planes().fields(rules)["board"].shape


@lru_cache(maxsize=64)
def plane_shapes(rules: Rules, names: tuple[str, ...]) -> list[tuple[int, ...]]:
    """Of fields of the encoding "planes" for one game; the board's planes as one axis."""
    shapes = {name: field.shape for name, field in Planes().fields(rules).items()}
    shapes["board"] = (shapes["board"][0], shapes["board"][1] * shapes["board"][2])
    shapes.setdefault("returned", (rules.players, rules.rack, tables(rules).n_kinds))
    shapes.setdefault("levels", (tables(rules).n_kinds, LEVELS))
    return [shapes[name] for name in names]
